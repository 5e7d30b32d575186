"""The evidence trail of a failing test: frames, candidate lines, symptoms, and who wrote them.

Brings states, trajectories and the pure analyses together; knows no screen. Everything may take
tens of milliseconds and belongs into a worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arcview.analysis.candidates import Candidate, find_candidates
from arcview.analysis.clues import clues_of
from arcview.analysis.edits import FileEdit, edits_of
from arcview.analysis.frames import (
    Frame,
    FrameKind,
    PathMapper,
    classify_frames,
    leading_frame,
    parse_frames,
)
from arcview.analysis.gate_view import FailingTest
from arcview.analysis.history import History
from arcview.analysis.replay import Certainty, FileOrigins, StepEdit, replay_file
from arcview.analysis.symptoms import Symptom, find_symptoms
from arcview.errors import ArcviewError
from arcview.model.patch import ChangeKind, FileChange, PathClass
from arcview.model.results import GateTest, Outcome
from arcview.model.states import StateKind
from arcview.model.trajectory import Step, ToolCall, ToolKind, Trajectory

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun
    from arcview.states.store import StateStore

_MAX_FILE_BYTES = 1 << 20
_MAX_STATE_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class LineSource:
    """Which stage or pass, and where it is known which step, wrote one line of a state."""

    state: str
    """The state that the line first stood in."""
    stage: int
    """The stage that ended in it; for a between-state the stage that it follows."""
    is_pass: bool
    """A pass between stages wrote it, not the agent's stage."""
    certainty: Certainty
    step_key: str | None = None
    step: int | None = None
    """Number of the step, for people."""


@dataclass(frozen=True, slots=True)
class TracedFrame:
    """A frame with the origin of the line that it names."""

    frame: Frame
    source: LineSource | None
    """Null for frames outside the agent's code, and where the states are missing."""


@dataclass(frozen=True, slots=True)
class TracedCandidate:
    """A candidate line with its origin."""

    candidate: Candidate
    source: LineSource | None


@dataclass(frozen=True, slots=True)
class Trail:
    """What leads on from one failing test."""

    frames: tuple[TracedFrame, ...]
    """Deepest last."""
    leading: TracedFrame | None
    """The deepest frame in the agent's code; null for a black-box failure."""
    began: str | None
    """The state at which the test began to fail; null where that is not known."""
    suspect_change: tuple[FileChange, ...]
    """What changed in source files from the state before `began` to it: look there first."""
    candidates: tuple[TracedCandidate, ...]
    symptoms: tuple[Symptom, ...]
    """Tool outputs of the stage that had shown the failure before the gate did."""
    nothing: str | None
    """Why there is nothing to go on, where that is so."""


class TrailFinder:
    """Finds trails in one open run and keeps what several trails share.

    Args:
        opened: The run; its states must be built (`store.ready()`).
    """

    def __init__(self, opened: OpenRun) -> None:
        self._opened = opened
        self._files: dict[str, dict[str, str]] = {}
        self._mappers: dict[str, PathMapper] = {}
        self._origins: dict[tuple[str, str], FileOrigins | None] = {}
        self._edits: dict[str, tuple[StepEdit, ...]] = {}
        self._commands: dict[str, tuple[tuple[str, str], ...]] = {}
        self._numbers: dict[str, dict[str, int | None]] = {}
        self._blames: dict[tuple[str, str], tuple[tuple[str, str, int], ...]] = {}

    def trail(self, stage: int, state: str, failing: FailingTest) -> Trail:
        """Follows one failing test.

        An inherited failure leads to the change that it began with, not to this stage's own.

        Args:
            stage: The stage whose gate it is.
            state: The state that the gate ran on.
            failing: The test with its message, traceback and history.
        """
        test, history = failing.test, failing.history
        began = failing.since if history is History.INHERITED else state
        text = "\n".join(
            part for part in (test.traceback, test.message, test.stdout, test.stderr) if part
        )
        frames = tuple(
            TracedFrame(frame, self._source_of(frame, state))
            for frame in classify_frames(parse_frames(text), self.mapper(state))
        )
        lead = leading_frame(traced.frame for traced in frames)
        clues = clues_of(test)
        found = find_candidates(
            clues,
            self.files(state),
            self._lines_of_change(began, state),
            prefer_change=history is not History.UNKNOWN,
        )
        between = state if self._is_between(state) else None
        symptoms = find_symptoms(test.id, clues, self._opened.trajectory(stage, between))
        suspect = () if history is History.UNKNOWN else self._source_changes(began)
        return Trail(
            frames,
            next((traced for traced in frames if traced.frame == lead), None),
            began,
            suspect,
            tuple(TracedCandidate(c, self.source(state, c.path, c.line)) for c in found),
            symptoms,
            None if lead or found or symptoms or suspect else _why_nothing(test),
        )

    def source(self, state: str, path: str, line: int) -> LineSource | None:
        """Which stage and step wrote a line.

        Args:
            state: The state that the line is looked at in.
            path: The file.
            line: 1-based.
        """
        blamed = self._blame(state, path)
        if not 0 < line <= len(blamed):
            return None
        origin_state, origin_path, origin_line = blamed[line - 1]
        return self._with_step(origin_state, origin_path, origin_line)

    def sources(self, state: str, path: str) -> tuple[LineSource, ...]:
        """The source of every line of a file, in order; empty where the file cannot be blamed."""
        return tuple(self._with_step(*blamed) for blamed in self._blame(state, path))

    def coverage(self, state: str, path: str) -> tuple[int, int]:
        """(Lines of a state's own change with an exact step, lines of that change)."""
        origins = self._file_origins(state, path)
        return (0, 0) if origins is None else (origins.attributed, origins.written)

    def files(self, state: str) -> dict[str, str]:
        """Path → text of the state's source and test files; vendored and huge ones left out."""
        if state not in self._files:
            self._files[state] = dict(self._read_files(state))
        return self._files[state]

    def mapper(self, state: str) -> PathMapper:
        """Maps container paths to the files of a state."""
        if state not in self._mappers:
            paths = [entry.path for entry in self._store.entries(state)]
            self._mappers[state] = PathMapper(paths, self._opened.run.chain.workdir)
        return self._mappers[state]

    @property
    def _store(self) -> StateStore:
        return self._opened.store

    def _read_files(self, state: str) -> Iterator[tuple[str, str]]:
        from arcview.states.path_class import classify

        rules = self._opened.run.chain.path_rules
        wanted = [
            entry
            for entry in self._store.entries(state)
            if (entry.size_bytes or 0) <= _MAX_FILE_BYTES
            and classify(entry.path, rules) in (PathClass.SOURCE, PathClass.TEST)
        ]
        total = 0
        for entry, data in zip(wanted, self._store.blobs([e.blob for e in wanted]), strict=True):
            total += len(data)
            if total > _MAX_STATE_BYTES:
                return
            if b"\0" not in data:
                yield entry.path, data.decode("utf-8", "replace")

    def _source_of(self, frame: Frame, state: str) -> LineSource | None:
        if frame.kind is not FrameKind.PROJECT or frame.workspace_path is None:
            return None
        return self.source(state, frame.workspace_path, frame.line)

    def _before(self, state: str) -> str | None:
        """The last state before this one on the agent's line."""
        ids = [one.id for one in self._opened.run.agent_states()]
        position = ids.index(state) if state in ids else 0
        return ids[position - 1] if position else None

    def _is_between(self, state: str) -> bool:
        found = self._opened.run.state(state)
        return found is not None and found.kind is StateKind.BETWEEN

    def _changes(self, base: str | None, state: str) -> tuple[FileChange, ...]:
        if base is None or self._store.tree(base) is None or self._store.tree(state) is None:
            return ()
        return self._store.changes(base, state)

    def _source_changes(self, state: str | None) -> tuple[FileChange, ...]:
        """The source files that the step to a state changed."""
        if state is None:
            return ()
        return tuple(
            change
            for change in self._changes(self._before(state), state)
            if change.path_class in (PathClass.SOURCE, PathClass.CONFIG)
        )

    def _lines_of_change(self, began: str | None, state: str) -> dict[str, frozenset[int]]:
        """Path → lines, numbered as in `state`, that the change to `began` wrote."""
        return {
            change.path: frozenset(
                number
                for number, blamed in enumerate(self._blame(state, change.path), 1)
                if blamed[0] == began
            )
            for change in self._source_changes(began)
            if change.kind is not ChangeKind.DELETED
        }

    def _blame(self, state: str, path: str) -> tuple[tuple[str, str, int], ...]:
        key = (state, path)
        if key not in self._blames:
            try:
                lines = self._store.blame(state, path)
            except ArcviewError:
                # Without a state or a file there is nothing to blame: the caller shows no source.
                lines = ()
            self._blames[key] = tuple(
                (line.state_id, line.original_path, line.original_line) for line in lines
            )
        return self._blames[key]

    def _with_step(self, state_id: str, path: str, line: int) -> LineSource:
        state = self._opened.run.state(state_id)
        stage = state.stage if state is not None else 0
        is_pass = self._is_between(state_id)
        origins = self._file_origins(state_id, path)
        if origins is None or not 0 < line <= len(origins.lines):
            return LineSource(state_id, stage, is_pass, "none")
        origin = origins.lines[line - 1]
        number = self._numbers.get(state_id, {}).get(origin.step or "")
        if origin.inherited:
            # Blame sees a change that the replay does not: blanks or a move; no step is certain.
            return LineSource(state_id, stage, is_pass, "none")
        return LineSource(state_id, stage, is_pass, origin.certainty, origin.step, number)

    def _file_origins(self, state_id: str, path: str) -> FileOrigins | None:
        key = (state_id, path)
        if key not in self._origins:
            self._origins[key] = self._replay(state_id, path)
        return self._origins[key]

    def _replay(self, state_id: str, path: str) -> FileOrigins | None:
        end = self._store.file(state_id, path)
        if end is None or b"\0" in end:
            return None
        base_id = self._before(state_id)
        base = self._base_file(base_id, state_id, path)
        edits = [item for item in self._state_edits(state_id) if item.edit.path == path]
        return replay_file(
            None if base is None else base.decode("utf-8", "replace"),
            end.decode("utf-8", "replace"),
            edits,
            self._commands[state_id],
        )

    def _base_file(self, base_id: str | None, state_id: str, path: str) -> bytes | None:
        if base_id is None:
            return None
        renamed = next(
            (
                c.old_path
                for c in self._changes(base_id, state_id)
                if c.path == path and c.kind is ChangeKind.RENAMED
            ),
            None,
        )
        return self._store.file(base_id, renamed or path)

    def _state_edits(self, state_id: str) -> tuple[StepEdit, ...]:
        """The visible edits that led to a state, with workspace paths."""
        if state_id not in self._edits:
            state = self._opened.run.state(state_id)
            trajectory = Trajectory("")
            if state is not None and state.stage:
                between = state_id if state.kind is StateKind.BETWEEN else None
                trajectory = self._opened.trajectory(state.stage, between)
            self._numbers[state_id] = {step.key: step.number for step in trajectory.steps}
            self._commands[state_id] = tuple(
                (step.key, call.command)
                for step in trajectory.steps
                for call in step.calls
                if call.kind is ToolKind.SHELL and call.command is not None
            )
            mapper = self.mapper(state_id)
            self._edits[state_id] = tuple(
                StepEdit(step.key, edit)
                for step in trajectory.steps
                for edit in _edits_in(step, mapper)
            )
        return self._edits[state_id]


def _edits_in(step: Step, mapper: PathMapper) -> Iterator[FileEdit]:
    for call in step.calls:
        for edit in (*edits_of(call), *_shell_writes(call)):
            path = mapper.resolve(edit.path)
            if path is not None:
                yield FileEdit(
                    path, edit.kind, edit.new, edit.old, edit.replace_all, edit.after_line
                )


def _shell_writes(call: ToolCall) -> Iterator[FileEdit]:
    """Files whose content stands in a shell line: heredocs, `tee`, `echo … > f`."""
    from arcview.analysis.shell import parse_shell, runs_nothing, written_files

    if call.kind is not ToolKind.SHELL or call.command is None or runs_nothing(call.command):
        return
    for write in written_files(parse_shell(call.command)):
        yield FileEdit(write.path, "append" if write.append else "write", new=write.text)


_NO_EVIDENCE = {
    Outcome.TIMEOUT: "the test ran out of time and printed nothing that leads on",
    Outcome.NOT_RUN: "the test never started",
    Outcome.MISSING: "the report does not name the test",
    Outcome.SKIPPED: "the test was skipped",
}


def _why_nothing(test: GateTest) -> str:
    known = _NO_EVIDENCE.get(test.outcome)
    if known is not None:
        return known
    if not (test.message or test.traceback):
        return "no message or traceback is recorded"
    return "the message names no code, and nothing in it is found in the code of this state"
