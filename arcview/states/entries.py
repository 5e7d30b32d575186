"""The files of a state, and the workspaces on the way to a state, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from arcview.git import Git
from arcview.states.patch_names import decode


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file of a state."""

    path: str
    mode: str
    """Git mode: `100644`, `100755`, `120000` (symlink) or `160000` (submodule)."""
    blob: str
    size_bytes: int | None
    """Null for submodules."""


@dataclass(frozen=True, slots=True)
class StepState:
    """The workspace as it stood after one step of a stage or pass."""

    id: str
    """For `changes`, `patch`, `file` and `entries`, which take it like the id of a state."""
    key: str | None
    """Key of the step; null where the run does not name exactly one."""
    tree: str


def list_tree(git: Git, tree: str, *args: str) -> tuple[TreeEntry, ...]:
    """The entries of a tree, sorted by path.

    Args:
        git: The store.
        tree: Its id.
        args: For `git ls-tree`: `-r` lists the files below folders too.

    Raises:
        GitError: the store has no such tree, or git is missing, too old, or cannot read it.
    """
    listed = git.run(["ls-tree", "-z", "--long", "--full-tree", tree, *args])
    return tuple(_entry(record) for record in listed.split(b"\0") if record)


def _entry(record: bytes) -> TreeEntry:
    facts, _, path = record.partition(b"\t")
    mode, _, blob, size = facts.decode("ascii").split()
    return TreeEntry(decode(path), mode, blob, None if size == "-" else int(size))
