"""Reads Gemini CLI: session documents, session logs of ≥ 0.40, and stream-json.

A session has all that a stream of it has: of the two, only the session is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from arcview.errors import BadInputError
from arcview.files import is_dir, is_file, is_symlink
from arcview.model.problem import Problem
from arcview.model.trajectory import Trajectory
from arcview.readers.packed import open_unpacked
from arcview.readers.registry import LONG_HEAD_BYTES, Detection
from arcview.readers.trajectories.contents import mapping
from arcview.readers.trajectories.documents import parse_document
from arcview.readers.trajectories.gemini_session import GeminiSession
from arcview.readers.trajectories.gemini_stream import GeminiStream
from arcview.readers.trajectories.records import (
    Lines,
    each_record,
    kind_of,
    parse_lines,
    text_or_none,
)
from arcview.readers.trajectories.threads import About, Thread, trajectory_of
from arcview.readers.trajectories.usages import added

_AGENT = "Gemini CLI"
_LINES_TO_ASK = 60
_DOCUMENT = re.compile(rb"\s*\{\s*\"")
_MOST_SUBAGENTS = 400
_LOG_KEYS = frozenset({"$rewindTo", "$set"})


class GeminiReader:
    """Reads sessions and streams."""

    id = "gemini"
    title = "Gemini CLI session or stream"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the records of either; see the table of tests in the format notes."""
        found = _recognised(head, name)
        return None if found is None else Detection(self.id, found[1])

    def read(self, path: Path, companions: Sequence[Path] = ()) -> Trajectory:
        """Reads a session or a stream with the files that complete it.

        Sessions of sub-agents that lie where the client puts them are found by their ids.
        """
        reading = _Reading()
        for file in (path, *companions):
            reading.take(file)
        reading.take_started()
        return reading.trajectory()


_Log = GeminiSession | GeminiStream


def _recognised(head: bytes, name: str) -> tuple[type[_Log], str] | None:
    """Which of the two a file is, and why."""
    for _, record in parse_lines(head, name).records[:_LINES_TO_ASK]:
        if isinstance(record, dict) and (found := _told_by(record)):
            return found
    if _is_document(head):
        return GeminiSession, "an object with sessionId and messages"
    return None


def _is_document(head: bytes) -> bool:
    """Whether a file is, or begins, the one document that older versions wrote."""
    if _DOCUMENT.match(head.removeprefix(b"\xef\xbb\xbf")) is None:
        return False
    keys = [key in head for key in (b'"projectHash"', b'"startTime"')]
    return b'"sessionId"' in head and b'"messages"' in head and any(keys)


def _told_by(record: Mapping[str, object]) -> tuple[type[_Log], str] | None:
    kind = kind_of(record)
    if "sessionId" in record and ("projectHash" in record or "startTime" in record):
        return GeminiSession, "a record with sessionId and projectHash"
    if _LOG_KEYS & record.keys():
        return GeminiSession, "a $set or $rewindTo record"
    if kind == "gemini" and "id" in record:
        return GeminiSession, "a message of type gemini"
    if kind == "init" and "session_id" in record:
        return GeminiStream, "a stream record of type init"
    if kind in ("tool_use", "tool_result") and "tool_id" in record:
        return GeminiStream, f"a stream record of type {kind}"
    return None


@dataclass(frozen=True, slots=True)
class _File:
    """One file that was read."""

    path: Path
    log: _Log


@dataclass(slots=True)
class _Reading:
    """All files of one trajectory."""

    files: list[_File] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def take(self, path: Path) -> None:
        """Reads a file; what is wrong with it is noted."""
        if any(file.path == path for file in self.files):
            return
        try:
            with open_unpacked(path) as file:
                self._fold(path, file)
        except BadInputError as error:
            self.problems.append(Problem(error.path, error.expected))
        except OSError as error:
            self.problems.append(Problem(str(path), f"cannot be read: {error.strerror or error}"))

    def _fold(self, path: Path, file: BinaryIO) -> None:
        head = file.read(LONG_HEAD_BYTES)
        file.seek(0)
        found = _recognised(head, path.name)
        if found is None:
            what = "not a Gemini CLI session or stream" if head else "the file is empty"
            self.problems.append(Problem(str(path), what))
            return
        log = found[0]()
        self.files.append(_File(path, log))
        if isinstance(log, GeminiSession) and _is_document(head) and not _is_log(head):
            document = parse_document(file.read(), path.name)
            self.problems += document.problems
            log.take_document(mapping(document.value), path.name)
        else:
            lines = Lines(path.name)
            for number, value in each_record(file, lines):
                log.take(value, f"{path.name}:{number}")
            self.problems += lines.problems
        log.finish()

    def take_started(self) -> None:
        """Reads the sessions of sub-agents where the client puts them; links are not followed."""
        for file in self.files:  # grows while it is walked
            if not isinstance(file.log, GeminiSession):
                continue
            for agent in file.log.spawned:
                places = _places(file.path, file.log.id, agent)
                found = (path for path in places if is_file(path) and not is_symlink(path))
                if (path := next(found, None)) is not None:
                    self.take(path)
            # Some calls do not tell which sub-agent they started.
            for path in _of_session(file.path.parent, file.log.id):
                self.take(path)

    def trajectory(self) -> Trajectory:
        """Everything in order, counted once."""
        known = {file.log.id for file in self.files if isinstance(file.log, GeminiSession)}
        shown = [file for file in self.files if not _is_repeated(file.log, known)]
        threads = [_as_thread(file) for file in shown]
        if threads and all(thread.is_subagent for thread in threads):
            # Opened by itself, it is what there is to see.
            threads[0].is_subagent = False
        return trajectory_of(GeminiReader.id, threads, self.problems)


def _is_log(head: bytes) -> bool:
    """Whether more records follow on what the first line holds."""
    first, _, rest = head.lstrip().partition(b"\n")
    return first.rstrip().endswith(b"}") and bool(rest.strip())


def _places(path: Path, session: str | None, agent: str) -> Iterator[Path]:
    """Where the session of a sub-agent may lie."""
    names = [name for name in (session, agent) if name is not None]
    if any("/" in name or "\\" in name or name.startswith(".") for name in names):
        return
    if session is not None:
        yield path.parent / session / f"{agent}.jsonl"
    yield path.parent / f"{agent}.jsonl"


def _of_session(folder: Path, session: str | None) -> Iterator[Path]:
    """The sessions in the folder that the client makes for the sub-agents of a session."""
    if session is None or "/" in session or "\\" in session or session.startswith("."):
        return
    inner = folder / session
    if is_symlink(inner) or not is_dir(inner):
        return
    for path in sorted(inner.glob("*.jsonl"))[:_MOST_SUBAGENTS]:
        if is_file(path) and not is_symlink(path):
            yield path


def _is_repeated(log: _Log, known: set[str | None]) -> bool:
    """Whether a stream only repeats what a session has."""
    return isinstance(log, GeminiStream) and bool(log.sessions) and set(log.sessions) <= known


def _as_thread(file: _File) -> Thread:
    log = file.log
    if isinstance(log, GeminiStream):
        note = "a stream: without thoughts, exit codes and the output of edits"
        ids: list[str | None] = [*log.sessions] or [None]
        sessions: dict[str | None, str | None] = dict.fromkeys(ids, note)
        about = About(_AGENT, model=log.model, exit_status=log.exit_status)
        return Thread((file.path.name,), log.drafts, sessions, added(log.usage), about=about)
    return Thread(
        names=(log.id or file.path.name, file.path.stem),
        drafts=log.drafts,
        sessions={log.id: text_or_none(log.meta.get("summary"))},
        usage=added(draft.usage for draft in log.drafts.items),
        spawned=log.spawned,
        is_subagent=log.is_subagent,
        about=About(_AGENT),
    )
