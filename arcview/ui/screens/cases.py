"""The cases of one run; enter opens one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Key
from textual.types import CSSPathType
from textual.widget import Widget
from textual.widgets import Input

from arcview.session.annotate_rows import case_rows
from arcview.session.commands import Context
from arcview.ui import theme
from arcview.ui.bindings import bindings
from arcview.ui.rows.cases import CaseListRows
from arcview.ui.rows.figures import plural
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.run_titles import set_title
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.panes import ListPane
from arcview.ui.widgets.row_view import RowView

if TYPE_CHECKING:
    from arcview.ui.screens.annotate_run import RunAnnotate


class FilePrompt(Input):
    """The line in which the name of a file is typed."""

    def __init__(self, doing: str, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, id="write", compact=True)
        self.doing = doing


class CasesScreen(BaseScreen):
    """What was labelled in one run, as far as it may be shown."""

    CSS_PATH: ClassVar[CSSPathType | None] = "annotate.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.CASES)

    def __init__(self, annotate: RunAnnotate) -> None:
        super().__init__()
        self._annotate = annotate
        self.view = ListPane(id="cases")

    def compose(self) -> ComposeResult:
        """The list and the line of keys."""
        yield self.view
        yield HintBar()

    def on_mount(self) -> None:
        """Shows the cases as they are on the disk now."""
        self._annotate.refresh()
        rows = self._fill()
        self.view.move_to(rows.locate(self._annotate.session.case_id))
        self.view.focus()
        self.show_hints()

    def on_screen_resume(self) -> None:
        """Something may have been settled meanwhile."""
        self._fill()

    def _fill(self) -> CaseListRows:
        session = self._annotate.session
        rows = CaseListRows(case_rows(session))
        row = rows.locate(self.view.source.anchor(self.view.cursor)) if len(rows) > 1 else 0
        self.view.set_source(rows, cursor=row)
        blind = "  blind" if session.blind else ""
        set_title(
            self.view,
            pieces(
                ("Cases of ", "bold"),
                (one_line(session.opened.run.chain.task_id), "bold"),
                (f"  {plural(len(rows.cases), 'case')}{blind}", theme.MUTED),
            ),
        )
        return rows

    @property
    def context(self) -> Context:
        """Cases."""
        return Context.CASES

    def _choose(self) -> bool:
        source = self.view.source
        row = source.at(self.view.cursor) if isinstance(source, CaseListRows) else None
        if row is None:
            self.notice("there is no case here")
            return False
        self._annotate.session.choose(row.case)
        return True

    @on(RowView.Picked)
    def _picked(self, message: RowView.Picked) -> None:
        message.stop()
        if self._choose():
            self.dismiss()
            self._annotate.screen.call_after_refresh(self._annotate.open_case)

    def action_undo(self) -> None:
        """Takes the last change back."""
        self._annotate.say(self._annotate.session.undo())
        self._fill()

    def action_sides(self) -> None:
        """What everybody says of the case."""
        if not self._choose():
            return
        if self._annotate.session.hidden:
            self.notice("make your own reading final first")
            return
        from arcview.ui.screens.cases_sides import SidesScreen

        self.app.push_screen(SidesScreen(self._annotate))

    def action_toggle_blind(self) -> None:
        """Hides what others and rules say, or shows it."""
        self._annotate.toggle_blind()
        self._fill()

    # Out and in

    def action_export_cases(self) -> None:
        """Asks for a file to write."""
        self._ask("export", "export to: name.jsonl, name.csv or name.md")

    def action_import_cases(self) -> None:
        """Asks for a file to read."""
        self._ask("import", "import from: name.jsonl or name.json")

    def _ask(self, doing: str, placeholder: str) -> None:
        self.query(FilePrompt).remove()
        prompt = FilePrompt(doing, placeholder)
        self.mount(prompt)
        prompt.focus()

    @on(Input.Submitted, "#write")
    def _named(self, event: Input.Submitted) -> None:
        event.stop()
        prompt, name = event.input, event.value.strip()
        assert isinstance(prompt, FilePrompt)
        self._end_asking(prompt)
        if not name:
            return
        from arcview.ui.screens.cases_files import take_in, take_out

        move = take_out if prompt.doing == "export" else take_in
        self.notice(f"… {prompt.doing}")
        self._annotate.run_on_files(lambda: move(self._annotate.session, name), self._moved)

    def _moved(self, said: str) -> None:
        self._annotate.screen.show_cases()
        if self.is_current:
            self._fill()
        self._annotate.notice(said)

    def _end_asking(self, prompt: Widget) -> None:
        prompt.remove()
        self.view.focus()

    def on_key(self, event: Key) -> None:
        """Escape leaves the prompt."""
        if event.key == "escape" and isinstance(self.focused, FilePrompt):
            event.stop()
            self._end_asking(self.focused)

    def action_close(self) -> None:
        """Back to the run."""
        self.dismiss()
