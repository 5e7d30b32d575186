"""How much changed between two states, in numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arcview.model.patch import FileChange, PathClass


@dataclass(frozen=True, slots=True)
class ChangeSummary:
    """What a stage changed, from the state it started from to the state it ended in."""

    files: int | None = None
    """Changed files; null where it cannot be computed."""
    added: int | None = None
    """Added lines over all text files."""
    removed: int | None = None
    unchanged: bool | None = None
    """True where the run says so or the trees are equal; null where it is not known."""
    folded_files: int | None = None
    """Those of `files` that are vendored, generated, lock or cache files."""
    missing: str | None = None
    """Why it could not be computed."""


_FOLDED = frozenset({PathClass.GENERATED, PathClass.LOCK, PathClass.CACHE, PathClass.VENDORED})


def summarise_changes(changes: Iterable[FileChange]) -> ChangeSummary:
    """Adds up a list of changes; none means that the trees are equal."""
    changes = tuple(changes)
    return ChangeSummary(
        files=len(changes),
        added=sum(change.added or 0 for change in changes),
        removed=sum(change.removed or 0 for change in changes),
        unchanged=not changes,
        folded_files=sum(change.path_class in _FOLDED for change in changes),
    )
