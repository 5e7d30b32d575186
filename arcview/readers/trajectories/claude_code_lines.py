"""A Claude Code log → records: JSON Lines, or one of the documents that hold the same records."""

from __future__ import annotations

from collections.abc import Iterable

from arcview.readers.trajectories import records
from arcview.readers.trajectories.records import Lines, kind_of, loaded

LINES_TO_ASK = 60
"""How many records of a file say what it is."""
STREAM_TYPES = frozenset({"system", "assistant", "user", "result"})
_BOM = b"\xef\xbb\xbf"


def parse_lines(data: bytes, shown: str) -> Lines:
    """Parses JSON Lines, or one JSON document where the file is that.

    Args:
        data: The file.
        shown: How the user would name it.
    """
    document = _document(data.removeprefix(_BOM))
    if document is None:
        return records.parse_lines(data, shown)
    return Lines(shown, list(enumerate(document, start=1)))


def _document(data: bytes) -> list[object] | None:
    """The records of a file that is one JSON document; null when it is JSON Lines.

    Known documents: `{"loglines": […]}` (web export), a list of messages or a lone closing record
    (`--output-format json`).
    """
    first, _, rest = data.lstrip().partition(b"\n")
    if first[:1] not in (b"{", b"["):
        return None
    document = loaded(first)
    is_one_line = document is not None
    if is_one_line and rest.strip():
        return None
    document = document if is_one_line else loaded(data)
    if isinstance(document, dict):
        inner = document.get("loglines")
        whole: list[object] | None = None if is_one_line else [document]
        return inner if isinstance(inner, list) else whole
    return document if isinstance(document, list) else None


def is_stream(first: Iterable[object]) -> bool:
    """Whether a file is a stream: its records carry `session_id` and nothing else of the kind.

    Args:
        first: Its first records.
    """
    for record in first:
        if isinstance(record, dict) and kind_of(record) in STREAM_TYPES:
            return "session_id" in record and "sessionId" not in record
    return False
