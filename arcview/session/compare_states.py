"""The same stage of two runs, file against file: what stands otherwise in the one than the other.

The two runs keep their states in stores of their own; git names equal contents alike in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from arcview.analysis.line_diff import hunks_between
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
        """The files that differ, sorted by path; renames are not looked for.

        Lines are counted as long as there are not too many files.

        Raises:
            ArcviewError: a state is missing.
        """
        for run, state in ((self._a, self._state_a), (self._b, self._state_b)):
            run.ensure_states()
            if run.store.tree(state) is None:
                raise ArcviewError(f"{state}: {run.store.missing(state) or 'not there'}")
        found = tuple(self._differing())
        counted = [change for change in found if change.path_class not in _FOLDED]
        if len(counted) > _COUNTED_FILES:
            return found
        return tuple(self._counted(c) if c.path_class not in _FOLDED else c for c in found)

    def patch(self, change: FileChange) -> FilePatch:
        """The hunks of one of the changes."""
        old = self._a.store.file(self._state_a, change.path) or b""
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

    def _counted(self, change: FileChange) -> FileChange:
        if (change.old_size_bytes or 0) + (change.new_size_bytes or 0) > _COUNTED_BYTES:
            return change
        patch = self.patch(change)
        if patch.warnings:
            return replace(change, binary=True)
        kinds = [line.kind for hunk in patch.hunks for line in hunk.lines]
        added, removed = kinds.count(LineKind.ADDED), kinds.count(LineKind.REMOVED)
        return replace(change, added=added, removed=removed)


def _kind(before: TreeEntry | None, after: TreeEntry | None) -> ChangeKind:
    if before is None:
        return ChangeKind.ADDED
    return ChangeKind.DELETED if after is None else ChangeKind.MODIFIED
