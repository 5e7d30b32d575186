"""Keeps the last session file that a run cut a part from, since its stages are asked for in a row.

Reading a session once for each stage that lies in it would make opening a run quadratic. Knows no
layout; must not import pydantic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from arcview.model.trajectory import Trajectory
from arcview.model.trajectory_refs import TrajectoryRef
from arcview.readers.parts import each_turn, take_part


@dataclass(frozen=True)
class _Whole:
    """A file that was read, and what tells that it is still the same."""

    refs: tuple[TrajectoryRef, ...]
    look: tuple[tuple[int, int], ...]
    trajectory: Trajectory

    @cached_property
    def turns(self) -> list[Trajectory]:
        """Its parts, cut together: where the turns begin is looked for once."""
        return each_turn(self.trajectory)


class KeptSession:
    """The whole of the last session that was read for a part of it; at most one is held."""

    def __init__(self) -> None:
        self._kept: _Whole | None = None

    def part(
        self, refs: Sequence[TrajectoryRef], files: Sequence[Path], read: Callable[[], Trajectory]
    ) -> Trajectory:
        """The part of a session that the first reference names.

        Args:
            refs: Where it lies, and what completes it.
            files: The same on disk.
            read: Reads all of it.
        """
        ref = refs[0]
        if not _is_cut(ref):
            return read()
        key, look = tuple(map(_uncut, refs)), _look(files)
        # Another thread may put its own in place meanwhile; either answers for itself.
        kept = self._kept
        if kept is None or (kept.refs, kept.look) != (key, look):
            kept = self._kept = _Whole(key, look, read())
        if ref.turns is not None and ref.turns[0] == ref.turns[1] and not (ref.since or ref.until):
            place = ref.turns[0] - 1
            if 0 <= place < len(kept.turns):
                return kept.turns[place]
        return take_part(kept.trajectory, ref)


def _is_cut(ref: TrajectoryRef) -> bool:
    return not (ref.since is None and ref.until is None and ref.turns is None)


def _uncut(ref: TrajectoryRef) -> TrajectoryRef:
    return replace(ref, since=None, until=None, turns=None)


def _look(files: Sequence[Path]) -> tuple[tuple[int, int], ...]:
    """Sizes and times: a session may still be written to."""
    found = []
    for file in files:
        with suppress(OSError):
            seen = file.stat()
            found.append((seen.st_size, seen.st_mtime_ns))
    return tuple(found)
