from __future__ import annotations

import pytest

from arcview.analysis.what_if import Arm, Transplant, WhatIfLabel, judge_what_if
from arcview.model.results import Verdict

LINES = Transplant("tree", "lines")
PASS = Arm((Verdict.PASSED,) * 2, (frozenset(),) * 2)


def fail(*tests: str) -> Arm:
    return Arm((Verdict.FAILED,) * 2, (frozenset(tests),) * 2)


RUN = fail("a", "b")


@pytest.mark.parametrize(
    ("x", "y", "label"),
    [
        (PASS, fail("a"), WhatIfLabel.BASE),
        (fail("a"), PASS, WhatIfLabel.CHANGE),
        (PASS, PASS, WhatIfLabel.INTERACTION),
        (fail("a"), fail("a"), WhatIfLabel.BOTH),
    ],
)
def test_two_experiments_make_a_label(x: Arm, y: Arm, label: WhatIfLabel) -> None:
    assert judge_what_if(RUN, x, y, LINES, LINES).label is label


def test_each_failing_test_has_a_label_of_its_own() -> None:
    found = judge_what_if(RUN, fail("a"), fail("b"), LINES, LINES)
    assert found.label is WhatIfLabel.BOTH
    assert found.tests == {"a": WhatIfLabel.CHANGE, "b": WhatIfLabel.BASE}


UNMEASURED = Arm((Verdict.UNMEASURED,), (frozenset(),), "killed")
FLAKY = Arm((Verdict.FAILED, Verdict.PASSED), (frozenset("a"), frozenset()))
OTHER_TESTS = Arm((Verdict.FAILED,) * 2, (frozenset("a"), frozenset("b")))


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    ("arm", "reason"),
    [(UNMEASURED, "is unmeasured: killed"), (FLAKY, "is flaky"), (OTHER_TESTS, "is flaky"),
     (Arm((Verdict.FAILED,), (frozenset(),), "timed out"), "without a failing test: timed out"),
     (Arm((), ()), "is unmeasured: no result")],
)  # fmt: skip
def test_what_is_unmeasured_or_flaky_is_undetermined(place: int, arm: Arm, reason: str) -> None:
    arms = [RUN, PASS, fail("a")]
    arms[place] = arm
    found = judge_what_if(arms[0], arms[1], arms[2], LINES, LINES)
    assert found.label is WhatIfLabel.UNDETERMINED
    assert reason in found.reason
    assert found.tests == {}


def test_a_gate_that_passes_when_it_is_run_again_is_undetermined() -> None:
    assert judge_what_if(PASS, PASS, PASS, LINES, LINES).label is WhatIfLabel.UNDETERMINED


COPIED = Transplant("tree", "blocks", copied=("a.py: helper",))
DOUBTED = Transplant("tree", "lines", doubts=("a.go: uses helper, which is not there",))


def test_code_of_the_agents_base_in_x_spoils_a_failure_and_no_pass() -> None:
    assert "helper" in judge_what_if(RUN, fail("a"), PASS, COPIED, LINES).reason
    found = judge_what_if(RUN, PASS, fail("a"), COPIED, LINES)
    assert found.label is WhatIfLabel.BASE


def test_code_of_the_reference_in_y_spoils_a_pass_and_no_failure() -> None:
    found = judge_what_if(RUN, PASS, PASS, LINES, COPIED)
    assert found.label is WhatIfLabel.UNDETERMINED
    assert judge_what_if(RUN, PASS, fail("a"), LINES, COPIED).label is WhatIfLabel.BASE


def test_what_a_change_lacks_where_it_was_put_spoils_a_failure_and_no_pass() -> None:
    for x, y in ((fail("a"), PASS), (PASS, fail("a"))):
        assert judge_what_if(RUN, x, y, DOUBTED, DOUBTED).label is WhatIfLabel.UNDETERMINED
    assert judge_what_if(RUN, PASS, PASS, DOUBTED, DOUBTED).label is WhatIfLabel.INTERACTION


def test_a_merged_tree_that_fails_other_tests_than_the_run_is_undetermined() -> None:
    for x, y in ((fail("z"), PASS), (PASS, fail("z"))):
        found = judge_what_if(RUN, x, y, LINES, LINES)
        assert found.label is WhatIfLabel.UNDETERMINED
        assert "z" in found.reason
    timed_out = Arm((Verdict.FAILED,), (frozenset(),))
    assert judge_what_if(RUN, timed_out, PASS, LINES, LINES).label is WhatIfLabel.UNDETERMINED


def test_what_the_agents_change_repairs_may_fail_beside() -> None:
    found = judge_what_if(RUN, PASS, fail("a", "z"), LINES, LINES)
    assert found.label is WhatIfLabel.BASE
    assert found.tests == {"a": WhatIfLabel.BASE, "b": WhatIfLabel.INTERACTION}


def unbuilt(*tests: str) -> Arm:
    return Arm((Verdict.FAILED,) * 2, (frozenset(tests),) * 2, unrun=frozenset(tests))


def test_a_merged_tree_that_does_not_build_is_undetermined_unless_the_run_does_not_either() -> None:
    for x, y in ((unbuilt("a", "b", "c"), PASS), (PASS, unbuilt("a"))):
        found = judge_what_if(RUN, x, y, LINES, LINES)
        assert found.label is WhatIfLabel.UNDETERMINED
        assert "does not build or load" in found.reason
    both = judge_what_if(unbuilt("a", "b"), unbuilt("a", "b"), PASS, LINES, LINES)
    assert both.label is WhatIfLabel.CHANGE


def flaky(always: str, sometimes: str) -> Arm:
    tests = frozenset(always.split())
    return Arm((Verdict.FAILED,) * 2, (tests | frozenset(sometimes.split()), tests))


def test_flaky_tests_beside_steady_ones_decide_nothing() -> None:
    found = judge_what_if(flaky("a b", "f"), flaky("a", "f"), flaky("b", "f"), LINES, LINES)
    assert found.label is WhatIfLabel.BOTH
    assert found.tests == {"a": WhatIfLabel.CHANGE, "b": WhatIfLabel.BASE}


def test_a_failure_that_only_flaky_tests_make_is_no_failure() -> None:
    for x, y in ((fail("f"), PASS), (PASS, fail("f"))):
        found = judge_what_if(flaky("a", "f"), x, y, LINES, LINES)
        assert found.label is WhatIfLabel.UNDETERMINED
        assert "is flaky" in found.reason
    only_flaky = judge_what_if(flaky("", "f"), PASS, fail("f"), LINES, LINES)
    assert only_flaky.label is WhatIfLabel.UNDETERMINED


def test_what_a_compiler_would_miss_is_a_doubt_only_where_it_does_not_build() -> None:
    made = Transplant("tree", "lines", build_doubts=("a.go: uses helper, which is not there",))
    assert judge_what_if(RUN, fail("a"), PASS, made, LINES).label is WhatIfLabel.CHANGE
    broken = unbuilt("a", "b")
    assert judge_what_if(broken, broken, PASS, LINES, LINES).label is WhatIfLabel.CHANGE
    assert judge_what_if(broken, broken, PASS, made, LINES).label is WhatIfLabel.UNDETERMINED
