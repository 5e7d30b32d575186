"""How far several raters agree: raw, Cohen's kappa, Krippendorff's alpha, sets, step distance.

Pure, on plain label tables. A label that says "none" is a label; an absent one is unknown and forms
no pair. Where nothing varies, chance-corrected coefficients are undefined, not 1.

The coefficients are computed here and not by a package: see CONTRIBUTING for what they were checked
against.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeVar

from arcview.analysis.intervals import Interval, jackknife

Label = Hashable
"""A code, a number, a frozenset of codes, or null for an explicit none."""

Ratings = Mapping[str, Label]
"""Rater → label, for one unit."""

Level = Literal["nominal", "ordinal", "masi"]

NO_PAIRS = "undefined (no unit has two ratings)"
NO_VARIATION = "undefined (no variation)"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A measure of agreement, or why there is none."""

    value: float | None
    interval: Interval | None = None
    """95 %, by leaving out one unit at a time; null where that is not defined."""
    undefined: str | None = None
    units: int = 0
    """Units with at least two ratings."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """How many pairs of ratings of one unit agree."""

    agree: int
    pairs: int


@dataclass(frozen=True, slots=True)
class StepRange:
    """Where somebody sees the first thing go wrong: a step, or a range of them, of one stage."""

    stage: int | None
    first: int
    last: int


def pairs_of(units: Iterable[Ratings]) -> Iterator[tuple[Label, Label]]:
    """Every pair of labels that two raters gave to one unit."""
    for ratings in units:
        yield from combinations((ratings[rater] for rater in sorted(ratings)), 2)


def raw_agreement(units: Iterable[Ratings]) -> Pairs:
    """Pairs of equal labels, of all pairs within units."""
    found = [a == b for a, b in pairs_of(units)]
    return Pairs(sum(found), len(found))


def step_agreement(units: Iterable[Ratings], within: int) -> Pairs:
    """Pairs of steps that lie at most so far apart, of all pairs where both name a step.

    Ranges that touch are 0 apart; steps of different stages never agree.

    Args:
        units: Labels are `StepRange`s, or null where somebody says that there is no such step.
        within: The distance that still counts as agreement.
    """
    found = [
        a.stage == b.stage and max(a.first - b.last, b.first - a.last, 0) <= within
        for a, b in pairs_of(units)
        if isinstance(a, StepRange) and isinstance(b, StepRange)
    ]
    return Pairs(sum(found), len(found))


def jaccard(units: Sequence[Ratings]) -> Coefficient:
    """The mean over units of |A ∩ B| / |A ∪ B|, averaged over the pairs of each unit.

    Two raters who both say "none of them" agree: 1.

    Args:
        units: Labels are frozensets.
    """
    return _mean_of_pairs(units, lambda a, b: _overlap(*_sets(a, b)))


def masi(units: Sequence[Ratings]) -> Coefficient:
    """The same mean of MASI (Passonneau 2006): Jaccard times how the sets lie to each other.

    1 where they are equal, 2/3 where one lies in the other, 1/3 where they overlap, else 0.

    Args:
        units: Labels are frozensets.
    """
    return _mean_of_pairs(units, _masi)


def _masi(a: Label, b: Label) -> float:
    one, other = _sets(a, b)
    if one == other:
        return 1.0
    if one <= other or other <= one:
        return _overlap(one, other) * 2 / 3
    return _overlap(one, other) / 3


def _mean_of_pairs(
    units: Iterable[Ratings], similarity: Callable[[Label, Label], float]
) -> Coefficient:
    means = []
    for ratings in units:
        shares = [similarity(a, b) for a, b in pairs_of([ratings])]
        if shares:
            means.append(sum(shares) / len(shares))
    return _with_interval(means, _mean, 0.0)


Codes = frozenset[Label]


def _sets(a: Label, b: Label) -> tuple[Codes, Codes]:
    if not isinstance(a, frozenset) or not isinstance(b, frozenset):
        raise TypeError("multi-label agreement needs sets of labels")
    return a, b


def _overlap(one: Codes, other: Codes) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def cohen_kappa(units: Iterable[Ratings], rater_a: str, rater_b: str) -> Coefficient:
    """Cohen's kappa (1960) of two raters over the units that both rated.

    κ = (p_o - p_e) / (1 - p_e), with p_o the share of equal labels and p_e = Σ p_a(c) p_b(c) what
    two raters with these habits would share by chance.
    """
    both = [(r[rater_a], r[rater_b]) for r in units if rater_a in r and rater_b in r]
    return _with_interval(both, _kappa, -1.0)


def _kappa(pairs: Sequence[tuple[Label, Label]]) -> float | None:
    n = len(pairs)
    if not n:
        return None
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    agree = sum(a == b for a, b in pairs)
    by_chance = sum(count * second[label] for label, count in first.items())
    # Whole numbers: by_chance / n² is 1 exactly where both raters know one label only.
    if by_chance == n * n:
        return None
    return (agree / n - by_chance / n**2) / (1 - by_chance / n**2)


def krippendorff_alpha(
    units: Iterable[Ratings], level: Level = "nominal", scale: Sequence[Label] = ()
) -> Coefficient:
    """Krippendorff's alpha for any number of raters, ratings missing or not.

    α = 1 - D_o / D_e over the coincidences o_ck = Σ_u n_u(c,k) / (m_u - 1) of units with m_u ≥ 2
    ratings: D_o = Σ o_ck δ²(c,k) / n and D_e = Σ n_c n_k δ²(c,k) / (n (n - 1)). Nominal δ² is 1
    where c ≠ k; ordinal δ² is (Σ_{g=c..k} n_g - (n_c + n_k) / 2)², over the scale (Krippendorff,
    Content Analysis, 4th ed. 2019, chapter 12); for sets δ² is 1 - MASI, as Passonneau has it.

    Args:
        units: The ratings.
        level: How labels compare.
        scale: For ordinal labels: all of them, the lowest first.

    Raises:
        ValueError: an ordinal label is not on the scale.
    """
    rated = [tuple(ratings.values()) for ratings in units if len(ratings) > 1]
    rank = {label: place for place, label in enumerate(scale)}
    if level == "ordinal":
        strange = {label for labels in rated for label in labels} - set(rank)
        if strange:
            raise ValueError(f"not on the scale: {sorted(map(str, strange))}")
    else:
        seen = dict.fromkeys(label for labels in rated for label in labels)
        rank = {label: place for place, label in enumerate(seen)}
    tables = [_coincidences([rank[label] for label in labels]) for labels in rated]
    total: dict[tuple[int, int], float] = {}
    for table in tables:
        for pair, weight in table.items():
            total[pair] = total.get(pair, 0.0) + weight
    if not tables:
        return Coefficient(None, undefined=NO_PAIRS)
    distances = _distances(rank) if level == "masi" else None
    value = _alpha(total, level, distances)
    if value is None:
        return Coefficient(None, undefined=NO_VARIATION, units=len(tables))
    # Leaving out a unit takes its coincidences away: no table is added up again.
    without = [_alpha(_minus(total, table), level, distances) for table in tables]
    return Coefficient(value, _clipped(jackknife(value, without), -1.0), units=len(tables))


def _coincidences(ranks: Sequence[int]) -> dict[tuple[int, int], float]:
    """The ordered pairs of one unit's labels, each weighing 1 / (m - 1)."""
    counts = Counter(ranks)
    return {
        (c, k): (n_c * (n_c - 1) if c == k else n_c * n_k) / (len(ranks) - 1)
        for c, n_c in counts.items()
        for k, n_k in counts.items()
    }


def _minus(
    total: Mapping[tuple[int, int], float], part: Mapping[tuple[int, int], float]
) -> dict[tuple[int, int], float]:
    return {pair: weight - part.get(pair, 0.0) for pair, weight in total.items()}


Distance = Callable[[int, int], float]


def _distances(rank: Mapping[Label, int]) -> Distance:
    table = {(c, k): 1 - _masi(a, b) for a, c in rank.items() for b, k in rank.items()}
    return lambda c, k: table[c, k]


def _alpha(
    coincidences: Mapping[tuple[int, int], float], level: Level, distances: Distance | None
) -> float | None:
    sums: dict[int, float] = {}
    for (c, _), weight in coincidences.items():
        sums[c] = sums.get(c, 0.0) + weight
    # What was taken away leaves crumbs of floating point.
    marginals = {c: weight for c, weight in sorted(sums.items()) if weight > 1e-9}
    n = sum(marginals.values())
    if len(marginals) < 2:
        return None
    distance = distances or (_ordinal(marginals) if level == "ordinal" else _nominal)
    observed = sum(weight * distance(c, k) for (c, k), weight in coincidences.items() if c != k)
    expected = sum(
        n_c * n_k * distance(c, k)
        for c, n_c in marginals.items()
        for k, n_k in marginals.items()
        if c != k
    )
    return 1 - (n - 1) * observed / expected


def _nominal(c: int, k: int) -> float:
    return 1.0


def _ordinal(marginals: Mapping[int, float]) -> Distance:
    below: dict[int, float] = {}
    total = 0.0
    for rank, weight in marginals.items():
        below[rank] = total + weight / 2
        total += weight

    def distance(c: int, k: int) -> float:
        # Σ_{g=c..k} n_g - (n_c + n_k) / 2 is the way from the middle of c to the middle of k.
        way = below.get(c, 0.0) - below.get(k, 0.0)
        return way * way

    return distance


def _with_interval(
    units: Sequence[T], estimate: Callable[[Sequence[T]], float | None], least: float
) -> Coefficient:
    value = estimate(units)
    if value is None:
        return Coefficient(None, undefined=NO_VARIATION if units else NO_PAIRS, units=len(units))
    without = [estimate([*units[:place], *units[place + 1 :]]) for place in range(len(units))]
    return Coefficient(value, _clipped(jackknife(value, without), least), units=len(units))


def _clipped(interval: Interval | None, least: float) -> Interval | None:
    if interval is None:
        return None
    return Interval(max(least, interval.low), min(1.0, interval.high))
