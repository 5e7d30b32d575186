"""A report of one run that stands alone: stages, failures by cause with what they lead to, tests.

Every text is masked and cleaned here; the formats only escape. Knows no screen and writes no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from arcview import __version__
from arcview.analysis.comparison import split_actual_expected
from arcview.analysis.gate_view import GateView, SignatureGroup
from arcview.analysis.history import History
from arcview.analysis.overview import GateCell, Overview, StageRow
from arcview.analysis.verdicts import ok_count
from arcview.model.results import GateTest, GroupCounts, Verdict
from arcview.secrets import mask_secrets
from arcview.session.change_summary import change_of
from arcview.session.evidence import Evidence, EvidenceFinder
from arcview.session.export_blocks import (
    Block,
    Bullets,
    Cell,
    Code,
    Fold,
    Heading,
    Paragraph,
    Table,
    Tone,
)
from arcview.session.plain_text_parts import Glyphs, cost, counted, duration, not_ok, ranges
from arcview.session.plain_text_trail import depth_lines, evidence_lines
from arcview.session.self_test_depth import self_test_depth
from arcview.text import clean, clip

if TYPE_CHECKING:
    from arcview.analysis.self_tests import SelfTest
    from arcview.model.patch import FileChange
    from arcview.session.opened import OpenRun

Format = Literal["md", "html"]

_TEXT_LIMIT = 20_000
"""Characters of one message or traceback; what is left out is said."""
_GLYPHS = Glyphs()
_GROUPS = (2, 3, 4)
"""The columns of F2P, P2P and tests without such a split."""
_TONES: dict[Verdict, Tone] = {
    Verdict.PASSED: "good",
    Verdict.FAILED: "bad",
    Verdict.UNMEASURED: "unknown",
}


def export(opened: OpenRun, format_: Format, stage: int | None = None) -> str:
    """Writes the report.

    Reads every trajectory and ingests the states where that was not done before.

    Args:
        opened: The run.
        format_: `md` or `html`.
        stage: Leaves the other stages out; all by default.
    """
    blocks = tuple(_Report(opened).blocks(stage))
    if format_ == "md":
        from arcview.session.export_markdown import markdown

        return markdown(blocks)
    from arcview.session.export_html import html

    return html(f"{_safe(opened.run.chain.task_id)} · arcview", blocks)


def _safe(text: str) -> str:
    return clean(mask_secrets(text))


class _Report:
    """The blocks of one run's report."""

    def __init__(self, opened: OpenRun) -> None:
        self._opened = opened
        self._evidence = EvidenceFinder(opened)

    def blocks(self, stage: int | None) -> Iterator[Block]:
        overview = self._opened.complete_overview()
        rows = [row for row in overview.stages if stage in (None, row.index)]
        yield from self._header(overview)
        yield self._stages(rows, overview.chain_gate)
        for row in rows:
            yield from self._stage(row)
        if overview.chain_gate is not None and stage is None:
            yield Heading(2, "Chain gate", "chain")
            yield from self._gate("chain", overview.chain_gate.state)
        problems = self._opened.all_problems()
        if problems:
            yield Heading(2, "What is wrong or missing in the run's files", "problems")
            yield Bullets(tuple(Cell(_safe(f"{p.where}: {p.what}")) for p in problems))
        yield Paragraph(
            f"Written by arcview {__version__}. Verdicts are computed from single tests; "
            "unmeasured is not failed. Candidates and guesses are marked as such. Values that "
            "look like secrets are masked."
        )

    def _header(self, overview: Overview) -> Iterator[Block]:
        agent = " ".join(filter(None, (overview.agent, overview.agent_version)))
        yield Heading(1, _safe(f"{overview.task_id} · {agent or 'unknown agent'}"))
        bad = overview.first_bad_stage
        facts = (
            ("title", overview.title),
            ("model", overview.model),
            ("attempt", overview.attempt),
            ("run", overview.run_id),
            ("layout", overview.layout),
            ("status", " ".join(filter(None, (overview.status.value, overview.status_detail)))),
            ("started", overview.started),
            ("first bad stage", f"{bad} ({overview.first_bad_state})" if bad is not None else None),
            ("first failing gate", overview.first_failing_gate),
            ("cost", _total(overview.totals.cost_usd.known, overview.totals.cost_usd.unknown)),
        )
        rows = tuple((Cell(name), Cell(_safe(value))) for name, value in facts if value)
        yield Table(("fact", "value"), rows)

    def _stages(self, rows: Sequence[StageRow], chain: GateCell | None) -> Table:
        head = ("stage", "verdict", "F2P", "P2P", "tests", "broken before", "healed", "steps",
                "cost", "time", "change", "status")  # fmt: skip
        lines: list[tuple[Cell, ...]] = []
        for row in rows:
            lines.append(self._stage_line(row))
            lines += [_between_line(cell) for cell in row.between]
        if chain is not None:
            lines.append((Cell("chain gate"), *_result(chain), *_blanks(7)))
        # A group of tests that no stage has is no column.
        kept = [n for n in range(len(head)) if n not in _GROUPS or any(x[n].text for x in lines)]
        return Table(
            tuple(head[n] for n in kept),
            tuple(tuple(line[n] for n in kept) for line in lines),
            frozenset(new for new, old in enumerate(kept) if 2 <= old <= 9),
        )

    def _stage_line(self, row: StageRow) -> tuple[Cell, ...]:
        change = change_of(self._opened, row.index)
        if change.unchanged:
            changed = "unchanged"
        elif change.files is None:
            changed = f"unknown: {change.missing}"
        else:
            changed = f"{counted(change.files, 'file')}, +{change.added} −{change.removed}"
        status = [row.status.value, row.status_detail, row.judgement.reason]
        return (
            Cell(_safe(f"{row.index} {row.title or ''}".strip())),
            *_result(row.gate),
            Cell(_number(row.debt)),
            Cell(_number(row.gate.healed)),
            Cell(_number(row.steps)),
            Cell(cost(row.cost_usd) or "–"),
            Cell(duration(row.duration_s) or "–"),
            Cell(_safe(changed)),
            Cell(_safe("; ".join(filter(None, status)))),
        )

    def _stage(self, row: StageRow) -> Iterator[Block]:
        title = f": {row.title}" if row.title else ""
        yield Heading(2, _safe(f"Stage {row.index}{title}"), f"stage-{row.index}")
        yield from self._diffstat(row)
        yield from self._gate(str(row.index), None)
        for number, cell in enumerate(row.between, 1):
            heading = _safe(f"{cell.state or 'a pass'}, after stage {row.index}")
            yield Heading(3, heading, f"stage-{row.index}-pass-{number}")
            yield from self._gate(cell.gate, cell.state)
        yield from self._self_tests(row.index)

    def _diffstat(self, row: StageRow) -> Iterator[Block]:
        if row.base is None or row.end is None:
            return
        changes = self._evidence.trails.workspace.changes(row.base, row.end)
        if changes:
            lines = tuple(_file(change) for change in changes)
            table = Table(("file", "change", "kind", "added", "removed"), lines, frozenset({3, 4}))
            count = counted(len(changes), "file")
            yield Fold(_safe(f"{count} changed, {row.base} → {row.end}"), (table,))

    def _gate(self, gate: str, state: str | None) -> Iterator[Block]:
        view = self._opened.gate_view(gate, state)
        verdict = view.cell.judgement
        if verdict.verdict is Verdict.UNMEASURED:
            yield Paragraph(_safe(f"not measured: {verdict.reason or 'unknown'}"), "unknown")
        if not view.failing:
            return
        evidence = self._evidence.of_gate(gate, state)
        found = {id(f.test): e for f, e in zip(view.failing, evidence, strict=True)}
        yield Paragraph(not_ok(view), "bad")
        for group in view.groups:
            yield self._cause(group, view, found)

    def _cause(self, group: SignatureGroup, view: GateView, found: dict[int, Evidence]) -> Fold:
        tests = tuple(self._test(test, view, found[id(test)]) for test in group.tests)
        title = _safe(" ".join(group.title.split()))
        return Fold(f"{len(tests)} · {title}", tests, "bad", open=len(view.groups) <= 3)

    def _test(self, test: GateTest, view: GateView, evidence: Evidence) -> Fold:
        history = view.history_of(test)
        words = [test.group.value.upper(), test.outcome.value]
        words += [_HISTORIES[history]] if history is not None else []
        lines = [line.strip() for line in evidence_lines(evidence, _GLYPHS)]
        inner: list[Block] = []
        comparison = split_actual_expected(test)
        if comparison is not None:
            inner.append(_code(comparison.actual, "actual"))
            inner.append(_code(comparison.demand, "expected"))
        if lines:
            inner.append(Bullets(tuple(Cell(_safe(line)) for line in lines)))
        for name, text in (
            ("message", test.message),
            ("traceback", test.traceback),
            ("stdout", test.stdout),
            ("stderr", test.stderr),
        ):
            if text:
                inner.append(Fold(name, (_code(text),), open=name == "message"))
        return Fold(_safe(f"{' '.join(test.id.split())} ({', '.join(words)})"), tuple(inner))

    def _self_tests(self, stage: int) -> Iterator[Block]:
        tests = self._opened.self_tests(stage)
        depth = self_test_depth(self._opened, self._evidence, stage)
        lines = [line.strip() for line in depth_lines(depth, _GLYPHS)]
        if lines:
            yield Bullets(tuple(Cell(_safe(line)) for line in lines))
        if tests:
            probes = sum(not test.is_test for test in tests)
            table = Table(
                ("step", "kind", "runner", "result", "command"),
                tuple(_self_test(test) for test in tests),
            )
            yield Fold(
                f"{counted(len(tests) - probes, 'self-test')}, {counted(probes, 'probe')} "
                "(which count as no test)",
                (table,),
            )


_HISTORIES = {
    History.FIRST: "in no gate before",
    History.NEW: "new here",
    History.BROKEN_AGAIN: "broken again here",
    History.INHERITED: "inherited",
    History.UNKNOWN: "earlier result unknown",
}


def _code(text: str, caption: str = "") -> Code:
    return Code(clip(_safe(text), _TEXT_LIMIT), caption)


def _result(cell: GateCell) -> tuple[Cell, ...]:
    verdict = cell.judgement.verdict
    note = " (recorded otherwise)" if cell.conflict else ""
    return (
        Cell(f"{_GLYPHS.verdict(verdict)} {verdict.value}{note}", _TONES[verdict]),
        *(Cell(_fraction(counts)) for counts in (cell.f2p, cell.p2p, cell.other)),
    )


def _between_line(cell: GateCell) -> tuple[Cell, ...]:
    healed = Cell(_number(cell.healed))
    name = Cell(_safe(f"◇ {cell.state or ''}"))
    return (name, *_result(cell), Cell(""), healed, *_blanks(5))


def _blanks(count: int) -> Iterable[Cell]:
    return (Cell("") for _ in range(count))


def _fraction(counts: GroupCounts | None) -> str:
    return "" if counts is None else f"{ok_count(counts)}/{counts.expected}"


def _number(value: int | None) -> str:
    return "–" if value is None else str(value)


def _total(known: float | None, unknown: Sequence[str]) -> str:
    rest = f" (unknown for {ranges(unknown, _GLYPHS)})" if unknown else ""
    return (cost(known) + rest) if known is not None else ""


def _file(change: FileChange) -> tuple[Cell, ...]:
    name = change.path if change.old_path is None else f"{change.old_path} → {change.path}"
    return (
        Cell(_safe(name), code=True),
        Cell(change.kind.value.replace("_", " ")),
        Cell(change.path_class.value),
        Cell("binary" if change.binary else _number(change.added)),
        Cell("" if change.binary else _number(change.removed)),
    )


def _self_test(test: SelfTest) -> tuple[Cell, ...]:
    counts = [f"{test.passed} passed"] if test.passed is not None else []
    counts += [f"{test.failed} failed"] if test.failed is not None else []
    result = ", ".join(counts) or test.outcome
    if test.exit_code is not None:
        result += f", exit {test.exit_code}"
    if test.masked:
        result += f", result masked: {test.masked}"
    step = f"#{test.step_number}" if test.step_number is not None else ""
    command = clip(" ".join(test.command.split()), 300)
    return (
        Cell(step),
        Cell(test.kind.value),
        Cell(_safe(test.runner)),
        Cell(_safe(result)),
        Cell(_safe(command), code=True),
    )
