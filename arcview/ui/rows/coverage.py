"""The items of a stage's contract, each with what became of it in every state. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from arcview.analysis.contract import Finding, Presence
from arcview.session.coverage import ContractCoverage, CoveredItem
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows.figures import fit_end
from arcview.ui.rows.lines import Cell, RowSource
from arcview.ui.safe import one_line, pieces, plain

_MARKS = {
    Presence.PRESENT: ("✓", theme.PASS),
    Presence.MOVED: (">", theme.WARN),
    Presence.DIFFERENT: ("~", theme.WARN),
    Presence.MISSING: ("✗", theme.FAIL),
}
_ORIGINS = {
    "contract.json": "as contract.json lists them",
    "contract": "taken from the contract's prose by their looks",
    "spec": "no contract is recorded: taken from the specification by their looks",
}
_NO_ITEMS = {
    "contract.json": "contract.json lists no items; c shows it as it is written",
    "contract": "nothing in the contract looks like an item of it; c shows it as it is written",
    "spec": "no contract is recorded, and nothing in the specification looks like one; s shows it",
}
LEGEND = "✓ present  > moved  ~ different  ✗ missing  – no files"


class CoverageRows(RowSource):
    """Where the items come from, the states, then a row an item with what drifted below it."""

    def __init__(self, coverage: ContractCoverage, state: str | None) -> None:
        self._coverage = coverage
        self.state = state
        """The state that is looked at."""
        self._rows = tuple(self._laid())
        origin, nothing = coverage.origin or "", "neither contract nor specification is recorded"
        said = (_ORIGINS if coverage.items else _NO_ITEMS).get(origin, nothing)
        names = (LEGEND,) if coverage.items else ()
        self._head = tuple(plain(f" {text}", theme.MUTED) for text in (said, *names))

    def _laid(self) -> Iterator[tuple[CoveredItem, str | None]]:
        for item in self._coverage.items:
            yield item, None
            for drift in item.drift:
                yield item, f"{drift.presence.value} since {drift.after}, there in {drift.before}"

    @property
    def states(self) -> tuple[str, ...]:
        """The states in order."""
        return self._coverage.states

    @property
    def first(self) -> int:
        """The row to begin at: the first item that is not there in the state, else the first."""
        for number, (item, remark) in enumerate(self._rows):
            found = self.finding(item)
            if remark is None and found is not None and found.presence is not Presence.PRESENT:
                return number + len(self._head) + 1
        return len(self._head) + 1

    def summary(self) -> str:
        """`5 of 19 present in S3`."""
        if not self._rows:
            return "no items"
        if self.state not in self.states:
            return f"{len(self._coverage.items)} items"
        counts = self._coverage.count(self.state)
        if not counts:
            return f"the files of {one_line(self.state)} are not recorded"
        there = counts[Presence.PRESENT]
        return f"{there} of {sum(counts.values())} present in {one_line(self.state)}"

    @property
    def has_items(self) -> bool:
        """Whether there is anything to look up."""
        return bool(self._rows)

    def step_state(self, by: int) -> None:
        """Looks at the next state, or the one before."""
        states = self.states
        at = states.index(self.state) if self.state in states else len(states) - 1
        self.state = states[max(0, min(len(states) - 1, at + by))] if states else None

    def finding(self, item: CoveredItem) -> Finding | None:
        """What became of an item in the state; null where its files are not recorded."""
        if self.state not in self.states:
            return None
        return item.findings[self.states.index(self.state)]

    def at(self, index: int) -> CoveredItem | None:
        """The item of a row; null above the table."""
        place = index - len(self._head) - 1
        return self._rows[place][0] if 0 <= place < len(self._rows) else None

    def __len__(self) -> int:
        return len(self._head) + (1 + len(self._rows) if self._rows else 0)

    def text(self, index: int, lane: int = 0) -> str:
        """The item as the contract has it."""
        del lane
        item = self.at(index)
        return one_line(item.item.text) if item is not None else self.row(index).plain

    def row(self, index: int) -> Content:
        """The row without its columns."""
        return Content("").join([cell.content for cell in self.cells(index, 120)])

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """The item, its kind, and a mark a state."""
        if index < len(self._head):
            return (Cell(self._head[index], scrolls=True),)
        room = max(1, min(8, (width * 3 // 5) // max(1, len(self.states))))
        marks = room * len(self.states)
        place = index - len(self._head) - 1
        if place < 0:
            names = pieces(*(self._state_name(state, room) for state in self.states))
            return (Cell(plain(" item", theme.MUTED), scrolls=True), Cell(names, width=marks))
        item, remark = self._rows[place]
        if remark is not None:
            return (Cell(plain(f"     {one_line(remark)}", theme.WARN), scrolls=True),)
        kind = item.item.kind.value.replace("_", " ")
        label = pieces(f" {one_line(item.item.text)}", (f"  {kind}", theme.MUTED))
        found = pieces(*(self._mark(finding, room) for finding in item.findings))
        return (Cell(label, scrolls=True), Cell(found, width=marks))

    def _state_name(self, state: str, room: int) -> tuple[str, str]:
        name = one_line(state)
        if room < 4:
            # `S3` is 3; a state between two stages has no room for its name.
            name = state[1:] if state[1:].isdecimal() and len(state) < 4 else "·"
        shown = fit_end(name, room - 1) if cells(name) > room - 1 else name
        style = f"bold {theme.INFO}" if state == self.state else theme.MUTED
        return (f"{shown} ".rjust(room), style)

    @staticmethod
    def _mark(finding: Finding | None, room: int) -> tuple[str, str]:
        mark, style = ("–", theme.MUTED) if finding is None else _MARKS[finding.presence]
        return (f"{mark} ".rjust(room), style)


def finding_remark(finding: Finding | None, state: str | None) -> str:
    """What is said of one item in one state, besides its mark."""
    if finding is None:
        return f"the files of {state} are not recorded"
    by_name = " (by name only: not Python)" if finding.method == "text" else ""
    match finding.presence:
        case Presence.MISSING:
            return f"missing in {state}{by_name}"
        case Presence.DIFFERENT:
            return f"different in {state}: {finding.found}{by_name}"
        case Presence.MOVED:
            return f"in another file than the contract says{by_name}"
        case Presence.PRESENT:
            return f"present{by_name}"
