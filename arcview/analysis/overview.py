"""What the rail, the library and the JSON twin say of a run: verdicts, counts, costs, debts.

Pure functions over the skeleton and the outcomes of its gates; no I/O. Unknown is null, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from arcview.analysis.history import (
    GateHistory,
    GateTests,
    History,
    RunHistory,
    first_bad,
    first_failing_gate,
    gate_slots,
    run_history,
    stage_record,
)
from arcview.analysis.verdicts import DEFAULT_POLICY, Judgement, Policy, failing_tests, judge
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GroupCounts
from arcview.model.run import Run, Stage, Status
from arcview.model.states import StateKind
from arcview.model.trajectory_refs import Usage

NEVER_RAN = {
    Status.NOT_STARTED: "the stage was not started",
    Status.SKIPPED: "the stage was skipped",
}
"""Why a stage with this status has no result of its own."""


@dataclass(frozen=True, slots=True)
class HistoryCounts:
    """How many failing tests of a gate came from where."""

    first: int = 0
    new: int = 0
    broken_again: int = 0
    inherited: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class GateCell:
    """One gate on one state: its verdict and its counts."""

    gate: str
    """`1` … `n`, or `chain`."""
    state: str | None
    judgement: Judgement
    f2p: GroupCounts | None = None
    p2p: GroupCounts | None = None
    other: GroupCounts | None = None
    failing: int | None = None
    """Expected tests that are not ok; null where unmeasured."""
    healed: int | None = None
    """Tests that are ok here and were not before; null where that is not known."""
    histories: HistoryCounts | None = None
    """Where the failing tests come from; null where single tests were not looked at."""
    duration_s: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def conflict(self) -> bool:
        """The recorded verdict contradicts the tests."""
        return self.judgement.conflict


@dataclass(frozen=True, slots=True)
class BetweenUsage:
    """What a pass between two stages cost."""

    state: str
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class StageRow:
    """One stage with its gate, as the rail shows it."""

    index: int
    title: str | None
    status: Status
    status_detail: str | None
    judgement: Judgement
    f2p: GroupCounts | None
    p2p: GroupCounts | None
    other: GroupCounts | None
    gate: GateCell
    """The stage's own gate on the state it ended in."""
    debt: int | None
    """Tests that are broken when the stage begins; null where no earlier gate was measured or the
    stage never began."""
    cost_usd: float | None = None
    duration_s: float | None = None
    steps: int | None = None
    """Messages of the model; null until the trajectory was read."""
    tool_calls: int | None = None
    tokens: Usage | None = None
    base: str | None = None
    end: str | None = None
    between: tuple[GateCell, ...] = ()
    """Gates on the between-states after this stage; unmeasured where none is recorded."""
    passes: tuple[BetweenUsage, ...] = ()
    """What ran after the stage and before the next."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Total:
    """A sum over stages that keeps apart what is not known."""

    known: float | None
    """Sum of the known parts; null where none is known."""
    unknown: tuple[str, ...] = ()
    """Stages (`3`) and between-states (`S3.refactor`) that took part and have no figure."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the stages; what happened between stages is shown apart."""

    cost_usd: Total
    duration_s: Total
    between_cost_usd: Total


@dataclass(frozen=True, slots=True)
class Overview:
    """A run at a glance."""

    run_id: str
    layout: str
    path: str
    task_id: str
    title: str | None
    agent: str | None
    agent_version: str | None
    model: str | None
    attempt: str | None
    delegation: str | None
    harness: str | None
    status: Status
    status_detail: str | None
    started: str | None
    ended: str | None
    stages: tuple[StageRow, ...]
    chain_gate: GateCell | None
    """Null where the benchmark has no chain gate."""
    first_bad_stage: int | None
    """Stage of `first_bad_state`: where the chain went wrong first."""
    first_bad_state: str | None
    """The first state, between-states included, with a failing test that is not inherited."""
    first_failing_gate: str | None
    """The first stage gate, or `chain`, with verdict failed."""
    totals: Totals
    complete: bool
    """Steps and tool calls are filled in for every stage whose trajectory can be read."""
    problems: tuple[Problem, ...] = ()

    def stage(self, index: int) -> StageRow | None:
        """The row of a stage, or null."""
        return next((row for row in self.stages if row.index == index), None)


def build_overview(
    run: Run,
    tests: GateTests | None = None,
    *,
    policy: Policy = DEFAULT_POLICY,
    problems: Iterable[Problem] = (),
) -> Overview:
    """The overview of a run.

    Args:
        run: The skeleton.
        tests: Gives the tests of a recorded gate, messages not needed. Without it, what depends
            on single tests (debt, healed, histories) is null: the library reads no single test.
        policy: Which outcomes count as ok.
        problems: What was wrong with the input, besides what the skeleton says.
    """
    history = run_history(run, tests, policy) if tests is not None else None
    return overview_from(run, history, policy=policy, problems=problems)


def overview_from(
    run: Run,
    history: RunHistory | None,
    *,
    policy: Policy = DEFAULT_POLICY,
    problems: Iterable[Problem] = (),
) -> Overview:
    """As `build_overview`, with histories that are computed already."""
    slots = gate_slots(run, policy=policy)
    bad_stage, bad_state = first_bad(slots, policy)
    return Overview(
        run_id=run.run_id,
        layout=run.layout,
        path=run.path,
        task_id=run.chain.task_id,
        title=run.chain.title,
        agent=run.agent,
        agent_version=run.agent_version,
        model=run.model,
        attempt=run.attempt,
        delegation=run.delegation,
        harness=run.harness,
        status=run.status,
        status_detail=run.status_detail,
        started=run.started,
        ended=run.ended,
        stages=tuple(_stage_row(run, stage, history, policy) for stage in run.stages),
        chain_gate=_chain_cell(run, history, policy),
        first_bad_stage=bad_stage,
        first_bad_state=bad_state,
        first_failing_gate=first_failing_gate(slots, policy),
        totals=_totals(run),
        complete=False,
        problems=tuple(dict.fromkeys((*run.problems, *problems))),
    )


def gate_cell(
    gate: str,
    state: str | None,
    record: GateRecord | None,
    history: GateHistory | None,
    policy: Policy = DEFAULT_POLICY,
    *,
    absent: str | None = None,
) -> GateCell:
    """One gate run as a cell; without a record it is unmeasured, for the reason in `absent`."""
    judgement = judge(record, policy)
    if record is None:
        return GateCell(gate, state, replace(judgement, reason=absent or judgement.reason))
    measured = bool(record.f2p or record.p2p or record.other) and record.unmeasured is None
    known = history is not None and history.healed is not None
    return GateCell(
        gate=gate,
        state=state,
        judgement=judgement,
        f2p=record.f2p,
        p2p=record.p2p,
        other=record.other,
        failing=failing_tests(record, policy) if measured else None,
        healed=len(history.healed or ()) if history is not None and known else None,
        histories=_history_counts(history) if history is not None and known else None,
        duration_s=record.duration_s,
        notes=record.notes,
    )


def _history_counts(history: GateHistory) -> HistoryCounts:
    return HistoryCounts(**{kind.value: history.count(kind) for kind in History})


def _chain_cell(run: Run, history: RunHistory | None, policy: Policy) -> GateCell | None:
    record = run.chain_gate()
    if record is None:
        if not run.chain.has_chain_gate:
            return None
        return gate_cell("chain", None, None, None, policy)
    found = history.of("chain", record.state) if history is not None else None
    return gate_cell("chain", record.state, record, found, policy)


def _stage_row(run: Run, stage: Stage, history: RunHistory | None, policy: Policy) -> StageRow:
    name = str(stage.index)
    absent = NEVER_RAN.get(stage.status)
    record = stage_record(run, stage)
    state = record.state if record is not None else stage.end
    found = history.of(name, state) if history is not None else None
    cell = gate_cell(name, state, record, found, policy, absent=absent)
    began = absent is None or (record is not None and record.unmeasured is None)
    return StageRow(
        index=stage.index,
        title=stage.title,
        status=stage.status,
        status_detail=stage.status_detail,
        judgement=cell.judgement,
        f2p=cell.f2p,
        p2p=cell.p2p,
        other=cell.other,
        gate=cell,
        debt=history.debt.get(stage.index) if history is not None and began else None,
        cost_usd=stage.usage.cost_usd if stage.usage is not None else None,
        duration_s=stage.duration_s,
        tokens=stage.usage,
        base=stage.base,
        end=stage.end,
        between=_between_cells(run, stage, history, policy),
        passes=tuple(BetweenUsage(pass_.state, pass_.usage) for pass_ in stage.passes),
        notes=stage.notes,
    )


def _between_cells(
    run: Run, stage: Stage, history: RunHistory | None, policy: Policy
) -> tuple[GateCell, ...]:
    cells: list[GateCell] = []
    for state in run.states:
        if state.kind is not StateKind.BETWEEN or state.stage != stage.index:
            continue
        records = [record for record in run.gates if record.state == state.id]
        for record in records:
            found = history.of(record.gate, record.state) if history is not None else None
            cells.append(gate_cell(record.gate, record.state, record, found, policy))
        if not records:
            cells.append(gate_cell(str(stage.index), state.id, None, None, policy))
    return tuple(cells)


def _totals(run: Run) -> Totals:
    started = [stage for stage in run.stages if stage.status not in NEVER_RAN]
    costs = {str(s.index): s.usage.cost_usd if s.usage else None for s in started}
    durations = {str(s.index): s.duration_s for s in started}
    passes = [pass_ for stage in run.stages for pass_ in stage.passes]
    between = {p.state: p.usage.cost_usd if p.usage else None for p in passes}
    return Totals(_total(costs), _total(durations), _total(between))


def _total(parts: Mapping[str, float | None]) -> Total:
    known = [value for value in parts.values() if value is not None]
    unknown = tuple(name for name, value in parts.items() if value is None)
    return Total(sum(known) if known else None, unknown)


@dataclass(frozen=True, slots=True)
class StepCounts:
    """What the trajectory of a stage says about its size."""

    steps: int
    tool_calls: int
    usage: Usage | None = None
    model: str | None = None
    agent: str | None = None
    ended: tuple[Status, str | None] = (Status.UNKNOWN, None)
    """How the session says that it ended."""


def with_steps(overview: Overview, counts: Mapping[int, StepCounts]) -> Overview:
    """The overview with steps and tool calls of the given stages filled in, marked complete.

    A count of 0 is written only where a trajectory was read and holds no message. Where no harness
    says what the stages used, who ran them or how they ended, the trajectories do.
    """
    rows = tuple(
        replace(row, steps=counts[row.index].steps, tool_calls=counts[row.index].tool_calls)
        if row.index in counts
        else row
        for row in overview.stages
    )
    if all(row.tokens is None for row in rows):
        rows = tuple(_with_usage(row, counts.get(row.index)) for row in rows)
    rows = tuple(_with_status(row, counts.get(row.index)) for row in rows)
    said = list(counts.values())
    is_unknown = overview.status is Status.UNKNOWN and len(rows) == 1
    return replace(
        overview,
        stages=rows,
        model=overview.model or next((each.model for each in said if each.model), None),
        agent=overview.agent or next((each.agent for each in said if each.agent), None),
        status=rows[0].status if is_unknown else overview.status,
        status_detail=rows[0].status_detail if is_unknown else overview.status_detail,
        totals=replace(
            overview.totals,
            cost_usd=_total({str(r.index): r.cost_usd for r in rows if r.status not in NEVER_RAN}),
        ),
        complete=True,
    )


def _with_usage(row: StageRow, counts: StepCounts | None) -> StageRow:
    usage = counts.usage if counts is not None else None
    return row if usage is None else replace(row, tokens=usage, cost_usd=usage.cost_usd)


def _with_status(row: StageRow, counts: StepCounts | None) -> StageRow:
    if counts is None or row.status is not Status.UNKNOWN or row.status_detail is not None:
        return row
    status, detail = counts.ended
    return replace(row, status=status, status_detail=detail)
