"""Goes round the steps that wrote the file under the cursor.

By what the calls say; where no call says it, by who wrote the lines of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from arcview.analysis.frames import PathMapper
from arcview.session.attribution import LineSource
from arcview.session.run_session import Column, Target
from arcview.session.run_session_links import next_in, steps_editing

if TYPE_CHECKING:
    from arcview.ui.screens.run import RunScreen


class EditingSteps:
    """The steps of the stage on the screen that wrote a file.

    Args:
        screen: Whose panes are meant.
        mapper: Maps the paths of calls to files of a state, once they are known.
        follow: Goes to a place.
    """

    def __init__(
        self,
        screen: RunScreen,
        mapper: Callable[[str | None], PathMapper | None],
        follow: Callable[[Target], None],
    ) -> None:
        self._screen = screen
        self._mapper = mapper
        self._follow = follow
        self._awaited: tuple[str, str] | None = None
        """The state and file whose lines a thread is asked about."""

    def next(self, path: str | None) -> None:
        """To the next step that wrote a file; round and round."""
        screen, self._awaited = self._screen, None
        state = screen.session.pair.new
        mapper = self._mapper(state)
        if path is None:
            screen.notice("no file is under the cursor")
        elif screen.long is None or mapper is None or state is None:
            screen.notice("the workspaces are not read yet, or not recorded")
        elif screen.long.trajectory is None:
            screen.notice("no trajectory is recorded, or it is still being read")
        elif keys := steps_editing(screen.long.trajectory, path, mapper):
            number = self._go(keys)
            screen.notice(f"{path}: edit {number} of {len(keys)} (i: the next one)")
        else:
            self._next_by_lines(state, path)

    def authors_known(self, state: str, path: str) -> None:
        """Goes on where the lines of that file were asked about, and nothing else since then."""
        if self._awaited == (state, path):
            self._awaited = None
            if self._screen.session.pair.new == state:
                self._next_by_lines(state, path)

    def _next_by_lines(self, state: str, path: str) -> None:
        screen, long = self._screen, self._screen.long
        if long is None or long.trajectory is None:
            return
        sources = long.authors.sources(state, path)
        if sources is None:
            self._awaited = state, path
            screen.notice(f"no call names {path}: … looking who wrote its lines")
            return
        wrote = {source.step_key: source for source in sources if source.step_key is not None}
        keys = tuple(step.key for step in long.trajectory.heads if step.key in wrote)
        if not keys:
            screen.notice(f"no step of this stage is known to have written {path}")
            return
        number = self._go(keys)
        how = _how(wrote[keys[number - 1]])
        screen.notice(f"{path}: no call names it; {how}: {number} of {len(keys)} (i: the next one)")

    def _go(self, keys: tuple[str, ...]) -> int:
        """Goes to the next of some steps, and says which one it is (1-based)."""
        long = self._screen.long
        step = long.steps.step if long is not None else None
        key = next_in(keys, step.key if step is not None else None) or keys[0]
        self._follow(Target(Column.TRAJECTORY, step=key))
        return keys.index(key) + 1


def _how(source: LineSource) -> str:
    """By what a step is known to have written lines."""
    if source.certainty != "exact":
        return "likely by its lines"
    return "by the states recorded after each step" if source.recorded else "by its lines"
