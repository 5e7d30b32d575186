"""Records of one Codex rollout → drafts: bare and in envelopes, every era of the client.

Response items are the truth. Events repeat them in other words; what they alone have (token
counts, exit codes, whole outputs, ends of turns) is kept, what they repeat is not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from arcview.model.problem import Problem
from arcview.model.trajectory import Role, StepKind, ToolKind
from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.codex_facts import Fact, Facts, fact_of
from arcview.readers.trajectories.codex_items import ENCRYPTED, call_of, content_of, result_of
from arcview.readers.trajectories.codex_kinds import (
    CALLS,
    COMPACTIONS,
    FACT_EVENTS,
    FACT_ITEMS,
    NOTE_ITEMS,
    OUTPUTS,
    TURN_BORDERS,
)
from arcview.readers.trajectories.codex_meta import SessionMeta
from arcview.readers.trajectories.codex_mirrors import Mirrors, merge_thoughts
from arcview.readers.trajectories.codex_notes import (
    COMPACTED,
    compacted_text,
    exit_status_of,
    is_boilerplate,
    is_summary,
    note_of,
    started_note,
    turn_note,
)
from arcview.readers.trajectories.codex_tokens import Tokens, usage_of
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.drafts import Draft, Drafts
from arcview.readers.trajectories.records import Record, as_json, kind_of, loaded, text_or_none

_THREAD_NAMES = ("agent_id", "new_thread_id", "agent_thread_id", "agent_path", "task_name")
_NAMES_OF_STARTED = frozenset({*_THREAD_NAMES, "receiver_thread_ids"})
"""Fields that name a sub-agent which was started."""


@dataclass(slots=True)
class Rollout:
    """Takes the records of one rollout in their order."""

    drafts: Drafts = field(default_factory=Drafts)
    meta: SessionMeta = field(default_factory=SessionMeta)
    spawned: dict[str, str] = field(default_factory=dict)
    """Threads and paths of sub-agents → ids of the calls that started them."""
    model: str | None = None
    tokens: Tokens = field(default_factory=Tokens)
    exit_status: str | None = None
    """The word for the end of the last turn; null while it goes on."""
    has_tasks: bool = False
    """Whether it may have started sub-agents."""
    copied: int = 0
    """Records that repeat the history of another thread."""
    _open: Draft | None = None
    _latest: Draft | None = None
    _answered: Draft | None = None
    """The response whose calls are being run."""
    _pending: Usage | None = None
    _mirrors: Mirrors = field(default_factory=Mirrors)
    _turn: str = ""
    _facts: Facts = field(init=False)

    def __post_init__(self) -> None:
        self._facts = Facts(self.drafts)

    def take(self, value: object, address: str) -> None:
        """Takes one record.

        Args:
            value: The parsed line.
            address: File and line.
        """
        if not isinstance(value, dict):
            self.drafts.raw(value, address, type(value).__name__)
            return
        payload = value.get("payload")
        at = text_or_none(value.get("timestamp"))
        if isinstance(payload, dict):
            kind = value.get("type")
            if kind == "response_item":
                self._take_item(payload, address, at)
            elif kind == "event_msg":
                self._take_event(payload, address, at)
            else:
                self._take_enveloped(kind_of(value) or "no type", payload, address, at)
        elif "record_type" in value:
            return  # `{"record_type": "state"}`: bookkeeping without content
        elif "type" not in value and "role" not in value and "id" in value:
            self._take_meta(value, address, at)
        else:
            self._take_item(value, address, at or text_or_none(value.get("created_at")))

    def _take_enveloped(self, kind: str, payload: Record, address: str, at: str | None) -> None:
        """What is neither an item of a response nor an event: there is little of it."""
        match kind:
            case "session_meta":
                self._take_meta(payload, address, at)
            case "turn_context":
                self._take_turn(payload, address, at)
            case "compacted":
                self._compact(compacted_text(payload), address, at)
            case "token_usage_record":
                last, total = payload.get("usage"), payload.get("thread_token_usage")
                self._take_usage(usage_of(last), usage_of(total))
            case _:
                self._take_note(kind, payload, payload, address, at)

    def _take_meta(self, meta: Record, address: str, at: str | None) -> None:
        if not self.meta:
            self.meta = SessionMeta(meta)
            self.drafts.session = self.meta.id
            self.drafts.note(started_note(meta, self.model), address, at=at)
            return
        other = text_or_none(meta.get("id"))
        if other == self.meta.id:
            return
        self.drafts.note(f"session {other}, recorded in the same file", address, at=at)
        if other is not None and other == self.meta.parent and not self.copied:
            what = f"holds a copy of the history of {other} without its end: it may count twice"
            self.drafts.problems.append(Problem(address, what))

    def _take_turn(self, context: Record, address: str, at: str | None) -> None:
        self.model = text_or_none(context.get("model")) or self.model
        note = turn_note(context)
        if note != self._turn:
            self._turn = note
            self.drafts.note(note, address, at=at)

    def _take_item(self, item: Record, address: str, at: str | None) -> None:
        kind = kind_of(item) or ("message" if "role" in item else "no type")
        if kind == "message":
            self._take_message(item, address, at)
        elif kind == "reasoning":
            self._take_reasoning(item, address, at)
        elif kind in CALLS:
            self._take_call(item, kind, address, at)
        elif kind in OUTPUTS:
            self._take_output(item, address, at)
        elif kind == "agent_message":
            told = f"{item.get('author')} → {item.get('recipient')}"
            text = content_of(item.get("content")).text
            self.drafts.note(f"message of an agent, {told}\n{text}", address, at=at)
        elif kind in COMPACTIONS:
            self._compact(compacted_text(item), address, at)
        else:
            self._take_note(kind, item, item, address, at)

    def _take_message(self, item: Record, address: str, at: str | None) -> None:
        content = content_of(item.get("content", item.get("message")))
        role = item.get("role")
        if role == "assistant":
            step = self._response(text_or_none(item.get("id")) or address, at)
            for text in content.texts:
                self._mirrors.said("agent", text)
            step.texts += content.texts
            step.images += content.images
            return
        self._open = None
        told = [part for part in content.texts if not _is_image_tag(part)]
        text = "\n".join(told)
        if role == "user":
            self._mirrors.said("user", "".join(told))  # as the event has it
            draft = self._user(text, item, address, at)
        elif role in ("developer", "system"):
            draft = self.drafts.note(text, address, at=at)
        else:
            self.drafts.raw(item, address, f"message of {role}", at=at)
            return
        draft.images += content.images

    def _user(self, text: str, item: Record, address: str, at: str | None) -> Draft:
        if is_summary(text):
            return self._compact(text, address, at)
        if is_boilerplate(text, item):
            return self.drafts.note(text, address, at=at)
        return self.drafts.add(Role.USER, StepKind.MESSAGE, address, text=text, at=at)

    def _take_reasoning(self, item: Record, address: str, at: str | None) -> None:
        texts = content_of(item.get("summary")).texts + content_of(item.get("content")).texts
        step = self._response(text_or_none(item.get("id")) or address, at)
        for text in texts:
            self._mirrors.said("thought", text)
        step.thoughts += texts or ([ENCRYPTED] if item.get("encrypted_content") else [])

    def _take_call(self, item: Record, kind: str, address: str, at: str | None) -> None:
        call_id = text_or_none(item.get("call_id")) or text_or_none(item.get("id"))
        step = self._response(address, at)
        call = call_of(item, call_id or address)
        spot = self.drafts.call(step, call, call_id, address)
        self._facts.called(spot, call_id)
        self.has_tasks = self.has_tasks or call.kind is ToolKind.TASK
        if kind == "web_search_call":
            self._facts.searches[as_json(item.get("action"))] += 1
        if kind == "image_generation_call" and isinstance(item.get("result"), str):
            self._facts.take(call_id, fact_of(item), address, at, step)

    def _take_output(self, item: Record, address: str, at: str | None) -> None:
        self._open = None
        call_id = text_or_none(item.get("call_id")) or text_or_none(item.get("id"))
        given = item.get("output", item.get("tools"))
        result = result_of(given, at)
        spot = self.drafts.give(call_id, result, address)
        if spot is None:
            return
        if spot.call.kind is ToolKind.TASK:
            self._note_spawned(loaded(result.text.encode("utf-8", "replace")), call_id)
        self._facts.answered(spot)

    def _note_spawned(self, answer: object, call_id: str | None) -> None:
        """A sub-agent's thread by the answer to the call that started it."""
        fields = mapping(answer)
        if _NAMES_OF_STARTED.isdisjoint(fields):
            return
        ids = [fields.get(name) for name in _THREAD_NAMES]
        ids += listed(fields.get("receiver_thread_ids"))
        for thread in ids:
            if isinstance(thread, str) and call_id is not None:
                self.has_tasks = True
                self.spawned.setdefault(thread, call_id)

    def _take_event(self, event: Record, address: str, at: str | None) -> None:
        kind = kind_of(event) or "no type"
        if kind in TURN_BORDERS:
            self._open = self._answered = None
            self.exit_status = exit_status_of(kind, event)
        match kind:
            case "user_message":
                self._mirror("user", event.get("message"), address, at)
            case "agent_message":
                self._mirror("agent", event.get("message"), address, at)
            case "agent_reasoning" | "agent_reasoning_raw_content":
                self._mirror("thought", event.get("text"), address, at)
            case "token_count":
                info = mapping(event.get("info"))
                last = usage_of(info.get("last_token_usage") or info)
                self._take_usage(last, usage_of(info.get("total_token_usage")))
            case "context_compacted":
                self._compact(COMPACTED, address, at)
            case "item_completed":
                self._take_done(mapping(event.get("item")), address, at)
            case _ if kind in FACT_EVENTS:
                call_id = text_or_none(event.get("call_id"))
                self._note_spawned(event, call_id)
                self._take_fact(call_id, fact_of(event), address, at)
            case _:
                if "usage" in event and (usage := usage_of(event["usage"])):
                    self._take_usage(usage, None)
                self._note_spawned(event, text_or_none(event.get("event_id")))
                self._take_note(kind, event, event, address, at)

    def _take_done(self, item: Record, address: str, at: str | None) -> None:
        """A completed item of a paginated rollout."""
        kind = kind_of(item) or "no type"
        texts = content_of(item.get("content")).texts
        match kind:
            case "UserMessage":
                self._mirror("user", "".join(texts), address, at)
            case "AgentMessage":
                for text in texts:
                    self._mirror("agent", text, address, at)
            case "Reasoning":
                for thoughts in ("summary_text", "raw_content"):
                    for thought in listed(item.get(thoughts)):
                        self._mirror("thought", thought, address, at)
            case "Plan":
                self._mirror("agent", item.get("text"), address, at)
            case "ContextCompaction":
                self._compact(COMPACTED, address, at)
            case _ if kind in FACT_ITEMS:
                call_id = text_or_none(item.get("id"))
                self._note_spawned(item, call_id)
                self._take_fact(call_id, fact_of(item), address, at)
            case _ if kind in NOTE_ITEMS:
                self._note_spawned(item, text_or_none(item.get("id")))
                self.drafts.note(f"{kind}: {as_json(dict(item))}", address, at=at)
            case _:
                self.drafts.raw(dict(item), address, f"item_completed {kind}", at=at)

    def _take_note(
        self, kind: str, fields: Record, record: Record, address: str, at: str | None
    ) -> None:
        note = note_of(kind, fields)
        if note is None:
            self.drafts.raw(dict(record), address, kind, at=at)
            return
        if kind == "thread_settings_applied":
            settings = mapping(fields.get("thread_settings"))
            self.model = text_or_none(settings.get("model")) or self.model
        elif kind == "thread_rolled_back":
            self.drafts.take_back(fields.get("num_turns"))
        text, is_error = note
        self.drafts.note(text, address, at=at, is_error=is_error)

    def _response(self, address: str, at: str | None) -> Draft:
        """The response of the model that goes on, or a new one after an output or a turn."""
        if self._open is None:
            step = self.drafts.add(Role.ASSISTANT, StepKind.MESSAGE, address, at=at)
            step.model, step.usage, self._pending = self.model, self._pending, None
            self._open = self._latest = self._answered = step
        return self._open

    def _compact(self, text: str, address: str, at: str | None) -> Draft:
        """A summary; the event and the record that tell of the same one become one step."""
        self._open = self._answered = None
        last = self.drafts.items[-1] if self.drafts.items else None
        if last is not None and last.kind is StepKind.COMPACTION:
            if text != COMPACTED:
                last.texts = [*(told for told in last.texts if told != COMPACTED), text]
            return last
        return self.drafts.add(Role.SYSTEM, StepKind.COMPACTION, address, text=text, at=at)

    def _take_usage(self, last: Usage | None, total: Usage | None) -> None:
        spent = self.tokens.take(last, total)
        if spent is None:
            return
        # Old clients counted before they wrote the response, newer ones do so after it, and in
        # between comes what nobody shows, such as the making of a summary.
        if self._open is not None:
            self._open.usage, self._open = spent, None
        elif self._latest is not None and self._latest.usage is None:
            self._latest.usage = spent
        else:
            self._pending = spent

    def _mirror(self, who: str, text: object, address: str, at: str | None) -> None:
        """Takes what an event says, unless a response item has said it."""
        if not isinstance(text, str) or not text.strip():
            return
        if not self._mirrors.is_news(who, text):
            return
        if who == "user":
            draft = self._user(text, {}, address, at)
        else:
            draft = self.drafts.add(Role.ASSISTANT, StepKind.MESSAGE, address, at=at)
            (draft.texts if who == "agent" else draft.thoughts).append(text)
            draft.model = self.model
        self._mirrors.expect(who, text, draft)

    def _take_fact(self, call_id: str | None, fact: Fact, address: str, at: str | None) -> None:
        self._facts.take(call_id, fact, address, at, self._answered)

    def finish(self) -> None:
        """Completes what waited for something that did not come."""
        if self.copied:
            self.drafts.note(f"{self.copied} records copied from {self.meta.parent}", "copied")
            self.drafts.items.insert(1, self.drafts.items.pop())
        self._facts.finish()
        merge_thoughts(self.drafts.items)
        self.drafts.report_orphans()
        self._open = self._latest = self._answered = None
        self._mirrors = Mirrors()


def _is_image_tag(text: str) -> bool:
    """Newer clients put `<image name=…>` and `</image>` around every image."""
    return text.startswith(("<image", "</image>")) and text.rstrip().endswith(">")
