"""How a cell of the matrix is written: what it says and how that is known, without colour. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arcview.analysis.matrix import Cell, CellTest, Source, Standing
from arcview.model.results import Verdict
from arcview.ui import theme
from arcview.ui.rows.figures import VERDICT_GLYPH, VERDICT_STYLE
from arcview.ui.safe import one_line

_LEGEND = {
    "≈": "derived",
    "‹": "not due yet",
    "%": "in part",
    "r": "rerun",
    "=": "same files",
    "!": "passes early",
    "~": "flaky",
    "∅": "reference fails",
    "·": "unknown",
    "?": "unmeasured",
}
"""What the marks mean, those first that explain themselves least."""
_SOURCE_MARK = {Source.RERUN: "r", Source.SAME_TREE: "=", Source.REPEATED: "≈"}
_SOURCE_WORDS = {
    Source.RECORDED: "recorded",
    Source.RERUN: "run again",
    Source.SAME_TREE: "recorded on another state with the same files",
    Source.REPEATED: "derived from other gates that ran on this state",
}


class CellText(NamedTuple):
    """A cell in its parts."""

    glyph: str
    tally: str
    """Tests that are ok of those expected."""
    mark: str
    """How it is known; empty for what was recorded."""
    style: str

    def fit(self, width: int) -> str:
        """As much of it as there is room for: `✗ 8/11 r`, `✗r`."""
        whole = f"{self.glyph} {self.tally} {self.mark}".rstrip()
        return whole if len(whole) < width else f"{self.glyph}{self.mark}"


def legend(cells: Iterable[Cell], width: int) -> str:
    """What the marks of some cells mean, as far as there is room for it."""
    texts = [cell_text(cell) for cell in cells]
    used = {sign for text in texts for sign in (text.glyph, *text.mark)}
    said = [f"{sign} {meaning}" for sign, meaning in _LEGEND.items() if sign in used]
    while said and len("  ".join(said)) > width:
        said.pop()
    return "  ".join(said)


def cell_text(cell: Cell) -> CellText:
    """A cell: its verdict and whether that can be held against the agent, counts, source."""
    mark = _SOURCE_MARK.get(cell.source, "") if cell.source is not None else ""
    known = len(cell.tests)
    if cell.is_partial:
        mark = "%"
    ok = sum(test.ok is True for test in cell.tests.values())
    count = f"{ok}/{cell.expected if cell.expected is not None else known}" if known else ""
    if cell.is_flaky:
        return CellText("~", count, mark, theme.WARN)
    if cell.verdict is None:
        if not known:
            return CellText("·", "", "", theme.FAINT)
        return CellText("·", f"{ok}/{cell.expected}", mark, theme.MUTED)
    glyph, style = VERDICT_GLYPH[cell.verdict], VERDICT_STYLE[cell.verdict]
    if cell.verdict is Verdict.UNMEASURED:
        return CellText(glyph, "", mark, style)
    if cell.standing is Standing.NOT_APPLICABLE:
        return CellText("∅", count, mark, theme.MUTED)
    if cell.standing is Standing.BEFORE:
        if cell.verdict is Verdict.PASSED:
            return CellText(glyph, count, f"!{mark}", theme.WARN)
        return CellText("‹", count, mark, theme.MUTED)
    return CellText(glyph, count, mark, style)


def test_mark(test: CellTest | None) -> tuple[str, str]:
    """A test in one state: `✓`, `✗`, `~`, `·`; whatever is known other than by record is marked."""
    if test is None:
        return "·", theme.FAINT
    mark = _SOURCE_MARK.get(test.source, "")
    if test.ok is None:
        return f"~{mark}", theme.WARN
    return (f"✓{mark}", theme.PASS) if test.ok else (f"✗{mark}", theme.FAIL)


def cell_facts(cell: Cell, hindrance: str | None = None) -> list[tuple[str, str]]:
    """What is to be said of a cell, each with its style.

    Args:
        cell: The cell.
        hindrance: Why the gate cannot be run on the state, where that is so.
    """
    if cell.source is None:
        unknown = "nothing is known of this gate on this state"
        return [(f"{unknown}: {hindrance or 'r runs it'}", theme.MUTED)]
    said = [_SOURCE_WORDS[cell.source]]
    if cell.runs > 1:
        said.append(f"passed in {cell.passed} of {cell.runs} runs")
    if cell.is_partial:
        said.append(f"{len(cell.tests)} of {cell.expected} tests known")
    facts = [(" · ".join(said), theme.MUTED)]
    if cell.reason:
        is_unmeasured = cell.verdict is Verdict.UNMEASURED
        word = "not measured: " if is_unmeasured else ""
        style = theme.UNMEASURED if is_unmeasured else theme.FAIL
        facts.append((f"{word}{one_line(cell.reason)}", style))
    standing = _standing(cell)
    if standing:
        facts.append((standing, theme.MUTED))
    return facts


def _standing(cell: Cell) -> str:
    why = f": {one_line(cell.standing_reason)}" if cell.standing_reason else ""
    match cell.standing:
        case Standing.NOT_APPLICABLE:
            return f"not applicable{why}, so it says nothing of the agent"
        case Standing.BEFORE:
            return "the state is older than the stage of the gate: its new tests should fail here"
        case Standing.VERIFIED:
            return "the reference passes here"
        case Standing.UNVERIFIED:
            return f"not verified{why}"
        case Standing.DECLARED:
            return f"expected to pass here{why}" if cell.standing_reason else ""
        case Standing.REFERENCE:
            return "a state of the reference"
