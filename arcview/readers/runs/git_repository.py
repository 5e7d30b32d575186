"""Reads a plain git repository as a run: one tag or one commit a stage, along first parents.

The repository is read where it lies, by plumbing alone: no hook, filter or pager of it runs and
nothing is checked out. What is not committed is not part of the run. Must not import pydantic.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arcview.errors import BadInputError, GitError
from arcview.files import exists
from arcview.git import Git
from arcview.model.results import GateRecord
from arcview.model.run import Chain, Run, Stage, Status
from arcview.model.states import EmptySource, Provenance, RepositorySource, State, StateKind
from arcview.readers.given import base_source
from arcview.readers.protocols import Detection, Given
from arcview.readers.runs.assembled import AssembledRun, Assembly
from arcview.readers.runs.git_line import Line, Mark, find_line
from arcview.readers.runs.repository import (
    Commit,
    elsewhere,
    git_dir_of,
    is_sha1,
    place_on_line,
)

LAYOUT = "git_repository"
_MAX_STAGES = 200
"""A repository with more commits is a history, not a run of stages."""


class GitRepositoryReader:
    """Reads a folder with a `.git` folder in it, or a bare repository."""

    id = LAYOUT
    title = "git repository with a commit or tag per stage"
    sample = "made in the tests"

    def detect(self, path: Path) -> Detection | None:
        """Recognises a repository by its HEAD, objects and refs."""
        git_dir = git_dir_of(path)
        if git_dir is None:
            return None
        what = "a bare git repository" if git_dir == path else "a git repository (.git)"
        return Detection(self.id, what)

    def summarise(self, path: Path) -> Run:
        """The skeleton.

        Raises:
            BadInputError: it has no commit, or too many to be stages.
        """
        return self.read(path).run

    def read(self, path: Path) -> AssembledRun:
        """Opens the repository.

        Raises:
            BadInputError: as for `summarise`.
        """
        return self.read_given(path, Given())

    def read_given(self, path: Path, given: Given) -> AssembledRun:
        """As `read`; the stages begin after the base that the user named.

        Raises:
            BadInputError: as for `summarise`.
            ArcviewError: the base is no commit of the repository and no folder.
        """
        git_dir = git_dir_of(path)
        if git_dir is None:
            why = elsewhere(path) or "expected a git repository, there is none"
            raise BadInputError(str(path), why)
        try:
            return AssembledRun(_assembled(path, git_dir, given))
        except GitError as error:
            raise BadInputError(str(path), f"cannot be read as a repository: {error}") from error


def has_stages(path: Path) -> bool:
    """Whether tags or branches of a repository say where stages end."""
    git_dir = git_dir_of(path)
    if git_dir is None:
        return False
    try:
        line = find_line(Git(git_dir.absolute()))
    except GitError:
        return False
    return line is not None and line.marks[0].name is not None


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where the run starts and where its stages end."""

    marks: tuple[Mark, ...]
    start: State
    note: str


def _assembled(path: Path, git_dir: Path, given: Given) -> Assembly:
    git = Git(git_dir.absolute())
    if not is_sha1(git):
        raise BadInputError(str(path), "a repository of SHA-256 objects; not supported")
    line = find_line(git)
    if line is None:
        raise BadInputError(str(path), "a git repository without a commit")
    relative = git_dir.relative_to(path).as_posix()
    plan = _plan(path, relative, line, given)
    if len(plan.marks) > _MAX_STAGES:
        what = f"{len(plan.marks)} commits after the start: too many to be stages"
        raise BadInputError(str(path), f"{what}; tag the ends of stages, or give --base REF")
    states = [plan.start]
    stages = []
    for index, mark in enumerate(plan.marks, start=1):
        source = RepositorySource(relative, mark.commit.id)
        states.append(State(f"S{index}", index, StateKind.STAGE_END, Provenance.RECORDED, source))
        notes = (*_clipped(git_dir), *line.notes, plan.note) if index == 1 else ()
        stages.append(_stage(index, mark, notes))
    ids = [mark.commit.id for mark in plan.marks]
    digest = hashlib.sha256("\0".join([LAYOUT, *ids]).encode()).hexdigest()
    name = path.absolute().name.removesuffix(".git") or "repository"
    run = Run(
        run_id=f"{LAYOUT}-{digest[:16]}",
        layout=LAYOUT,
        path=str(path),
        chain=Chain(task_id=name),
        harness=None,
        status=Status.UNKNOWN,
        started=line.commits[0].at if not given.base else None,
        ended=plan.marks[-1].commit.at if plan.marks else None,
        states=tuple(states),
        stages=tuple(stages),
        gates=tuple(_gate(stage) for stage in stages),
    )
    watched = [git_dir, git_dir / "HEAD", git_dir / "packed-refs", git_dir / "refs/heads"]
    watched += [git_dir / "refs/tags", *(git_dir / "refs/heads").rglob("*")]
    watched += (git_dir / "refs/tags").rglob("*/")
    return Assembly(path.absolute(), run, read=[file for file in watched if exists(file)])


def _plan(path: Path, git_dir: str, line: Line, given: Given) -> _Plan:
    """Decides what the stages are."""
    marks, how = line.marks, line.how
    if given.base is not None:
        return _planned_from(path, line.commits, marks, given.base, how)
    first = marks[0]
    if len(marks) > 1 and (first.is_start or first.name is None):
        word = first.name or "the first commit"
        start = _state(git_dir, first.commit)
        return _Plan(marks[1:], start, f"{how}; the start is {word}")
    place = place_on_line(line.commits, first.commit.id) or 0
    if place > 0:
        start = _state(git_dir, line.commits[0])
        return _Plan(marks, start, f"{how}; the start is taken to be the first commit")
    start = State("S0", 0, StateKind.START, Provenance.INFERRED, EmptySource())
    return _Plan(marks, start, f"{how}; the start is taken to be empty")


def _planned_from(
    path: Path, line: Sequence[Commit], marks: Sequence[Mark], base: str, how: str
) -> _Plan:
    """Stages after a base that the user named: a commit of the line, or another place."""
    source = base_source(base, path)
    start = State("S0", 0, StateKind.START, Provenance.INFERRED, source)
    commit = source.commit if isinstance(source, RepositorySource) else None
    place = place_on_line(line, commit) if commit is not None else None
    if place is not None:
        later = {each.id for each in line[place + 1 :]}
        marks = [mark for mark in marks if mark.commit.id in later]
    if not marks:
        raise BadInputError(str(path), f"no stage after the base {base}")
    return _Plan(tuple(marks), start, f"{how}; the start is {base}, as asked")


def _state(git_dir: str, commit: Commit) -> State:
    source = RepositorySource(git_dir, commit.id)
    return State("S0", 0, StateKind.START, Provenance.INFERRED, source)


def _clipped(git_dir: Path) -> tuple[str, ...]:
    """What to know of a repository that holds only the end of its history."""
    is_shallow = exists(git_dir / "shallow")
    return ("a shallow clone: what was before its first commit is not there",) * is_shallow


def _stage(index: int, mark: Mark, notes: tuple[str, ...]) -> Stage:
    title = mark.commit.subject.strip() or None
    name = f"{mark.name}, " if mark.name is not None else ""
    return Stage(
        index,
        title,
        Status.UNKNOWN,
        base=f"S{index - 1}",
        end=f"S{index}",
        ended=mark.commit.at,
        notes=(f"{name}commit {mark.commit.id[:12]}", *notes),
    )


def _gate(stage: Stage) -> GateRecord:
    return GateRecord(
        str(stage.index), stage.end, unmeasured="no gate result is recorded in a repository"
    )
