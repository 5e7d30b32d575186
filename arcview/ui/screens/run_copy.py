"""The part of a run that a copy key takes, by what the cursor of the run screen is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcview.session.copied import CopyPart, hunk_text, part_of_tests
from arcview.ui.rows.gate import GateRows
from arcview.ui.rows.self_tests import SelfTestRows
from arcview.ui.screens.annotate_places import under_cursor

if TYPE_CHECKING:
    from arcview.ui.screens.run import RunScreen


def part_under_cursor(screen: RunScreen, part: CopyPart) -> str:
    """The text to copy; empty where there is none."""
    if part == "address":
        return "\n".join(str(address) for address in under_cursor(screen))
    if part == "hunk":
        return _hunk(screen)
    view = screen.rows_view
    if view is None:
        return ""
    source = view.source
    if isinstance(source, GateRows):
        return part_of_tests(source.members(view.cursor), part)
    if isinstance(source, SelfTestRows):
        test = source.at(view.cursor).gate_test
        return part_of_tests([test] if test is not None else [], part)
    step = screen.long.steps.step if screen.long is not None else None
    is_step = part == "message" and screen.long is not None and view is screen.long.steps
    return step.text if is_step and step is not None else ""


def _hunk(screen: RunScreen) -> str:
    """The hunk under the cursor of the diff; all of the file's on its heading."""
    diff = screen.long.diff if screen.long is not None else None
    position = diff.position if diff is not None else None
    file = diff.rows.file_at(diff.cursor) if diff is not None else None
    if position is None or file is None or file.prepared is None:
        return ""
    hunks = file.prepared.patch.hunks
    chosen = hunks if position.hunk is None else hunks[position.hunk : position.hunk + 1]
    return hunk_text(position.change, chosen) if chosen else ""
