"""Inherited or new: what each failing test did at earlier gates, from recorded results alone.

Pure functions over the run's skeleton and the tests of its recorded gates; no I/O. The definitions
are those of the run format (section "The JSON twin").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby

from arcview.analysis.verdicts import DEFAULT_POLICY, Policy, failing_tests, is_ok, judge
from arcview.model.results import GateRecord, GateTest, Group, Verdict
from arcview.model.run import Run, Stage, Status
from arcview.model.states import StateKind


class History(StrEnum):
    """Where a failing test comes from."""

    FIRST = "first"
    """No earlier gate contains it."""
    NEW = "new"
    """Its last earlier result was ok; or a P2P test at the first gate, since it held on S0."""
    BROKEN_AGAIN = "broken_again"
    """New, and it had failed before that."""
    INHERITED = "inherited"
    """Its last earlier result was not ok."""
    UNKNOWN = "unknown"
    """The last earlier gate that contains it, or may, is unmeasured."""


GateTests = Callable[[GateRecord], Iterable[GateTest]]
"""Gives the single tests of a recorded gate run."""

TestKey = tuple[str, str]
"""Group and id of a test: what is unique within one gate run."""

Position = tuple[int, int]
"""Ordinal of the state, then the stage index for stages whose end state is not there."""

_BEFORE_ALL: Position = (-1, 0)
_AFTER_ALL: Position = (1 << 30, 0)


@dataclass(frozen=True, slots=True)
class GateSlot:
    """One gate run in the order of the states, measured or not."""

    gate: str
    state: str | None
    stage: int
    """The stage that its state ends or follows; the last stage for the chain gate."""
    position: Position
    """Gate runs of one position ran on one state: none is earlier than the other."""
    between: bool
    """It ran on a between-state."""
    record: GateRecord | None
    """Null for a stage that was started and has no result."""
    tests: tuple[GateTest, ...] = ()
    """Its expected tests; empty where none are recorded."""
    measured: bool = False
    """There is a verdict and there are tests."""


@dataclass(frozen=True, slots=True)
class GateHistory:
    """What the failing tests of one gate run are, and which tests it shows healed."""

    gate: str
    state: str | None
    failing: Mapping[TestKey, History] = field(default_factory=dict)
    healed: tuple[TestKey, ...] | None = None
    """Tests that are ok here and were not at their last earlier result; null where this gate is
    unmeasured."""
    since: Mapping[TestKey, str | None] = field(default_factory=dict)
    """For inherited tests: the state of the first result from which on every result was not ok."""

    def count(self, history: History) -> int:
        """How many failing tests have this history."""
        return sum(value is history for value in self.failing.values())


@dataclass(frozen=True, slots=True)
class RunHistory:
    """The histories of all gate runs of a run, and where its chain went wrong first."""

    gates: tuple[GateHistory, ...]
    """In the order of the states; stages without a result included."""
    debt: Mapping[int, int | None]
    """By stage: distinct tests whose last result before the stage began is not ok; null where no
    earlier gate was measured. Before the first stage nothing is broken, as far as its own gate was
    measured."""
    first_bad_stage: int | None
    first_bad_state: str | None
    first_failing_gate: str | None

    def of(self, gate: str, state: str | None) -> GateHistory | None:
        """The history of one gate run, or null."""
        return next((g for g in self.gates if g.gate == gate and g.state == state), None)


def gate_slots(
    run: Run, tests: GateTests | None = None, policy: Policy = DEFAULT_POLICY
) -> tuple[GateSlot, ...]:
    """The gate runs of a run in the order of their states, the chain gate last.

    A stage that was started and has no recorded gate has a slot without a record, since later
    results cannot be judged without it. Between-states have a slot only where one is recorded;
    gates of reference states are left out.

    Args:
        run: The skeleton.
        tests: Gives the tests of a recorded gate; without it no slot counts as measured.
        policy: Which outcomes count as ok.
    """
    return tuple(
        _with_tests(slot, tests, policy) if tests is not None else slot
        for slot in sorted(_located(run), key=_order)
    )


def stage_record(run: Run, stage: Stage) -> GateRecord | None:
    """What is recorded of a stage's own gate, on its end or on a state that is not named."""
    gate = str(stage.index)
    return run.gate(gate, stage.end) or run.gate(gate, None)


def _order(slot: GateSlot) -> tuple[Position, int, str]:
    return slot.position, int(slot.gate) if slot.gate.isdecimal() else 0, slot.gate


def _with_tests(slot: GateSlot, tests: GateTests, policy: Policy) -> GateSlot:
    if slot.record is None:
        return slot
    expected = tuple(test for test in tests(slot.record) if not test.extra)
    has_verdict = judge(slot.record, policy).verdict is not Verdict.UNMEASURED
    return GateSlot(
        slot.gate, slot.state, slot.stage, slot.position, slot.between, slot.record,
        expected, has_verdict and bool(expected),
    )  # fmt: skip


def _located(run: Run) -> Iterator[GateSlot]:
    states = {state.id: (place, state) for place, state in enumerate(run.agent_states())}
    hidden = {state.id for state in run.states if state.kind is StateKind.REFERENCE}
    last_stage = run.stages[-1].index if run.stages else 0
    ends = {str(index): position for index, position in _end_positions(run).items()}
    for record in run.gates:
        gate, known = record.gate, states.get(record.state or "")
        if record.state in hidden:
            continue
        if gate == "chain":
            yield GateSlot(gate, record.state, last_stage, _AFTER_ALL, False, record)
        elif known is not None:
            place, state = known
            between = state.kind is StateKind.BETWEEN
            yield GateSlot(gate, state.id, state.stage, (place, 0), between, record)
        else:
            number = int(gate) if gate.isdecimal() else 0
            yield GateSlot(gate, record.state, number, ends.get(gate, (0, 0)), False, record)
    for stage in run.stages:
        if stage_record(run, stage) is None and stage.status is not Status.NOT_STARTED:
            gate = str(stage.index)
            yield GateSlot(gate, stage.end, stage.index, ends[gate], False, None)


def _end_positions(run: Run) -> dict[int, Position]:
    """Where the end of each stage stands; without an end state, just after all that precedes it."""
    states = run.agent_states()
    places = {state.id: place for place, state in enumerate(states)}
    found: dict[int, Position] = {}
    for stage in run.stages:
        if stage.end is not None and stage.end in places:
            found[stage.index] = places[stage.end], 0
        else:
            earlier = (places[state.id] for state in states if state.stage < stage.index)
            found[stage.index] = max(earlier, default=0), stage.index
    return found


class _Results:
    """The last result of every test, filled gate run by gate run."""

    def __init__(self, slots: Iterable[GateSlot], policy: Policy) -> None:
        self._policy = policy
        self._members: dict[str, set[str]] = {}
        """Gate → ids it is known to contain, from any state it was listed on."""
        for slot in slots:
            if slot.tests:
                self._members.setdefault(slot.gate, set()).update(t.id for t in slot.tests)
        self._last: dict[str, tuple[int, bool]] = {}
        """Test id → (ordinal of the gate run, was it ok there)."""
        self._ever_failed: set[str] = set()
        self._since: dict[str, str | None] = {}
        """Test id → state at which its present run of failures began."""
        self._blind: list[tuple[int, str]] = []
        """(ordinal, gate) of the unmeasured gate runs."""
        self._ordinal = 0

    def add(self, slot: GateSlot) -> None:
        self._ordinal += 1
        if not slot.measured:
            self._blind.append((self._ordinal, slot.gate))
            return
        outcomes: dict[str, bool] = {}
        for test in slot.tests:
            # An id that stands in two groups counts with its worse outcome.
            outcomes[test.id] = outcomes.get(test.id, True) and is_ok(test.outcome, self._policy)
        for test_id, ok in outcomes.items():
            self._last[test_id] = (self._ordinal, ok)
            if ok:
                self._since.pop(test_id, None)
            else:
                self._ever_failed.add(test_id)
                self._since.setdefault(test_id, slot.state)

    def debt(self) -> int | None:
        return sum(not ok for _, ok in self._last.values()) if self._last else None

    def history(self, test: GateTest, *, at_first_gate: bool) -> History:
        last = self._last.get(test.id)
        if self._is_hidden(test, last):
            return History.UNKNOWN
        if last is None:
            held_on_start = at_first_gate and test.group is Group.P2P
            return History.NEW if held_on_start else History.FIRST
        if not last[1]:
            return History.INHERITED
        return History.BROKEN_AGAIN if test.id in self._ever_failed else History.NEW

    def since(self, test: GateTest) -> str | None:
        """The state at which the present run of failures of a test began."""
        return self._since.get(test.id)

    def is_healed(self, test: GateTest) -> bool:
        last = self._last.get(test.id)
        return last is not None and not last[1] and not self._is_hidden(test, last)

    def _is_hidden(self, test: GateTest, last: tuple[int, bool] | None) -> bool:
        """Whether an unmeasured gate run after the last result contains the test, or may.

        What an unmeasured gate contains is known only where its tests are listed, on this state
        or on another. Otherwise it may contain whatever is not new behaviour here: P2P tests,
        tests of runs without a split, and tests that an earlier gate contains already.
        """
        since = 0 if last is None else last[0]
        for ordinal, gate in self._blind:
            if ordinal > since:
                members = self._members.get(gate)
                if members is None:
                    if last is not None or test.group is not Group.F2P:
                        return True
                elif test.id in members:
                    return True
        return False


def run_history(run: Run, tests: GateTests, policy: Policy = DEFAULT_POLICY) -> RunHistory:
    """Computes the histories of every gate run.

    Args:
        run: The skeleton.
        tests: Gives the tests of a recorded gate; their messages are not needed.
        policy: Which outcomes count as ok.
    """
    slots = gate_slots(run, tests, policy)
    results = _Results(slots, policy)
    histories: list[GateHistory] = []
    debt: dict[int, int | None] = {}
    waiting = _beginnings(run)
    first = _first_debt(run, policy)
    for position, same_state in groupby(slots, key=lambda slot: slot.position):
        together = tuple(same_state)
        for index in [index for index, begins in waiting.items() if position > begins]:
            debt[index] = results.debt() if index > 1 else first
            del waiting[index]
        at_first_gate = not histories
        histories.extend(_gate_history(s, results, policy, at_first_gate) for s in together)
        for slot in together:
            results.add(slot)
    debt |= {index: results.debt() if index > 1 else first for index in waiting}
    stage, state = first_bad(slots, policy)
    return RunHistory(tuple(histories), debt, stage, state, first_failing_gate(slots, policy))


def _first_debt(run: Run, policy: Policy) -> int | None:
    """What was broken before the first stage: nothing that a gate without result could tell."""
    record = stage_record(run, run.stages[0]) if run.stages else None
    return None if judge(record, policy).verdict is Verdict.UNMEASURED else 0


def _beginnings(run: Run) -> dict[int, Position]:
    """The last position before each stage: a gate at a later one ran when it had begun."""
    places = {state.id: place for place, state in enumerate(run.agent_states())}
    ends = _end_positions(run)
    found: dict[int, Position] = {}
    for stage in run.stages:
        if stage.index == 1:
            found[1] = _BEFORE_ALL
        elif stage.base is not None and stage.base in places:
            found[stage.index] = places[stage.base], 0
        else:
            place, within = ends[stage.index]
            found[stage.index] = place, within - 1
    return found


def _gate_history(
    slot: GateSlot, results: _Results, policy: Policy, at_first_gate: bool
) -> GateHistory:
    if not slot.measured:
        return GateHistory(slot.gate, slot.state)
    failing: dict[TestKey, History] = {}
    since: dict[TestKey, str | None] = {}
    healed: list[TestKey] = []
    for test in slot.tests:
        key = (test.group.value, test.id)
        if not is_ok(test.outcome, policy):
            failing[key] = results.history(test, at_first_gate=at_first_gate)
            if failing[key] is History.INHERITED:
                since[key] = results.since(test)
        elif results.is_healed(test):
            healed.append(key)
    return GateHistory(slot.gate, slot.state, failing, tuple(healed), since)


def first_bad(
    slots: Sequence[GateSlot], policy: Policy = DEFAULT_POLICY
) -> tuple[int | None, str | None]:
    """Stage and state of the first result with a failing expected test that is not inherited.

    Counts are enough: a failing test is inherited only where an earlier gate run has a failing
    test already, so the first gate run with a failing test is the one.
    """
    for slot in slots:
        measured = judge(slot.record, policy).verdict is not Verdict.UNMEASURED
        if measured and failing_tests(slot.record, policy):
            return slot.stage, slot.state
    return None, None


def first_failing_gate(slots: Sequence[GateSlot], policy: Policy = DEFAULT_POLICY) -> str | None:
    """The first stage gate, or `"chain"`, whose verdict is failed; null where there is none.

    Gates of between-states are not stage gates.
    """
    for slot in slots:
        is_stage_gate = slot.gate == str(slot.stage) and not slot.between
        if slot.gate == "chain" or is_stage_gate:
            verdict = judge(slot.record, policy).verdict
            if verdict is Verdict.FAILED:
                return slot.gate
    return None
