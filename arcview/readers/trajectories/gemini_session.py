"""Records of one Gemini CLI session → drafts: the JSON document and the append log of ≥ 0.40.

The log says a message again whenever it grows, and after a resume it replaces the history by a
poorer copy under the same ids. What happened is shown: the richest record of each id, in the order
of their first appearance; what was taken back is marked and stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from arcview.model.trajectory import Role, StepKind, ToolResult
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.drafts import CallSpot, Draft, Drafts, joined
from arcview.readers.trajectories.gemini_items import (
    Parts,
    call_of,
    is_failure,
    parts_of,
    response_of,
    result_of,
    thoughts_of,
    usage_of,
)
from arcview.readers.trajectories.records import Record, as_json, kind_of, text_or_none

_TYPES = frozenset({"error", "gemini", "info", "user", "warning"})
_CONTEXTS = (
    "<hook_context>",
    "<session_context>",
    "This is the Gemini CLI. We are setting up the context for our chat.",
)
_SNAPSHOT = "<state_snapshot>"
_NUDGE = "System: Please continue."
_RAN = "I ran the following shell command:\n"
"""How the client tells the model what the user ran beside the conversation."""
_QUIET = frozenset(
    {"kind", "lastUpdated", "messages", "projectHash", "sessionId", "startTime", "type"}
)
"""Settings of a session that change nothing."""


@dataclass(slots=True)
class _Entry:
    """Something in the order of the log: a message, or a remark between messages."""

    address: str
    record: dict[str, object] | None = None
    """The message as it is known best."""
    text: str = ""
    kind: str = ""
    """For records that no rule knows: what to count them as."""
    left_out: set[str] = field(default_factory=set)
    """Ids that a history checkpoint lacks."""


@dataclass(slots=True)
class GeminiSession:
    """Takes the records of one session in their order."""

    drafts: Drafts = field(default_factory=Drafts)
    meta: dict[str, object] = field(default_factory=dict)
    spawned: dict[str, str] = field(default_factory=dict)
    """Sub-agents → keys of the calls that started them."""
    _entries: list[_Entry] = field(default_factory=list)
    _checkpoints: list[_Entry] = field(default_factory=list)
    _messages: dict[str, _Entry] = field(default_factory=dict)
    _alive: dict[str, None] = field(default_factory=dict)
    """Ids that the conversation still has, in order."""
    _asked: list[tuple[str | None, CallSpot]] = field(default_factory=list)
    """The calls of the last message with their ids; of a call and its result, one may have none."""
    _starts: int = 0

    @property
    def id(self) -> str | None:
        """Id of the session."""
        return text_or_none(self.meta.get("sessionId"))

    @property
    def is_subagent(self) -> bool:
        """Whether it is that of a sub-agent."""
        return self.meta.get("kind") == "subagent"

    def take_document(self, document: Record, address: str) -> None:
        """Takes the one document that older versions wrote."""
        self._start(document, address)
        for number, message in enumerate(listed(document.get("messages")), start=1):
            self.take(message, f"{address}#{number}")
        self._note_settings(document, address)

    def take(self, value: object, address: str) -> None:
        """Takes one record.

        Args:
            value: The parsed line.
            address: File and line.
        """
        if not isinstance(value, dict):
            self._raw({"value": value}, address, type(value).__name__)
        elif isinstance(value.get("$rewindTo"), str):
            self._rewind(str(value["$rewindTo"]), address)
        elif isinstance(value.get("$set"), dict):
            self._set(mapping(value["$set"]), address)
        elif "sessionId" in value and "id" not in value:
            self._start(value, address)
            self._note_settings(value, address)
        elif kind_of(value) == "message_update":
            self._update(value, address)
        else:
            self._take_message(value, address)

    def _start(self, record: Record, address: str) -> None:
        self._starts += 1
        self.meta.update({name: value for name, value in record.items() if name != "messages"})
        text = "session started" if self._starts == 1 else "session resumed"
        at = text_or_none(record.get("startTime"))
        self._entries.append(_Entry(address, text=f"{text} {at}" if at else text))

    def _note_settings(self, record: Record, address: str) -> None:
        told = {name: value for name, value in record.items() if name not in _QUIET and value}
        if told:
            self._entries.append(_Entry(address, text=f"settings: {as_json(told)}"))

    def _raw(self, record: dict[str, object], address: str, kind: str) -> None:
        self._entries.append(_Entry(address, record, kind=kind))

    def _take_message(self, record: dict[str, object], address: str) -> None:
        kind = kind_of(record)
        if kind not in _TYPES:
            self._raw(record, address, f"message of type {kind}" if "id" in record else str(kind))
            return
        message_id = text_or_none(record.get("id")) or address
        self._keep(message_id)
        known = self._messages.get(message_id)
        if known is not None:
            first = known.record or {}
            # What is said again after a resume has the time of the resume.
            at = first.get("timestamp") or record.get("timestamp")
            known.record = {**first, **record, "timestamp": at}
            return
        entry = self._messages[message_id] = _Entry(address, record)
        self._entries.append(entry)

    def _keep(self, message_id: str) -> None:
        """The conversation has that message, whatever an earlier checkpoint lacked."""
        self._alive.setdefault(message_id)
        for checkpoint in self._checkpoints:
            checkpoint.left_out.discard(message_id)

    def _update(self, record: Record, address: str) -> None:
        """Some versions write only what changed of a message."""
        known = self._messages.get(str(record.get("id") or record.get("messageId")))
        if known is None:
            self._raw(dict(record), address, "message_update of an unknown message")
            return
        news = mapping(record.get("updates")) or record
        known.record = {
            **(known.record or {}),
            **{name: value for name, value in news.items() if name not in ("id", "type")},
        }

    def _rewind(self, target: str, address: str) -> None:
        """That message and all after it leave the conversation; what they did is done."""
        ids = list(self._alive)
        gone = ids[ids.index(target) :] if target in self._alive else ids
        for message_id in gone:
            del self._alive[message_id]
        text = f"rewound: {_turns(len(gone))} taken back, from {target} on"
        self._entries.append(_Entry(address, text=text))

    def _set(self, news: Record, address: str) -> None:
        self.meta.update({name: value for name, value in news.items() if name != "messages"})
        self._note_settings(news, address)
        if isinstance(news.get("messages"), list):
            self._replace_history(listed(news["messages"]), address)

    def _replace_history(self, messages: list[object], address: str) -> None:
        """A checkpoint of the history: only messages that were never seen are taken from it."""
        named = [mapping(message) for message in messages]
        ids = {str(message.get("id")) for message in named}
        checkpoint = _Entry(address)
        self._entries.append(checkpoint)
        self._checkpoints.append(checkpoint)
        for number, message in enumerate(named, start=1):
            message_id = str(message.get("id"))
            if message_id in self._messages:
                self._keep(message_id)
            else:
                self._take_message(dict(message), f"{address}.{number}")
        checkpoint.left_out = {
            message_id
            for message_id in self._alive
            if message_id not in ids and not self._is_answer(message_id)
        }

    def _is_answer(self, message_id: str) -> bool:
        entry = self._messages.get(message_id)
        content = (entry.record or {}).get("content") if entry is not None else None
        return isinstance(content, list) and parts_of(content).is_answer

    def finish(self) -> None:
        """Makes the steps."""
        self.drafts.session = self.id
        for entry in self._entries:
            self._step(entry)
        self.drafts.report_orphans()

    def _step(self, entry: _Entry) -> None:
        if entry.kind:
            self.drafts.raw(entry.record, entry.address, entry.kind)
        elif entry.record is not None:
            self._message_step(entry.record, entry.address)
        elif entry.text:
            self.drafts.note(entry.text, entry.address)
        elif entry.left_out:
            text = f"history replaced: {_turns(len(entry.left_out))} left out from here on"
            self.drafts.add(Role.SYSTEM, StepKind.COMPACTION, entry.address, text=text)

    def _message_step(self, record: Mapping[str, object], place: str) -> None:
        at = text_or_none(record.get("timestamp"))
        address = text_or_none(record.get("id")) or place
        parts = parts_of(record.get("content"))
        match record.get("type"):
            case "gemini":
                self._model_step(record, parts, address, at)
            case "user":
                self._user_step(parts, address, place, at)
            case kind:
                is_error = kind == "error"
                self.drafts.note(f"{kind}: {parts.text}", address, at=at, is_error=is_error)

    def _user_step(self, parts: Parts, address: str, place: str, at: str | None) -> None:
        for answer in parts.results:
            self._take_answer(answer, place, at)
        if parts.is_answer:
            return
        text = parts.text
        if _SNAPSHOT in text[:400]:
            draft = self.drafts.add(Role.SYSTEM, StepKind.COMPACTION, address, text=text, at=at)
        elif text.lstrip().startswith(_CONTEXTS) or text.strip() == _NUDGE:
            draft = self.drafts.note(text, address, at=at)
        else:
            # What was taken back by a rewind is shown, and is no turn of the user's.
            is_gone = address in self._messages and address not in self._alive
            kind = StepKind.NOTE if is_gone or text.startswith(_RAN) else StepKind.MESSAGE
            draft = self.drafts.add(Role.USER, kind, address, text=text, at=at)
        draft.images += parts.images

    def _take_answer(self, answer: Record, place: str, at: str | None) -> None:
        """A result that is written as a message of the user; most calls have it already."""
        call_id = text_or_none(answer.get("id"))
        spot = self.drafts.spot(call_id)
        if spot is not None and spot.call.result is not None:
            return
        text, images = response_of(answer)
        result = ToolResult(text, True if is_failure(answer) else None, images=images, at=at)
        named = self._waiting_by_name(call_id, answer.get("name")) if spot is None else None
        if named is not None:
            named.give(result)
        else:
            self.drafts.give(call_id, result, place)

    def _waiting_by_name(self, call_id: str | None, name: object) -> CallSpot | None:
        """The first call of the last message that has that name, where ids tell nothing."""
        for own_id, spot in self._asked:
            is_untold = own_id is None or call_id is None
            if is_untold and spot.call.name == name and spot.call.result is None:
                return spot
        return None

    def _model_step(
        self, record: Mapping[str, object], parts: Parts, address: str, at: str | None
    ) -> None:
        draft = self.drafts.add(Role.ASSISTANT, StepKind.MESSAGE, address, at=at)
        draft.texts += parts.texts
        draft.thoughts += thoughts_of(record.get("thoughts")) or parts.thoughts
        draft.images += parts.images
        draft.model = text_or_none(record.get("model"))
        draft.usage = usage_of(record.get("tokens"))
        calls: list[Record] = []
        for entry in listed(record.get("toolCalls")):
            if isinstance(entry, dict):
                calls.append(entry)
            else:
                self.drafts.unknown[f"tool call of type {type(entry).__name__}"] += 1
                draft.texts.append(as_json(entry))
        calls += _not_among(calls, parts.calls)
        self._asked.clear()
        for number, call in enumerate(calls, start=1):
            self._add_call(draft, call, f"{address}.{number}")

    def _add_call(self, draft: Draft, record: Record, place: str) -> None:
        call_id = text_or_none(record.get("id"))
        spot = self.drafts.call(draft, call_of(record, call_id or place), call_id, place)
        if spot.call.result is None:
            result, remark = result_of(record)
            note = joined(spot.call.note, remark)
            spot.call = replace(spot.call, result=result, note=note)
        self._asked.append((call_id, spot))
        agent = text_or_none(record.get("agentId"))
        if agent is not None:
            self.spawned[agent] = spot.call.key


def _not_among(calls: Sequence[Record], parts: Sequence[Record]) -> list[Record]:
    """The calls in a content that the tool calls beside it lack; they need not have the same id."""
    ids = {call["id"] for call in calls if isinstance(call.get("id"), str)}
    named = {part["id"] for part in parts if isinstance(part.get("id"), str)}
    free = Counter(str(call.get("name")) for call in calls if str(call.get("id")) not in named)
    found = []
    for part in parts:
        name = str(part.get("name"))
        if text_or_none(part.get("id")) in ids:
            continue
        if free[name]:
            free[name] -= 1
        else:
            found.append(part)
    return found


def _turns(count: int) -> str:
    return f"{count} message" if count == 1 else f"{count} messages"
