"""Reads a plain git repository as a run: one tag or one commit a stage, along first parents.

The repository is read where it lies, by plumbing alone: no hook, filter or pager of it runs and
nothing is checked out. What is not committed is not part of the run. Must not import pydantic.
"""

from __future__ import annotations

import hashlib
import re
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
from arcview.readers.runs.repository import (
    Commit,
    Tag,
    git_dir_of,
    is_sha1,
    line_of,
    place_on_line,
    tags_of,
)

LAYOUT = "git_repository"
_MAX_STAGES = 200
"""A repository with more commits is a history, not a run of stages."""

_NUMBERED = re.compile(
    r"(?:.*[/_.-])?(?:stage|step|checkpoint|ckpt|milestone|task|turn|s|m)[-_. /]?0*(\d+)\Z", re.I
)
_IMPLEMENTED = re.compile(r"agent-impl-.+\Z")
_START = re.compile(r"(?:.*[/_.-])?(?:start|base|initial|before)\Z", re.I)


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
            raise BadInputError(str(path), "expected a git repository, there is none")
        try:
            return AssembledRun(_assembled(path, git_dir, given))
        except GitError as error:
            raise BadInputError(str(path), f"cannot be read as a repository: {error}") from error


@dataclass(frozen=True, slots=True)
class _Mark:
    """Where a stage ends."""

    commit: Commit
    tag: Tag | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where the run starts and where its stages end."""

    marks: tuple[_Mark, ...]
    start: State
    note: str


def _assembled(path: Path, git_dir: Path, given: Given) -> Assembly:
    git = Git(git_dir.absolute())
    if not is_sha1(git):
        raise BadInputError(str(path), "a repository of SHA-256 objects; not supported")
    line = line_of(git)
    relative = git_dir.relative_to(path).as_posix()
    plan = _plan(path, relative, line, tags_of(git), given)
    if len(plan.marks) > _MAX_STAGES:
        what = f"{len(plan.marks)} commits after the start: too many to be stages"
        raise BadInputError(str(path), f"{what}; tag the ends of stages, or give --base REF")
    states = [plan.start]
    stages = []
    for index, mark in enumerate(plan.marks, start=1):
        source = RepositorySource(relative, mark.commit.id)
        states.append(State(f"S{index}", index, StateKind.STAGE_END, Provenance.RECORDED, source))
        stages.append(_stage(index, mark, plan.note if index == 1 else None))
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
        started=line[0].at if not given.base else None,
        ended=plan.marks[-1].commit.at if plan.marks else None,
        states=tuple(states),
        stages=tuple(stages),
        gates=tuple(_gate(stage) for stage in stages),
    )
    watched = [git_dir, git_dir / "HEAD", git_dir / "packed-refs", git_dir / "refs/heads"]
    watched += [git_dir / "refs/tags", *(git_dir / "refs/heads").rglob("*")]
    return Assembly(path.absolute(), run, read=[file for file in watched if exists(file)])


def _plan(
    path: Path, git_dir: str, line: Sequence[Commit], tags: Sequence[Tag], given: Given
) -> _Plan:
    """Decides what the stages are."""
    marks = _tagged(line, tags)
    how = "a tag per stage" if marks else "a commit per stage"
    marks = marks or [_Mark(commit) for commit in line]
    if given.base is not None:
        return _planned_from(path, line, marks, given.base, how)
    first = marks[0]
    number = _number(first.tag)
    is_start = number == 0 or (first.tag is not None and _START.match(first.tag.name) is not None)
    if len(marks) > 1 and (is_start or first.tag is None):
        word = first.tag.name if first.tag is not None else "the first commit"
        start = _state(git_dir, first.commit)
        return _Plan(tuple(marks[1:]), start, f"{how}; the start is {word}")
    place = place_on_line(line, first.commit.id) or 0
    if place > 0:
        start = _state(git_dir, line[0])
        return _Plan(tuple(marks), start, f"{how}; the start is taken to be the first commit")
    start = State("S0", 0, StateKind.START, Provenance.INFERRED, EmptySource())
    return _Plan(tuple(marks), start, f"{how}; the start is taken to be empty")


def _planned_from(
    path: Path, line: Sequence[Commit], marks: Sequence[_Mark], base: str, how: str
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


def _tagged(line: Sequence[Commit], tags: Sequence[Tag]) -> list[_Mark]:
    """The tags that mark stages, in the order of the line; empty where tags mean something else."""
    by_commit = {commit.id: (place, commit) for place, commit in enumerate(line)}
    found = [
        (by_commit[tag.commit], tag)
        for tag in tags
        if tag.commit in by_commit and _is_stage(tag.name)
    ]
    found.sort(key=lambda each: (each[0][0], _number(each[1]) or 0))
    return [_Mark(commit, tag) for (_, commit), tag in found] if _has_stages(found) else []


def _has_stages(found: Sequence[tuple[tuple[int, Commit], Tag]]) -> bool:
    return any(not _START.match(tag.name) and _number(tag) != 0 for _, tag in found)


def _is_stage(name: str) -> bool:
    return any(known.match(name) for known in (_NUMBERED, _IMPLEMENTED, _START))


def _number(tag: Tag | None) -> int | None:
    found = _NUMBERED.match(tag.name) if tag is not None else None
    return int(found[1]) if found else None


def _stage(index: int, mark: _Mark, note: str | None) -> Stage:
    title = mark.commit.subject.strip() or None
    name = f"{mark.tag.name}, " if mark.tag is not None else ""
    notes = (f"{name}commit {mark.commit.id[:12]}", *([note] if note else []))
    return Stage(
        index,
        title,
        Status.UNKNOWN,
        base=f"S{index - 1}",
        end=f"S{index}",
        ended=mark.commit.at,
        notes=notes,
    )


def _gate(stage: Stage) -> GateRecord:
    return GateRecord(
        str(stage.index), stage.end, unmeasured="no gate result is recorded in a repository"
    )
