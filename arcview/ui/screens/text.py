"""A text on a screen of its own: a test's whole failure, a log, a specification, a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from arcview.session.commands import Context
from arcview.session.commands_help import hints
from arcview.ui.bindings import bindings
from arcview.ui.rows.lines import RowSource
from arcview.ui.rows.sections import SectionRows
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.run_titles import set_title
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.panes import ListPane
from arcview.ui.widgets.row_view import RowView

if TYPE_CHECKING:
    from arcview.model.results import GateTest
    from arcview.session.address import Address
    from arcview.session.copied import CopyPart

Follow = Callable[[int], None]
"""Told which row was picked; pops the screen itself if it leads elsewhere."""


class TextScreen(BaseScreen):
    """Shows rows until one goes back."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.TEXT)

    def __init__(
        self,
        title: Content,
        rows: RowSource,
        *,
        follow: Follow | None = None,
        cursor: int = 0,
        context: Context = Context.TEXT,
    ) -> None:
        """Makes the screen.

        Args:
            title: What stands in the border.
            rows: What is shown.
            follow: What enter does; nothing without it.
            cursor: Row to begin at.
            context: What kind of screen it is.
        """
        super().__init__()
        self._title = title
        self._rows = rows
        self._follow = follow
        self.cursor = cursor
        """Row to begin at."""
        self._where = context
        self.onward: Callable[[int], None] | None = None
        """Goes to the next hit of a search through the whole run."""
        self.annotate: Callable[[int, bool], None] | None = None
        """Notes a row for a case; true only begins a range there."""
        self.place: Callable[[int], Address | None] | None = None
        """What an address calls a row."""
        self.edit: Callable[[int], bool] | None = None
        """Opens the file that a row is of or leads to in the editor; false where there is none."""
        self.test: GateTest | None = None
        """The test whose failure it is."""
        self.view = ListPane(id="text")

    def compose(self) -> ComposeResult:
        """The text and the line of keys."""
        yield self.view
        yield HintBar()

    def on_mount(self) -> None:
        """Shows the text."""
        set_title(self.view, self._title)
        self.view.focus()
        self.view.set_source(self._rows)
        if self.cursor and len(self._rows):
            # Wrapped rows have their numbers only after the width is known.
            self.call_after_refresh(self._go, self._rows.anchor(self.cursor))
        self.show_hints()

    def _go(self, anchor: object) -> None:
        self.view.move_to(self._rows.locate(anchor), "top")

    def show_hints(self) -> None:
        """The keys that do something with this text."""
        idle = {"annotate"} if self.annotate is None else set()
        idle |= {"open"} if self._follow is None else set()
        shown = tuple(hint for hint in hints(self.context) if hint[1] not in idle)
        self.query_one(HintBar).set_hints(shown)

    @property
    def context(self) -> Context:
        """A text, or a choice."""
        return self._where

    @on(RowView.Picked)
    def _picked(self, message: RowView.Picked) -> None:
        message.stop()
        if self._follow is not None:
            self._follow(message.index)

    def search_onward(self, direction: int) -> None:
        """To the next hit, wherever that is."""
        if self.onward is not None:
            self.onward(direction)
        else:
            super().search_onward(direction)

    def action_next_section(self) -> None:
        """To the next heading."""
        self._step_section(1)

    def action_previous_section(self) -> None:
        """To the heading before."""
        self._step_section(-1)

    def _step_section(self, by: int) -> None:
        rows = self.view.source
        row = rows.next_section(self.view.cursor, by) if isinstance(rows, SectionRows) else None
        if row is None:
            self.notice("no section further on" if by > 0 else "no section before")
        else:
            self.view.move_to(row)

    def action_annotate(self) -> None:
        """Starts a case with what is under the cursor, or adds it to the one in hand."""
        self._annotate(False)

    def action_begin_range(self) -> None:
        """One end of a range of lines."""
        self._annotate(True)

    def _annotate(self, begins: bool) -> None:
        if self.annotate is None:
            self.notice("this text is no place of the run that a label can point at")
        else:
            self.annotate(self.view.cursor, begins)

    def copied_part(self, part: CopyPart) -> str:
        """The address of the row, or the id or message of the test that is shown."""
        from arcview.session.copied import part_of_tests  # only who copies needs it

        if part == "address":
            address = self.place(self.view.cursor) if self.place is not None else None
            return str(address) if address is not None else ""
        return part_of_tests([self.test] if self.test is not None else [], part)

    def action_open_in_editor(self) -> None:
        """The file that the row leads to, in the editor."""
        if self.edit is None or not self.edit(self.view.cursor):
            self.notice("this line leads to no file of the workspace")

    def action_close(self) -> None:
        """Back to where one came from."""
        self.dismiss()
