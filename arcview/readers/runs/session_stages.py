"""A session as the stages of a run: one per user turn, with what each was told and used.

One persistent session with the next specification each time is how chains are run; the later user
turns are where a stage begins. Pure functions over a trajectory that is read already.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from arcview.model.results import GateRecord
from arcview.model.run import Stage, Status
from arcview.model.states import PatchSource, Provenance, State, StateKind
from arcview.model.trajectory import Role, Step, StepKind, Trajectory
from arcview.model.trajectory_refs import SessionRole, TrajectoryRef, Usage
from arcview.readers.exit_words import status_of
from arcview.readers.parts import each_turn, usage_of
from arcview.readers.runs.instance_folder import START_MISSING
from arcview.readers.times import seconds_between, time_of

NO_GATE = "no gate result is recorded"
_TITLE_LENGTH = 80
_HEADING = re.compile(r"#{1,2}\s+(\S.*)")
_MARKUP = re.compile(r"</?[a-z][\w-]*>")
"""Tags that clients put around what the user typed, or opened beside it."""


@dataclass(frozen=True, slots=True)
class SessionStages:
    """What a session makes of a run."""

    stages: tuple[Stage, ...]
    states: tuple[State, ...]
    gates: tuple[GateRecord, ...]
    specs: Mapping[str, str] = field(default_factory=dict)
    """What the agent was told, by the path that the stage gives it."""


def stages_of(
    trajectory: Trajectory, refs: Sequence[TrajectoryRef], *, one_stage: bool, patch_file: str
) -> SessionStages:
    """The stages of a session.

    Args:
        trajectory: The whole session.
        refs: Where it lies.
        one_stage: Whatever the user said later belongs to the one stage.
        patch_file: What to call the file that its final patch stands in.
    """
    parts = [trajectory] if one_stage else each_turn(trajectory) or [trajectory]
    turns = len(parts)
    specs: dict[str, str] = {}
    stages = []
    for index, part in enumerate(parts, start=1):
        own = tuple(refs if turns == 1 else (replace(ref, turns=(index, index)) for ref in refs))
        stages.append(_stage(index, turns, part, own, specs))
    states = _states(turns, trajectory.patch if turns == 1 else None, patch_file)
    if turns > 1:
        stages[-1] = replace(stages[-1], notes=(*stages[-1].notes, *_totals(trajectory, stages)))
    ends = {state.stage for state in states if state.kind is StateKind.STAGE_END}
    stages = [
        replace(stage, base=f"S{stage.index - 1}", end=f"S{stage.index}")
        if stage.index in ends
        else stage
        for stage in stages
    ]
    gates = tuple(GateRecord(str(s.index), s.end, unmeasured=NO_GATE) for s in stages)
    return SessionStages(tuple(stages), states, gates, specs)


def _stage(
    index: int,
    turns: int,
    part: Trajectory,
    refs: tuple[TrajectoryRef, ...],
    specs: dict[str, str],
) -> Stage:
    told = _told(part)
    name = f"turn-{index}.md"
    if told is not None:
        specs[name] = told
    status, detail = status_of(part.exit_status)
    if index < turns:
        status, detail = Status.COMPLETED, None
    started, ended = _span(part.heads if index == turns else _up_to_the_last_answer(part.heads))
    return Stage(
        index,
        _title(told, turns),
        status,
        detail,
        started=started,
        ended=ended,
        duration_s=seconds_between(started, ended),
        usage=usage_of(part),
        trajectories=refs,
        spec_path=None if told is None else name,
        notes=_remarks(part),
    )


def _span(steps: Sequence[Step]) -> tuple[str | None, str | None]:
    """The first and the last time in some steps, those of results included."""
    told = (
        at
        for step in steps
        for at in (step.at, *(call.result.at for call in step.calls if call.result is not None))
    )
    times = [(at, time) for at in told if (time := time_of(at)) is not None]
    # Times with and without a zone cannot be compared.
    alike = [
        (time, at) for at, time in times if (time.tzinfo is None) == (times[0][1].tzinfo is None)
    ]
    return (min(alike)[1], max(alike)[1]) if alike else (None, None)


def _up_to_the_last_answer(steps: Sequence[Step]) -> Sequence[Step]:
    """Without the notes at the end: they come with the next turn, maybe days later."""
    end = len(steps)
    while end and steps[end - 1].kind is StepKind.NOTE and not steps[end - 1].calls:
        end -= 1
    return steps[:end]


def _remarks(part: Trajectory) -> tuple[str, ...]:
    """What the reader says of the main sessions in it."""
    mains = (SessionRole.MAIN, SessionRole.RETRY)
    return tuple(
        session.note for session in part.sessions if session.note and session.role in mains
    )


def _told(part: Trajectory) -> str | None:
    """What the user said first in a turn, all messages before the agent's first answer."""
    told = []
    for step in part.steps:
        if step.agent is not None or step.kind is not StepKind.MESSAGE:
            continue
        if step.role is Role.ASSISTANT:
            break
        if step.role is Role.USER and step.text.strip():
            told.append(step.text)
    return "\n\n".join(told) or None


def _title(told: str | None, turns: int) -> str | None:
    """The first line, where it is a heading or where several turns must be told apart."""
    bare = (_MARKUP.sub("", line).strip() for line in (told or "").splitlines())
    lines = [line for line in bare if line]
    if not lines:
        return None
    heading = _HEADING.match(lines[0])
    if heading is None and turns == 1:
        return None
    title = heading[1].strip() if heading is not None else lines[0]
    return title if len(title) <= _TITLE_LENGTH else f"{title[: _TITLE_LENGTH - 1]}…"


def _states(turns: int, patch: str | None, patch_file: str) -> tuple[State, ...]:
    """The two states around a final patch; none where the session keeps no patch."""
    if patch is None:
        return ()
    start = State("S0", 0, StateKind.START, Provenance.UNKNOWN, missing=START_MISSING)
    source = PatchSource(patch_file, start.id, patch)
    return start, State("S1", turns, StateKind.STAGE_END, Provenance.RECORDED, source)


def _totals(trajectory: Trajectory, stages: Sequence[Stage]) -> tuple[str, ...]:
    """The session's own totals where its messages do not add up to them."""
    whole = trajectory.usage or Usage()
    by_stage = [stage.usage.cost_usd for stage in stages if stage.usage is not None]
    if whole.cost_usd and not any(by_stage):
        return (f"the whole session cost ${whole.cost_usd:.2f}; not known by stage",)
    return ()
