"""The folders of a native run: finds files in them and refuses every path that leaves them.

The chain folder is a second root. Only run.json's `chain` field may point out of the run folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from arcview.errors import BadInputError
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
    pure = PurePosixPath(relative)
    stays = "it is not followed: paths stay inside the folder"
    if pure.is_absolute() or ".." in pure.parts or "\0" in relative:
        raise BadInputError(relative, f"the path leaves its folder; {stays}")
    path = root / pure
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError) as error:  # a loop of links; which one depends on the version
        raise BadInputError(relative, f"a link that leads nowhere; {stays}") from error
    if not resolved.is_relative_to(root.resolve()):
        raise BadInputError(relative, f"a link leads out of its folder; {stays}")
    return path


@dataclass(frozen=True, slots=True)
class Folder:
    """One root with the problems found on the way to its files."""

    root: Path
    prefix: str
    """What its files are called by: empty for the run, `chain/` for the chain."""
    problems: list[Problem] = field(default_factory=list)

    def find(self, relative: str) -> Path | None:
        """What lies at a relative path; null where nothing does or the path leaves (reported)."""
        try:
            path = inside(self.root, relative)
        except BadInputError as error:
            problem = Problem(self.prefix + relative, error.expected)
            if problem not in self.problems:
                self.problems.append(problem)
            return None
        # A link whose target is gone is nothing; exists() says so.
        return path if path.exists() else None

    def file(self, relative: str) -> Path | None:
        """As `find`, for files only."""
        path = self.find(relative)
        return path if path is not None and path.is_file() else None

    def directory(self, relative: str) -> Path | None:
        """As `find`, for folders only."""
        path = self.find(relative)
        return path if path is not None and path.is_dir() else None

    def names(self, relative: str) -> tuple[str, ...]:
        """The names in a folder, sorted; none where there is no such folder."""
        path = self.directory(relative)
        return () if path is None else tuple(sorted(entry.name for entry in path.iterdir()))


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


def stage_folders(run: Folder) -> Iterator[StageFolder]:
    """The folders below `stages/`, in the order of their states; other names are left alone."""
    found = []
    for name in run.names("stages"):
        match = _STAGE_FOLDER.fullmatch(name)
        if match and run.directory(f"stages/{name}") is not None:
            found.append(StageFolder(name, int(match[1]), match[2]))
    yield from sorted(found, key=lambda folder: (folder.stage, folder.between or ""))


def chain_folder(run: Folder, fields: Fields) -> Folder | None:
    """The chain folder that run.json names, or `chain/`; null where there is no chain.json in it.

    Nothing below a place without a chain.json is ever looked at, since the field may point
    anywhere.
    """
    pointer = fields.text("chain")
    if pointer is None:
        root = run.directory("chain")
    elif PurePosixPath(pointer).is_absolute() or "\0" in pointer:
        note(fields, "chain", f'"{pointer}" is absolute; a path relative to the run is expected')
        return None
    else:
        root = run.root / pointer
    if root is None:
        return None
    if not (root / "chain.json").is_file():
        note(fields, "chain", f'there is no chain.json at "{pointer or "chain"}"')
        return None
    return Folder(root.resolve(), CHAIN_PREFIX, run.problems)
