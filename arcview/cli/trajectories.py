"""`arcview export --format atif`: the trajectories of a run as documents for other tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.cli.parts import EXIT_OK, UsageError, print_json
from arcview.errors import ArcviewError
from arcview.files import is_dir

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun


def export_atif(run: OpenRun, stage: int | None, target: Path | None) -> int:
    """Writes one trajectory to a file or the terminal, or those of all stages into a folder.

    Args:
        run: The run.
        stage: Its number; null for every stage, and for the pass after each.
        target: The file or the folder; null for the terminal. Images are written beside a file.

    Raises:
        UsageError: there are several trajectories and no folder for them.
        ArcviewError: there are no steps, or the target cannot be written.
    """
    if stage is not None:
        return _one(run, stage, None, target)
    there = [*_recorded(run)]
    if not there:
        raise ArcviewError(f"{run.run.path}: nothing to export: no trajectory is recorded")
    if len(there) == 1 and (target is None or not is_dir(target)):
        return _one(run, *there[0], target)
    if target is None:
        raise UsageError(
            f"this run has {len(there)} trajectories: choose one with --stage K, or give a folder "
            "for all of them with -o DIR"
        )
    for index, state in there:
        name = f"stage-{index}" if state is None else state
        _one(run, index, state, target / f"{name}.trajectory.json")
    return EXIT_OK


def _recorded(run: OpenRun) -> Iterator[tuple[int, str | None]]:
    """The stages, and the passes after them, that have a trajectory."""
    for stage in run.run.stages:
        states = [None, *(done.state for done in stage.passes)]
        yield from ((stage.index, s) for s in states if run.trajectory_refs(stage.index, s))


def _one(run: OpenRun, stage: int, state: str | None, target: Path | None) -> int:
    from arcview.session import twin
    from arcview.session.export_atif import export_atif as as_atif
    from arcview.session.export_atif import image_files

    trajectory = run.trajectory(stage, state)
    document = as_atif(trajectory, run.run, stage)
    if target is None:
        print_json(document)
        return EXIT_OK
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(twin.dumps(document, indent=2) + "\n", encoding="utf-8")
        for name, data in image_files(trajectory):
            image = target.parent / name
            image.parent.mkdir(exist_ok=True)
            image.write_bytes(data)
    except OSError as error:
        where = error.filename or str(target)
        raise ArcviewError(f"{where}: cannot be written: {error.strerror}") from error
    return EXIT_OK
