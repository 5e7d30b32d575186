"""The statistics over many runs as rows: k/n, intervals and small charts. Pure.

Every share is k of n; under n = 10 there is neither a percentage nor a chart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from textual.content import Content

from arcview.analysis.lifetimes import HalfLife
from arcview.analysis.shared_failures import CAUTION
from arcview.analysis.statistics import (
    CRUDE_CAPTION,
    MATCHED_CAPTION,
    MIN_PERCENT_N,
    Figure,
    Group,
    Median,
    Spent,
    Statistics,
)
from arcview.analysis.statistics_executed import EXECUTED
from arcview.analysis.statistics_figures import FIGURES, LISTS, MEDIANS
from arcview.session.plain_text_parts import Glyphs, counted
from arcview.session.stats_text import (
    FEW_TASKS,
    LASTING,
    SECTIONS,
    SUGGESTED_FIGURES,
    excluded_lines,
    has_suggested,
    positions,
    shared_lines,
)
from arcview.session.stats_words import (
    NOT_EXECUTED,
    Words,
    half_life_words,
    policy_lines,
    quantity,
)
from arcview.ui import theme
from arcview.ui.rows.figures import fit
from arcview.ui.rows.lines import Cell, WrappedRows
from arcview.ui.rows.notes import wrap_words
from arcview.ui.safe import one_line, pieces, plain

_TITLES = {
    **{spec.name: (spec.title, spec.counts) for spec in FIGURES},
    **{spec.name: (spec.title, spec.counts) for spec in LISTS},
}
_MEDIANS = {spec.name: spec for spec in MEDIANS}
_TITLE, _SHARE, _PERCENT, _RANGE, _BY_TASK, _UNKNOWN = 54, 11, 9, 13, 26, 12
_EIGHTHS = " ▏▎▍▌▋▊▉"
_WORDS = Words(Glyphs())


@dataclass(frozen=True, slots=True)
class StatRow:
    """One row, not drawn yet."""

    title: str
    share: str = ""
    percent: float | None = None
    low: float | None = None
    high: float | None = None
    """Ends of the interval that is drawn, in percent."""
    wilson: str = ""
    by_task: str = ""
    n: str = ""
    """Of what is no share."""
    left_out: str = ""
    counts: str = ""
    """What k and n are, in words."""
    kind: str = "figure"
    """`section`, `figure`, `position`, `group`, `text`, `caption` or `warning`."""


class StatsRows(WrappedRows):
    """All figures of one reading, in sections."""

    def __init__(self, statistics: Statistics) -> None:
        super().__init__(100)
        self._statistics = statistics
        self._all = tuple(_rows(statistics))
        self._rows: tuple[StatRow, ...] = ()
        self._lay()

    def __len__(self) -> int:
        return len(self._rows)

    def at(self, index: int) -> StatRow:
        """What a row is."""
        return self._rows[index]

    def next_section(self, index: int, by: int) -> int | None:
        """The heading after or before a row."""
        found = [n for n, row in enumerate(self._rows) if row.kind == "section"]
        ahead = [n for n in found if n > index] if by > 0 else [n for n in found[::-1] if n < index]
        return next(iter(ahead), None)

    def row_of(self, title: str) -> int | None:
        """The heading that begins so."""
        return next(
            (n for n, r in enumerate(self._rows) if r.kind == "section" and r.title == title), None
        )

    def anchor(self, index: int) -> object:
        """Section and title: they stay when the policy changes."""
        section = next((r.title for r in self._rows[index::-1] if r.kind == "section"), "")
        return section, self._rows[index].title

    def locate(self, anchor: object) -> int:
        """That row now."""
        return next((n for n in range(len(self)) if self.anchor(n) == anchor), 0)

    def _lay(self) -> None:
        self._rows = tuple(row for one in self._all for row in self._wrapped(one))

    def _wrapped(self, row: StatRow) -> Iterator[StatRow]:
        if row.kind not in ("text", "caption", "warning"):
            yield row
            return
        indent = " " * (len(row.title) - len(row.title.lstrip()))
        for line in wrap_words(row.title.strip(), self._width - len(indent) - 1):
            yield StatRow(indent + line, kind=row.kind)

    def row(self, index: int) -> Content:
        """The row without its columns."""
        return Content("").join([cell.content for cell in self.cells(index, 160)])

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Title, k/n, percent, a chart, and the intervals as far as there is room."""
        row = self._rows[index]
        match row.kind:
            case "section":
                style = theme.HEADING_LINE
                return (Cell(plain(f" {row.title}", theme.HEADING), scrolls=True, style=style),)
            case "text":
                return (Cell(plain(row.title), scrolls=True),)
            case "caption":
                return (Cell(plain(row.title, theme.MUTED), scrolls=True),)
            case "warning":
                return (Cell(plain(row.title, theme.WARN), scrolls=True),)
        title = min(_TITLE, max(16, width - _SHARE - _PERCENT - 14))
        chart = min(30, max(0, width - title - _SHARE - _PERCENT - 2))
        room = width - title - _SHARE - _PERCENT - chart
        quiet = theme.MUTED if row.kind == "group" else ""
        percent = row.n if row.percent is None else f"{row.percent:.1f} %"
        named = (
            Cell(plain(fit(row.title, title - 1), quiet), title),
            Cell(plain(row.share.rjust(_SHARE - 1), quiet or "bold"), _SHARE),
        )
        if row.percent is None and room < _RANGE + _UNKNOWN:
            # What is not known comes first where there is no chart and little room.
            rest = " · ".join(part for part in (row.n, row.left_out, row.by_task) if part)
            return (*named, Cell(plain(f"  {rest}", theme.FAINT), scrolls=True))
        return (
            *named,
            Cell(plain(percent.rjust(_PERCENT - 1), quiet), _PERCENT),
            Cell(_chart(row, chart - 2), chart),
            *_intervals(row, room),
        )


def _intervals(row: StatRow, room: int) -> Iterator[Cell]:
    if room >= _RANGE:
        yield Cell(plain(row.wilson, theme.MUTED), _RANGE)
    if room >= _RANGE + _BY_TASK:
        task = f"by task {row.by_task}" if row.by_task else ""
        yield Cell(plain(task, theme.MUTED), _BY_TASK)
    yield Cell(plain(row.left_out, theme.FAINT), scrolls=True)


def _chart(row: StatRow, width: int) -> Content:
    """A bar for a position of the chain; else the interval as a line with the share on it."""
    if row.percent is None or width < 4:
        return Content("")
    if row.kind == "position":
        eighths = round(row.percent / 100 * width * 8)
        bar = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
        return pieces((bar.strip(), theme.INFO), ("·" * (width - len(bar)), theme.FAINT))
    if row.low is None or row.high is None:
        return Content("")
    places = [
        min(width - 1, int(max(0.0, min(100.0, value)) / 100 * width))
        for value in (row.low, row.percent, row.high)
    ]
    low, at, high = places
    return pieces(
        ("·" * low, theme.FAINT),
        ("─" * (at - low), theme.INFO),
        ("●", f"bold {theme.INFO}"),
        ("─" * (high - at), theme.INFO),
        ("·" * (width - 1 - high), theme.FAINT),
    )


def _rows(found: Statistics) -> Iterator[StatRow]:
    yield from _head(found)
    groups = {one_line(name): group for name, group in (found.groups or {}).items()}
    for section, names in SECTIONS:
        yield StatRow(section, kind="section")
        for name in names:
            yield from _figures(name, found.all, groups)
        if section == LASTING:
            yield from _half_lives(found.all, groups)
        yield from _notes(section, found.all)
        if section == "Propagation, crude":
            yield from _layers(found.all, groups)
    yield StatRow("Medians", kind="section")
    for name, median in found.all.medians.items():
        yield _median(name, median)
    yield StatRow("All that was spent, for each passed stage", kind="section")
    yield _spent("cost", "usd", found.all.cost_spent_usd)
    yield _spent("time", "s", found.all.time_spent_s)
    for lines in (shared_lines(found.shared), excluded_lines(found.excluded, Glyphs())):
        yield StatRow(next(lines), kind="section")
        for line in lines:
            kind = "warning" if line.strip() == CAUTION else "text"
            yield StatRow(line, kind=kind)


def _head(found: Statistics) -> Iterator[StatRow]:
    for line in policy_lines(found.policy):
        yield StatRow(line, kind="text")
    yield StatRow(
        "Intervals are 95 %: the first (Wilson) takes the units as independent; the one by task, "
        f"which the chart shows where there is one, draws whole tasks "
        f"({found.policy.resamples:,} times, seed {found.policy.seed}). "
        f"There is no percentage under n = {MIN_PERCENT_N}.",
        kind="caption",
    )
    if 1 < found.all.tasks < FEW_TASKS:
        yield StatRow(
            f"{found.all.tasks} tasks are few: intervals by task are rough.", kind="warning"
        )
    for names in found.same_id:
        said = f"Runs with one id, each counted: {', '.join(map(one_line, names[:4]))}"
        yield StatRow(said, kind="warning")


def _figures(name: str, group: Group, groups: Mapping[str, Group]) -> Iterator[StatRow]:
    title, counts = _TITLES[name]
    if name in group.lists:
        for words, figure in positions(name, group.lists[name]):
            yield _figure(words, figure, counts, "position")
        return
    mark = " *" if name in SUGGESTED_FIGURES and has_suggested(group) else ""
    yield _figure(title + mark, group.figures[name], counts, "figure")
    for label, one in groups.items():
        yield _figure(f"    {label}", one.figures[name], counts, "group")


def _figure(title: str, figure: Figure, counts: str, kind: str) -> StatRow:
    interval = figure.clustered or figure.wilson
    return StatRow(
        f"  {title}",
        f"{figure.k}/{figure.n}",
        figure.percent,
        100 * interval.low if interval is not None else None,
        100 * interval.high if interval is not None else None,
        _WORDS.percents(figure.wilson) if figure.percent is not None else "",
        _WORDS.percents(figure.clustered) if figure.percent is not None else "",
        left_out=f"{figure.left_out} unknown" if figure.left_out else "",
        counts=counts,
        kind=kind,
    )


_HALF_LIFE = (
    "stages after which half of the failures are healed (Kaplan and Meier); all that begins to "
    "fail at one gate is one failure"
)


def _half_lives(group: Group, groups: Mapping[str, Group]) -> Iterator[StatRow]:
    yield _half_life("  half-life of failures, in stages", group.half_life, "figure")
    for label, one in groups.items():
        yield _half_life(f"      {label}", one.half_life, "group")


def _half_life(title: str, life: HalfLife, kind: str) -> StatRow:
    unknown = f"{life.left_out} unknown" if life.left_out else ""
    return StatRow(
        title,
        half_life_words(life) or "–",
        by_task=_WORDS.range("stages", life.interval),
        n=f"n = {life.n}",
        left_out=unknown,
        counts=_HALF_LIFE,
        kind=kind,
    )


def _notes(section: str, group: Group) -> Iterator[StatRow]:
    if section == "Stages and chains" and group.completion_difference:
        names = ", ".join(map(one_line, group.completion_difference))
        said = f"  passed the chain gate after a failed stage: {names}"
        yield StatRow(said, kind="caption")
    if section == "Awareness" and has_suggested(group):
        said = "  * with levels that rules suggested and no person labelled"
        yield StatRow(said, kind="warning")


def _layers(group: Group, groups: Mapping[str, Group]) -> Iterator[StatRow]:
    """The rest of the crude layer, and the other two."""
    yield from _named("difference", _WORDS.crude(group), groups, _WORDS.crude)
    yield StatRow(f"  {CRUDE_CAPTION}", kind="warning")
    yield StatRow("Propagation, matched", kind="section")
    yield from _named("difference", _WORDS.matched(group), groups, _WORDS.matched)
    if group.matched.transitions >= MIN_PERCENT_N:
        yield StatRow(f"  odds ratio {_WORDS.estimate(group.matched.odds_ratio)}", kind="text")
    yield StatRow(
        f"  informative strata (task and stage) {group.matched.informative}/"
        f"{group.matched.strata}, with {counted(group.matched.transitions, 'transition')}",
        kind="text",
    )
    yield StatRow(f"  {MATCHED_CAPTION}", kind="warning")
    yield StatRow("Propagation, executed", kind="section")
    if group.executed is None:
        yield StatRow(f"  {NOT_EXECUTED}", kind="caption")
        return
    for spec in EXECUTED:
        yield _figure(spec.title, group.executed[spec.name], spec.counts, "figure")
        for label, one in groups.items():
            if one.executed is not None:
                yield _figure(f"    {label}", one.executed[spec.name], spec.counts, "group")


def _named(
    name: str, text: str, groups: Mapping[str, Group], of: Callable[[Group], str]
) -> Iterator[StatRow]:
    yield StatRow(f"  {name} {text}", kind="text")
    for label, group in groups.items():
        yield StatRow(f"    {label}: {of(group)}", kind="caption")


def _median(name: str, median: Median) -> StatRow:
    spec = _MEDIANS[name]
    left_out = f"{median.left_out} unknown" if median.left_out else ""
    if median.median is None:
        return StatRow(f"  {spec.title}", "–", left_out=left_out, counts=spec.counts)
    return StatRow(
        f"  {spec.title}",
        quantity(spec.unit, median.median),
        wilson="",
        by_task=_WORDS.range(spec.unit, median.interval),
        n=f"n = {median.n}",
        left_out=left_out,
        counts=spec.counts,
    )


def _spent(title: str, unit: str, spent: Spent) -> StatRow:
    value = spent.per_passed.value
    unknown = f"{counted(spent.left_out, 'run')} unknown" if spent.left_out else ""
    return StatRow(
        f"  {title}",
        "–" if value is None else quantity(unit, value),
        by_task=_WORDS.range(unit, spent.per_passed.interval),
        n=f"n = {spent.passed}",
        left_out=unknown,
        counts="what all runs spent, for each stage that passed",
    )
