"""Any long text as rows: wrapped or not, with line numbers or not, colours of terminal output kept.

Pure: works on text in memory; files too large for that are `log_file`'s.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from textual.content import Content

from arcview.analysis.syntax import LazySyntax
from arcview.secrets import mask_private_keys, mask_secrets
from arcview.text import AnsiSpan, AnsiStyle, ansi_spans, cell_width, clean, clip
from arcview.ui import theme
from arcview.ui.rows.lines import Cell, Needle, RowSource, styled_parts, syntax_parts
from arcview.ui.safe import visible

WRAP_LIMIT = 1_000_000
"""Characters above which a text begins unwrapped: laying out 1 MB takes 100 ms."""

_WORD_SHARE = 0.6
"""A line breaks at a blank only if that leaves it at least this full."""


def wrap(text: str, width: int) -> list[tuple[int, int]]:
    """Cuts a cleaned line into ranges that fit, at blanks where that leaves them well filled.

    Characters of no width stay with the one they are drawn on; nothing is lost at a cut.
    """
    width = max(1, width)
    if len(text) <= width and text.isascii():
        return [(0, len(text))]
    ranges: list[tuple[int, int]] = []
    start = 0
    for end in _ends(text, width):
        ranges.append((start, end))
        start = end
    return ranges or [(0, 0)]


def _ends(text: str, width: int) -> Iterator[int]:
    start = column = blank = 0
    for position, char in enumerate(text):
        size = cell_width(char)
        if column + size > width and position > start:
            full = blank > start and blank - start >= _WORD_SHARE * (position - start)
            cut = blank if full else position
            yield cut
            column = sum(map(cell_width, text[cut:position]))
            start = blank = cut
        column += size
        if char == " ":
            blank = position + 1
    if start < len(text):
        yield len(text)


def ansi_style(style: AnsiStyle) -> str:
    """The style text for what SGR codes ask for; the sixteen colours are the theme's own."""
    words = [
        name
        for name in ("bold", "dim", "italic", "underline", "reverse", "strike")
        if getattr(style, name)
    ]
    if style.foreground is not None:
        words.append(_colour(style.foreground))
    if style.background is not None:
        words.append(f"on {_colour(style.background)}")
    return " ".join(words)


def _colour(colour: int | str) -> str:
    return f"$ansi-{colour}" if isinstance(colour, int) else colour


def ansi_content(
    text: str, spans: Sequence[AnsiSpan], start: int = 0, end: int | None = None
) -> Content:
    """A part of a line of terminal output in its colours."""
    end = len(text) if end is None else end
    parts = ((span.start, span.end, ansi_style(span.style)) for span in spans)
    return Content(text[start:end], styled_parts(parts, start, end))


class AnsiRows(RowSource):
    """Lines of terminal output, numbered; `_line` gives them."""

    def _line(self, index: int) -> str:
        raise NotImplementedError

    def row(self, index: int) -> Content:
        """A line in its colours."""
        return ansi_content(*ansi_spans(self._line(index)))

    def text(self, index: int, lane: int = 0) -> str:
        """A line without colours."""
        del lane
        return ansi_spans(self._line(index))[0]

    def numbered(self, index: int, number: int, last: int, narrowest: int = 1) -> Sequence[Cell]:
        """The number of a line, in room for the last one, and the line."""
        digits = max(narrowest, len(str(last)))
        label = Content.styled(f"{number:>{digits}}  ", theme.FAINT)
        return (Cell(label, digits + 2), Cell(self.row(index), scrolls=True))


class TextRows(RowSource):
    """The lines of one text.

    Args:
        text: Outside text of any length.
        wrapped: Lines are cut to the width of the view, else they scroll sideways; very long
            texts begin unwrapped.
        numbered: Line numbers stand in the gutter.
        terminal: SGR colours are read; else escape sequences are drawn.
        path: Name of the file it is, for syntax colours.
        notes: Remarks of our own that stand above the text.
    """

    def __init__(
        self,
        text: str,
        *,
        wrapped: bool = True,
        numbered: bool = False,
        terminal: bool = True,
        path: str | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self._notes = notes
        # Lines are masked as they are drawn; a private key is none of a line.
        text = mask_private_keys(text) if path is None else mask_secrets(text)
        self._lines = text.removesuffix("\n").split("\n")
        self.wrapped = wrapped and len(text) <= WRAP_LIMIT
        self.numbered = numbered
        self._terminal = terminal
        self._syntax: LazySyntax | None = None
        if path is not None:
            self._syntax = LazySyntax(path, [clean(clip(line)) for line in self._lines])
        self._width = 80
        self._starts: list[int] = []
        self._lay()

    # Structure

    def _lay(self) -> None:
        if not self.wrapped:
            self._starts = []
            return
        width = max(1, self._width - self._edge)
        self._starts = [0, *accumulate(self._height(line, width) for line in self._lines)]

    def _height(self, line: str, width: int) -> int:
        if len(line) <= width and line.isascii() and line.isprintable():
            return 1
        return len(wrap(self._clean(line), width))

    def _clean(self, line: str) -> str:
        line = visible(line)
        return ansi_spans(line)[0] if self._terminal else clean(line)

    @property
    def _edge(self) -> int:
        return len(str(len(self._lines))) + 2 if self.numbered else 1

    def __len__(self) -> int:
        return len(self._notes) + (self._starts[-1] if self.wrapped else len(self._lines))

    @property
    def line_count(self) -> int:
        """Lines of the text, however they are wrapped."""
        return len(self._lines)

    def line_at(self, index: int) -> int:
        """The 1-based line that a row shows a part of."""
        return max(0, self._place(index)[0]) + 1

    def row_of(self, line: int) -> int:
        """The row at which a 1-based line begins."""
        number = max(0, min(line - 1, len(self._lines) - 1))
        return len(self._notes) + (self._starts[number] if self.wrapped else number)

    def _place(self, index: int) -> tuple[int, int]:
        """Line and part of it at a row; a negative line is a note."""
        index -= len(self._notes)
        if index < 0:
            return index, 0
        if not self.wrapped:
            return index, 0
        number = bisect_right(self._starts, index) - 1
        return number, index - self._starts[number]

    def set_wrapped(self, *, wrapped: bool) -> None:
        """Wraps the lines or lets them scroll sideways."""
        self.wrapped = wrapped
        self._lay()

    def set_numbered(self, *, numbered: bool) -> None:
        """Shows or hides line numbers."""
        self.numbered = numbered
        self._lay()

    def fit(self, width: int) -> bool:
        """Wraps anew for another width."""
        changed = width != self._width and self.wrapped
        self._width = width
        if changed:
            self._lay()
        return changed

    def anchor(self, index: int) -> object:
        """The line of a row."""
        return self.line_at(index)

    def locate(self, anchor: object) -> int:
        """The first row of that line."""
        return self.row_of(anchor) if isinstance(anchor, int) else 0

    # Looks

    def row(self, index: int) -> Content:
        """The part of the line that the row shows, in its colours."""
        number, part = self._place(index)
        if number < 0:
            return Content.styled(clean(f"▲ {self._notes[number]}"), theme.WARN)
        line = visible(self._lines[number])
        text, spans = ansi_spans(line) if self._terminal else (clean(line), ())
        start, end = 0, len(text)
        if self.wrapped:
            ranges = wrap(text, max(1, self._width - self._edge))
            start, end = ranges[min(part, len(ranges) - 1)]
        content = ansi_content(text, spans, start, end)
        if self._syntax is not None:
            syntax = syntax_parts(self._syntax.line(number))
            content = content.add_spans(styled_parts(syntax, start, end))
        return content

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """A margin or the line number, and the text."""
        del width
        number, part = self._place(index)
        edge = self._edge
        label = (
            f"{number + 1:>{edge - 2}}  " if self.numbered and number >= 0 == part else " " * edge
        )
        return (
            Cell(Content.styled(label[:edge], theme.FAINT), edge),
            Cell(self.row(index), scrolls=True),
        )

    def find(self, needle: Needle, start: int, step: int) -> Iterator[int | None]:
        """Looks through whole lines, so that a wrapped hit is found too."""
        first, part = self._place(start)
        first = max(first, 0 if step > 0 else -1) + (step > 0 and part > 0)
        stop = len(self._lines) if step > 0 else -1
        for count, number in enumerate(range(first, stop, step), 1):
            spans = needle.spans(self._clean(self._lines[number]))
            if spans:
                yield self._row_of_character(number, spans[0][0])
                return
            if count % 2_000 == 0:
                yield None

    def _row_of_character(self, number: int, position: int) -> int:
        if not self.wrapped:
            return self.row_of(number + 1)
        ranges = wrap(self._clean(self._lines[number]), max(1, self._width - self._edge))
        part = next((i for i, (_, end) in enumerate(ranges) if position < end), 0)
        return self.row_of(number + 1) + part
