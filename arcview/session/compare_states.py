"""The same stage of two runs, file against file: what stands otherwise in the one than the other.

The two runs keep their states in stores of their own; git names equal contents alike in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from arcview.analysis.line_diff import hunks_between
from arcview.analysis.renames import pair_renames
from arcview.analysis.replay import split_lines
from arcview.errors import ArcviewError
from arcview.model.patch import ChangeKind, FileChange, FilePatch, LineKind, PathClass
from arcview.text import decode

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun
    from arcview.states.store import TreeEntry

_FOLDED = frozenset({PathClass.VENDORED, PathClass.GENERATED, PathClass.CACHE, PathClass.LOCK})
_COUNTED_FILES = 60
_COUNTED_BYTES = 200_000


class StatesBeside:
    """A state of one run beside a state of another.

    Args:
        a: The run whose files stand on the old side.
        state_a: One of its states.
        b: The run whose files stand on the new side.
        state_b: One of its states.
    """

    def __init__(self, a: OpenRun, state_a: str, b: OpenRun, state_b: str) -> None:
        self._a, self._state_a = a, state_a
        self._b, self._state_b = b, state_b

    def changes(self) -> tuple[FileChange, ...]:
        """The files that differ, sorted by path; one that has another name in `b` is one change.

        Names are matched by content among files that are not folded, and lines are counted, as long
        as there are not too many files.

        Raises:
            ArcviewError: a state is missing.
        """
        for run, state in ((self._a, self._state_a), (self._b, self._state_b)):
            run.ensure_states()
            if run.store.tree(state) is None:
                raise ArcviewError(f"{state}: {run.store.missing(state) or 'not there'}")
        found = tuple(sorted(self._renamed(tuple(self._differing())), key=lambda c: c.path))
        counted = [change for change in found if change.path_class not in _FOLDED]
        if len(counted) > _COUNTED_FILES:
            return found
        return tuple(self._counted(c) if c.path_class not in _FOLDED else c for c in found)

    def patch(self, change: FileChange) -> FilePatch:
        """The hunks of one of the changes."""
        old = self._a.store.file(self._state_a, change.old_path or change.path) or b""
        new = self._b.store.file(self._state_b, change.path) or b""
        before, after = decode(old), decode(new)
        if before.binary or after.binary:
            return FilePatch(change, warnings=("binary: compared as a whole",))
        lines = split_lines(before.text), split_lines(after.text)
        return FilePatch(change, tuple(hunks_between(*lines)))

    def file(self, path: str) -> bytes | None:
        """The whole file on the side of `b`."""
        return self._b.store.file(self._state_b, path)

    def _differing(self) -> Iterator[FileChange]:
        from arcview.states.path_class import classify

        rules = self._b.run.chain.path_rules
        old = {entry.path: entry for entry in self._a.store.entries(self._state_a)}
        new = {entry.path: entry for entry in self._b.store.entries(self._state_b)}
        for path in sorted(old.keys() | new.keys()):
            before, after = old.get(path), new.get(path)
            if before is not None and after is not None and before.blob == after.blob:
                continue
            yield FileChange(
                path,
                _kind(before, after),
                old_mode=before.mode if before is not None else None,
                new_mode=after.mode if after is not None else None,
                old_size_bytes=before.size_bytes if before is not None else None,
                new_size_bytes=after.size_bytes if after is not None else None,
                path_class=classify(path, rules),
            )

    def _renamed(self, changes: tuple[FileChange, ...]) -> Iterator[FileChange]:
        """The changes, with those that are two names of one file joined."""
        gone = {c.path: c for c in changes if c.kind is ChangeKind.DELETED and _is_paired(c)}
        came = {c.path: c for c in changes if c.kind is ChangeKind.ADDED and _is_paired(c)}
        if not gone or not came or len(gone) + len(came) > _COUNTED_FILES:
            yield from changes
            return
        pairs = pair_renames(
            _texts(self._a, self._state_a, gone), _texts(self._b, self._state_b, came)
        )
        by_new = {pair.new: pair for pair in pairs}
        joined = {pair.old for pair in pairs}
        for change in changes:
            pair = by_new.get(change.path)
            if change.kind is ChangeKind.ADDED and pair is not None:
                old = gone[pair.old]
                yield replace(
                    change,
                    kind=ChangeKind.RENAMED,
                    old_path=pair.old,
                    similarity=pair.similarity,
                    old_mode=old.old_mode,
                    old_size_bytes=old.old_size_bytes,
                )
            elif change.kind is not ChangeKind.DELETED or change.path not in joined:
                yield change

    def _counted(self, change: FileChange) -> FileChange:
        if (change.old_size_bytes or 0) + (change.new_size_bytes or 0) > _COUNTED_BYTES:
            return change
        patch = self.patch(change)
        if patch.warnings:
            return replace(change, binary=True)
        kinds = [line.kind for hunk in patch.hunks for line in hunk.lines]
        added, removed = kinds.count(LineKind.ADDED), kinds.count(LineKind.REMOVED)
        return replace(change, added=added, removed=removed)


def _is_paired(change: FileChange) -> bool:
    """Whether a file that only one side has may be one of the other side under another name."""
    size = (change.old_size_bytes or 0) + (change.new_size_bytes or 0)
    return change.path_class not in _FOLDED and size <= _COUNTED_BYTES


def _texts(run: OpenRun, state: str, paths: Iterable[str]) -> dict[str, str]:
    decoded = {path: decode(run.store.file(state, path) or b"") for path in paths}
    return {path: found.text for path, found in decoded.items() if not found.binary}


def _kind(before: TreeEntry | None, after: TreeEntry | None) -> ChangeKind:
    if before is None:
        return ChangeKind.ADDED
    return ChangeKind.DELETED if after is None else ChangeKind.MODIFIED
