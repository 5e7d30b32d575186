"""Merges trees of a run three ways in its object store; nothing is ever checked out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from arcview.git import Git
from arcview.states.entries import TreeEntry, list_tree
from arcview.states.patch_names import decode
from arcview.states.store import StateStore

Cancelled = Callable[[], bool]

_CONFLICTS = 1
"""What `git merge-tree` ends with where a merge is not clean."""

_WHO = "arcview <arcview> 0 +0000"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A file that does not merge line by line; a side that does not have it is null."""

    path: str
    base: TreeEntry | None
    ours: TreeEntry | None
    theirs: TreeEntry | None

    @property
    def is_edit(self) -> bool:
        """Both sides have the file as a plain file; one may have added it."""
        sides = (self.ours, self.theirs)
        return all(side is not None and side.mode.startswith("100") for side in sides)


@dataclass(frozen=True, slots=True)
class Merged:
    """What a three-way merge gives."""

    draft: str
    """The tree as git wrote it; with conflicts, their files hold conflict marks."""
    conflicts: tuple[Conflict, ...] = ()

    @property
    def tree(self) -> str | None:
        """The merged tree; null where something conflicts."""
        return None if self.conflicts else self.draft


class TreeMerger:
    """Merges trees of one run.

    Args:
        store: The states; they must be built.
    """

    def __init__(self, store: StateStore) -> None:
        store.hold()
        self._git = Git(store.objects.parent)

    def three_way(
        self, base: str, ours: str, theirs: str, *, cancelled: Cancelled | None = None
    ) -> Merged:
        """Puts what `theirs` changed since `base` on `ours`.

        Args:
            base: Id of the tree that both come from.
            ours: Id of the tree that is changed.
            theirs: Id of the tree that has the change.
            cancelled: Asked while git works.

        Raises:
            GitError: git is missing, too old, or cannot read or write the store.
            CancelledError: `cancelled` said so.
        """
        root = self._commit(base)
        tips = [self._commit(tree, root) for tree in (ours, theirs)]
        # Renames are followed, but no whole folder is thought to have moved with some of its files.
        args = ["-c", "merge.directoryRenames=false", "merge-tree", "--write-tree", "-z", *tips]
        found = self._git.run_fully(args, cancelled=cancelled, fine=(0, _CONFLICTS))
        draft, _, rest = found.stdout.partition(b"\0")
        tree = draft.decode("ascii").strip()
        if found.code == 0:
            return Merged(tree)
        return Merged(tree, _conflicts(rest))

    def files(self, tree: str) -> dict[str, TreeEntry]:
        """The files of a tree by path.

        Raises:
            GitError: git is missing, too old, or cannot read the store.
        """
        return {entry.path: entry for entry in list_tree(self._git, tree, "-r")}

    def read(self, blob: str) -> bytes:
        """The bytes of a file.

        Raises:
            GitError: git is missing, too old, or cannot read the store.
        """
        return self._git.run(["cat-file", "blob", blob])

    def merge_file(self, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        """One text merged line by line; null where that conflicts.

        Raises:
            GitError: git is missing, too old, or cannot read or write the store.
        """
        trees = [self._one_file(data) for data in (base, ours, theirs)]
        merged = self.three_way(*trees)
        if merged.tree is None:
            return None
        return self.read(self.files(merged.tree)["file"].blob)

    def with_files(
        self, tree: str, files: Mapping[str, tuple[str, bytes] | TreeEntry | None]
    ) -> str:
        """A tree with some files replaced.

        Args:
            tree: Id of the tree.
            files: Path → mode and bytes, or a file of another tree, or null to remove it.

        Raises:
            GitError: git is missing, too old, or cannot write the store.
        """
        lines = []
        for path, content in files.items():
            if content is None:
                mode, blob = "0", "0" * 40
            elif isinstance(content, TreeEntry):
                mode, blob = content.mode, content.blob
            else:
                mode, blob = content[0], self._write("blob", content[1])
            lines.append(f"{mode} {blob}\t{path}\0".encode("utf-8", "surrogateescape"))
        index = self._git.git_dir / f"index.{os.urandom(6).hex()}"
        try:
            self._git.run(["read-tree", tree], index=index)
            args = ["update-index", "-z", "--index-info"]
            self._git.run(args, stdin=b"".join(lines), index=index)
            return self._git.run(["write-tree"], index=index).decode("ascii").strip()
        finally:
            index.unlink(missing_ok=True)

    def _one_file(self, data: bytes) -> str:
        blob = self._write("blob", data)
        return (
            self._git.run(["mktree"], stdin=f"100644 blob {blob}\tfile\n".encode()).decode().strip()
        )

    def _commit(self, tree: str, *parents: str) -> str:
        """A commit for `merge-tree`, which takes nothing else; the same for the same trees."""
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        lines += [f"author {_WHO}", f"committer {_WHO}", "", "merge", ""]
        return self._write("commit", "\n".join(lines).encode("ascii"))

    def _write(self, kind: str, data: bytes) -> str:
        as_it_is = ["--no-filters"] if kind == "blob" else []
        args = ["hash-object", "-t", kind, "-w", *as_it_is, "--stdin"]
        return self._git.run(args, stdin=data).decode("ascii").strip()


def _conflicts(output: bytes) -> tuple[Conflict, ...]:
    """The section after the tree: `<mode> <blob> <stage>TAB<path>NUL`, an empty one at its end."""
    sides: dict[str, dict[str, TreeEntry]] = {}
    for record in output.split(b"\0"):
        if not record:
            break
        facts, _, name = record.partition(b"\t")
        mode, blob, stage = facts.decode("ascii").split()
        path = decode(name)
        sides.setdefault(path, {})[stage] = TreeEntry(path, mode, blob, None)
    return tuple(
        Conflict(path, found.get("1"), found.get("2"), found.get("3"))
        for path, found in sides.items()
    ) or (Conflict("(the whole tree)", None, None, None),)


def paths_of(conflicts: Iterable[Conflict]) -> tuple[str, ...]:
    """The paths of conflicts, sorted."""
    return tuple(sorted(conflict.path for conflict in conflicts))
