"""What leads where: from a file to the steps that edited it, from a frame to a file. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from arcview.analysis.edits import edits_of
from arcview.analysis.frames import PathMapper
from arcview.model.trajectory import ToolCall, ToolKind, Trajectory


def steps_editing(trajectory: Trajectory, path: str, mapper: PathMapper) -> tuple[str, ...]:
    """Keys of the steps in which an edit tool wrote that file, in order.

    Shell commands that write files are not among them: what they wrote is not in their arguments.

    Args:
        trajectory: The stage's steps.
        path: The file, relative to the workspace.
        mapper: Maps the paths of the agent's container to files of the workspace.
    """
    return tuple(
        step.key
        for step in trajectory.steps
        if any(mapper.resolve(named) == path for call in step.calls for named in _paths(call))
    )


def _paths(call: ToolCall) -> Iterator[str]:
    if call.kind not in (ToolKind.WRITE, ToolKind.EDIT):
        return
    if call.path is not None:
        yield call.path
    for edit in edits_of(call):
        yield edit.path


def next_in(keys: tuple[str, ...], current: str | None) -> str | None:
    """The key after the current one, round and round; the last where none is current."""
    if not keys:
        return None
    if current not in keys:
        return keys[-1]
    return keys[(keys.index(current) + 1) % len(keys)]
