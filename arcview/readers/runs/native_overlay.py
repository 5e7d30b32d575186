"""Which files a gate of a native chain lays over the workspace: its own, hidden from the agent.

Read for showing a run and for running its gates again, which must not differ. Loads no pydantic.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from arcview.files import is_file
from arcview.readers.fields import Fields
from arcview.readers.runs.native_fields import has, note, path_of
from arcview.readers.runs.native_folder import Folder


@dataclass(frozen=True, slots=True)
class Laid:
    """One file that chain.json lists, or that lies in the overlay folder of its gate."""

    path: str
    """In the workspace, in its plain form."""
    place: str
    """Where it should lie, relative to the chain's folder."""
    sha256: str | None = None
    """As listed."""


def laid_files(entry: Fields, chain: Folder, gate: str) -> tuple[Laid, ...]:
    """The listed files; without a list, all that lie in the overlay folder of the gate.

    Args:
        entry: The gate in chain.json; takes what is wrong with its list.
        chain: The folder of the chain.
        gate: Id of the gate.
    """
    folder = f"gates/{gate}/overlay"
    if has(entry, "overlay"):
        files = entry.records("overlay")
        listed = [(_inner_path(file), file.text("sha256")) for file in files]
        return tuple(Laid(path, f"{folder}/{path}", sha) for path, sha in listed if path)
    root = chain.directory(folder)
    if root is None:
        return ()
    names = sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if is_file(p))
    return tuple(Laid(name, f"{folder}/{name}") for name in names)


def _inner_path(file: Fields) -> str | None:
    """A path that stays below a folder, in its plain form."""
    path = path_of(file, "path")
    if path is None:
        return None
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        note(file, "path", f"{ascii(path)[:80]} leaves its folder")
        return None
    return str(pure)
