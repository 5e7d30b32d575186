"""Cuts the part of a stage out of a session that covers several stages, and adds trajectories up.

Pure functions over trajectories; read no file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count, pairwise
from typing import TypeVar

from arcview.model.trajectory import LongSteps, Role, Step, StepKind, Trajectory, heads_of
from arcview.model.trajectory_refs import TrajectoryRef, Usage
from arcview.readers.times import time_of
from arcview.readers.trajectories.usages import added

_Number = TypeVar("_Number", int, float)


def turn_starts(steps: Sequence[Step]) -> list[int]:
    """Where the user turns of a session begin, the first at its very beginning.

    A turn begins with what a person (or a harness in their place) tells the main agent after it
    has answered something; several messages in a row are one turn. Summaries and notes are none,
    and further sessions in one file (other tasks, other samples) have none of their own.
    """
    starts = [0] if steps else []
    session = next((step.session for step in steps if _is_answer(step)), None)
    has_answered = False
    for place, step in enumerate(steps):
        if step.agent is not None or step.kind is not StepKind.MESSAGE or step.session != session:
            continue
        if step.role is Role.ASSISTANT:
            has_answered = True
        elif step.role is Role.USER and has_answered and step.text.strip():
            starts.append(place)
            has_answered = False
    return starts


def _is_answer(step: Step) -> bool:
    is_main = step.agent is None and step.role is Role.ASSISTANT
    return is_main and step.kind is StepKind.MESSAGE


def take_part(trajectory: Trajectory, ref: TrajectoryRef) -> Trajectory:
    """The part of a trajectory that a reference names, numbered from 1.

    What the session records of itself as a whole (totals, its end) is not the part's own and is
    unknown in it.
    """
    if ref.since is None and ref.until is None and ref.turns is None:
        return trajectory
    first, end = 0, len(trajectory.steps)
    if ref.turns is not None:
        starts = turn_starts(trajectory.heads)
        begin, last = ref.turns
        first = starts[begin - 1] if 1 <= begin <= len(starts) else end
        end = starts[last] if last < len(starts) else end
    if ref.since is not None:
        first = max(first, _first_since(trajectory.heads, ref.since, 0))
    if ref.until is not None:
        end = max(first, min(end, _first_since(trajectory.heads, ref.until, end)))
    return _cut(trajectory, first, end)


def each_turn(trajectory: Trajectory) -> list[Trajectory]:
    """The parts of a session from one user turn to the next, as `take_part` takes each."""
    starts = turn_starts(trajectory.heads)
    return [_cut(trajectory, *ends) for ends in pairwise([*starts, len(trajectory.steps)])]


def _cut(trajectory: Trajectory, first: int, end: int) -> Trajectory:
    if (first, end) == (0, len(trajectory.steps)):
        return trajectory
    part = _numbered(trajectory.steps[first:end])
    heads = heads_of(part)
    sessions = tuple(
        replace(session, steps=sum(s.number is not None and s.session == session.id for s in heads))
        for session in trajectory.sessions
    )
    is_end = end == len(trajectory.steps)
    return replace(
        trajectory,
        steps=part,
        sessions=tuple(session for session in sessions if session.steps),
        usage=None,
        exit_status=trajectory.exit_status if is_end else None,
        patch=trajectory.patch if is_end else None,
    )


def join(parts: Sequence[Trajectory], empty: str = "none") -> Trajectory:
    """Trajectories one after the other, their messages numbered through.

    Args:
        parts: In order.
        empty: The format of the result when there are none.
    """
    if len(parts) == 1:
        return parts[0]
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(dict(part.unknown_records))
    formats = dict.fromkeys(part.format for part in parts)
    return Trajectory(
        format="+".join(formats) or empty,
        steps=_numbered(_one_after_another(parts)),
        sessions=tuple(session for part in parts for session in part.sessions),
        problems=tuple(dict.fromkeys(problem for part in parts for problem in part.problems)),
        unknown_records=tuple(counts.items()),
        usage=_whole([part.usage for part in parts]),
        agent=_first(part.agent for part in parts),
        agent_version=_first(part.agent_version for part in parts),
        model=_first(part.model for part in parts),
        exit_status=parts[-1].exit_status if parts else None,
        patch=parts[-1].patch if parts else None,
    )


def usage_of(trajectory: Trajectory) -> Usage | None:
    """What a trajectory used: its own totals, and where it has none the sum over its messages.

    A figure that no message has is unknown; so is one that is 0 beside real work.
    """
    counted = added([step.usage for step in trajectory.heads if step.usage is not None])
    recorded = trajectory.usage or counted
    if recorded is None:
        return None
    if counted is not None:
        recorded = Usage(
            _either(recorded.input_tokens, counted.input_tokens),
            _either(recorded.cached_tokens, counted.cached_tokens),
            _either(recorded.output_tokens, counted.output_tokens),
            _either(recorded.reasoning_tokens, counted.reasoning_tokens),
            _either(recorded.cost_usd, counted.cost_usd),
        )
    if not (recorded.input_tokens or recorded.output_tokens or recorded.cost_usd):
        return None
    return replace(recorded, cost_usd=recorded.cost_usd or None)


def model_of(trajectory: Trajectory) -> str | None:
    """The language model that most messages name, or that the session names as a whole."""
    named = Counter(step.model for step in trajectory.heads if step.model and step.agent is None)
    return trajectory.model or (named.most_common(1)[0][0] if named else None)


def _first_since(steps: Sequence[Step], since: str, unknown: int) -> int:
    """Where the first step from that time on stands; `unknown` where no time can be compared."""
    begin = time_of(since)
    if begin is None:
        return unknown
    last_before, is_known = -1, False
    for place, step in enumerate(steps):
        at = time_of(step.at)
        if at is None or (at.tzinfo is None) != (begin.tzinfo is None):
            continue
        is_known = True
        if at < begin:
            last_before = place
    return last_before + 1 if is_known else unknown


def _one_after_another(parts: Sequence[Trajectory]) -> Sequence[Step]:
    if not any(isinstance(part.steps, LongSteps) for part in parts):
        return [step for part in parts for step in part.steps]
    return LongSteps.joined([part.steps for part in parts])


def _numbered(steps: Sequence[Step]) -> Sequence[Step]:
    following = count(1)
    numbers = [None if step.number is None else next(following) for step in heads_of(steps)]
    if isinstance(steps, LongSteps):
        return steps.renumbered(numbers)
    return tuple(
        step if step.number is None else replace(step, number=number)
        for step, number in zip(steps, numbers, strict=True)
    )


def _whole(usages: Sequence[Usage | None]) -> Usage | None:
    """The sum of totals; null as soon as one part has none."""
    known = [usage for usage in usages if usage is not None]
    return added(known) if len(known) == len(usages) else None


def _either(first: _Number | None, second: _Number | None) -> _Number | None:
    return first if first is not None else second


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)
