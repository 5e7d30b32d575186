"""Keeps the rows of a list of runs, so that it is there at once when it is opened again.

A row counts as long as no file or folder of its run that lies near its top has changed, and
neither has the chain.json that it points to. Tasks beside the runs of other layouts are not
watched, which is why looking again reads everything anew.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arcview.analysis.overview import Overview
from arcview.analysis.verdicts import DEFAULT_POLICY, Policy
from arcview.errors import ArcviewError
from arcview.files import is_file
from arcview.session.library import LibraryRow, run_folders, summarise
from arcview.session.skeleton import cache_of

_DEPTH = 6
"""Folders below a run that are looked into; summaries lie higher than that."""
_MAX_ENTRIES = 5_000
"""A run with more files than that is read each time."""
_VIEW = "library"


@dataclass(frozen=True, slots=True)
class _KeptRow:
    path: str
    look: int
    name: str
    overview: Overview | None
    error: str | None
    is_glanced: bool

    @classmethod
    def of(cls, row: LibraryRow, look: int) -> _KeptRow:
        """A row as it is kept."""
        return cls(str(row.path), look, row.name, row.overview, row.error, row.is_glanced)

    def row(self) -> LibraryRow:
        """The row that was kept."""
        return LibraryRow(Path(self.path), self.name, self.overview, self.error, self.is_glanced)


@dataclass(frozen=True, slots=True)
class _Kept:
    rows: tuple[_KeptRow, ...]


def scan_kept(
    root: Path,
    policy: Policy = DEFAULT_POLICY,
    *,
    fresh: bool = False,
    cache_root: Path | None = None,
) -> Iterator[LibraryRow]:
    """As `library.scan`, with rows from the cache where their runs have not changed.

    Args:
        root: The folder.
        policy: Which outcomes count as ok.
        fresh: Reads every run.
        cache_root: The cache folder; the user's own by default.

    Raises:
        ArcviewError: there is no such folder.
    """
    folders = run_folders(root)
    return _rows(root, folders, policy, fresh, cache_root)


def _rows(
    root: Path, folders: Iterator[Path], policy: Policy, fresh: bool, cache_root: Path | None
) -> Iterator[LibraryRow]:
    cache, views = cache_of(root, cache_root)
    stamp = f"{policy}"
    kept = None if fresh else views.load(_VIEW, _Kept, stamp)
    known = {row.path: row for row in kept.rows} if kept is not None else {}
    now: list[_KeptRow] = []
    for path in folders:
        look = _look(path)
        before = known.get(str(path))
        if before is None or look is None or before.look != look:
            row = summarise(path, root, policy)
        else:
            row = before.row()
        if look is not None:
            now.append(_KeptRow.of(row, look))
        yield row
    if kept is None or tuple(now) != kept.rows:
        with suppress(ArcviewError):  # a cache that cannot be written costs time and nothing else
            cache.prepare()
            views.save(_VIEW, _Kept, stamp, _Kept(tuple(now)))


def _look(run: Path) -> int | None:
    """Sizes and times of what lies in a run, as a checksum; null where there is too much."""
    found: list[str] = []
    folders = [(os.fspath(run), 0)]
    while folders:
        folder, depth = folders.pop()
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                seen = entry.stat(follow_symlinks=False)
                size = 0 if is_folder else seen.st_size
                found.append(f"{entry.path}\0{size}\0{seen.st_mtime_ns}")
                if is_folder and depth < _DEPTH and entry.name not in (".git", "node_modules"):
                    folders.append((entry.path, depth + 1))
        if len(found) > _MAX_ENTRIES:
            return None
    found += _look_beside(run)
    return zlib.crc32("\n".join(sorted(found)).encode("utf-8", "surrogateescape"))


def _look_beside(run: Path) -> Iterator[str]:
    """Size and time of the chain.json that a run points to, and of its folder."""
    if not is_file(run / "run.json"):
        return
    from arcview.readers.runs.native_folder import pointed_chain

    chain = pointed_chain(run)
    for path in (chain, chain / "chain.json") if chain is not None else ():
        with suppress(OSError, ValueError):
            seen = path.stat()
            size = seen.st_size if path is not chain else 0
            yield f"{path}\0{size}\0{seen.st_mtime_ns}"
