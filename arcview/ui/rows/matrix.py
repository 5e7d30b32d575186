"""The matrix as rows: gates by states above, the tests of one gate by states below. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from textual.content import Content

from arcview.analysis.matrix import Cell as MatrixCell
from arcview.analysis.matrix import MatrixGate
from arcview.analysis.matrix_patterns import Pattern, cell_test
from arcview.session.matrix_session import MatrixSession, words_of
from arcview.text import cells as width_of
from arcview.ui import theme
from arcview.ui.rows.figures import fit, fit_test_name
from arcview.ui.rows.lines import Cell, RowSource
from arcview.ui.rows.matrix_cells import CellText, cell_facts, cell_text, test_mark
from arcview.ui.rows.notes import wrap_words
from arcview.ui.safe import one_line, pieces, plain

_NARROW = 5
_RUNNING = CellText("▸", "runs", "", theme.INFO)
_QUEUED = CellText("…", "", "", theme.INFO)


class MatrixRows(RowSource):
    """A line with the states, then a row a gate."""

    def __init__(self, session: MatrixSession, titles: Mapping[str, str]) -> None:
        """Makes the rows.

        Args:
            session: What is chosen, and the matrix.
            titles: Gate → what its stage is called.
        """
        self._session = session
        self._titles = titles
        self.running: frozenset[tuple[str, str]] = frozenset()
        self.queued: frozenset[tuple[str, str]] = frozenset()

    @property
    def _gates(self) -> tuple[MatrixGate, ...]:
        view = self._session.view
        return view.table.gates if view is not None else ()

    def __len__(self) -> int:
        return 1 + len(self._gates)

    def gate_at(self, index: int) -> str | None:
        """The gate of a row; of the line with the states, the first one."""
        gates = self._gates
        return gates[max(0, min(len(gates), index) - 1)].gate if gates else None

    def row_of(self, gate: str | None) -> int:
        """The row of a gate."""
        return next((n for n, one in enumerate(self._gates, 1) if one.gate == gate), 0)

    def anchor(self, index: int) -> object:
        """The gate of the row."""
        return self.gate_at(index)

    def locate(self, anchor: object) -> int:
        """The row of that gate."""
        return self.row_of(anchor if isinstance(anchor, str) else None)

    def row(self, index: int) -> Content:
        """The row without its columns."""
        return Content(" ").join([cell.content for cell in self.cells(index, 120)])

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """The gate, then its cells, as many of them as there is room for."""
        label = self._label_width(width)
        shown, room = self._columns(width - label)
        if index == 0:
            head = [self._state_name(column, room) for column in shown]
            return (Cell(Content(""), label), Cell(pieces(*head), scrolls=True))
        gate = self._gates[index - 1]
        title = self._titles.get(gate.gate, "")
        name = fit(one_line(f" {gate.gate} {title}"), label - 1)
        parts = [self._cell(gate.gate, column, room) for column in shown]
        return (Cell(plain(name), label), Cell(pieces(*parts), scrolls=True))

    def _label_width(self, width: int) -> int:
        longest = max((width_of(f"{g} {t}") for g, t in self._titles.items()), default=0)
        return max(7, min(longest + 3, width // 5))

    def _columns(self, width: int) -> tuple[range, int]:
        """Which columns are shown, and how wide each is."""
        states = self._session.states
        count = max(1, len(states))
        view = self._session.view
        texts = (
            [cell_text(view.table.cell(g.gate, s.id)).fit(99) for g in self._gates for s in states]
            if view is not None
            else []
        )
        wide = max([_NARROW, *(len(text) + 2 for text in texts), *(len(s.id) + 2 for s in states)])
        room = min(wide, max(_NARROW, width // count))
        if room < wide and room < max((len(text) + 2 for text in texts), default=0):
            room = max(_NARROW, min(room, 8))
        fits = max(1, width // room)
        first = max(0, min(self._session.column - fits + 2, len(states) - fits))
        return range(first, min(len(states), first + fits)), room

    def _state_name(self, column: int, room: int) -> tuple[str, str]:
        state = self._session.states[column]
        name = fit(one_line(state.id), room - 1)
        is_here = column == self._session.column
        return f" {name}".ljust(room), f"bold {theme.INFO}" if is_here else theme.MUTED

    def _cell(self, gate: str, column: int, room: int) -> tuple[str, str]:
        view, state = self._session.view, self._session.states[column].id
        assert view is not None
        text = cell_text(view.table.cell(gate, state))
        if (gate, state) in self.running:
            text = _RUNNING
        elif (gate, state) in self.queued:
            text = _QUEUED
        is_here = gate == self._session.gate and column == self._session.column
        shown = text.fit(room - 1)
        if is_here:
            return f"[{shown}]".ljust(room), f"bold reverse {text.style}"
        return f" {shown}".ljust(room), text.style


class MatrixTestRows(RowSource):
    """What is said of the cell under the cursor, then a row a test of its gate over the states."""

    def __init__(self, session: MatrixSession) -> None:
        self._session = session
        self._width = 80
        self._facts: tuple[tuple[str, str], ...] = ()
        self._patterns: tuple[Pattern, ...] = ()
        self.refresh()

    def refresh(self) -> None:
        """Follows the cursor and the choices."""
        cell = self._session.cell
        self._facts = tuple(self._said(cell)) if cell is not None else ()
        self._patterns = self._session.patterns()

    def fit(self, width: int) -> bool:
        """Wraps what is said."""
        before, self._width = len(self), width
        self.refresh()
        return before != len(self)

    def _said(self, cell: MatrixCell) -> Iterator[tuple[str, str]]:
        for text, style in (*cell_facts(cell, self._hindrance()), *self._of_gate(cell)):
            for line in wrap_words(text, max(20, self._width - 2)):
                yield line, style

    def _hindrance(self) -> str | None:
        """Why the cell under the cursor cannot be run; null where it may be."""
        gate, states = self._session.row, self._session.states
        if gate is None or gate.overlay is None:
            return "how it is run is not recorded"
        return None if states[self._session.column].tree else "its files are not recorded"

    def _of_gate(self, cell: MatrixCell) -> Iterator[tuple[str, str]]:
        view = self._session.view
        if view is None:
            return
        if cell.gate in view.controls:
            why = one_line(view.controls[cell.gate])
            yield f"▲ reruns of this gate are not believed: {why}", theme.WARN
        elif cell.gate in view.unprobed:
            yield "no control of this gate was made yet: x makes it", theme.MUTED
        for found in view.regressions:
            if found.end == cell.state and cell.gate == str(found.stage):
                counts = (
                    (len(found.regressed), "broken by this stage"),
                    (len(found.inherited), "inherited"),
                    (len(found.unclear), "unclear"),
                )
                said = ", ".join(f"{number} {word}" for number, word in counts if number)
                if said:
                    yield f"earlier behaviour that fails here: {said}", theme.WARN

    def __len__(self) -> int:
        return len(self._facts) + bool(self._patterns) + len(self._patterns)

    @property
    def first_test(self) -> int:
        """The row of the first test."""
        return min(len(self) - 1, len(self._facts) + 1) if self._patterns else 0

    def test_at(self, index: int) -> str | None:
        """Id of the test of a row."""
        place = index - len(self._facts) - 1
        return self._patterns[place].id if 0 <= place < len(self._patterns) else None

    def anchor(self, index: int) -> object:
        """The test of the row, or its place above the tests."""
        return self.test_at(index) or index

    def locate(self, anchor: object) -> int:
        """The row of that test."""
        if isinstance(anchor, int):
            return min(anchor, max(0, len(self) - 1))
        names = [pattern.id for pattern in self._patterns]
        return len(self._facts) + 1 + names.index(anchor) if anchor in names else 0

    def text(self, index: int, lane: int = 0) -> str:
        """A test's full id, or the line."""
        del lane
        test = self.test_at(index)
        return test if test is not None else self.row(index).plain

    def row(self, index: int) -> Content:
        """The row without its columns."""
        return Content(" ").join([cell.content for cell in self.cells(index, 120)])

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """The test, what it did in every state, and what is odd about that."""
        if index < len(self._facts):
            text, style = self._facts[index]
            return (Cell(plain(f" {text}", style), scrolls=True),)
        states = self._session.states
        room = max(3, min(6, (width // 2) // max(1, len(states))))
        shown = self._shown(width // 2 // room)
        marks = room * len(shown)
        place = index - len(self._facts) - 1
        if place < 0:
            names = pieces(*(self._name(column, room) for column in shown))
            head = Cell(plain(" test", theme.MUTED), scrolls=True)
            return (head, Cell(names, marks))
        pattern = self._patterns[place]
        words = "; ".join(words_of(pattern))
        left = width - marks
        room_for_words = min(width_of(words) + 3, left // 2)
        name = fit_test_name(one_line(pattern.id), max(16, left - room_for_words))
        said = fit(one_line(words), max(0, left - width_of(name) - 3))
        label = pieces(f" {name}", (f"  {said}", theme.WARN))
        found = pieces(*(self._mark(pattern, column, room) for column in shown))
        return (Cell(label, scrolls=True), Cell(found, marks))

    def _shown(self, fits: int) -> range:
        count = len(self._session.states)
        first = max(0, min(self._session.column - fits + 2, count - fits))
        return range(first, min(count, first + max(1, fits)))

    def _name(self, column: int, room: int) -> tuple[str, str]:
        name = one_line(self._session.states[column].id)
        if width_of(name) > room - 1:
            # `S3` fits; a state between two stages has no room for its name, but for its sign.
            name = fit(name, room - 1) if room > 4 else "◇"
        is_here = column == self._session.column
        return f"{name} ".rjust(room), f"bold {theme.INFO}" if is_here else theme.MUTED

    def _mark(self, pattern: Pattern, column: int, room: int) -> tuple[str, str]:
        view, gate = self._session.view, self._session.row
        assert view is not None
        assert gate is not None
        test = cell_test(view.table, gate, self._session.states[column], pattern.id)
        mark, style = test_mark(test)
        return f"{mark} ".rjust(room), style
