"""Rows, columns and recorded cells of the gate × state matrix, from an open run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from arcview.analysis.matrix import MatrixGate, MatrixState, Observation, Source
from arcview.analysis.verdicts import judge
from arcview.errors import ArcviewError
from arcview.model.results import GateRecord, GateTest, Group
from arcview.model.states import StateKind
from arcview.session.opened import OpenRun


def matrix_gates(
    opened: OpenRun, defined: Callable[[str], MatrixGate | None]
) -> tuple[MatrixGate, ...]:
    """The gates of a run with what each expects, the chain gate last.

    Args:
        opened: The run.
        defined: What the chain says of a gate; null where it says nothing.
    """
    run = opened.run
    last = max((stage.index for stage in run.stages), default=0)
    found = []
    for gate in run.gate_ids():
        stage = int(gate) if gate.isdecimal() else last
        known = defined(gate) or MatrixGate(gate, stage)
        tests = known.tests if known.tests is not None else _listed(opened, gate)
        found.append(replace(known, stage=stage, tests=tests))
    return tuple(found)


def _listed(opened: OpenRun, gate: str) -> tuple[tuple[Group, str], ...] | None:
    """The tests that the first measured run of a gate names."""
    for record in opened.run.gates:
        tests = _tests(opened, record) if record.gate == gate else ()
        if tests:
            return tuple((test.group, test.id) for test in tests)
    return None


def _tests(opened: OpenRun, record: GateRecord) -> tuple[GateTest, ...]:
    view = opened.gate_view(record.gate, record.state)
    return (*(failing.test for failing in view.failing), *view.passing)


def matrix_states(opened: OpenRun) -> tuple[MatrixState, ...]:
    """The states of a run with their trees: the agent's in order, then the reference's.

    Ingests the states where that is not done yet. Without git there are no trees.
    """
    try:
        opened.ensure_states()
        tree: Callable[[str], str | None] = opened.store.tree
    except ArcviewError:  # said among the problems of the run

        def tree(_state: str) -> str | None:
            return None

    run = opened.run
    line = [MatrixState(s.id, s.stage, s.kind, tree(s.id)) for s in run.agent_states()]
    known = {state.id for state in line}
    # A run without workspaces has stages all the same, and results of their gates.
    line += [
        MatrixState(f"S{stage.index}", stage.index, StateKind.STAGE_END)
        for stage in run.stages
        if stage.end is None
        and f"S{stage.index}" not in known
        and stage_has_gate(opened, stage.index)
    ]
    reference = [s for s in run.states if s.kind is StateKind.REFERENCE]
    return (*line, *(MatrixState(s.id, s.stage, s.kind, tree(s.id)) for s in reference))


def stage_has_gate(opened: OpenRun, stage: int) -> bool:
    """Whether a result of the gate of a stage is recorded."""
    return any(record.gate == str(stage) for record in opened.run.gates)


def recorded_observations(
    opened: OpenRun, states: Sequence[MatrixState]
) -> tuple[Observation, ...]:
    """Every recorded gate run, also for states that have the same files as the one it ran on."""
    own = [one for record in opened.run.gates for one in _observed(opened, record, states)]
    taken = {(one.gate, one.state) for one in own}
    trees = {state.id: state.tree for state in states}
    shared = [
        replace(one, state=state.id, source=Source.SAME_TREE, duration_s=None)
        for one in own
        for state in states
        if (one.gate, state.id) not in taken
        and state.tree is not None
        and trees.get(one.state) == state.tree
    ]
    return (*own, *shared)


def _observed(
    opened: OpenRun, record: GateRecord, states: Sequence[MatrixState]
) -> Iterator[Observation]:
    state = record.state or _own_state(opened, record.gate, states)
    if state is None or all(state != known.id for known in states):
        return
    judged = judge(record, opened.policy)
    yield Observation(
        record.gate,
        state,
        Source.RECORDED,
        judged.verdict,
        judged.reason,
        _tests(opened, record),
        record.duration_s,
    )


def _own_state(opened: OpenRun, gate: str, states: Sequence[MatrixState]) -> str | None:
    """The state of a result that names none: the end of its stage."""
    if gate.isdecimal():
        stage = opened.run.stage(int(gate))
        return (stage.end if stage is not None else None) or f"S{gate}"
    return next((s.id for s in reversed(states) if not s.is_reference), None)
