"""The first line of the run screen: who did what, and how it ended. Pure."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content

from arcview.analysis.overview import GateCell, Overview, Total
from arcview.model.results import Verdict
from arcview.ui import theme
from arcview.ui.rows.figures import (
    STATUS_BADGE,
    VERDICT_GLYPH,
    VERDICT_STYLE,
    cost,
    counted,
    duration,
    fit,
    fraction,
    plural,
)
from arcview.ui.safe import one_line, pieces

_GAP = 2
_SHORT = 100
"""Columns below which the verdict is said in few words."""


def header_line(
    overview: Overview, width: int, *, problems: int = 0, stale: bool = False
) -> Content:
    """Agent, task, stages and level to the left; verdict, cost and time to the right.

    Args:
        overview: The run.
        width: Columns there are; the left part is cut for the right one.
        problems: How many files are damaged or missing.
        stale: The run on the disk is not the one that is shown.
    """
    right = _right(overview, problems, stale=stale, short=width < _SHORT)
    while len(right) > 1 and sum(c.cell_length for c in right) > width * 2 // 3:
        right.pop()
    shown = Content("").join(right)
    room = max(0, width - shown.cell_length - _GAP)
    left = fit(" " + " · ".join(_left(overview)), room, pad=True)
    return Content.assemble((left, "bold"), " " * _GAP, shown)


def _left(overview: Overview) -> list[str]:
    agent = overview.agent or overview.model or "agent not recorded"
    parts = [agent, overview.task_id, plural(len(overview.stages), "stage")]
    if overview.delegation:
        parts.append(overview.delegation)
    if overview.attempt:
        parts.append(f"attempt {overview.attempt}")
    return [one_line(part) for part in parts]


def _right(overview: Overview, problems: int, *, stale: bool, short: bool) -> list[Content]:
    """Most important first: what does not fit falls away from the end."""
    parts = [_verdict(overview, short=short)]
    if stale:
        parts.append(pieces(("changed on disk (ctrl+r)  ", theme.WARN)))
    if problems:
        parts.append(pieces((f"▲ {plural(problems, 'problem')} (P)  ", theme.WARN)))
    badge = STATUS_BADGE.get(overview.status)
    if badge:
        parts.append(pieces((f"{badge}  ", theme.WARN)))
    parts.append(pieces((_total(overview.totals.cost_usd, cost), "")))
    parts.append(pieces((_total(overview.totals.duration_s, duration), theme.MUTED)))
    between = _total(overview.totals.between_cost_usd, cost).rstrip()
    if between:
        parts.append(pieces((f"{between} between  ", theme.MUTED)))
    return parts


def _verdict(overview: Overview, *, short: bool) -> Content:
    cell = overview.chain_gate
    if cell is not None:
        return _chain(cell, short=short)
    passed = sum(row.judgement.verdict is Verdict.PASSED for row in overview.stages)
    measured = sum(row.judgement.verdict is not Verdict.UNMEASURED for row in overview.stages)
    if not measured:
        return pieces(("no gate measured  ", theme.UNMEASURED))
    words = "gates ✓" if short else "measured gates passed, no chain gate"
    return pieces((f"{passed}/{measured} {words}  ", theme.PASS if passed == measured else ""))


def _chain(cell: GateCell, *, short: bool) -> Content:
    verdict = cell.judgement.verdict
    groups = counted(cell.f2p, cell.p2p, cell.other)
    counts = [f"{name} {fraction(group)}" for name, group in groups]
    said = "" if short else "  ".join(counts) or "not measured"
    return pieces(
        "chain ", (f"{VERDICT_GLYPH[verdict]} ", f"bold {VERDICT_STYLE[verdict]}"), f"{said}  "
    )


def _total(total: Total, write: Callable[[float | None], str]) -> str:
    """`$4.12`, `$4.12+?` where parts are unknown, nothing where all are."""
    if total.known is None:
        return ""
    return f"{write(total.known)}{'+?' if total.unknown else ''}  "
