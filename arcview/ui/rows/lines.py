"""What a row view draws: the row source, the cells of a row, and the search needle.

Pure: no widget is imported, so rows are tested without an app.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from textual.content import Content, Span

LANE = 1 << 20
"""Distance between the selection columns of two lanes; more than any clipped row has characters."""

SEARCH_SLICE = 500
"""Rows looked through before a search gives way to the event loop."""


class Cell(NamedTuple):
    """A column of one row."""

    content: Content
    width: int | None = None
    """In terminal columns; null takes what the others leave."""
    scrolls: bool = False
    """Whether it moves when the view scrolls sideways; gutters stay."""
    style: str = ""
    """Style of the whole cell, its blank rest included."""
    lane: int = 0
    """Which text of the row a mouse selection takes from it: split views have two."""
    is_searched: bool = False
    """Whether a search looks at it, too, though it does not scroll."""


class Needle:
    """A search text: literal, and blind to case unless it holds an upper-case letter.

    Args:
        text: What is searched for.
        pattern: What it means, where it is no literal.
    """

    def __init__(self, text: str, pattern: re.Pattern[str] | None = None) -> None:
        self.text = text
        self.ignore_case = text == text.lower()
        flags = re.IGNORECASE if self.ignore_case else 0
        self.pattern = pattern or re.compile(re.escape(text), flags)

    def within(self, text: str) -> bool:
        """Whether the text holds it."""
        found = self.pattern.search(text)
        return found is not None and (bool(found.group()) or bool(self.spans(text)))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Character offsets of every occurrence."""
        return [match.span() for match in self.pattern.finditer(text) if match.group()]


class RowSource:
    """The rows of a view. Only those on the screen are ever asked for.

    Subclasses give `__len__` and `row`; whatever else they override is an addition to that.
    """

    def __len__(self) -> int:
        return 0

    def row(self, index: int) -> Content:
        """What is drawn at a row; its text must have come through `ui.safe`."""
        raise NotImplementedError

    def text(self, index: int, lane: int = 0) -> str:
        """What a copy or a search takes from a row, without gutters."""
        del lane
        return self.row(index).plain

    def line_style(self, index: int) -> str:
        """Style of the whole line, its blank rest included."""
        del index
        return ""

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """The columns of a row in a view of that width."""
        del width
        return (Cell(self.row(index), scrolls=True, style=self.line_style(index)),)

    def fit(self, width: int) -> bool:
        """Told before drawing how wide the view is; true when the rows changed by that."""
        del width
        return False

    def anchor(self, index: int) -> object:
        """A name for what is at a row that outlives a change of the rows."""
        return index

    def locate(self, anchor: object) -> int:
        """The row at which that thing is now, or the nearest to it."""
        return anchor if isinstance(anchor, int) else 0

    def find(self, needle: Needle, start: int, step: int) -> Iterator[int | None]:
        """Looks for the needle from `start` on, forwards or backwards, to the end of the rows.

        Yields null where the search may be given up or resumed later, and then the row of the
        hit; ends without one where there is none. A source may open a folded row on the way.
        """
        for count, index in enumerate(range(start, len(self) if step > 0 else -1, step), 1):
            if needle.within(self.text(index)):
                yield index
                return
            if count % SEARCH_SLICE == 0:
                yield None


class WrappedRows(RowSource):
    """Rows that depend on how wide the view is; `_lay` makes them for the width.

    Args:
        width: What is assumed until the view says it.
    """

    def __init__(self, width: int) -> None:
        self._width = width

    def fit(self, width: int) -> bool:
        """Wraps anew for another width."""
        if width == self._width:
            return False
        self._width = width
        self._lay()
        return True

    def _lay(self) -> None:
        raise NotImplementedError


def styled_parts(parts: Iterable[tuple[int, int, str]], start: int, end: int) -> list[Span]:
    """The spans of the styled parts of a line that lie between two of its characters.

    Parts that reach out of a text would stop Textual from drawing it.
    """
    return [
        Span(max(begin, start) - start, min(stop, end) - start, style)
        for begin, stop, style in parts
        if begin < end and stop > start and style
    ]


def syntax_parts(syntax: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Parts of a line with the style of their syntax kind."""
    return ((start, end, f"$syntax-{kind}") for start, end, kind in syntax)


class ListRows(RowSource):
    """Rows that are there already, for short lists."""

    def __init__(self, rows: Sequence[Content] = ()) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Content:
        """The given content."""
        return self._rows[index]
