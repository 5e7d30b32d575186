"""Who wrote the lines that are on the screen: asked for when they are first drawn, then kept."""

from __future__ import annotations

from collections.abc import Callable

from arcview.session.attribution import LineSource
from arcview.ui.rows.trail import author_label

Ask = Callable[[str, str], None]
"""Asks a thread for the authors of a file of a state."""


class Authors:
    """The authors of lines, by state and file.

    Args:
        ask: Starts to find out; `put` is called with what was found.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[tuple[str, str], tuple[LineSource, ...]] = {}
        self._asked: set[tuple[str, str]] = set()

    def put(self, state: str, path: str, sources: tuple[LineSource, ...]) -> None:
        """Keeps what was found out of a file."""
        self._known[state, path] = sources

    def sources(self, state: str, path: str) -> tuple[LineSource, ...] | None:
        """Who wrote each line of a file; null where that is not known yet, and asked for."""
        key = state, path
        if key not in self._known and key not in self._asked:
            self._asked.add(key)
            self._ask(state, path)
        return self._known.get(key)

    def of(self, state: str, path: str, line: int) -> LineSource | None:
        """Who wrote a line (1-based); null where that is not known, or not yet."""
        sources = self.sources(state, path)
        return sources[line - 1] if sources is not None and 0 < line <= len(sources) else None

    def label(self, state: str, path: str, line: int) -> str:
        """What stands left of a line; empty where nobody is known."""
        source = self.of(state, path, line)
        if source is None:
            return "" if (state, path) in self._known else "…"
        return author_label(source)

    def remark(self, state: str, path: str | None = None) -> tuple[str, ...]:
        """How many lines of a state's own change have a certain step, in the files looked at."""
        own = [
            source
            for (at, name), sources in self._known.items()
            if at == state and path in (None, name)
            for source in sources
            if source.state == state
        ]
        if not own:
            return ()
        exact = sum(source.certainty == "exact" for source in own)
        return (f"step known exactly for {exact:,} of {len(own):,} lines written here",)
