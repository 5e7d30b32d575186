"""Figures over many runs: each k of n with its interval, under a named policy, groups apart.

Pure: the facts of the runs are handed in. No figure is an effect: what difficulty alone can produce
is said where it stands, and the matched figures stand beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from arcview.analysis.infrastructure import CONDITIONS, Condition
from arcview.analysis.intervals import (
    RESAMPLES,
    SEED,
    Interval,
    median_interval,
    quantile,
    ratio_interval,
    resample_sums,
    wilson,
)
from arcview.analysis.lifetimes import HalfLife, half_life
from arcview.analysis.matched import Estimate, Matched, crude_difference, matched
from arcview.analysis.shared_failures import (
    GateSignatures,
    SharedSignature,
    shared_signatures,
)
from arcview.analysis.statistics_counts import CountedRun, Tally, failure_spans, spent
from arcview.analysis.statistics_executed import EXECUTED
from arcview.analysis.statistics_facts import RunFacts, StageFacts
from arcview.analysis.statistics_figures import FIGURES, LISTS, MEDIANS
from arcview.analysis.verdicts import DEFAULT_POLICY, Policy
from arcview.model.results import Verdict
from arcview.model.run import Status

By = Literal["agent", "model", "task", "language"]
PolicyName = Literal["clean", "as-recorded"]

NOT_THE_AGENT = (
    Status.AGENT_ERROR,
    Status.INFRASTRUCTURE_ERROR,
    Status.SKIPPED,
    Status.NOT_STARTED,
)
"""Statuses of stages that the clean policy leaves out."""

UNKNOWN_GROUP = "(unknown)"

MIN_PERCENT_N = 10
"""Below it a share is a fraction and no percentage."""

CRUDE_CAPTION = "task difficulty alone can produce this gap: hard tasks fail both stages"
MATCHED_CAPTION = "same task and stage across runs; what agents differ in still mixes in"


@dataclass(frozen=True, slots=True)
class StatsPolicy:
    """What counts, and how. Printed with every set of figures."""

    name: PolicyName = "clean"
    outcomes: Policy = DEFAULT_POLICY
    count_tests: bool = False
    """Test files are among the files that stages share."""
    resamples: int = RESAMPLES
    seed: int = SEED

    @property
    def left_out(self) -> tuple[Status, ...]:
        """The statuses whose stages do not count."""
        return NOT_THE_AGENT if self.name == "clean" else ()


@dataclass(frozen=True, slots=True)
class Excluded:
    """Something that does not count, and why."""

    run: str
    stage: int | None
    """Null for the run as a whole and for its chain gate."""
    reason: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A share k of n."""

    k: int
    n: int
    wilson: Interval | None
    """Takes the units as independent."""
    clustered: Interval | None = None
    """Draws whole tasks; null where no task has more than one unit, where there is one task, and
    where k is 0 or n, since then no resample differs."""
    tasks: int = 0
    """Tasks that the units come from."""
    left_out: int = 0
    """Units that belong there and tell nothing; stages, where n counts files or tests."""

    @property
    def percent(self) -> float | None:
        """The share in percent; null under n = 10."""
        return 100 * self.k / self.n if self.n >= MIN_PERCENT_N else None


@dataclass(frozen=True, slots=True)
class Median:
    """A middle value over units; the interval draws whole tasks."""

    median: float | None
    interval: Interval | None
    n: int
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """Everything that was spent, for each stage that passed; the interval draws whole tasks."""

    per_passed: Estimate
    passed: int
    left_out: int
    """Runs of which a part is not known."""


@dataclass(frozen=True, slots=True)
class Group:
    """All figures over some runs."""

    runs: int
    tasks: int
    stages: int
    """Stages whose gate has a verdict."""
    figures: Mapping[str, Figure]
    """By `FigureSpec.name`, in the order of `FIGURES`."""
    lists: Mapping[str, tuple[Figure, ...]]
    """By `ListSpec.name`; the first is that of stage 1."""
    medians: Mapping[str, Median]
    """By `MedianSpec.name`."""
    cost_spent_usd: Spent
    time_spent_s: Spent
    half_life: HalfLife
    """Of failures, in stages."""
    crude: Estimate
    """P(works | passed before) - P(works | failed before)."""
    matched: Matched
    executed: Mapping[str, Figure] | None = None
    """By name, in the order of `EXECUTED`; null where no gate was run again on another state."""
    completion_difference: tuple[str, ...] = ()
    """Runs whose chain gate passed though a stage gate failed."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What `arcview stats` says."""

    policy: StatsPolicy
    excluded: tuple[Excluded, ...]
    all: Group
    by: By | None = None
    groups: Mapping[str, Group] | None = None
    same_id: tuple[tuple[str, ...], ...] = ()
    """Runs that share an id: copies of one run, as far as can be told, and each of them counts."""
    shared: tuple[SharedSignature, ...] = ()
    """Causes of failures that many runs share; nothing is left out for them."""


Levels = Mapping[tuple[str, int], int]
"""Run id and stage → awareness level as people labelled it."""


def compute(
    runs: Sequence[RunFacts],
    policy: StatsPolicy | None = None,
    *,
    by: By | None = None,
    levels: Levels | None = None,
    broken: Iterable[Excluded] = (),
    conditions: Sequence[Condition] = CONDITIONS,
) -> Statistics:
    """Computes every figure.

    Args:
        runs: The runs, with facts that were made under the same outcome policy.
        policy: What counts; clean by default.
        by: Also computes each group by this property.
        levels: Labelled awareness; it counts before what is suggested.
        broken: Runs that could not be read, for the list of what is left out.
        conditions: Known wordings of broken machinery.
    """
    policy = policy or StatsPolicy()
    labelled: dict[str, dict[int, int]] = {}
    for (run_id, stage), level in (levels or {}).items():
        labelled.setdefault(run_id, {})[stage] = level
    counted = [_counted(facts, policy, labelled.get(facts.run_id, {})) for facts in runs]
    groups: dict[str, list[CountedRun]] = {}
    if by is not None:
        for run in counted:
            groups.setdefault(group_of(run.facts, by), []).append(run)
    return Statistics(
        policy,
        (*broken, *(one for facts in runs for one in excluded(facts, policy))),
        _group(counted, policy),
        by,
        {name: _group(groups[name], policy) for name in sorted(groups)} if by else None,
        _same_id(runs),
        shared_signatures(
            (
                GateSignatures(facts.name, facts.agent, facts.task, one.gate, one.counts)
                for facts in runs
                for one in facts.causes
            ),
            conditions,
        ),
    )


def _same_id(runs: Iterable[RunFacts]) -> tuple[tuple[str, ...], ...]:
    by_id: dict[str, list[str]] = {}
    for facts in runs:
        by_id.setdefault(facts.run_id, []).append(facts.name)
    return tuple(tuple(names) for names in by_id.values() if len(names) > 1)


def group_of(facts: RunFacts, by: By) -> str:
    """The group of a run; a task in several languages is a group of its own."""
    if by == "language":
        return ", ".join(sorted(facts.languages)) or UNKNOWN_GROUP
    name: str | None = getattr(facts, by)
    return name or UNKNOWN_GROUP


def excluded(facts: RunFacts, policy: StatsPolicy) -> Iterable[Excluded]:
    """What of a run does not count under a policy, in the order of the stages."""
    for stage in facts.stages:
        if stage.status in policy.left_out:
            yield Excluded(facts.name, stage.index, f"status {stage.status.value}")
        elif stage.gate.verdict is Verdict.UNMEASURED:
            reason = stage.gate.reason or "no reason recorded"
            yield Excluded(facts.name, stage.index, f"gate unmeasured: {reason}")
    if facts.chain is not None:
        broken = _broken(facts, policy)
        if broken is not None:
            why = f"chain gate: status {broken.status.value} at stage {broken.index}"
            yield Excluded(facts.name, None, why)
        elif facts.chain.verdict is Verdict.UNMEASURED:
            reason = facts.chain.reason or "no reason recorded"
            yield Excluded(facts.name, None, f"chain gate unmeasured: {reason}")


def _broken(facts: RunFacts, policy: StatsPolicy) -> StageFacts | None:
    """The first stage that failed for no fault of the agent, after which the chain gate is moot.

    A chain that ended early counts: that it is not complete may well be the agent's doing.
    """
    errors = {Status.AGENT_ERROR, Status.INFRASTRUCTURE_ERROR}.intersection(policy.left_out)
    return next((stage for stage in facts.stages if stage.status in errors), None)


def _counted(facts: RunFacts, policy: StatsPolicy, levels: dict[int, int]) -> CountedRun:
    left_out = [stage.index for stage in facts.stages if stage.status in policy.left_out]
    return CountedRun(
        facts,
        frozenset(left_out),
        levels,
        chain_counts=_broken(facts, policy) is None,
        count_tests=policy.count_tests,
    )


def _group(runs: Sequence[CountedRun], policy: StatsPolicy) -> Group:
    by_task: dict[str, list[CountedRun]] = {}
    for run in runs:
        by_task.setdefault(run.facts.task, []).append(run)
    tasks = list(by_task.values())
    length = max((run.length for run in runs), default=0)
    names, counts = _columns(length)
    table = [[_sum(count(run) for run in task) for count in counts] for task in tasks]
    figures = dict(zip(names, _figures(table, len(counts), policy), strict=True))
    transitions = [one for run in runs for one in run.transitions()]
    sizes = (policy.resamples, policy.seed)
    return Group(
        runs=len(runs),
        tasks=len(tasks),
        stages=sum(len(run.measured) for run in runs),
        figures={spec.name: figures[spec.name, 0] for spec in FIGURES},
        lists={
            spec.name: tuple(figures[spec.name, place] for place in range(1, length + 1))
            for spec in LISTS
        },
        medians={
            spec.name: _median([[spec.values(run) for run in task] for task in tasks], policy)
            for spec in MEDIANS
        },
        cost_spent_usd=_spent(tasks, "cost_usd", policy),
        time_spent_s=_spent(tasks, "duration_s", policy),
        half_life=_half_life(tasks, policy),
        crude=crude_difference(transitions, *sizes),
        matched=matched(transitions, *sizes),
        executed=_executed(tasks, policy),
        completion_difference=tuple(run.facts.name for run in runs if _is_difference(run)),
    )


def _executed(
    tasks: Sequence[Sequence[CountedRun]], policy: StatsPolicy
) -> dict[str, Figure] | None:
    if not any(run.facts.executed for task in tasks for run in task):
        return None
    table = [[_sum(spec.count(run) for run in task) for spec in EXECUTED] for task in tasks]
    found = _figures(table, len(EXECUTED), policy)
    return {spec.name: figure for spec, figure in zip(EXECUTED, found, strict=True)}


def _is_difference(run: CountedRun) -> bool:
    passed = run.chain is not None and run.chain.verdict is Verdict.PASSED
    return passed and any(s.gate.verdict is Verdict.FAILED for s in run.measured.values())


Counter = Callable[[CountedRun], Tally]


def _columns(length: int) -> tuple[list[tuple[str, int]], list[Counter]]:
    """Every share by name and position, 0 where it has none, and how it is counted."""
    columns: list[tuple[tuple[str, int], Counter]] = [
        ((spec.name, 0), spec.count) for spec in FIGURES
    ]
    columns += [
        ((spec.name, place), partial(spec.at, position=place))
        for spec in LISTS
        for place in range(1, length + 1)
    ]
    return [name for name, _ in columns], [count for _, count in columns]


def _sum(tallies: Iterable[Tally]) -> Tally:
    k = n = unknown = 0
    for one in tallies:
        k, n, unknown = k + one.k, n + one.n, unknown + one.unknown
    return Tally(k, n, unknown)


def _figures(table: Sequence[Sequence[Tally]], columns: int, policy: StatsPolicy) -> list[Figure]:
    """The figures of the columns of a table of tasks; one drawing of tasks serves all of them."""
    rows = [[part for one in row for part in (one.k, one.n)] for row in table]
    sums = resample_sums(rows, policy.resamples, policy.seed) if len(rows) > 1 else []
    found = []
    for column in range(columns):
        total = _sum(row[column] for row in table)
        tasks = sum(row[column].n > 0 for row in table)
        clustered = None
        # Where all units agree every resample does: that would be an interval of no width.
        if 1 < tasks < total.n and 0 < total.k < total.n:
            clustered = ratio_interval(sums, 2 * column, 2 * column + 1)
        interval = wilson(total.k, total.n)
        found.append(Figure(total.k, total.n, interval, clustered, tasks, total.unknown))
    return found


def _median(tasks: Sequence[Sequence[tuple[list[float], int]]], policy: StatsPolicy) -> Median:
    clusters = [[value for values, _ in task for value in values] for task in tasks]
    values = sorted(value for cluster in clusters for value in cluster)
    unknown = sum(unknown for task in tasks for _, unknown in task)
    if not values:
        return Median(None, None, 0, unknown)
    interval = None
    if sum(bool(cluster) for cluster in clusters) > 1:
        interval = median_interval(clusters, policy.resamples, policy.seed)
    return Median(quantile(values, 0.5), interval, len(values), unknown)


def _half_life(tasks: Sequence[Sequence[CountedRun]], policy: StatsPolicy) -> HalfLife:
    found = [[failure_spans(run) for run in task] for task in tasks]
    spans = [[span for seen, _ in task for span in seen] for task in found]
    left_out = sum(unseen for task in found for _, unseen in task)
    return half_life(spans, left_out, policy.resamples, policy.seed)


def _spent(tasks: Sequence[Sequence[CountedRun]], part: str, policy: StatsPolicy) -> Spent:
    total = spent(part)
    parts = [[total(run) for run in task] for task in tasks]
    rows = [
        [sum(amount for amount, _ in known), sum(passed for _, passed in known)]
        for task in parts
        for known in [[one for one in task if one is not None]]
    ]
    amount, passed = (sum(column) for column in zip(*rows, strict=True)) if rows else (0, 0)
    sums = resample_sums(rows, policy.resamples, policy.seed) if len(rows) > 1 else []
    interval = ratio_interval(sums, 0, 1) if passed else None
    value = amount / passed if passed else None
    left_out = sum(one is None for task in parts for one in task)
    return Spent(Estimate(value, interval), int(passed), left_out)
