"""The pane for what a gate prints: its end while it runs, the whole log afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType

from arcview.session.commands import Context
from arcview.session.live_output import Tail
from arcview.ui.bindings import widget_bindings
from arcview.ui.rows.rerun_output import LiveRows
from arcview.ui.widgets.log import TextPane


class OutputPane(TextPane, inherit_bindings=False):
    """Follows the end of the output until the cursor leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = widget_bindings(Context.ROWS)

    def follow(self, rows: LiveRows) -> None:
        """Shows what a job prints from now on."""
        self.set_source(rows)

    def take(self, rows: LiveRows, tail: Tail) -> None:
        """Shows what was printed since; the last line stays in view where the cursor is on it."""
        at_end = self.cursor >= len(rows) - 1
        with self.keeping_place():
            rows.replace(tail)
        if at_end:
            self.move_to(len(rows) - 1)

    def show_log(self, path: Path) -> None:
        """Shows a log that is complete, at its end."""
        self.show_file(path)
        self.move_to(len(self.source) - 1)
