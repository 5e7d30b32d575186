"""Trajectories that take long to read: their beginning at once, the rest without the collector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from arcview.files import is_dir, is_file, open_file
from arcview.model.trajectory import Trajectory, TrajectoryRef
from arcview.session.collector import held_collector

if TYPE_CHECKING:
    from arcview.readers.registry import OpenedRun
    from arcview.session.opened import OpenRun

_LONG_BYTES = 8 << 20
"""From here on nobody should wait for the whole of a trajectory."""
_BEGINNING_BYTES = 1 << 18


def read_steps(reader: Callable[[], OpenedRun], refs: Sequence[TrajectoryRef]) -> Trajectory:
    """The steps of a stage or pass."""
    with held_collector():
        return reader().trajectory(refs) if refs else Trajectory("none")


def is_long(opened: OpenRun, stage: int, state: str | None = None) -> bool:
    """Whether the files of a stage's (or pass's) trajectory are too large to wait for."""
    return sum(_size(path) for path in _files(opened, stage, state)) > _LONG_BYTES


def beginning(opened: OpenRun, stage: int, state: str | None = None) -> Trajectory | None:
    """The first steps of a log, as far as they can be told from its first lines.

    Null for a document that has to be parsed as a whole, and for a part of a longer session.
    """
    from arcview.readers.runs.assembled import read_ref  # only who opens something long

    refs = opened.trajectory_refs(stage, state)
    path = next(iter(_files(opened, stage, state)), None)
    if path is None or not is_file(path) or any((refs[0].since, refs[0].until, refs[0].turns)):
        return None
    with open_file(path) as file:
        head = file.read(_BEGINNING_BYTES)
    lines, _, _ = head.rpartition(b"\n")
    if b"\n" not in lines or not lines.startswith(b"{") or not lines.endswith(b"}"):
        return None
    with TemporaryDirectory(prefix="arcview-") as folder:
        (Path(folder) / path.name).write_bytes(lines + b"\n")
        found = read_ref(Path(folder), replace(refs[0], path=path.name, companions=()))
    return found if found.steps else None


def _files(opened: OpenRun, stage: int, state: str | None) -> list[Path]:
    root = Path(opened.run.path)
    folder = root if is_dir(root) else root.parent
    refs = opened.trajectory_refs(stage, state)
    return [folder / path for ref in refs for path in (ref.path, *ref.companions)]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
