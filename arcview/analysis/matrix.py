"""Gates × states: what each gate says of each state, and how sure that is.

Pure: recorded results and stored reruns are handed in. A cell that follows from other gates says
so, and one that is known in part is no verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from arcview.analysis.matrix_overlays import Overlays
from arcview.analysis.verdicts import DEFAULT_POLICY, Policy, is_ok
from arcview.model.results import WITHOUT_RESULT, GateTest, Group, Outcome, Verdict
from arcview.model.states import StateKind

CellKey = tuple[str, str]
"""Gate and state."""


class Source(StrEnum):
    """Where the results of a cell come from."""

    RECORDED = "recorded"
    RERUN = "rerun"
    SAME_TREE = "same_tree"
    """Recorded on another state that has the very same files."""
    REPEATED = "repeated"
    """Another gate that ran on this state has tests of this gate in its list."""


class Standing(StrEnum):
    """Whether a gate can be held against a state."""

    VERIFIED = "verified"
    """It passes on the reference state of the same stage."""
    DECLARED = "declared"
    """Not measured on the reference, but the gate of that very stage expects all of its tests."""
    UNVERIFIED = "unverified"
    """There is no reference state, or no result on it."""
    NOT_APPLICABLE = "not_applicable"
    """It fails on the reference state, so that a failure says nothing of the agent."""
    BEFORE = "before"
    """The state is older than the stage of the gate, whose new tests should fail there."""
    REFERENCE = "reference"
    """The state is a reference state itself."""


@dataclass(frozen=True, slots=True)
class MatrixGate:
    """One row."""

    gate: str
    stage: int
    """The stage it belongs to; the last one for the chain gate."""
    tests: tuple[tuple[Group, str], ...] | None = None
    """What it expects; null where that is not recorded."""
    overlay: Mapping[str, str] | None = None
    """Its hidden test files and their hashes; null where they are not known."""
    listed: frozenset[str] = field(init=False, repr=False, compare=False)
    """The ids of `tests`; empty where they are not recorded."""

    def __post_init__(self) -> None:
        """Keeps the ids, which are asked for test by test."""
        object.__setattr__(self, "listed", frozenset(test_id for _, test_id in self.tests or ()))


@dataclass(frozen=True, slots=True)
class MatrixState:
    """One column."""

    id: str
    stage: int
    kind: StateKind
    tree: str | None = None
    """States of one tree share their reruns; null where its files are not there."""

    @property
    def is_reference(self) -> bool:
        """Whether it is a state of the reference."""
        return self.kind is StateKind.REFERENCE


@dataclass(frozen=True, slots=True)
class Observation:
    """One gate run on one state."""

    gate: str
    state: str
    source: Source
    verdict: Verdict
    reason: str | None = None
    tests: tuple[GateTest, ...] = ()
    """Its expected tests."""
    duration_s: float | None = None


@dataclass(frozen=True, slots=True)
class CellTest:
    """One test in one cell."""

    group: Group
    outcome: Outcome
    """Of the recorded run, else of the last one."""
    ok: bool | None
    """Null where runs disagree."""
    source: Source
    passed: int = 1
    """In how many runs it was ok, those of other gates that have the very same test included."""
    runs: int = 1
    via: str | None = None
    """The other gate that shows it, for `Source.REPEATED`."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one gate says of one state."""

    gate: str
    state: str
    verdict: Verdict | None = None
    """Null where nothing is known, or too little."""
    reason: str | None = None
    """Why it is unmeasured, or what besides single tests made it fail."""
    source: Source | None = None
    tests: Mapping[str, CellTest] = field(default_factory=dict)
    """By id; those that are known."""
    expected: int | None = None
    """How many tests the gate expects."""
    standing: Standing = Standing.UNVERIFIED
    standing_reason: str | None = None
    passed: int = 0
    """In how many runs the gate passed."""
    runs: int = 0
    """Runs on this state with a verdict, the recorded one included."""

    @property
    def is_flaky(self) -> bool:
        """Whether runs of the gate, or of one of its tests, on this state disagree."""
        return 0 < self.passed < self.runs or any(test.ok is None for test in self.tests.values())

    @property
    def is_measured(self) -> bool:
        """Whether the gate itself ran on this state and came to a verdict."""
        return self.runs > 0

    @property
    def is_partial(self) -> bool:
        """Whether some of its tests are known and others are not."""
        return not self.is_measured and 0 < len(self.tests) < (self.expected or 0)


@dataclass(frozen=True, slots=True)
class MatrixTable:
    """All cells of a run."""

    gates: tuple[MatrixGate, ...]
    states: tuple[MatrixState, ...]
    """The agent's in order, then the reference's."""
    cells: Mapping[CellKey, Cell]

    def cell(self, gate: str, state: str) -> Cell:
        """One cell; an empty one where the run has no such gate or state."""
        return self.cells.get((gate, state)) or Cell(gate, state)

    @property
    def line(self) -> tuple[MatrixState, ...]:
        """The agent's states, in order."""
        return tuple(state for state in self.states if not state.is_reference)

    def reference(self, stage: int) -> MatrixState | None:
        """The reference state of a stage; R0 is S0."""
        found = next((s for s in self.states if s.is_reference and s.stage == stage), None)
        if found is None and stage == 0:
            return next((s for s in self.states if s.kind is StateKind.START), None)
        return found


def build_matrix(
    gates: Sequence[MatrixGate],
    states: Sequence[MatrixState],
    observations: Iterable[Observation],
    policy: Policy = DEFAULT_POLICY,
) -> MatrixTable:
    """Fills every cell that follows from what was measured.

    Args:
        gates: The rows, in the order of their stages, the chain gate last.
        states: The columns: the agent's states in order, then those of the reference.
        observations: Every gate run, recorded ones before reruns and these oldest first.
        policy: Which outcomes count as ok.
    """
    by_cell: dict[CellKey, list[Observation]] = {}
    for one in observations:
        by_cell.setdefault((one.gate, one.state), []).append(one)
    direct = {
        (gate.gate, state.id): _direct(
            gate, state.id, by_cell.get((gate.gate, state.id), ()), policy
        )
        for gate in gates
        for state in states
    }
    same = Overlays({gate.gate: gate.overlay for gate in gates})
    cells = {
        (gate.gate, state.id): _completed(direct[gate.gate, state.id], gate, gates, direct, same)
        for gate in gates
        for state in states
    }
    table = MatrixTable(tuple(gates), tuple(states), cells)
    return MatrixTable(
        table.gates,
        table.states,
        {
            (gate.gate, state.id): _with_standing(table, gate, state)
            for gate in gates
            for state in states
        },
    )


def _direct(gate: MatrixGate, state: str, runs: Sequence[Observation], policy: Policy) -> Cell:
    """A cell from the runs of the gate itself."""
    expected = len(gate.listed) if gate.tests is not None else None
    measured = [run for run in runs if run.verdict is not Verdict.UNMEASURED]
    if not measured:
        last = runs[-1] if runs else None
        if last is None:
            return Cell(gate.gate, state, expected=expected)
        verdict, reason = last.verdict, last.reason
        return Cell(gate.gate, state, verdict, reason, last.source, expected=expected)
    shown = measured[0] if measured[0].source is not Source.RERUN else measured[-1]
    tests = _tests(measured, shown, policy)
    return Cell(
        gate.gate,
        state,
        shown.verdict,
        shown.reason,
        shown.source,
        tests,
        len(tests) if expected is None else expected,
        passed=sum(run.verdict is Verdict.PASSED for run in measured),
        runs=len(measured),
    )


def _tests(
    measured: Sequence[Observation], shown: Observation, policy: Policy
) -> dict[str, CellTest]:
    by_run = [(run, _worst(run.tests, policy)) for run in measured]
    seen = Counter(test_id for _, tests in by_run for test_id in tests)
    passed = Counter(
        test_id
        for _, tests in by_run
        for test_id, test in tests.items()
        if is_ok(test.outcome, policy)
    )
    found: dict[str, CellTest] = {}
    for run, tests in sorted(by_run, key=lambda one: one[0] is shown):
        for test_id, test in tests.items():
            count, runs = passed[test_id], seen[test_id]
            ok = _agreed(count, runs)
            found[test_id] = CellTest(test.group, test.outcome, ok, run.source, count, runs)
    return found


def _worst(tests: Iterable[GateTest], policy: Policy) -> dict[str, GateTest]:
    """Each id once: one that stands in two groups counts with its worse outcome."""
    found: dict[str, GateTest] = {}
    for test in tests:
        if test.id not in found or not is_ok(test.outcome, policy):
            found[test.id] = test
    return found


def _agreed(passed: int, runs: int) -> bool | None:
    return True if passed == runs else False if passed == 0 else None


def _completed(
    cell: Cell,
    gate: MatrixGate,
    gates: Sequence[MatrixGate],
    direct: Mapping[CellKey, Cell],
    same: Overlays,
) -> Cell:
    """A cell with what other gates on the same state show of its tests."""
    others = [direct[o.gate, cell.state] for o in gates if o.gate != gate.gate]
    others = [other for other in others if other.tests]
    if cell.is_measured:
        return _counted(cell, others, same)
    if gate.tests is None or not others:
        return cell
    found: dict[str, CellTest] = {}
    for group, test_id in gate.tests:
        known = [
            (other.gate, other.tests[test_id])
            for other in others
            if test_id in other.tests
            and same.is_same_test(test_id, gate.gate, other.gate) is not False
        ]
        if known:
            found[test_id] = _repeated(group, known)
    if not found:
        return cell
    verdict: Verdict | None = None
    if any(test.ok is False for test in found.values()):
        verdict = Verdict.FAILED
    elif len(found) == cell.expected and all(test.ok for test in found.values()):
        verdict = Verdict.PASSED
    return Cell(
        cell.gate,
        cell.state,
        verdict,
        None if verdict is not None else cell.reason,
        Source.REPEATED,
        found,
        cell.expected,
    )


def _counted(cell: Cell, others: Sequence[Cell], same: Overlays) -> Cell:
    """A measured cell whose tests count the runs of other gates that have the very same ones."""
    tests = dict(cell.tests)
    for other in others:
        for test_id in cell.tests.keys() & other.tests.keys():
            one, more = tests[test_id], other.tests[test_id]
            ran = one.outcome not in WITHOUT_RESULT and more.outcome not in WITHOUT_RESULT
            if ran and same.is_same_test(test_id, cell.gate, other.gate):
                passed, runs = one.passed + more.passed, one.runs + more.runs
                ok = _agreed(passed, runs)
                tests[test_id] = replace(one, ok=ok, passed=passed, runs=runs)
    return replace(cell, tests=tests)


def _repeated(group: Group, known: Sequence[tuple[str, CellTest]]) -> CellTest:
    via, first = known[0]
    passed, runs = sum(t.passed for _, t in known), sum(t.runs for _, t in known)
    ok = _agreed(passed, runs)
    return CellTest(group, first.outcome, ok, Source.REPEATED, passed, runs, via)


def _with_standing(table: MatrixTable, gate: MatrixGate, state: MatrixState) -> Cell:
    cell = table.cell(gate.gate, state.id)
    standing, reason = _standing(table, gate, state)
    return replace(cell, standing=standing, standing_reason=reason)


def _standing(
    table: MatrixTable, gate: MatrixGate, state: MatrixState
) -> tuple[Standing, str | None]:
    if state.is_reference:
        return Standing.REFERENCE, None
    own = table.reference(gate.stage)
    if own is not None and _fails(table.cell(gate.gate, own.id)):
        return Standing.NOT_APPLICABLE, f"fails on {own.id}, its own reference state"
    if state.stage < gate.stage:
        return Standing.BEFORE, None
    reference = table.reference(state.stage)
    if reference is not None:
        cell = table.cell(gate.gate, reference.id)
        if _fails(cell):
            return Standing.NOT_APPLICABLE, f"fails on {reference.id}"
        if cell.verdict is Verdict.PASSED and not cell.is_flaky:
            return Standing.VERIFIED, None
    if _is_declared(table, gate, state):
        return Standing.DECLARED, f"its tests are those of stage {state.stage}"
    why = "no reference state" if reference is None else f"no result on {reference.id}"
    return Standing.UNVERIFIED, why


def _fails(cell: Cell) -> bool:
    return cell.verdict is Verdict.FAILED and not cell.is_flaky


def _is_declared(table: MatrixTable, gate: MatrixGate, state: MatrixState) -> bool:
    return gate.tests is not None and gate.listed <= declared(table, state.stage)


def declared(table: MatrixTable, stage: int) -> frozenset[str]:
    """The tests that gates of a stage expect to pass at its end."""
    return frozenset().union(*(gate.listed for gate in table.gates if gate.stage == stage))
