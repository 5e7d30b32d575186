"""Short remarks in the place of rows: why there is nothing, what is being read. Pure."""

from __future__ import annotations

from textual.content import Content

from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows.lines import RowSource
from arcview.ui.safe import one_line, plain


class NoteRows(RowSource):
    """One remark, wrapped to the width of the view."""

    def __init__(self, text: str, style: str = theme.MUTED) -> None:
        self._text = one_line(text)
        self._style = style
        self._lines = [self._text]

    def __len__(self) -> int:
        return len(self._lines)

    def fit(self, width: int) -> bool:
        """Wraps anew."""
        lines = wrap_words(self._text, width)
        changed, self._lines = lines != self._lines, lines
        return changed

    def row(self, index: int) -> Content:
        """One line of it."""
        return plain(self._lines[index], self._style)


def wrap_words(text: str, width: int) -> list[str]:
    """Cuts cleaned text at blanks into lines that fit; a word longer than a line stays whole."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and cells(lines[-1]) + 1 + cells(word) <= max(1, width):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
