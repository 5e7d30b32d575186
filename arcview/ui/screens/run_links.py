"""The keys of the run screen that open or follow something; what they need is made when pressed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from arcview.files import is_dir
from arcview.ui.screens.run_arrivals import RunArrivals

if TYPE_CHECKING:
    from arcview.ui.screens.annotate_run import AnnotationArrived, RunAnnotate
    from arcview.ui.screens.run_find import RunFind
    from arcview.ui.screens.run_follow import RunFollow


class RunLinks(RunArrivals):
    """What leads away from the panes."""

    _following: RunFollow | None = None
    _finding: RunFind | None = None
    _annotating: RunAnnotate | None = None

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
        from arcview.config import load_settings
        from arcview.sidecar import run_sidecar, sidecar_root

        given = None if os.environ.get("ARCVIEW_SIDECAR") else load_settings().sidecar
        folder = run_sidecar(sidecar_root(given), self.session.run.run_id) / "annotations"
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

    def action_problems(self) -> None:
        """What is wrong with the run's files."""
        self.following().open.problems()

    def action_choose_states(self) -> None:
        """Two states to compare."""
        self.following().open.choose_states()

    def action_open_in_editor(self) -> None:
        """The file under the cursor in the editor."""
        self.following().open_in_editor()
