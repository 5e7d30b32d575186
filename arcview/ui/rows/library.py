"""The list of runs as a table: who, what, the verdict strip, where it went wrong, what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from textual.content import Content

from arcview.analysis.overview import NEVER_RAN, Overview, StageRow
from arcview.model.results import Verdict
from arcview.session.library import LibraryRow, signs_counted
from arcview.session.library_query import GroupKey, Query, SortKey, group_of, in_order
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows.figures import (
    STATUS_BADGE,
    VERDICT_GLYPH,
    VERDICT_STYLE,
    cost,
    duration,
    fit,
    plural,
)
from arcview.ui.rows.lines import Cell, RowSource
from arcview.ui.safe import one_line, pieces, plain

_STRIP_MAX, _NAME_MAX = 24, 48


@dataclass(frozen=True, slots=True)
class GroupHeading:
    """Stands above the runs of a group."""

    name: str
    runs: tuple[LibraryRow, ...]


class LibraryRows(RowSource):
    """One row a run, sorted, filtered and grouped; grows while the folder is read."""

    def __init__(self) -> None:
        self._all: list[LibraryRow] = []
        self._rows: list[LibraryRow | GroupHeading] = []
        self.failing_only = False
        self.query = Query()
        self.sort = SortKey.PATH
        self.descending = False
        self.group = GroupKey.NOTHING
        self.marked: list[Path] = []
        """Runs that are to be compared, at most two, in the order in which they were marked."""
        self.shown = 0
        """Runs that are shown."""
        self._strip = 6
        self._name_width = 12

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def shown_paths(self) -> frozenset[Path]:
        """The runs that the filters leave."""
        return frozenset(row.path for row in self._rows if isinstance(row, LibraryRow))

    @property
    def shown_names(self) -> frozenset[str]:
        """Their names."""
        return frozenset(row.name for row in self._rows if isinstance(row, LibraryRow))

    def at(self, index: int) -> LibraryRow | None:
        """The run of a row; null on a heading, and where there is no row."""
        row = self._rows[index] if 0 <= index < len(self._rows) else None
        return row if isinstance(row, LibraryRow) else None

    @property
    def count(self) -> int:
        """Runs found so far, shown or not."""
        return len(self._all)

    def add(self, rows: Sequence[LibraryRow]) -> None:
        """Adds runs, each in its place."""
        self._all += rows
        longest = (sum(1 for _ in _signs(row)) for row in rows)
        self._strip = min(_STRIP_MAX, max((self._strip, *longest)))
        names = (cells(one_line(row.name)) for row in rows)
        self._name_width = min(_NAME_MAX, max((self._name_width, *names)))
        self.lay()

    def show_failing_only(self, failing_only: bool) -> None:
        """Shows only runs with a failed gate (and those that cannot be read), or all."""
        self.failing_only = failing_only
        self.lay()

    def lay(self) -> None:
        """Follows a change of filter, order or groups."""
        wanted = (row for row in self._all if self._is_wanted(row) and self.query.holds(row))
        ordered = in_order(wanted, self.sort, self.group, descending=self.descending)
        self.shown = len(ordered)
        if self.group is GroupKey.NOTHING:
            self._rows = list(ordered)
            return
        self._rows = []
        for name, members in groupby(ordered, lambda row: group_of(row, self.group)):
            runs = tuple(members)
            self._rows += [GroupHeading(name, runs), *runs]

    def mark(self, index: int) -> bool:
        """Marks a run for comparing, or no more; of more than two the first gives way."""
        row = self.at(index)
        if row is None or row.overview is None:
            return False
        if row.path in self.marked:
            self.marked.remove(row.path)
        else:
            self.marked = [*self.marked[-1:], row.path]
        return True

    def _is_wanted(self, row: LibraryRow) -> bool:
        return not self.failing_only or row.overview is None or _has_failed(row.overview)

    def anchor(self, index: int) -> object:
        """The path of the run, or the name of the group."""
        row = self._rows[index]
        return row.path if isinstance(row, LibraryRow) else row.name

    def locate(self, anchor: object) -> int:
        """The row of that run, or the first."""
        return next((n for n in range(len(self._rows)) if self.anchor(n) == anchor), 0)

    def text(self, index: int, lane: int = 0) -> str:
        """The path of the run, or the name of the group."""
        del lane
        return str(self.anchor(index))

    def row(self, index: int) -> Content:
        """The row in a wide view."""
        return Content("").join([cell.content for cell in self.cells(index, 160)])

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Name, verdicts and figures in columns; a run that cannot be read says why."""
        row = self._rows[index]
        if isinstance(row, GroupHeading):
            return (Cell(_heading(row), scrolls=True, style=theme.HEADING_LINE),)
        if row.overview is None:
            error = pieces(
                (f" {one_line(row.name)}  ", theme.MUTED), (one_line(row.error or ""), theme.FAIL)
            )
            return (Cell(error, scrolls=True),)
        right = self._right(row, row.overview, width)
        return (
            Cell(self._left(row, width), scrolls=True),
            Cell(right, width=min(right.cell_length, max(0, width - 16))),
        )

    def _left(self, row: LibraryRow, width: int) -> Content:
        overview = row.overview
        assert overview is not None
        name = one_line(row.name)
        parts = [part for part in (overview.agent, overview.task_id) if part and part not in name]
        room = self._name_width if width >= 100 else 0
        mark = ("●", theme.INFO) if row.path in self.marked else (" ", "")
        return pieces(
            mark,
            f"{name}{' ' * (room - cells(name))}",
            (f"  {one_line(' · '.join(parts))}", theme.MUTED),
        )

    def _right(self, row: LibraryRow, overview: Overview, width: int) -> Content:
        bad = overview.first_bad_stage
        columns: list[str | tuple[str, str] | Content] = ["  ", strip(row, self._strip)]
        if width >= 60:
            columns.append((f"  {f'bad at {bad}' if bad is not None else '':<10}", theme.FAIL))
        if width >= 80:
            columns.append(_chain(overview))
        if width >= 100:
            usd = cost(overview.totals.cost_usd.known)
            time = duration(overview.totals.duration_s.known)
            columns.append((f"{usd:>9}{time:>9}", theme.MUTED))
        if width >= 120:
            badge = STATUS_BADGE.get(overview.status, "completed")
            style = theme.WARN if overview.status in STATUS_BADGE else theme.MUTED
            columns.append((f"  {fit(badge, 20, pad=True)}", style))
        return Content.assemble(*columns)


def _heading(group: GroupHeading) -> Content:
    """`opus  12 runs  chain ✓ 3  ✗ 9`: how the chains ended, where that was measured."""
    known = [row.overview for row in group.runs if row.overview is not None]
    chains = [run.chain_gate.judgement.verdict for run in known if run.chain_gate is not None]
    parts: list[tuple[str, str] | str] = [
        (one_line(group.name), theme.HEADING),
        (f"  {plural(len(group.runs), 'run')}", theme.MUTED),
    ]
    if chains:
        parts.append(("  chain", theme.MUTED))
    for verdict in Verdict:
        if verdict in chains:
            said = f" {VERDICT_GLYPH[verdict]} {chains.count(verdict)}"
            parts.append((said, VERDICT_STYLE[verdict]))
    return pieces(*parts)


def strip(row: LibraryRow, width: int) -> Content:
    """One sign a stage: `✓✓✗?–`, many equal ones counted; a stage that was not started has a dash.

    Of a session of which only the ends were looked at no stage is known.
    """
    parts = [("…", theme.MUTED)] if row.is_glanced else list(_signs(row))
    if len(parts) > width:
        parts = [*parts[: width - 1], ("…", theme.MUTED)]
    parts.append((" " * (width - len(parts)), ""))
    return Content.assemble(*parts)


def _signs(row: LibraryRow) -> Iterator[tuple[str, str]]:
    """The characters of a strip, each with its style."""
    stages = row.overview.stages if row.overview is not None else ()
    for (sign, style), count in signs_counted(map(_sign, stages)):
        yield sign, style
        if count > 1:
            yield from ((digit, theme.MUTED) for digit in f"×{count}")


def _sign(row: StageRow) -> tuple[str, str]:
    verdict = row.judgement.verdict
    if row.status in NEVER_RAN and verdict is Verdict.UNMEASURED:
        return "–", theme.FAINT
    return VERDICT_GLYPH[verdict], VERDICT_STYLE[verdict]


def _chain(overview: Overview) -> Content:
    cell = overview.chain_gate
    if cell is None:
        return Content.styled("  no chain gate", theme.FAINT)
    verdict = cell.judgement.verdict
    return plain(f"  chain {VERDICT_GLYPH[verdict]}".ljust(15), VERDICT_STYLE[verdict])


def _has_failed(overview: Overview) -> bool:
    verdicts = {row.judgement.verdict for row in overview.stages}
    if overview.chain_gate is not None:
        verdicts.add(overview.chain_gate.judgement.verdict)
    return Verdict.FAILED in verdicts
