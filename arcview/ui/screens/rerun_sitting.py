"""Everything about reruns that outlives one screen: the engine, what runs now, who was asked.

One for each run screen. Reading, asking the engine and running happen in threads.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

from arcview.errors import ArcviewError
from arcview.gates.errors import EngineUnavailableError
from arcview.session.rerun_session import ImageChoices, RerunSession
from arcview.session.rerun_view import RerunView, planned, stored_view
from arcview.session.reruns import Reruns
from arcview.session.reruns_model import RerunEvent, Target
from arcview.session.run_session_stops import StopKind
from arcview.session.what_if import WhatIfs
from arcview.ui.application import ArcviewApp
from arcview.ui.rows.rerun_facts import left_behind
from arcview.ui.rows.rerun_note import rerun_note
from arcview.ui.screens.base import say_on_top
from arcview.ui.screens.rerun_job import RerunJob, RerunMoved

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun
    from arcview.ui.screens.matrix_sitting import MatrixSitting
    from arcview.ui.screens.run_links import RunLinks

_SAID = {
    "fetching": "fetching the image",
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
        images: Which images will do.
    """

    def __init__(self, screen: RunLinks, make: Callable[[OpenRun], Reruns] | None = None) -> None:
        self._screen = screen
        self._make = make
        self._reruns: Reruns | None = None
        self._on_host: Reruns | None = None
        self.images = ImageChoices()
        self._lock = Lock()
        self.job: RerunJob | None = None
        self.moved: Callable[[RerunJob], None] | None = None
        self._matrix: MatrixSitting | None = None

    def reruns(self) -> Reruns:
        """The reruns of the run; made when first asked for, in a thread."""
        with self._lock:
            if self._reruns is None:
                make = self._make or self._own
                self._reruns = make(self._screen.opened)
            options, images = self._reruns.options, self.images
            self._reruns.options = replace(
                options, pull=images.pull, allow_other_image=images.allow_other
            )
            return self._reruns

    def _where(self, *, on_host: bool) -> Reruns:
        """The reruns in containers, or those that need none: nothing else may run on the host."""
        reruns = self.reruns()
        if not on_host:
            return reruns
        with self._lock:
            if self._on_host is None:
                self._on_host = reruns.on_host()
            return self._on_host

    def _own(self, opened: OpenRun) -> Reruns:
        from arcview.ui.screens.run_links import kept_sidecar

        return Reruns(opened, sidecar=kept_sidecar(self._screen.app))

    def forget(self) -> None:
        """The run was read again: so are its gates."""
        with self._lock:
            self._reruns = self._on_host = None
        if self._matrix is not None:
            self._matrix.forget()

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

        session = RerunSession(self._screen.session.run, gate, state, images=self.images)
        self.app.push_screen(RerunScreen(self, session, starts=starts))

    def matrix(self) -> MatrixSitting:
        """The matrix of the run."""
        if self._matrix is None:
            from arcview.ui.screens.matrix_sitting import MatrixSitting

            self._matrix = MatrixSitting(self, self._screen)
        return self._matrix

    def open_what_if(self, gate: str) -> None:
        """The screen that says whether the failure of a gate is inherited or local."""
        from arcview.ui.screens.what_if import WhatIfScreen

        self.app.push_screen(WhatIfScreen(self, gate))

    def note(self) -> None:
        """Says in the gate pane what the last rerun of the gate there said."""
        stop, content = self._screen.session.stop, self._screen.content
        if stop.state is None:
            return
        state = stop.state

        def get(reruns: Reruns) -> Callable[[], None]:
            view = stored_view(reruns, stop.gate, state)
            is_stage = stop.kind is StopKind.STAGE
            answer = WhatIfs(reruns.opened, reruns).known(stop.gate) if is_stage else None
            return partial(content.put_rerun, stop, rerun_note(view, answer))

        self.read(get, "reading reruns")

    # Looking up

    def look_up(
        self, gate: str, state: str, put: Callable[[RerunView], None], *, on_host: bool
    ) -> None:
        """Finds out what is stored, and then what a rerun would do; `put` is called twice."""

        def work() -> None:
            worker = get_current_worker()
            try:
                view = stored_view(self.reruns(), gate, state)
            except ArcviewError as error:
                self._arrive(partial(say_on_top, self._screen.app, str(error)))
                return
            if not worker.is_cancelled:
                self._arrive(partial(put, view))
                view = planned(self._where(on_host=on_host), view)
            if not worker.is_cancelled:
                self._arrive(partial(put, view))
            self._tidy(view, on_host=on_host)

        self.start(work, "looking reruns up")

    def _tidy(self, view: RerunView, *, on_host: bool) -> None:
        """Removes what a crashed arcview left, where an engine answers, and says so."""
        if view.plan is None or view.plan.engine is None:
            return
        with suppress(EngineUnavailableError):  # it went away: a rerun says so
            found = self._where(on_host=on_host).tidy()
            said = left_behind(found) if found is not None else None
            if said is not None:
                self._arrive(partial(say_on_top, self._screen.app, said))

    def read(
        self, get: Callable[[Reruns], Callable[[], None]], doing: str, *, exclusive: bool = True
    ) -> None:
        """Gets something in a thread and shows it on the screen's own.

        Args:
            get: Gives back what shows it.
            doing: What it does, for the line that says that it failed.
            exclusive: A newer wish of that name cancels the older one.
        """

        def work() -> None:
            worker = get_current_worker()
            try:
                put = get(self.reruns())
            except ArcviewError as error:
                put = partial(say_on_top, self._screen.app, str(error))
            if not worker.is_cancelled:
                self._arrive(put)

        self.start(work, doing, exclusive=exclusive)

    def _arrive(self, put: Callable[[], None]) -> None:
        self._screen.post_message(RerunArrived(put))

    def start(self, work: Callable[[], None], doing: str, *, exclusive: bool = True) -> None:
        """Does something in a thread; a newer wish of that name may cancel the older one."""
        self._screen.run_worker(
            work,
            thread=True,
            exclusive=exclusive,
            exit_on_error=False,
            group=doing,
            description=doing,
        )

    # Running

    def begin(self, view: RerunView, target: Target, times: int, *, on_host: bool) -> str | None:
        """Runs a gate; says why not, where something else is still running."""
        job = RerunJob(view.gate, target.label, times, view.expected_s, self._tell)
        return self.launch(job, partial(self._run, target, on_host))

    def new_job(self, gate: str, state: str) -> RerunJob:
        """A job of which nobody knows how long it takes."""
        return RerunJob(gate, state, 1, None, self._tell)

    def launch(self, job: RerunJob, work: Callable[[RerunJob], None]) -> str | None:
        """Does a job in a thread; says why not, where something else is still running.

        Args:
            job: The job.
            work: Does it, and ends it unless that fails.
        """
        now = self.job
        if now is not None and now.is_running:
            return f"gate {now.gate} on {now.state} is still running; escape there stops it"
        self.job = job

        def run() -> None:
            try:
                work(job)
            except ArcviewError as error:
                job.end((), str(error))
            finally:
                if job.is_running:
                    job.end((), "it ended on a fault of arcview")

        self.start(run, f"running gate {job.gate}")
        return None

    def _tell(self) -> None:
        if self.job is not None:
            self._screen.post_message(RerunMoved(self.job))

    def _run(self, target: Target, on_host: bool, job: RerunJob) -> None:
        def on_event(event: RerunEvent) -> None:
            job.at(event.number, _SAID[event.phase.value])

        results = self._where(on_host=on_host).run(
            job.gate,
            target,
            times=job.times,
            again=True,
            on_output=job.feed,
            on_event=on_event,
            cancelled=lambda: job.is_cancelled,
        )
        job.end(results)

    def arrived(self, job: RerunJob) -> None:
        """Something of a job is new: whoever shows it looks."""
        if self.moved is not None:
            self.moved(job)
        if not job.is_running:
            self.note()

    def close(self) -> None:
        """Stops what runs; its container is removed before the program ends."""
        is_running = self.job is not None and self.job.is_running
        if self.job is not None and is_running:
            self.job.stop()
        if self._matrix is not None:
            is_running = self._matrix.close() or is_running
        if self._reruns is not None and not is_running:
            self._reruns.close()
