"""What each test does over the states of a run, and what each stage broke. Pure.

A test's row is that of the gate that has it as new behaviour; other gates complete it. What is not
known, flaky or not applicable is null and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from arcview.analysis.matrix import (
    CellTest,
    MatrixGate,
    MatrixState,
    MatrixTable,
)
from arcview.model.results import Group
from arcview.model.run import Stage
from arcview.model.states import StateKind


@dataclass(frozen=True, slots=True)
class Pattern:
    """One test over the agent's states."""

    gate: str
    """The gate whose new behaviour it tests; for one that only guards, the first that lists it."""
    id: str
    group: Group
    stage: int
    """From which stage on it should pass; 0 for a test that only guards."""
    line: tuple[bool | None, ...]
    """Whether it is ok, state by state; null where that is not known, flaky or not applicable."""
    birth: str | None
    """The first state on which it is known to pass."""
    is_birth_certain: bool
    """It is known not to pass on the state before, or there is none before."""
    premature: tuple[str, ...] = ()
    """States before its stage on which it passes: a weak gate, work done early, or a leak."""
    weak_on: tuple[str, ...] = ()
    """Reference states before its stage on which it passes: the test itself is weak."""
    late: bool | None = None
    """It fails at the end of its stage and passes later; null where too little is known."""
    healed: tuple[str, ...] = ()
    """States on which it passes again, or at last, having failed at or after its stage."""
    broken_again: tuple[str, ...] = ()
    """States on which it fails having passed at or after its stage."""
    never: bool | None = None
    """It passes on no state from its stage on; null where a state is not known."""
    flaky: tuple[str, ...] = ()
    """States on which runs disagree."""
    not_applicable: tuple[str, ...] = ()
    """States whose reference fails it too."""


@dataclass(frozen=True, slots=True)
class StageRegressions:
    """The earlier behaviour that fails at the end of one stage, by where that comes from."""

    stage: int
    base: str | None
    """The state before it; null where that is not recorded."""
    end: str
    regressed: tuple[str, ...]
    """Passed on the base: the stage broke it."""
    inherited: tuple[str, ...]
    """Failed on the base already."""
    unclear: tuple[str, ...]
    """What it did on the base is not known."""


def find_patterns(table: MatrixTable) -> tuple[Pattern, ...]:
    """The pattern of every test, by gate and in the order of its list."""
    owners = _owners(table.gates)
    return tuple(
        _pattern(table, gate, group, test_id, _line(table, gate, group, test_id))
        for test_id, (gate, group) in owners.items()
    )


def _owners(gates: Sequence[MatrixGate]) -> dict[str, tuple[MatrixGate, Group]]:
    """Test → the first gate that has it as new behaviour, else the first that lists it."""
    found: dict[str, tuple[MatrixGate, Group]] = {}
    for gate in gates:
        for group, test_id in gate.tests or ():
            # What an earlier gate guards is old behaviour, whatever a later one says.
            if test_id not in found or found[test_id] == (gate, Group.P2P):
                found[test_id] = (gate, group)
    order = {gate.gate: place for place, gate in enumerate(gates)}
    return dict(sorted(found.items(), key=lambda item: order[item[1][0].gate]))


@dataclass(frozen=True, slots=True)
class _Line:
    ok: tuple[bool | None, ...]
    flaky: tuple[str, ...]
    not_applicable: tuple[str, ...]


def _line(table: MatrixTable, gate: MatrixGate, group: Group, test_id: str) -> _Line:
    ok: list[bool | None] = []
    flaky: list[str] = []
    gone: list[str] = []
    for state in table.line:
        found = cell_test(table, gate, state, test_id)
        value = found.ok if found is not None else None
        if found is not None and value is None:
            flaky.append(state.id)
        is_due = group is Group.P2P or state.stage >= gate.stage
        if is_due and _reference_fails(table, gate, state, test_id):
            gone.append(state.id)
            value = None
        ok.append(value)
    return _Line(tuple(ok), tuple(flaky), tuple(gone))


def cell_test(
    table: MatrixTable, gate: MatrixGate, state: MatrixState, test_id: str
) -> CellTest | None:
    """What a test did on a state: in the gate's own cell, else in that of another gate."""
    own = table.cell(gate.gate, state.id).tests.get(test_id)
    if own is not None:
        return own
    if test_id in gate.listed:
        return None  # the cell was completed from the others already
    others = (table.cell(other.gate, state.id).tests.get(test_id) for other in table.gates)
    return next((found for found in others if found is not None), None)


def _reference_fails(
    table: MatrixTable, gate: MatrixGate, state: MatrixState, test_id: str
) -> bool:
    reference = table.reference(state.stage)
    if reference is None or reference is state:
        return False
    found = cell_test(table, gate, reference, test_id)
    return found is not None and found.ok is False


def _pattern(
    table: MatrixTable, gate: MatrixGate, group: Group, test_id: str, line: _Line
) -> Pattern:
    states = table.line
    stage = 0 if group is Group.P2P else gate.stage
    due = [place for place, state in enumerate(states) if state.stage >= stage]
    birth = next((place for place, ok in enumerate(line.ok) if ok), None)
    is_new = group is Group.F2P
    early = [p for p, state in enumerate(states) if state.stage < stage and line.ok[p]]
    healed, broken = _flips(line.ok, due)
    later = [line.ok[place] for place in due]
    return Pattern(
        gate.gate,
        test_id,
        group,
        stage,
        line.ok,
        states[birth].id if birth is not None else None,
        birth is not None and (birth == 0 or line.ok[birth - 1] is False),
        premature=tuple(states[place].id for place in early) if is_new else (),
        weak_on=tuple(_weak_on(table, gate, test_id)) if is_new else (),
        late=_late(states, line.ok, stage),
        healed=tuple(states[place].id for place in healed),
        broken_again=tuple(states[place].id for place in broken),
        never=False if any(later) else None if None in later or not later else True,
        flaky=line.flaky,
        not_applicable=line.not_applicable,
    )


def _weak_on(table: MatrixTable, gate: MatrixGate, test_id: str) -> Iterator[str]:
    for state in table.states:
        if state.is_reference and state.stage < gate.stage:
            found = cell_test(table, gate, state, test_id)
            if found is not None and found.ok:
                yield state.id


def _flips(ok: Sequence[bool | None], due: Iterable[int]) -> tuple[list[int], list[int]]:
    """Places at which it passes after a failure, and at which it fails after a pass."""
    healed: list[int] = []
    broken: list[int] = []
    last: bool | None = None
    for place in due:
        now = ok[place]
        if now is None:
            continue
        if last is not None and now is not last:
            (healed if now else broken).append(place)
        last = now
    return healed, broken


def _late(states: Sequence[MatrixState], ok: Sequence[bool | None], stage: int) -> bool | None:
    kinds = (StateKind.START, StateKind.STAGE_END)
    own = next((p for p, s in enumerate(states) if s.stage == stage and s.kind in kinds), None)
    if own is None or ok[own] is None:
        return None
    after = ok[own + 1 :]
    if ok[own]:
        return False
    return True if any(after) else None if None in after else False


def stage_regressions(
    table: MatrixTable, stages: Iterable[Stage], patterns: Iterable[Pattern]
) -> tuple[StageRegressions, ...]:
    """What fails at the end of each stage though it is older than the stage.

    Args:
        table: The matrix.
        stages: The stages as the run went through them.
        patterns: Those of `find_patterns`.
    """
    places = {state.id: place for place, state in enumerate(table.line)}
    known = tuple(patterns)
    return tuple(
        _regressions(stage.index, stage.base, stage.end, places, known, table)
        for stage in stages
        if stage.end in places and stage.end is not None
    )


def _regressions(
    stage: int,
    base: str | None,
    end: str,
    places: Mapping[str, int],
    patterns: Iterable[Pattern],
    table: MatrixTable,
) -> StageRegressions:
    guarded = {
        test_id
        for gate in table.gates
        if gate.gate == str(stage)
        for group, test_id in gate.tests or ()
        if group is Group.P2P
    }
    found: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    for pattern in patterns:
        is_older = pattern.stage < stage or pattern.id in guarded
        if is_older and pattern.line[places[end]] is False:
            before = pattern.line[places[base]] if base in places and base is not None else None
            found[before].append(pattern.id)
    return StageRegressions(
        stage, base, end, tuple(found[True]), tuple(found[False]), tuple(found[None])
    )
