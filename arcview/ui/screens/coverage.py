"""A stage's contract and specification beside the code: what is there, and what drifted away."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.events import Resize
from textual.message import Message
from textual.types import CSSPathType
from textual.worker import get_current_worker

from arcview.errors import ArcviewError, CancelledError
from arcview.session.commands import Context
from arcview.session.coverage import ContractCoverage, CoveredItem, cover
from arcview.session.workspace_files import WorkspaceFiles
from arcview.text import Decoded, decode
from arcview.ui import theme
from arcview.ui.bindings import bindings
from arcview.ui.rows.coverage import CoverageRows, finding_remark
from arcview.ui.rows.file import FileRows
from arcview.ui.rows.text_view import TextRows
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.run_content import say
from arcview.ui.screens.run_titles import set_title
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.panes import ListPane
from arcview.ui.widgets.row_view import RowView

if TYPE_CHECKING:
    from arcview.ui.screens.run import RunScreen

_WIDE = 110
"""Columns from which on the code stands beside the items instead of below them."""


class Covered(Message):
    """The coverage of a stage, or why it is not known."""

    def __init__(self, found: ContractCoverage | None, error: str | None) -> None:
        super().__init__()
        self.found = found
        self.error = error


class CoverageScreen(BaseScreen):
    """The items of one stage's contract; the code follows the item under the cursor."""

    CSS_PATH: ClassVar[CSSPathType | None] = "coverage.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.COVERAGE)

    def __init__(self, below: RunScreen, stage: int) -> None:
        """Makes the screen.

        Args:
            below: The run screen.
            stage: Whose contract it is, 1-based.
        """
        super().__init__()
        self._below = below
        self._stage = stage
        self._rows: CoverageRows | None = None
        self._code: tuple[str, str] | None = None
        """State and file that are shown."""
        self.items = ListPane(id="items")
        self.code = ListPane(id="code")

    def compose(self) -> ComposeResult:
        """Items or text on the one side, code on the other."""
        with Container(id="beside"):
            yield self.items
            yield self.code
        yield HintBar()

    def on_mount(self) -> None:
        """Begins to look the items up."""
        set_title(self.items, pieces((f"Contract of stage {self._stage}", "bold")))
        set_title(self.code, pieces(("Code", "bold")))
        say(self.items, "… looking every item up in every state")
        self.items.focus()
        self._lay_out()
        self.show_hints()
        self._look()

    @property
    def context(self) -> Context:
        """The coverage of a contract."""
        return Context.COVERAGE

    @work(thread=True, exclusive=True, exit_on_error=False, group="cover", description="coverage")
    def _look(self) -> None:
        opened = self._below.opened
        try:
            opened.ensure_states()
            found, error = cover(opened, self._stage, WorkspaceFiles(opened)), None
        except CancelledError:
            return
        except ArcviewError as failed:
            found, error = None, str(failed)
        if not get_current_worker().is_cancelled:
            self.post_message(Covered(found, error))

    @on(Covered)
    def _covered(self, message: Covered) -> None:
        found = message.found
        if found is None:
            say(self.items, message.error or "not known")
            return
        self._rows = CoverageRows(found, found.end or (found.states or (None,))[-1])
        self.items.set_source(self._rows, cursor=self._rows.first)
        self._show_item()

    @on(RowView.CursorMoved, "#items")
    def _item_moved(self) -> None:
        self._show_item()

    def _show_item(self) -> None:
        rows = self._rows
        if rows is None or self.items.source is not rows:
            return
        title = (f"  {rows.summary()}", theme.MUTED)
        set_title(self.items, pieces((f"Contract of stage {self._stage}", "bold"), title))
        item = rows.at(self.items.cursor)
        if item is not None:
            self._show_code(item)
        elif not rows.has_items:
            say(self.code, "There is no item to look up in the code.")

    def _show_code(self, item: CoveredItem) -> None:
        rows = self._rows
        assert rows is not None
        finding, state = rows.finding(item), rows.state
        remark = finding_remark(finding, one_line(state or "?"))
        path = finding.path if finding is not None else None
        if path is None or state is None:
            self._code = None
            set_title(self.code, pieces(("Code", "bold"), (f"  {one_line(remark)}", theme.WARN)))
            say(self.code, remark)
            return
        set_title(
            self.code,
            pieces((one_line(path), "bold"), f" in {one_line(state)}", (f"  {one_line(remark)}",
            theme.MUTED)),
        )  # fmt: skip
        line = finding.line if finding is not None and finding.line is not None else 1
        if self._code != (state, path):
            self.code.set_source(FileRows(self._read(state, path), path))
            self._code = state, path
        source = self.code.source
        if isinstance(source, FileRows):
            self.code.move_to(source.row_of(line), "top")

    def _read(self, state: str, path: str) -> Decoded:
        data = self._below.opened.store.file(state, path)
        return decode(data or b"")

    # Keys

    @on(RowView.Picked)
    def _picked(self, message: RowView.Picked) -> None:
        """Opens the file at the line: there, enter goes on to the step that wrote it."""
        message.stop()
        if self._code is not None:
            source = self.code.source
            line = source.line_at(self.code.cursor) if isinstance(source, FileRows) else 1
            self._below.following().open.file(*self._code, line)

    def action_next_pane(self) -> None:
        """Items and code by turns."""
        (self.items if self.focused is self.code else self.code).focus()

    def action_previous_state(self) -> None:
        """Looks at the state before."""
        self._step_state(-1)

    def action_next_state(self) -> None:
        """Looks at the next state."""
        self._step_state(1)

    def _step_state(self, by: int) -> None:
        if self._rows is not None:
            self._rows.step_state(by)
            self.items.redraw_rows()
            self._show_item()

    def action_spec_text(self) -> None:
        """The specification in the place of the items, and back."""
        self._put_text("Specification", self._below.opened.spec(self._stage))

    def action_contract_text(self) -> None:
        """The contract as it is written in the place of the items, and back."""
        self._put_text("Contract as written", self._below.opened.contract(self._stage))

    def _put_text(self, name: str, text: str | None) -> None:
        if self.items.source is not self._rows and self._rows is not None:
            self.items.set_source(self._rows, cursor=self._rows.first)
            self._show_item()
        elif text is None:
            self.notice(f"{name.lower()}: none is recorded for stage {self._stage}")
        else:
            self.items.set_source(TextRows(text))
            set_title(self.items, pieces((f"{name} of stage {self._stage}", "bold")))

    def action_close(self) -> None:
        """Back to the run."""
        self.dismiss()

    def on_resize(self, event: Resize) -> None:
        """Beside each other where there is room."""
        del event
        self._lay_out()

    def _lay_out(self) -> None:
        self.set_class(self.app.size.width < _WIDE, "-narrow")
