"""What the matrix screen is set to: cell, columns, how many at once. Pure; knows no screen."""

from __future__ import annotations

from dataclasses import dataclass

from arcview.analysis.matrix import Cell, MatrixGate, MatrixState
from arcview.analysis.matrix_patterns import Pattern
from arcview.session.matrix import MatrixView

MOST_JOBS = 16


@dataclass(slots=True)
class MatrixSession:
    """The choices; the reference's columns are hidden until they are asked for."""

    gate: str | None = None
    """The row of the cursor."""
    state: str | None = None
    """The column of the cursor."""
    reference_revealed: bool = False
    telling_only: bool = False
    jobs: int = 2
    view: MatrixView | None = None

    def take(self, view: MatrixView) -> None:
        """Another reading of the matrix; the cursor stays in its cell."""
        self.view = view
        gates = [gate.gate for gate in view.table.gates]
        if self.gate not in gates:
            self.gate = gates[0] if gates else None
        if self.state in [state.id for state in view.table.states if state.is_reference]:
            self.reference_revealed = True
        ids = [state.id for state in self.states]
        if self.state not in ids:
            self.state = ids[-1] if ids else None

    @property
    def states(self) -> tuple[MatrixState, ...]:
        """The columns."""
        if self.view is None:
            return ()
        table = self.view.table
        return table.states if self.reference_revealed else table.line

    @property
    def column(self) -> int:
        """Position of the cursor's column."""
        return next((n for n, state in enumerate(self.states) if state.id == self.state), 0)

    def step_column(self, by: int) -> None:
        """To the next column, or the one before."""
        states = self.states
        if states:
            self.state = states[max(0, min(len(states) - 1, self.column + by))].id

    @property
    def row(self) -> MatrixGate | None:
        """The gate under the cursor."""
        gates = self.view.table.gates if self.view is not None else ()
        return next((gate for gate in gates if gate.gate == self.gate), None)

    @property
    def cell(self) -> Cell | None:
        """The cell under the cursor."""
        if self.view is None or self.gate is None or self.state is None:
            return None
        return self.view.table.cell(self.gate, self.state)

    def toggle_reference(self) -> str:
        """Shows the reference's columns or hides them; says what came of it."""
        if self.view is None or len(self.view.table.states) == len(self.view.table.line):
            return "this run has no reference states"
        self.reference_revealed = not self.reference_revealed
        if self.state not in [state.id for state in self.states]:
            self.state = self.states[-1].id if self.states else None
        return "the reference's states too" if self.reference_revealed else "without the reference"

    def change_jobs(self, by: int) -> None:
        """One more at once, or one less."""
        self.jobs = max(1, min(MOST_JOBS, self.jobs + by))

    def patterns(self) -> tuple[Pattern, ...]:
        """The tests of the gate under the cursor: those not ok in the cell, then telling ones."""
        gate, cell = self.row, self.cell
        if self.view is None or gate is None or cell is None:
            return ()
        listed = {test_id for _, test_id in gate.tests or ()}
        own = [p for p in self.view.patterns if p.id in listed or p.gate == gate.gate]
        if self.telling_only:
            own = [pattern for pattern in own if words_of(pattern)]

        def order(pattern: Pattern) -> tuple[bool, bool, bool]:
            test = cell.tests.get(pattern.id)
            is_bad = test is not None and test.ok is not True
            return not is_bad, pattern.gate != gate.gate, not words_of(pattern)

        return tuple(sorted(own, key=order))


def words_of(pattern: Pattern) -> tuple[str, ...]:
    """What is odd about a test over the states; empty where it does what it should."""
    words = []
    if pattern.never:
        words.append("never passes")
    if pattern.premature:
        words.append(f"premature in {', '.join(pattern.premature)}")
    if pattern.weak_on:
        words.append(f"weak: passes on {', '.join(pattern.weak_on)}")
    if pattern.late:
        words.append("late")
    flips = [("broken again", pattern.broken_again), ("healed", pattern.healed)]
    if pattern.late:  # it failed first, so that it was healed first
        flips.reverse()
    words.extend(f"{word} in {', '.join(states)}" for word, states in flips if states)
    if pattern.flaky:
        words.append(f"flaky in {', '.join(pattern.flaky)}")
    if pattern.not_applicable:
        words.append(f"reference fails it in {', '.join(pattern.not_applicable)}")
    return tuple(words)
