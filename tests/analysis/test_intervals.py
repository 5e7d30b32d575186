from __future__ import annotations

from math import inf
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcview.analysis.intervals import (
    Z_95,
    Interval,
    jackknife,
    median_interval,
    percentile_interval,
    quantile,
    ratio_interval,
    resample_sums,
    student_95,
    wilson,
)


def rounded(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return round(100 * interval.low, 1), round(100 * interval.high, 1)


@pytest.mark.parametrize(
    ("k", "n", "expected"),
    [
        (61, 73, (73.4, 90.3)),  # first-stage pass of the published corpus
        (36, 73, (38.2, 60.5)),  # its whole-feature completion
        (0, 10, (0.0, 27.8)),
        (10, 10, (72.2, 100.0)),
        (1, 10, (1.8, 40.4)),  # Brown, Cai and DasGupta (2001) use these small cases
    ],
)
def test_wilson_equals_published_intervals(k: int, n: int, expected: tuple[float, float]) -> None:
    assert rounded(wilson(k, n)) == expected


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_both_ends_of_wilson_solve_the_score_equation(case: tuple[int, int]) -> None:
    k, n = case
    interval = wilson(k, n)
    assert interval is not None
    assert 0 <= interval.low <= k / n <= interval.high <= 1
    for p in (interval.low, interval.high):
        assert (p - k / n) ** 2 == pytest.approx(Z_95**2 * p * (1 - p) / n, abs=1e-9)


def test_no_units_have_no_interval() -> None:
    assert wilson(0, 0) is None


def test_resampling_draws_whole_clusters() -> None:
    sums = resample_sums([(1, 10), (2, 20), (4, 40)], 200)
    assert len(sums) == 200
    assert all(ten == 10 * one for one, ten in sums)
    assert {one for one, _ in sums} == {3, 4, 5, 6, 7, 8, 9, 10, 12}


def test_resampling_repeats_itself_and_follows_its_seed() -> None:
    rows = [(k,) for k in range(20)]
    assert resample_sums(rows, 50) == resample_sums(rows, 50)
    assert resample_sums(rows, 50, seed=1) != resample_sums(rows, 50, seed=2)


def test_clusters_that_are_alike_make_an_interval_of_one_point() -> None:
    assert ratio_interval(resample_sums([(3, 10)] * 5), 0, 1) == Interval(0.3, 0.3)


def test_clustering_widens_the_interval_of_units_that_go_together() -> None:
    random = Random(5)
    clusters = [(10 * (random.random() < 0.5), 10) for _ in range(40)]
    interval = ratio_interval(resample_sums(clusters), 0, 1)
    independent = wilson(sum(int(k) for k, _ in clusters), 400)
    assert interval is not None
    assert independent is not None
    # Ten equal units a cluster count as one: the width grows by √10.
    ratio = (interval.high - interval.low) / (independent.high - independent.low)
    assert ratio == pytest.approx(10**0.5, rel=0.1)


def test_a_ratio_by_nothing_has_no_upper_bound() -> None:
    interval = ratio_interval([(1, 0)] * 10 + [(1, 1)] * 10, 0, 1)
    assert interval == Interval(1.0, inf)


def test_resamples_without_units_are_left_out_unless_they_are_most() -> None:
    assert ratio_interval([(0, 0)] * 4 + [(1, 2)] * 6, 0, 1) == Interval(0.5, 0.5)
    assert ratio_interval([(0, 0)] * 6 + [(1, 2)] * 4, 0, 1) is None


def test_quantiles_lie_between_neighbours() -> None:
    assert quantile([1, 2, 3, 4], 0.5) == 2.5
    assert quantile([5], 0.975) == 5
    assert quantile([0, 10], 0.25) == 2.5


def test_percentile_interval_cuts_both_tails() -> None:
    assert percentile_interval(list(range(1001)), 1001) == Interval(25.0, 975.0)
    assert percentile_interval([], 10) is None


def test_median_interval_draws_whole_clusters() -> None:
    assert median_interval([[1.0], [1.0], [], [1.0]]) == Interval(1.0, 1.0)
    interval = median_interval([[float(k)] for k in range(101)])
    assert interval is not None
    assert interval.low == pytest.approx(40, abs=4)
    assert interval.high == pytest.approx(60, abs=4)
    assert median_interval([]) is None


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]
    interval = jackknife(5.0, [(40 - value) / 7 for value in values])
    deviations = sum((value - 5) ** 2 for value in values)
    assert interval is not None
    assert interval.high - 5 == pytest.approx(student_95(7) * (deviations / 7 / 8) ** 0.5)
    assert 5 - interval.low == pytest.approx(interval.high - 5)


def test_the_jackknife_says_nothing_where_an_estimate_is_undefined() -> None:
    assert jackknife(0.5, [0.5, 0.5]) is None
    assert jackknife(0.5, [0.5, 0.5, None]) is None


@pytest.mark.parametrize(("freedom", "tabled"), [(3, 3.182), (4, 2.776), (10, 2.228), (30, 2.042)])
def test_student_quantiles_equal_the_tables(freedom: int, tabled: float) -> None:
    assert student_95(freedom) == pytest.approx(tabled, rel=2e-3)


def test_a_quantile_that_lies_on_a_value_is_that_value_also_before_an_infinite_one() -> None:
    assert quantile([0.0, 1.0, inf], 0.5) == 1.0
