"""The diff and trajectory panes with the keys of the registry; imported after the first frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.worker import Worker, WorkerState

from arcview.session.commands import Context
from arcview.ui.bindings import widget_bindings
from arcview.ui.widgets.diff import DiffTree, DiffView
from arcview.ui.widgets.steps import StepsView

_LEAST_LINES = 8
"""Lines of the trajectory pane, however few steps there are."""
_BORDERS = 2


class DiffPane(DiffView, inherit_bindings=False):
    """What changed between two states."""

    BINDINGS: ClassVar[list[BindingType]] = widget_bindings(Context.DIFF)

    @dataclass
    class Failed(Message):
        """The thread that loads files ended with a fault."""

        worker: Worker[object]

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Tells the screen: the states of a worker do not bubble by themselves."""
        if event.state is WorkerState.ERROR:
            self.post_message(self.Failed(event.worker))


class TreePane(DiffTree, inherit_bindings=False):
    """The changed files as a tree; stands in the place of the diff while it is wanted."""

    BINDINGS: ClassVar[list[BindingType]] = widget_bindings(Context.TREE)


class StepsPane(StepsView, inherit_bindings=False):
    """What the agent did."""

    BINDINGS: ClassVar[list[BindingType]] = widget_bindings(Context.TRAJECTORY)

    replaying = False
    """Space plays and pauses instead of opening a step; enter still opens it."""

    takes_all = False
    """As tall as its place, however few rows there are."""

    when_gone: Callable[[], None] | None = None
    """Called when the pane has left the screen."""

    def on_unmount(self) -> None:
        """Tells whoever holds what it showed."""
        if self.when_gone is not None:
            self.when_gone()

    class PlayWanted(Message):
        """Space was pressed in a replay."""

    def action_toggle_step(self) -> None:
        """Opens or closes the step under the cursor; in a replay, plays or pauses."""
        if self.replaying:
            self.post_message(self.PlayWanted())
        else:
            super().action_toggle_step()

    def redraw_rows(self) -> None:
        """Takes no more lines than it has rows; the panes above have the rest."""
        super().redraw_rows()
        if self.takes_all:
            return
        self.styles.max_height = max(_LEAST_LINES, len(self.source) + _BORDERS)
