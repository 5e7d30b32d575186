"""Draws one row of a row view: its cells, cursor, search marks and mouse selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from textual.content import Content, Span
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style

from arcview.ui import theme
from arcview.ui.rows.lines import LANE, Cell, Needle


@dataclass(slots=True)
class RowPainter:
    """Makes the strip of one row."""

    index: int
    base: Style
    """Style of the widget below."""
    overlay: Style
    """Laid over the line's own background: the cursor."""
    style: Callable[[str], Style]
    sideways: int
    """Columns that scrolling cells are shifted to the left."""
    needle: Needle | None
    selection: Selection | None
    widest: int = 0
    """Columns of the widest scrolling cell that was drawn."""

    def draw(self, cells: Sequence[Cell], width: int) -> Strip:
        """Draws the cells side by side, `width` columns in all."""
        rest = max(0, width - sum(cell.width or 0 for cell in cells))
        strips = [self._cell(cell, rest if cell.width is None else cell.width) for cell in cells]
        return Strip.join(strips).adjust_cell_length(width, self.base.rich_style)

    def _cell(self, cell: Cell, width: int) -> Strip:
        base = self.base + self.style(cell.style) + self.overlay
        content = self._marked(cell)
        strip = Strip(
            [
                Segment(text, style.rich_style)
                for text, style in content.render(base, end="", parse_style=self._parse)
            ]
        )
        length, start, origin = strip.cell_length, self.sideways, cell.lane * LANE
        if not cell.scrolls:
            strip = strip.adjust_cell_length(width, base.rich_style)
            # Counts up to 0: a selection that begins in a gutter begins with the text behind it.
            return strip.apply_offsets(origin - len(content.plain), self.index)
        self.widest = max(self.widest, length)
        skipped = len(strip.crop(0, start).text) if start else 0
        strip = strip.crop_extend(start, start + width, base.rich_style)
        strip = self._edged(strip, base, left=0 < start < length, right=length > start + width)
        return strip.apply_offsets(origin + skipped, self.index)

    def _edged(self, strip: Strip, base: Style, *, left: bool, right: bool) -> Strip:
        """Shows where a row goes on beyond the view."""
        width = strip.cell_length
        edge = (base + self.style(theme.INFO)).rich_style
        if right and width > 1:
            strip = Strip.join([strip.crop(0, width - 1), Strip([Segment("›", edge)], 1)])
        if left and width > 1:
            strip = Strip.join([Strip([Segment("‹", edge)], 1), strip.crop(1, width)])
        return strip

    def _marked(self, cell: Cell) -> Content:
        """Adds the marks of the search and of the mouse selection."""
        if not cell.scrolls:
            return cell.content
        spans: list[Span] = []
        text = cell.content.plain
        if self.needle is not None:
            spans += [Span(*span, theme.MATCH) for span in self.needle.spans(text)]
        if self.selection is not None:
            part = selected_part(self.selection, self.index, cell.lane, len(text))
            if part is not None:
                spans.append(Span(*part, theme.SELECTED))
        return cell.content.add_spans(spans) if spans else cell.content

    def _parse(self, style: str | Style) -> Style:
        return style if isinstance(style, Style) else self.style(style)


def lane_of(selection: Selection) -> int:
    """Which of a row's texts a mouse selection began in."""
    start = selection.start or selection.end
    return 0 if start is None else max(0, (start.x + LANE // 2) // LANE)


def selected_part(
    selection: Selection, index: int, lane: int, length: int
) -> tuple[int, int] | None:
    """Which characters of a row's text are selected; null for none."""
    if lane != lane_of(selection) or (span := selection.get_span(index)) is None:
        return None
    begin, end = (
        limit if position == -1 else min(length, max(0, position - lane * LANE))
        for position, limit in zip(span, (0, length), strict=True)
    )
    return (begin, end) if end >= begin else None
