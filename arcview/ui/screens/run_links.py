"""The keys of the run screen that open or follow something; what they need is made when pressed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcview.ui.screens.run_arrivals import RunArrivals

if TYPE_CHECKING:
    from arcview.ui.screens.run_find import RunFind
    from arcview.ui.screens.run_follow import RunFollow


class RunLinks(RunArrivals):
    """What leads away from the panes."""

    _following: RunFollow | None = None
    _finding: RunFind | None = None

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
