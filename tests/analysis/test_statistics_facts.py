from __future__ import annotations

from collections.abc import Mapping

import pytest

from arcview.analysis.lifetimes import FailureSpan
from arcview.analysis.statistics_facts import ChangeFacts, GateFacts, change_facts, gate_facts
from arcview.analysis.verdicts import Policy
from arcview.model.patch import ChangeKind, FileChange, PathClass
from arcview.model.results import GateRecord, GateTest, Group, GroupCounts, Outcome, Verdict
from arcview.model.run import Chain, Run, Stage, Status
from arcview.model.states import Provenance, State, StateKind

OUTCOMES = {"+": Outcome.PASSED, "-": Outcome.FAILED, "s": Outcome.SKIPPED}
GROUPS = {"f": Group.F2P, "p": Group.P2P, "o": Group.OTHER}


def facts(
    table: Mapping[str, str | None], policy: Policy | None = None
) -> tuple[dict[int, GateFacts], GateFacts | None]:
    """The facts of a run whose gates hold what the table says.

    Keys are `1`, `1.refactor` or `chain`; values are tests (`a:p+` is P2P test a, passed), null
    where the gate was not measured.
    """
    names = [name for name in table if name != "chain"]
    states = [State("S0", 0, StateKind.START, Provenance.RECORDED)]
    for name in names:
        stage, _, between = name.partition(".")
        kind = StateKind.BETWEEN if between else StateKind.STAGE_END
        states.append(State(f"S{name}", int(stage), kind, Provenance.RECORDED))
    stages = tuple(
        Stage(int(name), None, Status.COMPLETED, end=f"S{name}")
        for name in names
        if "." not in name
    )
    tests = {
        name: tuple(_test(word) for word in (text or "").split()) for name, text in table.items()
    }
    gates = tuple(_gate(name, table[name], tests[name], states[-1].id) for name in table)
    by_gate = {id(gate): tests[name] for gate, name in zip(gates, table, strict=True)}
    run = Run("r", "fake", "r", Chain("t"), states=tuple(states), stages=stages, gates=gates)
    return gate_facts(run, lambda gate: by_gate[id(gate)], policy or Policy())


def _test(word: str) -> GateTest:
    name, _, rest = word.partition(":")
    return GateTest(name, GROUPS[rest[0]], OUTCOMES[rest[1]])


def _gate(name: str, text: str | None, tests: tuple[GateTest, ...], last: str) -> GateRecord:
    state = last if name == "chain" else f"S{name}"
    gate = name.partition(".")[0]
    if text is None:
        return GateRecord(gate, state, unmeasured="infrastructure failure")
    if any(test.group is Group.OTHER for test in tests):
        return GateRecord(gate, state, other=GroupCounts.of(tests))
    f2p = GroupCounts.of(test for test in tests if test.group is Group.F2P)
    return GateRecord(gate, state, f2p, GroupCounts.of(t for t in tests if t.group is Group.P2P))


def test_new_behaviour_and_old_are_told_apart() -> None:
    stages, chain = facts({"1": "a:f+ b:p+", "2": "c:f+ a:p- b:p+"})
    assert (stages[1].f2p_ok, stages[1].p2p_ok) == (True, True)
    assert (stages[2].f2p_ok, stages[2].p2p_ok) == (True, False)
    assert stages[2].p2p_tests == 2
    assert chain is None


def test_what_fails_for_an_earlier_failure_alone_is_inherited_and_no_regression() -> None:
    stages, _ = facts({"1": "a:f- b:p+", "2": "c:f+ a:p- b:p+"})
    assert (stages[2].regressed, stages[2].inherited, stages[2].unclear) == (0, 1, 0)


def test_what_held_before_and_fails_is_a_regression() -> None:
    stages, _ = facts({"1": "a:f+ b:f-", "2": "c:f+ a:p- b:p- z:p-"})
    assert (stages[2].regressed, stages[2].inherited, stages[2].unclear) == (1, 1, 1)


def test_a_state_between_stages_decides_what_was_broken_before() -> None:
    stages, _ = facts({"1": "a:f+", "1.refactor": "a:f-", "2": "c:f+ a:p-"})
    assert (stages[2].regressed, stages[2].inherited) == (0, 1)


def test_healed_and_broken_again_follow_single_tests() -> None:
    stages, _ = facts(
        {"1": "a:f- b:f-", "2": "c:f+ a:p+ b:p-", "3": "d:f+ a:p+ b:p-", "4": "e:f+ a:p- b:p-"}
    )
    assert [stages[k].broken_before for k in (1, 2, 3, 4)] == [0, 2, 1, 1]
    assert [stages[k].healed for k in (1, 2, 3, 4)] == [0, 1, 0, 0]
    assert [stages[k].recovered_before for k in (1, 2, 3, 4)] == [0, 0, 1, 1]
    assert [stages[k].broken_again for k in (1, 2, 3, 4)] == [0, 0, 0, 1]


def test_an_unmeasured_gate_says_nothing() -> None:
    stages, _ = facts({"1": "a:f+", "2": None, "3": "b:f+ a:p-"})
    assert stages[2] == GateFacts(Verdict.UNMEASURED, "infrastructure failure", debt=0)
    assert (stages[3].regressed, stages[3].unclear) == (0, 1)


def test_a_gate_without_split_has_a_verdict_and_no_more() -> None:
    stages, _ = facts({"1": "a:o+ b:o-"})
    assert stages[1].verdict is Verdict.FAILED
    assert (stages[1].f2p_ok, stages[1].p2p_ok) == (None, None)


def test_a_gate_without_new_tests_does_not_say_that_new_behaviour_works() -> None:
    stages, _ = facts({"1": "a:p+"})
    assert (stages[1].verdict, stages[1].f2p_ok) == (Verdict.PASSED, None)


def test_the_policy_decides_what_is_ok() -> None:
    assert facts({"1": "a:fs"})[0][1].f2p_ok is False
    assert facts({"1": "a:fs"}, Policy(skip_ok=True))[0][1].f2p_ok is True


def test_the_chain_gate_stands_apart() -> None:
    _, chain = facts({"1": "a:f+ b:f+", "chain": "a:f+ b:p-"})
    assert chain is not None
    assert (chain.verdict, chain.f2p_ok, chain.p2p_ok) == (Verdict.FAILED, True, False)


def changed(
    path: str, added: int = 0, removed: int = 0, *, old: str | None = None, of: str = "source"
) -> FileChange:
    kind = ChangeKind.RENAMED if old else ChangeKind.MODIFIED
    return FileChange(path, kind, old, added, removed, path_class=PathClass(of))


def test_lines_are_counted_by_the_class_of_their_file() -> None:
    found = change_facts(
        [
            (
                1,
                [
                    changed("a.py", 5, 2),
                    changed("test_a.py", 3, 1, of="test"),
                    changed("x.lock", 900, of="lock"),
                    changed("README.md", 7, of="docs"),
                ],
            )
        ]
    )
    assert found[1] == ChangeFacts(5, 2, 3, 1, 2, 0, 3, 0)


def test_a_later_stage_shares_the_files_that_earlier_ones_changed() -> None:
    found = change_facts(
        [
            (1, [changed("a.py"), changed("test_a.py", of="test")]),
            (2, [changed("a.py"), changed("b.py"), changed("test_a.py", of="test")]),
            (3, [changed("b.py"), changed("c.py")]),
        ]
    )
    assert [(found[k].shared, found[k].files) for k in (1, 2, 3)] == [(0, 1), (1, 2), (1, 2)]
    assert (found[2].shared_with_tests, found[2].files_with_tests) == (2, 3)


@pytest.mark.parametrize("stage", [2, None])
def test_a_renamed_file_stays_the_file_it_was(stage: int | None) -> None:
    steps = [
        (1, [changed("a.py")]),
        (stage, [changed("b.py", old="a.py")]),
        (3, [changed("b.py"), changed("a.py")]),
    ]
    found = change_facts(steps)
    assert (found[3].shared, found[3].files) == (1, 2)


def test_files_that_swap_their_names_are_both_followed() -> None:
    found = change_facts(
        [
            (1, [changed("a.py")]),
            (None, [changed("b.py", old="a.py"), changed("a.py", old="b.py")]),
            (2, [changed("a.py"), changed("b.py")]),
        ]
    )
    assert (found[2].shared, found[2].files) == (1, 2)


def test_a_pass_between_stages_changes_nothing_in_the_name_of_a_stage() -> None:
    found = change_facts(
        [(1, [changed("a.py")]), (None, [changed("b.py")]), (2, [changed("b.py")])]
    )
    assert found[2].shared == 0


def test_after_a_change_that_is_not_known_nothing_is_said_of_shares() -> None:
    assert list(change_facts([(1, [changed("a.py")]), (2, None), (3, [changed("a.py")])])) == [1]


def test_debt_is_what_was_broken_when_the_stage_began_also_of_an_unmeasured_one() -> None:
    stages, _ = facts({"1": "a:f- b:f-", "2": "c:f+ a:p+", "3": None})
    assert [stages[k].debt for k in (1, 2, 3)] == [0, 2, 1]
    stages, _ = facts({"1": None, "2": "c:f+"})
    assert stages[2].debt is None


def test_what_begins_to_fail_at_one_gate_is_followed_as_one_failure() -> None:
    stages, _ = facts(
        {"1": "a:f- b:f-", "2": "c:f- a:p- b:p+", "3": "d:f+ a:p+ b:p+ c:p-", "4": "e:f+ z:p+"}
    )
    assert stages[1].lasts == FailureSpan(2, True)
    assert stages[2].lasts == FailureSpan(1, False)
    assert (stages[3].lasts, stages[4].lasts) == (None, None)


def test_a_failure_that_is_healed_by_a_pass_between_stages_counts_from_stage_to_stage() -> None:
    stages, _ = facts({"1": "a:f-", "1.refactor": "a:f+", "2": "c:f+ a:p+"})
    assert stages[1].lasts == FailureSpan(1, True)


def test_a_failure_of_the_last_stage_is_not_followed_by_the_chain_gate() -> None:
    stages, _ = facts({"1": "a:f-", "chain": "a:f+"})
    assert stages[1].lasts == FailureSpan(0, False)
