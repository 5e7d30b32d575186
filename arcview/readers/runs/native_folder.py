"""The folders of a native run: finds files in them and refuses every path that leaves them.

The chain folder is a second root. Only run.json's `chain` field may point out of the run folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from arcview.errors import BadInputError
from arcview.files import exists, is_dir, is_file, why_unreadable
from arcview.model.problem import Problem
from arcview.readers.fields import Fields
from arcview.readers.runs.native_fields import note

CHAIN_PREFIX = "chain/"
"""How files of the chain folder are named, wherever it lies."""

_STAGE_FOLDER = re.compile(r"(0|[1-9][0-9]*)(?:\.(.+))?")


def inside(root: Path, relative: str) -> Path:
    """A path below `root`, whether or not there is something at it.

    Raises:
        BadInputError: it is absolute, has `..` in it, or a link on it leads out of `root`.
    """
    return _inside(root, os.path.realpath(root), relative)


def _inside(root: Path, real_root: str, relative: str) -> Path:
    pure = PurePosixPath(relative)
    stays = "it is not followed: paths stay inside the folder"
    if not _can_be_a_path(relative):
        raise BadInputError(relative, "no file can be called that")
    if pure.is_absolute() or ".." in pure.parts:
        raise BadInputError(relative, f"the path leaves its folder; {stays}")
    path = root / pure
    real = os.path.realpath(path)
    if real != real_root and not real.startswith(real_root.rstrip("/") + "/"):
        raise BadInputError(relative, f"a link leads out of its folder; {stays}")
    return path


def _can_be_a_path(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


@dataclass(frozen=True, slots=True)
class StageFolder:
    """A folder below `stages/`: `2` belongs to stage 2, `2.refactor` to what followed it."""

    name: str
    stage: int
    between: str | None
    """Name of what made a between-state."""

    @property
    def path(self) -> str:
        """Relative to the run folder."""
        return f"stages/{self.name}"

    @property
    def state_id(self) -> str:
        """Id of the state that it holds."""
        return f"S{self.name}"


class Folder:
    """One root with the problems found on the way to its files.

    Args:
        root: The folder.
        prefix: What its files are called by: empty for the run, `chain/` for the chain.
        problems: Gets a line for each path that leaves the folder.
    """

    def __init__(self, root: Path, prefix: str, problems: list[Problem]) -> None:
        self.root = root
        self.prefix = prefix
        self.problems = problems
        self._real_root = os.path.realpath(root)
        self._stages: tuple[StageFolder, ...] | None = None

    def find(self, relative: str) -> Path | None:
        """What lies at a relative path; null where nothing does or the path leaves (reported)."""
        try:
            path = _inside(self.root, self._real_root, relative)
        except BadInputError as error:
            self._report(relative, error.expected)
            return None
        # Nothing is at a link that leads nowhere or in a circle.
        if not exists(path):
            return None
        if not (is_file(path) or is_dir(path)) and (why := why_unreadable(path)) is not None:
            self._report(relative, why)
            return None
        return path

    def _report(self, relative: str, what: str) -> None:
        problem = Problem(self.prefix + relative, what)
        if problem not in self.problems:
            self.problems.append(problem)

    def file(self, relative: str) -> Path | None:
        """As `find`, for files only."""
        path = self.find(relative)
        return path if path is not None and is_file(path) else None

    def directory(self, relative: str) -> Path | None:
        """As `find`, for folders only."""
        path = self.find(relative)
        return path if path is not None and is_dir(path) else None

    def names(self, relative: str) -> tuple[str, ...]:
        """The names in a folder, sorted; none where there is no such folder."""
        path = self.directory(relative)
        if path is None:
            return ()
        try:
            return tuple(sorted(entry.name for entry in path.iterdir()))
        except OSError as error:
            self._report(relative, f"cannot be read: {error.strerror}")
            return ()

    def watched(self, relative: str) -> Iterator[Path]:
        """What shows that a file or folder changed: it, and all folders and files in it."""
        yield self.root / relative
        yield from (self.root / relative / name for name in self.names(relative))

    def stages(self) -> tuple[StageFolder, ...]:
        """The folders below `stages/` in the order of their states; other names are left alone."""
        if self._stages is None:
            found = []
            for name in self.names("stages"):
                match = _STAGE_FOLDER.fullmatch(name)
                if match and self.directory(f"stages/{name}") is not None:
                    found.append(StageFolder(name, int(match[1]), match[2]))
            found.sort(key=lambda folder: (folder.stage, folder.between or ""))
            self._stages = tuple(found)
        return self._stages


def pointed_chain(run: Path) -> Path | None:
    """The chain folder that a run's run.json points to, whether or not anything is there.

    Null where it points to none: what lies in the run itself is seen with the run.
    """
    try:
        pointer = Fields.json_file(run / "run.json", "run.json", []).text("chain")
    except BadInputError:
        return None
    if pointer is None or not _can_be_a_path(pointer) or PurePosixPath(pointer).is_absolute():
        return None
    return run / pointer


def chain_folder(run: Folder, fields: Fields) -> Folder | None:
    """The chain folder that run.json names, or `chain/`; null where there is no chain.json in it.

    Nothing below a place without a chain.json is ever looked at, since the field may point
    anywhere.
    """
    pointer = fields.text("chain")
    if pointer is None:
        root = run.directory("chain")
    elif PurePosixPath(pointer).is_absolute() or not _can_be_a_path(pointer):
        note(fields, "chain", f'"{pointer}" is not a path relative to the run')
        return None
    else:
        root = run.root / pointer
    if root is None:
        return None
    if not is_file(root / "chain.json"):
        place = f'"{pointer or "chain"}"'
        why = why_unreadable(root) if is_dir(root) else None
        note(fields, "chain", f"{place} {why}" if why else f"there is no chain.json at {place}")
        return None
    return Folder(root.resolve(), CHAIN_PREFIX, run.problems)
