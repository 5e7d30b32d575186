"""The rows of a help screen: keys, what they do, and one sentence, wrapped. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from textual.content import Content

from arcview.ui import theme
from arcview.ui.rows.lines import WrappedRows
from arcview.ui.rows.notes import wrap_words
from arcview.ui.safe import pieces, plain

_KEYS, _TITLE, _INDENT = 19, 27, 4
_LEAST = 24
"""Columns that a sentence needs beside its command, else it stands below."""


class HelpEntry(NamedTuple):
    """One line of help: a heading, a command, a sign, or a blank."""

    keys: str = ""
    title: str = ""
    explanation: str = ""
    heading: str = ""


class HelpRows(WrappedRows):
    """Entries, each in as many rows as its sentence takes."""

    def __init__(self, entries: Sequence[HelpEntry]) -> None:
        super().__init__(80)
        self._entries = tuple(entries)
        self._rows: tuple[tuple[int, Content], ...] = ()
        self._lay()

    def _lay(self) -> None:
        self._rows = tuple(
            (number, row) for number, entry in enumerate(self._entries) for row in self._of(entry)
        )

    def _of(self, entry: HelpEntry) -> Iterator[Content]:
        if not entry.keys:
            yield plain(entry.heading, theme.HEADING)
            return
        keys = (f"  {entry.keys:<{_KEYS - 2}}", theme.INFO)
        edge = _KEYS + (_TITLE if entry.title else 0)
        title = f"{entry.title:<{edge - _KEYS}}"
        is_narrow = bool(entry.title) and self._width < edge + _LEAST
        is_below = is_narrow or len(entry.title) >= _TITLE
        if is_below and self._width < _KEYS + len(entry.title):
            yield pieces(keys)
            yield plain(" " * _INDENT + entry.title)
            edge = _INDENT
        elif is_below:
            yield pieces(keys, entry.title)
            edge = _INDENT if is_narrow else edge
        for number, line in enumerate(wrap_words(entry.explanation, self._width - edge)):
            head = (keys, title) if number == 0 and not is_below else (" " * edge,)
            yield pieces(*head, (line, theme.MUTED))

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Content:
        """One line of an entry."""
        return self._rows[index][1]

    def anchor(self, index: int) -> object:
        """The entry."""
        return self._rows[index][0]

    def locate(self, anchor: object) -> int:
        """The first row of the entry."""
        return next((n for n, (entry, _) in enumerate(self._rows) if entry == anchor), 0)
