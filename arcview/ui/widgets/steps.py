"""The trajectory pane: steps that open in place, jumps by kind, search through everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.message import Message

from arcview.model.trajectory import LongSteps, Step, ToolCall, Trajectory
from arcview.ui.rows.lines import RowSource
from arcview.ui.rows.steps import StepRows
from arcview.ui.rows.steps_lines import Badge
from arcview.ui.rows.steps_parts import Jump
from arcview.ui.widgets.row_view import RowView

_MOST_OPENED = 100
"""How many steps of a session that is not held are opened at once: each has to be fetched."""


class StepsView(RowView):
    """Shows a trajectory: one row a step; enter opens it, enter on one of its lines picks that."""

    @dataclass
    class OpenedSome(Message):
        """There are too many steps to open all of them."""

        count: int

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002 -- Textual's own name
        classes: str | None = None,
    ) -> None:
        self._rows = StepRows(Trajectory(format=""), empty="")
        super().__init__(self._rows, id=id, classes=classes)

    # What it shows

    @property
    def rows(self) -> StepRows:
        """The rows it shows."""
        return self._rows

    @property
    def step(self) -> Step | None:
        """The step under the cursor."""
        return self._rows.step_at(self.cursor)

    @property
    def call(self) -> ToolCall | None:
        """The tool call under the cursor; on a header the first of the step."""
        return self._rows.call_at(self.cursor)

    @property
    def detail(self) -> str:
        """The whole part under the cursor as it came, for a pane of its own; not cleaned."""
        return self._rows.full_text(self.cursor)

    def show(
        self,
        trajectory: Trajectory,
        *,
        badges: Mapping[str, Badge] | None = None,
        empty: str = "No steps recorded",
        goes_on: bool = False,
    ) -> None:
        """Shows a trajectory, all steps closed.

        Args:
            trajectory: What the agent did.
            badges: Short remarks by tool-call key; the jump to tests goes to these calls.
            empty: What is said when there are no steps.
            goes_on: It goes on from the beginning that is shown: cursor and open steps stay.
        """
        before, rows = self._rows, StepRows(trajectory, badges=badges, empty=empty)
        step = before.step_at(self.cursor) if goes_on else None
        index = rows.index_of_key(step.key) if step is not None else None
        if index is None:
            self.set_source(rows, cursor=rows.first_row)
            return
        rows.fit(self.scrollable_content_region.width)
        rows.open_as(before)
        inside = self.cursor - before.row_of(before.step_index(self.cursor) or 0)
        top = self.cursor - self.scroll_offset.y
        self.set_source(rows, cursor=rows.row_of(index) + inside)
        self.scroll_to(y=max(0, self.cursor - top), animate=False, force=True)

    def set_badges(self, badges: Mapping[str, Badge]) -> None:
        """Shows other remarks on the same steps."""
        self._rows.set_badges(badges)
        self.redraw_rows()

    def set_source(self, source: RowSource, *, cursor: int = 0) -> None:
        """Shows other rows, such as a message; use `show` for a trajectory."""
        self._rows = source if isinstance(source, StepRows) else StepRows(Trajectory(format=""))
        super().set_source(source, cursor=cursor)

    def go_to(self, key: str, *, is_open: bool = True) -> bool:
        """Moves to the step or call with that key and opens it; false if there is none."""
        index = self._rows.index_of_key(key)
        if index is None:
            return False
        self.go_to_step(index, is_open=is_open)
        return True

    def go_to_part(self, names: Sequence[str], offset: int) -> None:
        """Moves on to a part of the step under the cursor, as an address names it."""
        from arcview.ui.rows.steps_places import row_of_part  # only who comes by an address

        index = self._rows.step_index(self.cursor)
        row = row_of_part(self._rows, index, names, offset) if index is not None else None
        if row is not None:
            self.move_to(row, "middle")

    def go_to_match(self, number: int) -> None:
        """Moves on to a match (0-based) of what is marked, within the step under the cursor."""
        needle, index = self.marked, self._rows.step_index(self.cursor)
        row: int | None = self.cursor
        if needle is None:
            return
        with self.keeping_place():
            for count in range(number + 1):
                start = (row or 0) + bool(count)
                row = next((r for r in self._rows.find(needle, start, 1) if r is not None), None)
                if row is None or self._rows.step_index(row) != index:
                    return
        if row is not None:
            self.move_to(row, "middle")

    def go_to_step(self, index: int, *, is_open: bool = False) -> None:
        """Moves to a step by its position in the trajectory."""
        with self.keeping_place():
            if is_open:
                self._rows.set_open((index,), is_open=True)
            else:
                self._rows.unfold((index,))
        self.move_to(self._rows.row_of(index), "top")

    def go_beside(self, index: int, other: StepsView) -> None:
        """Moves to a step, and to the line of the screen on which the other view's cursor is."""
        self.move_to(self._rows.row_of(index))
        line = other.cursor - other.scroll_offset.y
        self.scroll_to(y=max(0, self.cursor - line), animate=False, force=True)

    # Actions

    def action_pick(self) -> None:
        """Opens a step, or the folded lines under the cursor; on other lines it says `Picked`."""
        index = self._rows.step_index(self.cursor)
        if index is None:
            return
        if self.cursor == self._rows.row_of(index):
            self.toggle_step()
            return
        with self.keeping_place():
            opened = self._rows.open_part(self.cursor)
        if not opened:
            super().action_pick()

    def action_toggle_step(self) -> None:
        """Opens or closes the step under the cursor."""
        self.toggle_step()

    def toggle_step(self) -> None:
        """Opens or closes the step under the cursor; of folded notes it shows the single ones."""
        index = self._rows.step_index(self.cursor)
        if index is not None:
            with self.keeping_place():
                if self._rows.is_folded(index):
                    self._rows.unfold((index,))
                else:
                    self._rows.set_open((index,), is_open=not self._rows.is_open(index))

    def action_jump(self, kind: Jump, direction: int) -> None:
        """To the next or previous step of a kind."""
        row = self._rows.next_step(self.cursor, kind, direction)
        if row is not None:
            self.move_to(row, "top")

    def action_open_all(self) -> None:
        """Opens every step; of steps that are not held, those around the cursor."""
        steps = range(len(self._rows.steps))
        if isinstance(self._rows.steps, LongSteps) and len(steps) > _MOST_OPENED:
            at = self._rows.step_index(self.cursor) or 0
            first = max(0, min(at - _MOST_OPENED // 2, len(steps) - _MOST_OPENED))
            steps = steps[first : first + _MOST_OPENED]
            self.post_message(self.OpenedSome(len(steps)))
        with self.keeping_place():
            self._rows.set_open(steps, is_open=True)

    def action_close_all(self) -> None:
        """Closes every step."""
        with self.keeping_place():
            self._rows.close_all()
