"""What the threads of the run screen bring, and into which pane it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from arcview.session.opened import OpenRun
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.run_content import RunContent
from arcview.ui.screens.run_keys import RunKeys
from arcview.ui.screens.run_loader import RunLoader
from arcview.ui.screens.run_messages import (
    ChangedOnDisk,
    DepthLoaded,
    DiffLoaded,
    DiffProgress,
    FileBlamed,
    GateLoaded,
    LineTraced,
    OverviewCompleted,
    Reopened,
    ReplayLoaded,
    SelfTestsLoaded,
    StepsLoaded,
    TrailFound,
)
from arcview.ui.widgets.row_view import RowView

if TYPE_CHECKING:
    from arcview.session.copied import CopyPart
    from arcview.ui.screens.run_find import HitsFound, RunFind
    from arcview.ui.screens.run_follow import RunFollow
    from arcview.ui.screens.run_long import RunLong
    from arcview.ui.widgets.long_panes import DiffPane
    from arcview.ui.widgets.steps import StepsView


class RunArrivals(RunKeys):
    """Hands on what arrives."""

    content: RunContent
    loader: RunLoader
    long: RunLong | None
    """Diff and trajectory; null until the first frame is on the screen."""
    is_stale: bool
    """The run on the disk is not the one that is shown."""

    def following(self) -> RunFollow:
        """The links of the screen."""
        raise NotImplementedError

    def finding(self) -> RunFind:
        """The search through the whole run."""
        raise NotImplementedError

    def copied_part(self, part: CopyPart) -> str:
        """A part of the run under the cursor, as text to copy."""
        return self.following().part_under_cursor(part)

    def play(self) -> None:
        """Goes on by itself from step to step of a replay, or stops."""
        raise NotImplementedError

    def show_overview(self) -> None:
        """Draws header and rail."""
        raise NotImplementedError

    async def take_again(self, opened: OpenRun) -> None:
        """Shows another reading of the run at the same place."""
        raise NotImplementedError

    @on(GateLoaded)
    def _gate_loaded(self, message: GateLoaded) -> None:
        self.content.put_gate(message)

    @on(SelfTestsLoaded)
    def _self_tests_loaded(self, message: SelfTestsLoaded) -> None:
        self.content.put_self_tests(message)
        if self.long is not None and message.place == self.session.stop:
            self.long.put_badges(self.content.tests)

    @on(StepsLoaded)
    def _steps_loaded(self, message: StepsLoaded) -> None:
        if self.long is not None:
            self.long.put_steps(message, self.content.tests)
            self.show_overview()

    @on(DiffLoaded)
    def _diff_loaded(self, message: DiffLoaded) -> None:
        if self.long is not None:
            self.long.put_diff(message)
            self.show_overview()
            self.loader.depth(self.session.stop)

    @on(DepthLoaded)
    def _depth_loaded(self, message: DepthLoaded) -> None:
        self.content.put_depth(message)

    @on(DiffProgress)
    def _diff_progress(self, message: DiffProgress) -> None:
        if self.long is not None:
            self.long.put_progress(message)

    @on(RowView.CursorMoved, "#trajectory")
    def _step_moved(self) -> None:
        if self.long is not None:
            self.long.title_steps()
            self.long.replay.follow()

    def on_diff_pane_failed(self, message: DiffPane.Failed) -> None:
        """A file could not be loaded for a reason that nobody foresaw."""
        error = message.worker.error
        if error is not None:
            self.worker_failed(message.worker.description, error)

    @on(OverviewCompleted)
    def _overview_completed(self) -> None:
        self.show_overview()

    @on(TrailFound)
    def _trail_found(self, message: TrailFound) -> None:
        self.following().put_trail(message)

    @on(LineTraced)
    def _line_traced(self, message: LineTraced) -> None:
        self.following().put_line(message)

    @on(ReplayLoaded)
    def _replay_loaded(self, message: ReplayLoaded) -> None:
        if self.long is not None:
            self.long.replay.put(message)

    def on_steps_view_opened_some(self, message: StepsView.OpenedSome) -> None:
        """All steps were to be opened, and there are too many."""
        self.notice(f"{message.count} steps are open, those around the cursor")

    def on_steps_pane_play_wanted(self) -> None:
        """Space in the trajectory of a replay."""
        self.play()

    def on_hits_found(self, message: HitsFound) -> None:
        """Something was found in the run."""
        self.finding().put(message)

    @on(FileBlamed)
    def _file_blamed(self, message: FileBlamed) -> None:
        if self.long is not None:
            self.long.put_authors(message)
            self.following().authors_known(message.state, message.path)
        top = self.app.screen
        if top is not self and isinstance(top, BaseScreen):
            top.authors_known()

    @on(Reopened)
    async def _reopened(self, message: Reopened) -> None:
        if message.opened is None:
            self.notice(message.error or "it cannot be read any more")
        else:
            await self.take_again(message.opened)
            if message.notice is not None:
                self.notice(message.notice)

    @on(ChangedOnDisk)
    def _changed_on_disk(self) -> None:
        self.is_stale = True
        self.show_overview()
        self.notice("the run changed on the disk: ctrl+r reads it again")
