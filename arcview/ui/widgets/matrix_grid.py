"""The grid of the matrix: a row view in which left and right move between columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from arcview.session.commands import Context
from arcview.ui.bindings import widget_bindings
from arcview.ui.widgets.row_view import RowView


class MatrixGrid(RowView, inherit_bindings=False):
    """Gates by states."""

    BINDINGS: ClassVar[list[BindingType]] = widget_bindings(Context.ROWS)

    @dataclass
    class ColumnWanted(Message):
        """Left or right was pressed."""

        by: int

    def action_sideways_left(self) -> None:
        """To the column before."""
        self.post_message(self.ColumnWanted(-1))

    def action_sideways_right(self) -> None:
        """To the next column."""
        self.post_message(self.ColumnWanted(1))
