"""What arcview's own export keeps in `extra.arcview`, read back into the model.

Nothing in it is trusted more than the rest of the file: a mark of the wrong type counts as absent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import TypeVar

from arcview.model.problem import Problem
from arcview.model.trajectory import (
    Image,
    Role,
    Session,
    Step,
    StepKind,
    ToolCall,
    ToolKind,
    Trajectory,
)
from arcview.model.trajectory_refs import SessionRole
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.records import Record, count_or_none, text_or_none

Word = TypeVar("Word", bound=StrEnum)
Call = Callable[[Record], ToolCall]


def marks_of(record: Record) -> Record:
    """The marks of a document, a step, a call or a result; empty where it has none."""
    return mapping(mapping(record.get("extra")).get("arcview"))


def restored_step(step: Step, marks: Record, call: Call) -> Step:
    """A step with its marks.

    Args:
        step: As the format itself tells it.
        marks: Of the step.
        call: Makes a call, with its result, from an entry of `calls`.
    """
    if not marks:
        return step
    duration = marks.get("duration_s")
    is_number = isinstance(duration, (int, float)) and not isinstance(duration, bool)
    calls = tuple(call(mapping(entry)) for entry in listed(marks.get("calls")))
    return replace(
        step,
        key=text_or_none(marks.get("key")) or step.key,
        kind=_word(StepKind, marks.get("kind")) or step.kind,
        role=_word(Role, marks.get("role")) or step.role,
        at=text_or_none(marks.get("at")) or step.at,
        model=text_or_none(marks["model"]) if "model" in marks else step.model,
        thinking=text_or_none(marks.get("thinking")) or step.thinking,
        calls=step.calls or calls,
        duration_s=float(duration) if is_number else step.duration_s,  # type: ignore[arg-type]
        is_error=marks.get("is_error") is True,
        parent_call=text_or_none(marks.get("parent_call")) or step.parent_call,
        session=text_or_none(marks["session"]) if "session" in marks else step.session,
        raw=text_or_none(marks.get("raw")) or step.raw,
        images=(*step.images, *images_of(marks)),
    )


def restored_call(call: ToolCall, marks: Record) -> ToolCall:
    """A call with its marks."""
    if not marks:
        return call
    changes: dict[str, object] = {
        name: text_or_none(marks[name])
        for name in ("command", "path", "raw_arguments", "note")
        if name in marks
    }
    kind = _word(ToolKind, marks.get("kind"))
    return replace(call, kind=kind or call.kind, **changes)  # type: ignore[arg-type]


def restored(trajectory: Trajectory, marks: Record) -> Trajectory:
    """A trajectory with the marks of its document."""
    if not marks:
        return trajectory
    problems = [listed(entry) for entry in listed(marks.get("problems"))]
    unknown = [listed(entry) for entry in listed(marks.get("unknown_records"))]
    sessions = [mapping(entry) for entry in listed(marks.get("sessions"))]
    return replace(
        trajectory,
        agent=text_or_none(marks.get("agent")),
        agent_version=text_or_none(marks.get("agent_version")),
        model=text_or_none(marks.get("model")),
        exit_status=text_or_none(marks.get("exit_status")),
        patch=text_or_none(marks.get("patch")),
        steps=tuple(replace(s, session=None) for s in trajectory.steps)
        if marks.get("sessionless") is True
        else trajectory.steps,
        sessions=tuple(map(_session, sessions)),
        problems=(
            *trajectory.problems,
            *(Problem(str(p[0]), str(p[1])) for p in problems if len(p) == 2),
        ),
        unknown_records=(
            *trajectory.unknown_records,
            *((str(u[0]), count_or_none(u[1]) or 0) for u in unknown if len(u) == 2),
        ),
    )


def _session(entry: Record) -> Session:
    return Session(
        id=str(entry.get("id")),
        role=_word(SessionRole, entry.get("role")) or SessionRole.MAIN,
        steps=count_or_none(entry.get("steps")) or 0,
        note=text_or_none(entry.get("note")),
    )


def images_of(marks: Record) -> tuple[Image, ...]:
    """The images that the format could not carry."""
    return tuple(
        Image(
            media_type=text_or_none(entry.get("media_type")) or "image",
            data_base64=text_or_none(entry.get("data_base64")),
            path=text_or_none(entry.get("path")),
            size_bytes=count_or_none(entry.get("size_bytes")),
        )
        for entry in map(mapping, listed(marks.get("images")))
    )


def _word(words: type[Word], value: object) -> Word | None:
    """The member of that name; null where there is none."""
    try:
        return words(str(value))
    except ValueError:
        return None
