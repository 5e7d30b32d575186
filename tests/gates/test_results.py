from __future__ import annotations

import pytest

from arcview.gates.results import Change, compare, flakiness
from arcview.model.results import Verdict
from tests.gates.some_results import outcomes_of, result


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        ("passed", "passed", Change.SAME),
        ("failed", "error", Change.SAME),
        ("failed", "passed", Change.FLIPPED_UP),
        ("missing", "passed", Change.FLIPPED_UP),
        ("passed", "failed", Change.FLIPPED_DOWN),
        ("passed", "missing", Change.MISSING_NOW),
        ("failed", "not_run", Change.MISSING_NOW),
        ("missing", "missing", Change.SAME),
    ],
)
def test_each_test_stands_beside_its_recorded_outcome(
    before: str, now: str, change: Change
) -> None:
    comparison = compare(outcomes_of({"a": before}), Verdict.FAILED, result({"a": now}))
    assert comparison.tests[0].change is change
    assert comparison.reproduces is (change is Change.SAME)


def test_outcomes_of_one_side_only_are_new_or_missing() -> None:
    comparison = compare(outcomes_of({"old": "passed"}), Verdict.FAILED, result({"new": "passed"}))
    assert {t.id: t.change for t in comparison.tests} == {
        "old": Change.MISSING_NOW,
        "new": Change.NEW,
    }


def test_the_same_verdict_from_other_tests_is_told_from_a_result_that_is_reproduced() -> None:
    recorded = outcomes_of({"a": "failed", "b": "passed"})
    now = result({"a": "passed", "b": "failed"}, Verdict.FAILED)
    comparison = compare(recorded, Verdict.FAILED, now)
    assert (comparison.has_same_verdict, comparison.reproduces) == (True, False)


def test_an_unmeasured_side_reproduces_nothing() -> None:
    tests = outcomes_of({"a": "passed"})
    now = result({"a": "passed"}, Verdict.PASSED)
    assert compare(tests, Verdict.UNMEASURED, now).reproduces is None
    assert compare(tests, None, now).reproduces is None
    unmeasured = result({"a": "passed"}, Verdict.UNMEASURED)
    assert compare(tests, Verdict.PASSED, unmeasured).reproduces is None
    assert compare(tests, Verdict.PASSED, now).reproduces is True


def test_a_test_that_was_ok_in_some_runs_is_flaky_with_counts() -> None:
    runs = [result({"a": "passed", "b": word, "c": "failed"}) for word in ("passed", "failed")]
    runs.append(result({"a": "failed", "b": "failed"}, Verdict.UNMEASURED))
    found = flakiness(runs)
    assert (found.attempts, found.flaky, found.words("b")) == (2, ("b",), "ok in 1 of 2")
