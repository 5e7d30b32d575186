"""The runs below a folder, one row each, from their summary files alone.

A run that cannot be read is a row that says what is wrong. No single test, trajectory or
workspace is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from arcview.analysis.overview import Overview, build_overview
from arcview.analysis.verdicts import DEFAULT_POLICY, Policy
from arcview.errors import ArcviewError
from arcview.files import exists, is_dir, why_unreadable

Sign = TypeVar("Sign")
_MANY = 20
"""From so many equal signs on nobody counts them by eye."""


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """One run folder."""

    path: Path
    name: str
    """The path below the folder that was listed; its own name where that is the run itself."""
    overview: Overview | None
    """Null where the run cannot be read. What depends on single tests or steps is null in it."""
    error: str | None = None
    """What is wrong with a run that cannot be read, in one line."""
    is_glanced: bool = False
    """Only the ends of a long session were looked at: how many stages it has is not known."""


def scan(root: Path, policy: Policy = DEFAULT_POLICY) -> Iterator[LibraryRow]:
    """Yields a row for each run at or below a folder, in order of their paths, as it finds them.

    Raises:
        ArcviewError: there is no such folder.
    """
    return (summarise(path, root, policy) for path in run_folders(root))


def run_folders(root: Path) -> Iterator[Path]:
    """Yields each run at or below a folder, in order of their paths.

    Raises:
        ArcviewError: there is no such folder, or it may not be read.
    """
    if not is_dir(root):
        kind = "not a folder" if exists(root) else "no such folder"
        raise ArcviewError(f"{root}: {kind}; give a folder with runs")
    if (why := why_unreadable(root)) is not None:
        raise ArcviewError(f"{root}: {why}")
    # Imported here because a library that is never opened should cost a run screen nothing.
    from arcview.readers.registry import iter_runs

    return iter_runs(root)


def summarise(path: Path, root: Path, policy: Policy = DEFAULT_POLICY) -> LibraryRow:
    """The row of one run folder below `root`."""
    from arcview.readers.registry import find_run_reader

    name = str(path.relative_to(root)) if path != root else path.resolve().name
    try:
        reader, _ = find_run_reader(path)
        run = reader.summarise(path)
        overview = build_overview(run, policy=policy)
    except ArcviewError as error:
        return LibraryRow(path, name, None, str(error))
    except Exception as error:  # noqa: BLE001 -- one bad run, or a foreign reader, must not end the list
        first_line = next(iter(str(error).splitlines()), "")
        return LibraryRow(path, name, None, f"{path}: {type(error).__name__}: {first_line}")
    overview = replace(overview, path=str(path))
    return LibraryRow(path, name, overview, is_glanced=run.is_glanced)


def signs_counted(signs: Iterable[Sign]) -> Iterator[tuple[Sign, int]]:
    """The signs of stages, each once; of many equal ones in a row one, and how many there are."""
    for sign, equal in groupby(signs):
        count = sum(1 for _ in equal)
        if count >= _MANY:
            yield sign, count
        else:
            yield from ((sign, 1) for _ in range(count))
