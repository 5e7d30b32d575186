"""Which panes of the run screen there is room for. Pure."""

from __future__ import annotations

from arcview.session.run_session import Column, RunSession

WIDE = 120
"""Columns from which on three panes stand side by side."""
TALL = 30
"""Lines from which on the rail has boxes."""
_ROOM_FOR_STEPS = 18
"""Lines from which on the trajectory stands under the other panes."""


def is_wide(width: int) -> bool:
    """Whether the panes stand side by side instead of being tabs."""
    return width >= WIDE


def is_tall(height: int) -> bool:
    """Whether the rail has boxes."""
    return height >= TALL


def visible_columns(session: RunSession, width: int, height: int) -> frozenset[Column]:
    """The panes that are on the screen at a size."""
    if session.zoomed:
        return frozenset((session.column,))
    upper = (Column.DIFF, Column.GATE, Column.SELF_TESTS) if is_wide(width) else (session.tab,)
    if height >= _ROOM_FOR_STEPS:
        return frozenset((*upper, Column.TRAJECTORY))
    return frozenset((Column.TRAJECTORY,) if session.column is Column.TRAJECTORY else upper)
