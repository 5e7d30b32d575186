"""One attempt of SWE-agent (its `trajectory`, `history` and `info`) → steps of the model.

Pure: no files. The steps are in `trajectory`; the structured calls, thoughts and prompts only in
`history`, which lacks the answers that were rejected. Both are walked together.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from arcview.model.trajectory import Role, Step, StepKind, ToolResult
from arcview.readers.trajectories.contents import listed, mapping, parts_of, thoughts_of
from arcview.readers.trajectories.pairing import Pairing, asked_in
from arcview.readers.trajectories.records import Record, as_json, text_or_none
from arcview.readers.trajectories.swe_agent_actions import as_tool, asked_by

_LOOK_AHEAD = 40
"""How many of the history's answers to look at for the one that a step belongs to."""
_REJECTED = "rejected: never run"
_BY_HARNESS = re.compile(r"Exit(?:ing)? (?:agent )?due to ")
"""How a step begins that the harness added to end the run."""


@dataclass(slots=True)
class Attempt:
    """Goes through one attempt and collects its steps."""

    name: str
    """File name, or file name and attempt; keys of records without an id start with it."""
    session: str
    model: str | None = None
    pairing: Pairing = field(default_factory=Pairing)
    unknown: Counter[str] = field(default_factory=Counter)

    def take(self, trajectory: Sequence[object], history: Sequence[object]) -> None:
        """Takes the steps with the history they belong to, or the history where it is alone."""
        entries = [(n, mapping(entry)) for n, entry in enumerate(history, start=1)]
        self._prompts(entries, trajectory)
        if not trajectory:
            self._history(entries)
            return
        answers = [entry for _, entry in entries if _is_answer(entry)]
        replies = [_reply_after(entries, n) for n, (_, e) in enumerate(entries) if _is_answer(e)]
        place = 0
        for ordinal, item in enumerate(trajectory, start=1):
            key = f"{self.name}#{ordinal}"
            if not isinstance(item, dict):
                self._raw(key, item, "not an object")
                continue
            found = _answer_to(item, answers, place)
            if found is not None:
                place = found + 1
            entry = None if found is None else answers[found]
            reply = {} if found is None else replies[found]
            self._step(key, item, entry, reply, has_history=bool(answers))

    def _prompts(self, entries: Sequence[tuple[int, Record]], trajectory: Sequence[object]) -> None:
        """What the model was told before its first answer; demonstrations are only counted."""
        shown: list[tuple[int, Record]] = []
        for number, entry in entries:
            if _is_answer(entry):
                break
            shown.append((number, entry))
        if not entries and trajectory:
            first = mapping(trajectory[0])
            told = listed(first.get("query")) or listed(first.get("messages"))
            shown = [(n, mapping(entry)) for n, entry in enumerate(told, start=1)]
        demos = [parts_of(e.get("content")).text for _, e in entries if e.get("is_demo") is True]
        if demos:
            size = f"{len(demos)} messages, {sum(map(len, demos)):,} characters"
            self._note(f"{self.name}#demo", f"a demonstration that the model was shown: {size}")
        for number, entry in shown:
            if entry.get("is_demo") is not True:
                self._told(f"{self.name}#history.{number}", entry)

    def _told(self, key: str, entry: Record) -> None:
        """A message of the history that is no answer of the model."""
        role = entry.get("role")
        if role not in ("system", "user", "tool"):
            self._raw(key, entry, f"role {role!r}")
            return
        parts = parts_of(entry.get("content"))
        self.pairing.add(
            Step(
                key=key,
                number=None,
                role=Role.SYSTEM if role == "system" else Role.USER,
                kind=StepKind.MESSAGE,
                text=parts.text,
                session=self.session,
                images=tuple(parts.images),
            )
        )

    def _step(
        self, key: str, item: Record, entry: Record | None, reply: Record, *, has_history: bool
    ) -> None:
        action, observation = _text(item.get("action")), _text(item.get("observation"))
        said = _text(item.get("thought")).strip("\n") or _text(item.get("response"))
        seconds = _seconds(item)
        if not action.strip() and _BY_HARNESS.match(said):
            told = [said] if observation in said else [said, observation]
            self._note(key, "\n".join(told), error=True)
            return
        # An answer that is not in the history was sent back; its action has not run.
        is_rejected = has_history and entry is None and not observation and not seconds
        self._answer(key, item, entry or {}, note=_REJECTED if is_rejected else None)
        if is_rejected or not action.strip():
            if observation.strip():
                self._note(f"{key}.observation", observation)
            return
        images = tuple(parts_of(reply.get("content")).images)
        if self.pairing.give(None, ToolResult(text=observation, images=images)):
            step = self.pairing.steps[-1]
            self.pairing.steps[-1] = replace(step, duration_s=seconds or None)

    def _answer(self, key: str, item: Record, entry: Record, note: str | None = None) -> None:
        """A message of the model.

        Args:
            key: Of the record.
            item: The step, or the entry of the history where that is alone.
            entry: The entry of the history that belongs to it.
            note: A remark on its calls; what has one gets no result.
        """
        action, thought = _text(item.get("action")), _text(item.get("thought"))
        structured = asked_in(entry)
        asked = structured or ((asked_by(action),) if action.strip() else ())
        state = _state(item.get("state"))
        calls = tuple(
            as_tool(call, action, state, has_arguments=bool(structured))
            for call in self.pairing.calls([replace(a, note=note) for a in asked], key)
        )
        said = item.get("response", item.get("content"))
        self.pairing.add(
            Step(
                key=calls[0].key if calls else key,
                number=self.pairing.numbered + 1,
                role=Role.ASSISTANT,
                kind=StepKind.MESSAGE,
                text=thought if thought.strip() else _text(said),
                thinking=_thinking(item, entry),
                calls=calls,
                model=self.model,
                session=self.session,
                images=tuple(parts_of(entry.get("content")).images),
            ),
            () if note else asked,
        )

    def _history(self, entries: Sequence[tuple[int, Record]]) -> None:
        """The steps of a file that has nothing but its history: a demonstration."""
        has_begun = False
        for number, entry in entries:
            key = f"{self.name}#history.{number}"
            if _is_answer(entry):
                has_begun = True
                self._answer(key, entry, entry)
            elif has_begun and entry.get("is_demo") is not True:
                parts = parts_of(entry.get("content"))
                result = ToolResult(text=parts.text, images=tuple(parts.images))
                is_reply = entry.get("role") in ("user", "tool")
                if not is_reply or not self.pairing.give(None, result):
                    self._told(key, entry)

    def end(self, info: Record) -> None:
        """Adds how the attempt ended, where its `info` says so."""
        status = exit_status_of(info)
        if status is None:
            return
        submission = text_or_none(info.get("submission"))
        shown = {c.result.text for step in self.pairing.steps[-1:] for c in step.calls if c.result}
        told = [f"session ended: {status}", _review(info)]
        if submission is not None and submission not in shown:
            told.append(submission)
        text = "\n".join(filter(None, told))
        self._note(f"{self.name}#end", text, error=not status.startswith("submitted"))

    def _note(self, key: str, text: str, *, error: bool = False) -> None:
        self.pairing.add(
            Step(
                key=key,
                number=None,
                role=Role.UNKNOWN,
                kind=StepKind.NOTE,
                text=text,
                is_error=error,
                session=self.session,
            )
        )

    def _raw(self, key: str, record: object, what: str) -> None:
        self.unknown[what] += 1
        self.pairing.add(
            Step(
                key=key,
                number=None,
                role=Role.UNKNOWN,
                kind=StepKind.RAW,
                session=self.session,
                raw=as_json(record),
            )
        )


def exit_status_of(info: Record) -> str | None:
    """The exit status in the words of SWE-agent; old versions had numbers too."""
    status = info.get("exit_status")
    return None if status is None or status == "" else str(status)


def _review(info: Record) -> str:
    """A reviewer's verdict on an attempt, in one line."""
    review = mapping(info.get("review"))
    score = review.get("accept")
    return f"review: {score}" if score is not None else ""


def _is_answer(entry: Record) -> bool:
    return entry.get("role") == "assistant" and entry.get("is_demo") is not True


def _reply_after(entries: Sequence[tuple[int, Record]], place: int) -> Record:
    """What the model was told right after an answer; it has the images of an observation."""
    after = entries[place + 1][1] if place + 1 < len(entries) else {}
    return after if after.get("role") in ("user", "tool") else {}


def _answer_to(item: Record, answers: Sequence[Record], start: int) -> int | None:
    """Place of the history's answer that a step belongs to; null for a rejected one."""
    for place in range(start, min(len(answers), start + _LOOK_AHEAD)):
        answer = answers[place]
        if answer.get("action") != item.get("action"):
            continue
        if answer.get("thought", item.get("thought")) == item.get("thought"):
            return place
    return None


def _thinking(item: Record, entry: Record) -> str:
    for place in (item, entry):
        if told := text_or_none(place.get("reasoning_content")):
            return told
    blocks = listed(entry.get("thinking_blocks"))
    return "\n".join(text for block in blocks for text in thoughts_of(mapping(block)))


def _state(value: object) -> Record:
    """The state of the shell; the first versions stored it as JSON text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return mapping(value)


def _seconds(item: Record) -> float | None:
    value = item.get("execution_time")
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < 1e9 else None  # type: ignore[operator,arg-type]


def _text(value: object) -> str:
    """A text; parts are joined, null is empty."""
    return value if isinstance(value, str) else parts_of(value).text
