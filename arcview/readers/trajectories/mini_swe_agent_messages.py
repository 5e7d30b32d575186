"""Messages of one mini-swe-agent run → steps of the model.

Pure: no files. Versions 1 and 2, tool calls and plain text, chat and Responses API are told apart
message by message, since a file may hold what several writers made.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from arcview.model.trajectory import Role, Step, StepKind
from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.contents import Parts, mapping, parts_of
from arcview.readers.trajectories.mini_swe_agent_parts import (
    Answer,
    Observation,
    action_in,
    answer_of,
    looks_like_observation,
    observation_of,
    rejected_answer,
)
from arcview.readers.trajectories.pairing import Asked, Pairing
from arcview.readers.trajectories.records import Record, as_json, text_or_none
from arcview.readers.trajectories.times import iso_time

_PERSON = re.compile(
    r"Interrupted by user: |The user added a new task: |Command not executed\. The user rejected"
)
"""How version 1 marks what a person typed; everything else after the task is the harness."""
_TYPED = re.compile(r"\n```bash\n.*\n```", re.DOTALL)
"""How version 1 stores a command that a person typed, in the name of the assistant."""


@dataclass(slots=True)
class Walk:
    """Goes through the messages of one file and collects its steps."""

    name: str
    """File name; keys of records without an id start with it."""
    session: str
    model: str | None = None
    is_first_version: bool = False
    """Written by version 1: after the task, the harness speaks as the user."""
    agent: str | None = None
    agent_version: str | None = None
    exit_status: str | None = None
    """In the words of the harness; in version 1 the last message is about it."""
    submission: str | None = None
    total: Usage | None = None
    """What the file itself counts."""
    has_told_end: bool = False
    """One of the messages was about the end."""
    pairing: Pairing = field(default_factory=Pairing)
    unknown: Counter[str] = field(default_factory=Counter)
    _is_text_mode: bool = False
    _is_task_given: bool = False

    @property
    def steps(self) -> list[Step]:
        """The steps so far, numbered within the file."""
        return self.pairing.steps

    def take_all(self, messages: Sequence[object], *, is_cut: bool = False) -> None:
        """Takes every message in order.

        Args:
            messages: Of the file.
            is_cut: The last one may be incomplete.
        """
        self._is_text_mode = self.is_first_version or any(
            isinstance(message, dict)
            and message.get("role") == "user"
            and looks_like_observation(parts_of(message.get("content")).text)
            for message in messages
        )
        for ordinal, message in enumerate(messages, start=1):
            key = f"{self.name}#{ordinal}"
            # How many actions the text of a cut message would have had, nobody knows.
            self._is_text_mode &= not (is_cut and ordinal == len(messages))
            if isinstance(message, dict):
                self._take(key, message, is_last=ordinal == len(messages))
            else:
                self._raw(key, message, "not an object")

    def _take(self, key: str, message: Record, *, is_last: bool) -> None:
        role, kind = message.get("role"), message.get("type")
        if message.get("object") == "response":
            self._answer(key, answer_of(message))
        elif role in ("tool", "function") or kind == "function_call_output":
            call_id = message.get("tool_call_id", message.get("call_id"))
            self._observed(key, message, text_or_none(call_id))
        elif role == "assistant":
            self._assistant(key, message)
        elif role in ("system", "developer"):
            self._said(key, message, Role.SYSTEM)
        elif role == "user":
            self._user(key, message, is_last=is_last)
        elif role == "exit":
            self._exit(key, message)
        else:
            self._raw(key, message, f"role {role!r}" if "role" in message else f"type {kind!r}")

    def _assistant(self, key: str, message: Record) -> None:
        answer = answer_of(message)
        if self.is_first_version and "extra" not in message and _TYPED.fullmatch(answer.text):
            # A person typed it; nothing else of the message is theirs or the model's.
            action = action_in(answer.text)
            self._add(key, Role.USER, StepKind.MESSAGE, answer, (action,) if action else ())
            return
        self._answer(key, answer)

    def _answer(self, key: str, answer: Answer) -> None:
        asked = answer.asked
        if not asked and self._is_text_mode:
            action = action_in(answer.text)
            asked = () if action is None else (action,)
        self._add(key, Role.ASSISTANT, StepKind.MESSAGE, answer, asked)
        if answer.parts is not None:
            self._results_within(key, answer.parts, answer.at)

    def _user(self, key: str, message: Record, *, is_last: bool) -> None:
        extra = mapping(message.get("extra"))
        interrupt = text_or_none(extra.get("interrupt_type"))
        parts = parts_of(message.get("content"))
        if interrupt == "FormatError":
            rejected = rejected_answer(extra)
            if rejected is not None:
                self._add(f"{key}.1", Role.ASSISTANT, StepKind.MESSAGE, rejected, rejected.asked)
            self._said(key, message, Role.USER, StepKind.NOTE)
        elif "returncode" in extra or "raw_output" in extra:
            self._observed(key, message, None)
        elif parts.results:
            self._results_within(key, parts, iso_time(message.get("timestamp")))
            if parts.texts or parts.images:
                self._said(key, message, Role.USER)
        elif self._is_text_mode and self._is_waiting() and looks_like_observation(parts.text):
            self._observed(key, message, None)
        elif extra.get("actions") or interrupt or not self._is_task_given:
            answer = answer_of(message)
            self._is_task_given = True
            self._add(key, Role.USER, StepKind.MESSAGE, answer, answer.asked)
        else:
            self._later_user(key, message, parts.text, is_last=is_last)

    def _later_user(self, key: str, message: Record, text: str, *, is_last: bool) -> None:
        """A user message after the task: in text mode the harness speaks as the user."""
        if self.is_first_version and _PERSON.match(text):
            self._said(key, message, Role.USER)
        elif self._is_text_mode and self._is_waiting() and (self.is_first_version or is_last):
            self._observed(key, message, None)
        elif self.is_first_version:
            if text or not (is_last and self.exit_status):
                self._said(key, message, Role.USER, StepKind.NOTE)
        else:
            is_sent_back = self._is_text_mode and self._has_no_action()
            kind = StepKind.NOTE if is_sent_back else StepKind.MESSAGE
            self._said(key, message, Role.USER, kind)

    def _has_no_action(self) -> bool:
        """Whether the last answer had not the one action that it must have: it is sent back."""
        last = self.steps[-1] if self.steps else None
        return last is not None and last.role is Role.ASSISTANT and not last.calls

    def _is_waiting(self) -> bool:
        return self.pairing.waits_for(None)

    def _observed(self, key: str, message: Record, call_id: str | None) -> None:
        observation = observation_of(message)
        if not self.pairing.give(call_id, observation.result, observation.note):
            self._orphan(key, observation, call_id)

    def _results_within(self, key: str, parts: Parts, at: str | None) -> None:
        """Results among the parts of a content."""
        for number, part in enumerate(parts.results, start=1):
            observation = observation_of({"content": part.get("content"), "timestamp": at})
            is_error = part.get("is_error")
            result = observation.result
            if isinstance(is_error, bool):
                result = type(result)(result.text, is_error, result.exit_code, result.images, at)
            call_id = text_or_none(part.get("tool_use_id"))
            if not self.pairing.give(call_id, result, observation.note):
                self._orphan(f"{key}.{number}", Observation(result), call_id)

    def _orphan(self, key: str, observation: Observation, call_id: str | None) -> None:
        """A result without its call, as a note of its own."""
        named = f" ({call_id})" if call_id else ""
        self.pairing.add(
            Step(
                key=key,
                number=None,
                role=Role.UNKNOWN,
                kind=StepKind.NOTE,
                text=f"result for a call that is not here{named}\n{observation.result.text}",
                at=observation.result.at,
                session=self.session,
                images=observation.result.images,
            )
        )

    def _said(
        self, key: str, message: Record, role: Role, kind: StepKind = StepKind.MESSAGE
    ) -> None:
        self._add(key, role, kind, answer_of({**message, "tool_calls": None}), ())

    def _exit(self, key: str, message: Record) -> None:
        extra = mapping(message.get("extra"))
        told = [parts_of(message.get("content")).text, text_or_none(extra.get("traceback"))]
        status = text_or_none(extra.get("exit_status"))
        self.exit_status = self.exit_status or status
        self.submission = self.submission or text_or_none(extra.get("submission"))
        self.has_told_end = True
        self.end(key, status, told, iso_time(extra.get("timestamp")))

    def end(
        self, key: str, status: str | None, told: Sequence[str | None], at: str | None = None
    ) -> None:
        """Adds how the run ended.

        Args:
            key: Key of the note.
            status: In the words of the harness; null where it says nothing.
            told: The submission, an exception, a traceback.
            at: When.
        """
        lines = [f"session ended: {status or 'no status'}", *(text for text in told if text)]
        is_error = status is not None and status.lower() != "submitted"
        self.note(key, "\n".join(dict.fromkeys(lines)), at=at, is_error=is_error)

    def note(self, key: str, text: str, at: str | None = None, *, is_error: bool = False) -> None:
        """Adds something that the harness says."""
        self.pairing.add(
            Step(
                key=key,
                number=None,
                role=Role.UNKNOWN,
                kind=StepKind.NOTE,
                text=text,
                at=at,
                is_error=is_error,
                session=self.session,
            )
        )

    def _add(
        self, key: str, role: Role, kind: StepKind, answer: Answer, asked: Sequence[Asked]
    ) -> None:
        calls = self.pairing.calls(asked, key)
        is_model = role is Role.ASSISTANT
        # What is asked in a rejected answer gets no result, ever.
        waiting = asked if not any(call.note for call in asked) else ()
        step = Step(
            key=calls[0].key if calls else key,
            number=self.pairing.numbered + 1 if is_model else None,
            role=role,
            kind=kind,
            text=answer.text,
            thinking=answer.thinking,
            calls=calls,
            at=answer.at,
            usage=answer.usage if is_model else None,
            model=(answer.model or self.model) if is_model else None,
            session=self.session,
            images=answer.images,
        )
        self.pairing.add(step, waiting)

    def _raw(self, key: str, message: object, what: str) -> None:
        self.unknown[what] += 1
        self.pairing.add(
            Step(
                key=key,
                number=None,
                role=Role.UNKNOWN,
                kind=StepKind.RAW,
                session=self.session,
                raw=as_json(message),
            )
        )
