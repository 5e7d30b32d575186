"""The evidence trail of a failing test: frames, candidate lines, symptoms, and who wrote them.

Brings states, trajectories and the pure analyses together; knows no screen. Everything may take
tens of milliseconds and belongs into a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arcview.analysis.candidates import Candidate, find_candidates
from arcview.analysis.clues import Clue, clues_of
from arcview.analysis.code_index import CodeIndex
from arcview.analysis.frames import (
    Frame,
    FrameKind,
    PathMapper,
    classify_frames,
    enclosing_function,
    leading_frame,
    parse_frames,
)
from arcview.analysis.gate_view import FailingTest
from arcview.analysis.history import History
from arcview.analysis.symptoms import Symptom, ToolOutputs, telling_clues
from arcview.model.patch import ChangeKind, FileChange, PathClass
from arcview.model.results import GateTest, Outcome
from arcview.session.attribution import Attribution, LineSource, StepShare
from arcview.session.workspace_files import WorkspaceFiles

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun

__all__ = ["LineSource", "StepShare", "TracedCandidate", "TracedFrame", "Trail", "TrailFinder"]


_MAX_SHARED_FILES = 40


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
    """Tool outputs that had shown the failure before the gate did: those of the stage, then those
    of the stages and passes before it, the nearest first."""
    nothing: str | None
    """Why there is nothing to go on, where that is so."""
    suspect_steps: tuple[StepShare, ...] = ()
    """The steps that wrote the suspect change, the largest share first; of a change of many files,
    those with most new lines are looked at."""


class TrailFinder:
    """Finds trails in one open run and keeps what several trails share.

    Args:
        opened: The run; its states must be built (`store.ready()`). Without states a trail still
            has the frames that the failure names, and the symptoms.
    """

    def __init__(self, opened: OpenRun) -> None:
        self._opened = opened
        self._code: dict[tuple[str, str], CodeIndex] = {}
        self._mappers: dict[tuple[str, str], PathMapper] = {}
        self._shares: dict[str, tuple[StepShare, ...]] = {}
        self._outputs: dict[tuple[int, str | None], ToolOutputs] = {}
        self.workspace = WorkspaceFiles(opened)
        self.attribution = Attribution(opened, self.workspace)

    def trail(self, stage: int, state: str, failing: FailingTest, gate: str | None = None) -> Trail:
        """Follows one failing test.

        An inherited failure leads to the change that it began with, not to this stage's own.

        Args:
            stage: The stage whose gate it is.
            state: The state that the gate ran on.
            failing: The test with its message, traceback and history.
            gate: Its id; that of the stage by default.
        """
        gate = gate or str(stage)
        test, history = failing.test, failing.history
        began = failing.since if history is History.INHERITED else state
        text = "\n".join(
            part for part in (test.traceback, test.message, test.stdout, test.stderr) if part
        )
        frames = tuple(
            TracedFrame(self._with_function(frame, state), self._source_of(frame, state))
            for frame in classify_frames(parse_frames(text), self._mapper(gate, state))
        )
        lead = leading_frame(traced.frame for traced in frames)
        clues = clues_of(test)
        found = find_candidates(
            clues,
            self._code_of(gate, state),
            self._lines_of_change(began, state),
            prefer_change=history is not History.UNKNOWN,
        )
        symptoms = self._symptoms(stage, state, telling_clues(test.id, clues))
        suspect = () if history is History.UNKNOWN else self._source_changes(began)
        return Trail(
            frames,
            next((traced for traced in frames if traced.frame == lead), None),
            began,
            suspect,
            tuple(TracedCandidate(c, self.source(state, c.path, c.line)) for c in found),
            symptoms,
            None
            if lead or found or symptoms or suspect
            else _why_nothing(test, has_code=self.workspace.is_there(state)),
            self._steps_of(began, suspect),
        )

    def source(self, state: str, path: str, line: int) -> LineSource | None:
        """Which stage and step wrote a line (1-based) of a file as it stands in a state."""
        return self.attribution.source(state, path, line)

    def sources(self, state: str, path: str) -> tuple[LineSource, ...]:
        """The source of every line of a file, in order; empty where the file cannot be blamed."""
        return self.attribution.sources(state, path)

    def coverage(self, state: str, path: str) -> tuple[int, int]:
        """(Lines of a state's own change with an exact step, lines of that change)."""
        return self.attribution.coverage(state, path)

    def files(self, state: str) -> dict[str, str]:
        """Path → text of the state's source and test files; vendored and huge ones left out."""
        return self.workspace.texts(state)

    def _with_function(self, frame: Frame, state: str) -> Frame:
        code = self.files(state).get(frame.workspace_path or "")
        if frame.function is not None or code is None:
            return frame
        return replace(frame, function=enclosing_function(frame.path, code, frame.line))

    def _code_of(self, gate: str, state: str) -> CodeIndex:
        """The code of a state that a gate ran: without what it laid its own files over."""
        key = (gate, state)
        if key not in self._code:
            laid = {file.path for file in self._opened.run.overlay(gate)}
            texts = self.files(state)
            self._code[key] = CodeIndex({p: text for p, text in texts.items() if p not in laid})
        return self._code[key]

    def _mapper(self, gate: str, state: str) -> PathMapper:
        """Maps container paths of a gate's failures to the files of a state, or the gate's own."""
        key = (gate, state)
        if key not in self._mappers:
            run = self._opened.run
            laid = (file.path for file in run.overlay(gate))
            self._mappers[key] = PathMapper(self.workspace.paths(state), run.chain.workdir, laid)
        return self._mappers[key]

    def _source_of(self, frame: Frame, state: str) -> LineSource | None:
        if frame.kind is not FrameKind.PROJECT or frame.workspace_path is None:
            return None
        return self.source(state, frame.workspace_path, frame.line)

    def _source_changes(self, state: str | None) -> tuple[FileChange, ...]:
        """The source files that the step to a state changed."""
        return tuple(
            change
            for change in self.workspace.own_changes(state)
            if change.path_class in (PathClass.SOURCE, PathClass.CONFIG)
        )

    def _steps_of(
        self, began: str | None, suspect: tuple[FileChange, ...]
    ) -> tuple[StepShare, ...]:
        if began is None or not suspect:
            return ()
        if began not in self._shares:
            largest = sorted(suspect, key=lambda change: -(change.added or 0))[:_MAX_SHARED_FILES]
            paths = [change.path for change in largest if change.kind is not ChangeKind.DELETED]
            self._shares[began] = self.attribution.steps_of_change(began, paths)
        return self._shares[began]

    def _symptoms(self, stage: int, state: str, clues: Sequence[Clue]) -> tuple[Symptom, ...]:
        """What had been on the agent's screen up to a state, looking back from it."""
        if not clues:
            return ()
        between = state if self.workspace.is_between(state) else None
        found: list[Symptom] = []
        for place in self._ways_back(stage, between):
            if place not in self._outputs:
                self._outputs[place] = ToolOutputs(self._opened.trajectory(*place), *place)
            found += self._outputs[place].symptoms(clues)
        return tuple(found)

    def _ways_back(self, stage: int, between: str | None) -> Iterator[tuple[int, str | None]]:
        """The stages and passes from the one that led to a state back to the first."""
        ways = [
            (one.index, state)
            for one in self._opened.run.stages
            for state in (None, *(each.state for each in one.passes))
        ]
        here = (stage, between)
        yield from reversed(ways[: ways.index(here) + 1] if here in ways else ways)

    def _lines_of_change(self, began: str | None, state: str) -> _ChangedLines:
        """Path → lines, numbered as in `state`, that the change to `began` wrote."""
        paths = [c.path for c in self._source_changes(began) if c.kind is not ChangeKind.DELETED]

        def written(path: str) -> frozenset[int]:
            blamed = enumerate(self.attribution.blame(state, path), 1)
            return frozenset(number for number, origin in blamed if origin[0] == began)

        return _ChangedLines(paths, written)


class _ChangedLines(Mapping[str, frozenset[int]]):
    """The lines of a change by path, worked out for the files that somebody asks about."""

    def __init__(self, paths: Sequence[str], written: Callable[[str], frozenset[int]]) -> None:
        self._written = written
        self._lines: dict[str, frozenset[int] | None] = dict.fromkeys(paths)

    def __getitem__(self, path: str) -> frozenset[int]:
        lines = self._lines[path]
        if lines is None:
            lines = self._lines[path] = self._written(path)
        return lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


_NO_EVIDENCE = {
    Outcome.TIMEOUT: "the test ran out of time and printed nothing that leads on",
    Outcome.NOT_RUN: "the test never started",
    Outcome.MISSING: "the report does not name the test",
    Outcome.SKIPPED: "the test was skipped",
}


def _why_nothing(test: GateTest, *, has_code: bool) -> str:
    known = _NO_EVIDENCE.get(test.outcome)
    if known is not None:
        return known
    if not (test.message or test.traceback):
        return "no message or traceback is recorded"
    if not has_code:
        return "not known: the state that the gate ran on is not recorded"
    return "the message names no code, and nothing in it is found in the code of this state"
