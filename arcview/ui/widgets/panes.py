"""The short panes of the run screen, with the keys that the command registry gives them.

Diff and steps are in modules of their own: they are not needed for the first frame.
"""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from arcview.session.commands import Context
from arcview.ui.bindings import widget_bindings
from arcview.ui.widgets.row_view import RowView


class ListPane(RowView, inherit_bindings=False):
    """A list or text, also in the place of a pane that is still to come."""

    BINDINGS: ClassVar[list[BindingType]] = widget_bindings(Context.ROWS)


class GatePane(RowView, inherit_bindings=False):
    """What the gate says."""

    BINDINGS: ClassVar[list[BindingType]] = widget_bindings(Context.GATE)


class SelfTestPane(RowView, inherit_bindings=False):
    """What the agent tested."""

    BINDINGS: ClassVar[list[BindingType]] = widget_bindings(Context.SELF_TESTS)
