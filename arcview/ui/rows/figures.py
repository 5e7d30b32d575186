"""How figures and verdicts are written on every screen. Pure; unknown is never written as 0."""

from __future__ import annotations

import re

from arcview.analysis.verdicts import ok_count
from arcview.model.results import GroupCounts, Outcome, Verdict
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

OUTCOME_GLYPH = {
    Outcome.PASSED: ("✓", theme.PASS),
    Outcome.XFAILED: ("✓", theme.PASS),
    Outcome.FAILED: ("✗", theme.FAIL),
    Outcome.ERROR: ("✗", theme.FAIL),
    Outcome.TIMEOUT: ("✗", theme.FAIL),
    Outcome.XPASSED: ("✗", theme.FAIL),
    Outcome.SKIPPED: ("–", theme.WARN),
    Outcome.MISSING: ("∅", theme.WARN),
    Outcome.NOT_RUN: ("∅", theme.WARN),
}
"""The same for a single test: `✗` not ok, `–` skipped, `∅` no result."""

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


def counted(
    f2p: GroupCounts | None, p2p: GroupCounts | None, other: GroupCounts | None
) -> tuple[tuple[str, GroupCounts], ...]:
    """The groups of a gate by name, without those in which no test is expected or was seen."""
    named = (("F2P", f2p), ("P2P", p2p), ("tests", other))
    return tuple((n, c) for n, c in named if c is not None and (c.expected or c.extra))


def plural(number: int, thing: str, things: str | None = None) -> str:
    """`1 test`, `2 tests`."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def fit_end(text: str, width: int) -> str:
    """Cuts cleaned text at its beginning: `…search.py::`."""
    if cells(text) <= width:
        return text
    kept, used = [], 0
    for char in reversed(text):
        used += cell_width(char)
        if used > width - 1:
            break
        kept.append(char)
    return "…" + "".join(reversed(kept)) if width > 0 else ""


_LEAST_NAME = 16
_BLANKS = r" {2,}|(?:\\n *)+"


def fit_test_name(name: str, width: int) -> str:
    """Cuts the cleaned id of a test so that what tells it from others stays.

    First the file and class before the name go, then the middle of the name, and of parameters
    what comes last: `…::test_parse_errors_h…location[literal_x- input a …]`.
    """
    width = max(width, _LEAST_NAME)
    if cells(name) <= width:
        return name
    head, bracket, parameters = name.partition("[")
    path, colons, own = head.rpartition("::")
    if colons and cells(own) + 1 < width:
        room = width - (cells(own) + 2) - min(width // 2, cells(bracket + parameters))
        head = f"{fit_end(path, room)}::{own}" if room > 4 else f"…{own}"
    elif colons:
        head = f"…{own}"
    parameters = re.sub(_BLANKS, " ", parameters)
    room = max(width - cells(head), min(width // 2, cells(parameters) + 1)) if bracket else 0
    if cells(head) > width - room:
        begin = (width - room) // 2
        head = fit(head, begin) + fit_end(head, width - room - begin)[1:]
    return head + fit(bracket + parameters, room)


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
