"""Several texts under headings as one list of rows: all that is known of a test, all problems.

Pure. Lines can be links: the rows know which lines are, the screen knows where they lead.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from textual.content import Content

from arcview.ui import theme
from arcview.ui.rows.lines import Cell, Needle, RowSource
from arcview.ui.rows.text_view import TextRows
from arcview.ui.safe import one_line, plain


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text below it."""

    title: str
    """Empty for a text without a heading."""
    text: str
    links: Mapping[int, object] = field(default_factory=dict)
    """1-based lines of the text that lead somewhere, with what they lead to."""
    style: str = ""


class SectionRows(RowSource):
    """The rows of some sections, one after the other, wrapped to the width."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self.sections: tuple[Section, ...] = ()
        self._texts: tuple[TextRows, ...] = ()
        self._starts: list[int] = [0]
        self._width = 80
        self.replace(sections)

    def _lay(self) -> None:
        heights = (
            len(text) + bool(section.title)
            for section, text in zip(self.sections, self._texts, strict=True)
        )
        self._starts = [0, *accumulate(heights)]

    def __len__(self) -> int:
        return self._starts[-1]

    def fit(self, width: int) -> bool:
        """Wraps every text anew for another width."""
        self._width = width - 1
        changed = [text.fit(self._width) for text in self._texts]
        self._lay()
        return any(changed)

    def place(self, index: int) -> tuple[int, int]:
        """The section a row belongs to and the 1-based line in it; line 0 is the heading."""
        number, row = self._row(index)
        return number, 0 if row < 0 else self._texts[number].line_at(row)

    def link_at(self, index: int) -> object | None:
        """What a row leads to; null where it leads nowhere."""
        number, line = self.place(index)
        return self.sections[number].links.get(line)

    def next_section(self, index: int, by: int) -> int | None:
        """Where to go in the next section, or the one before: its first link, else its heading."""
        number = self._row(index)[0] + by
        while 0 <= number < len(self.sections) and not self.sections[number].title:
            number += by
        if not 0 <= number < len(self.sections):
            return None
        links = self.sections[number].links
        row = self._texts[number].row_of(min(links)) + 1 if links else 0
        return self._starts[number] + row

    def first_link(self, title: str) -> int | None:
        """The row of the first line that leads somewhere, of the section with that heading."""
        for number, section in enumerate(self.sections):
            if section.title == title and section.links:
                heading = bool(section.title)
                row = self._texts[number].row_of(min(section.links))
                return self._starts[number] + heading + row
        return None

    def replace(self, sections: Sequence[Section]) -> None:
        """Shows other sections."""
        self.sections = tuple(sections)
        self._texts = tuple(TextRows(section.text) for section in sections)
        for text in self._texts:
            text.fit(self._width)
        self._lay()

    def _row(self, index: int) -> tuple[int, int]:
        number = min(bisect_right(self._starts, index) - 1, len(self.sections) - 1)
        return number, index - self._starts[number] - bool(self.sections[number].title)

    def anchor(self, index: int) -> object:
        """Title of the section, and the line in it."""
        number, line = self.place(index)
        return self.sections[number].title, line

    def locate(self, anchor: object) -> int:
        """The first row of that line."""
        if not isinstance(anchor, tuple):
            return 0
        title, line = anchor
        number = next((n for n, s in enumerate(self.sections) if s.title == title), 0)
        heading = bool(self.sections[number].title)
        row = self._texts[number].row_of(line) if line else -1
        return max(0, self._starts[number] + heading + row)

    def row(self, index: int) -> Content:
        """The heading, or a part of the text in its colours."""
        number, row = self._row(index)
        section = self.sections[number]
        if row < 0:
            return plain(one_line(section.title), theme.HEADING)
        content = self._texts[number].row(row)
        if self._texts[number].line_at(row) in section.links:
            return content.stylize(f"underline {theme.INFO}")
        return content.stylize(section.style) if section.style else content

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """A margin and the row."""
        del width
        _, row = self._row(index)
        if row < 0:
            return (Cell(self.row(index), scrolls=True, style=theme.HEADING_LINE),)
        return (Cell(Content(" "), 1), Cell(self.row(index), scrolls=True))

    def find(self, needle: Needle, start: int, step: int) -> Iterator[int | None]:
        """Looks through one text after the other."""
        numbers = range(len(self._texts)) if step > 0 else range(len(self._texts) - 1, -1, -1)
        for number in numbers:
            first = self._starts[number] + bool(self.sections[number].title)
            text = self._texts[number]
            within = start - first
            if (step > 0 and within >= len(text)) or (step < 0 and within < 0):
                continue
            begin = max(0, within) if step > 0 else min(within, len(text) - 1)
            for hit in text.find(needle, begin, step):
                yield None if hit is None else first + hit
                if hit is not None:
                    return
