"""Events of one Inspect sample → steps of the model.

Pure: no files. The events are walked, not the messages: those are only what the conversation
looked like at its end, after compaction. Logs without events are read from the messages.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from arcview.model.trajectory import Role, Step, StepKind, ToolKind, ToolResult
from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.contents import Parts, listed, mapping, parts_of
from arcview.readers.trajectories.inspect_log_notes import STRUCTURE, Note, note_of, unsaid
from arcview.readers.trajectories.inspect_log_sample import Sample
from arcview.readers.trajectories.inspect_log_spans import Spans, Speaker
from arcview.readers.trajectories.pairing import Asked, Pairing
from arcview.readers.trajectories.records import Record, as_json, count_or_none, text_or_none
from arcview.readers.trajectories.times import iso_time
from arcview.readers.trajectories.usages import dollars, sent_in_all

_LOOK_BACK = 40
"""How many steps back a command of the sandbox may belong to a call."""
_SUMMARY = "[CONTEXT COMPACTION SUMMARY]"
_NUDGES = (
    "Please proceed to the next step using your best judgement",
    "Your submission was incorrect. Please proceed",
)
"""What the usual agents answer themselves, in the name of the user, to go on."""
_MAX_DEPTH = 20


@dataclass(slots=True)
class SampleWalk:
    """Goes through one sample and collects its steps."""

    name: str
    """File name and sample; keys of records without an id start with it."""
    session: str
    sample: Sample
    pairing: Pairing
    unknown: Counter[str]
    model: str | None = None
    spans: Spans = field(default_factory=Spans)
    agents: dict[str, int] = field(default_factory=dict)
    """Sub-agents, with how many messages of the model are theirs."""
    _told: Counter[tuple[str, str]] = field(default_factory=Counter)
    """What was said by others than the model, and how often it is shown already."""
    _has_begun: bool = False

    def take(self) -> None:
        """Takes the sample."""
        events = self.sample.events
        self.spans = Spans.of(events)
        if not _has_model(events):
            self._messages()
        self._events(self.name, events, None)
        self._late_results()
        kinds = [str(mapping(event).get("event")) for event in events]
        for number, note in enumerate(unsaid(self.sample.record, kinds, self.sample.text), start=1):
            self._note(f"{self.name}#end.{number}", note, Speaker())

    def _events(
        self, prefix: str, events: Sequence[object], within: Speaker | None, depth: int = 0
    ) -> None:
        for ordinal, event in enumerate(events, start=1):
            key = f"{prefix}#{ordinal}"
            if not isinstance(event, dict):
                self._raw(key, event, "not an object", within or Speaker())
                continue
            self.spans.enter(event)
            speaker = within or self.spans.speaker(event)
            kind = text_or_none(event.get("event"))
            if kind == "model":
                self._model_event(key, event, speaker)
            elif kind == "tool":
                self._tool_event(key, event, speaker, depth)
            elif kind == "sandbox" and (self._is_of_call(event) or speaker.in_tool):
                continue
            elif kind not in STRUCTURE:
                self._other_event(key, event, speaker, depth)

    def _model_event(self, key: str, event: Record, speaker: Speaker) -> None:
        here: Counter[tuple[str, str]] = Counter()
        for number, sent in enumerate(self.sample.sent(event), start=1):
            self._sent(f"{key}.{number}", sent, speaker, here)
        self._has_begun = True
        output = mapping(event.get("output"))
        choice = mapping(next(iter(listed(output.get("choices"))), None))
        message = mapping(choice.get("message"))
        error = text_or_none(event.get("error")) or text_or_none(output.get("error"))
        usage = usage_of(mapping(output.get("usage")))
        model = text_or_none(output.get("model")) or text_or_none(event.get("model"))
        at = iso_time(event.get("timestamp"))
        if speaker.is_scoring:
            said = parts_of(message.get("content"), self.sample.text).text
            self._add(
                Step(
                    key, None, Role.UNKNOWN, StepKind.NOTE, f"the scorer asks {model}\n{said}",
                    at=at, usage=usage, model=model,
                ),
                speaker,
            )  # fmt: skip
        elif message:
            self._answer(key, message, speaker, at=at, usage=usage, model=model, error=error)
        elif error or event.get("pending") is True:
            told = self.sample.text(error) if error else "not answered: the log ends here"
            self._note(key, Note(f"call of {model}: {told}", is_error=bool(error)), speaker, at)

    def _answer(
        self,
        key: str,
        message: Record,
        speaker: Speaker,
        *,
        at: str | None,
        usage: Usage | None,
        model: str | None,
        error: str | None = None,
    ) -> None:
        parts = parts_of(message.get("content"), self.sample.text)
        asked = [self._asked(mapping(call)) for call in listed(message.get("tool_calls"))]
        served = [_served(part) for part in parts.calls]
        told = [parts.text, f"error: {self.sample.text(error)}" if error else ""]
        self._add(
            Step(
                key=key,
                number=self.pairing.numbered + 1,
                role=Role.ASSISTANT,
                kind=StepKind.MESSAGE,
                text="\n".join(filter(None, told)),
                thinking=parts.thinking,
                at=at,
                usage=usage,
                model=model or self.model,
                is_error=bool(error),
                images=tuple(parts.images),
            ),
            speaker,
            [*asked, *served],
        )
        for call, part in zip(served, parts.calls, strict=True):
            self.pairing.give(call.id, self._served_result(part))
        if speaker.agent is not None:
            self.agents[speaker.agent] = self.agents.get(speaker.agent, 0) + 1

    def _asked(self, call: Record) -> Asked:
        note = text_or_none(call.get("parse_error"))
        return Asked(
            text_or_none(call.get("function")),
            self.sample.resolved(call.get("arguments")),
            text_or_none(call.get("id")),
            self.sample.text(note) if note else None,
        )

    def _served_result(self, part: Record) -> ToolResult:
        """What came back for a tool that the provider runs itself."""
        error = text_or_none(part.get("error"))
        result = parts_of(part.get("result"), self.sample.text)
        return ToolResult("\n".join(filter(None, (result.text, error))), True if error else None)

    def _sent(
        self, key: str, message: Record, speaker: Speaker, here: Counter[tuple[str, str]]
    ) -> None:
        """A message that a model call was given: shown unless an earlier call had it.

        Args:
            key: For its step.
            message: The message.
            speaker: Who makes the call.
            here: How often each was said in what this call was given.
        """
        role = message.get("role")
        if role == "tool":
            call_id = text_or_none(message.get("tool_call_id"))
            if call_id is not None and self.pairing.waits_for(call_id):
                self.pairing.give(call_id, self._result(message, message.get("content"), None))
            return
        if role not in ("system", "user") and (role != "assistant" or self._has_begun):
            return
        if text_or_none(message.get("id")) in self.spans.results:
            return
        parts = parts_of(message.get("content"), self.sample.text)
        if parts.text.strip() or parts.images:
            said = str(role), parts.text
            here[said] += 1
            if here[said] > self._told[said]:
                self._told[said] += 1
                self._said(key, message, parts, speaker)

    def _said(self, key: str, message: Record, parts: Parts, speaker: Speaker) -> None:
        marks = mapping(message.get("metadata"))
        is_summary = "summary" in marks or parts.text.startswith(_SUMMARY)
        is_given = message.get("role") == "assistant"
        is_nudge = message.get("source") is None and parts.text.lstrip().startswith(_NUDGES)
        if is_summary:
            kind = StepKind.COMPACTION
        elif is_given or is_nudge or speaker.is_scoring:
            kind = StepKind.NOTE
        else:
            kind = StepKind.MESSAGE
        role = Role.SYSTEM if message.get("role") == "system" else Role.USER
        text = f"given as an answer of the model\n{parts.text}" if is_given else parts.text
        step = Step(key, None, role, kind, text, images=tuple(parts.images))
        self._add(step, speaker)

    def _tool_event(self, key: str, event: Record, speaker: Speaker, depth: int) -> None:
        call_id = text_or_none(event.get("id"))
        at = iso_time(event.get("completed")) or iso_time(event.get("timestamp"))
        nested = listed(event.get("events"))
        if not self.pairing.waits_for(call_id) or call_id is None:
            step = Step(key, None, Role.UNKNOWN, StepKind.NOTE, "a tool called without the model")
            asked = replace(self._asked({**event, "parse_error": None}), id=call_id)
            self._add(replace(step, at=iso_time(event.get("timestamp"))), speaker, [asked])
        if event.get("pending") is not True:
            truncated = event.get("truncated")
            sizes = truncated if isinstance(truncated, list) and len(truncated) == 2 else None
            note = f"output cut from {sizes[0]} to {sizes[1]} bytes" if sizes else None
            self.pairing.give(call_id, self._result(event, event.get("result"), at), note)
        if nested and depth < _MAX_DEPTH:
            agent = text_or_none(event.get("agent")) or str(event.get("function"))
            inner = Speaker(agent, call_id, speaker.is_scoring) if _has_model(nested) else speaker
            self._events(key, nested, inner, depth + 1)

    def _result(self, record: Record, content: object, at: str | None) -> ToolResult:
        """A tool's result, from its event or from the message about it."""
        parts = parts_of(content, self.sample.text)
        error = mapping(record.get("error"))
        told = text_or_none(error.get("message"))
        failure = f"{error.get('type')}: {self.sample.text(told)}" if told else ""
        older = text_or_none(record.get("tool_error"))
        failure = failure or (self.sample.text(older) if older else "")
        return ToolResult(
            text="\n".join(filter(None, (parts.text, failure))),
            is_error=True if failure or error or record.get("failed") is True else None,
            images=tuple(parts.images),
            at=at,
        )

    def _is_of_call(self, event: Record) -> bool:
        """Gives a command of the sandbox, with its exit code, to the call that asked for it."""
        command, code = text_or_none(event.get("cmd")), event.get("result")
        if command is None or type(code) is not int:
            return False
        try:
            words = shlex.split(self.sample.text(command))
        except ValueError:
            return False
        steps = self.pairing.steps
        for place in range(len(steps) - 1, max(-1, len(steps) - 1 - _LOOK_BACK), -1):
            for number, call in enumerate(steps[place].calls):
                waits = call.result is not None and call.result.exit_code is None
                if waits and call.command is not None and words and words[-1] == call.command:
                    calls = list(steps[place].calls)
                    calls[number] = replace(call, result=replace(call.result, exit_code=code))  # type: ignore[type-var]
                    steps[place] = replace(steps[place], calls=tuple(calls))
                    return True
        return False

    def _other_event(self, key: str, event: Record, speaker: Speaker, depth: int) -> None:
        note = note_of(event, self.sample.text)
        at = iso_time(event.get("timestamp"))
        if note is None:
            self._raw(key, event, f"event {event.get('event')!r}", speaker)
            return
        self._note(key, note, speaker, at)
        nested = listed(event.get("events"))
        if nested and depth < _MAX_DEPTH:
            inner = Speaker(str(event.get("name")), None) if _has_model(nested) else speaker
            self._events(key, nested, inner, depth + 1)

    def _messages(self) -> None:
        """The conversation at its end, for a log that kept no events."""
        for ordinal, message in enumerate(self.sample.messages, start=1):
            key, record = f"{self.name}#message.{ordinal}", mapping(message)
            role = record.get("role")
            parts = parts_of(record.get("content"), self.sample.text)
            if role == "assistant":
                model = text_or_none(record.get("model"))
                self._answer(key, record, Speaker(), at=None, usage=None, model=model)
            elif role == "tool":
                call_id = text_or_none(record.get("tool_call_id"))
                result = self._result(record, record.get("content"), None)
                if not self.pairing.give(call_id, result):
                    note = Note(f"result for a call that is not here ({call_id})\n{result.text}")
                    self._note(key, note, Speaker())
            elif role in ("system", "user"):
                self._said(key, record, parts, Speaker())
            else:
                self._raw(key, message, f"role {role!r}", Speaker())

    def _late_results(self) -> None:
        """Results that only the conversation at its end has: no later call repeats it."""
        for message in map(mapping, self.sample.messages):
            call_id = text_or_none(message.get("tool_call_id"))
            if message.get("role") == "tool" and call_id is not None:
                self.pairing.give(call_id, self._result(message, message.get("content"), None))

    def _note(self, key: str, note: Note, speaker: Speaker, at: str | None = None) -> None:
        step = Step(key, None, Role.UNKNOWN, note.kind, note.text, at=at, is_error=note.is_error)
        self._add(step, speaker)

    def _raw(self, key: str, record: object, what: str, speaker: Speaker) -> None:
        self.unknown[what] += 1
        self._add(Step(key, None, Role.UNKNOWN, StepKind.RAW, raw=as_json(record)), speaker)

    def _add(self, step: Step, speaker: Speaker, asked: Sequence[Asked] = ()) -> None:
        calls = tuple(
            replace(call, kind=ToolKind.TASK) if call.key in self.spans.agent_calls else call
            for call in self.pairing.calls(asked, step.key)
        )
        step = replace(
            step,
            key=calls[0].key if calls else step.key,
            calls=calls,
            agent=speaker.agent,
            parent_call=speaker.parent_call,
            session=self.session,
        )
        self.pairing.add(step, asked)


def _served(part: Record) -> Asked:
    """A call of a tool that the provider runs itself."""
    return Asked(
        text_or_none(part.get("name")), part.get("arguments"), text_or_none(part.get("id"))
    )


def _has_model(events: Sequence[object], depth: int = 0) -> bool:
    """Whether a model speaks in these events, or in those within them."""
    return depth <= _MAX_DEPTH and any(
        event.get("event") == "model" or _has_model(listed(event.get("events")), depth + 1)
        for event in map(mapping, events)
    )


def usage_of(usage: Record) -> Usage | None:
    """Tokens and cost; the log counts what came from a cache, or went into one, apart."""
    fresh, cached, stored = (
        count_or_none(usage.get(f"input_tokens{part}"))
        for part in ("", "_cache_read", "_cache_write")
    )
    found = Usage(
        input_tokens=sent_in_all(fresh, cached, stored) or None,
        cached_tokens=cached,
        output_tokens=count_or_none(usage.get("output_tokens")) or None,
        reasoning_tokens=count_or_none(usage.get("reasoning_tokens")),
        cost_usd=dollars(usage.get("total_cost")),
    )
    return None if found.input_tokens is None and found.output_tokens is None else found
