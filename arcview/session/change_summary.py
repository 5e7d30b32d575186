"""How much a stage changed, in numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arcview.analysis.overview import NEVER_RAN
from arcview.errors import ArcviewError
from arcview.model.patch import FileChange, PathClass

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun


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


def change_of(opened: OpenRun, stage: int) -> ChangeSummary:
    """What a stage changed.

    Ingests the states where that is not done yet: not for the UI's own thread before
    `store.ready()`.
    """
    found = opened.run.stage(stage)
    end = opened.run.state(found.end) if found is not None else None
    said = True if end is not None and end.unchanged else None
    row = opened.overview.stage(stage)
    if row is not None and row.status in NEVER_RAN:
        return ChangeSummary(missing=NEVER_RAN[row.status])
    if found is None or found.base is None or found.end is None:
        side = "start" if found is None or found.base is None else "end"
        return ChangeSummary(unchanged=said, missing=f"the {side} of the stage is not recorded")
    try:
        opened.ensure_states()
        why = opened.store.incomparable(found.base, found.end)
        if why is not None:
            return ChangeSummary(unchanged=said, missing=why)
        summary = summarise_changes(opened.store.changes(found.base, found.end))
        # A recorded patch without a change does not say that nothing changed.
        is_said = not summary.files and opened.store.tree(found.end) is None
        return replace(summary, unchanged=said) if is_said else summary
    except ArcviewError as error:
        return ChangeSummary(unchanged=said, missing=str(error))
