"""Reads Claude Code: `--output-format stream-json` and the session files of the client.

Both hold the same messages; the stream has no times and loses earlier attempts and parts of
sub-agents, the session has no closing line. They are joined by record, message and tool-call id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.trajectory import Trajectory
from arcview.readers.packed import read_unpacked
from arcview.readers.registry import Detection
from arcview.readers.trajectories.claude_code_items import Items
from arcview.readers.trajectories.claude_code_join import FORMAT, build
from arcview.readers.trajectories.claude_code_lines import (
    LINES_TO_ASK,
    STREAM_TYPES,
    is_stream,
    parse_lines,
)
from arcview.readers.trajectories.claude_code_long import read_long
from arcview.readers.trajectories.long_files import is_long
from arcview.readers.trajectories.records import Lines, kind_of

_SESSION_TYPES = frozenset({"queue-operation", "file-history-snapshot"})
_BARE_KEYS = frozenset({"role", "content", "id", "model", "usage", "stop_reason"})
_KEYS = (
    ((b'"parentUuid"', b'"isSidechain"', b'"sessionId"'), "the keys of a session record"),
    ((b'"loglines"', b'"message"'), "an object with loglines (web export)"),
    ((b'"subtype"', b'"init"', b'"session_id"'), "the start of a stream"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a trajectory."""

    shown: str
    """The file, as the user would name it."""
    data: bytes


class ClaudeCodeReader:
    """Reads stream-json and session JSONL."""

    id = FORMAT
    title = "Claude Code stream or session"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the records of the client; see the table of tests in the format notes."""
        lines = parse_lines(head, name)
        for _, record in lines.records[:LINES_TO_ASK]:
            if isinstance(record, dict) and (reason := _reason(record)):
                return Detection(self.id, reason)
        # A first line longer than the head, or one long document.
        return next(
            (Detection(self.id, why) for keys, why in _KEYS if all(k in head for k in keys)), None
        )

    def read(self, path: Path, companions: Sequence[Path] = ()) -> Trajectory:
        """Reads a stream or a session with the files that complete it."""
        if is_long((path, *companions)) and (found := read_long((path, *companions))) is not None:
            return found
        sources = []
        problems = []
        for file in (path, *companions):
            try:
                sources.append(Source(file.name, read_unpacked(file, str(file))))
            except BadInputError as error:
                problems.append(Problem(str(file), error.expected))
        joined = join(sources)
        return replace(joined, problems=(*problems, *joined.problems))


def _reason(record: Mapping[str, object]) -> str | None:
    """Why a record is one of Claude Code's; null when nothing says so."""
    kind = kind_of(record)
    if "sessionId" in record and ("uuid" in record or kind in _SESSION_TYPES):
        return f"a session record of type {kind}"
    if kind in _SESSION_TYPES or (kind == "summary" and "leafUuid" in record):
        return f"a session record of type {kind}"
    if kind in STREAM_TYPES and "session_id" in record:
        return f"a stream record of type {kind}"
    if {"role", "content"} <= record.keys() <= _BARE_KEYS:
        return "bare messages of the API, one a line"
    return None


def join(sources: Sequence[Source]) -> Trajectory:
    """Joins the files of one stage or pass into one trajectory, each message counted once.

    Damage is reported in the trajectory; what is good is shown.
    """
    files = [parse_lines(source.data, source.shown) for source in sources]
    items = Items()
    # Sessions first: they have the times and every block, the stream adds order and ends.
    for lines in sorted(files, key=_is_stream):
        items.take(lines, in_stream=_is_stream(lines))
    return build(items)[0]


def _is_stream(lines: Lines) -> bool:
    return is_stream(value for _, value in lines.records[:LINES_TO_ASK])
