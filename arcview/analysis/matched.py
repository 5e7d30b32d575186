"""Does a failed stage lower the next one's chance? Runs compared at the same task and stage only.

Pure. The crude difference mixes propagation with difficulty: hard tasks fail both stages without
any link between them. Strata of one task and stage hold the difficulty still.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from arcview.analysis.intervals import (
    RESAMPLES,
    SEED,
    Interval,
    percentile_interval,
    ratio_interval,
    resample_sums,
)


@dataclass(frozen=True, slots=True)
class Transition:
    """One stage of one run, and how the stage before it ended."""

    task: str
    stage: int
    before_passed: bool
    """The verdict of the stage before."""
    passed: bool
    """The new behaviour of this stage works: all its F2P tests are ok."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval; what cannot be computed is null, without an upper bound inf."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Matched:
    """The Mantel–Haenszel estimates over strata of one task and stage."""

    risk_difference: Estimate
    """Above 0: after a passed stage the next one works more often."""
    odds_ratio: Estimate
    """Above 1: the same."""
    informative: int
    """Strata that hold transitions of both kinds; the others say nothing."""
    strata: int
    transitions: int = 0
    """Transitions in informative strata."""


def matched(
    transitions: Iterable[Transition], resamples: int = RESAMPLES, seed: int = SEED
) -> Matched:
    """Estimates what a failed stage before costs, task and stage held still.

    With a, b = passed, failed after a passed stage, c, d = passed, failed after a failed one and
    N = a + b + c + d in each stratum (Mantel and Haenszel 1959; Greenland and Robins 1985):
    RD = Σ[(a(c+d) - c(a+b)) / N] / Σ[(a+b)(c+d) / N] and OR = Σ[ad / N] / Σ[bc / N].

    Both are ratios of sums over strata, so the interval draws tasks, each with all its strata.

    Args:
        transitions: Those whose both ends are known.
        resamples: Size of the bootstrap.
        seed: Makes it repeatable.
    """
    tables: dict[tuple[str, int], list[int]] = {}
    for one in transitions:
        table = tables.setdefault((one.task, one.stage), [0, 0, 0, 0])
        table[2 * (not one.before_passed) + (not one.passed)] += 1
    by_task: dict[str, list[list[float]]] = {}
    for (task, _), table in tables.items():
        by_task.setdefault(task, []).append(_summands(*table))
    clusters = [_sum(rows) for rows in by_task.values()]
    total = _sum(clusters)
    # The second summand of a task is 0 where none of its strata is informative: with one task that
    # says anything, every resample says the same.
    telling = sum(row[1] > 0 for row in clusters)
    sums = resample_sums(clusters, resamples, seed) if telling > 1 else []
    informative = [t for t in tables.values() if t[0] + t[1] and t[2] + t[3]]
    return Matched(
        _estimate(total, sums, 0, 1),
        _estimate(total, sums, 2, 3),
        informative=len(informative),
        strata=len(tables),
        transitions=sum(map(sum, informative)),
    )


def crude_difference(
    transitions: Iterable[Transition], resamples: int = RESAMPLES, seed: int = SEED
) -> Estimate:
    """P(works | stage before passed) - P(works | stage before failed), whatever the task.

    Task difficulty alone can produce it: never to be called an effect.
    """
    by_task: dict[str, list[float]] = {}
    for one in transitions:
        row = by_task.setdefault(one.task, [0.0] * 4)
        offset = 0 if one.before_passed else 2
        row[offset] += one.passed
        row[offset + 1] += 1
    clusters = list(by_task.values())
    value = _difference(_sum(clusters))
    sums = resample_sums(clusters, resamples, seed) if len(clusters) > 1 else []
    values = [d for d in map(_difference, sums) if d is not None]
    interval = percentile_interval(values, len(sums)) if value is not None else None
    return Estimate(value, interval)


def _difference(row: Sequence[float]) -> float | None:
    passed_k, passed_n, failed_k, failed_n = row
    if not passed_n or not failed_n:
        return None
    return passed_k / passed_n - failed_k / failed_n


def _summands(a: int, b: int, c: int, d: int) -> list[float]:
    n = a + b + c + d
    return [(a * (c + d) - c * (a + b)) / n, (a + b) * (c + d) / n, a * d / n, b * c / n]


def _sum(rows: Sequence[Sequence[float]]) -> list[float]:
    return [sum(column) for column in zip(*rows, strict=True)] if rows else [0.0] * 4


def _estimate(
    total: Sequence[float], sums: Sequence[Sequence[float]], top: int, bottom: int
) -> Estimate:
    if not total[bottom]:
        # Nothing to divide by: no informative stratum, or an odds ratio without a bound.
        value = inf if total[top] else None
        return Estimate(value, None)
    return Estimate(total[top] / total[bottom], ratio_interval(sums, top, bottom))
