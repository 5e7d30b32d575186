"""What lies below a folder and opens by its own path, though no list of runs has it.

Test reports and single patches: nothing tells that one of them is the run that somebody means, so
they are only pointed at. Reads the beginnings of files; must not import pydantic.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from arcview.errors import ArcviewError
from arcview.files import is_file
from arcview.readers.run_layouts import SKIPPED_FOLDERS, detect_run

_ENDINGS = (".xml", ".json", ".jsonl", ".txt", ".log", ".tap", ".out", ".patch", ".diff")
_MAX_FILES = 500
_MAX_FOLDERS = 3_000
"""How many files and folders are looked into."""
_LEVELS = 8
_KINDS = {"report": ("test report", "test reports"), "patch": ("patch", "patches")}


@dataclass(frozen=True, slots=True)
class Unlisted:
    """One file that is no run of a list."""

    path: Path
    kind: str
    """`report` or `patch`."""

    @property
    def called(self) -> str:
        """What it is, in words."""
        return _KINDS[self.kind][0]


@dataclass(slots=True)
class _Left:
    """How much may still be looked into."""

    files: int = _MAX_FILES
    folders: int = _MAX_FOLDERS


def unlisted(root: Path, runs: Collection[Path] = ()) -> list[Unlisted]:
    """The reports and patches below a folder that lie in no run, in order of their paths.

    Args:
        root: The folder.
        runs: The runs that were found below it.
    """
    return list(_unlisted(root, frozenset(runs), _Left(), _LEVELS))


def in_place_of_runs(root: Path) -> str | None:
    """What a folder without runs holds instead, and how to open it; null where that is nothing."""
    found = unlisted(root)
    if not found:
        return None
    counts = Counter(each.kind for each in found)
    said = [f"{n} {_KINDS[kind][n != 1]}" for kind, n in sorted(counts.items(), reverse=True)]
    which = "open it by its path:" if len(found) == 1 else "open one by its path, such as"
    return f"{' and '.join(said)}: {which} {found[0].path}"


def _unlisted(folder: Path, runs: Collection[Path], left: _Left, levels: int) -> Iterator[Unlisted]:
    left.folders -= 1
    for path, is_folder in _entries(folder) if left.folders >= 0 else ():
        if path in runs:
            continue
        if is_folder:
            if levels > 1 and detect_run(path) is None and not is_file(path / ".git" / "HEAD"):
                yield from _unlisted(path, runs, left, levels - 1)
        elif (kind := _kind_of(path, left)) in _KINDS:
            yield Unlisted(path, str(kind))


def _entries(folder: Path) -> list[tuple[Path, bool]]:
    """The folders to look into, and the files that may be reports, by name."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED_FOLDERS:
                        found.append((folder / entry.name, True))
                elif entry.name.lower().endswith(_ENDINGS) and entry.is_file(follow_symlinks=False):
                    found.append((folder / entry.name, False))
    except OSError:
        return []
    return sorted(found)


def _kind_of(path: Path, left: _Left) -> str | None:
    from arcview.readers.runs.lone_file import kind_of  # imports every reader's words

    left.files -= 1
    if left.files < 0:
        return None
    try:
        found = kind_of(path)
    except ArcviewError:
        return None
    return found.kind if found is not None else None
