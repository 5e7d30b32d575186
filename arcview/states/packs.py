"""Writes one git pack with its index, and reads which objects the packs of a store hold.

The formats are those of `gitformat-pack(5)`: pack version 2 without deltas, index version 2. One
file for thousands of objects: making a file each took up to ten times as long on a busy disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import zlib
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from arcview.errors import ArcviewError

_TYPES = {"commit": 1, "tree": 2, "blob": 3}
_OID_BYTES = 20
_INDEX_HEAD = b"\xfftOc\x00\x00\x00\x02"
_LARGE_OFFSET = 1 << 31
_LARGE_FLAG = 1 << 31
_PIECE_BYTES = 1 << 20


class PackWriter:
    """One pack that is being written; nothing of it is visible before `finish`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / f"tmp_pack_{os.urandom(8).hex()}"
        self._entries: list[tuple[bytes, int, int]] = []
        self._crc = 0
        self._start = self._size_bytes = 0
        with self._writing():
            self._file = self._path.open("x+b")
        self._write(struct.pack(">4sLL", b"PACK", 2, 0))

    def add(self, oid: bytes, entry: bytes) -> None:
        """Appends an object that is packed already (`entry_header` and its content, deflated)."""
        self.begin()
        self.append(entry)
        self.end(oid)

    def begin(self) -> None:
        """Begins an object whose bytes come in pieces."""
        self._start, self._crc = self._size_bytes, 0

    def append(self, piece: bytes) -> None:
        """Appends the next packed bytes of the object that was begun."""
        self._crc = zlib.crc32(piece, self._crc)
        self._write(piece)

    def end(self, oid: bytes) -> None:
        """Ends the object that was begun."""
        self._entries.append((oid, self._crc, self._start))

    def undo(self) -> None:
        """Forgets the object that was begun."""
        with self._writing():
            self._file.seek(self._start)
            self._file.truncate()
        self._size_bytes = self._start

    def finish(self) -> None:
        """Completes the pack and puts it in its place; an empty one is dropped."""
        try:
            if self._entries:
                with self._writing():
                    self._complete()
        finally:
            self._file.close()
            self._path.unlink(missing_ok=True)

    def _complete(self) -> None:
        self._file.seek(8)
        self._file.write(struct.pack(">L", len(self._entries)))
        self._file.seek(0)
        digest = hashlib.sha1(usedforsecurity=False)
        while piece := self._file.read(_PIECE_BYTES):
            digest.update(piece)
        self._file.write(digest.digest())
        # The record of states names what is in here; it must not outlive it in a power cut.
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._entries.sort()
        index = self._index(digest.digest())
        name = self._folder / f"pack-{digest.hexdigest()}"
        self._path.replace(name.with_suffix(".pack"))
        # Git looks for the index first, so it comes last.
        temporary = self._path.with_suffix(".idx")
        with temporary.open("xb") as out:
            out.write(index)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(name.with_suffix(".idx"))

    def _index(self, pack_digest: bytes) -> bytes:
        counts = [0] * 256
        for oid, _, _ in self._entries:
            counts[oid[0]] += 1
        offsets = [offset for _, _, offset in self._entries]
        large = [offset for offset in offsets if offset >= _LARGE_OFFSET]
        places = iter(range(_LARGE_FLAG, _LARGE_FLAG + len(large)))
        small = [offset if offset < _LARGE_OFFSET else next(places) for offset in offsets]
        count = len(self._entries)
        content = b"".join(
            [
                _INDEX_HEAD,
                struct.pack(">256L", *accumulate(counts)),
                *(oid for oid, _, _ in self._entries),
                struct.pack(f">{count}L", *(crc for _, crc, _ in self._entries)),
                struct.pack(f">{count}L", *small),
                struct.pack(f">{len(large)}Q", *large),
                pack_digest,
            ]
        )
        return content + hashlib.sha1(content, usedforsecurity=False).digest()

    def _write(self, data: bytes) -> None:
        with self._writing():
            self._file.write(data)
        self._size_bytes += len(data)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ArcviewError(f"{self._folder}: cannot be written: {error.strerror}") from error


def entry_header(kind: str, size_bytes: int) -> bytes:
    """What stands before the deflated content of an object in a pack."""
    first = _TYPES[kind] << 4 | size_bytes & 15
    rest = size_bytes >> 4
    header = bytearray()
    while rest:
        header.append(first | 128)
        first, rest = rest & 127, rest >> 7
    header.append(first)
    return bytes(header)


def packed_oids(folder: Path) -> Iterator[bytes]:
    """The ids of all objects in the packs of a folder."""
    for path in folder.glob("pack-*.idx"):
        data = path.read_bytes()
        if data.startswith(_INDEX_HEAD):
            start = len(_INDEX_HEAD) + 256 * 4
            (count,) = struct.unpack_from(">L", data, start - 4)
            end = start + count * _OID_BYTES
            yield from (data[at : at + _OID_BYTES] for at in range(start, end, _OID_BYTES))
