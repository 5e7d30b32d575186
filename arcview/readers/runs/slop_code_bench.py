"""Reads a SlopCodeBench output folder: one problem, one checkpoint a stage.

Layout: https://github.com/SprocketLab/slop-code-bench, and the fork of it that runs a refactoring
pass after each checkpoint. Must not import pydantic: opening a run would wait for it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path, PurePosixPath

from arcview.errors import ArcviewError, BadInputError
from arcview.files import is_file, open_file
from arcview.model.problem import Problem
from arcview.model.results import GateTest
from arcview.model.run import Run
from arcview.model.trajectory import Session, Trajectory
from arcview.model.trajectory_refs import SessionRole, TrajectoryRef
from arcview.readers.fields import read_bytes
from arcview.readers.inside import inside
from arcview.readers.registry import Detection, find_trajectory_reader
from arcview.readers.runs.slop_code_bench_agent import ARCHIVE
from arcview.readers.runs.slop_code_bench_gates import EVALUATION, detailed
from arcview.readers.runs.slop_code_bench_run import LAYOUT, PROBLEM, Skeleton, read_skeleton
from arcview.readers.runs.slop_code_bench_sessions import CLAUDE_CODE
from arcview.readers.runs.slop_code_bench_stages import INFERENCE, PROMPT

_CHECKPOINT = "checkpoint.yaml"
_WORDS = (b'"checkpoint_name"', b'"snapshot_dir"', b'"checkpoint_path"')
"""What its results name and nobody else's do."""
_START_BYTES = 64 * 1024
_NOT_INPUTS = frozenset({"snapshot", "quality_analysis"})
_STAGE_ROLES = frozenset({SessionRole.MAIN, SessionRole.RETRY, SessionRole.SUBAGENT})


class SlopCodeBenchReader:
    """Reads `<problem>/checkpoint_N/…` folders."""

    id = LAYOUT
    title = "SlopCodeBench output folder"

    def detect(self, path: Path) -> Detection | None:
        """Recognises `checkpoint_N/checkpoint.yaml` with what is beside it, or its results."""
        found = min(path.glob(f"checkpoint_*/{_CHECKPOINT}"), default=None)
        if found is not None:
            if is_file(path / PROBLEM):
                return Detection(self.id, f"{PROBLEM} beside {found.parent.name}/{_CHECKPOINT}")
            if is_file(found.with_name(PROMPT)):
                return Detection(self.id, f"{found.parent.name}/{_CHECKPOINT} beside {PROMPT}")
        results = [path.glob(f"checkpoint_*/{name}") for name in (INFERENCE, EVALUATION)]
        for file in sorted(file for files in results for file in files):
            if any(word in _start(file) for word in _WORDS):
                return Detection(self.id, f"{file.parent.name}/{file.name} is one of its results")
        return None

    def summarise(self, path: Path) -> Run:
        """The skeleton without trajectories.

        Raises:
            BadInputError: problem.yaml is not what the layout promises.
        """
        return read_skeleton(path, with_sessions=False).run

    def read(self, path: Path) -> OpenedSlopCodeBench:
        """Opens the run.

        Raises:
            BadInputError: as for `summarise`.
        """
        return OpenedSlopCodeBench(path, read_skeleton(path, with_sessions=True))


class OpenedSlopCodeBench:
    """An opened run; details are read when they are asked for and not kept."""

    def __init__(self, path: Path, skeleton: Skeleton) -> None:
        self._path = path
        self._skeleton = skeleton

    @property
    def run(self) -> Run:
        """The skeleton."""
        return self._skeleton.run

    def gate_tests(self, gate: str, state: str | None) -> tuple[GateTest, ...]:
        """The tests of a recorded gate run with messages; empty when unmeasured."""
        evaluation = self._skeleton.evaluations.get((gate, state))
        return () if evaluation is None else detailed(evaluation, self._skeleton.problems)

    def gate_outcomes(self, gate: str, state: str | None) -> tuple[GateTest, ...]:
        """The same tests as evaluation.json lists them."""
        evaluation = self._skeleton.evaluations.get((gate, state))
        return () if evaluation is None else evaluation.tests

    def trajectory(self, refs: Sequence[TrajectoryRef]) -> Trajectory:
        """The steps of a stage or of a pass.

        Among the trajectories of a stage those that belong elsewhere add no steps; they are named
        among the sessions.
        """
        shown = [ref for ref in refs if ref.role in _STAGE_ROLES] or list(refs)
        joined = _joined([self._trajectory(ref) for ref in shown])
        aside = [ref for ref in refs if ref not in shown]
        sessions = [self._aside(ref) for ref in aside]
        return replace(joined, sessions=(*joined.sessions, *sessions))

    def text(self, path: str) -> str:
        """A file of the run as text; undecodable bytes are replaced.

        Raises:
            BadInputError: it is missing, unreadable, or outside the run folder.
        """
        return self.content(path).decode("utf-8", "replace")

    def inputs(self) -> tuple[Path, ...]:
        """Every file outside the workspaces, and the folders that hold them.

        A folder's own time tells that a file has come or gone.
        """
        return tuple(sorted(_inputs_below(self._path)))

    def problems(self) -> tuple[Problem, ...]:
        """What was wrong, each once; grows when the details of a gate are read."""
        return tuple(dict.fromkeys(self._skeleton.problems))

    def _trajectory(self, ref: TrajectoryRef) -> Trajectory:
        """One trajectory with the files that complete it."""
        try:
            if ref.format != CLAUDE_CODE:
                return self._of_another_agent(ref)
        except ArcviewError as error:
            problem = Problem(ref.path, f"{error}; its steps cannot be shown")
            return Trajectory(format="unknown", problems=(problem,))
        from arcview.readers.trajectories.claude_code import Source, join  # when first looked at

        problems = []
        sources = []
        for path in (ref.path, *ref.companions):
            try:
                sources.append(Source(path, self.content(path)))
            except BadInputError as error:
                problems.append(Problem(path, error.expected))
        joined = join(sources)
        return replace(
            joined,
            sessions=tuple(_as_of(session, ref.role) for session in joined.sessions),
            problems=(*problems, *joined.problems),
        )

    def _of_another_agent(self, ref: TrajectoryRef) -> Trajectory:
        file = self.locate(ref, ref.path)
        if file is not None:
            return find_trajectory_reader(file)[0].read(file)
        from tempfile import TemporaryDirectory  # 8 ms, and few agents are packed

        with TemporaryDirectory() as place:  # readers take files
            file = Path(place) / PurePosixPath(ref.path).name
            file.write_bytes(self.content(ref.path))
            return find_trajectory_reader(file)[0].read(file)

    def _aside(self, ref: TrajectoryRef) -> Session:
        """A session that lies in the folder of a stage that it does not belong to."""
        owner = next(
            (
                stage.index
                for stage in self.run.stages
                for between in stage.passes
                if ref in between.trajectories
            ),
            None,
        )
        note = "its first prompt is not this stage's"
        if owner is not None:
            note = f"belongs to the pass after stage {owner}"
        return Session(ref.session or ref.path, ref.role, self._trajectory(ref).step_count, note)

    def locate(self, ref: TrajectoryRef, path: str) -> Path | None:
        """Where a file of a trajectory lies; null where it is in an archive."""
        return None if ARCHIVE in PurePosixPath(path).parts else inside(self._path, path)

    def content(self, path: str) -> bytes:
        """A file of the run by its path relative to it, which may lead into an archive.

        Raises:
            BadInputError: it is missing, unreadable, or outside the run folder.
        """
        parts = PurePosixPath(path).parts
        if ARCHIVE in parts:
            at = parts.index(ARCHIVE) + 1
            archive = self._skeleton.agent_files.get("/".join(parts[:at]))
            if archive is None:
                raise BadInputError(path, "the archive is missing")
            return archive.read("/".join(parts[at:]))
        return read_bytes(inside(self._path, path), path)


def _as_of(session: Session, role: SessionRole) -> Session:
    """A session of a pass is one between the stages, not the stage's main one."""
    if session.role is SessionRole.SUBAGENT or role in _STAGE_ROLES:
        return session
    return replace(session, role=role)


def _joined(trajectories: Sequence[Trajectory]) -> Trajectory:
    """Several trajectories after each other, numbered through."""
    if len(trajectories) == 1:
        return trajectories[0]
    counts: Counter[str] = Counter()
    numbers = count(1)
    steps = []
    for trajectory in trajectories:
        counts.update(dict(trajectory.unknown_records))
        steps += [
            step if step.number is None else replace(step, number=next(numbers))
            for step in trajectory.steps
        ]
    return Trajectory(
        format=trajectories[0].format if trajectories else CLAUDE_CODE,
        steps=tuple(steps),
        sessions=tuple(session for t in trajectories for session in t.sessions),
        problems=tuple(problem for t in trajectories for problem in t.problems),
        unknown_records=tuple(counts.items()),
    )


def _start(file: Path) -> bytes:
    try:
        with open_file(file) as opened:
            return opened.read(_START_BYTES)
    except OSError:
        return b""


def _inputs_below(folder: Path) -> Iterator[Path]:
    for current, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_INPUTS]
        yield Path(current)
        yield from (Path(current) / name for name in files)
