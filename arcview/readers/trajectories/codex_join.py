"""Codex logs of one trajectory → steps in order, each counted once, sub-agents at their call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.trajectory import Session, SessionRole, Trajectory, Usage
from arcview.readers.trajectories.codex_copies import CopiedHistory
from arcview.readers.trajectories.codex_exec import ExecLog
from arcview.readers.trajectories.codex_files import is_document, lines_of, read_head, recognised
from arcview.readers.trajectories.codex_items import items_of, mapping
from arcview.readers.trajectories.codex_rollout import Rollout
from arcview.readers.trajectories.drafts import Draft, added, steps_of
from arcview.readers.trajectories.records import Lines, each_record, loaded

FORMAT = "codex"


@dataclass(slots=True)
class _File:
    """One file that was read."""

    path: Path
    log: Rollout | ExecLog
    started_by: str | None = None
    """Key of the call that started it, for sub-agents."""


@dataclass(slots=True)
class Reading:
    """All files of one trajectory."""

    files: list[_File] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    totals: dict[str | None, Usage] = field(default_factory=dict)

    def take(self, path: Path) -> None:
        """Reads a file; what is wrong with it is noted."""
        if any(file.path == path for file in self.files):
            return
        lines = Lines(path.name)
        try:
            self._fold(path, lines)
        except OSError as error:
            self.problems.append(Problem(str(path), f"cannot be read: {error.strerror or error}"))
        except BadInputError as error:
            self.problems.append(Problem(str(path), error.expected))
        self.problems += lines.problems

    def _fold(self, path: Path, lines: Lines) -> None:
        head = read_head(path)
        found = recognised(head, path.name)
        if found is None:
            what = "not a Codex rollout or exec stream" if head else "the file is empty"
            self.problems.append(Problem(str(path), what))
            return
        log: Rollout | ExecLog
        log = Rollout() if found[0] is Rollout else ExecLog(path.name, self.totals)
        self.files.append(_File(path, log))
        records = _records(path, head, lines)
        if isinstance(log, ExecLog):
            for number, value in records:
                log.take(value, f"{path.name}:{number}")
        else:
            self._fold_rollout(path, log, records)

    def _fold_rollout(
        self, path: Path, log: Rollout, records: Iterator[tuple[int, object]]
    ) -> None:
        copies: CopiedHistory | None = None
        try:
            for number, value in records:
                if copies is not None and copies.covers(value):
                    log.copied += 1
                    continue
                log.take(value, f"{path.name}:{number}")
                if copies is None and log.meta:
                    copies = CopiedHistory(log, self._original(path, log.parent))
        finally:  # what is damaged at the end is good up to there
            log.finish()

    def _original(self, path: Path, thread: str | None) -> Path | None:
        """The rollout of the thread that another one was started from."""
        if thread is None:
            return None
        read = (file.path for file in self.files if _thread(file.log) == thread)
        return next(read, None) or _beside(path, thread)

    def take_started(self) -> None:
        """Reads the rollouts of sub-agents that lie beside the ones that started them."""
        for file in self.files:  # grows while it is walked
            if not isinstance(file.log, Rollout):
                continue
            known = {_thread(other.log) for other in self.files}
            wanted = [thread for thread in file.log.spawned if thread not in known]
            for thread in wanted:
                if (path := _beside(file.path, thread)) is not None:
                    self.take(path)
        self._link()

    def _link(self) -> None:
        """Finds the call that started each sub-agent."""
        starts: dict[str, str] = {}
        for rollout in self._rollouts():
            starts.update(rollout.spawned)
        for file in self.files:
            if isinstance(file.log, Rollout) and file.log.is_subagent and file.log.id is not None:
                file.started_by = starts.get(file.log.id)
                for draft in file.log.drafts.items:
                    draft.agent, draft.parent_call = file.log.id, file.started_by

    def _rollouts(self) -> list[Rollout]:
        return [file.log for file in self.files if isinstance(file.log, Rollout)]

    def trajectory(self) -> Trajectory:
        """Everything in order, counted once."""
        recorded = {rollout.id for rollout in self._rollouts()}
        shown = [file for file in self.files if not _is_repeated(file.log, recorded)]
        drafts = list(self._ordered(shown))
        steps = steps_of(drafts)
        unknown: dict[str, int] = {}
        for file in shown:
            for kind, times in file.log.drafts.unknown.items():
                unknown[kind] = unknown.get(kind, 0) + times
            self.problems += file.log.drafts.problems
        counts: dict[tuple[str | None, str | None], int] = {}
        for step in steps:
            if step.number is not None:
                counts[step.session, step.agent] = counts.get((step.session, step.agent), 0) + 1
        return Trajectory(
            format=FORMAT,
            steps=steps,
            sessions=tuple(self._sessions(shown, counts)),
            problems=tuple(self.problems),
            unknown_records=tuple(sorted(unknown.items())),
            usage=added(_spent(file.log) for file in shown),
        )

    def _ordered(self, files: Sequence[_File]) -> Iterator[Draft]:
        """The steps of every main thread, sub-agents after the step that started them."""
        nested = {id(file) for file in files if _is_nested(file)}
        done: set[int] = set()
        for file in files:
            if id(file) not in nested:
                yield from self._steps(file, files, done)
        for file in files:  # those whose call is nowhere
            yield from self._steps(file, files, done)

    def _steps(self, file: _File, files: Sequence[_File], done: set[int]) -> Iterator[Draft]:
        if id(file) in done:
            return
        done.add(id(file))
        for draft in file.log.drafts.items:
            yield draft
            keys = {call.key for call in draft.calls}
            for child in files:
                if keys and child.started_by in keys and child is not file:
                    yield from self._steps(child, files, done)

    def _sessions(
        self, files: Sequence[_File], counts: Mapping[tuple[str | None, str | None], int]
    ) -> Iterator[Session]:
        seen: set[str] = set()
        for file in files:
            for name, role, note in _told_sessions(file, is_first=not seen):
                if name in seen:
                    continue
                seen.add(name)
                session = name if isinstance(file.log, ExecLog) else file.log.id
                agent = session if role is SessionRole.SUBAGENT else None
                yield Session(name, role, counts.get((session, agent), 0), note)


def _thread(log: Rollout | ExecLog) -> str | None:
    return log.id if isinstance(log, Rollout) else None


def _is_nested(file: _File) -> bool:
    return isinstance(file.log, Rollout) and file.log.is_subagent


def _is_repeated(log: Rollout | ExecLog, recorded: set[str | None]) -> bool:
    """Whether a stream only repeats what a rollout of the same thread has."""
    return isinstance(log, ExecLog) and bool(log.threads) and set(log.threads) <= recorded


def _spent(log: Rollout | ExecLog) -> Usage | None:
    return log.tokens.spent if isinstance(log, Rollout) else added(log.usage)


def _told_sessions(file: _File, *, is_first: bool) -> Iterator[tuple[str, SessionRole, str | None]]:
    log = file.log
    if isinstance(log, ExecLog):
        told = "tokens are those of the whole thread, of runs before this one too"
        note = told if log.usage else None
        for index, thread in enumerate(log.threads):
            is_main = is_first and index == 0
            yield thread, SessionRole.MAIN if is_main else SessionRole.RETRY, note
        return
    name = log.id or file.path.name
    if log.is_subagent:
        started = f"started by {file.started_by}" if file.started_by else None
        yield name, SessionRole.SUBAGENT, started or "the call that started it is not recorded"
    elif is_first:
        yield name, SessionRole.MAIN, None
    else:
        forked = f"forked from {log.parent}" if log.parent else "another session"
        yield name, SessionRole.RETRY, forked


def _beside(path: Path, thread: str) -> Path | None:
    """The rollout of a thread in the folder of another one; links are not followed."""
    if "/" in thread or "\\" in thread:
        return None
    endings = (f"-{thread}.jsonl", f"-{thread}.jsonl.zst")
    for entry in sorted(path.parent.iterdir()):
        if entry.name.endswith(endings) and entry.is_file() and not entry.is_symlink():
            return entry
    return None


def _records(path: Path, head: bytes, lines: Lines) -> Iterator[tuple[int, object]]:
    """The records of a log, or of the one document that the first client wrote."""
    document = loaded(path.read_bytes()) if is_document(head) else None
    if isinstance(document, dict):
        yield 1, mapping(document.get("session"))
        yield from enumerate(items_of(document.get("items")), start=2)
        return
    yield from each_record(lines_of(path), lines)
