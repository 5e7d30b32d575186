"""Whether a test that two gates name is the same one: their hidden files tell. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

_BETWEEN = re.compile(r"[^\w-]+")
_AFTER_PATH = ("::", " > ")
"""What comes after the path in ids that begin with one."""


class Overlays:
    """The hidden files of all gates of a run, two gates at a time.

    Args:
        overlays: Gate → path → hash; null where they are not known.
    """

    def __init__(self, overlays: Mapping[str, Mapping[str, str] | None]) -> None:
        known = {gate: files for gate, files in overlays.items() if files is not None}
        self._pairs = {
            (one, other): _pair(known[one], known[other])
            for one in known
            for other in known
            if one != other
        }

    def is_same_test(self, test_id: str, gate: str, other: str) -> bool | None:
        """Whether two gates have a test from the same file; null where that cannot be told."""
        pair = self._pairs.get((gate, other))
        if pair is None:
            return None
        if not pair.changed:
            return bool(pair.same) or None
        path = pair.file_of(test_id)
        return True if path in pair.same else False if path in pair.changed else None


@dataclass(frozen=True, slots=True)
class _Pair:
    same: frozenset[str]
    """Files that both have, with the same content."""
    changed: frozenset[str]
    """Files that both have, each its own version."""
    files: frozenset[str]
    """Files that either has."""
    stems: Mapping[str, str | None]
    """Name of a file without its suffixes → its path; null where several are called so."""

    def file_of(self, test_id: str) -> str | None:
        """The file that an id names, by its path or by its name; null where it names none."""
        for mark in _AFTER_PATH:
            path = test_id.partition(mark)[0]
            if path in self.files:
                return path
        found = {self.stems[part] for part in _BETWEEN.split(test_id) if part in self.stems}
        return found.pop() if len(found) == 1 else None


def _pair(one: Mapping[str, str], other: Mapping[str, str]) -> _Pair:
    both = frozenset(one.keys() & other.keys())
    same = frozenset(path for path in both if one[path] == other[path])
    stems: dict[str, str | None] = {}
    for path in one.keys() | other.keys():
        stem = PurePosixPath(path).name.partition(".")[0]
        if stem:
            stems[stem] = None if stem in stems else path
    return _Pair(same, both - same, frozenset(one.keys() | other.keys()), stems)
