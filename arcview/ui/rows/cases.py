"""Lists of cases: those of one run, the work list, and everybody's readings beside each other.

Pure. What must stay hidden while labelling blind never gets here.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from arcview.session.annotate_rows import CaseRow, SideRow
from arcview.session.annotate_worklist import Progress, WorkItem
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows.figures import fit, plural
from arcview.ui.rows.lines import Cell, RowSource, WrappedRows
from arcview.ui.rows.notes import wrap_words
from arcview.ui.safe import one_line, pieces, plain

_STATUS = {
    "draft": ("◐ draft", theme.WARN),
    "final": ("● final", theme.PASS),
    "adjudicated": ("◆ settled", theme.PASS),
    "retracted": ("– retracted", theme.MUTED),
    "skipped": ("– skipped", theme.MUTED),
}
PROGRESS_MARK = {
    Progress.OPEN: ("○ open", ""),
    Progress.DRAFT: ("◐ draft", theme.WARN),
    Progress.DONE: ("● done", theme.PASS),
    Progress.SKIPPED: ("– skipped", theme.MUTED),
}
_MARK = 12


class CaseListRows(RowSource):
    """One row a case: about which gate, how far, what it says, who read it."""

    def __init__(self, cases: Sequence[CaseRow]) -> None:
        self.cases = tuple(cases)

    def __len__(self) -> int:
        return len(self.cases) or 1

    def at(self, index: int) -> CaseRow | None:
        """The case of a row."""
        return self.cases[index] if index < len(self.cases) else None

    def anchor(self, index: int) -> object:
        """Id of the case."""
        found = self.at(index)
        return found.case if found is not None else None

    def locate(self, anchor: object) -> int:
        """Its row now."""
        return next((n for n, one in enumerate(self.cases) if one.case == anchor), 0)

    def row(self, index: int) -> Content:
        """The row without its columns."""
        return Content("").join([cell.content for cell in self.cells(index, 160)])

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Status, gate, validity, origin, and whose readings there are."""
        one = self.at(index)
        if one is None:
            said = "No case yet: a on a test, a line or a step begins one."
            return (Cell(plain(said, theme.MUTED)),)
        mark, style = _STATUS.get(one.status or "", ("○ not mine", theme.MUTED))
        hand = "▸" if one.in_hand else " "
        unit = fit(one_line(one.unit or "no gate"), 12, pad=True)
        people = ", ".join(map(one_line, one.annotators))
        settled = f" · settled by {one_line(one.settled_by)}" if one.settled_by else ""
        room = min(36, max(8, width // 4))
        return (
            Cell(pieces((hand, theme.INFO), (fit(mark, _MARK, pad=True), style)), _MARK + 1),
            Cell(plain(f"{unit} ", "bold"), 13),
            Cell(plain(fit(one_line(one.validity), 24)), 25),
            Cell(plain(one_line(one.origin)), scrolls=True),
            Cell(plain(fit(people + settled, room), theme.MUTED), room),
        )


class WorkRows(RowSource):
    """One row a gate that is to be labelled."""

    def __init__(self, items: Sequence[WorkItem]) -> None:
        self.items = items
        self._name = max((cells(one_line(item.name)) for item in items), default=4)
        self._others = any(item.others for item in items)

    def __len__(self) -> int:
        return len(self.items) or 1

    def at(self, index: int) -> WorkItem | None:
        """The gate of a row."""
        return self.items[index] if index < len(self.items) else None

    def anchor(self, index: int) -> object:
        """Run and gate."""
        item = self.at(index)
        return None if item is None else (item.path, item.gate)

    def locate(self, anchor: object) -> int:
        """Its row now."""
        keys = ((item.path, item.gate) for item in self.items)
        return next((n for n, key in enumerate(keys) if key == anchor), 0)

    def row(self, index: int) -> Content:
        """The row without its columns."""
        return Content("").join([cell.content for cell in self.cells(index, 160)])

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Progress, run, gate, who ran it, how much fails, how many others are done."""
        item = self.at(index)
        if item is None:
            return (Cell(plain("No failing gate is to be labelled.", theme.MUTED)),)
        mark, style = PROGRESS_MARK[item.progress]
        name = min(self._name + 2, max(16, width // 2))
        gate = "chain" if item.gate == "chain" else f"stage {item.gate}"
        who = " · ".join(one_line(part) for part in (item.agent, item.model) if part)
        others = plural(item.others, "other") if item.others else ""
        return (
            Cell(plain(f" {mark}", style), _MARK),
            Cell(plain(fit(one_line(item.name), name - 1)), name),
            Cell(plain(fit(one_line(gate), 10), "bold"), 11),
            Cell(plain(f"{item.failing} failing".rjust(12), theme.MUTED), 13),
            Cell(plain(one_line(who), theme.MUTED), scrolls=True),
            *((Cell(plain(others, theme.INFO), 10),) if self._others else ()),
        )


class SideRows(WrappedRows):
    """A row a field, a column an annotator; where people differ is marked."""

    def __init__(self, rows: Sequence[SideRow], annotators: Sequence[str]) -> None:
        super().__init__(80)
        self.sides = tuple(rows)
        self.annotators = tuple(annotators)
        self._lines: list[tuple[int, tuple[str, ...]]] = []
        self._lay()

    def __len__(self) -> int:
        return len(self._lines) + 1

    def at(self, index: int) -> SideRow | None:
        """The field of a row; null for the heading."""
        return self.sides[self._lines[index - 1][0]] if 0 < index <= len(self._lines) else None

    def next_difference(self, index: int) -> int | None:
        """The next row, round and round, of which people say different things."""
        order = [*range(index + 1, len(self)), *range(1, index + 1)]
        here = self.at(index)
        return next(
            (n for n in order if (s := self.at(n)) is not None and not s.agree and s is not here),
            None,
        )

    def anchor(self, index: int) -> object:
        """Title of the field."""
        found = self.at(index)
        return found.title if found is not None else None

    def locate(self, anchor: object) -> int:
        """Its first row now."""
        for number, (at, _) in enumerate(self._lines):
            if self.sides[at].title == anchor:
                return number + 1
        return 0

    @property
    def _column(self) -> int:
        names = max(1, len(self.annotators))
        return max(12, (self._width - self._head) // names)

    @property
    def _head(self) -> int:
        return min(28, max(14, self._width // 4))

    def _lay(self) -> None:
        self._lines = []
        for at, side in enumerate(self.sides):
            texts = [side.texts.get(who, "") for who in self.annotators]
            columns = [wrap_words(one_line(text), self._column - 2) for text in texts]
            height = max(map(len, columns), default=1)
            self._lines += [
                (at, tuple(column[n] if n < len(column) else "" for column in columns))
                for n in range(height)
            ]

    def row(self, index: int) -> Content:
        """The row without its columns."""
        return Content("").join([cell.content for cell in self.cells(index, self._width)])

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """The field, and what each says of it."""
        del width
        column = self._column
        if index == 0:
            names = [
                pieces((f"{n} ", theme.INFO), (fit(one_line(who), column - 3), "bold"))
                for n, who in enumerate(self.annotators, 1)
            ]
            head = Cell(plain(""), self._head, style=theme.HEADING_LINE)
            return (head, *(Cell(name, column, style=theme.HEADING_LINE) for name in names))
        at, texts = self._lines[index - 1]
        side = self.sides[at]
        first = index < 2 or self._lines[index - 2][0] != at
        mark = "  " if side.agree else "≠ "
        title = fit(one_line(side.title), self._head - 3)
        left = pieces((mark, theme.WARN), (title, theme.MUTED)) if first else plain("")
        style = "" if side.agree else theme.WARN
        cells_ = [Cell(plain(fit(text, column - 1), style), column) for text in texts]
        return (Cell(left, self._head), *cells_)
