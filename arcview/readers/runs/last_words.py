"""The last line of a log that is written when something fails: what it was."""

from __future__ import annotations

from pathlib import Path

from arcview.errors import BadInputError
from arcview.readers.fields import read_bytes
from arcview.readers.inside import inside

_END_BYTES = 64 << 10


def last_words(root: Path, name: str) -> str | None:
    """The last line of a file that is not blank; null where there is none.

    Args:
        root: The run folder.
        name: The file, relative to it.
    """
    try:
        data = read_bytes(inside(root, name), name)
    except BadInputError:
        return None
    lines = data[-_END_BYTES:].decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), None)
