"""A screen with what is known of a gate, and beside it the output of what runs."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Container
from textual.events import Resize
from textual.types import CSSPathType

from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.rerun_job import RerunJob
from arcview.ui.screens.rerun_output import JobOutput
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.output import OutputPane
from arcview.ui.widgets.panes import ListPane

if TYPE_CHECKING:
    from arcview.ui.screens.rerun_sitting import RerunSitting

_WIDE = 130
"""Columns from which on the output stands beside the result instead of below it."""


class JobPanes(BaseScreen):
    """Result and output; what runs can be stopped, and goes on where the screen is left."""

    CSS_PATH: ClassVar[CSSPathType | None] = "rerun.tcss"

    def __init__(self, sitting: RerunSitting) -> None:
        """Makes the screen.

        Args:
            sitting: The reruns of the run.
        """
        super().__init__()
        self._sitting = sitting
        self.result = ListPane(id="result")
        self.output = OutputPane(id="output")
        self._following = JobOutput(self, self.output, self._over)

    def compose(self) -> ComposeResult:
        """Result and output, beside each other where there is room."""
        with Container(id="again"):
            yield self.result
            yield self.output
        yield HintBar()

    def on_unmount(self) -> None:
        """What runs goes on without being looked at."""
        if self._sitting.moved == self._moved:
            self._sitting.moved = None

    @property
    @abstractmethod
    def _job(self) -> RerunJob | None:
        """The job that this screen is about, running or over."""

    @abstractmethod
    def _over(self, job: RerunJob) -> None:
        """It ended."""

    @property
    def _is_running(self) -> bool:
        return self._job is not None and self._job.is_running

    def _moved(self, job: RerunJob) -> None:
        """Something of a job is new."""
        if job is self._job:
            self._following.moved(job)

    def action_next_pane(self) -> None:
        """Result and output by turns."""
        (self.result if self.focused is self.output else self.output).focus()

    def action_stop_or_close(self) -> None:
        """Stops what runs; else back."""
        job = self._job
        if job is None or not job.is_running:
            self.action_close()
        elif job.is_cancelled:
            self.notice("it is being stopped")
        else:
            job.stop()
            self._following.tick()

    def action_close(self) -> None:
        """Back; what runs goes on."""
        self.dismiss()

    def on_resize(self, event: Resize) -> None:
        """Beside each other where there is room."""
        del event
        self._lay_out()

    def _lay_out(self) -> None:
        self.set_class(self.app.size.width >= _WIDE, "-wide")
