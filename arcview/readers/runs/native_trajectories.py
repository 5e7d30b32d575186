"""Joins the trajectory files of one stage: files of one format go to its reader together.

Which records two files of a format share, only its reader can tell; it counts each once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from arcview.errors import ArcviewError
from arcview.model.problem import Problem
from arcview.model.trajectory import Session, Trajectory
from arcview.model.trajectory_refs import SessionRole, TrajectoryRef
from arcview.readers.registry import TrajectoryReader, find_trajectory_reader, trajectory_reader
from arcview.readers.runs.kept_session import KeptSession
from arcview.readers.runs.native_folder import Folder

_READING_ORDER = (
    SessionRole.MAIN,
    SessionRole.RETRY,
    SessionRole.SUBAGENT,
    SessionRole.BETWEEN,
    SessionRole.OTHER_STAGE,
)


@dataclass(slots=True)
class _Files:
    reader: TrajectoryReader
    refs: list[TrajectoryRef] = field(default_factory=list)


def read_trajectory(run: Folder, refs: Sequence[TrajectoryRef], kept: KeptSession) -> Trajectory:
    """Reads the given trajectories; what cannot be read is a problem, the rest is there."""
    problems: list[Problem] = []
    by_format: dict[str, _Files] = {}
    for ref in sorted(refs, key=lambda ref: _READING_ORDER.index(ref.role)):
        reader = _reader(run, ref, problems)
        if reader is not None:
            by_format.setdefault(reader.id, _Files(reader)).refs.append(ref)
    parts = [_part(run, files, kept) for files in by_format.values()]
    if not parts:
        return Trajectory(format="none", problems=tuple(problems))
    if len(parts) == 1:
        return replace(parts[0], problems=(*problems, *parts[0].problems))
    return _joined(parts, problems)


def _reader(run: Folder, ref: TrajectoryRef, problems: list[Problem]) -> TrajectoryReader | None:
    path = run.find(ref.path)
    if path is None:
        problems.append(Problem(ref.path, "the trajectory is not there"))
        return None
    try:
        if ref.format is not None:
            return trajectory_reader(ref.format)
        return find_trajectory_reader(path)[0]
    except ArcviewError as error:
        what = str(error).replace(str(path), ref.path).removeprefix(f"{ref.path}: ")
        problems.append(Problem(ref.path, f"{what}; its steps are not shown"))
        return None


def _part(run: Folder, files: _Files, kept: KeptSession) -> Trajectory:
    paths = [run.root / ref.path for ref in files.refs]
    return kept.part(files.refs, paths, partial(_read, run, files))


def _read(run: Folder, files: _Files) -> Trajectory:
    first, *others = files.refs
    found = files.reader.read(
        run.root / first.path, [run.root / companion.path for companion in others]
    )
    roles = {ref.session: ref.role for ref in files.refs if ref.session is not None}
    return replace(
        found,
        sessions=tuple(_with_role(session, roles.get(session.id)) for session in found.sessions),
        problems=tuple(_relative(run, problem) for problem in found.problems),
    )


def _with_role(session: Session, role: SessionRole | None) -> Session:
    """The run's own word on what a session is counts more than what its format suggests."""
    return session if role in (None, SessionRole.MAIN) else replace(session, role=role)


def _relative(run: Folder, problem: Problem) -> Problem:
    return replace(problem, where=problem.where.replace(f"{run.root}/", ""))


def _joined(parts: Sequence[Trajectory], problems: Sequence[Problem]) -> Trajectory:
    """Trajectories of several formats, one after the other, their messages numbered through."""
    steps = []
    number = 0
    for part in parts:
        for step in part.steps:
            if step.number is not None:
                number += 1
                step = replace(step, number=number)
            steps.append(step)
    kinds: dict[str, int] = {}
    for kind, times in (unknown for part in parts for unknown in part.unknown_records):
        kinds[kind] = kinds.get(kind, 0) + times
    return Trajectory(
        format="+".join(part.format for part in parts),
        steps=tuple(steps),
        sessions=tuple(session for part in parts for session in part.sessions),
        problems=(*problems, *(problem for part in parts for problem in part.problems)),
        unknown_records=tuple(kinds.items()),
    )
