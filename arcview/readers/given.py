"""What a user adds to a run where detection cannot know it: a trajectory, the state before it.

`--trajectory FILE` and `--base DIR|GITREF`. Works on any opened run; a layout that can do better
with them (a git repository) is handed them itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from arcview.errors import ArcviewError, GitError
from arcview.files import exists, is_dir
from arcview.git import Git
from arcview.model.problem import Problem
from arcview.model.results import GateTest
from arcview.model.run import Run, Stage, Status
from arcview.model.states import (
    FolderSource,
    Provenance,
    RepositorySource,
    State,
    StateKind,
    StateSource,
)
from arcview.model.trajectory import Trajectory
from arcview.model.trajectory_refs import TrajectoryRef
from arcview.readers.parts import join, turn_starts
from arcview.readers.protocols import Given, OpenedRun, RunReader, whole_of
from arcview.readers.registry import find_trajectory_reader
from arcview.readers.runs.assembled import read_ref
from arcview.readers.runs.kept_session import KeptSession
from arcview.readers.runs.repository import commit_of, git_dir_of, is_sha1

_NEVER_RAN = (Status.NOT_STARTED, Status.SKIPPED)


def base_source(base: str, run: Path) -> StateSource:
    """Where the files of a base that the user named lie.

    Args:
        base: A folder, `REPOSITORY@REF`, or a ref of the repository that the run is.
        run: The run folder.

    Raises:
        ArcviewError: there is no such folder or commit.
    """
    folder = Path(base)
    if is_dir(folder):
        return FolderSource(str(folder.absolute()), is_given=True)
    place, separator, ref = base.rpartition("@")
    repository = Path(place) if separator and is_dir(Path(place)) else run
    git_dir = git_dir_of(repository) if is_dir(repository) else None
    if git_dir is None:
        raise ArcviewError(f"--base {base}: no such folder, and {repository} is no git repository")
    ref = ref if repository is not run else base
    try:
        git = Git(git_dir.absolute())
        commit = commit_of(git, ref)
        if commit is None:
            raise ArcviewError(f"--base {base}: {repository} has no commit {ref}")
        if not is_sha1(git):
            raise ArcviewError(f"--base {base}: a repository of SHA-256 objects; not supported")
    except GitError as error:
        raise ArcviewError(f"--base {base}: {error}") from error
    return RepositorySource(str(git_dir.absolute()), commit, is_given=True)


def open_given(reader: RunReader, path: Path, given: Given) -> OpenedRun:
    """Opens a run with what the user added.

    Args:
        reader: Of its layout; one that has a `read_given` is handed what the user named.
        path: The run.
        given: What is added.

    Raises:
        ArcviewError: as for `RunReader.read`; or what the user named is not there.
    """
    read_given = getattr(reader, "read_given", None)
    if read_given is None:
        return GivenRun(reader.read(path), given)
    return GivenRun(read_given(path, given), replace(given, base=None))


class GivenRun:
    """An opened run with what the user added (see `OpenedRun`).

    Args:
        opened: The run as it is.
        given: What is added.

    Raises:
        ArcviewError: what the user named is not there.
    """

    def __init__(self, opened: OpenedRun, given: Given) -> None:
        self._opened = opened
        self._given = given
        self._extra: TrajectoryRef | None = None
        run = opened.run
        if given.base is not None:
            run = _with_base(run, base_source(given.base, Path(run.path)))
        self._root = Path(run.path)
        if given.trajectory is not None:
            file = given.trajectory.absolute()
            if not exists(file):
                raise ArcviewError(f"--trajectory {given.trajectory}: no such file")
            _check_is_session(given.trajectory)
            self._root = file.parent
            self._extra = TrajectoryRef(file.name)
            run = _with_trajectory(run, self._root, self._extra)
        self._run = run
        self._kept = KeptSession()

    @property
    def run(self) -> Run:
        """The skeleton."""
        return self._run

    def gate_tests(self, gate: str, state: str | None) -> tuple[GateTest, ...]:
        """As the run itself has them."""
        return self._opened.gate_tests(gate, state)

    def gate_outcomes(self, gate: str, state: str | None) -> tuple[GateTest, ...]:
        """As the run itself has them."""
        return self._opened.gate_outcomes(gate, state)

    def trajectory(self, refs: Sequence[TrajectoryRef]) -> Trajectory:
        """The run's own steps, then those that the user named."""
        own = [ref for ref in refs if not self._is_given(ref)]
        parts = [read_ref(self._root, ref, self._kept) for ref in refs if self._is_given(ref)]
        return join([*([self._opened.trajectory(own)] if own else []), *parts])

    def locate(self, ref: TrajectoryRef, path: str) -> Path | None:
        """Where a file of a trajectory lies; null where it is packed into another."""
        if self._is_given(ref):
            return self._root / path
        find = getattr(self._opened, "locate", None)
        return find(ref, path) if find is not None else Path(self._run.path) / path

    def content(self, path: str) -> bytes:
        """The bytes of a file of the run itself."""
        read = getattr(self._opened, "content", None)
        return read(path) if read is not None else self._opened.text(path).encode("utf-8")

    def _is_given(self, ref: TrajectoryRef) -> bool:
        return self._extra is not None and ref.path == self._extra.path and ref.session == _GIVEN

    def whole(self) -> GivenRun:
        """The same, added to the whole of the run itself."""
        return GivenRun(whole_of(self._opened), self._given)

    def text(self, path: str) -> str:
        """As the run itself has it."""
        return self._opened.text(path)

    def inputs(self) -> tuple[Path, ...]:
        """The run's own, and the trajectory."""
        extra = () if self._extra is None else (self._root / self._extra.path,)
        return (*self._opened.inputs(), *extra)

    def problems(self) -> tuple[Problem, ...]:
        """As the run itself has them."""
        return self._opened.problems()


_GIVEN = "--trajectory"


def _check_is_session(file: Path) -> None:
    """Refuses what no reader knows: a run would be shown without the steps that were asked for."""
    try:
        find_trajectory_reader(file)
    except ArcviewError as error:
        raise ArcviewError(f"--trajectory {error}") from error


def _with_base(run: Run, source: StateSource) -> Run:
    """The run with a start state that the user named in place of its own."""
    starts = [state for state in run.states if state.kind is StateKind.START]
    start = State("S0", 0, StateKind.START, Provenance.INFERRED, source)
    if starts:
        start = replace(starts[0], source=source, missing=None, provenance=Provenance.INFERRED)
    others = tuple(state for state in run.states if state.kind is not StateKind.START)
    stages = tuple(
        replace(stage, base=start.id) if stage.index == 1 and stage.base is None else stage
        for stage in run.stages
    )
    return replace(run, states=(start, *others), stages=stages)


def _with_trajectory(run: Run, root: Path, ref: TrajectoryRef) -> Run:
    """The run with a session added to the stages that it covers."""
    ref = replace(ref, session=_GIVEN)
    ran = [stage for stage in run.stages if stage.status not in _NEVER_RAN]
    parts = spread(root, ref, ran)
    return replace(
        run,
        stages=tuple(
            replace(stage, trajectories=(*stage.trajectories, *parts[stage.index]))
            if stage.index in parts
            else stage
            for stage in run.stages
        ),
    )


def spread(
    root: Path, ref: TrajectoryRef, stages: Sequence[Stage]
) -> dict[int, tuple[TrajectoryRef, ...]]:
    """Which part of one session belongs to which of several stages.

    By user turn where the session has as many as there are stages, else by the times at which the
    stages ended where all are known, else all of it to the first.
    """
    if len(stages) <= 1:
        return {stage.index: (ref,) for stage in stages}
    starts = turn_starts(read_ref(root, ref).heads)
    if len(starts) == len(stages):
        return {
            stage.index: (replace(ref, turns=(turn, turn)),)
            for turn, stage in enumerate(stages, start=1)
        }
    if all(stage.ended for stage in stages):
        parts: dict[int, tuple[TrajectoryRef, ...]] = {}
        since = None
        for stage in stages:
            until = stage.ended if stage is not stages[-1] else None
            parts[stage.index] = (replace(ref, since=since, until=until),)
            since = stage.ended
        return parts
    return {stages[0].index: (ref,)}
