"""One box that searches a whole run, and the hits below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Key
from textual.types import CSSPathType
from textual.widgets import Input

from arcview.session.commands import Context
from arcview.ui import theme
from arcview.ui.bindings import bindings
from arcview.ui.rows.notes import NoteRows
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.run_titles import set_title
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.panes import ListPane
from arcview.ui.widgets.row_view import RowView

if TYPE_CHECKING:
    from arcview.ui.screens.run_find import RunFind


_BEFORE = "enter searches every stage; ctrl+r takes the text as a regular expression"


class FindScreen(BaseScreen):
    """What is looked for and where it was found; it fills while one already moves in it."""

    CSS_PATH: ClassVar[CSSPathType | None] = "find.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.FIND)

    def __init__(self, find: RunFind) -> None:
        super().__init__()
        self._find = find
        self.box = Input(
            value=find.text,
            placeholder="find in steps, diffs, gate messages, specifications and logs",
            id="find",
            compact=True,
        )
        self.view = ListPane(id="hits")

    def compose(self) -> ComposeResult:
        """The box, the hits and the line of keys."""
        yield self.box
        yield self.view
        yield HintBar()

    def on_mount(self) -> None:
        """Shows what was found before, if anything."""
        self._find.changed = self._changed
        self._show()
        if self._find.has_hits:
            self.view.focus()
            self.call_after_refresh(self.view.move_to, self._find.at, "middle")
        else:
            self.box.focus()
        self.show_hints()

    def on_unmount(self) -> None:
        """The search goes on, for `n` and `N`."""
        if self._find.changed == self._changed:
            self._find.changed = None

    @property
    def context(self) -> Context:
        """Finding."""
        return Context.FIND

    def _show(self) -> None:
        self.view.set_source(self._find.rows if self._find.text else NoteRows(_BEFORE))
        self.view.mark(self._find.needle)
        self._title()

    def _changed(self) -> None:
        with self.view.keeping_place():
            pass
        self._title()

    def _title(self) -> None:
        find = self._find
        how = "regular expression" if find.is_regex else "literal"
        if not find.text:
            set_title(self.view, pieces(("Find", "bold"), (f"  {how}", theme.MUTED)))
            return
        going = " …" if find.is_running else ""
        set_title(
            self.view,
            pieces(
                ("Find ", "bold"),
                (one_line(find.text), "bold"),
                (f"  {find.rows.summary()}{going}  {how}", theme.MUTED),
            ),
        )

    @on(Input.Submitted, "#find")
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        self._start(is_regex=self._find.is_regex)
        if self._find.text:
            self.view.focus()

    def _start(self, *, is_regex: bool) -> None:
        refused = self._find.start(self.box.value, is_regex=is_regex)
        if refused is not None:
            self.notice(refused)
        self._show()

    @on(RowView.Picked)
    def _picked(self, message: RowView.Picked) -> None:
        message.stop()
        if message.index < len(self._find.rows.hits):
            self._find.go_to(message.index)

    def on_key(self, event: Key) -> None:
        """From the box, down leads to the hits and escape away."""
        if self.focused is not self.box:
            return
        if event.key in ("down", "tab"):
            event.stop()
            self.view.focus()
        elif event.key == "escape":
            event.stop()
            self.action_stop_or_close()

    def search_onward(self, direction: int) -> None:
        """To the next row: all of them are hits."""
        self.view.move_to(self.view.cursor + direction)

    def action_find_box(self) -> None:
        """Back to the box."""
        self.box.focus()

    def action_toggle_regex(self) -> None:
        """Searches again, with the text taken the other way."""
        self._start(is_regex=not self._find.is_regex)

    def action_stop_or_close(self) -> None:
        """Stops a search that is under way; without one, back."""
        if self._find.is_running:
            self._find.cancel()
            self._title()
            self.notice("stopped; what was found so far stays")
        else:
            self.dismiss()
