"""Gates × states: what each gate says of each state, and how sure that is.

Pure: recorded results and stored reruns are handed in. A cell that follows from other gates says
so, and one that is known in part is no verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from arcview.analysis.verdicts import DEFAULT_POLICY, Policy, is_ok
from arcview.model.results import GateTest, Group, Outcome, Verdict
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
    """In how many runs it was ok."""
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
    cells = {
        (gate.gate, state.id): _completed(direct[gate.gate, state.id], gate, gates, direct)
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
    expected = len({test_id for _, test_id in gate.tests}) if gate.tests is not None else None
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
    cell: Cell, gate: MatrixGate, gates: Sequence[MatrixGate], direct: Mapping[CellKey, Cell]
) -> Cell:
    """A cell with what other gates on the same state show of its tests."""
    if cell.is_measured or gate.tests is None:
        return cell
    found: dict[str, CellTest] = {}
    for group, test_id in gate.tests:
        known = [
            (other.gate, direct[other.gate, cell.state].tests[test_id])
            for other in gates
            if other.gate != gate.gate
            and test_id in direct[other.gate, cell.state].tests
            and _is_same_test(test_id, gate, other)
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


def _repeated(group: Group, known: Sequence[tuple[str, CellTest]]) -> CellTest:
    via, first = known[0]
    passed, runs = sum(t.passed for _, t in known), sum(t.runs for _, t in known)
    ok = _agreed(passed, runs)
    return CellTest(group, first.outcome, ok, Source.REPEATED, passed, runs, via)


def _is_same_test(test_id: str, gate: MatrixGate, other: MatrixGate) -> bool:
    """False where the two gates are known to have different versions of the test's file."""
    if gate.overlay is None or other.overlay is None:
        return True
    changed = (
        path for path, digest in gate.overlay.items() if other.overlay.get(path, digest) != digest
    )
    return not any(test_id == path or test_id.startswith(f"{path}::") for path in changed)


def _with_standing(table: MatrixTable, gate: MatrixGate, state: MatrixState) -> Cell:
    cell = table.cell(gate.gate, state.id)
    standing, reason = _standing(table, gate, state)
    return Cell(
        cell.gate, cell.state, cell.verdict, cell.reason, cell.source, cell.tests, cell.expected,
        standing, reason, cell.passed, cell.runs,
    )  # fmt: skip


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
    return gate.tests is not None and {t for _, t in gate.tests} <= declared(table, state.stage)


def declared(table: MatrixTable, stage: int) -> frozenset[str]:
    """The tests that gates of a stage expect to pass at its end."""
    return frozenset(
        test_id for gate in table.gates if gate.stage == stage for _, test_id in gate.tests or ()
    )
