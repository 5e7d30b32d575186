"""Takes reports out of the tar stream that an engine sends; nothing of it is trusted.

Only plain files that were asked for are written, under names of our own.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from arcview.errors import ArcviewError
from arcview.states.archive import Limits

LIMITS = Limits(members=10_000, total_bytes=512 << 20)
"""What the results of one gate run may be at most, and one of them that is taken by itself."""

WORKSPACE_LIMITS = Limits()
"""As for a workspace archive."""

_SMALL_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Taken:
    """What came out of one stream."""

    names: tuple[str, ...] = ()
    """Members that were written."""
    refused: tuple[str, ...] = ()
    """Members that were asked for and are no plain file, and those that lead elsewhere."""
    damage: str | None = None
    """Why the stream could not be read to its end."""
    is_too_much: bool = False
    """It was not read on since it holds more than the limits."""


class _Stream:
    """The chunks of a response as a file."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        parts = [self._rest]
        have = len(self._rest)
        while size < 0 or have < size:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            parts.append(chunk)
            have += len(chunk)
        data = b"".join(parts)
        end = len(data) if size < 0 else size
        self._rest = data[end:]
        return data[:end]


def take(chunks: Iterable[bytes], wanted: Mapping[str, Path], limits: Limits = LIMITS) -> Taken:
    """Writes the wanted members of a tar stream.

    Args:
        chunks: The stream.
        wanted: Name of a member, without `./` → where it goes.
        limits: What is too much.
    """
    names: list[str] = []
    refused: list[str] = []
    left_bytes, left_members = limits.total_bytes, limits.members
    try:
        with tarfile.open(fileobj=_Stream(chunks), mode="r|") as archive:  # type: ignore[call-overload]
            while (member := archive.next()) is not None:
                left_members -= 1
                left_bytes -= max(member.size, 0)
                if left_members < 0 or left_bytes < 0:
                    why = "more than results may be"
                    return Taken(tuple(names), tuple(refused), why, is_too_much=True)
                archive.members = []
                name = member.name.removeprefix("./")
                if _leads_out(name) or not (member.isreg() or member.isdir()):
                    refused.append(member.name)
                elif name in wanted and member.isreg():
                    _write(archive, member, wanted[name])
                    names.append(name)
    except (tarfile.TarError, EOFError, ValueError, RecursionError) as error:
        return Taken(tuple(names), tuple(refused), f"cut or damaged: {error}")
    return Taken(tuple(names), tuple(refused))


def read_member(chunks: Iterable[bytes]) -> bytes:
    """The content of the first file of a tar stream; empty where it has none."""
    with tarfile.open(fileobj=_Stream(chunks), mode="r|") as archive:  # type: ignore[call-overload]
        member = archive.next()
        content = archive.extractfile(member) if member is not None and member.isreg() else None
        return b"" if content is None else content.read(_SMALL_BYTES)


def list_files(chunks: Iterable[bytes], limits: Limits = WORKSPACE_LIMITS) -> frozenset[str]:
    """The files and links of a tar stream, relative to its topmost folder.

    Raises:
        ArcviewError: there are too many.
    """
    found: set[str] = set()
    left_bytes, left_members = limits.total_bytes, limits.members
    with tarfile.open(fileobj=_Stream(chunks), mode="r|") as archive:  # type: ignore[call-overload]
        while (member := archive.next()) is not None:
            left_members -= 1
            left_bytes -= max(member.size, 0)
            if left_members < 0 or left_bytes < 0:
                raise ArcviewError("the workspace in the image is too large to look through")
            archive.members = []
            _, _, path = member.name.removeprefix("./").partition("/")
            if path and not member.isdir():
                found.add(path)
    return frozenset(found)


def _leads_out(name: str) -> bool:
    return name.startswith("/") or ".." in name.split("/") or "\0" in name


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    content = archive.extractfile(member)
    if content is None:
        return
    with path.open("wb") as file:
        while data := content.read(1 << 20):
            file.write(data)
