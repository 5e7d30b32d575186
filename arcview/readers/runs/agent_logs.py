"""Which files in an agent's folder are its trajectory: recognised by content, the best one taken.

Harnesses keep an agent's native log beside a conversion of it; both tell the same, so that only one
may count. Looks at the beginnings of files only.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from arcview.errors import ArcviewError
from arcview.files import is_file, is_symlink
from arcview.model.trajectory_refs import SessionRole, TrajectoryRef
from arcview.readers.inside import inside
from arcview.readers.registry import find_trajectory_reader

_ENDINGS = (".json", ".jsonl", ".traj", ".eval", ".txt", ".zst", ".gz")
_MAX_FILES = 400
_MAX_DEPTH = 8
_CONVERTED = ("atif",)
"""Formats that are made from native logs and have less."""
_JOINED = frozenset({"claude_code", "codex"})
"""Formats whose readers join a stream with the sessions behind it."""


def find_trajectories(
    root: Path,
    folder: str,
    role: SessionRole = SessionRole.MAIN,
    without: Container[str] = (),
) -> tuple[TrajectoryRef, ...]:
    """The trajectory in a folder of agent logs; empty where no file is one.

    Args:
        root: The run folder.
        folder: The agent's folder relative to it.
        role: What its sessions are to the stage.
        without: Names of files that are known to be something else.
    """
    names = [n for n in _candidates(root, folder) if n.rpartition("/")[2] not in without]
    by_format = _known(root, names, only_built_in=True)
    if not by_format:
        by_format = _known(root, names, only_built_in=False)
    if not by_format:
        return ()
    chosen = min(by_format, key=lambda known: (known in _CONVERTED, _depth(by_format[known])))
    files = sorted(by_format[chosen], key=lambda name: (name.count("/"), name))
    companions = tuple(files[1:]) if chosen in _JOINED else ()
    return (TrajectoryRef(files[0], chosen, role, companions=companions),)


def _known(root: Path, names: Iterable[str], *, only_built_in: bool) -> dict[str, list[str]]:
    """The files that somebody knows, by the ids of their formats."""
    by_format: dict[str, list[str]] = {}
    for name in names:
        try:
            _, detection = find_trajectory_reader(root / name, only_built_in=only_built_in)
        except ArcviewError:
            continue
        by_format.setdefault(detection.reader, []).append(name)
    return by_format


def _candidates(root: Path, folder: str) -> Iterator[str]:
    """Names of the files that may be trajectories, those higher up first."""
    try:
        top = inside(root, folder)
    except ArcviewError:
        return
    found = 0
    for current, folders, names in os.walk(top):
        place = Path(current)
        if len(place.relative_to(top).parts) >= _MAX_DEPTH:
            folders.clear()
        folders.sort()
        for name in sorted(names):
            file = place / name
            if not name.endswith(_ENDINGS) or is_symlink(file) or not is_file(file):
                continue
            found += 1
            if found > _MAX_FILES:
                return
            yield file.relative_to(root).as_posix()


def _depth(names: list[str]) -> int:
    return min(name.count("/") for name in names)
