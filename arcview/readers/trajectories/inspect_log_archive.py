"""Entries of an Inspect `.eval` file, which is a zip archive, read within limits.

Nothing is unpacked to disk: entry names are only names. Knows the archive, not the log in it.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from arcview.files import in_words, open_file

MAX_ENTRY_BYTES = 512 * 1024 * 1024
"""More than one sample unpacks to; a bomb would go on."""
MAX_TOTAL_BYTES = 4 * 1024 * 1024 * 1024
MAX_ENTRIES = 500_000

_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_LOCAL = struct.Struct("<4s5H3L2H")
_LOCAL_MAGIC = b"PK\x03\x04"
_HAS_DESCRIPTOR, _IS_ENCRYPTED = 0x08, 0x01
_CHUNK = 1024 * 1024


class EntryError(Exception):
    """An entry, or the whole archive, that cannot be read; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where an entry lies."""

    offset: int
    """Of its local header."""
    method: int
    packed_bytes: int
    checksum: int
    is_encrypted: bool


class Archive:
    """An open archive. Of entries with the same name, the last one written counts.

    Raises:
        EntryError: it is no zip archive, not even the beginning of one.
    """

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = open_file(path)
        self._left = MAX_TOTAL_BYTES
        self.is_cut = False
        """The directory at the end is missing; entries were found one after the other."""
        try:
            self._entries = self._listed() or self._walked()
        except EntryError:
            self._file.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def names(self) -> tuple[str, ...]:
        """The entries in the order in which they were written."""
        return tuple(self._entries)

    def _listed(self) -> dict[str, _Entry] | None:
        """The entries by the directory at the end; null where there is none that can be read."""
        try:
            with zipfile.ZipFile(self._file) as archive:
                infos = archive.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError):
            return None
        if len(infos) > MAX_ENTRIES:
            raise EntryError(f"more than {MAX_ENTRIES:,} entries")
        return {
            info.filename: _Entry(
                info.header_offset,
                info.compress_type,
                info.compress_size,
                info.CRC,
                bool(info.flag_bits & _IS_ENCRYPTED),
            )
            for info in infos
        }

    def _walked(self) -> dict[str, _Entry]:
        """The entries by their own headers, as far as the file goes."""
        self.is_cut = True
        end = self._file.seek(0, 2)
        offset = 0
        found: dict[str, _Entry] = {}
        while len(found) < MAX_ENTRIES and (header := self._header(offset)) is not None:
            name, entry, start = header
            offset = start + entry.packed_bytes
            if offset > end or entry.packed_bytes == 0:
                break
            found[name] = entry
        if not found:
            raise EntryError("not a zip archive, or none of its entries is whole")
        return found

    def _header(self, offset: int) -> tuple[str, _Entry, int] | None:
        """A local header: name, entry, and where its data begins."""
        self._file.seek(offset)
        data = self._file.read(_LOCAL.size)
        if len(data) < _LOCAL.size:
            return None
        magic, _, flags, method, _, _, crc, packed, _, name_bytes, more = _LOCAL.unpack(data)
        if magic != _LOCAL_MAGIC or flags & _HAS_DESCRIPTOR:
            return None
        name = self._file.read(name_bytes).decode("utf-8", "replace")
        entry = _Entry(offset, method, packed, crc, bool(flags & _IS_ENCRYPTED))
        return name, entry, offset + _LOCAL.size + name_bytes + more

    def load(self, name: str) -> bytes:
        """An entry, unpacked.

        Raises:
            EntryError: it is missing, damaged, packed in an unknown way, or too large.
        """
        entry = self._entries.get(name)
        if entry is None:
            raise EntryError("not in the archive")
        if entry.is_encrypted:
            raise EntryError("encrypted")
        limit = min(MAX_ENTRY_BYTES, self._left)
        parts: list[bytes] = []
        size = 0
        try:
            for part in _unpacked(self._packed(entry), entry.method):
                size += len(part)
                if size > limit:
                    raise EntryError(f"more than {limit:,} bytes when unpacked")
                parts.append(part)
        except (zlib.error, OSError, ValueError, EOFError, struct.error) as error:
            raise EntryError(f"damaged: {in_words(error)}") from error
        self._left -= size
        data = b"".join(parts)
        if zlib.crc32(data) != entry.checksum:
            raise EntryError(f"damaged: its checksum is wrong ({size:,} bytes)")
        return data

    def _packed(self, entry: _Entry) -> Iterator[bytes]:
        """The packed bytes of an entry, in pieces."""
        self._file.seek(entry.offset)
        header = self._file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or header[:4] != _LOCAL_MAGIC:
            raise EntryError("damaged: its header is not where the directory says")
        name_bytes, more = _LOCAL.unpack(header)[-2:]
        self._file.seek(name_bytes + more, 1)
        left = entry.packed_bytes
        while left > 0:
            data = self._file.read(min(left, _CHUNK))
            if not data:
                raise EntryError(f"damaged: {left:,} bytes of it are missing")
            left -= len(data)
            yield data


def _unpacked(packed: Iterator[bytes], method: int) -> Iterator[bytes]:
    """Unpacks piece by piece, so that a bomb is noticed before it goes off."""
    if method == _STORED:
        yield from packed
    elif method == _DEFLATED:
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        for data in packed:
            yield inflate.decompress(data, _CHUNK)
            while inflate.unconsumed_tail:
                yield inflate.decompress(inflate.unconsumed_tail, _CHUNK)
        yield inflate.flush()
    elif method == _ZSTD:
        yield from _unpacked_zstd(packed)
    else:
        raise EntryError(f"packed with method {method}, which is not known")


def _unpacked_zstd(packed: Iterator[bytes]) -> Iterator[bytes]:
    """Unpacks Zstandard, which the standard library reads from Python 3.14 on only."""
    import io

    import zstandard  # 10 ms, and only logs of the newer writers need it

    source = io.BytesIO(b"".join(packed))
    try:
        with zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True) as reader:
            while data := reader.read(_CHUNK):
                yield data
    except zstandard.ZstdError as error:
        raise EntryError(f"damaged: {error}") from error
