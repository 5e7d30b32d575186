from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from arcview.analysis.history import History, RunHistory, run_history
from arcview.analysis.verdicts import Policy
from arcview.model.results import GateRecord, GateTest, Group, GroupCounts, Outcome
from arcview.model.run import Chain, Run, Stage, Status
from arcview.model.states import Provenance, State, StateKind

OUTCOMES = {
    "+": Outcome.PASSED,
    "-": Outcome.FAILED,
    "s": Outcome.SKIPPED,
    "x": Outcome.XFAILED,
    "m": Outcome.MISSING,
}
GROUPS = {"f": Group.F2P, "p": Group.P2P, "o": Group.OTHER}

Table = Mapping[str, str | None]
"""`1` or `1.refactor` or `chain` → `a:p+ b:f-` (id, group, outcome), null where unmeasured."""


def a_run(table: Table, *, has_states: bool = True) -> tuple[Run, RunHistory]:
    """A run whose gates hold what the table says, in its order."""
    names = [name for name in table if name != "chain"]
    last = max(int(name.partition(".")[0]) for name in names)
    states = [State("S0", 0, StateKind.START, Provenance.RECORDED)]
    for name in names:
        stage, _, between = name.partition(".")
        kind = StateKind.BETWEEN if between else StateKind.STAGE_END
        states.append(State(f"S{name}", int(stage), kind, Provenance.RECORDED))
    stages = []
    for index in range(1, last + 1):
        base = [state.id for state in states if state.stage < index][-1]
        end = f"S{index}" if str(index) in table else None
        stages.append(Stage(index, None, Status.COMPLETED, base=base, end=end))
    gates: list[GateRecord] = []
    tests: dict[tuple[str, str | None], tuple[GateTest, ...]] = {}
    for name, text in table.items():
        gate = name.partition(".")[0]
        state = f"S{last}" if name == "chain" else f"S{name}"
        found = tuple(_test(word) for word in (text or "").split())
        counts = {
            group: GroupCounts.of(test for test in found if test.group is group) for group in Group
        }
        f2p, p2p, other = counts[Group.F2P], counts[Group.P2P], counts[Group.OTHER]
        split = other.expected == 0
        gates.append(
            GateRecord(gate, state, unmeasured="infrastructure failure")
            if text is None
            else GateRecord(gate, state, f2p if split else None, p2p if split else None,
                            None if split else other)
        )  # fmt: skip
        tests[gate, state] = found
    run = Run(
        "r", "fake", "r", Chain("t"), states=tuple(states), stages=tuple(stages), gates=tuple(gates)
    )
    return run, run_history(run, lambda gate: tests[gate.gate, gate.state])


def _test(word: str) -> GateTest:
    name, _, rest = word.partition(":")
    return GateTest(name, GROUPS[rest[0]], OUTCOMES[rest[1]])


def history_at(table: Table, gate: str, test: str = "a") -> History | None:
    _, history = a_run(table)
    name = gate.partition(".")[0]
    state = f"S{gate}" if gate != "chain" else None
    found = [g for g in history.gates if g.gate == name and (state is None or g.state == state)]
    return {key[1]: value for key, value in found[-1].failing.items()}.get(test)


@pytest.mark.parametrize(
    ("table", "gate", "expected"),
    [
        ({"1": "a:f-"}, "1", History.FIRST),
        ({"1": "a:p-"}, "1", History.NEW),
        ({"1": "b:f+", "2": "a:p-"}, "2", History.FIRST),
        ({"1": "a:f+", "2": "a:p-"}, "2", History.NEW),
        ({"1": "a:f-", "2": "a:p-"}, "2", History.INHERITED),
        ({"1": "a:fs", "2": "a:p-"}, "2", History.INHERITED),
        ({"1": "a:fm c:f+", "2": "a:p-"}, "2", History.INHERITED),
        ({"1": "a:fx", "2": "a:p-"}, "2", History.NEW),
        ({"1": "a:f-", "2": "a:p+", "3": "a:p-"}, "3", History.BROKEN_AGAIN),
        ({"1": "a:f+", "2": "a:p-", "3": "a:p-"}, "3", History.INHERITED),
        ({"1": "a:f+", "2": "b:f+", "3": "a:p-"}, "3", History.NEW),
        ({"1": "a:o-", "2": "a:o-"}, "2", History.INHERITED),
    ],
)
def test_history_follows_the_last_earlier_result(
    table: Table, gate: str, expected: History
) -> None:
    assert history_at(table, gate) is expected


@pytest.mark.parametrize(
    ("table", "gate", "expected"),
    [
        ({"1": "a:f+", "2": None, "3": "a:p-"}, "3", History.UNKNOWN),
        ({"1": "a:f-", "2": None, "3": "a:p-"}, "3", History.UNKNOWN),
        ({"1": None, "2": "a:p-"}, "2", History.UNKNOWN),
        ({"1": None, "2": "a:o-"}, "2", History.UNKNOWN),
        # New behaviour of stage 2: no earlier gate can contain it.
        ({"1": None, "2": "a:f-"}, "2", History.FIRST),
        ({"1": "a:f+", "2": None, "3": "a:p+", "4": "a:p-"}, "4", History.NEW),
        # The same gate was measured on another state and does not contain it.
        ({"1": "a:f+", "2": None, "2.refactor": "b:f+", "3": "a:p-"}, "3", History.NEW),
        ({"1": "b:f+", "2": None, "2.refactor": "a:f-"}, "2.refactor", History.UNKNOWN),
    ],
)
def test_an_unmeasured_gate_in_between_makes_it_unknown(
    table: Table, gate: str, expected: History
) -> None:
    assert history_at(table, gate) is expected


def test_results_of_between_states_count_as_earlier() -> None:
    table = {"1": "a:f+", "1.refactor": "a:f-", "2": "a:p-"}
    assert history_at(table, "1.refactor") is History.NEW
    assert history_at(table, "2") is History.INHERITED


def test_the_chain_gate_comes_last() -> None:
    table = {"chain": "a:f- b:f-", "1": "a:f+", "2": "a:p-"}
    assert history_at(table, "chain", "a") is History.INHERITED
    assert history_at(table, "chain", "b") is History.FIRST


def test_healed_are_tests_that_are_ok_and_were_not() -> None:
    _, history = a_run({"1": "a:f- b:f- c:f+", "2": "a:p+ b:p- c:p+ d:f+"})
    found = history.of("2", "S2")
    assert found is not None
    assert found.healed == (("p2p", "a"),)


def test_an_unmeasured_gate_heals_nothing_that_could_be_counted() -> None:
    _, history = a_run({"1": "a:f-", "2": None, "3": "a:p+"})
    at_2, at_3 = history.of("2", "S2"), history.of("3", "S3")
    assert at_2 is not None
    assert at_2.healed is None
    assert at_3 is not None
    assert at_3.healed == ()


@pytest.mark.parametrize(
    ("table", "debt"),
    [
        ({"1": "a:f-", "2": "a:p+", "3": "a:p+"}, {1: 0, 2: 1, 3: 0}),
        ({"1": "a:f- b:f-", "2": "a:p- b:p+ c:f-", "3": "a:p-"}, {1: 0, 2: 2, 3: 2}),
        ({"1": "a:f+", "1.refactor": "a:f-", "2": "a:p+"}, {1: 0, 2: 1}),
        ({"1": None, "2": "a:p-", "3": "a:p-"}, {1: None, 2: None, 3: 1}),
        ({"1": "a:f-", "2": None, "3": "a:p-"}, {1: 0, 2: 1, 3: 1}),
    ],
)
def test_debt_is_what_was_broken_when_the_stage_began(
    table: Table, debt: dict[int, int | None]
) -> None:
    _, history = a_run(table)
    assert dict(history.debt) == debt


@pytest.mark.parametrize(
    ("table", "bad_stage", "bad_state", "failing_gate"),
    [
        ({"1": "a:f+", "2": "a:p+"}, None, None, None),
        ({"1": "a:f+", "2": "a:p-"}, 2, "S2", "2"),
        ({"1": "a:f+", "1.refactor": "a:f-", "2": "a:p-"}, 1, "S1.refactor", "2"),
        ({"1": "a:f+", "1.refactor": "a:f-", "2": "a:p+"}, 1, "S1.refactor", None),
        ({"1": None, "2": "a:p-"}, 2, "S2", "2"),
        ({"1": "a:f+", "chain": "a:f+ b:f-"}, 1, "S1", "chain"),
        ({"1": "a:fs"}, 1, "S1", "1"),
    ],
)
def test_where_the_chain_went_wrong_first(
    table: Table, bad_stage: int | None, bad_state: str | None, failing_gate: str | None
) -> None:
    _, history = a_run(table)
    assert history.first_bad_stage == bad_stage
    assert history.first_bad_state == bad_state
    assert history.first_failing_gate == failing_gate


def test_a_stage_without_a_result_hides_what_it_may_have_broken() -> None:
    run, _ = a_run({"1": "a:f+", "2": "b:f+", "3": "a:p-"})
    gates = tuple(gate for gate in run.gates if gate.gate != "2")
    tests = {"1": "a:f+", "3": "a:p-"}
    cut = Run("r", "fake", "r", Chain("t"), states=run.states, stages=run.stages, gates=gates)
    history = run_history(cut, lambda gate: tuple(_test(w) for w in tests[gate.gate].split()))
    found = history.of("3", "S3")
    assert found is not None
    assert found.failing == {("p2p", "a"): History.UNKNOWN}


def test_stages_without_an_end_state_keep_their_order() -> None:
    stages = tuple(Stage(index, None, Status.COMPLETED) for index in (1, 2, 3))
    results = {"1": "a:f+", "2": "a:p-", "3": "a:p-"}
    gates = tuple(
        GateRecord(gate, None, GroupCounts.of(()), GroupCounts.of([_test(text)]))
        for gate, text in results.items()
    )
    run = Run("r", "fake", "r", Chain("t"), stages=stages, gates=gates)
    history = run_history(run, lambda gate: (_test(results[gate.gate]),))
    found = [next(iter(gate.failing.values()), None) for gate in history.gates]
    assert found == [None, History.NEW, History.INHERITED]
    assert history.first_bad_stage == 2


def test_two_gates_on_one_state_are_not_earlier_than_each_other() -> None:
    states = tuple(
        State(f"S{n}", n, StateKind.STAGE_END if n else StateKind.START, Provenance.RECORDED)
        for n in range(3)
    )
    stages = (
        Stage(1, None, Status.COMPLETED, base="S0", end="S1"),
        Stage(2, None, Status.COMPLETED, base="S1", end="S2"),
    )
    results = {("1", "S1"): "a:f+", ("1", "S2"): "a:f-", ("2", "S2"): "a:p-"}
    gates = tuple(
        GateRecord(*key, GroupCounts.of([_test(text)]), GroupCounts())
        for key, text in results.items()
    )
    run = Run("r", "fake", "r", Chain("t"), states=states, stages=stages, gates=gates)
    history = run_history(run, lambda gate: (_test(results[gate.gate, str(gate.state)]),))
    found = history.of("2", "S2")
    assert found is not None
    assert list(found.failing.values()) == [History.NEW]


def test_the_policy_decides_what_was_broken() -> None:
    run, _ = a_run({"1": "a:fs", "2": "a:p-"})
    texts = {"1": "a:fs", "2": "a:p-"}
    history = run_history(run, lambda gate: (_test(texts[gate.gate]),), Policy(skip_ok=True))
    found = history.of("2", "S2")
    assert found is not None
    assert list(found.failing.values()) == [History.NEW]


def test_an_id_in_two_groups_counts_with_its_worse_outcome() -> None:
    assert history_at({"1": "a:f+ a:p-", "2": "a:p-"}, "2") is History.INHERITED


def test_a_stage_gate_whose_state_is_not_named_is_the_gate_of_its_end() -> None:
    run, _ = a_run({"1": "a:f+", "2": "a:p-"})
    gates = tuple(replace(gate, state=None) for gate in run.gates)
    texts = {"1": "a:f+", "2": "a:p-"}
    history = run_history(replace(run, gates=gates), lambda gate: (_test(texts[gate.gate]),))
    assert [list(gate.failing.values()) for gate in history.gates] == [[], [History.NEW]]
    assert (history.first_bad_stage, history.first_failing_gate) == (2, "2")
