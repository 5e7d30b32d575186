"""Tool calls as the common model interfaces write them → calls of the model, paired with results.

Shared by the readers of trajectories whose results are messages of their own; imports no reader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolResult
from arcview.readers.times import seconds_between
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.records import (
    Record,
    as_json,
    parsed,
    text_or_none,
)
from arcview.readers.trajectories.tools import command_of, kind_of, path_of

NOT_AN_OBJECT = "the arguments are not a JSON object"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model asked for: one call before it has a key."""

    name: str | None
    arguments: object = None
    """A mapping, JSON text of one, or what the model wrote instead."""
    id: str | None = None
    note: str | None = None


def asked_in(message: Record) -> tuple[Asked, ...]:
    """The calls of a chat message: `tool_calls`, or the older single `function_call`."""
    calls = [_asked(mapping(entry)) for entry in listed(message.get("tool_calls"))]
    older = mapping(message.get("function_call"))
    if not calls and older:
        calls.append(_asked(older))
    return tuple(calls)


def _asked(entry: Record) -> Asked:
    """One call; some writers have its name and arguments without the `function` around them."""
    function = entry.get("function")
    call_id = text_or_none(entry.get("id")) or text_or_none(entry.get("call_id"))
    if isinstance(function, str):
        return Asked(function, entry.get("arguments"), call_id)
    fields = function if isinstance(function, dict) else entry
    return Asked(text_or_none(fields.get("name")), fields.get("arguments"), call_id)


def arguments_of(value: object) -> tuple[Mapping[str, object], str | None]:
    """Arguments as an object, or an empty one with the text that is none."""
    given = value
    if isinstance(value, str):
        try:
            value = parsed(value) if value.strip() else {}
        except (ValueError, RecursionError):
            return {}, str(given)
    if value is None:
        return {}, None
    if isinstance(value, dict):
        return value, None
    return {}, given if isinstance(given, str) else as_json(given)


@dataclass(slots=True)
class Pairing:
    """Gives keys to calls and results to calls, while the steps of one trajectory are built."""

    steps: list[Step] = field(default_factory=list)
    _keys: set[str] = field(default_factory=set)
    _open: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """By id: the places of the calls that wait for a result, in order."""
    numbered: int = 0
    """How many messages of the model have been taken; a step can be numbered when it is made."""
    _last_calling: int | None = None
    """Place of the last step with calls."""

    def calls(self, asked: Sequence[Asked], ordinal: str) -> tuple[ToolCall, ...]:
        """The calls of the step that comes next.

        Args:
            asked: What the model asked for.
            ordinal: Key of the record; calls without an id of their own are counted from it.
        """
        return tuple(
            self._call(call, f"{ordinal}.{number}") for number, call in enumerate(asked, start=1)
        )

    def _call(self, asked: Asked, ordinal: str) -> ToolCall:
        notes = [asked.note] if asked.note else []
        key = asked.id or ordinal
        if key in self._keys:
            notes.append(f"another call has the id {key} too")
            key = ordinal
        self._keys.add(key)
        arguments, raw = arguments_of(asked.arguments)
        if raw is not None:
            notes.append(NOT_AN_OBJECT)
        name = asked.name or "(no name)"
        kind = kind_of(name, arguments)
        return ToolCall(
            key=key,
            name=name,
            kind=kind,
            arguments=arguments,
            raw_arguments=raw,
            command=command_of(kind, arguments),
            path=path_of(kind, arguments),
            note="; ".join(notes) or None,
        )

    def add(self, step: Step, asked: Sequence[Asked] = ()) -> None:
        """Takes a step; its calls wait for their results under the ids they were asked with."""
        self.numbered += step.kind is StepKind.MESSAGE and step.role is Role.ASSISTANT
        if asked:
            self._last_calling = len(self.steps)
        for number, call in enumerate(asked):
            spot = (len(self.steps), number)
            if step.calls[number].result is None:
                self._open.setdefault(call.id or "", []).append(spot)
        self.steps.append(step)

    def close(self) -> None:
        """What has no result by now gets none: another session begins."""
        self._open.clear()

    def waits_for(self, call_id: str | None) -> bool:
        """Whether a call with that id, or null: one of the last calling step, has no result."""
        return bool(self._spots(call_id))

    def give(self, call_id: str | None, result: ToolResult, note: str | None = None) -> bool:
        """Gives a result to its call; false when no call waits for it.

        Args:
            call_id: Its id; null gives it to the first open call of the last step with calls.
            result: The result.
            note: A remark on the call.
        """
        spots = self._spots(call_id)
        if not spots:
            return False
        place, number = spots[0]
        for waiting in self._open.values():
            if (place, number) in waiting:
                waiting.remove((place, number))
        step = self.steps[place]
        calls = list(step.calls)
        remarks = "; ".join(filter(None, (calls[number].note, note)))
        calls[number] = replace(calls[number], result=result, note=remarks or None)
        self.steps[place] = replace(
            step, calls=tuple(calls), duration_s=seconds_between(step.at, _last_time(calls))
        )
        return True

    def _spots(self, call_id: str | None) -> list[tuple[int, int]]:
        if call_id is not None:
            return self._open.get(call_id, [])
        waiting = (spot for spots in self._open.values() for spot in spots)
        return sorted(spot for spot in waiting if spot[0] == self._last_calling)


def _last_time(calls: Sequence[ToolCall]) -> str | None:
    """When the last of the results came, in order of the calls."""
    times = [call.result.at for call in calls if call.result is not None and call.result.at]
    return times[-1] if times else None


def shell(command: str, call_id: str | None = None, note: str | None = None) -> Asked:
    """A command line that a model wrote as text."""
    return Asked("bash", {"command": command}, call_id, note)


def counted(steps: Sequence[Step]) -> int:
    """How many messages of the model are among the steps."""
    return sum(step.kind is StepKind.MESSAGE and step.role is Role.ASSISTANT for step in steps)


def numbered(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps with the model's messages numbered from 1."""
    done: list[Step] = []
    number = 0
    for step in steps:
        is_model = step.kind is StepKind.MESSAGE and step.role is Role.ASSISTANT
        number += is_model
        wanted = number if is_model else None
        done.append(step if step.number == wanted else replace(step, number=wanted))
    return tuple(done)
