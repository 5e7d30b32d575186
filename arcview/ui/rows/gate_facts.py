"""What is said of a gate run as a whole: verdict with its reason, expected and observed. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from arcview.analysis.overview import GateCell
from arcview.model.results import GroupCounts, Verdict
from arcview.ui import theme
from arcview.ui.rows.figures import VERDICT_GLYPH, VERDICT_STYLE, counted, fraction, plural
from arcview.ui.safe import one_line

Fact = tuple[str, str, str]
"""Its name, what is said, and the style."""


def gate_facts(cell: GateCell) -> Iterator[Fact]:
    """The facts in the order in which they matter."""
    judgement = cell.judgement
    verdict = judgement.verdict
    if judgement.reason or verdict is Verdict.UNMEASURED:
        reason = f": {one_line(judgement.reason)}" if judgement.reason else ""
        word = "not measured" if verdict is Verdict.UNMEASURED else verdict.value
        yield "verdict", f"{VERDICT_GLYPH[verdict]} {word}{reason}", VERDICT_STYLE[verdict]
    for number, note in enumerate(cell.notes):
        yield f"note-{number}", one_line(note), theme.MUTED
    if judgement.conflict and judgement.recorded is not None:
        recorded = judgement.recorded.value
        text = f"! the harness recorded {recorded}; the tests say otherwise"
        yield "conflict", text, theme.WARN
    for name, counts in counted(cell.f2p, cell.p2p, cell.other):
        yield f"counts-{name}", _count_line(name, counts), theme.MUTED


def skipped_words(number: int) -> str:
    """How skipped tests are named beside their number: nothing in them failed."""
    return f"skipped ({'counts' if number == 1 else 'count'} as not ok)"


def _count_line(name: str, counts: GroupCounts) -> str:
    """`F2P 9/11 expected, observed 10: 1 missing, 2 extra`."""
    observed = counts.expected - counts.missing - counts.not_run
    odd = (
        (counts.failed, "failed"),
        (counts.error, "error"),
        (counts.timeout, "timed out"),
        (counts.skipped, skipped_words(counts.skipped)),
        (counts.xfailed, "failed as expected"),
        (counts.xpassed, "passed against expectation"),
        (counts.missing, "missing"),
        (counts.not_run, "not run"),
        (counts.extra, "extra"),
        (counts.duplicated, "duplicated"),
    )
    details = ", ".join(f"{number} {word}" for number, word in odd if number)
    said = plural(observed, "test")
    seen = "" if observed == counts.expected else f", {said} observed"
    return f"{name} {fraction(counts)}{seen}{': ' + details if details else ''}"
