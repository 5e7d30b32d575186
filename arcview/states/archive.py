"""Reads a workspace archive (`.tar`, gzip, bzip2, xz, zstd) straight into the object store.

Nothing is unpacked on disk. Members that would leave the workspace or are no files are refused by
name; an archive that is damaged or too large is refused whole.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from arcview.files import in_words, open_file
from arcview.states.objects import (
    MODE_EXECUTABLE,
    MODE_FILE,
    MODE_SYMLINK,
    Leaf,
    ObjectStore,
    SourceError,
)

if TYPE_CHECKING:
    import tarfile

_PATH_BYTES = 4096
_REST_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """What an archive may hold at most, unpacked."""

    members: int = 500_000
    total_bytes: int = 8 << 30


class ArchiveError(Exception):
    """The archive as a whole cannot be used; the text says why."""


@dataclass(slots=True)
class Unpacked:
    """What an archive held."""

    leaves: dict[bytes, Leaf] = field(default_factory=dict)
    repositories: set[bytes] = field(default_factory=set)
    """Nested `.git` entries, which are left out; the topmost one is not counted."""
    faults: list[tuple[bytes, str]] = field(default_factory=list)
    """Refused members, with the reason."""
    _folders: set[bytes] = field(default_factory=set)

    def add(self, leaf: Leaf) -> None:
        """Takes a file in; a later member of the same name replaces an earlier one."""
        if leaf.path in self._folders or any(a in self.leaves for a in _above(leaf.path)):
            self.faults.append((leaf.path, "both a file and a folder; the later one is left out"))
            return
        self._folders.update(_above(leaf.path))
        self.leaves[leaf.path] = leaf


def read_archive(
    path: Path, objects: ObjectStore, stored: Callable[[int], None], limits: Limits = Limits()
) -> Unpacked:
    """Stores every file of a tar archive.

    Args:
        path: The archive; its compression is recognised by content.
        objects: Where to store the files.
        stored: Called with 1 after each member; may raise to cancel.
        limits: What is too much.

    Raises:
        ArchiveError: the archive is damaged, no tar archive, or beyond the limits.
    """
    import lzma  # 5 ms with tarfile, and only an archived workspace needs them
    import tarfile
    import zlib

    try:
        with (
            _decompressed(path) as stream,
            # Streaming reads each byte once; nothing of the archive is sought or kept.
            tarfile.open(
                fileobj=stream, mode="r|", encoding="utf-8", errors="surrogateescape"
            ) as archive,
        ):
            return _read_members(archive, stream, objects, stored, limits)
    except (
        tarfile.TarError,
        EOFError,
        OSError,
        ValueError,  # numbers in a damaged extended header
        RecursionError,  # extended headers of extended headers
        zlib.error,
        lzma.LZMAError,
        SourceError,
    ) as error:
        raise ArchiveError(f"damaged or not a tar archive: {in_words(error)}") from error


def _read_members(
    archive: tarfile.TarFile,
    stream: BinaryIO,
    objects: ObjectStore,
    stored: Callable[[int], None],
    limits: Limits,
) -> Unpacked:
    unpacked = Unpacked()
    left_bytes, left_members = limits.total_bytes, limits.members
    while (member := archive.next()) is not None:
        left_members -= 1
        left_bytes -= member.size
        if left_members < 0:
            raise ArchiveError(f"more than {limits.members:,} members")
        if left_bytes < 0:
            raise ArchiveError(f"more than {limits.total_bytes:,} bytes unpacked")
        if member.size < 0:
            raise ArchiveError(f"damaged: {member.name!r} has a negative size")
        _take(archive, member, objects, unpacked)
        # It would otherwise remember every member until the end.
        archive.members = []  # type: ignore[attr-defined]
        stored(1)
    # Checksums stand at the end, after the last member.
    while left_bytes >= 0 and (rest := stream.read(_REST_BYTES)):
        left_bytes -= len(rest)
    return unpacked


@contextlib.contextmanager
def _decompressed(path: Path) -> Iterator[BinaryIO]:
    with open_file(path) as raw:
        head = raw.read(6)
        raw.seek(0)
        if head.startswith(b"\x1f\x8b"):
            import gzip

            with gzip.GzipFile(fileobj=raw) as stream:
                yield cast("BinaryIO", stream)
        elif head.startswith(b"\xfd7zXZ\0"):
            import lzma

            with lzma.LZMAFile(raw) as stream:
                yield cast("BinaryIO", stream)
        elif head.startswith(b"BZh"):
            import bz2

            with bz2.BZ2File(raw) as stream:
                yield cast("BinaryIO", stream)
        elif head.startswith(b"\x28\xb5\x2f\xfd"):
            import zstandard

            try:
                with zstandard.ZstdDecompressor().stream_reader(
                    raw, read_across_frames=True
                ) as stream:
                    yield stream
            except zstandard.ZstdError as error:
                raise ArchiveError(f"damaged: {error}") from error
        else:
            yield raw


def _take(
    archive: tarfile.TarFile, member: tarfile.TarInfo, objects: ObjectStore, unpacked: Unpacked
) -> None:
    path = member.name.encode("utf-8", "surrogateescape")
    parts = [part for part in path.split(b"/") if part not in (b"", b".")]
    reason = _refusal(member, path, parts)
    if reason is not None:
        unpacked.faults.append((path, reason))
        return
    path = b"/".join(parts)
    if b".git" in parts:
        repository = b"/".join(parts[: parts.index(b".git") + 1])
        if repository != b".git":
            unpacked.repositories.add(repository)
    elif member.issym():
        target = member.linkname.encode("utf-8", "surrogateescape")
        unpacked.add(Leaf(path, MODE_SYMLINK, objects.write("blob", target)))
    elif member.islnk():
        _take_hard_link(member, path, unpacked)
    elif not member.isdir():
        content = archive.extractfile(member)
        if content is None:
            raise SourceError(f"{member.name!r} has no content")
        mode = MODE_EXECUTABLE if member.mode & 0o100 else MODE_FILE
        oid = objects.write_stream(cast("BinaryIO", content), member.size)
        unpacked.add(Leaf(path, mode, oid))


def _take_hard_link(member: tarfile.TarInfo, path: bytes, unpacked: Unpacked) -> None:
    target = member.linkname.encode("utf-8", "surrogateescape")
    parts = [part for part in target.split(b"/") if part not in (b"", b".")]
    original = unpacked.leaves.get(b"/".join(parts))
    if original is None:
        unpacked.faults.append((path, "a hard link to something that is not in the archive"))
    else:
        unpacked.add(Leaf(path, original.mode, original.oid))


def _refusal(member: tarfile.TarInfo, path: bytes, parts: list[bytes]) -> str | None:
    if path.startswith(b"/") or b".." in parts:
        return "leads out of the workspace; left out"
    if b"\0" in path or len(path) > _PATH_BYTES:
        return "is no possible file name; left out"
    if member.isdir():
        return None
    if not (member.isreg() or member.issym() or member.islnk()):
        return "not a file, folder or symbolic link; left out"
    if not parts:
        return "has no name; left out"
    return None


def _above(path: bytes) -> Iterator[bytes]:
    """The folders that a path lies in."""
    end = path.rfind(b"/")
    while end > 0:
        yield path[:end]
        end = path.rfind(b"/", 0, end)
