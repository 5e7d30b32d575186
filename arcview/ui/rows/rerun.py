"""The rerun of one gate as rows: the choices, the result beside the recorded one, what runs. Pure.

Results come first where there are any; else what would run, which is what the person confirms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from textual.content import Content

from arcview.gates.results import Change, Comparison, Flakiness, RerunResult, TestChange
from arcview.model.results import GateTest
from arcview.session.rerun_session import RerunSession
from arcview.session.rerun_view import RerunView
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows.figures import OUTCOME_GLYPH, VERDICT_STYLE, fit, fit_test_name
from arcview.ui.rows.lines import Cell, RowSource
from arcview.ui.rows.notes import wrap_words
from arcview.ui.rows.rerun_choices import Choice, choices, question, states_line, with_keys
from arcview.ui.rows.rerun_facts import (
    NOT_RECORDED,
    Said,
    headline,
    plan_facts,
    side_by_side,
    verdict_words,
)
from arcview.ui.safe import one_line, pieces, plain

_LABEL = 11
_MARK = {
    Change.FLIPPED_UP: ("↑", theme.PASS),
    Change.FLIPPED_DOWN: ("↓", theme.FAIL),
    Change.MISSING_NOW: ("∅", theme.WARN),
    Change.NEW: ("+", theme.INFO),
    Change.SAME: ("=", theme.MUTED),
}
_TITLE = {
    Change.FLIPPED_UP: "not ok as recorded, ok now",
    Change.FLIPPED_DOWN: "ok as recorded, not ok now",
    Change.MISSING_NOW: "recorded, missing now",
    Change.NEW: "new: not recorded",
    Change.SAME: "same as recorded",
}


class RerunRowKind(StrEnum):
    """What a row is."""

    STATES = "states"
    CHOICE = "choice"
    """Enter here takes the other one."""
    FACT = "fact"
    START = "start"
    """Enter here runs it."""
    SECTION = "section"
    TEST = "test"
    ATTEMPT = "attempt"


class RerunRow(NamedTuple):
    """One row, not drawn yet."""

    kind: RerunRowKind
    said: Said
    key: tuple[str, ...] = ()
    """Names what is there, also after the rows have changed."""
    copy: str | None = None
    """What a copy takes, where that is more than the row shows."""
    change: TestChange | None = None
    attempt: int | None = None
    """Position in the results."""
    choice: Choice | None = None


class RerunRows(RowSource):
    """The rows; sections fold."""

    def __init__(self, session: RerunSession) -> None:
        self._session = session
        self._view: RerunView | None = None
        self._chosen = -1
        self._width = 80
        self._asks = False
        self._toggled: set[str] = set()
        self._rows: tuple[RerunRow, ...] = ()
        self._flaky: Flakiness | None = None
        self._rebuild()

    # What it shows

    def show(self, view: RerunView | None, *, asks: bool) -> None:
        """Shows what is known now.

        Args:
            view: The gate on the chosen state; null while it is looked up.
            asks: Nothing was run in this sitting: what would run stands first.
        """
        stays = view is not None and self._view is not None and view.state == self._view.state
        if not stays or (view and self._view and len(view.results) != len(self._view.results)):
            self._chosen = -1
        self._view, self._asks = view, asks
        self._rebuild()

    def choose(self, attempt: int) -> None:
        """Shows another attempt."""
        self._chosen = attempt
        self._rebuild()

    @property
    def result(self) -> RerunResult | None:
        """The attempt that is shown: the last one, or the chosen one."""
        results = self._view.results if self._view is not None else ()
        return results[self._chosen] if results else None

    def refresh(self) -> None:
        """Follows the choices."""
        self._rebuild()

    def test_at(self, index: int) -> GateTest | None:
        """The rerun's test of a row; the recorded one where the rerun has none."""
        change, result, view = self._rows[index].change, self.result, self._view
        if change is None or view is None:
            return None
        sides = (*(result.tests if result is not None else ()), *view.recorded_tests)
        return next((test for test in sides if test.id == change.id), None)

    def at(self, index: int) -> RerunRow:
        """What a row is."""
        return self._rows[index]

    def toggle(self, index: int) -> None:
        """Folds or opens the section at a row."""
        row = self._rows[index]
        if row.kind is RerunRowKind.SECTION:
            self._toggled ^= {row.key[1]}
            self._rebuild()

    @property
    def first(self) -> int:
        """The row to begin at: what asks to be started, else the result."""
        kinds = (RerunRowKind.START, RerunRowKind.SECTION)
        return next((n for n, row in enumerate(self._rows) if row.kind in kinds), 0)

    # The rows

    def _rebuild(self) -> None:
        self._rows = tuple(self._all())

    def fit(self, width: int) -> bool:
        """Wraps what is said."""
        before, self._width = len(self._rows), width
        self._rebuild()
        return before != len(self._rows)

    def _choices(self) -> Iterator[RerunRow]:
        """How it is run; nothing to choose from where it cannot be."""
        session = self._session
        times = f"{session.times}×" + ("" if session.times > 1 else "  (+ runs it more often)")
        yield RerunRow(RerunRowKind.FACT, Said("times", times), ("times",))
        for choice in choices(session):
            said = Said(choice.key, choice.names[choice.chosen])
            yield RerunRow(RerunRowKind.CHOICE, said, (choice.key,), choice=choice)

    def _all(self) -> Iterator[RerunRow]:
        session, view = self._session, self._view
        yield RerunRow(RerunRowKind.STATES, Said("state", session.state or "–"), ("state",))
        if view is None or view.error is None or view.results:
            yield from self._choices()
        if view is None:
            yield from self._wrapped(Said("", "… looking up what is stored", theme.MUTED), "wait")
            return
        if view.error is not None:
            yield from self._wrapped(Said("", f"✗ {view.error}", theme.FAIL), "error")
        yield from self._readiness(view)
        result = self.result
        if result is not None:
            yield from self._result(view, result)
        if view.plan is not None:
            yield from self._section("plan", "What runs", is_open=result is None)
            if self._is_open("plan", starts=result is None):
                for number, said in enumerate(plan_facts(view.plan)):
                    yield from self._wrapped(said, f"plan-{number}")
        if view.plan is not None:
            yield from self._shell(view)

    def _readiness(self, view: RerunView) -> Iterator[RerunRow]:
        plan = view.plan
        if plan is None:
            if view.error is None:
                yield from self._wrapped(Said("", "… asking the engine", theme.MUTED), "wait")
        elif plan.unavailable is not None:
            why = with_keys(plan.unavailable)
            said = Said("", f"▲ cannot be run here: {why}", theme.WARN)
            yield from self._wrapped(said, "unavailable")
        elif self._asks:
            ask, style = question(self._session)
            for number, line in enumerate(wrap_words(ask, self._width - 1)):
                yield RerunRow(RerunRowKind.START, Said("", line, style), ("start", str(number)))

    def _shell(self, view: RerunView) -> Iterator[RerunRow]:
        plan = view.plan
        assert plan is not None
        starts = plan.unavailable is not None
        title = "The command that does the same without arcview (y copies it)"
        yield from self._section("shell", title, is_open=starts)
        if self._is_open("shell", starts=starts):
            for row in self._wrapped(Said("", plan.shell), "shell"):
                yield row._replace(copy=plan.shell)

    def _result(self, view: RerunView, result: RerunResult) -> Iterator[RerunRow]:
        at = view.results.index(result)
        comparison = view.comparisons[at]
        self._flaky = flaky = view.flakiness(result)
        fold = "▾" if self._is_open("result", starts=True) else "▸"
        heads = Said(fold, "Recorded", theme.HEADING, f"Rerun {at + 1}", theme.HEADING)
        yield RerunRow(RerunRowKind.SECTION, heads, ("section", "result"))
        if self._is_open("result", starts=True):
            text, style = headline(result, comparison)
            yield from self._wrapped(Said("", text, f"bold {style}"), "headline")
            for said in side_by_side(view, result):
                yield RerunRow(RerunRowKind.FACT, said, ("fact", said.label))
            for number, note in enumerate(result.notes):
                yield from self._wrapped(Said("", note, theme.MUTED), f"note-{number}")
        if result.is_silent:
            said = Said("", "no test has a result: nothing to compare", theme.MUTED)
            yield from self._wrapped(said, "silent")
        elif comparison is not None:
            yield from self._tests(comparison, flaky)
        yield from self._attempts(view)

    def _tests(self, comparison: Comparison, flaky: Flakiness) -> Iterator[RerunRow]:
        by_id = {test.id: test for test in comparison.tests}
        unsteady = [by_id[name] for name in flaky.flaky if name in by_id]
        if unsteady:
            title = f"flaky: ok in some of {flaky.attempts} attempts  {len(unsteady)}"
            yield from self._listed("flaky", title, unsteady, is_open=True)
        elif flaky.attempts > 1:
            said = f"no test changed in {flaky.attempts} attempts, which does not make it stable"
            yield from self._wrapped(Said("", said, theme.MUTED), "steady")
        for change, title in _TITLE.items():
            tests = [test for test in comparison.tests if test.change is change]
            if not tests or (change is Change.SAME and self._session.differences_only):
                continue
            title = f"{title}  {len(tests)}"
            yield from self._listed(change.value, title, tests, is_open=change is not Change.SAME)

    def _listed(
        self, key: str, title: str, tests: Sequence[TestChange], *, is_open: bool
    ) -> Iterator[RerunRow]:
        yield from self._section(key, title, is_open=is_open)
        if self._is_open(key, starts=is_open):
            for test in tests:
                name = one_line(test.id)
                yield RerunRow(RerunRowKind.TEST, Said("", name), (key, test.id), test.id, test)

    def _attempts(self, view: RerunView) -> Iterator[RerunRow]:
        if len(view.results) < 2:
            return
        shown = self.result
        yield from self._section("attempts", f"Attempts  {len(view.results)}", is_open=True)
        if not self._is_open("attempts", starts=True):
            return
        for number, result in enumerate(view.results):
            comparison = view.comparisons[number]
            text, style = headline(result, comparison)
            mark = "▸" if result is shown else " "
            when = result.started[:16].replace("T", " ")
            said = Said(
                f"{mark} {number + 1}",
                f"{verdict_words(result.verdict)}  {when}",
                VERDICT_STYLE[result.verdict],
                text,
                style,
            )
            yield RerunRow(RerunRowKind.ATTEMPT, said, ("attempt", str(number)), attempt=number)

    def _section(self, key: str, title: str, *, is_open: bool) -> Iterator[RerunRow]:
        fold = "▾" if self._is_open(key, starts=is_open) else "▸"
        yield RerunRow(RerunRowKind.SECTION, Said(fold, title, theme.HEADING), ("section", key))

    def _is_open(self, key: str, *, starts: bool) -> bool:
        return starts is not (key in self._toggled)

    def _wrapped(self, said: Said, key: str) -> Iterator[RerunRow]:
        indent = _LABEL if said.label or key.startswith("plan-") else 1
        lines = wrap_words(one_line(said.text), max(16, self._width - indent - 1))
        for number, line in enumerate(lines):
            label = "" if number else said.label
            yield RerunRow(
                RerunRowKind.FACT, Said(label, line, said.style), (key, str(number)), said.text
            )

    # Drawing

    def __len__(self) -> int:
        return len(self._rows)

    def anchor(self, index: int) -> object:
        """The key of the row."""
        return self._rows[index].key

    def locate(self, anchor: object) -> int:
        """The row with that key."""
        return next((n for n, row in enumerate(self._rows) if row.key == anchor), 0)

    def text(self, index: int, lane: int = 0) -> str:
        """The whole of what is said, however it is wrapped."""
        del lane
        row = self._rows[index]
        return row.copy if row.copy is not None else self.row(index).plain.strip()

    def row(self, index: int) -> Content:
        """The row without its columns."""
        return Content(" ").join([cell.content for cell in self.cells(index, 80)])

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Label and text, or the two sides."""
        row = self._rows[index]
        said = row.said
        match row.kind:
            case RerunRowKind.SECTION if said.right is None:
                head = pieces((f"{said.label} ", theme.MUTED), (said.text, said.style))
                return (Cell(head, scrolls=True, style=theme.HEADING_LINE),)
            case RerunRowKind.STATES:
                label = plain(f" {said.label}", theme.MUTED)
                line = states_line(self._session, width - _LABEL)
                return (Cell(label, _LABEL), Cell(line, scrolls=True))
            case RerunRowKind.CHOICE if row.choice is not None:
                label = plain(f" {said.label}", theme.MUTED)
                return (Cell(label, _LABEL), Cell(row.choice.line, scrolls=True))
            case RerunRowKind.TEST if row.change is not None:
                return self._test(row.change, width)
            case _ if said.right is not None:
                is_head = row.kind is RerunRowKind.SECTION
                side = max(8, (width - _LABEL) // 2)
                old = plain(fit(said.text, side - 2), said.style)
                new = plain(fit(said.right, max(1, width - _LABEL - side)), said.right_style)
                label = plain(said.label if is_head else f" {said.label}", theme.MUTED)
                style = theme.HEADING_LINE if is_head else ""
                parts = ((label, _LABEL), (old, side), (new, None))
                return tuple(Cell(part, size, style=style) for part, size in parts)
            case _:
                has_label = bool(said.label) or row.key[0].startswith("plan-")
                edge = _LABEL if has_label else 1
                label = plain(f" {said.label}"[:edge] if said.label else "", theme.MUTED)
                return (Cell(label, edge), Cell(plain(said.text, said.style), scrolls=True))

    def _test(self, change: TestChange, width: int) -> Sequence[Cell]:
        glyph, style = _MARK[change.change]
        note = self._note(change)
        room = cells(note) + 2
        if width - room < 24:
            note, room = "", 0
        name = fit_test_name(one_line(change.id), width - room - 6)
        now = change.now or change.recorded
        mark, mark_style = OUTCOME_GLYPH[now] if now is not None else ("?", theme.UNMEASURED)
        left = pieces("  ", (f"{glyph} ", style), (f"{mark} ", mark_style), name)
        return (Cell(left, scrolls=True), Cell(plain(note.rjust(room), theme.MUTED), room))

    def _note(self, change: TestChange) -> str:
        said = ""
        if change.change is not Change.SAME:
            was = change.recorded.value if change.recorded is not None else NOT_RECORDED
            now = change.now.value if change.now is not None else "not reported"
            said = f"{was} → {now}"
        if self._flaky is not None and change.id in self._flaky.flaky:
            said = f"{said}  {self._flaky.words(change.id)}".strip()
        return said
