"""The places of a run's rail, and which two states each diff mode compares there. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from arcview.model.run import Run
from arcview.model.states import State, StateKind


class StopKind(StrEnum):
    """What a place of the rail is."""

    STAGE = "stage"
    BETWEEN = "between"
    """A state that something other than the agent's stage made, after a stage."""
    CHAIN = "chain"


@dataclass(frozen=True, slots=True)
class Stop:
    """One place of the rail that can be selected."""

    kind: StopKind
    stage: int
    """The stage it is, the stage it follows, or, for the chain gate, the last one."""
    gate: str
    """Id of the gate that was run on its state."""
    state: str | None
    """Id of its state; null where none is recorded."""


class DiffMode(StrEnum):
    """What a diff compares, in the order of the key."""

    STAGE = "stage"
    """What happened here: the stage's base against its end."""
    BEFORE = "before"
    """What changed between the end of the stage before and this stage's base."""
    CUMULATIVE = "since start"
    CHOSEN = "two states"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class StatePair:
    """Two states to compare, as ids; one of them null where it is not recorded."""

    old: str | None
    new: str | None
    title: str
    """`S2→S3`."""
    missing: str | None = None
    """Why there is nothing to compare."""


def stops_of(run: Run) -> tuple[Stop, ...]:
    """Every stage with what came after it, then the chain gate where the run has one."""
    stops: list[Stop] = []
    for stage in run.stages:
        gate = str(stage.index)
        stops.append(Stop(StopKind.STAGE, stage.index, gate, stage.end))
        stops += (
            Stop(StopKind.BETWEEN, stage.index, gate, state.id)
            for state in run.states
            if state.kind is StateKind.BETWEEN and state.stage == stage.index
        )
    if run.chain.has_chain_gate or run.chain_gate() is not None:
        recorded = run.chain_gate()
        last = run.stages[-1] if run.stages else None
        state = recorded.state if recorded else None
        stops.append(
            Stop(
                StopKind.CHAIN,
                last.index if last else 0,
                "chain",
                state or (last.end if last else None),
            )
        )
    return tuple(stops)


def pair_for(
    run: Run, stop: Stop, mode: DiffMode, chosen: tuple[str, str] | None
) -> StatePair | None:
    """The states that a mode compares at a place; null where the mode makes no sense there."""
    match mode:
        case DiffMode.STAGE:
            return _own_change(run, stop)
        case DiffMode.BEFORE:
            return _change_before(run, stop)
        case DiffMode.CUMULATIVE:
            start = _first_state(run)
            if stop.kind is StopKind.CHAIN or start is None or stop.state in (None, start.id):
                return None
            if _own_change(run, stop).old == start.id:
                return None
            return _pair(start.id, stop.state)
        case DiffMode.CHOSEN:
            return _pair(*chosen) if chosen else None
        case DiffMode.REFERENCE:
            reference = _reference(run, stop.stage)
            return _pair(reference.id, stop.state) if reference and stop.state else None


def _own_change(run: Run, stop: Stop) -> StatePair:
    if stop.kind is StopKind.CHAIN:
        start = _first_state(run)
        return _pair(start.id if start else None, stop.state)
    if stop.kind is StopKind.BETWEEN:
        before = _state_before(run, stop.state)
        return _pair(before.id if before else None, stop.state)
    stage = run.stage(stop.stage)
    return _pair(stage.base if stage else None, stop.state)


def _change_before(run: Run, stop: Stop) -> StatePair | None:
    """Only where something really ran between the stage before and this one."""
    stage = run.stage(stop.stage)
    before = run.stage(stop.stage - 1)
    if stop.kind is not StopKind.STAGE or stage is None or before is None:
        return None
    if before.end is None or stage.base is None or before.end == stage.base:
        return None
    return _pair(before.end, stage.base)


def end_of_steps(run: Run, stop: Stop) -> str | None:
    """The state that the steps of a place led to; those of the chain gate are the last stage's."""
    if stop.kind is not StopKind.CHAIN:
        return stop.state
    stage = run.stage(stop.stage)
    return stage.end if stage is not None else None


def _pair(old: str | None, new: str | None) -> StatePair:
    missing = None
    if new is None:
        missing = "no state was recorded at the end"
    elif old is None:
        missing = "the state it started from is not recorded"
    return StatePair(old, new, f"{old or '?'}→{new or '?'}", missing)


def _first_state(run: Run) -> State | None:
    return next((state for state in run.states if state.kind is StateKind.START), None)


def _state_before(run: Run, state_id: str | None) -> State | None:
    states = run.agent_states()
    at = next((i for i, state in enumerate(states) if state.id == state_id), 0)
    return states[at - 1] if at else None


def _reference(run: Run, stage: int) -> State | None:
    return next((s for s in run.states if s.kind is StateKind.REFERENCE and s.stage == stage), None)
