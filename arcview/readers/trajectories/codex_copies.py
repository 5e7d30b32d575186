"""Which records of a Codex rollout repeat the history of the thread that it was started from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arcview.errors import BadInputError
from arcview.readers.trajectories.codex_files import lines_of
from arcview.readers.trajectories.codex_meta import SessionMeta
from arcview.readers.trajectories.records import Lines, each_record


class CopiedHistory:
    """Tells copies from what is new, record by record.

    New clients number the records and name the first one of the new thread. Without that, what
    equals the beginning of the other rollout, where that is at hand, is copied.
    """

    def __init__(self, meta: SessionMeta, original: Path | None) -> None:
        self._start = meta.own_start
        self._original = original if meta.parent is not None else None
        self._rest: Iterator[object] | None = None

    @property
    def may_come(self) -> bool:
        """Whether a copy may still come."""
        return self._start is not None or self._original is not None

    def covers(self, value: object) -> bool:
        """Whether the record, the next one in the file, is a copy."""
        if self._start is not None and isinstance(value, dict):
            ordinal = value.get("ordinal")
            return type(ordinal) is int and ordinal < self._start
        if self._original is None or not isinstance(value, dict):
            return False
        if self._rest is None:
            self._rest = _payloads(self._original)
        # A sub-agent is given a choice of the records, in their order.
        if (value.get("type"), value.get("payload")) in self._rest:
            return True
        self._original = None
        return False


def _payloads(path: Path) -> Iterator[object]:
    try:
        for _, value in each_record(lines_of(path), Lines(path.name)):
            if isinstance(value, dict):
                yield value.get("type"), value.get("payload")
    except (BadInputError, OSError):
        return  # what is wrong with it is said where it is read for its own sake
