"""Draws one row of a row view: its cells, cursor, search marks and mouse selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content, Span
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style

from arcview.ui import theme
from arcview.ui.rows.lines import LANE, Cell, Needle, RowSource


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
        # One strip a row: each brings seven caches of its own, half the cost of a page.
        segments = [
            segment
            for cell in cells
            for segment in self._cell(cell, rest if cell.width is None else cell.width)
        ]
        strip = Strip(segments)
        if strip.cell_length != width:
            strip = strip.adjust_cell_length(width, self.base.rich_style)
        return strip

    def _cell(self, cell: Cell, width: int) -> list[Segment]:
        base = self.base + self.style(cell.style) + self.overlay
        content = self._marked(cell)
        segments = [
            Segment(text, style.rich_style)
            for text, style in content.render(base, end="", parse_style=self._parse)
        ]
        length = content.cell_length
        origin = cell.lane * LANE
        if not cell.scrolls:
            # Counts up to 0: a selection that begins in a gutter begins with the text behind it.
            origin -= len(content.plain)
        else:
            self.widest = max(self.widest, length)
        start = self.sideways if cell.scrolls else 0
        if start or length > width:
            strip = Strip(segments, length)
            origin += len(strip.crop(0, start).text) if start else 0
            strip = strip.crop_extend(start, start + width, base.rich_style)
            if cell.scrolls:
                strip = self._edged(
                    strip, base, left=0 < start < length, right=length > start + width
                )
            segments = list(strip)
        elif length < width:
            segments.append(Segment(" " * (width - length), base.rich_style))
        return _with_offsets(segments, origin, self.index)

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
        spans: list[Span] = []
        text = cell.content.plain
        if self.needle is not None and (cell.scrolls or cell.is_searched):
            spans += [Span(*span, theme.MATCH) for span in self.needle.spans(text)]
        if self.selection is not None and cell.scrolls:
            part = selected_part(self.selection, self.index, cell.lane, len(text))
            if part is not None:
                spans.append(Span(*part, theme.SELECTED))
        return cell.content.add_spans(spans) if spans else cell.content

    def _parse(self, style: str | Style) -> Style:
        return style if isinstance(style, Style) else self.style(style)


def _with_offsets(segments: Sequence[Segment], x: int, y: int) -> list[Segment]:
    """Says for each segment where its text is, which is how Textual finds what a mouse selects."""
    placed: list[Segment] = []
    for text, style, _ in segments:
        offset = RichStyle.from_meta({"offset": (x, y)})
        placed.append(Segment(text, style + offset if style else offset))
        x += len(text)
    return placed


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


def selected_text(source: RowSource, selection: Selection) -> str:
    """The selected text without gutters; only the rows in question are made."""
    lane = lane_of(selection)
    first = 0 if selection.start is None else max(0, selection.start.y)
    last = len(source) - 1
    if selection.end is not None:
        last = min(last, selection.end.y)
    lines = []
    for index in range(first, last + 1):
        text = source.text(index, lane)
        part = selected_part(selection, index, lane, len(text))
        lines.append("" if part is None else text[part[0] : part[1]])
    return "\n".join(lines)
