"""Statistics as JSON (`arcview/stats/1`, a contract) and as CSV. Pure; unknown is null or empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

from arcview.analysis.shared_failures import CAUTION, SharedSignature
from arcview.analysis.statistics import (
    CRUDE_CAPTION,
    MATCHED_CAPTION,
    Figure,
    Group,
    Median,
    Spent,
    Statistics,
    StatsPolicy,
)
from arcview.text import clean

if TYPE_CHECKING:
    from arcview.analysis.intervals import Interval
    from arcview.analysis.lifetimes import HalfLife
    from arcview.analysis.matched import Estimate, Matched

SCHEMA = "arcview/stats/1"

Json = dict[str, object]

_DIGITS = 6
"""More would be noise of floating point, and would differ from machine to machine."""


def stats_json(statistics: Statistics, root: str) -> Json:
    """The statistics as one JSON object.

    Args:
        statistics: The figures.
        root: The folder of the runs, as the user gave it.
    """
    groups = statistics.groups or {}
    return {
        "schema": SCHEMA,
        "path": root,
        "policy": _policy(statistics.policy),
        "excluded": [
            {"run": one.run, "stage": one.stage, "reason": one.reason}
            for one in statistics.excluded
        ],
        "shared_causes": [_shared(one) for one in statistics.shared],
        "same_run_id": [list(names) for names in statistics.same_id],
        "by": statistics.by,
        "all": _group(statistics.all),
        "groups": {name: _group(group) for name, group in groups.items()},
        "captions": {"crude": CRUDE_CAPTION, "matched": MATCHED_CAPTION, "shared_causes": CAUTION},
    }


def _shared(one: SharedSignature) -> Json:
    return {
        "signature": one.signature,
        "reason": one.reason,
        "condition": one.condition,
        "runs": list(one.runs),
        "agents": list(one.agents),
        "gates": one.gates,
        "failures": one.failures,
    }


def _policy(policy: StatsPolicy) -> Json:
    outcomes = policy.outcomes
    return {
        "name": policy.name,
        "leaves_out": [status.value for status in policy.left_out],
        **{name: getattr(outcomes, name) for name in outcomes.__slots__},
        "count_tests": policy.count_tests,
        "bootstrap": {"draws": "task", "resamples": policy.resamples, "seed": policy.seed},
    }


def _group(group: Group) -> Json:
    return {
        "runs": group.runs,
        "tasks": group.tasks,
        "stages": group.stages,
        **{name: _figure(figure) for name, figure in group.figures.items()},
        **{name: [_figure(f) for f in figures] for name, figures in group.lists.items()},
        **{name: _median(median) for name, median in group.medians.items()},
        "cost_spent_per_passed_stage_usd": _spent(group.cost_spent_usd),
        "time_spent_per_passed_stage_s": _spent(group.time_spent_s),
        "half_life_stages": _half_life(group.half_life),
        "completion_difference": list(group.completion_difference),
        "crude": {"risk_difference": _estimate(group.crude)},
        "matched": _matched(group.matched),
        "executed": {name: _figure(figure) for name, figure in group.executed.items()}
        if group.executed is not None
        else None,
    }


def _figure(figure: Figure) -> Json:
    low, high = _ends(figure.wilson)
    clustered = figure.clustered
    return {
        "k": figure.k,
        "n": figure.n,
        "low": low,
        "high": high,
        "clustered": dict(zip(("low", "high"), _ends(clustered), strict=True))
        if clustered is not None
        else None,
        "tasks": figure.tasks,
        "left_out": figure.left_out,
    }


def _median(median: Median) -> Json:
    low, high = _ends(median.interval)
    return {
        "median": _rounded(median.median),
        "low": low,
        "high": high,
        "n": median.n,
        "left_out": median.left_out,
    }


def _spent(spent: Spent) -> Json:
    return _estimate(spent.per_passed) | {"n": spent.passed, "left_out": spent.left_out}


def _half_life(half_life: HalfLife) -> Json:
    interval = half_life.interval
    low, high = _ends(interval)
    return {
        "value": half_life.stages,
        "low": low,
        "high": high,
        "unbounded": ["high"] if interval is not None and high is None else [],
        "n": half_life.n,
        "ended": half_life.ended,
        "followed": half_life.followed,
        "left_out": half_life.left_out,
    }


def _estimate(estimate: Estimate) -> Json:
    low, high = _ends(estimate.interval)
    top = estimate.interval.high if estimate.interval is not None else None
    numbers = {"value": estimate.value, "high": top}
    unbounded = [
        name for name, value in numbers.items() if value is not None and not isfinite(value)
    ]
    return {"value": _rounded(estimate.value), "low": low, "high": high, "unbounded": unbounded}


def _matched(matched: Matched) -> Json:
    return {
        "risk_difference": _estimate(matched.risk_difference),
        "odds_ratio": _estimate(matched.odds_ratio),
        "informative": {"k": matched.informative, "n": matched.strata},
        "transitions": matched.transitions,
    }


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    if interval is None:
        return None, None
    return _rounded(interval.low), _rounded(interval.high)


def _rounded(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else round(value, _DIGITS)


COLUMNS = (
    "group",
    "figure",
    "position",
    "k",
    "n",
    "value",
    "low",
    "high",
    "clustered_low",
    "clustered_high",
    "tasks",
    "left_out",
    "policy",
)


def stats_csv(statistics: Statistics) -> Iterator[str]:
    """The statistics as CSV lines without line ends: a header, then one line a figure and group.

    The figures of all runs have an empty group. There is no column of percentages: k and n say
    more, and under n = 10 a percentage says too much.
    """
    policy = policy_line(statistics.policy)
    yield _line(COLUMNS)
    for name, group in [("", statistics.all), *(statistics.groups or {}).items()]:
        for row in _rows(group):
            yield _line((_cell(name), *row, policy))


def policy_line(policy: StatsPolicy) -> str:
    """The policy in one line: `clean; skip not ok; …`."""
    outcomes = policy.outcomes
    words: list[str] = [policy.name]
    for name in outcomes.__slots__:
        what = name.removesuffix("_ok").replace("_", " ")
        words.append(f"{what} {'ok' if getattr(outcomes, name) else 'not ok'}")
    words.append(f"test files {'' if policy.count_tests else 'not '}counted as shared files")
    return "; ".join(words)


Cells = tuple[object, ...]


def _rows(group: Group) -> Iterator[Cells]:
    for name, figure in group.figures.items():
        yield _figure_row(name, "", figure)
    for name, figures in group.lists.items():
        for position, figure in enumerate(figures, 1):
            yield _figure_row(name, position, figure)
    for name, median in group.medians.items():
        ends = _ends(median.interval)
        value = _rounded(median.median)
        yield name, "", None, median.n, value, *ends, None, None, None, median.left_out
    spent = {
        "cost_spent_per_passed_stage_usd": group.cost_spent_usd,
        "time_spent_per_passed_stage_s": group.time_spent_s,
    }
    for name, one in spent.items():
        yield _estimate_row(name, one.per_passed, one.passed, one.left_out)
    life = group.half_life
    ends = _ends(life.interval)
    yield "half_life_stages", "", None, life.n, life.stages, *ends, None, None, None, life.left_out
    matched = group.matched
    yield _estimate_row("crude_risk_difference", group.crude, None, None)
    for name, estimate in (
        ("matched_risk_difference", matched.risk_difference),
        ("matched_odds_ratio", matched.odds_ratio),
    ):
        yield _estimate_row(name, estimate, None, None)
    k, n = matched.informative, matched.strata
    for name, figure in (group.executed or {}).items():
        yield _figure_row(f"executed_{name}", "", figure)
    yield "matched_informative", "", k, n, None, None, None, None, None, None, None


def _figure_row(name: str, position: object, figure: Figure) -> Cells:
    ends, clustered = _ends(figure.wilson), _ends(figure.clustered)
    k, n = figure.k, figure.n
    return name, position, k, n, None, *ends, *clustered, figure.tasks, figure.left_out


def _estimate_row(name: str, estimate: Estimate, n: int | None, left_out: int | None) -> Cells:
    ends = _ends(estimate.interval)
    return name, "", None, n, _rounded(estimate.value), *ends, None, None, None, left_out


def _line(cells: tuple[object, ...]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(["" if c is None else c for c in cells])
    return out.getvalue()


def _cell(text: str) -> str:
    """A name from a run as one clean cell that no spreadsheet takes for a formula."""
    text = " ".join(clean(text).split())
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
