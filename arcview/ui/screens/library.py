"""The runs below a folder; fills while the folder is read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Key
from textual.message import Message
from textual.widgets import Input
from textual.worker import get_current_worker

from arcview.errors import ArcviewError
from arcview.session.commands import Context
from arcview.session.library import LibraryRow
from arcview.session.library_cache import scan_kept
from arcview.session.library_query import GroupKey, Query, QueryError, SortKey, parse_query
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


class FilterPrompt(Input):
    """The line in which a filter is typed; made when it is first needed."""

    def __init__(self) -> None:
        super().__init__(placeholder="agent:opus stage2:failed words", id="filter", compact=True)

    def on_blur(self) -> None:
        """Gives its line back to the key hints."""
        self.display = False


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
        self._fresh = False
        self._filter = ""
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
            for row in scan_kept(self._root, fresh=self._fresh):
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
        rows = self._rows
        said = [f"{rows.shown:,} shown"] if rows.shown != rows.count else []
        said += ["failing only"] if rows.failing_only else []
        said += [f"filter {one_line(self._filter)}"] if self._filter else []
        if rows.sort is not SortKey.PATH or rows.descending:
            said.append(f"by {rows.sort.value} {'↓' if rows.descending else '↑'}")
        said += [f"grouped by {rows.group.value}"] if rows.group is not GroupKey.NOTHING else []
        only = "".join(f" · {part}" for part in said)
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
        if row is None:
            return
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
        """Only runs with a failed gate (and those that cannot be read), and back."""
        with self.view.keeping_place():
            self._rows.show_failing_only(not self._rows.failing_only)
        self._title()

    def action_rescan(self) -> None:
        """Reads the folder again."""
        before, self._rows = self._rows, LibraryRows()
        self._rows.failing_only, self._rows.query = before.failing_only, before.query
        self._rows.sort, self._rows.descending = before.sort, before.descending
        self._rows.group, self._rows.marked = before.group, before.marked
        self._done, self._fresh = False, True
        self.view.set_source(self._rows)
        self._title()
        self._scan()

    # Comparing

    def action_mark_run(self) -> None:
        """Marks a run for comparing, or no more."""
        if not self._rows.mark(self.view.cursor):
            self.notice("only a run that can be read can be compared")
        self.view.redraw_rows()

    def action_compare_runs(self) -> None:
        """The two marked runs, or the marked one and that under the cursor."""
        paths = list(self._rows.marked)
        here = self._rows.at(self.view.cursor)
        if len(paths) == 1 and here is not None and here.path != paths[0]:
            paths.append(here.path)
        if len(paths) < 2:
            self.action_mark_run()
            self.notice("marked; = on another run compares the two")
            return
        from arcview.ui.screens.compare import CompareScreen

        a, b = (partial(self._open_run, path) for path in paths)
        self.app.push_screen(CompareScreen(a, b))

    # Labelling and statistics

    def action_work_list(self) -> None:
        """The failing gates of the runs that are shown."""
        from arcview.ui.screens.annotate_labels import ask_name, labels_of
        from arcview.ui.screens.cases_work import WorkScreen

        try:
            labels = labels_of(self.app)
        except ArcviewError as error:
            self.notice(str(error))
            return
        shown = self._rows.shown_paths
        only = None if len(shown) == self._rows.count else shown

        def push() -> None:
            self.app.push_screen(WorkScreen(self._root, self._open_run, labels, only))

        ask_name(self.app, labels, push)

    def action_statistics(self) -> None:
        """Figures over the runs that are shown."""
        from arcview.ui.screens.stats import StatsScreen

        shown = self._rows.shown_names
        self.app.push_screen(
            StatsScreen(self._root, None if len(shown) == self._rows.count else shown)
        )

    # Order and filter

    def action_sort_runs(self) -> None:
        """By the next key."""
        keys = list(SortKey)
        self._rows.sort = keys[(keys.index(self._rows.sort) + 1) % len(keys)]
        self._lay_again()

    def action_reverse_runs(self) -> None:
        """The other way round."""
        self._rows.descending = not self._rows.descending
        self._lay_again()

    def action_group_runs(self) -> None:
        """By the next key, or not at all."""
        keys = list(GroupKey)
        self._rows.group = keys[(keys.index(self._rows.group) + 1) % len(keys)]
        self._lay_again()

    def _lay_again(self) -> None:
        with self.view.keeping_place():
            self._rows.lay()
        self._title()

    def action_filter_runs(self) -> None:
        """Asks for words and fields; the list follows while one types."""
        prompts = self.query(FilterPrompt)
        prompt = prompts.first() if prompts else FilterPrompt()
        if not prompts:
            self.mount(prompt)
        prompt.display = True
        prompt.value = self._filter
        prompt.focus()

    @on(Input.Changed, "#filter")
    def _filter_typed(self, event: Input.Changed) -> None:
        event.stop()
        self._filter, said = event.value.strip(), ""
        try:
            self._rows.query = parse_query(event.value)
        except QueryError as error:
            self._rows.query, self._filter, said = Query(), "", str(error)
        self.notice(said)
        self._lay_again()

    @on(Input.Submitted, "#filter")
    def _filter_done(self, event: Input.Submitted) -> None:
        event.stop()
        self.view.focus()

    def on_key(self, event: Key) -> None:
        """Escape in the filter line drops the filter."""
        if event.key == "escape" and isinstance(self.focused, FilterPrompt):
            event.stop()
            self.focused.value = ""
            self.view.focus()
