"""How long failures last, in stages: from one gate to the next, and over many runs.

Pure. A failure is all that begins to fail at one gate, so that one broken import counts once and
not with every test that it takes along. What is not seen to end is not taken to last for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from arcview.analysis.intervals import (
    RESAMPLES,
    SEED,
    Interval,
    percentile_interval,
    resample_sums,
)


@dataclass(frozen=True, slots=True)
class FailureSpan:
    """How long the failure that began at one gate was seen to last."""

    stages: int
    """After how many stages it was looked at last; 0 where no later gate has its tests."""
    ended: bool
    """All of its tests that were looked at then are ok."""


@dataclass(frozen=True, slots=True)
class HalfLife:
    """After how many stages half of the failures are healed."""

    stages: int | None
    """Null where fewer than half are healed as far as any failure was followed."""
    interval: Interval | None
    """95 %, draws whole tasks; the upper end is infinite where too many resamples never get
    there, and it is null where even the lower one would be."""
    n: int = 0
    """Failures that were looked at again."""
    ended: int = 0
    followed: int = 0
    """Stages that the longest of them was followed for."""
    left_out: int = 0
    """Failures that no later gate looks at."""


def failure_span(
    began: Collection[str], later: Iterable[tuple[int, Mapping[str, bool]]]
) -> FailureSpan:
    """Follows the tests that began to fail at one gate through later ones.

    Args:
        began: Their ids.
        later: Stages since then and whether each test was ok, gate after gate; unmeasured gates
            are left out. A gate that has none of the tests says nothing.
    """
    seen = 0
    for stages, outcomes in later:
        known = [outcomes[test] for test in began if test in outcomes]
        if known:
            seen = stages
            if all(known):
                return FailureSpan(seen, True)
    return FailureSpan(seen, False)


def half_life(
    tasks: Sequence[Sequence[FailureSpan]],
    left_out: int = 0,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> HalfLife:
    """The median of Kaplan and Meier (1958): the first age at which at most half are not healed.

    What remains after a stages is Π (1 - ended at age i / followed to age i or further), i = 1 … a:
    a failure whose run ends counts for as long as it was followed.

    Args:
        tasks: The failures of each task; those that were never looked at again are left out.
        left_out: How many those are.
        resamples: Size of the bootstrap.
        seed: Makes it repeatable.
    """
    spans = [span for task in tasks for span in task]
    longest = max((span.stages for span in spans), default=0)
    rows = [_row(task, longest) for task in tasks]
    total = _row(spans, longest)
    interval = None
    if sum(bool(task) for task in tasks) > 1:
        values = [_median(row) for row in resample_sums(rows, resamples, seed) if any(row)]
        interval = percentile_interval(values, resamples)
        if interval is not None and interval.low == inf:
            interval = None
    stages = _median(total)
    return HalfLife(
        int(stages) if stages < inf else None,
        interval,
        len(spans),
        sum(span.ended for span in spans),
        longest,
        left_out,
    )


def _row(spans: Iterable[FailureSpan], longest: int) -> list[int]:
    """Age after age: how many ended at it, and how many were followed to it."""
    row = [0] * (2 * longest)
    for span in spans:
        if span.ended:
            row[2 * span.stages - 2] += 1
        for age in range(1, span.stages + 1):
            row[2 * age - 1] += 1
    return row


def _median(row: Sequence[float]) -> float:
    remaining = 1.0
    for age in range(1, len(row) // 2 + 1):
        ended, followed = row[2 * age - 2], row[2 * age - 1]
        if followed:
            remaining *= 1 - ended / followed
        # Thirds and fifths leave crumbs of floating point beside one half.
        if remaining <= 0.5 + 1e-9:
            return age
    return inf
