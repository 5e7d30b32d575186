"""The keys of the run screen that open or follow something; what they need is made when pressed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App
from textual.events import Resize
from textual.geometry import Size

from arcview.files import is_dir
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.run_arrivals import RunArrivals

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun
    from arcview.ui.screens.annotate_run import AnnotationArrived, RunAnnotate
    from arcview.ui.screens.matrix_job import MatrixMoved
    from arcview.ui.screens.rerun_job import RerunMoved
    from arcview.ui.screens.rerun_sitting import RerunArrived, RerunSitting
    from arcview.ui.screens.run_find import RunFind
    from arcview.ui.screens.run_follow import RunFollow


class RunLinks(RunArrivals):
    """What leads away from the panes."""

    _following: RunFollow | None = None
    _finding: RunFind | None = None
    _annotating: RunAnnotate | None = None
    opened: OpenRun
    sitting: RerunSitting | None = None
    """The reruns of the run, once somebody asked for them or some are stored."""
    _taken = 0

    @property
    def room(self) -> Size:
        """What the run is laid out in: the terminal, without what a form beside it takes."""
        width, height = self.app.size
        return Size(width - self._taken, height)

    def leave_room(self, columns: int) -> None:
        """Lays the run out anew, in what is left of a form of that many columns at its right."""
        self._taken = columns
        self.styles.padding = (0, columns, 0, 0)
        # Textual lays a covered screen out only when it is told of a size.
        size = self.app.size
        self.call_after_refresh(self.post_message, Resize(size, size))
        self.lay_out()

    def lay_out(self) -> None:
        """Shows the panes that there is room for."""
        raise NotImplementedError

    def rerunning(self) -> RerunSitting:
        """The reruns of the run."""
        if self.sitting is None:
            from arcview.ui.screens.rerun_sitting import RerunSitting  # only who reruns needs it

            self.sitting = RerunSitting(self)
        return self.sitting

    def on_rerun_arrived(self, message: RerunArrived) -> None:
        """A thread is done with something about reruns."""
        message.put()

    def on_rerun_moved(self, message: RerunMoved) -> None:
        """Something of what runs is new."""
        self.rerunning().arrived(message.job)

    def worker_failed(self, doing: str, error: BaseException) -> None:
        """Says so on whatever is open over the run."""
        super().worker_failed(doing, error)
        if self.app.screen is not self and isinstance(self.app.screen, BaseScreen):
            self.app.screen.worker_failed(doing, error)

    def look_for_reruns(self) -> None:
        """Says beside the gate what reruns said, where there are any; a thread looks."""
        self.run_worker(
            self._look_for_reruns,
            thread=True,
            exit_on_error=False,
            group="reruns",
            description="looking for reruns",
        )

    def _look_for_reruns(self) -> None:
        from arcview.sidecar import run_sidecar

        if not is_dir(run_sidecar(kept_sidecar(self.app), self.session.run.run_id) / "reruns"):
            return
        from arcview.ui.screens.rerun_sitting import RerunArrived  # 30 ms of reruns

        self.post_message(RerunArrived(lambda: self.rerunning().note()))

    def forget_reruns(self) -> None:
        """The run was read again: so are its gates."""
        if self.sitting is not None:
            self.sitting.forget()

    def close_reruns(self) -> None:
        """Stops what runs, and lets go of the engine."""
        if self.sitting is not None:
            self.sitting.close()

    def show_reruns(self) -> None:
        """Says beside the gate what reruns said."""
        if self.sitting is not None:
            self.sitting.note()

    def on_matrix_moved(self, message: MatrixMoved) -> None:
        """A cell of the matrix began or is settled."""
        self.rerunning().matrix().arrived(message.job)

    def action_matrix(self) -> None:
        """Gates by states, at the place that is shown."""
        stop = self.session.stop
        self.rerunning().matrix().open(stop.gate, stop.state)

    def action_what_if(self) -> None:
        """Whether the failure of the gate is inherited or local."""
        self.rerunning().open_what_if(self.session.stop.gate)

    def action_rerun(self) -> None:
        """The gate of the place again."""
        stop = self.session.stop
        self.rerunning().open(stop.gate, stop.state)

    def annotating(self) -> RunAnnotate:
        """The labels of the run."""
        raise NotImplementedError

    def on_annotation_arrived(self, message: AnnotationArrived) -> None:
        """A thread is done with something about labels."""
        message.put()

    def gate_where(self) -> str:
        """What addresses call the gate on the screen."""
        from arcview.ui.screens.annotate_places import gate_where

        return gate_where(self.session.stop)

    def look_for_cases(self) -> None:
        """Marks the tests that belong to cases, where there are any; a thread looks."""
        self.run_worker(
            self._look_for_cases,
            thread=True,
            exit_on_error=False,
            group="cases",
            description="looking for cases",
        )

    def _look_for_cases(self) -> None:
        from arcview.sidecar import run_sidecar

        folder = run_sidecar(kept_sidecar(self.app), self.session.run.run_id) / "annotations"
        if not is_dir(folder):
            return
        from arcview.ui.screens.annotate_run import AnnotationArrived  # 100 ms of labels

        self.post_message(AnnotationArrived(lambda: self.annotating().look()))

    def show_cases(self) -> None:
        """Marks the tests that belong to cases."""
        if self._annotating is not None:
            self.content.mark_tests(self._annotating.tests_in_cases(self.session.stop))

    def action_annotate(self) -> None:
        """Starts a case, or adds to the one in hand."""
        self.annotating().mark_under_cursor()

    def action_begin_range(self) -> None:
        """One end of a range of lines."""
        self.annotating().begin_range_under_cursor()

    def action_cases(self) -> None:
        """The cases of the run."""
        self.annotating().open_cases()

    def action_find(self) -> None:
        """Asks what to look for in the whole run."""
        self.finding().ask()

    def search_onward(self, direction: int) -> None:
        """To the next hit of the search through the whole run."""
        if self._finding is not None and self._finding.has_hits:
            self._finding.step(direction)
        else:
            super().search_onward(direction)

    def action_raw_log(self) -> None:
        """What the gate's commands printed."""
        self.following().open_first_log()

    def action_next_editing_step(self) -> None:
        """Who wrote the file under the cursor."""
        self.following().next_editing_step()

    def action_view_file(self) -> None:
        """The file under the cursor, whole."""
        self.following().view_file()

    def action_whole_text(self) -> None:
        """What is under the cursor, not cut."""
        self.following().whole_text()

    def action_spec(self) -> None:
        """What the agent was told."""
        self.following().open.spec()

    def action_contract(self) -> None:
        """What the stage promises."""
        self.following().open.contract()

    def action_coverage(self) -> None:
        """The contract against the code of every state."""
        self.following().open.coverage()

    def action_reload(self) -> None:
        """Reads the run again."""
        self.notice("reading the run again …")
        self.loader.reopen()

    def action_problems(self) -> None:
        """What is wrong with the run's files."""
        self.following().open.problems()

    def action_choose_states(self) -> None:
        """Two states to compare."""
        self.following().open.choose_states()

    def action_open_in_editor(self) -> None:
        """The file under the cursor in the editor."""
        self.following().open_in_editor()


def kept_sidecar(app: App[object]) -> Path:
    """The sidecar of all runs: by flag, environment or settings, else the user's own."""
    from arcview.config import load_settings
    from arcview.sidecar import sidecar_root
    from arcview.ui.application import ArcviewApp

    flags = app.label_flags if isinstance(app, ArcviewApp) else None
    kept = None if os.environ.get("ARCVIEW_SIDECAR") else load_settings().sidecar
    return sidecar_root(flags.sidecar if flags is not None and flags.sidecar else kept)
