"""Walks a workspace folder: what is in it, whether it changed, and its bytes into the object store.

Symlinks are recorded and never followed; nothing is written into the folder.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from arcview.errors import CancelledError
from arcview.states.objects import (
    MODE_EXECUTABLE,
    MODE_FILE,
    MODE_SYMLINK,
    WHOLE_BYTES,
    Leaf,
    ObjectStore,
    Packed,
    SourceError,
    read_exactly,
)

CHUNK_FILES = 64
"""Files that are stored between two looks at progress and cancellation."""


@dataclass(frozen=True, slots=True)
class Found:
    """One file or symlink of a folder, not read yet."""

    path: bytes
    """Relative, separated by `/`."""
    mode: str
    size_bytes: int
    mtime_ns: int


@dataclass(slots=True)
class Listing:
    """Everything below a folder, sorted by path."""

    root: bytes
    files: list[Found] = field(default_factory=list)
    repositories: list[bytes] = field(default_factory=list)
    """Nested `.git` entries, which are left out; the topmost one is not counted."""
    faults: list[tuple[bytes, str]] = field(default_factory=list)
    """Paths that cannot be part of a state, with the reason."""

    def fingerprint(self) -> str:
        """Changes whenever a name, size, time or mode below the folder does."""
        digest = hashlib.blake2b(digest_size=16)
        for found in self.files:
            digest.update(
                b"%s\0%s %d %d\n"
                % (found.path, found.mode.encode(), found.size_bytes, found.mtime_ns)
            )
        for path in self.repositories:
            digest.update(b"%s\0repository\n" % path)
        for path, reason in self.faults:
            digest.update(b"%s\0%s\n" % (path, reason.encode("utf-8", "replace")))
        return digest.hexdigest()


def list_folder(root: Path, cancelled: Callable[[], bool] | None = None) -> Listing:
    """Lists a folder without reading any file.

    Raises:
        CancelledError: `cancelled` said so.
        OSError: the folder itself cannot be read.
    """
    listing = Listing(os.fsencode(root))
    pending = [b""]
    while pending:
        if cancelled is not None and cancelled():
            raise CancelledError("cancelled")
        below = pending.pop()
        try:
            with os.scandir(os.path.join(listing.root, below)) as entries:  # noqa: PTH118
                for entry in entries:
                    path = below + b"/" + entry.name if below else entry.name
                    _sort_in(listing, pending, entry, path)
        except OSError as error:
            if not below:
                raise
            listing.faults.append((below, f"cannot be read: {error.strerror}"))
    listing.files.sort(key=lambda found: found.path)
    listing.repositories.sort()
    listing.faults.sort()
    return listing


def _sort_in(
    listing: Listing, pending: list[bytes], entry: os.DirEntry[bytes], path: bytes
) -> None:
    if entry.name == b".git":
        if path != b".git":
            listing.repositories.append(path)
        return
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError as error:
        listing.faults.append((path, f"cannot be read: {error.strerror}"))
        return
    if stat.S_ISDIR(facts.st_mode):
        pending.append(path)
    elif stat.S_ISREG(facts.st_mode):
        mode = MODE_EXECUTABLE if facts.st_mode & stat.S_IXUSR else MODE_FILE
        listing.files.append(Found(path, mode, facts.st_size, facts.st_mtime_ns))
    elif stat.S_ISLNK(facts.st_mode):
        listing.files.append(Found(path, MODE_SYMLINK, facts.st_size, facts.st_mtime_ns))
    else:
        listing.faults.append((path, "not a file, folder or symbolic link; left out"))


def store_files(
    listing: Listing,
    objects: ObjectStore,
    stored: Callable[[int], None],
) -> tuple[list[Leaf], list[tuple[bytes, str]]]:
    """Stores the content of every listed file.

    Args:
        listing: What to read.
        objects: Where to store it.
        stored: Called with the number of files done after each chunk, from this thread; may raise
            to cancel.

    Returns:
        The files for a tree, and the paths that could not be read with the reason.
    """
    # 8 ms, and only an ingest needs it. Hashing and packing release the interpreter's lock.
    from concurrent.futures import ThreadPoolExecutor

    leaves: list[Leaf] = []
    faults: list[tuple[bytes, str]] = []
    files = listing.files
    chunks = [files[at : at + CHUNK_FILES] for at in range(0, len(files), CHUNK_FILES)]
    with ThreadPoolExecutor(2) as pool:
        try:
            for chunk in pool.map(lambda chunk: _read_chunk(listing.root, chunk, objects), chunks):
                for found, result in chunk:
                    try:
                        oid = _store(listing.root, found, result, objects)
                        leaves.append(Leaf(found.path, found.mode, oid))
                    except SourceError as error:
                        faults.append((found.path, f"cannot be read: {error}"))
                stored(len(chunk))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return leaves, faults


def _read_chunk(
    root: bytes, chunk: list[Found], objects: ObjectStore
) -> list[tuple[Found, Packed | SourceError | None]]:
    return [(found, _read(root, found, objects)) for found in chunk]


def _read(root: bytes, found: Found, objects: ObjectStore) -> Packed | SourceError | None:
    """Reads and packs one file, in any thread; null where it is too large to be held."""
    path = os.path.join(root, found.path)  # noqa: PTH118
    try:
        if found.mode == MODE_SYMLINK:
            return objects.pack("blob", _read_link(path))
        with _open(path) as stream:
            size_bytes = os.fstat(stream.fileno()).st_size
            if size_bytes > WHOLE_BYTES:
                return None
            return objects.pack("blob", read_exactly(stream, size_bytes))
    except SourceError as error:
        return error


def _store(
    root: bytes, found: Found, result: Packed | SourceError | None, objects: ObjectStore
) -> str:
    if isinstance(result, SourceError):
        raise result
    if result is not None:
        return objects.add(result)
    with _open(os.path.join(root, found.path)) as stream:  # noqa: PTH118
        return objects.write_stream(stream, os.fstat(stream.fileno()).st_size)


def _read_link(path: bytes) -> bytes:
    try:
        return os.readlink(path)  # noqa: PTH115
    except OSError as error:
        raise SourceError(error.strerror) from error


def _open(path: bytes) -> BinaryIO:
    """Opens a file that was a regular one a moment ago; a link or pipe put there since fails."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        raise SourceError(error.strerror) from error
    return os.fdopen(descriptor, "rb", buffering=0)
