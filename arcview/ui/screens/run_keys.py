"""The keys of the run screen that are one method of the session each: called, then applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcview.session.run_session import Change, RunSession
from arcview.ui.screens.base import BaseScreen

if TYPE_CHECKING:
    from arcview.ui.rows.steps import Jump


class RunKeys(BaseScreen):
    """What the keys do; the screen itself says how a change is applied."""

    session: RunSession
    tree_wanted: bool
    """Whether the tree of changed files stands in the place of the diff."""

    def apply(self, change: Change) -> None:
        """Does what the session asks for."""
        raise NotImplementedError

    def jump(self, kind: Jump, direction: int) -> None:
        """Moves in the trajectory, from whatever pane."""
        raise NotImplementedError

    def jump_file(self, direction: int) -> None:
        """Moves to another file of the diff, from whatever pane."""
        raise NotImplementedError

    def action_previous_stage(self) -> None:
        """To the stage before."""
        self.apply(self.session.step_stage(-1))

    def action_next_stage(self) -> None:
        """To the stage after."""
        self.apply(self.session.step_stage(1))

    def action_go_to_stage(self, index: int) -> None:
        """To a stage by its number."""
        self.apply(self.session.go_to_stage(index))

    def action_chain_gate(self) -> None:
        """To the chain gate."""
        self.apply(self.session.go_to_stage(0))

    def action_previous_state(self) -> None:
        """To the state before."""
        self.apply(self.session.step_state(-1))

    def action_next_state(self) -> None:
        """To the state after."""
        self.apply(self.session.step_state(1))

    def action_first_failing_gate(self) -> None:
        """To the first failing gate."""
        self.apply(self.session.go_to_first_failing())

    def action_first_bad_stage(self) -> None:
        """To where the first failure arose."""
        self.apply(self.session.go_to_first_bad())

    def action_next_pane(self) -> None:
        """To the next pane."""
        self.apply(self.session.step_pane(1))

    def action_previous_pane(self) -> None:
        """To the pane before."""
        self.apply(self.session.step_pane(-1))

    def action_zoom(self) -> None:
        """The pane alone, and back."""
        self.apply(self.session.toggle_zoom())

    def action_back(self) -> None:
        """Where one came from."""
        self.apply(self.session.back())

    def action_failing_only(self) -> None:
        """Failing tests only, and back."""
        self.apply(self.session.toggle_failing_only())

    def action_unified_or_split(self) -> None:
        """One column or two."""
        self.apply(self.session.toggle_split())

    def action_replay(self) -> None:
        """The workspace step by step, and back."""
        self.apply(self.session.toggle_replay())

    def action_who_wrote(self) -> None:
        """Stage and step beside every line."""
        self.apply(self.session.toggle_who_wrote())
        if self.tree_wanted and not self.session.zoomed:
            said = "stand now" if self.session.who_wrote else "stand no more"
            self.notice(f"stage and step {said} left of the lines of the diff: F shows it")

    def action_next_diff_mode(self) -> None:
        """Other states to compare."""
        self.apply(self.session.next_mode())

    def action_reveal_reference(self) -> None:
        """The reference becomes a mode."""
        self.apply(self.session.reveal_reference())

    def action_next_error(self) -> None:
        """To the next step with an error."""
        self.jump("error", 1)

    def action_previous_error(self) -> None:
        """To the one before."""
        self.jump("error", -1)

    def action_next_edit(self) -> None:
        """To the next step that writes a file."""
        self.jump("edit", 1)

    def action_previous_edit(self) -> None:
        """To the one before."""
        self.jump("edit", -1)

    def action_next_test_run(self) -> None:
        """To the next self-test."""
        self.jump("test", 1)

    def action_previous_test_run(self) -> None:
        """To the one before."""
        self.jump("test", -1)

    def action_next_file(self) -> None:
        """To the next file of the diff."""
        self.jump_file(1)

    def action_previous_file(self) -> None:
        """To the file before."""
        self.jump_file(-1)
