"""The words for estimates, ranges and policies of statistics, for the command and the screen. Pure.

A number is never written where it would not be one: below n = 10 and where an end is unbounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from arcview.analysis.intervals import Interval
from arcview.analysis.lifetimes import HalfLife
from arcview.analysis.matched import Estimate
from arcview.analysis.statistics import MIN_PERCENT_N, Group, StatsPolicy
from arcview.session.plain_text_parts import Glyphs, cost, duration

NOT_EXECUTED = "no gate was run again on another state"


class Words:
    """Writes estimates with what may be written.

    Args:
        glyphs: The characters beyond ASCII.
    """

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        # An en dash where the terminal has one.
        self._to = glyphs.nothing

    def percents(self, interval: Interval | None) -> str:
        """`12.5–34.0`, of shares."""
        if interval is None:
            return ""
        return f"{100 * interval.low:.1f}{self._to}{100 * interval.high:.1f}"

    def crude(self, group: Group) -> str:
        """The difference after a passed and after a failed stage, as it is seen."""
        few = min(group.figures[name].n for name in ("f2p_after_fail", "f2p_after_pass"))
        return self.difference(group.crude, few)

    def matched(self, group: Group) -> str:
        """The same within task and stage."""
        return self.difference(group.matched.risk_difference, group.matched.transitions)

    def difference(self, estimate: Estimate, n: int) -> str:
        """A difference of shares; like a share it is not a number where n is small."""
        if n < MIN_PERCENT_N:
            return f"not given, n = {n}"
        return self.estimate(estimate, signed=True)

    def estimate(self, estimate: Estimate, *, signed: bool = False) -> str:
        """`+0.120 (+0.010 to +0.230 by task)`."""
        if estimate.value is None:
            return "unknown"
        interval = estimate.interval
        text = self._number(estimate.value, signed=signed)
        if interval is None:
            return text
        low, high = (self._number(end, signed=signed) for end in (interval.low, interval.high))
        return f"{text} ({low} to {high} by task)"

    def _number(self, value: float, *, signed: bool) -> str:
        if not isfinite(value):
            return "unbounded"
        return f"{value:+.3f}".replace("-", self._glyphs.minus) if signed else f"{value:.2f}"

    def range(self, unit: str, interval: Interval | None) -> str:
        """`3–12`, in the unit."""
        if interval is None:
            return ""
        low, high = (
            quantity(unit, end) if isfinite(end) else "unbounded"
            for end in (interval.low, interval.high)
        )
        return f"{low}{self._to}{high}"


def half_life_words(life: HalfLife) -> str:
    """`2` stages, or `> 3`: as far as any was followed; empty without failures to follow."""
    if not life.n:
        return ""
    return f"> {life.followed}" if life.stages is None else str(life.stages)


def quantity(unit: str, value: float) -> str:
    """A value in its unit."""
    if unit == "usd":
        return cost(value)
    if unit == "s":
        return duration(value)
    return f"{value:.2f}" if unit == "share" else f"{value:g}"


def policy_lines(policy: StatsPolicy) -> Iterator[str]:
    """What counts, in two lines."""
    left_out = ", ".join(status.value for status in policy.left_out)
    what = f"leaves out stages with status {left_out}" if left_out else "takes every verdict"
    outcomes = policy.outcomes
    words = [
        f"{name.removesuffix('_ok').replace('_', ' ')} "
        f"{'ok' if getattr(outcomes, name) else 'not ok'}"
        for name in outcomes.__slots__
    ]
    yield f"Policy {policy.name}: {what}."
    tests = "count" if policy.count_tests else "do not count"
    yield f"Outcomes: {', '.join(words)}. Test files {tests} as shared files."
