"""Word-level differences: which removed line became which added line, and what changed in it.

Pure functions on cleaned text; imports nothing of the diff model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

Marks = tuple[tuple[int, int], ...]
"""Character ranges of one line, end exclusive."""

SIMILAR = 0.4
"""The share of common text from which on two lines are versions of one (delta: distance ≤ 0.6)."""

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_TOKEN_LIMIT = 240
"""Longer lines are compared by their common beginning and end only."""
_COMPARISON_LIMIT = 600
"""Comparisons in one block; larger blocks are paired line by line in order."""


@dataclass(frozen=True, slots=True)
class WordDiff:
    """How two versions of a line differ."""

    similarity: float
    """Twice the common characters over those of both lines: 0 to 1, blanks not counted."""
    removed: Marks = ()
    added: Marks = ()


@lru_cache(maxsize=4_096)
def compare(old: str, new: str) -> WordDiff:
    """Compares two lines by tokens: words, runs of blanks, single other characters."""
    left, right = _TOKEN.findall(old), _TOKEN.findall(new)
    if len(left) > _TOKEN_LIMIT or len(right) > _TOKEN_LIMIT:
        return _compare_ends(old, new)
    # Blanks pair up everywhere and would tear marks apart: junk, except at the line's start.
    matcher = SequenceMatcher(lambda token: token.isspace(), left, right, autojunk=False)
    left_at, right_at = _starts(left), _starts(right)
    removed: list[tuple[int, int]] = []
    added: list[tuple[int, int]] = []
    same = 0
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            same += sum(len(token) for token in left[i1:i2] if not token.isspace())
            continue
        if i2 > i1:
            removed.append((left_at[i1], left_at[i2]))
        if j2 > j1:
            added.append((right_at[j1], right_at[j2]))
    letters = _letters(old) + _letters(new)
    similarity = 2 * same / letters if letters else float(old == new)
    return WordDiff(similarity, _joined(old, removed), _joined(new, added))


def _starts(tokens: Sequence[str]) -> list[int]:
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token))
    return starts


def _letters(text: str) -> int:
    return sum(map(len, text.split()))


def _joined(text: str, marks: list[tuple[int, int]]) -> Marks:
    """Joins marks that only blanks stand between: two changed words read as one change."""
    joined: list[tuple[int, int]] = []
    for start, end in marks:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)


def _compare_ends(old: str, new: str) -> WordDiff:
    limit = min(len(old), len(new))
    head = next((i for i in range(limit) if old[i] != new[i]), limit)
    tail = next((i for i in range(limit - head) if old[-1 - i] != new[-1 - i]), limit - head)
    removed = ((head, len(old) - tail),) if head + tail < len(old) else ()
    added = ((head, len(new) - tail),) if head + tail < len(new) else ()
    return WordDiff(2 * (head + tail) / max(len(old) + len(new), 1), removed, added)


def pair_lines(removed: Sequence[str], added: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Finds which removed line became which added line, in order and without crossings.

    Each removed line takes the first added line, after the last one taken, that is similar
    enough (as delta does). In large blocks lines of the same position are paired instead.

    Returns:
        Pairs of positions in `removed` and `added`.
    """
    if len(removed) * len(added) > _COMPARISON_LIMIT:
        return tuple(
            (i, i)
            for i, (old, new) in enumerate(zip(removed, added, strict=False))
            if _alike(old, new)
        )
    pairs: list[tuple[int, int]] = []
    first = 0
    for i, old in enumerate(removed):
        for j in range(first, len(added)):
            if _alike(old, added[j]):
                pairs.append((i, j))
                first = j + 1
                break
    return tuple(pairs)


def _alike(old: str, new: str) -> bool:
    if old == new:
        return True
    # Cheap upper bounds first: the shorter line, then the characters both have.
    shorter, longer = sorted((_letters(old), _letters(new)))
    if 2 * shorter < SIMILAR * (shorter + longer):
        return False
    common = (Counter(old) & Counter(new)).total()
    if 2 * common < SIMILAR * (shorter + longer):
        return False
    return compare(old, new).similarity >= SIMILAR
