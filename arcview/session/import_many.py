"""Imports every run below a folder, each into a folder of its own; one that fails ends no other.

A run keeps its path below the folder, so that nothing can collide. Each is whole or not there (see
`import_run`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arcview.config import Settings
from arcview.errors import ArcviewError
from arcview.files import is_file
from arcview.readers.registry import find_run_reader
from arcview.readers.runs.native import RUN_FILE, NativeReader
from arcview.session.import_run import Written, write_run
from arcview.session.opened import OpenRun


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one run."""

    name: str
    """Its path below the folder that was imported, and below the new one."""
    written: Written | None
    """Null where it was not imported."""
    error: str | None = None
    """Why it was not, in one line."""
    is_there: bool = False
    """The same run was imported to its place before."""


def check_place(root: Path, out: Path) -> None:
    """Refuses a place among the runs themselves: what is written there would be found again.

    Raises:
        ArcviewError: names the place.
    """
    if out.resolve().is_relative_to(root.resolve()):
        raise ArcviewError(f"{out}: inside the folder that is imported; choose another place")


def name_below(root: Path, run: Path) -> str:
    """What a run is called among those of a folder."""
    return run.relative_to(root).as_posix()


def write_runs(
    root: Path, runs: Sequence[Path], out: Path, settings: Settings
) -> Iterator[Imported]:
    """Imports runs one after the other, and says of each what became of it.

    Args:
        root: The folder that they were found below.
        runs: The runs.
        out: The folder that they are written below; may be there, what is in it stays.
        settings: What the user set.
    """
    for run in runs:
        name = name_below(root, run)
        try:
            yield _imported(name, run, out / name, settings)
        finally:
            _remove_empty((out / name).parent, out)


def _imported(name: str, run: Path, place: Path, settings: Settings) -> Imported:
    if _is_there(run, place):
        return Imported(name, None, is_there=True)
    try:
        return Imported(name, write_run(OpenRun.open(run, settings=settings), place))
    except ArcviewError as error:
        why = str(error).removeprefix(f"{place}: ").removeprefix(f"{run}: ")
        return Imported(name, None, why)
    except Exception as error:  # noqa: BLE001 -- a foreign reader must not end the others
        first_line = next(iter(str(error).splitlines()), "")
        return Imported(name, None, f"{type(error).__name__}: {first_line}")


def _is_there(run: Path, place: Path) -> bool:
    """Whether a place holds what an import of this very run wrote; such a folder is whole."""
    if not is_file(place / RUN_FILE):
        return False
    try:
        reader, _ = find_run_reader(run)
        return NativeReader().summarise(place).run_id == reader.summarise(run).run_id
    except Exception:  # noqa: BLE001 -- a foreign reader may break; importing it says what is wrong
        return False


def _remove_empty(folder: Path, top: Path) -> None:
    """Removes folders that were made for a run that did not come to be; others are not empty."""
    with suppress(OSError):
        while folder.is_relative_to(top):
            folder.rmdir()
            folder = folder.parent
