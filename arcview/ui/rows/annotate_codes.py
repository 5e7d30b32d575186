"""The labels of one field with their keys and what they mean. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from arcview.annotations.scheme import Field, is_short
from arcview.session.annotate_rows import CodeRow
from arcview.ui import theme
from arcview.ui.rows.lines import WrappedRows
from arcview.ui.rows.notes import wrap_words
from arcview.ui.safe import one_line, pieces


class CodeRows(WrappedRows):
    """One code after the other, each with its definition below."""

    def __init__(self, field: Field, codes: Sequence[CodeRow]) -> None:
        super().__init__(64)
        self.codes = tuple(codes)
        self._field = field
        self._lines: list[tuple[int, Content]] = []
        self._lay()

    def __len__(self) -> int:
        return len(self._lines)

    def row(self, index: int) -> Content:
        """One line."""
        return self._lines[index][1]

    def at(self, index: int) -> CodeRow | None:
        """The code that a row belongs to; null for what is said of the field."""
        at = self._lines[index][0] if 0 <= index < len(self._lines) else -1
        return self.codes[at] if at >= 0 else None

    def row_of(self, code: str | None) -> int:
        """The row of a code; of the first one where there is none such."""
        names = [one.code for one in self.codes]
        wanted = names.index(code) if code in names else 0
        return next((n for n, (at, _) in enumerate(self._lines) if at == wanted), 0)

    def next_code(self, index: int, by: int) -> int:
        """The row of the code after or before that of a row."""
        at = self._lines[index][0] if 0 <= index < len(self._lines) else 0
        wanted = max(0, min(len(self.codes) - 1, at + by))
        return next((n for n, (other, _) in enumerate(self._lines) if other == wanted), index)

    def anchor(self, index: int) -> object:
        """The code."""
        return self._lines[index][0]

    def locate(self, anchor: object) -> int:
        """Its first row."""
        return next((n for n, (at, _) in enumerate(self._lines) if at == anchor), 0)

    def _lay(self) -> None:
        help_lines = wrap_words(one_line(self._field.help), self._width - 2)
        self._lines = [
            (-1, pieces((f" {line}", theme.MUTED))) for line in help_lines if self._field.help
        ]
        self._lines += [(at, line) for at, one in enumerate(self.codes) for line in self._of(one)]

    def _of(self, one: CodeRow) -> Iterator[Content]:
        mark = "●" if one.chosen else " "
        proposed = "  ◇ suggested" if one.suggested else ""
        yield pieces(
            (f"{mark}", theme.PASS),
            (f"{one_line(one.key or ' ')} ", theme.INFO),
            (f"{one_line(one.code)} " if is_short(one.code) else "", theme.MUTED),
            (one_line(one.name), "bold" if one.chosen else ""),
            (proposed, theme.WARN),
        )
        for line in wrap_words(one_line(one.definition), self._width - 5):
            if line:
                yield pieces((f"    {line}", theme.MUTED))
