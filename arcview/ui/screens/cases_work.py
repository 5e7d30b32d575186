"""The work list: the failing gates of many runs that are to be labelled, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.types import CSSPathType

from arcview.errors import ArcviewError
from arcview.session.annotate_worklist import (
    Progress,
    Which,
    WorkFilter,
    WorkItem,
    WorkList,
    collect_work,
)
from arcview.session.commands import Context
from arcview.session.opened import OpenRun
from arcview.session.run_session_address import destination, parse_address
from arcview.session.run_session_stops import stops_of
from arcview.ui import theme
from arcview.ui.bindings import bindings
from arcview.ui.rows.cases import WorkRows
from arcview.ui.rows.figures import plural
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.base import BaseScreen, say_on_top
from arcview.ui.screens.run_content import say
from arcview.ui.screens.run_titles import set_remark, set_title
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.panes import ListPane
from arcview.ui.widgets.row_view import RowView

if TYPE_CHECKING:
    from arcview.ui.screens.annotate_labels import Labels
    from arcview.ui.screens.annotate_run import RunAnnotate

_SAMPLES = (None, 10, 20, 50, 100)
_WHICH = {
    Which.FAILING: "failing gates",
    Which.FIRST: "first failing gate of each run",
    Which.FIRST_STAGE: "failing gates of runs whose first stage failed",
    Which.AFTER_FAILURE: "failing gates after a failed stage",
}


class WorkCollected(Message):
    """The list, or why there is none."""

    def __init__(self, work: WorkList | None, error: str | None) -> None:
        super().__init__()
        self.work = work
        self.error = error


class WorkOpened(Message):
    """The run of an item is open, or why it cannot be opened."""

    def __init__(self, item: WorkItem, opened: OpenRun | None, error: str | None) -> None:
        super().__init__()
        self.item = item
        self.opened = opened
        self.error = error


class WorkScreen(BaseScreen):
    """Enter opens a gate with the form beside it; there `J` goes on to the next one."""

    CSS_PATH: ClassVar[CSSPathType | None] = "annotate.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.WORK)

    def __init__(
        self,
        root: Path,
        open_run: Callable[[Path], OpenRun],
        labels: Labels,
        only: Collection[Path] | None = None,
    ) -> None:
        """Makes the screen.

        Args:
            root: The folder with the runs.
            open_run: Opens one of them; called in a thread.
            labels: Who labels, where, and whether blind.
            only: The runs that are wanted; null takes all.
        """
        super().__init__()
        self._root = root
        self._open_run = open_run
        self._labels = labels
        self._only = only
        self._wanted = WorkFilter()
        self._work: WorkList | None = None
        self.view = ListPane(id="work")

    def compose(self) -> ComposeResult:
        """The list and the line of keys."""
        yield self.view
        yield HintBar()

    def on_mount(self) -> None:
        """Begins to list."""
        self.view.focus()
        self.show_hints()
        self._collect()

    @property
    def context(self) -> Context:
        """A work list."""
        return Context.WORK

    # The list

    def _collect(self) -> None:
        say(self.view, "… listing what is to be labelled")
        self._title()
        self._start("work list", partial(self._collecting, self._wanted, self._labels.blind))

    def _start(self, group: str, work: Callable[[], None]) -> None:
        self.run_worker(
            work, thread=True, exclusive=True, exit_on_error=False, group=group, description=group
        )

    def _collecting(self, wanted: WorkFilter, blind: bool) -> None:
        try:
            work = collect_work(
                self._root,
                annotator=self._labels.annotator,
                sidecar=self._labels.sidecar,
                wanted=wanted,
                blind=blind,
                only=self._only,
            )
        except ArcviewError as error:
            self.post_message(WorkCollected(None, str(error)))
        else:
            self.post_message(WorkCollected(work, None))

    @on(WorkCollected)
    def _collected(self, message: WorkCollected) -> None:
        self._work = message.work
        if message.work is None:
            say(self.view, message.error or "there is no list")
            return
        self._fill()
        self.view.move_to(message.work.at, "middle")

    def _fill(self) -> None:
        work = self._work
        if work is None:
            return
        with self.view.keeping_place():
            self.view.set_source(WorkRows(tuple(work.items)), cursor=work.at)
        self._title()

    def _title(self) -> None:
        counts = self._work.counts() if self._work is not None else {}
        parts = [self.progress()]
        parts += [f"{counts[p]} {p.value}" for p in (Progress.DRAFT, Progress.SKIPPED)
                  if counts.get(p)]  # fmt: skip
        drawn = f", {self._wanted.sample} drawn" if self._wanted.sample else ""
        only = f", of {plural(len(self._only), 'run')} shown" if self._only is not None else ""
        title = pieces(
            ("To be labelled  ", "bold"),
            (" · ".join(parts), ""),
            (f"  {_WHICH[self._wanted.which]}{only}{drawn}", theme.MUTED),
        )
        set_title(self.view, title)
        who = one_line(self._labels.annotator or "nobody")
        problems = len(self._work.problems) if self._work is not None else 0
        said = [who, *(["blind"] if self._labels.blind else [])]
        said += [f"{plural(problems, 'run')} cannot be read"] if problems else []
        set_remark(self.view, pieces((" · ".join(said), theme.MUTED)))

    # Opening

    def _item(self) -> WorkItem | None:
        source = self.view.source
        return source.at(self.view.cursor) if isinstance(source, WorkRows) else None

    @on(RowView.Picked)
    def _picked(self, message: RowView.Picked) -> None:
        message.stop()
        item = self._item()
        if item is not None and self._work is not None:
            self._work.at = message.index
            self._open(item)

    def _open(self, item: WorkItem) -> None:
        self.notice(f"opening {item.name} …")
        self._start("opening", partial(self._opening, item))

    def _opening(self, item: WorkItem) -> None:
        try:
            self.post_message(WorkOpened(item, self._open_run(item.path), None))
        except ArcviewError as error:
            self.post_message(WorkOpened(item, None, str(error)))

    @on(WorkOpened)
    def _opened(self, message: WorkOpened) -> None:
        if message.opened is None:
            self.notice(message.error or "it cannot be opened")
            return
        from arcview.ui.screens.run import RunScreen

        self.notice("")
        unit, path = message.item.unit, message.item.path
        place = destination(parse_address(unit), stops_of(message.opened.run))
        screen = RunScreen(message.opened, partial(self._open_run, path), at=place, returns=True)
        self.app.push_screen(screen)
        screen.annotating().work = self
        screen.call_after_refresh(screen.annotating().open_unit, unit)

    def on_screen_resume(self) -> None:
        """Shows how far one is now."""
        if self._work is not None:
            self._refresh(None)
            self._fill()

    def _refresh(self, run_id: str | None) -> None:
        try:
            if self._work is not None:
                self._work.refresh(run_id)
        except ArcviewError as error:
            say_on_top(self.app, str(error))

    # What the form asks and tells (`annotate_run.Work`)

    def progress(self) -> str:
        """How far one is."""
        counts = self._work.counts() if self._work is not None else {}
        return f"{counts.get(Progress.DONE, 0)}/{sum(counts.values())} done"

    def done(self, annotate: RunAnnotate) -> None:
        """Something of a run was labelled."""
        self._refresh(annotate.screen.opened.run.run_id)

    def go_on(self, annotate: RunAnnotate) -> str:
        """To the next gate that is not done or skipped."""
        work = self._work
        item = work.next_open() if work is not None else None
        if work is None or item is None:
            return "nothing is left to do in the work list"
        said = f"{item.name} {item.gate}"
        if item.path.resolve() == Path(annotate.screen.opened.run.path).resolve():
            annotate.go_to(item.unit, remember=False)
            annotate.open_unit(item.unit)
            return said
        while self.app.screen is not self:
            self.app.pop_screen()
        self._open(item)
        return said

    # Keys

    def action_next_item(self) -> None:
        """To the next gate that is not done or skipped."""
        if self._work is None:
            return
        self._work.at = self.view.cursor
        if self._work.next_open() is None:
            self.notice("nothing is left to do")
        else:
            self.view.move_to(self._work.at, "middle")

    def action_skip(self) -> None:
        """Leaves a gate unlabelled."""
        item = self._item()
        if item is not None:
            self.notice("… skipping it")
            self._start("skipping", partial(self._skipping, item))

    def _skipping(self, item: WorkItem) -> None:
        from arcview.session.annotate import AnnotateSession

        try:
            session = AnnotateSession.open(
                self._open_run(item.path),
                annotator=self._labels.annotator,
                sidecar=self._labels.sidecar,
                scheme=self._labels.scheme,
                blind=self._labels.blind,
            )
            said = session.skip(item.unit).notice
        except ArcviewError as error:
            said = str(error)
        self.app.call_from_thread(self._skipped, said)

    def _skipped(self, said: str) -> None:
        self.on_screen_resume()
        self.notice(said)
        self.action_next_item()

    def action_which_gates(self) -> None:
        """Other gates."""
        names = list(Which)
        which = names[(names.index(self._wanted.which) + 1) % len(names)]
        self._wanted = replace(self._wanted, which=which)
        self._collect()

    def action_sample(self) -> None:
        """Draws some, or takes all."""
        sample = _SAMPLES[(_SAMPLES.index(self._wanted.sample) + 1) % len(_SAMPLES)]
        self._wanted = replace(self._wanted, sample=sample)
        self._collect()

    def action_toggle_blind(self) -> None:
        """Hides what others and rules say, or shows it."""
        self._labels.blind = not self._labels.blind
        self._collect()

    def action_rescan(self) -> None:
        """Lists the folder again."""
        self._collect()

    def action_close(self) -> None:
        """Back to the list of runs."""
        self.dismiss()
