"""What every screen has: the line of keys, one-line notices, the search prompt, worker errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import App
from textual.binding import BindingType
from textual.events import Key
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from arcview.session.commands import Context
from arcview.session.commands_help import hints
from arcview.ui import clipboard
from arcview.ui.bindings import bindings
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.row_view import RowView

if TYPE_CHECKING:
    from arcview.session.copied import CopyPart


class SearchPrompt(Input):
    """The line in which a search is typed; made when it is first needed."""

    def __init__(self) -> None:
        super().__init__(placeholder="search", id="search", compact=True)

    def on_blur(self) -> None:
        """Gives its line back to the key hints."""
        self.display = False


class BaseScreen(Screen[None], inherit_bindings=False):
    """A screen whose keys come from the registry. Subclasses say which context they are."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.ROWS)
    AUTO_FOCUS = ""

    @property
    def context(self) -> Context:
        """Which commands apply now."""
        return Context.APP

    @property
    def rows_view(self) -> RowView | None:
        """The view that the keys act on."""
        return self.focused if isinstance(self.focused, RowView) else None

    def notice(self, text: str) -> None:
        """Says one line where the key hints are."""
        bars = self.query(HintBar)
        if bars:
            bars.first().notice(text)
        else:  # something failed while the screen is only coming up
            self.call_after_refresh(self.notice, text)

    def show_hints(self) -> None:
        """Lets the line of keys follow the context."""
        self.query_one(HintBar).set_hints(hints(self.context))

    def on_descendant_focus(self) -> None:
        """Another pane, other keys."""
        self.show_hints()

    def authors_known(self) -> None:
        """More is known of who wrote which line; for screens that show it."""

    # Searching

    def action_search(self) -> None:
        """Asks what to search for."""
        if self.rows_view is None:
            return
        self._searched: Widget = self.rows_view
        prompts = self.query(SearchPrompt)
        if prompts:
            prompt = prompts.first()
            prompt.display = True
            prompt.value = ""
            prompt.focus()
        else:
            prompt = SearchPrompt()
            self.mount(prompt)
            prompt.focus()

    @on(Input.Submitted, "#search")
    def _search_typed(self, event: Input.Submitted) -> None:
        event.stop()
        view = self._searched
        view.focus()
        if isinstance(view, RowView):
            view.search(event.value)

    def on_key(self, event: Key) -> None:
        """Escape leaves the prompt, or ends a search."""
        if event.key != "escape":
            return
        if isinstance(self.focused, SearchPrompt):
            event.stop()
            self._searched.focus()
        elif self.rows_view is not None and self.rows_view.needle is not None:
            event.stop()
            self.rows_view.clear_search()

    @on(RowView.Searched)
    def _search_ended(self, event: RowView.Searched) -> None:
        if event.index is None:
            self.notice(f"not found: {event.text}")
        elif event.wrapped:
            self.notice("the search went on from the other end")

    @on(RowView.OnwardWanted)
    def _onward_wanted(self, message: RowView.OnwardWanted) -> None:
        message.stop()
        self.search_onward(message.direction)

    def search_onward(self, direction: int) -> None:
        """To the next hit of a search through more than one pane, where there is one."""
        del direction
        self.notice("nothing is searched for; / asks for a text")

    # Taking something out

    def action_copy(self) -> None:
        """Copies the selection, or the row under the cursor."""
        selected = self.get_selected_text()
        if selected is None and self.rows_view is not None:
            selected = self.rows_view.cursor_text
        self.notice(clipboard.copy(self.app, selected or ""))

    def copied_part(self, part: CopyPart) -> str:
        """A part of the run under the cursor, as text to copy; empty where there is none."""
        del part
        return ""

    def action_copy_part(self, part: CopyPart) -> None:
        """Copies the address, the test's id, the message or the change under the cursor."""
        text = self.copied_part(part)
        if text:
            self.notice(clipboard.copy(self.app, text))
        else:
            from arcview.session.copied import NOTHING  # only who copies needs it

            self.notice(NOTHING[part])

    # Help

    def action_help(self) -> None:
        """Every key that applies here."""
        from arcview.ui.screens.help import help_screen

        self.app.push_screen(help_screen(self.context))

    # Workers

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A thread that failed unexpectedly becomes one line, not a traceback and not silence."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.worker_failed(event.worker.description, event.worker.error)

    def worker_failed(self, doing: str, error: BaseException) -> None:
        """Says that something did not work."""
        self.notice(f"{doing} failed: {type(error).__name__}: {error}")


def say_on_top(app: App[Any], text: str) -> None:
    """One line on whatever screen is up."""
    if isinstance(app.screen, BaseScreen):
        app.screen.notice(text)
