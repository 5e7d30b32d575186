"""The stages of the run on the screen as palette entries, found by number or by words of a title.

Imported when the palette opens: nothing of it is on the way to the first frame.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import NamedTuple

from textual.command import Hit, Hits, Provider
from textual.screen import Screen

from arcview.model.run import Stage
from arcview.ui.rows.figures import fit
from arcview.ui.safe import one_line, plain
from arcview.ui.screens.run import RunScreen

_MOST = 50
"""Entries that a list shows; more would have to be drawn, and one types on."""
_WIDTH = 64
"""Columns of an entry: a title may be a whole sentence of a prompt."""
_EXACT, _PART = 1000.0, 1.0
"""Scores: the stage of a typed number before, words of a title behind what a command is called."""


class StageEntry(NamedTuple):
    """One stage in the palette."""

    number: int
    text: str
    """Cleaned, as it is shown."""
    folded: str
    """What is searched."""


def stage_entry(stage: Stage) -> StageEntry:
    """The entry of a stage: `Stage 120: title`."""
    title = f": {one_line(stage.title)}" if stage.title else ""
    text = f"Stage {stage.index}{title}"
    return StageEntry(stage.index, fit(text, _WIDTH), text.casefold())


def find_stages(entries: tuple[StageEntry, ...], query: str) -> Iterator[tuple[StageEntry, float]]:
    """The entries that have every word of a query, with their scores."""
    words = query.casefold().split()
    found = [entry for entry in entries if all(word in entry.folded for word in words)]
    exact = [entry for entry in found if str(entry.number) in words]
    yield from ((entry, _EXACT) for entry in exact)
    rest = (entry for entry in found if entry not in exact)
    yield from ((entry, _PART) for entry, _ in zip(rest, range(_MOST), strict=False))


def palette_question(screen: Screen[object]) -> str:
    """What the palette says while nothing is typed."""
    stages = ", or a stage by number or title" if isinstance(screen, RunScreen) else ""
    return f"What to do{stages} …"


class Stages(Provider):
    """Every stage of a run screen; other screens have none."""

    async def startup(self) -> None:
        """Writes the entries once for everything that is typed."""
        screen = self.screen
        stages = screen.opened.run.stages if isinstance(screen, RunScreen) else ()
        self._entries = tuple(map(stage_entry, stages))

    async def search(self, query: str) -> Hits:
        """The stages that a query means."""
        for entry, score in find_stages(self._entries, query):
            yield Hit(score, plain(entry.text), self._go_to(entry.number), entry.text)

    def _go_to(self, index: int) -> Callable[[], Awaitable[None]]:
        async def go() -> None:
            await self.screen.run_action(f"screen.go_to_stage({index})")

        return go
