"""Single files that somebody packed with gzip or zstd, read as what they hold.

Archives of several files are none of its business. Must not import a reader.
"""

from __future__ import annotations

import io
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from arcview.errors import BadInputError
from arcview.files import open_file

GZIP = b"\x1f\x8b\x08"
ZSTD = b"\x28\xb5\x2f\xfd"
_MOST_BYTES = 1 << 30
"""How much a file may unpack to."""


def is_packed(head: bytes) -> bool:
    """Whether a file that begins so is packed."""
    return head.startswith((GZIP, ZSTD))


def unpacked_head(head: bytes, size: int) -> bytes:
    """The beginning of what a file holds; empty where it is packed and damaged.

    Args:
        head: How the file itself begins.
        size: How much is wanted.
    """
    if not is_packed(head):
        return head
    # 10 ms each, and few files are packed.
    if head.startswith(GZIP):
        import zlib

        try:
            return zlib.decompressobj(wbits=31).decompress(head, size)
        except zlib.error:
            return b""
    import zstandard

    try:
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(head)).read(size)
    except zstandard.ZstdError:
        return b""


def is_tar(data: bytes) -> bool:
    """Whether something that is not packed begins as a tar archive."""
    return data[257:262] == b"ustar"


def read_unpacked(path: Path, shown: str) -> bytes:
    """Reads what a file holds.

    Args:
        path: The file.
        shown: How the user would name it.

    Raises:
        BadInputError: it cannot be read, or is packed and damaged or too large.
    """
    from arcview.readers.fields import read_bytes  # 12 ms, and finding a reader needs only heads

    data = read_bytes(path, shown)
    return _unpacked(data, shown) if is_packed(data[:4]) else data


def open_unpacked(path: Path) -> BinaryIO:
    """Opens what a file holds; one that is packed is unpacked in memory.

    Raises:
        BadInputError: it is packed and damaged or too large.
        OSError: it cannot be read.
    """
    file = open_file(path)
    head = file.read(4)
    file.seek(0)
    if not is_packed(head):
        return file
    with closing(file):
        return io.BytesIO(_unpacked(file.read(), str(path)))


def _unpacked(data: bytes, shown: str) -> bytes:
    """All that comes out, of a file that is cut off too: its last line then is no whole one."""
    if data.startswith(GZIP):
        found = _from_gzip(data, shown)
    else:
        import zstandard

        source = io.BytesIO(data)
        reader = zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True)
        try:
            found = reader.read(_MOST_BYTES + 1)
        except zstandard.ZstdError as error:
            raise BadInputError(shown, f"packed with zstd, and damaged: {error}") from error
    if len(found) > _MOST_BYTES:
        raise BadInputError(shown, f"unpacks to more than {_MOST_BYTES:,} bytes")
    return found


def _from_gzip(data: bytes, shown: str) -> bytes:
    import zlib

    parts: list[bytes] = []
    room = _MOST_BYTES + 1
    try:
        while data.startswith(GZIP) and room > 0:
            member = zlib.decompressobj(wbits=31)
            parts.append(member.decompress(data, room))
            room -= len(parts[-1])
            data = member.unused_data
    except zlib.error as error:
        raise BadInputError(shown, f"packed with gzip, and damaged: {error}") from error
    return b"".join(parts)
