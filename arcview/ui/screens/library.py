"""The runs below a folder; fills while the folder is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.worker import get_current_worker

from arcview.errors import ArcviewError
from arcview.session.commands import Context
from arcview.session.library import LibraryRow, scan
from arcview.session.opened import OpenRun
from arcview.ui import theme
from arcview.ui.bindings import bindings
from arcview.ui.rows.figures import plural
from arcview.ui.rows.library import LibraryRows
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.run_titles import set_title
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.panes import ListPane
from arcview.ui.widgets.row_view import RowView

Open = Callable[[Path], OpenRun]
_BATCH_S = 0.05


class RunsFound(Message):
    """Some more rows; the last message says that there are no more."""

    def __init__(self, rows: tuple[LibraryRow, ...], *, done: bool, error: str | None = None):
        super().__init__()
        self.rows = rows
        self.done = done
        self.error = error


class RunOpened(Message):
    """A picked run is open, or why it cannot be opened."""

    def __init__(self, path: Path, opened: OpenRun | None, error: str | None) -> None:
        super().__init__()
        self.path = path
        self.opened = opened
        self.error = error


class LibraryScreen(BaseScreen):
    """A list of runs; enter opens one, backspace on that one comes back to its row."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.LIBRARY)

    def __init__(self, root: Path, open_run: Open) -> None:
        """Makes the screen.

        Args:
            root: The folder.
            open_run: Opens one run; called in a thread.
        """
        super().__init__()
        self._root = root
        self._open_run = open_run
        self._rows = LibraryRows()
        self._done = False
        self.view = ListPane(id="runs")

    def compose(self) -> ComposeResult:
        """The list and the line of keys."""
        yield self.view
        yield HintBar()

    def on_mount(self) -> None:
        """Begins to read the folder."""
        self.view.set_source(self._rows)
        self.view.focus()
        self._title()
        self.show_hints()
        self._scan()

    @property
    def context(self) -> Context:
        """A list of runs."""
        return Context.LIBRARY

    @work(thread=True, exclusive=True, exit_on_error=False, group="scan", description="listing")
    def _scan(self) -> None:
        worker = get_current_worker()
        batch: list[LibraryRow] = []
        posted = monotonic()
        try:
            for row in scan(self._root):
                if worker.is_cancelled:
                    return
                batch.append(row)
                if monotonic() - posted > _BATCH_S:
                    self.post_message(RunsFound(tuple(batch), done=False))
                    batch, posted = [], monotonic()
        except ArcviewError as error:
            self.post_message(RunsFound(tuple(batch), done=True, error=str(error)))
            return
        self.post_message(RunsFound(tuple(batch), done=True))

    @on(RunsFound)
    def _runs_found(self, message: RunsFound) -> None:
        with self.view.keeping_place():
            self._rows.add(message.rows)
        self._done = message.done
        self._title()
        if message.error:
            self.notice(message.error)
        elif message.done and not self._rows.count:
            self.notice(f"no run below {self._root}")

    def _title(self) -> None:
        going = "" if self._done else " …"
        counted = f"{plural(self._rows.count, 'run')}{going}"
        only = f", failing: {len(self._rows)}" if self._rows.failing_only else ""
        title = pieces(
            ("Runs below ", "bold"),
            (one_line(str(self._root)), "bold"),
            (f"  {counted}{only}", theme.MUTED),
        )
        set_title(self.view, title)

    @on(RowView.Picked)
    def _picked(self, message: RowView.Picked) -> None:
        message.stop()
        row = self._rows.at(message.index)
        if row.error is not None:
            self.notice(row.error)
            return
        self.notice(f"opening {row.name} …")
        self._open(row.path)

    @work(thread=True, exclusive=True, exit_on_error=False, group="open", description="opening")
    def _open(self, path: Path) -> None:
        try:
            self.post_message(RunOpened(path, self._open_run(path), None))
        except ArcviewError as error:
            self.post_message(RunOpened(path, None, str(error)))

    @on(RunOpened)
    def _run_opened(self, message: RunOpened) -> None:
        if message.opened is None:
            self.notice(message.error or "it cannot be opened")
            return
        from arcview.ui.screens.run import RunScreen

        self.notice("")
        path = message.path
        screen = RunScreen(message.opened, lambda: self._open_run(path), returns=True)
        self.app.push_screen(screen)

    def action_failed_runs_only(self) -> None:
        """Leaves out the runs whose gates all passed, and back."""
        with self.view.keeping_place():
            self._rows.show_failing_only(not self._rows.failing_only)
        self._title()

    def action_rescan(self) -> None:
        """Reads the folder again."""
        self._rows = LibraryRows()
        self._done = False
        self.view.set_source(self._rows)
        self._title()
        self._scan()
