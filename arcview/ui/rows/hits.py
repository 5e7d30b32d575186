"""The hits of a search through the whole run: where, and the line around the first match. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content

from arcview.analysis.search import Hit
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows.figures import fit, fit_end, fit_test_name, plural
from arcview.ui.rows.lines import Cell, RowSource
from arcview.ui.safe import one_line, pieces, plain

_BEFORE = 24
"""Characters of a line that are shown before its first match."""
_KINDS = {"gate": "gate", "step": "steps", "diff": "diffs", "spec": "specifications", "log": "logs"}


class HitRows(RowSource):
    """One row a hit, then what was not searched; grows while the search goes on."""

    def __init__(self) -> None:
        self.hits: list[Hit] = []
        self.counts: Mapping[str, int] = {}
        self._left_out: tuple[str, ...] = ()

    def add(self, hits: Sequence[Hit], counts: Mapping[str, int]) -> None:
        """Adds hits at the end."""
        self.hits += hits
        self.counts = counts

    def end(self, left_out: Sequence[str]) -> None:
        """Says what was not searched."""
        self._left_out = tuple(left_out)

    def __len__(self) -> int:
        return len(self.hits) + len(self._left_out)

    def summary(self) -> str:
        """`162 lines: gate 3, steps 120, diffs 30, logs 9`."""
        total = plural(sum(self.counts.values()), "line")
        parts = [f"{_KINDS.get(k, k)} {n:,}" for k, n in self.counts.items() if n]
        return f"{total}: {', '.join(parts)}" if parts else total

    def text(self, index: int, lane: int = 0) -> str:
        """The whole line, or the remark."""
        del lane
        return one_line(self.hits[index].text if index < len(self.hits) else self._remark(index))

    def row(self, index: int) -> Content:
        """The row without its columns."""
        return Content("").join([cell.content for cell in self.cells(index, 160)])

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Where it is, and the line."""
        if index >= len(self.hits):
            return (Cell(plain(one_line(self._remark(index)), theme.WARN), scrolls=True),)
        hit = self.hits[index]
        room = max(12, min(44, width * 2 // 5))
        title = _fitting(one_line(hit.place.title), room - 2)
        start = max(0, hit.spans[0][0] - _BEFORE) if len(hit.text) > width - room else 0
        line = hit.text[start:].lstrip() if not start else f"…{hit.text[start:]}"
        return (
            Cell(pieces((fit(title, room - 2, pad=True) + "  ", theme.MUTED)), width=room),
            Cell(plain(one_line(line)), scrolls=True),
        )

    def _remark(self, index: int) -> str:
        return f"▲ not searched: {self._left_out[index - len(self.hits)]}"


def _fitting(title: str, room: int) -> str:
    """Where a hit is: the beginning says the stage and the end what kind of text, both stay."""
    if cells(title) <= room or " · " not in title:
        return title
    first, _, rest = title.partition(" · ")
    middle, dot, last = rest.rpartition(" · ")
    left = room - cells(first) - 3
    if not dot:
        return f"{first} · {fit_end(last, max(4, left))}"
    return f"{first} · {fit_test_name(middle, left - cells(last) - 3)} · {last}"
