"""Two texts in memory → hunks, for workspaces that lie in no state: a replay at one of its steps.

Pure. Diffs between states are git's business.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arcview.analysis.replay import matching_runs, split_lines
from arcview.model.patch import DiffLine, Hunk, LineKind


def diff_texts(old: str | None, new: str | None, *, context: int = 3) -> tuple[Hunk, ...]:
    """The hunks from one text to another; a text that is not there is an empty one."""
    old_lines, new_lines = split_lines(old or ""), split_lines(new or "")
    lines = list(_lines(old_lines, new_lines))
    return tuple(_hunk(lines, start, end) for start, end in _spans(lines, context))


def count_changes(hunks: Sequence[Hunk]) -> tuple[int, int]:
    """Added and removed lines."""
    kinds = [line.kind for hunk in hunks for line in hunk.lines]
    return kinds.count(LineKind.ADDED), kinds.count(LineKind.REMOVED)


def _lines(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffLine]:
    """Every line of both texts in one order, removed before added."""
    at_old = at_new = 0
    for old_start, new_start, size in [*matching_runs(old, new), (len(old), len(new), 0)]:
        for number in range(at_old, old_start):
            yield DiffLine(LineKind.REMOVED, old[number], number + 1, None)
        for number in range(at_new, new_start):
            yield DiffLine(LineKind.ADDED, new[number], None, number + 1)
        for offset in range(size):
            text = new[new_start + offset]
            numbers = (old_start + offset + 1, new_start + offset + 1)
            yield DiffLine(LineKind.CONTEXT, text, *numbers)
        at_old, at_new = old_start + size, new_start + size


def _spans(lines: Sequence[DiffLine], context: int) -> Iterator[tuple[int, int]]:
    """Runs of changed lines with their context; those that would touch are one."""
    start = end = -1
    for place, line in enumerate(lines):
        if line.kind is LineKind.CONTEXT:
            continue
        if start >= 0 and place - context > end:
            yield start, end
            start = -1
        if start < 0:
            start = max(0, place - context)
        end = min(len(lines), place + 1 + context)
    if start >= 0:
        yield start, end


def _hunk(lines: Sequence[DiffLine], start: int, end: int) -> Hunk:
    inside = tuple(lines[start:end])
    old = [line.old_number for line in inside if line.old_number is not None]
    new = [line.new_number for line in inside if line.new_number is not None]
    # A side without lines is named by the line before, as diffs do.
    before = (line for line in reversed(lines[:start]))
    context = next((line for line in before if line.kind is LineKind.CONTEXT), None)
    old_start = old[0] if old else (context.old_number if context is not None else 0) or 0
    new_start = new[0] if new else (context.new_number if context is not None else 0) or 0
    return Hunk(old_start, len(old), new_start, len(new), "", inside)
