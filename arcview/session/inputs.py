"""Whether what a view was computed from is still the same: sizes and times of files and folders."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Input:
    """What a file or folder looked like when it was read; -1 where it was not there."""

    path: str
    size_bytes: int
    mtime_ns: int


def look_at_all(run: Path, files: Iterable[Path]) -> tuple[Input, ...]:
    """Notes the run folder, the given files and their folders, as a new file only shows there."""
    named = set(files)
    watched = {run, *named, *(file.parent for file in named)}
    return tuple(_look_at(os.fspath(path)) for path in sorted(watched))


def changed(inputs: Iterable[Input]) -> bool:
    """Whether anything is not what it was."""
    return any(_look_at(known.path) != known for known in inputs)


def _look_at(path: str) -> Input:
    try:
        found = os.stat(path)  # noqa: PTH116 -- a Path costs as much again, for hundreds of files
    except OSError:
        return Input(path, -1, -1)
    return Input(path, found.st_size, found.st_mtime_ns)


_CODE = (
    "analysis",
    "model",
    "readers",
    "readers/reports",
    "readers/reports/logs",
    "readers/runs",
    "readers/trajectories",
    "session",
)


def code_stamp() -> str:
    """Tells states of this program's own code apart, so that who works on it sees no old views."""
    newest = count = 0
    package = Path(__file__).parent.parent
    for part in _CODE:
        with suppress(OSError), os.scandir(package / part) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    count += 1
                    newest = max(newest, entry.stat().st_mtime_ns)
    return f"{count:x}-{newest:x}"
