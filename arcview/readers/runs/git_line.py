"""Along which commits of a repository its stages lie, and which tags or branches end them.

HEAD may stand anywhere: on an earlier stage that somebody looked at, or on a branch that was never
made. The line that has the most stages is taken, and it is said where that is not HEAD's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from arcview.git import Git
from arcview.readers.runs.repository import (
    Commit,
    Tag,
    branches_of,
    commit_of,
    line_of,
    tags_of,
)

_NUMBERED = re.compile(
    r"(?:.*[/_.-])?(?:"
    r"(?:stage|step|checkpoint|ckpt|milestone|task|turn)[-_. /]?0*(?P<long>\d+)"
    r"(?:[-_./:+](?P<rest>\D.*))?"
    r"|[sm][-_. /]?0*(?P<short>\d+))\Z",
    re.I,
)
_IMPLEMENTED = re.compile(r"agent-impl-.+\Z")
_START = re.compile(r"(?:.*[/_.-])?(?:start|base|initial|before)\Z", re.I)
_BEGIN = re.compile(r"(?:.*[/_.-])?(?:start|base|begin|before|pre)\Z", re.I)
"""What a numbered tag ends with that stands before its stage."""

_USUAL = ("main", "master", "trunk")


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a stage ends."""

    commit: Commit
    name: str | None = None
    """The tag or branch that says so."""

    @property
    def number(self) -> int | None:
        """The stage that its name counts."""
        return number_of(self.name) if self.name is not None else None

    @property
    def is_start(self) -> bool:
        """Its name says that it stands before the first stage."""
        named_so = self.name is not None and _START.match(self.name) is not None
        return named_so or self.number == 0


@dataclass(frozen=True, slots=True)
class Line:
    """The commits that a run is read along."""

    commits: tuple[Commit, ...]
    marks: tuple[Mark, ...]
    how: str
    """What is a stage: `a tag per stage`."""
    notes: tuple[str, ...] = ()


def find_line(git: Git) -> Line | None:
    """The line with the most stages; null where the repository has no commit.

    Raises:
        GitError: the repository cannot be read.
    """
    at_head = line_of(git) if commit_of(git, "HEAD") is not None else ()
    tags = [tag for tag in tags_of(git) if _is_stage(tag.name)]
    branches = branches_of(git)
    numbered = [branch for branch in branches if number_of(branch.name) is not None]
    for names, what, least in ((tags, "tag", 1), (numbered, "branch", 2)):
        line, tip, marks = _longest(git, at_head, names)
        if len(marks) >= least:
            notes = tuple(_notes(line, tip, marks, names, what))
            return Line(line, tuple(marks), f"a {what} per stage", notes)
    if not at_head and not branches:
        return None
    notes = ()
    if not at_head:
        usual = [branch for branch in branches if branch.name in _USUAL]
        taken = usual[0] if usual else branches[-1]
        at_head = line_of(git, taken.commit)
        notes = (f"HEAD names no commit: read along the branch {taken.name}",)
    return Line(at_head, tuple(map(Mark, at_head)), "a commit per stage", notes)


def number_of(name: str) -> int | None:
    """The stage that a name counts; null where it counts none."""
    found = _NUMBERED.match(name)
    if found is None or (found["rest"] is not None and _BEGIN.match(found["rest"])):
        return None
    return int(found["long"] or found["short"])


def _is_stage(name: str) -> bool:
    found = _NUMBERED.match(name)
    if found is not None and found["rest"] is not None and _BEGIN.match(found["rest"]):
        return int(found["long"]) <= 1  # where the first begins, the run does
    return found is not None or any(known.match(name) for known in (_IMPLEMENTED, _START))


def _longest(
    git: Git, at_head: tuple[Commit, ...], names: Sequence[Tag]
) -> tuple[tuple[Commit, ...], str | None, list[Mark]]:
    """The line with the most stage ends, what it was reached by where not by HEAD, and they."""
    best: tuple[tuple[Commit, ...], str | None, list[Mark]]
    best = (at_head, None, _marks(at_head, names))
    seen = {commit.id for commit in at_head}
    for name in sorted(names, key=lambda each: -(number_of(each.name) or 0)):
        if name.commit in seen or not name.is_commit:
            continue
        line = line_of(git, name.commit)
        seen.update(commit.id for commit in line)
        marks = _marks(line, names)
        if len(marks) > len(best[2]):
            best = (line, name.name, marks)
    return best


def _marks(line: Sequence[Commit], names: Sequence[Tag]) -> list[Mark]:
    """The names that end stages, in the order of the line; none where they mean something else."""
    by_commit = {commit.id: (place, commit) for place, commit in enumerate(line)}
    found = [(by_commit[each.commit], each) for each in names if each.commit in by_commit]
    found.sort(key=lambda each: (each[0][0], number_of(each[1].name) or 0))
    marks = [Mark(commit, each.name) for (_, commit), each in found]
    return marks if any(not mark.is_start for mark in marks) else []


def _notes(
    line: Sequence[Commit],
    tip: str | None,
    marks: Sequence[Mark],
    names: Sequence[Tag],
    what: str,
) -> list[str]:
    """What to know of a line that does not hold all, or is not HEAD's."""
    notes = []
    if tip is not None:
        notes.append(f"read along {tip}, which has more stages than HEAD")
    on_line = {mark.name for mark in marks}
    aside = [each.name for each in names if each.name not in on_line]
    if aside:
        plural = {"tag": "tags", "branch": "branches"}[what]
        notes.append(f"{plural} elsewhere, not shown: {', '.join(aside[:5])}")
    after = len(line) - 1 - [commit.id for commit in line].index(marks[-1].commit.id)
    if after:
        commits = "1 commit" if after == 1 else f"{after} commits"
        notes.append(f"in no stage: {commits} after {marks[-1].name}")
    return notes
