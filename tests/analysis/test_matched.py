from __future__ import annotations

from collections.abc import Iterator
from math import inf
from random import Random

import pytest

from arcview.analysis.matched import Transition, crude_difference, matched


def stratum(task: str, stage: int, a: int, b: int, c: int, d: int) -> list[Transition]:
    return [
        Transition(task, stage, before, passed)
        for before, passed, count in (
            (True, True, a), (True, False, b), (False, True, c), (False, False, d)
        )
        for _ in range(count)
    ]  # fmt: skip


def test_one_stratum_is_its_own_table() -> None:
    found = matched(stratum("t", 2, 8, 2, 3, 7))
    assert found.risk_difference.value == pytest.approx(0.8 - 0.3)
    assert found.odds_ratio.value == pytest.approx((8 * 7) / (2 * 3))
    assert (found.informative, found.strata) == (1, 1)
    assert found.risk_difference.interval is None  # one task cannot be drawn from


def test_strata_are_pooled_by_the_formulas_of_mantel_and_haenszel() -> None:
    # By hand: N = 10 and 20.
    # RD: [(4·5 - 2·5)/10 + (9·8 - 2·12)/20] / [5·5/10 + 12·8/20] = 3.4 / 7.3
    # OR: [4·3/10 + 9·6/20] / [1·2/10 + 3·2/20] = 3.9 / 0.5
    found = matched([*stratum("t", 2, 4, 1, 2, 3), *stratum("t", 3, 9, 3, 2, 6)])
    assert found.risk_difference.value == pytest.approx(3.4 / 7.3)
    assert found.odds_ratio.value == pytest.approx(3.9 / 0.5)


def test_strata_of_one_kind_say_nothing_and_are_counted() -> None:
    informative = stratum("t", 2, 8, 2, 3, 7)
    found = matched([*informative, *stratum("u", 2, 5, 0, 0, 0), *stratum("u", 3, 0, 0, 0, 9)])
    assert found.risk_difference.value == matched(informative).risk_difference.value
    assert (found.informative, found.strata) == (1, 3)


def test_nothing_informative_gives_no_number() -> None:
    found = matched(stratum("u", 2, 5, 1, 0, 0))
    assert found.risk_difference.value is None
    assert found.odds_ratio.value is None
    assert matched([]).strata == 0


def test_an_odds_ratio_by_nothing_is_infinite() -> None:
    assert matched(stratum("t", 2, 3, 0, 0, 3)).odds_ratio.value == inf


def test_the_crude_difference_pools_all_transitions() -> None:
    found = crude_difference([*stratum("t", 2, 8, 2, 0, 0), *stratum("u", 2, 0, 0, 3, 7)])
    assert found.value == pytest.approx(0.5)
    assert crude_difference(stratum("t", 2, 8, 2, 0, 0)).value is None


def corpus(propagation: float, seed: int) -> Iterator[Transition]:
    """73 tasks of 263 stages run by ten agents; only the difficulty links the stages of a task.

    The difficulties are those under which P(pass | failed) = 22.6 % and P(pass | passed) = 70.2 %
    without any propagation: Beta(0.475, 0.626). With it, a failed stage multiplies the chance of
    the next one by 1 - `propagation`.
    """
    random = Random(seed)
    for number in range(73):
        stages = 4 if number < 44 else 3  # 44·4 + 29·3 = 263
        chance = random.betavariate(0.475, 0.626)
        for _ in range(10):
            before = True
            for stage in range(1, stages + 1):
                passed = random.random() < chance * (1 if before else 1 - propagation)
                if stage > 1:
                    yield Transition(f"task-{number}", stage, before, passed)
                before = passed


@pytest.mark.parametrize("seed", range(3))
def test_difficulty_alone_makes_a_crude_gap_and_no_matched_difference(seed: int) -> None:
    transitions = list(corpus(0.0, seed))
    crude, found = crude_difference(transitions), matched(transitions)
    assert crude.value == pytest.approx(0.47, abs=0.08)
    assert found.risk_difference.value == pytest.approx(0.0, abs=0.06)
    interval = found.risk_difference.interval
    assert interval is not None
    assert interval.low < 0 < interval.high
    assert found.informative / found.strata == pytest.approx(0.66, abs=0.1)


@pytest.mark.parametrize(("propagation", "difference"), [(0.3, 0.144), (0.6, 0.308)])
def test_propagation_shows_in_the_matched_difference(propagation: float, difference: float) -> None:
    found = matched(corpus(propagation, 1))
    assert found.risk_difference.value == pytest.approx(difference, abs=0.05)
    interval = found.risk_difference.interval
    assert interval is not None
    assert interval.low > 0
