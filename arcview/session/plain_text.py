"""The run as plain text for `arcview show` and `arcview list`: aligned, clean, without colour.

Everything that comes from a run passes `arcview.text.clean`. Pure: takes views, gives lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from arcview.analysis.comparison import split_actual_expected
from arcview.analysis.gate_view import GateView
from arcview.analysis.overview import NEVER_RAN, GateCell, Overview, StageRow, Total
from arcview.analysis.verdicts import DEFAULT_POLICY, Policy, ok_count, only_skipped
from arcview.model.results import GateTest, GroupCounts, Outcome, Verdict
from arcview.model.run import Status
from arcview.session.change_summary import change_of
from arcview.session.evidence import Evidence, EvidenceFinder
from arcview.session.library import LibraryRow, signs_counted
from arcview.session.plain_text_parts import (
    Glyphs,
    aligned,
    clipped,
    cost,
    counted,
    duration,
    not_ok,
    one_line,
    ranges,
    shown,
)
from arcview.session.plain_text_trail import depth_lines, evidence_lines, trace_lines
from arcview.session.self_test_depth import self_test_depth
from arcview.session.stage_trace import stage_trace

if TYPE_CHECKING:
    from arcview.analysis.self_tests import SelfTest
    from arcview.session.change_summary import ChangeSummary
    from arcview.session.opened import OpenRun

_MESSAGE_LINES = 8


def show_lines(run: OpenRun, stage: int | None, glyphs: Glyphs) -> Iterator[str]:
    """A run as text: header, table of stages, then each stage's failures and self-tests.

    Reads every trajectory and ingests the states where that was not done before.

    Args:
        run: The open run.
        stage: Leaves the other stages out; all by default.
        glyphs: What may be written.
    """
    overview = run.complete_overview()
    rows = [row for row in overview.stages if stage is None or row.index == stage]
    changes = {row.index: change_of(run, row.index) for row in rows}
    writer = _Writer(glyphs, run.policy)
    yield from writer.header(overview)
    yield ""
    yield from writer.stage_table(rows, changes)
    if overview.chain_gate is not None:
        yield from writer.chain(overview.chain_gate)
    yield from writer.unknown_changes(rows, changes)
    yield from writer.unknown_self_tests(rows)
    evidence = EvidenceFinder(run)

    def gate(title: str, gate: str, state: str | None) -> Iterator[str]:
        return writer.gate(title, run.gate_view(gate, state), evidence.of_gate(gate, state))

    for row in rows:
        yield from gate(f"Stage {row.index}", str(row.index), None)
        for cell in row.between:
            title = f"{shown(cell.state or '')} (after stage {row.index})"
            yield from gate(title, cell.gate, cell.state)
        yield from writer.self_tests(row.index, run.self_tests(row.index))
        yield from depth_lines(self_test_depth(run, evidence, row.index), glyphs)
        yield from trace_lines(stage_trace(run, evidence, row.end))
    if overview.chain_gate is not None and stage is None:
        yield from gate("Chain gate", "chain", overview.chain_gate.state)
    for problem in run.all_problems():
        yield from ("", f"Problem: {one_line(problem.where)}: {one_line(problem.what)}")


def list_lines(rows: Iterable[LibraryRow], glyphs: Glyphs) -> Iterator[str]:
    """A table of runs; runs that cannot be read stand below it with what is wrong."""
    writer = _Writer(glyphs, DEFAULT_POLICY)
    table: list[tuple[str, ...]] = [
        ("run", "agent", "task", "stages", "bad", "chain", "cost", "time", "status")
    ]
    broken: list[str] = []
    for row in rows:
        if row.overview is None:
            broken.append(f"{one_line(row.name)}: {one_line(row.error or '')}")
        else:
            table.append(writer.library_row(row, row.overview))
    if len(table) > 1:
        yield from aligned(table, right=frozenset({4, 6, 7}))
    yield from broken


class _Writer:
    """Writes views in the given glyphs, under the given policy."""

    def __init__(self, glyphs: Glyphs, policy: Policy) -> None:
        self._glyphs = glyphs
        self._policy = policy

    def header(self, overview: Overview) -> Iterator[str]:
        dot = f" {self._glyphs.dot} "
        agent = " ".join(part for part in (overview.agent, overview.agent_version) if part)
        attempt = f"attempt {overview.attempt}" if overview.attempt else None
        names = (overview.task_id, agent, overview.model, attempt, overview.layout)
        yield dot.join(one_line(name) for name in names if name)
        status = overview.status.value
        if overview.status_detail:
            status += f": {one_line(overview.status_detail)}"
        yield f"status: {status}"
        if overview.first_bad_stage is not None:
            state = f" ({one_line(overview.first_bad_state)})" if overview.first_bad_state else ""
            gate = overview.first_failing_gate or "none"
            yield f"first bad stage: {overview.first_bad_stage}{state}{dot}failing gate: {gate}"
        totals = overview.totals
        spent = self._total(totals.cost_usd, cost)
        between = self._total(totals.between_cost_usd, cost)
        time = self._total(totals.duration_s, duration)
        parts = [f"cost {spent}", f"between stages {between}" if between else "", f"time {time}"]
        yield dot.join(part for part in parts if part)

    def _total(self, total: Total, write: Callable[[float | None], str]) -> str:
        if total.known is None and not total.unknown:
            return ""
        if total.known is None:
            return "unknown"
        unknown = ranges(total.unknown, self._glyphs)
        return (write(total.known) or "unknown") + (f" (unknown for {unknown})" if unknown else "")

    def stage_table(
        self, rows: Sequence[StageRow], changes: dict[int, ChangeSummary]
    ) -> Iterator[str]:
        head = ("", "stage", "F2P", "P2P", "tests", "broken before", "healed", "steps", "calls",
                "cost", "time", "change", "status")  # fmt: skip
        table: list[tuple[str, ...]] = [head]
        for row in rows:
            table.append(self._stage(row, changes[row.index]))
            table += [self._between(cell) for cell in row.between]
        # A group that no stage has is no column.
        empty = {column for column in (2, 3, 4) if all(line[column] == "" for line in table[1:])}
        kept = [tuple(c for i, c in enumerate(line) if i not in empty) for line in table]
        width = len(kept[0])
        return aligned(kept, right=frozenset(range(2, width - 2)))

    def unknown_changes(
        self, rows: Sequence[StageRow], changes: dict[int, ChangeSummary]
    ) -> Iterator[str]:
        """Why what a stage changed is not known, once for all stages with the same reason."""
        stages: dict[str, list[str]] = {}
        for row in rows:
            why = changes[row.index].missing
            if why is not None and row.status not in NEVER_RAN:
                stages.setdefault(why, []).append(str(row.index))
        for why, of in stages.items():
            yield f"change of stage {ranges(of, self._glyphs)} unknown: {one_line(why)}"

    def unknown_self_tests(self, rows: Sequence[StageRow]) -> Iterator[str]:
        """The stages of which nobody can tell what the agent tested itself."""
        of = [str(row.index) for row in rows if row.steps is None and row.status not in NEVER_RAN]
        if of:
            stages = ranges(of, self._glyphs)
            yield f"self-tests of stage {stages} unknown: no step is recorded"

    def _stage(self, row: StageRow, change: ChangeSummary) -> tuple[str, ...]:
        title = f" {one_line(row.title)}" if row.title else ""
        return (
            self._stage_verdict(row),
            f"{row.index}{title}",
            self._fraction(row.f2p),
            self._fraction(row.p2p),
            self._fraction(row.other),
            self._number(row.debt),
            self._number(row.gate.healed),
            self._number(row.steps),
            self._number(row.tool_calls),
            cost(row.cost_usd) or self._glyphs.nothing,
            duration(row.duration_s) or self._glyphs.nothing,
            self._change(change),
            self._status(row),
        )

    def _between(self, cell: GateCell) -> tuple[str, ...]:
        return (
            self._verdict(cell),
            f"{self._glyphs.between} {one_line(cell.state or '')}",
            self._fraction(cell.f2p),
            self._fraction(cell.p2p),
            self._fraction(cell.other),
            "",
            self._number(cell.healed),
            *("",) * 5,
            cell.judgement.reason or "" if cell.judgement.verdict is Verdict.UNMEASURED else "",
        )

    def _verdict(self, cell: GateCell) -> str:
        return self._glyphs.verdict(cell.judgement.verdict) + ("!" if cell.conflict else "")

    def _strip(self, stages: Iterable[StageRow]) -> Iterator[str]:
        """A sign a stage; many equal ones are counted."""
        for sign, count in signs_counted(map(self._stage_verdict, stages)):
            yield f"{sign}{self._glyphs.times}{count}" if count > 1 else sign

    def _stage_verdict(self, row: StageRow) -> str:
        never_ran = row.status in NEVER_RAN and row.judgement.verdict is Verdict.UNMEASURED
        return self._glyphs.nothing if never_ran else self._verdict(row.gate)

    def _status(self, row: StageRow) -> str:
        parts = [] if row.status is Status.COMPLETED else [row.status.value]
        if row.judgement.reason and row.status not in NEVER_RAN:
            parts.append(one_line(row.judgement.reason))
        groups = (counts for counts in (row.f2p, row.p2p, row.other) if counts is not None)
        skipped = only_skipped(groups, self._policy)
        if skipped and row.judgement.verdict is Verdict.FAILED:
            parts.append(f"{skipped} skipped: {'counts' if skipped == 1 else 'count'} as not ok")
        if row.judgement.conflict and row.judgement.recorded is not None:
            parts.append(f"recorded as {row.judgement.recorded.value}")
        return "; ".join(parts)

    def _fraction(self, counts: GroupCounts | None) -> str:
        return "" if counts is None else f"{ok_count(counts, self._policy)}/{counts.expected}"

    def _number(self, value: int | None) -> str:
        return self._glyphs.nothing if value is None else str(value)

    def _change(self, change: ChangeSummary) -> str:
        if change.unchanged:
            return "unchanged"
        if change.files is None:
            return self._glyphs.nothing
        files = f"{change.files} file{'' if change.files == 1 else 's'}"
        return f"{files} +{change.added} {self._glyphs.minus}{change.removed}"

    def chain(self, cell: GateCell) -> Iterator[str]:
        groups = (("F2P", cell.f2p), ("P2P", cell.p2p), ("tests", cell.other))
        counts = " ".join(f"{name} {self._fraction(c)}" for name, c in groups if c is not None)
        reason = f" ({one_line(cell.judgement.reason)})" if cell.judgement.reason else ""
        yield f"{self._verdict(cell)}  chain gate {counts}{reason}"

    def gate(self, title: str, view: GateView, found: Sequence[Evidence]) -> Iterator[str]:
        if not view.failing:
            return
        evidence = {id(f.test): e for f, e in zip(view.failing, found, strict=True)}
        yield ""
        yield f"{title}: {not_ok(view)}"
        for group in view.groups:
            yield f"  {len(group.tests)} {self._glyphs.dot} {one_line(group.title)}"
            for test in group.tests:
                yield from self._failing(test, view)
                yield from evidence_lines(evidence[id(test)], self._glyphs)

    def _failing(self, test: GateTest, view: GateView) -> Iterator[str]:
        history = view.history_of(test)
        word = history.value.replace("_", " ") if history is not None else ""
        skipped = test.outcome is Outcome.SKIPPED
        glyph = self._glyphs.nothing if skipped else self._glyphs.failed
        yield (
            f"    {glyph} {one_line(test.id)}  [{test.group.value}, {test.outcome.value}, {word}]"
        )
        comparison = split_actual_expected(test)
        if comparison is not None:
            yield f"        actual    {one_line(comparison.actual)}"
            yield f"        expected  {one_line(comparison.demand)}"
        yield from self._message(test.message or "")

    def _message(self, message: str) -> Iterator[str]:
        lines = shown(message).split("\n")
        while lines and not lines[-1].strip():
            lines.pop()
        for line in lines[:_MESSAGE_LINES]:
            yield f"        {clipped(line, self._glyphs)}".rstrip()
        hidden = len(lines) - _MESSAGE_LINES
        if hidden > 0:
            lines_ = "line" if hidden == 1 else "lines"
            yield f"        {self._glyphs.more} {hidden} more {lines_}; --json has all of it"

    def self_tests(self, stage: int, tests: Sequence[SelfTest]) -> Iterator[str]:
        if not tests:
            return
        yield ""
        probes = sum(not test.is_test for test in tests)
        yield (
            f"Self-tests of stage {stage}: {counted(len(tests) - probes, 'test')}, "
            f"{counted(probes, 'probe')} (which only print and count as no test)"
        )
        table = [
            (
                f"  #{test.step_number}" if test.step_number is not None else "  #",
                test.kind.value,
                shown(test.runner),
                self._outcome(test),
                clipped(one_line(test.command), self._glyphs, 100),
            )
            for test in tests
        ]
        yield from aligned(table, right=frozenset())

    def _outcome(self, test: SelfTest) -> str:
        counts = [
            f"{number} {glyph}"
            for number, glyph in (
                (test.passed, self._glyphs.passed),
                (test.failed, self._glyphs.failed),
            )
            if number is not None
        ]
        if not counts:
            counts = [test.outcome]
        if test.exit_code is not None:
            counts.append(f"exit {test.exit_code}")
        if test.masked:
            counts.append(f"masked: {one_line(test.masked)}")
        return ", ".join(counts)

    def library_row(self, row: LibraryRow, overview: Overview) -> tuple[str, ...]:
        chain = overview.chain_gate
        bad = overview.first_bad_stage
        return (
            one_line(row.name),
            one_line(overview.agent or self._glyphs.nothing),
            one_line(overview.task_id),
            self._glyphs.more if row.is_glanced else "".join(self._strip(overview.stages)),
            self._number(bad),
            self._verdict(chain) if chain is not None else self._glyphs.nothing,
            cost(overview.totals.cost_usd.known) or self._glyphs.nothing,
            duration(overview.totals.duration_s.known) or self._glyphs.nothing,
            overview.status.value,
        )
