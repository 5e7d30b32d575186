"""What a git repository that is a run, or part of one, says: its commits, tags and their times.

Asks `arcview.git` only, with plumbing that runs no hook, filter or pager and writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arcview.errors import GitError
from arcview.files import is_dir, is_file, is_symlink
from arcview.git import Git

_COMMIT_FORMAT = "%H%x00%P%x00%cI%x00%s"
_TAG_FORMAT = "%00".join(
    (
        "%(refname:strip=2)",
        "%(objectname)",
        "%(*objectname)",
        "%(creatordate:iso-strict)",
        "%(objecttype)%(*objecttype)",
    )
)


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a line of development."""

    id: str
    parents: tuple[str, ...]
    at: str
    """When it was committed, ISO 8601."""
    subject: str


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag, or one branch."""

    name: str
    commit: str
    at: str | None
    """When it was made; for a plain tag when its commit was."""
    is_commit: bool = True
    """It names a commit, not a tree or a file."""


def git_dir_of(path: Path) -> Path | None:
    """The repository in a folder: its `.git`, or the folder itself where that is a bare one.

    A `.git` that is a file leads elsewhere (a linked worktree, a submodule) and is not followed.
    """
    for place in (path / ".git", path):
        if is_symlink(place) and place != path:
            continue
        if is_file(place / "HEAD") and is_dir(place / "objects") and is_dir(place / "refs"):
            return place
    return None


def line_of(git: Git, tip: str = "HEAD") -> tuple[Commit, ...]:
    """The commits from the first to the tip, along first parents.

    Raises:
        GitError: there is no such commit, or the repository cannot be read.
    """
    args = ["rev-list", "--first-parent", "--reverse", f"--format={_COMMIT_FORMAT}"]
    listed = git.run([*args, "--end-of-options", tip, "--"]).decode("utf-8", "replace")
    commits = []
    for line in listed.split("\n"):
        if not line or line.startswith("commit "):
            continue
        commit, parents, at, subject = line.split("\0", 3)
        commits.append(Commit(commit, tuple(parents.split()), at, subject))
    return tuple(commits)


def tags_of(git: Git) -> tuple[Tag, ...]:
    """All tags, oldest first.

    Raises:
        GitError: the repository cannot be read.
    """
    return _refs(git, "refs/tags")


def branches_of(git: Git) -> tuple[Tag, ...]:
    """All branches, the one that was committed to last at the end.

    Raises:
        GitError: the repository cannot be read.
    """
    return _refs(git, "refs/heads")


def _refs(git: Git, below: str) -> tuple[Tag, ...]:
    args = ["for-each-ref", "--sort=creatordate", f"--format={_TAG_FORMAT}", below]
    found = []
    for line in git.run(args).decode("utf-8", "replace").split("\n"):
        if line:
            name, target, peeled, at, kinds = line.split("\0", 4)
            found.append(Tag(name, peeled or target, at or None, kinds.endswith("commit")))
    return tuple(found)


def elsewhere(path: Path) -> str | None:
    """Why a folder that belongs to a repository is none itself; null where it does not."""
    if is_symlink(path / ".git") or is_file(path / ".git"):
        return (
            ".git leads to a repository elsewhere (a linked worktree, a submodule), "
            "which is not followed; open that one"
        )
    return None


def commit_of(git: Git, name: str) -> str | None:
    """The commit that a name stands for, or null."""
    try:
        args = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
        return git.run(args).decode().strip() or None
    except GitError:
        return None


def is_sha1(git: Git) -> bool:
    """Whether its objects can be read into our own store, which is of the common kind."""
    return git.run(["rev-parse", "--show-object-format"]).strip() == b"sha1"


def place_on_line(line: Sequence[Commit], commit: str) -> int | None:
    """Where a commit stands on a line; null when it is not on it."""
    return next((place for place, each in enumerate(line) if each.id == commit), None)
