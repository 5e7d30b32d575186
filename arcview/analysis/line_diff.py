"""The hunks between two texts that no store holds side by side. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from arcview.model.patch import DiffLine, Hunk, LineKind

_CONTEXT_LINES = 3


def hunks_between(old: Sequence[str], new: Sequence[str]) -> Iterator[Hunk]:
    """The changed runs of lines with three lines of context, as git numbers them.

    Args:
        old: Lines without their ends.
        new: Likewise.
    """
    matcher = SequenceMatcher(None, old, new)
    for group in matcher.get_grouped_opcodes(_CONTEXT_LINES):
        lines: list[DiffLine] = []
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += (
                    DiffLine(LineKind.CONTEXT, old[i], i + 1, j + 1)
                    for i, j in zip(range(i1, i2), range(j1, j2), strict=True)
                )
                continue
            lines += (DiffLine(LineKind.REMOVED, old[i], i + 1, None) for i in range(i1, i2))
            lines += (DiffLine(LineKind.ADDED, new[j], None, j + 1) for j in range(j1, j2))
        first, last = group[0], group[-1]
        old_count, new_count = last[2] - first[1], last[4] - first[3]
        yield Hunk(
            # An empty side is written as the line before it.
            first[1] + bool(old_count),
            old_count,
            first[3] + bool(new_count),
            new_count,
            "",
            tuple(lines),
        )
