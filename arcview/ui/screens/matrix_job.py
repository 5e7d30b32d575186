"""The missing cells while they are measured: threads feed it, the matrix reads it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from textual.message import Message

from arcview.session.matrix_run import MatrixEvent, MatrixPhase
from arcview.ui.screens.job import Job

if TYPE_CHECKING:
    from arcview.analysis.matrix_plan import MatrixPlan
    from arcview.session.matrix_run import MatrixOutcome


class MatrixMoved(Message):
    """A cell began or is settled."""

    def __init__(self, job: MatrixJob) -> None:
        super().__init__()
        self.job = job

    def can_replace(self, message: Message) -> bool:
        """Only the last one matters."""
        return isinstance(message, MatrixMoved) and message.job is self.job


class MatrixJob(Job):
    """The cells of a plan on their way.

    Attributes:
        plan: The plan.
        jobs: How many run at once.
        done: Cells that are settled.
        outcome: How it ended; null while it runs, and where it could not.
    """

    def __init__(self, plan: MatrixPlan, jobs: int, tell: Callable[[MatrixJob], None]) -> None:
        super().__init__("beginning")
        self.plan, self.jobs = plan, jobs
        self.done = 0
        self.outcome: MatrixOutcome | None = None
        self._left = {(c.gate, s) for c in plan.cells for s in (c.state, *c.also)}
        self._running: set[tuple[str, str]] = set()
        self._lock = Lock()
        self._tell = tell

    # From its threads

    def take(self, event: MatrixEvent) -> None:
        """Something began or ended."""
        states = (*((event.state,) if event.state is not None else ()), *event.also)
        cells = {(event.gate, state) for state in states}
        with self._lock:
            self.done = event.done
            if event.phase is MatrixPhase.STARTED:
                self._running |= cells
            elif event.phase in (MatrixPhase.DONE, MatrixPhase.LEFT):
                self._running -= cells
                self._left -= cells
            if not self.is_cancelled:
                where = f"gate {event.gate}" + (f" on {event.state}" if event.state else "")
                control = event.phase is MatrixPhase.CONTROL
                self.said = f"control of {where}" if control else where
        self._tell(self)

    def end(self, outcome: MatrixOutcome | None, error: str | None = None) -> None:
        """It is over."""
        self.outcome, self.error = outcome, error
        self.ended = monotonic()
        self._tell(self)

    # From the screen

    @property
    def running(self) -> frozenset[tuple[str, str]]:
        """Gate and state of the cells that run now."""
        with self._lock:
            return frozenset(self._running) if self.is_running else frozenset()

    @property
    def queued(self) -> frozenset[tuple[str, str]]:
        """Those that will."""
        with self._lock:
            return frozenset(self._left - self._running) if self.is_running else frozenset()
