from __future__ import annotations

from math import inf

from arcview.analysis.lifetimes import FailureSpan, failure_span, half_life


def test_a_failure_ends_when_all_of_its_tests_that_are_looked_at_are_ok() -> None:
    began = {"a", "b"}
    assert failure_span(began, [(1, {"a": False}), (2, {"a": True})]) == FailureSpan(2, True)
    assert failure_span(began, [(1, {"a": True, "b": False})]) == FailureSpan(1, False)


def test_a_gate_without_its_tests_says_nothing_of_a_failure() -> None:
    assert failure_span({"a"}, [(1, {"z": True}), (3, {"a": False})]) == FailureSpan(3, False)
    assert failure_span({"a"}, [(1, {"z": True})]) == FailureSpan(0, False)


def test_the_half_life_is_the_median_of_kaplan_and_meier() -> None:
    # 10 failures: 2 of 10 end after one stage (0.8), 1 of 6 after two (0.667), 2 of 4 after three
    # (0.333); two were followed for one stage, one for two, and two for three.
    spans = [
        *[FailureSpan(1, True)] * 2, *[FailureSpan(1, False)] * 2,
        FailureSpan(2, True), FailureSpan(2, False),
        *[FailureSpan(3, True)] * 2, *[FailureSpan(3, False)] * 2,
    ]  # fmt: skip
    found = half_life([spans])
    assert (found.stages, found.n, found.ended, found.followed) == (3, 10, 5, 3)
    assert found.interval is None


def test_exactly_half_is_half() -> None:
    assert half_life([[FailureSpan(1, True), FailureSpan(1, False)]]).stages == 1


def test_where_most_failures_stay_there_is_no_half_life() -> None:
    found = half_life([[FailureSpan(1, True), *[FailureSpan(4, False)] * 3]], left_out=2)
    assert (found.stages, found.followed, found.left_out) == (None, 4, 2)


def test_its_interval_draws_tasks_and_has_no_upper_end_where_some_never_get_there() -> None:
    healing = [FailureSpan(1, True)] * 3
    staying = [FailureSpan(2, False)] * 3
    found = half_life([healing] * 3 + [staying] * 2)
    assert found.stages == 1
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (1, inf)


def test_without_failures_there_is_none() -> None:
    assert half_life([]).stages is None
    assert half_life([[], []]).interval is None


def test_where_no_resample_gets_there_there_is_no_interval() -> None:
    assert half_life([[FailureSpan(2, False)] * 3] * 4).interval is None
