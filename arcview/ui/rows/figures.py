"""How figures and verdicts are written on every screen. Pure; unknown is never written as 0."""

from __future__ import annotations

from arcview.analysis.verdicts import ok_count
from arcview.model.results import GroupCounts, Verdict
from arcview.model.run import Status
from arcview.text import cell_width, cells
from arcview.ui import theme

VERDICT_GLYPH = {Verdict.PASSED: "✓", Verdict.FAILED: "✗", Verdict.UNMEASURED: "?"}
"""Readable without colour, one cell wide."""

VERDICT_STYLE = {
    Verdict.PASSED: theme.PASS,
    Verdict.FAILED: theme.FAIL,
    Verdict.UNMEASURED: theme.UNMEASURED,
}

STATUS_BADGE = {
    Status.INTERRUPTED: "interrupted",
    Status.AGENT_TIMEOUT: "agent timeout",
    Status.AGENT_ERROR: "agent error",
    Status.INFRASTRUCTURE_ERROR: "infrastructure error",
    Status.SKIPPED: "skipped",
    Status.NOT_STARTED: "not started",
    Status.UNKNOWN: "status unknown",
}
"""What is said of a stage or run that did not simply complete."""


def cost(usd: float | None) -> str:
    """`$0.41`, `$12.3`, or nothing when unknown."""
    if usd is None:
        return ""
    return f"${usd:.2f}" if usd < 100 else f"${usd:,.0f}"


def duration(seconds: float | None) -> str:
    """`0.3s`, `42s`, `3m12s`, `1h07m`, or nothing when unknown."""
    if seconds is None:
        return ""
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3_600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3_600}h{whole % 3_600 // 60:02}m"


def fraction(counts: GroupCounts | None) -> str:
    """`9/11`: tests that are ok of those expected; nothing when not measured."""
    return "" if counts is None else f"{ok_count(counts)}/{counts.expected}"


def plural(number: int, thing: str, things: str | None = None) -> str:
    """`1 test`, `2 tests`."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def fit(text: str, width: int, *, pad: bool = False) -> str:
    """Cuts cleaned text to a number of columns with `…`; `pad` fills up with blanks."""
    if cells(text) > width:
        kept, used = [], 0
        for char in text:
            used += cell_width(char)
            if used > width - 1:
                break
            kept.append(char)
        text = "".join(kept) + "…" if width > 0 else ""
    return text + " " * (width - cells(text)) if pad else text
