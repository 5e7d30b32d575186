"""Everything about reruns that outlives one screen: the engine, what runs now, who was asked.

One for each run screen. Reading, asking the engine and running happen in threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

from arcview.errors import ArcviewError
from arcview.session.rerun_session import RerunSession
from arcview.session.rerun_view import RerunView, planned, stored_view
from arcview.session.reruns import RerunEvent, Reruns, Target
from arcview.ui.application import ArcviewApp
from arcview.ui.rows.rerun_note import rerun_note
from arcview.ui.screens.base import say_on_top
from arcview.ui.screens.rerun_job import RerunJob, RerunMoved

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun
    from arcview.ui.screens.run_links import RunLinks

_SAID = {
    "reading": "reading the workspace",
    "copying": "copying the workspace in",
    "running": "running",
    "collecting": "collecting the results",
    "done": "done",
}


class RerunArrived(Message):
    """A thread is done with something about reruns."""

    def __init__(self, put: Callable[[], None]) -> None:
        super().__init__()
        self.put = put
        """Shows it; called on the thread of the screen."""


class RerunSitting:
    """The reruns of one run screen.

    Args:
        screen: The run screen.
        make: Makes the reruns of a run, in a thread; by default those of the user's sidecar.

    Attributes:
        job: What runs now, or ran last.
        moved: Told when something of the job is new.
    """

    def __init__(self, screen: RunLinks, make: Callable[[OpenRun], Reruns] | None = None) -> None:
        self._screen = screen
        self._make = make
        self._reruns: Reruns | None = None
        self._lock = Lock()
        self.job: RerunJob | None = None
        self.moved: Callable[[RerunJob], None] | None = None

    def reruns(self) -> Reruns:
        """The reruns of the run; made when first asked for, in a thread."""
        with self._lock:
            if self._reruns is None:
                make = self._make or self._own
                self._reruns = make(self._screen.opened)
            return self._reruns

    def _own(self, opened: OpenRun) -> Reruns:
        from arcview.ui.screens.run_links import kept_sidecar

        return Reruns(opened, sidecar=kept_sidecar(self._screen.app))

    def forget(self) -> None:
        """The run was read again: so are its gates."""
        with self._lock:
            self._reruns = None

    @property
    def app(self) -> ArcviewApp:
        """The program."""
        app = self._screen.app
        assert isinstance(app, ArcviewApp)
        return app

    @property
    def is_asked(self) -> bool:
        """The person was asked in this sitting, and wanted it."""
        return self.app.reruns_confirmed

    def confirm(self) -> None:
        """They want it."""
        self.app.reruns_confirmed = True

    # Screens

    def open(self, gate: str, state: str | None, *, starts: bool = True) -> None:
        """The screen on which a gate is run again.

        Args:
            gate: Its id.
            state: Id of the state to begin at; null takes the last one.
            starts: Runs it at once where nothing is stored and the person was asked before.
        """
        from arcview.ui.screens.rerun import RerunScreen

        session = RerunSession(self._screen.session.run, gate, state)
        self.app.push_screen(RerunScreen(self, session, starts=starts))

    def note(self) -> None:
        """Says in the gate pane what the last rerun of the gate there said."""
        stop, content = self._screen.session.stop, self._screen.content
        if stop.state is None:
            return
        state = stop.state

        def get(reruns: Reruns) -> Callable[[], None]:
            view = stored_view(reruns, stop.gate, state)
            return partial(content.put_rerun, stop, rerun_note(view))

        self.read(get, "reading reruns")

    # Looking up

    def look_up(self, gate: str, state: str, put: Callable[[RerunView], None]) -> None:
        """Finds out what is stored, and then what a rerun would do; `put` is called twice."""

        def work() -> None:
            worker = get_current_worker()
            view = stored_view(self.reruns(), gate, state)
            if not worker.is_cancelled:
                self._arrive(partial(put, view))
                view = planned(self.reruns(), view)
            if not worker.is_cancelled:
                self._arrive(partial(put, view))

        self._start(work, "looking reruns up")

    def read(self, get: Callable[[Reruns], Callable[[], None]], doing: str) -> None:
        """Gets something in a thread and shows it on the screen's own.

        Args:
            get: Gives back what shows it.
            doing: What it does, for the line that says that it failed; one at a time of each.
        """

        def work() -> None:
            worker = get_current_worker()
            try:
                put = get(self.reruns())
            except ArcviewError as error:
                put = partial(say_on_top, self._screen.app, str(error))
            if not worker.is_cancelled:
                self._arrive(put)

        self._start(work, doing)

    def _arrive(self, put: Callable[[], None]) -> None:
        self._screen.post_message(RerunArrived(put))

    def _start(self, work: Callable[[], None], doing: str) -> None:
        self._screen.run_worker(
            work, thread=True, exclusive=True, exit_on_error=False, group=doing, description=doing
        )

    # Running

    def begin(self, gate: str, target: Target, times: int, expected_s: float | None) -> str | None:
        """Runs a gate; says why not, where something else is still running."""
        job = self.job
        if job is not None and job.is_running:
            return f"gate {job.gate} on {job.state} is still running; escape there stops it"
        new = RerunJob(gate, target.label, times, expected_s, self._tell)
        self.job = new
        self._start(partial(self._run, new, target), f"rerun of gate {gate}")
        return None

    def _tell(self) -> None:
        if self.job is not None:
            self._screen.post_message(RerunMoved(self.job))

    def _run(self, job: RerunJob, target: Target) -> None:
        def on_event(event: RerunEvent) -> None:
            job.at(event.number, _SAID[event.phase.value])

        try:
            results = self.reruns().run(
                job.gate,
                target,
                times=job.times,
                again=True,
                on_output=job.feed,
                on_event=on_event,
                cancelled=lambda: job.is_cancelled,
            )
        except ArcviewError as error:
            job.end((), str(error))
        else:
            job.end(results)
        finally:
            if job.is_running:
                job.end((), "it ended on a fault of arcview")

    def arrived(self, job: RerunJob) -> None:
        """Something of a job is new: whoever shows it looks."""
        if self.moved is not None:
            self.moved(job)
        if not job.is_running:
            self.note()

    def close(self) -> None:
        """Stops what runs; its container is removed before the program ends."""
        if self.job is not None and self.job.is_running:
            self.job.stop()
