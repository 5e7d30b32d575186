"""What leads where: from a file to the steps that edited it, from a frame to a file. Pure."""

from __future__ import annotations

from arcview.analysis.frames import PathMapper
from arcview.model.trajectory import ToolCall, Trajectory


def steps_editing(trajectory: Trajectory, path: str, mapper: PathMapper) -> tuple[str, ...]:
    """Keys of the steps whose calls write that file as far as their text tells, in order.

    Args:
        trajectory: The stage's steps.
        path: The file, relative to the workspace.
        mapper: Maps the paths of the agent's container to files of the workspace.
    """
    from arcview.analysis.shell_edits import files_written  # 20 ms with the parser's tables

    name = path.rpartition("/")[2]

    def writes(call: ToolCall) -> bool:
        # Most commands do not name it, and parsing all of a long stage would be felt.
        if call.command is not None and name not in call.command:
            return False
        return any(named and mapper.resolve(named) == path for named in files_written(call))

    return tuple(step.key for step in trajectory.heads if any(map(writes, step.calls)))


def next_in(keys: tuple[str, ...], current: str | None) -> str | None:
    """The key after the current one, round and round; the last where none is current."""
    if not keys:
        return None
    if current not in keys:
        return keys[-1]
    return keys[(keys.index(current) + 1) % len(keys)]
