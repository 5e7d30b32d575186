"""The output of what runs on a screen: drawn as it comes, but never more often than one can see."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic

from textual.timer import Timer

from arcview.ui import theme
from arcview.ui.rows.diff_lines import size
from arcview.ui.rows.figures import duration
from arcview.ui.rows.rerun_output import LiveRows, progress_bar
from arcview.ui.safe import pieces
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.rerun_job import RerunJob
from arcview.ui.screens.run_titles import set_remark, set_title
from arcview.ui.widgets.output import OutputPane

_LOOK_EVERY_S = 0.05
_TICK_S = 0.5


class JobOutput:
    """Shows one job in a pane.

    Args:
        screen: The screen; its class `-quiet` hides the pane.
        pane: Where the output goes.
        over: Told when the job has ended.
    """

    def __init__(
        self, screen: BaseScreen, pane: OutputPane, over: Callable[[RerunJob], None]
    ) -> None:
        self._screen, self._pane, self._over = screen, pane, over
        self._live = LiveRows()
        self._job: RerunJob | None = None
        self._is_resting = self._is_late = False
        self._clock: Timer | None = None

    def moved(self, job: RerunJob) -> None:
        """Something of a job is new; drawn now, or as soon as drawing has rested."""
        if self._is_resting:
            self._is_late = True
            return
        self._is_resting, self._is_late = True, False
        self._draw(job)
        self._screen.set_timer(_LOOK_EVERY_S, partial(self._rested, job))

    def forget(self) -> None:
        """Something else is shown in the pane."""
        self._job = None
        if self._clock is not None:
            self._clock.pause()

    def _rested(self, job: RerunJob) -> None:
        self._is_resting = False
        if self._is_late:
            self.moved(job)

    def _draw(self, job: RerunJob) -> None:
        job.looked()
        is_over = not job.is_running
        if job is not self._job:
            self._job, self._live = job, LiveRows()
            self._pane.follow(self._live)
            self._screen.remove_class("-quiet")
            if self._clock is None:
                self._clock = self._screen.set_interval(_TICK_S, self.tick)
            self._clock.resume()
        self._pane.take(self._live, job.output.tail())
        self.tick()
        if is_over:
            self.forget()
            self._over(job)

    def tick(self) -> None:
        """How far it is, also while nothing is printed."""
        job = self._job
        if job is None or not job.is_running:
            return
        elapsed = job.elapsed_s(monotonic())
        parts = [("Output", "bold"), ("  ", "")]
        if job.times > 1:
            parts.append((f"{job.number} of {job.times} · ", theme.MUTED))
        parts.append((f"{job.said}  {duration(elapsed)}", theme.WARN))
        if job.expected_s:
            total = job.expected_s * job.times
            parts.append((f" of about {duration(total)}  ", theme.MUTED))
            parts += progress_bar(elapsed / total)
        set_title(self._pane, pieces(*parts))
        cut = ", its end is shown" if self._live.is_cut else ""
        said = f"{size(job.output.total_bytes)}{cut}"
        set_remark(self._pane, pieces((said, theme.MUTED)))
