"""The beginning of what takes long to read, so that its first steps are seen at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from arcview.errors import BadInputError
from arcview.files import is_file, open_file
from arcview.model.run import Run
from arcview.model.trajectory import Step, Trajectory
from arcview.model.trajectory_refs import TrajectoryRef
from arcview.readers.parts import turn_starts
from arcview.readers.runs.assembled import read_ref
from arcview.session.run_steps import beginning_name, files_of

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun

_BEGINNING_BYTES = 1 << 19


def beginning(opened: OpenRun, stage: int, state: str | None = None) -> Trajectory | None:
    """The first steps, as far as the first bytes of the first file tell them.

    Null where they tell none, and for a part of a session that begins later.
    """
    name = beginning_name(stage, state)
    found = opened.load_view(name, Trajectory)
    if found is None:
        found = _read(opened, stage, state)
        opened.save_view(name, Trajectory, found)
    return found if found.steps else None


def has_more_stages(run: Run, steps: Trajectory) -> bool:
    """Whether a run that was glanced at has more stages, by all of its steps."""
    return run.is_glanced and len(turn_starts(steps.heads)) > 1


def _read(opened: OpenRun, stage: int, state: str | None) -> Trajectory:
    refs = opened.trajectory_refs(stage, state)
    path = next(iter(files_of(opened, stage, state)), None)
    if path is None or not is_file(path) or not _begins(refs[0]):
        return Trajectory("none")
    try:
        with open_file(path) as file:
            head = file.read(_BEGINNING_BYTES)
    except OSError as error:
        raise BadInputError(str(path), f"cannot be read: {error.strerror}") from error
    lines, _, _ = head.rpartition(b"\n")
    is_lines = lines.startswith(b"{") and lines.endswith(b"}") and b"\n" in lines
    # To a reader it is a file that is still being written: it shows what is whole.
    with TemporaryDirectory(prefix="arcview-") as folder:
        (Path(folder) / path.name).write_bytes(lines + b"\n" if is_lines else head)
        found = read_ref(Path(folder), replace(refs[0], path=path.name, companions=()))
        steps = tuple(found.steps)
    steps = steps if is_lines else steps[:-1]  # the last one may be cut
    return replace(found, steps=_answered(steps), problems=(), exit_status=None, patch=None)


def _begins(ref: TrajectoryRef) -> bool:
    """Whether the beginning of a file is that of the part."""
    is_first = ref.turns is None or ref.turns[0] == 1
    return is_first and ref.since is None and ref.until is None


def _answered(steps: Sequence[Step]) -> Sequence[Step]:
    """Without the last steps whose results come later: that these are missing says nothing."""
    shown = len(steps)
    while shown and (_waits(steps[shown - 1]) or (shown > 1 and _waits(steps[shown - 2]))):
        shown -= 1
    return tuple(steps[:shown])


def _waits(step: Step) -> bool:
    return any(call.result is None for call in step.calls)
