"""Two runs beside each other: a row a stage, and the tests that end otherwise. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from arcview.analysis.compare import GateComparison, TestDifference
from arcview.analysis.overview import NEVER_RAN, GateCell, Overview, StageRow
from arcview.model.results import Outcome, Verdict
from arcview.session.change_summary import ChangeSummary
from arcview.session.compare import RunComparison
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows.figures import (
    VERDICT_GLYPH,
    VERDICT_STYLE,
    cost,
    counted,
    fit,
    fit_end,
    fit_test_name,
    fraction,
    plural,
)
from arcview.ui.rows.lines import Cell, RowSource
from arcview.ui.safe import one_line, pieces, plain

_ROOM = 100
"""Columns from which on a side has room for more than counts."""
_SIDE, _MOST, _DEBT, _DIFFERS = 34, 58, 5, 38
"""Columns of a side with what it changed, at most, of its debt, and of what differs."""


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One gate of both runs: of a stage, or the chain gate."""

    stage: int | None
    """Null for the chain gate."""
    title: str
    gate: GateComparison
    a: StageRow | None = None
    b: StageRow | None = None
    change_a: ChangeSummary | None = None
    change_b: ChangeSummary | None = None

    @property
    def states(self) -> tuple[str | None, str | None]:
        """What the code of both is compared in: the end of a stage, else what the gate ran on."""
        sides = ((self.a, self.gate.a), (self.b, self.gate.b))
        a, b = (
            (row.end if row is not None else None) or (cell.state if cell is not None else None)
            for row, cell in sides
        )
        return a, b


class CompareRows(RowSource):
    """Where two runs part, and a row a stage."""

    def __init__(self, found: RunComparison) -> None:
        self._found = found
        self._head = tuple(_head(found))
        self.rows = tuple(_rows(found))
        self._longest_title = max((cells(one_line(row.title)) + 5 for row in self.rows), default=0)

    def __len__(self) -> int:
        return len(self._head) + len(self.rows)

    def who(self, width: int) -> Content:
        """Which run is A and which is B, a line each."""
        runs = (("A", self._found.a), ("B", self._found.b))
        return Content("\n").join([_who(name, run, width) for name, run in runs])

    @property
    def first(self) -> int:
        """The row to begin at: where the verdicts part, else the tests, else the first stage."""
        parting = self._found.first_divergence or self._found.first_test_divergence
        gates = [row.gate.gate for row in self.rows]
        place = gates.index(parting.gate) if parting is not None and parting.gate in gates else 0
        return len(self._head) + place

    def at(self, index: int) -> ComparedRow | None:
        """The gate of a row; null above the table."""
        place = index - len(self._head)
        return self.rows[place] if 0 <= place < len(self.rows) else None

    def row_of_stage(self, stage: int | None) -> int | None:
        """The row of a stage; of the chain gate for null."""
        found = (n for n, row in enumerate(self.rows) if row.stage == stage)
        place = next(found, None)
        return None if place is None else len(self._head) + place

    def row(self, index: int) -> Content:
        """The row without its columns."""
        return Content("").join([cell.content for cell in self.cells(index, 160)])

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Stage, both sides and what differs."""
        row = self.at(index)
        side, title = self._widths(width)
        if row is None:
            if index < len(self._head) - 1:
                return (Cell(self._head[index], scrolls=True),)
            named = ((" stage", title), ("  A", side), ("  B", side), ("tests", None))
            return [
                Cell(plain(text, theme.MUTED), room, scrolls=room is None) for text, room in named
            ]
        name = f" {row.stage if row.stage is not None else 'chain'} "
        called = fit(one_line(row.title), title - cells(name) - 1) if title > 8 else ""
        label = pieces((name, "bold"), (called, theme.MUTED))
        return (
            Cell(label, width=title),
            Cell(_side(row.gate.a, row.a, row.change_a, side), width=side),
            Cell(_side(row.gate.b, row.b, row.change_b, side), width=side),
            Cell(self._differs(row), scrolls=True),
        )

    def _widths(self, width: int) -> tuple[int, int]:
        """Columns of a side, and of the titles of stages."""
        if width < _ROOM:
            return max(12, (width - 20) // 2), 7
        title = max(8, min(20, self._longest_title))
        return max(_SIDE, min(_MOST, (width - title - _DIFFERS) // 2)), title

    def _differs(self, row: ComparedRow) -> Content:
        parts: list[tuple[str, str]] = []
        for parting, sign in (
            (self._found.first_divergence, "◆ verdicts part here"),
            (self._found.first_test_divergence, "◇ tests part here"),
        ):
            # Where the verdicts part the tests do, too.
            if parting is not None and parting.gate == row.gate.gate and not parts:
                parts.append((sign, theme.WARN))
        if not row.gate.compared:
            parts.append(("not measured in both", theme.MUTED))
        else:
            better = [difference.better for difference in row.gate.differences]
            parts += [
                (f"{better.count(side)} ok in {side.upper()} only", "")
                for side in ("a", "b")
                if side in better
            ]
        said = [pieces(part) for part in parts] or [plain("same tests ok", theme.MUTED)]
        return Content("  ").join(said)


def _head(found: RunComparison) -> Iterator[Content]:
    for problem in found.problems:
        yield pieces((f" ▲ {one_line(problem)}", theme.WARN))
    if not found.is_measured:
        yield plain(" no gate was measured in both runs: nothing can be compared", theme.MUTED)
    elif found.first_divergence is None:
        tests = found.first_test_divergence
        what = "verdicts and single tests" if tests is None else "verdicts"
        where = "" if tests is None else f"; single tests at gate {one_line(tests.gate)}"
        yield plain(f" {what} part nowhere, as far as both were measured{where}", theme.MUTED)
    yield pieces((" stage", theme.MUTED))


def _who(name: str, run: Overview, width: int) -> Content:
    attempt = f"attempt {run.attempt}" if run.attempt else None
    names = (run.task_id, run.agent, run.agent_version, run.model, attempt)
    said = " · ".join(one_line(name) for name in names if name)
    path = fit_end(one_line(run.path), width - cells(said) - 7)
    return pieces((f" {name}  ", f"bold {theme.INFO}"), (said, "bold"), (f"  {path}", theme.MUTED))


def _rows(found: RunComparison) -> Iterator[ComparedRow]:
    for stage in found.stages:
        pair = stage.gates
        title = next((row.title for row in (pair.a, pair.b) if row is not None and row.title), "")
        yield ComparedRow(
            pair.index, title or "", pair.gate, pair.a, pair.b, stage.change_a, stage.change_b
        )
    if found.chain is not None:
        yield ComparedRow(None, "", found.chain)


def _side(
    cell: GateCell | None, row: StageRow | None, change: ChangeSummary | None, width: int
) -> Content:
    if cell is None:
        return plain("  –", theme.MUTED)
    verdict = cell.judgement.verdict
    counts = [fraction(group) for _, group in counted(cell.f2p, cell.p2p, cell.other)]
    measured = verdict is not Verdict.UNMEASURED
    said = " ".join(counts) if measured and counts else "unmeasured" if not measured else ""
    parts = [(f"  {VERDICT_GLYPH[verdict]} ", VERDICT_STYLE[verdict]), (f"{said:<14}", "")]
    if row is not None and row.status in NEVER_RAN and not measured:
        parts = [("  – ", theme.FAINT), (f"{row.status.value.replace('_', ' '):<14}", theme.MUTED)]
    debt = f" ▲{row.debt}" if row is not None and row.debt else ""
    parts.append((f"{debt:<{_DEBT}}" if width >= _SIDE else debt, theme.WARN))
    if width >= _SIDE and change is not None and change.added is not None:
        parts.append((f" +{change.added:,} −{change.removed or 0:,}", theme.MUTED))
    if width >= 44 and row is not None:
        known = [cost(row.cost_usd)] if row.cost_usd is not None else []
        known += [plural(row.steps, "step")] if row.steps is not None else []
        room = width - sum(cells(text) for text, _ in parts) - 1
        while known and cells("".join(known)) + 2 * len(known) > room:
            known.pop(0)
        parts.append(("".join(f"  {text}" for text in known), theme.MUTED))
    shown = pieces(*parts)
    return shown if shown.cell_length <= width else shown[: max(0, width - 1)] + Content("…")


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """A heading, or one test."""

    text: str
    test: TestDifference | None = None
    only: str | None = None
    """Id of a test that one gate alone has."""


class DifferenceRows(RowSource):
    """The tests of one gate that the two runs end otherwise."""

    def __init__(self, gate: GateComparison) -> None:
        self._rows = tuple(_differences(gate))

    def __len__(self) -> int:
        return len(self._rows)

    def at(self, index: int) -> DifferenceRow:
        """What a row is."""
        return self._rows[index]

    def text(self, index: int, lane: int = 0) -> str:
        """The id of the test, or the heading."""
        del lane
        row = self._rows[index]
        return row.test.id if row.test is not None else row.text

    def row(self, index: int) -> Content:
        """The row without its columns."""
        return Content("").join([cell.content for cell in self.cells(index, 80)])

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """The test and its two outcomes."""
        row = self._rows[index]
        if row.test is None:
            style = "" if row.only is not None else theme.HEADING_LINE
            name = f"    {row.text}" if row.only is not None else row.text
            look = "" if row.only is not None else theme.HEADING
            return (Cell(plain(name, look), scrolls=True, style=style),)
        outcomes = f" {row.test.a.value} │ {row.test.b.value}"
        if {row.test.a, row.test.b} == {Outcome.PASSED, Outcome.FAILED}:
            outcomes = ""  # the heading says it
        name = fit_test_name(one_line(row.test.id), width - 2 - cells(outcomes))
        return (
            Cell(pieces("  ", name), scrolls=True),
            Cell(plain(outcomes, theme.MUTED), width=cells(outcomes)),
        )


def _differences(gate: GateComparison) -> Iterator[DifferenceRow]:
    if not gate.compared:
        yield DifferenceRow("This gate was not measured in both runs: nothing to compare.")
        return
    named = (
        ("a", "Ok in A only"),
        ("b", "Ok in B only"),
        ("neither", "Otherwise different"),
    )
    for side, title in named:
        tests = [test for test in gate.differences if test.better == side]
        if tests:
            yield DifferenceRow(f"{title}  {len(tests)}")
            yield from (DifferenceRow(one_line(test.id), test) for test in tests)
    for title, ids in (("Only gate A has", gate.only_in_a), ("Only gate B has", gate.only_in_b)):
        if ids:
            yield DifferenceRow(f"{title}  {plural(len(ids), 'test')}")
            yield from (DifferenceRow(one_line(id_), only=id_) for id_ in ids)
    yield DifferenceRow(f"Ok in both  {gate.both_ok:,}")
    yield DifferenceRow(f"Ok in neither  {gate.both_not_ok:,}")
    for cause in gate.shared_causes:
        yield DifferenceRow(f"in both: {one_line(cause)}", only=cause)
