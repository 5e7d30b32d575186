"""Codex logs of one trajectory → steps in order, each counted once, sub-agents at their call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import is_dir, is_file, is_symlink, read_file
from arcview.model.problem import Problem
from arcview.model.trajectory import Trajectory
from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.aside import Aside
from arcview.readers.trajectories.codex_copies import CopiedHistory
from arcview.readers.trajectories.codex_exec import ExecLog
from arcview.readers.trajectories.codex_files import is_document, lines_of, read_head, recognised
from arcview.readers.trajectories.codex_rollout import Rollout
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.records import Lines, each_record, loaded
from arcview.readers.trajectories.threads import About, Thread, trajectory_of
from arcview.readers.trajectories.usages import added

FORMAT = "codex"
_MOST_FILES = 2000
"""How many files of a folder are asked whether they are those of sub-agents."""
_AGENT = "Codex CLI"


@dataclass(slots=True)
class _File:
    """One file that was read."""

    path: Path
    log: Rollout | ExecLog


@dataclass(slots=True)
class Reading:
    """All files of one trajectory."""

    aside: Aside | None = None
    """Takes the long texts where all is too long to be held."""
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
        log.drafts.aside = self.aside
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
        name = path.name
        try:
            for number, value in records:
                log.take(value, f"{name}:{number}")
                if log.meta:
                    break
            copies = CopiedHistory(log.meta, self._original(path, log.meta.parent))
            for number, value in records:
                if copies.may_come and copies.covers(value):
                    log.copied += 1
                else:
                    log.take(value, f"{name}:{number}")
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
            thread = _thread(file.log)
            if isinstance(file.log, Rollout) and file.log.has_tasks and thread is not None:
                for path in _children(file.path, thread):
                    self.take(path)

    def trajectory(self) -> Trajectory:
        """Everything in order, counted once."""
        recorded = {_thread(file.log) for file in self.files}
        shown = [file for file in self.files if not _is_repeated(file.log, recorded)]
        return trajectory_of(FORMAT, [*map(_as_thread, shown)], self.problems)


def _thread(log: Rollout | ExecLog) -> str | None:
    return log.meta.id if isinstance(log, Rollout) else None


def _is_repeated(log: Rollout | ExecLog, recorded: set[str | None]) -> bool:
    """Whether a stream only repeats what a rollout of the same thread has."""
    return isinstance(log, ExecLog) and bool(log.threads) and set(log.threads) <= recorded


def _as_thread(file: _File) -> Thread:
    log = file.log
    if isinstance(log, ExecLog):
        told = "tokens are those of the whole thread, of runs before this one too"
        note = told if log.usage else None
        ids: list[str | None] = [*log.threads] or [None]
        sessions: dict[str | None, str | None] = dict.fromkeys(ids, note)
        about = About(_AGENT, model=log.model, exit_status=log.exit_status)
        return Thread((file.path.name,), log.drafts, sessions, added(log.usage), about=about)
    forked = f"forked from {log.meta.parent}" if log.meta.parent else None
    return Thread(
        names=(log.meta.id or file.path.name, *filter(None, [log.meta.path])),
        drafts=log.drafts,
        sessions={log.meta.id: forked},
        usage=log.tokens.spent,
        spawned=log.spawned,
        is_subagent=log.meta.is_subagent,
        about=About(
            agent=_AGENT,
            agent_version=log.meta.version,
            model=log.model,
            exit_status=log.exit_status,
        ),
    )


def _days(path: Path) -> Iterator[Path]:
    """The folder of a rollout and those of the week after it: a sub-agent lies in its own day's."""
    yield path.parent
    names = path.parent.parts[-3:]
    if len(names) == 3 and "-".join(names).replace("-", "").isdigit():
        root = path.parent.parent.parent.parent
        days = sorted(day for day in root.glob("[0-9]*/[0-9]*/[0-9]*") if is_dir(day))
        yield from [day for day in days if day > path.parent][:7]


def _children(path: Path, thread: str) -> Iterator[Path]:
    """The rollouts of a thread's sub-agents that lie beside its own; links are not followed."""
    for entry in [each for day in _days(path) for each in sorted(day.iterdir())][:_MOST_FILES]:
        is_rollout = entry.name.endswith((".jsonl", ".jsonl.zst"))
        if not is_rollout or entry == path or is_symlink(entry) or not is_file(entry):
            continue
        log = Rollout()
        try:
            first = next(lines_of(entry), b"")
        except (BadInputError, OSError):
            continue
        log.take(loaded(first), entry.name)
        if log.meta.is_subagent and log.meta.parent == thread:
            yield entry


def _beside(path: Path, thread: str) -> Path | None:
    """The rollout of a thread in the folder of another one; links are not followed."""
    if "/" in thread or "\\" in thread:
        return None
    endings = (f"-{thread}.jsonl", f"-{thread}.jsonl.zst")
    for entry in sorted(path.parent.iterdir()):
        if entry == path or not entry.name.endswith(endings):
            continue
        if is_file(entry) and not is_symlink(entry):
            return entry
    return None


def _records(path: Path, head: bytes, lines: Lines) -> Iterator[tuple[int, object]]:
    """The records of a log, or of the one document that the first client wrote."""
    document = loaded(read_file(path)) if is_document(head) else None
    if isinstance(document, dict):
        yield 1, mapping(document.get("session"))
        yield from enumerate(listed(document.get("items")), start=2)
        return
    yield from each_record(lines_of(path), lines)
