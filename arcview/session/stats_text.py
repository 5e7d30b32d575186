"""Statistics as plain text for `arcview stats`: every figure k/n, its intervals, the policy.

What comes from a run passes `arcview.text.clean`. Pure: takes figures, gives lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from arcview.analysis.lifetimes import HalfLife
from arcview.analysis.shared_failures import CAUTION, SharedSignature
from arcview.analysis.statistics import (
    CRUDE_CAPTION,
    MATCHED_CAPTION,
    MIN_PERCENT_N,
    Excluded,
    Figure,
    Group,
    Median,
    Spent,
    Statistics,
)
from arcview.analysis.statistics_executed import EXECUTED
from arcview.analysis.statistics_figures import FIGURES, LISTS, MEDIANS
from arcview.session.plain_text_parts import Glyphs, aligned, counted, one_line, ranges
from arcview.session.stats_words import (
    NOT_EXECUTED,
    Words,
    half_life_words,
    policy_lines,
    quantity,
)

_SHOWN = 3
"""Runs that are named of many."""
_CAUSES = 20
"""Shared causes that are shown."""

FEW_TASKS = 20
"""Fewer clusters make a bootstrap of clusters rough."""

SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Stages and chains", ("first_stage_pass", "stage_pass", "survival", "completion_chain",
                           "completion_strict")),
    ("Propagation, crude", ("f2p_after_fail", "f2p_after_pass", "f2p_after_f2p_fail",
                            "f2p_after_f2p_pass", "f2p_after_any_fail", "f2p_after_no_fail")),
    ("Regressions", ("regression", "regression_true", "regression_inherited",
                     "regression_unclear", "regression_tests", "regression_chain")),
    ("How failures begin and last", ("hazard", "debt", "healed_at_age", "healed",
                                     "broken_again")),
    ("Awareness", ("unnoticed_n2", "unnoticed_n3", "unnoticed_n5", "awareness_labelled")),
    ("Own tests and changes", ("self_tests_revisit", "self_tests_revisit_events",
                               "self_tests_revisit_files", "shared_files")),
)  # fmt: skip
"""Which shares stand together, by name."""

LASTING = "How failures begin and last"
"""The section that the half-life stands in."""

_POSITIONS = {
    # Both begin with the share of runs whose first stage passes, which stands before them.
    "stage_pass": ("stage {} passes", 2),
    "survival": ("no failure up to stage {}", 2),
    "hazard": ("first failure at stage {}", 1),
    "debt": ("earlier tests broken before stage {}", 2),
    "healed_at_age": ("failure healed, {} later", 1),
}
"""Words for a position of each list, and the first position that is shown."""


def positions(name: str, figures: Iterable[Figure]) -> Iterator[tuple[str, Figure]]:
    """The figures of a list that say something, each with its title."""
    words, first = _POSITIONS[name]
    for position, figure in enumerate(figures, 1):
        if position >= first and (figure.n or figure.left_out):
            at = counted(position, "stage") if name == "healed_at_age" else str(position)
            yield words.format(at), figure


def shared_lines(shared: Sequence[SharedSignature]) -> Iterator[str]:
    """Causes that many runs share, as lines; the first says what they are."""
    yield "Causes that many runs share" if shared else "No cause is shared by many runs"
    if shared:
        yield f"  {CAUTION}"
    for one in shared[:_CAUSES]:
        where = f"{counted(one.failures, 'failure')} in {counted(one.gates, 'gate')}"
        known = f" ({one.condition})" if one.condition is not None else ""
        yield f"  {where}{known}: {one_line(one.signature)}"
        runs = ", ".join(map(one_line, one.runs[:_SHOWN]))
        more = f" and {len(one.runs) - _SHOWN} more" if len(one.runs) > _SHOWN else ""
        yield f"    {one_line(one.reason)}: {runs}{more}"
    if len(shared) > _CAUSES:
        yield f"  {len(shared) - _CAUSES} more; all of them with --json"


Row = tuple[str, ...]


def stats_lines(statistics: Statistics, root: str, glyphs: Glyphs) -> Iterator[str]:
    """The statistics as text: policy, all figures, the groups, and what is left out.

    Args:
        statistics: The figures.
        root: The folder of the runs, as the user gave it.
        glyphs: What may be written.
    """
    writer = _Writer(glyphs)
    yield from writer.header(statistics, root)
    yield from writer.group(statistics.all)
    if statistics.groups:
        yield ""
        yield f"By {statistics.by} (intervals by task where one has several units, else Wilson)"
        yield from writer.groups(statistics.groups)
    yield ""
    yield from shared_lines(statistics.shared)
    yield ""
    yield from excluded_lines(statistics.excluded, glyphs)


def figure_definitions() -> Iterator[str]:
    """What each figure counts, one line each, under the names of the JSON."""
    rows = [
        *((spec.name, spec.counts) for spec in FIGURES),
        *((spec.name, spec.counts) for spec in LISTS),
        *((spec.name, spec.counts) for spec in MEDIANS),
        *((f"executed.{spec.name}", spec.counts) for spec in EXECUTED),
    ]
    return aligned(rows, right=frozenset())


SUGGESTED_FIGURES = ("unnoticed_n2", "unnoticed_n3", "unnoticed_n5")


def has_suggested(group: Group) -> bool:
    """Whether awareness counts levels that rules suggested and no person labelled."""
    labelled = group.figures["awareness_labelled"]
    return labelled.k < labelled.n


class _Writer:
    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self._words = Words(glyphs)

    def header(self, statistics: Statistics, root: str) -> Iterator[str]:
        found, policy = statistics.all, statistics.policy
        yield (
            f"{one_line(root)}: {counted(found.runs, 'run')} of {counted(found.tasks, 'task')}, "
            f"{counted(found.stages, 'stage')} with a verdict"
        )
        yield from policy_lines(policy)
        yield (
            "Intervals are 95 %: the first (Wilson) takes the units as independent, the one by "
            f"task draws whole tasks ({policy.resamples:,} times, seed {policy.seed})."
        )
        yield f"There is no percentage under n = {MIN_PERCENT_N}."
        if 1 < found.tasks < FEW_TASKS:
            yield f"{found.tasks} tasks are few: intervals by task are rough."
        for names in statistics.same_id:
            shown = ", ".join(map(one_line, names[:_SHOWN]))
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            yield f"Runs with one id, each counted: {shown}{more}."

    def group(self, group: Group) -> Iterator[str]:
        more = self._glyphs.more
        titles = {spec.name: spec.title.replace("…", more) for spec in FIGURES}
        table: list[Row] = []
        for section, names in SECTIONS:
            table += [("",), (section,)]
            for name in names:
                if name in group.lists:
                    table += self._positions(name, group.lists[name])
                else:
                    mark = " *" if name in SUGGESTED_FIGURES and has_suggested(group) else ""
                    table.append(self._figure(titles[name] + mark, group.figures[name]))
            if section == LASTING:
                table.append(self._half_life(group.half_life))
            table += [(line,) for line in self._notes(section, group)]
            if section == "Propagation, crude":
                table += self._executed(group)
        table += [("",), ("Medians",), *self._medians(group)]
        table += [("",), ("All that was spent, for each passed stage",), *self._spent(group)]
        yield from _table(table)

    def _positions(self, name: str, figures: Iterable[Figure]) -> Iterator[Row]:
        for title, figure in positions(name, figures):
            yield self._figure(title, figure)

    def _figure(self, title: str, figure: Figure) -> Row:
        share = f"{figure.k}/{figure.n}"
        percent = figure.percent
        if percent is None:
            return (f"  {title}", share, "", "", "", _left_out(figure.left_out))
        by_task = self._words.percents(figure.clustered)
        return (
            f"  {title}",
            share,
            f"{percent:.1f} %",
            self._words.percents(figure.wilson),
            f"by task {by_task}" if by_task else "",
            _left_out(figure.left_out),
        )

    def _notes(self, section: str, group: Group) -> Iterator[str]:
        if section == "Stages and chains" and group.completion_difference:
            names = ", ".join(map(one_line, group.completion_difference))
            yield f"  passed the chain gate after a failed stage: {names}"
        if section == "Awareness" and has_suggested(group):
            yield "  * with levels that rules suggested and no person labelled"
        if section == "Propagation, crude":
            yield f"  difference {self._words.crude(group)}: {CRUDE_CAPTION}"
            yield ""
            yield "Propagation, matched"
            matched = group.matched
            yield f"  difference {self._words.matched(group)}: {MATCHED_CAPTION}"
            if matched.transitions >= MIN_PERCENT_N:
                yield f"  odds ratio {self._words.estimate(matched.odds_ratio)}"
            yield (
                f"  informative strata (task and stage) {matched.informative}/{matched.strata}, "
                f"with {counted(matched.transitions, 'transition')}"
            )

    def _executed(self, group: Group) -> Iterator[Row]:
        yield ("",)
        yield ("Propagation, executed",)
        if group.executed is None:
            yield (f"  {NOT_EXECUTED}",)
            return
        for spec in EXECUTED:
            yield self._figure(spec.title, group.executed[spec.name])

    def _half_life(self, life: HalfLife) -> Row:
        ends = self._words.range("stages", life.interval)
        n = f"n = {life.n}"
        value = half_life_words(life) or self._glyphs.nothing
        return ("  half-life of failures, in stages", value, "", ends, n, _left_out(life.left_out))

    def _medians(self, group: Group) -> Iterator[Row]:
        for spec in MEDIANS:
            title = spec.title.replace("…", self._glyphs.more)
            yield self._median(title, spec.unit, group.medians[spec.name])

    def _median(self, title: str, unit: str, median: Median) -> Row:
        left_out = _left_out(median.left_out)
        if median.median is None:
            return (f"  {title}", self._glyphs.nothing, "", "", "n = 0", left_out)
        ends = self._words.range(unit, median.interval)
        value = quantity(unit, median.median)
        return (f"  {title}", value, "", ends, f"n = {median.n}", left_out)

    def _spent(self, group: Group) -> Iterator[Row]:
        for title, unit, spent in (
            ("cost", "usd", group.cost_spent_usd),
            ("time", "s", group.time_spent_s),
        ):
            yield self._one_spent(title, unit, spent)

    def _one_spent(self, title: str, unit: str, spent: Spent) -> Row:
        value = spent.per_passed.value
        shown = self._glyphs.nothing if value is None else quantity(unit, value)
        ends = self._words.range(unit, spent.per_passed.interval)
        left_out = f"{counted(spent.left_out, 'run')} unknown" if spent.left_out else ""
        return (f"  {title}", shown, "", ends, f"n = {spent.passed}", left_out)

    def groups(self, groups: Mapping[str, Group]) -> Iterator[str]:
        columns = {
            "first stage": "first_stage_pass",
            "chain gate": "completion_chain",
            "after failed": "f2p_after_fail",
            "after passed": "f2p_after_pass",
            "true regression": "regression_true",
            "below N3": "unnoticed_n3",
        }
        table: list[Row] = [("", "runs", *columns, "matched difference")]
        for name, group in groups.items():
            cells = [
                self._cell(group.figures[column])
                + (" *" if column in SUGGESTED_FIGURES and has_suggested(group) else "")
                for column in columns.values()
            ]
            matched = self._words.matched(group)
            table.append((one_line(name), str(group.runs), *cells, matched))
        return aligned(table, right=frozenset({1}))

    def _cell(self, figure: Figure) -> str:
        percent = figure.percent
        share = f"{figure.k}/{figure.n}"
        if percent is None:
            return share
        return (
            f"{share} {percent:.0f} % ({self._words.percents(figure.clustered or figure.wilson)})"
        )


def excluded_lines(excluded: Iterable[Excluded], glyphs: Glyphs) -> Iterator[str]:
    """What does not count, with reasons; stages of one run with one reason together."""
    by_reason: dict[tuple[str, str], list[int]] = {}
    for one in excluded:
        stages = by_reason.setdefault((one.run, one.reason), [])
        if one.stage is not None:
            stages.append(one.stage)
    yield "Left out" if by_reason else "Nothing is left out"
    for (run, reason), stages in by_reason.items():
        where = ""
        if stages:
            where = f", stage{'s' if len(stages) > 1 else ''} {ranges([*map(str, stages)], glyphs)}"
        yield f"  {one_line(run)}{where}: {one_line(reason)}"


def _table(rows: Iterable[Row]) -> Iterator[str]:
    """Rows of one cell are lines of their own; the others are aligned over the whole text."""
    rows = list(rows)
    wide = [row for row in rows if len(row) > 1]
    lines = iter(list(aligned(wide, right=frozenset({1, 2}))) if wide else [])
    for row in rows:
        yield row[0] if len(row) == 1 else next(lines)


def _left_out(count: int) -> str:
    return f"{count} unknown" if count else ""
