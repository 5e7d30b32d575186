"""Which file of one side is which of the other, where the names differ: by the lines they share.

For two workspaces that no repository holds together; pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

_MIN_PERCENT = 50
"""As git's own rename detection has it."""
_MAX_PAIRS = 10_000
"""Beyond that only equal texts are looked for: each pair takes some 30 µs."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """One file under two names."""

    old: str
    new: str
    similarity: int
    """Percent of the larger file that both share, as whole lines."""


def pair_renames(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Renamed, ...]:
    """Pairs files that share at least half of their text, the most alike first.

    Of very many files only those with the same text are paired, as git has it, too.

    Args:
        old: Path → text of the files that only the old side has.
        new: The same of the new side. Empty files are like no other.

    Returns:
        Each file once at the most; of files that are equally alike those of one name come first.
    """
    before = {path: _lines(text) for path, text in old.items() if text}
    after = {path: _lines(text) for path, text in new.items() if text}
    is_many = len(before) * len(after) > _MAX_PAIRS
    pairs: list[Renamed] = []
    for path, lines in before.items():
        for other, their_lines in after.items():
            smaller, larger = sorted((len(old[path]), len(new[other])))
            if 100 * smaller < _MIN_PERCENT * larger or (is_many and old[path] != new[other]):
                continue
            percent = 100 * _size(lines & their_lines) // larger
            if percent >= _MIN_PERCENT:
                pairs.append(Renamed(path, other, percent))
    pairs.sort(key=lambda p: (-p.similarity, _name(p.old) != _name(p.new), p.old, p.new))
    taken: set[tuple[str, str]] = set()
    found = []
    for pair in pairs:
        sides = {("old", pair.old), ("new", pair.new)}
        if not sides & taken:
            taken |= sides
            found.append(pair)
    return tuple(found)


def _lines(text: str) -> Counter[str]:
    return Counter(text.splitlines(keepends=True))


def _size(lines: Counter[str]) -> int:
    return sum(len(line) * count for line, count in lines.items())


def _name(path: str) -> str:
    return path.rpartition("/")[2]
