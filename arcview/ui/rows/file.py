"""A file of a state as rows: line numbers, syntax colours, and who wrote each line. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arcview.text import Decoded
from arcview.ui import theme
from arcview.ui.rows.diff_lines import ORIGIN_WIDTH
from arcview.ui.rows.lines import Cell
from arcview.ui.rows.text_view import TextRows
from arcview.ui.safe import plain


class FileRows(TextRows):
    """The lines of one file.

    Attributes:
        author: Gives the text left of a 1-based line; null hides that gutter.
    """

    def __init__(self, file: Decoded, path: str) -> None:
        notes = ("some bytes are not text",) if file.damaged else ()
        super().__init__(
            file.text, wrapped=False, numbered=True, terminal=False, path=path, notes=notes
        )
        self.author: Callable[[int], str] | None = None

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Who wrote it, the number, and the line."""
        cells = super().cells(index, width)
        if self.author is None:
            return cells
        label = self.author(self.line_at(index))
        gutter = plain(f" {label[:ORIGIN_WIDTH]:<{ORIGIN_WIDTH}} ", theme.MUTED)
        return (Cell(gutter, ORIGIN_WIDTH + 2), *cells)
