"""Sessions whose parts are stages, and the last one that was read: its stages come in a row.

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
class WholeSession:
    """A session that was read, to cut parts from."""

    trajectory: Trajectory

    @cached_property
    def _turns(self) -> list[Trajectory]:
        """Its turns, cut together: where they begin is looked for once."""
        return each_turn(self.trajectory)

    def part(self, ref: TrajectoryRef) -> Trajectory:
        """The part that a reference names, as `take_part` takes it."""
        if ref.turns is not None and ref.turns[0] == ref.turns[1] and not (ref.since or ref.until):
            place = ref.turns[0] - 1
            # The file may have become shorter since its stages were known.
            if 0 <= place < len(self._turns):
                return self._turns[place]
        return take_part(self.trajectory, ref)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A session, and what tells that its file is still the same."""

    refs: tuple[TrajectoryRef, ...]
    look: tuple[tuple[int, int], ...]
    session: WholeSession


class KeptSession:
    """The whole of the last session that was read for a part of it; at most one is held."""

    def __init__(self) -> None:
        self._kept: _Kept | None = None

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
            kept = self._kept = _Kept(key, look, WholeSession(read()))
        return kept.session.part(ref)


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
