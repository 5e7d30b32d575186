from __future__ import annotations

from dataclasses import replace

from arcview.analysis.compare import (
    GateComparison,
    StageComparison,
    compare_files,
    compare_gates,
    first_divergence,
)
from arcview.analysis.gate_view import GateView, build_gate_view
from arcview.model.results import GateRecord, GateTest, Group, GroupCounts, Outcome


def view(gate: str = "1", **outcomes: str) -> GateView:
    """A measured gate of F2P tests; a view without tests is unmeasured."""
    tests = [GateTest(i, Group.F2P, Outcome(o), message=i) for i, o in outcomes.items()]
    counts = GroupCounts.of(tests)
    record = GateRecord(gate, "S1", f2p=counts, p2p=GroupCounts()) if tests else None
    return build_gate_view(gate, "S1", record, tests, None)


def stage(index: int, gate: GateComparison) -> StageComparison:
    return StageComparison(index, None, None, gate)


def test_tests_are_compared_one_by_one() -> None:
    found = compare_gates(
        view(same="passed", worse="passed", better="failed", both="failed"),
        view(same="passed", worse="failed", better="passed", both="failed"),
    )

    assert [(d.id, d.better) for d in found.differences] == [("better", "b"), ("worse", "a")]
    assert (found.both_ok, found.both_not_ok) == (1, 1)


def test_other_ways_to_fail_are_a_difference_of_neither() -> None:
    (difference,) = compare_gates(view(t="failed"), view(t="timeout")).differences

    assert difference.better == "neither"
    assert not compare_gates(view(t="failed"), view(t="timeout")).outcomes_differ


def test_tests_of_one_run_alone_are_no_difference_of_outcomes() -> None:
    found = compare_gates(view(t="passed", a="failed"), view(t="passed", b="passed"))

    assert (found.only_in_a, found.only_in_b) == (("a",), ("b",))
    assert found.differences == ()


def test_what_one_run_did_not_measure_is_not_compared() -> None:
    for found in (compare_gates(view(t="failed"), view()), compare_gates(view(t="failed"), None)):
        assert not found.compared
        assert not found.verdicts_differ
        assert found.differences == ()


def test_causes_that_both_share_are_named() -> None:
    found = compare_gates(view(t="failed", u="failed"), view(t="failed", v="passed", u="passed"))
    assert found.shared_causes == ("t",)


def test_the_first_divergence_passes_by_what_was_not_measured() -> None:
    same = compare_gates(view("1", t="passed"), view("1", t="passed"))
    unmeasured = compare_gates(view("2", t="failed"), view("2"))
    apart = compare_gates(view("3", t="passed", u="failed"), view("3", t="failed", u="failed"))
    stages = [stage(1, same), stage(2, unmeasured), stage(3, apart)]

    assert first_divergence(stages, None, verdicts_only=True) is None
    found = first_divergence(stages, None, verdicts_only=False)
    assert found is not None
    assert (found.gate, found.stage) == ("3", 3)


def test_runs_may_part_at_the_chain_gate_only() -> None:
    same = compare_gates(view("1", t="passed"), view("1", t="passed"))
    chain = replace(compare_gates(view("c", t="passed"), view("c", t="failed")), gate="chain")
    found = first_divergence([stage(1, same)], chain, verdicts_only=True)

    assert found is not None
    assert (found.gate, found.stage) == ("chain", None)


def test_files_are_sorted_by_who_changed_them() -> None:
    found = compare_files({"a": "", "b": ""}, {"b": "", "c": ""})
    assert (found.both, found.only_a, found.only_b) == (("b",), ("a",), ("c",))
