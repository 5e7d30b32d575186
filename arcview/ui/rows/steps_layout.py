"""The rows of one opened step: its parts as lines that fit, long ones folded. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from arcview.ui.rows import steps_lines
from arcview.ui.rows.steps_parts import FOLD_LINES, StepPart
from arcview.ui.rows.text_view import wrap

FOLD = -1
_LEAST_FOLDED = 4
"""Fewer lines than this are not worth a row that says they are folded."""


class BodyRow(NamedTuple):
    """A row of an opened step."""

    part: int
    line: int
    """Line of the part, or -1 for the row that stands for folded lines."""
    start: int
    """First character of the cleaned line, or first folded line."""
    end: int
    """Character after the last, or line after the last folded one."""

    def hides(self, part: int, line: int) -> bool:
        """Whether it stands for folded lines, and that one is among them."""
        return self.part == part and self.line == FOLD and self.start <= line < self.end


def lay_body(parts: Sequence[StepPart], width: int, unfolded: Container[int]) -> list[BodyRow]:
    """The rows of a step.

    Args:
        parts: What it consists of.
        width: Columns that a line may take.
        unfolded: The parts that are shown whole, by their place.
    """
    rows: list[BodyRow] = []
    for number, part in enumerate(parts):
        limit = FOLD_LINES.get(part.kind, len(part.lines))
        tail = limit // 3
        hidden = range(limit - tail, len(part.lines) - tail)
        if len(hidden) < _LEAST_FOLDED or number in unfolded:
            hidden = range(0)
        for line in range(len(part.lines)):
            if line not in hidden:
                rows += _lay_line(number, part, line, width)
            elif line == hidden.start:
                rows.append(BodyRow(number, FOLD, hidden.start, hidden.stop))
    return rows


def _lay_line(number: int, part: StepPart, line: int, width: int) -> Iterator[BodyRow]:
    raw = part.lines[line]
    if len(raw) <= width and raw.isascii() and raw.isprintable():
        yield BodyRow(number, line, 0, len(raw))
        return
    for start, end in wrap(steps_lines.cleaned(part, raw), width):
        yield BodyRow(number, line, start, end)


def row_of_line(rows: Sequence[BodyRow], part: int, line: int, character: int) -> int:
    """Which row (1-based) shows a character of a line, or stands for the lines it is folded with.

    0 where none does.
    """
    best = 0
    for number, row in enumerate(rows, 1):
        if row.hides(part, line):
            return number
        if row.part == part and row.line == line and (row.start <= character or not best):
            best = number
    return best
