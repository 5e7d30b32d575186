"""Everybody's readings of one case beside each other, for settling it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.types import CSSPathType

from arcview.session.annotate import CaseChange
from arcview.session.annotate_rows import shown_readings, side_rows
from arcview.session.commands import Context
from arcview.ui import theme
from arcview.ui.bindings import bindings
from arcview.ui.rows.cases import SideRows
from arcview.ui.rows.figures import plural
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.run_titles import set_title
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.panes import ListPane

if TYPE_CHECKING:
    from arcview.ui.screens.annotate_run import RunAnnotate


class SidesScreen(BaseScreen):
    """A column an annotator; digits take a field over, `s` settles."""

    CSS_PATH: ClassVar[CSSPathType | None] = "annotate.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.SIDES)

    def __init__(self, annotate: RunAnnotate) -> None:
        super().__init__()
        self._annotate = annotate
        self._rows = SideRows((), ())
        self.view = ListPane(id="sides")

    def compose(self) -> ComposeResult:
        """The table and the line of keys."""
        yield self.view
        yield HintBar()

    def on_mount(self) -> None:
        """Shows what everybody says, at the first difference."""
        self._annotate.refresh()
        self._fill()
        self.view.move_to(self._rows.next_difference(0) or 1)
        self.view.focus()
        self.show_hints()

    @property
    def context(self) -> Context:
        """Settling."""
        return Context.SIDES

    def _fill(self) -> None:
        session = self._annotate.session
        case = session.case
        people = [r.annotator for r in shown_readings(session, case)] if case is not None else []
        before = self._rows.anchor(self.view.cursor)
        self._rows = SideRows(side_rows(session), people)
        self.view.set_source(self._rows)
        self.view.move_to(self._rows.locate(before))
        differ = sum(not side.agree for side in self._rows.sides)
        settled = case.adjudicated if case is not None else None
        by = f" · settled by {one_line(settled.annotator)}" if settled is not None else ""
        unit = one_line(self._annotate.unit or "no failing gate")
        set_title(
            self.view,
            pieces(
                (f"Side by side  {unit}", "bold"),
                (f"  {plural(differ, 'difference')}{by}", theme.MUTED),
            ),
        )

    def _done(self, change: CaseChange) -> None:
        self._annotate.say(change)
        self._fill()
        self.notice(change.notice)

    def action_adopt(self, number: int) -> None:
        """Takes the field under the cursor over from a column."""
        side = self._rows.at(self.view.cursor)
        people = self._rows.annotators
        if side is None or not side.paths:
            self.notice("this field cannot be taken over")
        elif not 0 < number <= len(people):
            self.notice(f"there is no column {number}")
        elif people[number - 1] == self._annotate.session.annotator:
            self.notice("that is what you say already")
        else:
            self._done(self._annotate.session.adopt(people[number - 1], side.paths))

    def action_adopt_all(self) -> None:
        """Takes everything over from the only other annotator."""
        own = self._annotate.session.annotator
        others = [who for who in self._rows.annotators if who != own]
        if len(others) != 1:
            self.notice("take over field by field: 1–9 name the column" if others
                        else "nobody else read this case")  # fmt: skip
        else:
            self._done(self._annotate.session.adopt(others[0]))

    def action_next_difference(self) -> None:
        """To the next field of which people say different things."""
        row = self._rows.next_difference(self.view.cursor)
        if row is None:
            self.notice("no other difference")
        else:
            self.view.move_to(row)

    def action_settle(self) -> None:
        """One's reading settles the case."""
        self._done(self._annotate.session.settle())

    def action_undo(self) -> None:
        """Takes the last change back."""
        self._done(self._annotate.session.undo())

    def action_close(self) -> None:
        """Back to where one came from."""
        self.dismiss()
