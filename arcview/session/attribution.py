"""Which stage or pass, and which of its steps, wrote a line of a state.

Blame over the states says the stage. The step comes from the states that the run recorded after
each step; where there are none, from replaying the visible edits. Everything here may take tens of
milliseconds and belongs into a worker.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arcview.analysis.edits import FileEdit
from arcview.analysis.replay import (
    Certainty,
    FileOrigins,
    LineOrigin,
    Replay,
    StepEdit,
    inserted_lines,
)
from arcview.analysis.step_edits import Resolve, resolver, step_edits, workspace_root
from arcview.errors import ArcviewError, CancelledError
from arcview.model.states import StateKind
from arcview.model.trajectory import ToolKind, Trajectory
from arcview.session.workspace_files import WorkspaceFiles

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun


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
    recorded: bool = False
    """The run recorded the workspace after that step; otherwise its edits were replayed."""


@dataclass(frozen=True, slots=True)
class ShellStep:
    """A shell command that may have changed files unseen."""

    step_key: str
    number: int | None
    command: str


@dataclass(frozen=True, slots=True)
class StepShare:
    """How many lines of a change one step wrote, as far as that is known exactly."""

    step_key: str
    step: int | None
    lines: int


class _Way:
    """What is known of the way from the state before to a state."""

    def __init__(self, trajectory: Trajectory, edits: tuple[StepEdit, ...]) -> None:
        self.trajectory = trajectory
        self.edits = edits
        self.numbers = {step.key: step.number for step in trajectory.steps}
        self.commands = tuple(
            (step.key, call.command)
            for step in trajectory.steps
            for call in step.calls
            if call.kind is ToolKind.SHELL and call.command is not None
        )
        self._in_commands: dict[tuple[str, str], str] | None = None

    def inserted(self, texts: list[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
        """The lines that edits (step, text) or shell commands spell out; edits win."""
        if self._in_commands is None:
            self._in_commands = inserted_lines(self.commands)
        return ChainMap(inserted_lines(texts), self._in_commands)


class Attribution:
    """Attributes lines in one open run and keeps what several questions share.

    Args:
        opened: The run; its states must be built (`store.ready()`).
        files: The files of its states.
        use_recorded_steps: False leaves recorded steps aside, to measure the replay against them.
    """

    def __init__(
        self, opened: OpenRun, files: WorkspaceFiles, *, use_recorded_steps: bool = True
    ) -> None:
        self._opened = opened
        self._files = files
        self._use_recorded_steps = use_recorded_steps
        self._ways: dict[str, _Way] = {}
        self._resolvers: dict[str, Resolve] = {}
        self._origins: dict[tuple[str, str], FileOrigins | None] = {}
        self._blames: dict[tuple[str, str], tuple[tuple[str, str, int], ...]] = {}
        self._recorded: dict[tuple[str, str], tuple[str | None, ...]] = {}

    def source(self, state: str, path: str, line: int) -> LineSource | None:
        """Which stage and step wrote a line.

        Args:
            state: The state that the line is looked at in.
            path: The file.
            line: 1-based.
        """
        blamed = self.blame(state, path)
        self._preload(blamed[line - 1 : line] if line > 0 else ())
        return self._with_step(*blamed[line - 1]) if 0 < line <= len(blamed) else None

    def sources(self, state: str, path: str) -> tuple[LineSource, ...]:
        """The source of every line of a file, in order; empty where the file cannot be blamed."""
        blamed = self.blame(state, path)
        self._preload(blamed)
        return tuple(self._with_step(*line) for line in blamed)

    def coverage(self, state: str, path: str) -> tuple[int, int]:
        """(Lines of a state's own change with an exact step, lines of that change)."""
        own = [source for source in self.sources(state, path) if source.state == state]
        return sum(source.certainty == "exact" for source in own), len(own)

    def steps_of_change(self, state: str, paths: Iterable[str]) -> tuple[StepShare, ...]:
        """The steps that wrote the change to a state, the largest share first.

        Args:
            state: The state that the change led to.
            paths: The files to look at, as they are named there.
        """
        lines: Counter[tuple[str, int | None]] = Counter()
        for path in paths:
            for source in self.sources(state, path):
                if source.state == state and source.certainty == "exact" and source.step_key:
                    lines[source.step_key, source.step] += 1
        return tuple(StepShare(key, step, count) for (key, step), count in lines.most_common())

    def blame(self, state: str, path: str) -> tuple[tuple[str, str, int], ...]:
        """State, path and line number there, of every line of a file; empty where not possible."""
        key = (state, path)
        if key not in self._blames:
            try:
                lines = self._opened.store.blame(state, path)
            except CancelledError:
                raise
            except ArcviewError:
                # Without a state or a file there is nothing to blame: the caller shows no source.
                lines = ()
            self._blames[key] = tuple(
                (line.state_id, line.original_path, line.original_line) for line in lines
            )
        return self._blames[key]

    def edits(self, state: str) -> tuple[StepEdit, ...]:
        """The visible edits that led to a state, with workspace paths."""
        return self._way(state).edits

    def shell_steps(self, state: str) -> tuple[ShellStep, ...]:
        """The shell commands on the way to a state that may have written what no edit shows."""
        from arcview.analysis.shell import runs_nothing

        way = self._way(state)
        return tuple(
            ShellStep(key, way.numbers.get(key), command)
            for key, command in way.commands
            if not runs_nothing(command)
        )

    def trajectory(self, state: str) -> Trajectory:
        """The steps that led from the state before to this one."""
        return self._way(state).trajectory

    def resolve(self, state: str) -> Resolve:
        """Maps paths of the calls that led to a state to the files before and after them."""
        if state not in self._resolvers:
            trajectory = self._read_trajectory(state)
            before = self._files.before(state)
            files = frozenset((*self._files.paths(before), *self._files.paths(state)))
            root = workspace_root(trajectory, files, self._opened.run.chain.workdir)
            self._resolvers[state] = resolver(root, files)
        return self._resolvers[state]

    def _preload(self, blamed: Iterable[tuple[str, str, int]]) -> None:
        """Reads what the replays of some lines need in one go."""
        for_replay = {(state, path) for state, path, _ in blamed}
        wanted: list[tuple[str | None, str]] = []
        for state, path in for_replay:
            if (state, path) not in self._origins:
                old = self._files.renames(state).get(path, path)
                wanted += ((state, path), (self._files.before(state), old))
        self._files.preload(wanted)

    def _with_step(self, state_id: str, path: str, line: int) -> LineSource:
        state = self._opened.run.state(state_id)
        stage = state.stage if state is not None else 0
        is_pass = self._files.is_between(state_id)
        if state is not None and state.kind is StateKind.START:
            return LineSource(state_id, stage, is_pass, "none")
        recorded = self._recorded_steps(state_id, path)
        key = recorded[line - 1] if 0 < line <= len(recorded) else None
        if key is not None:
            number = self._way(state_id).numbers.get(key)
            return LineSource(state_id, stage, is_pass, "exact", key, number, recorded=True)
        origin = self._replayed(state_id, path, line)
        certainty = origin.certainty
        if recorded and certainty == "exact":
            # The run watched its steps and saw none write this line: the replay alone is no proof.
            certainty = "candidate"
        number = self._way(state_id).numbers.get(origin.step or "")
        return LineSource(state_id, stage, is_pass, certainty, origin.step, number)

    def _replayed(self, state_id: str, path: str, line: int) -> LineOrigin:
        origins = self._file_origins(state_id, path)
        if origins is None or not 0 < line <= len(origins.lines):
            return LineOrigin("none")
        origin = origins.lines[line - 1]
        # Blame sees a change that the replay does not: blanks or a move; no step is certain.
        return LineOrigin("none") if origin.inherited else origin

    def _recorded_steps(self, state_id: str, path: str) -> tuple[str | None, ...]:
        if not self._use_recorded_steps:
            return ()
        key = (state_id, path)
        if key not in self._recorded:
            try:
                self._recorded[key] = self._opened.store.blame_steps(state_id, path)
            except CancelledError:
                raise
            except ArcviewError:
                self._recorded[key] = ()
        return self._recorded[key]

    def _file_origins(self, state_id: str, path: str) -> FileOrigins | None:
        key = (state_id, path)
        if key not in self._origins:
            self._origins[key] = self._replay(state_id, path)
        return self._origins[key]

    def _replay(self, state_id: str, path: str) -> FileOrigins | None:
        end = self._files.text(state_id, path)
        if end is None:
            return None
        files, base, way = self._files, self._files.before(state_id), self._way(state_id)
        renamed = files.renames(state_id)
        edits = _edits_of_file(way.edits, {path, renamed.get(path, path)})
        # Not `self`: a circle would hold the run's cache until the next collection.
        replay = Replay(lambda name: files.text(base, name), renamed)
        for item in edits:
            replay.apply(item)
        texts = [(item.step, item.edit.new) for item in edits]
        return replay.origins(path, end, lambda: way.inserted(texts))

    def _read_trajectory(self, state_id: str) -> Trajectory:
        state = self._opened.run.state(state_id)
        if state is None or not state.stage:
            return Trajectory("")
        between = state_id if state.kind is StateKind.BETWEEN else None
        return self._opened.trajectory(state.stage, between)

    def _way(self, state_id: str) -> _Way:
        if state_id not in self._ways:
            trajectory = self._read_trajectory(state_id)
            self._ways[state_id] = _Way(trajectory, step_edits(trajectory, self.resolve(state_id)))
        return self._ways[state_id]


def _edits_of_file(edits: tuple[StepEdit, ...], names: set[str]) -> list[StepEdit]:
    """The edits that a file's lines may come through: its own, and of what it was made from."""
    found = []
    for item in reversed(edits):
        edit = item.edit
        if edit.path in names or edit.source in names or _deletes_folder_of(edit, names):
            found.append(item)
            if edit.source:
                names.add(edit.source)
    return found[::-1]


def _deletes_folder_of(edit: FileEdit, names: set[str]) -> bool:
    return edit.kind == "delete" and any(name.startswith(f"{edit.path}/") for name in names)
