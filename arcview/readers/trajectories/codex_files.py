"""What a Codex file is, and its lines, unpacked where an archived rollout is packed."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from arcview.errors import BadInputError
from arcview.files import open_file
from arcview.readers.packed import ZSTD, is_packed, read_unpacked, unpacked_head
from arcview.readers.registry import LONG_HEAD_BYTES
from arcview.readers.trajectories.codex_exec import ExecLog
from arcview.readers.trajectories.codex_rollout import Rollout
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.records import LINES_BUFFER_BYTES, kind_of, parse_lines

_MOST_BYTES = 4 << 30
"""How much a packed rollout may unpack to."""
_DOCUMENT = re.compile(rb'\s*\{\s*"session"\s*:\s*\{')
_LINES_TO_ASK = 60
_ENVELOPED = frozenset(
    {"compacted", "event_msg", "response_item", "session_meta", "turn_context", "world_state"}
)
_BARE_ITEMS = frozenset({"function_call", "function_call_output", "local_shell_call"})
_EXEC_TYPES = ("thread.started", "session.created", "turn.", "item.")


def recognised(head: bytes, name: str) -> tuple[type[Rollout | ExecLog], str] | None:
    """Which of the two logs a file is, and why."""
    for _, record in parse_lines(head, name).records[:_LINES_TO_ASK]:
        if isinstance(record, dict) and (found := _told_by(record)):
            return found
    start = head[:400]
    if b'"session_meta"' in start and b'"payload"' in start:
        return Rollout, "a session_meta record"  # longer than the head
    if is_document(head):
        return Rollout, "an object with session and items (first client)"
    return None


def is_document(head: bytes) -> bool:
    """Whether a file is the one JSON object that the first client wrote."""
    return _DOCUMENT.match(head) is not None and b'"items"' in head


def _told_by(record: Mapping[str, object]) -> tuple[type[Rollout | ExecLog], str] | None:
    kind = kind_of(record)
    if isinstance(record.get("payload"), dict) and ("timestamp" in record or kind in _ENVELOPED):
        return Rollout, f"an enveloped record of type {kind}"
    if record.get("record_type") == "state":
        return Rollout, "a state record"
    if kind is not None and kind.startswith(_EXEC_TYPES):
        return ExecLog, f"an event of type {kind}"
    if record.keys() == {"id", "msg"} and kind_of(mapping(record["msg"])) is not None:
        return ExecLog, "an event in id and msg"
    if kind in _BARE_ITEMS and "call_id" in record:
        return Rollout, f"a bare item of type {kind}"
    if kind == "message" and _is_response_content(record.get("content")):
        return Rollout, "a bare message"
    if {"id", "timestamp", "instructions"} <= record.keys() and kind is None:
        return Rollout, "the head of a bare rollout"
    return None


def _is_response_content(content: object) -> bool:
    parts = listed(content)
    return any(kind_of(mapping(part)) in ("input_text", "output_text") for part in parts)


def read_head(path: Path) -> bytes:
    """The beginning of a file, unpacked where it is packed.

    Raises:
        OSError: it cannot be read.
    """
    with open_file(path) as file:
        return unpacked_head(file.read(LONG_HEAD_BYTES), LONG_HEAD_BYTES)


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file with their ends, unpacked where it is packed.

    Raises:
        BadInputError: what is packed is damaged, or is more than anybody would have written.
        OSError: it cannot be read.
    """
    with open_file(path, buffer_bytes=LINES_BUFFER_BYTES) as file:
        head = file.read(len(ZSTD))
        file.seek(0)
        if not is_packed(head):
            yield from file
            return
        if not head.startswith(ZSTD):
            yield from io.BytesIO(read_unpacked(path, str(path)))
            return
        import zstandard  # 10 ms, and only archived rollouts need it

        opened = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        read = 0
        try:
            for line in io.BufferedReader(cast("io.RawIOBase", opened), LINES_BUFFER_BYTES):
                read += len(line)
                if read > _MOST_BYTES:
                    raise BadInputError(str(path), f"unpacks to more than {_MOST_BYTES:,} bytes")
                yield line
        except zstandard.ZstdError as error:
            raise BadInputError(str(path), f"damaged after {read:,} bytes: {error}") from error
