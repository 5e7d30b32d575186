"""What one run contributes to statistics over many: a few numbers a stage, cached with the run.

Pure: the skeleton, the outcomes of its gates and lists of changed files are handed in. Whatever is
not known is null and never counted as a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from arcview.analysis.history import (
    GateHistory,
    GateSlot,
    GateTests,
    History,
    gate_slots,
    run_history,
    stage_record,
)
from arcview.analysis.lifetimes import FailureSpan, failure_span
from arcview.analysis.verdicts import DEFAULT_POLICY, Policy, is_ok, judge, not_ok_count
from arcview.analysis.what_if import WhatIfLabel
from arcview.model.patch import ChangeKind, FileChange, PathClass
from arcview.model.results import GateRecord, Group, GroupCounts, Verdict
from arcview.model.run import Run, Status


@dataclass(frozen=True, slots=True)
class GateFacts:
    """What one gate run says."""

    verdict: Verdict
    reason: str | None = None
    """Why it is unmeasured."""
    f2p_ok: bool | None = None
    """Every F2P test is ok; null without a verdict, without the split, and without F2P tests."""
    p2p_ok: bool | None = None
    """Every P2P test is ok, also where there is none; null without a verdict or the split."""
    p2p_tests: int = 0
    regressed: int | None = None
    """P2P tests that are not ok and were at their last earlier result."""
    inherited: int | None = None
    """P2P tests that are not ok and were not at their last earlier result."""
    unclear: int | None = None
    """P2P tests that are not ok and have no earlier result that could tell."""
    broken_before: int | None = None
    """Tests whose last earlier result is not ok."""
    healed: int | None = None
    """Those of `broken_before` that are ok here."""
    recovered_before: int | None = None
    """Tests that an earlier gate shows healed and that were ok ever since."""
    broken_again: int | None = None
    """Those of `recovered_before` that are not ok here."""
    debt: int | None = None
    """Distinct tests whose last result before the stage began is not ok; null where no earlier
    gate was measured."""
    lasts: FailureSpan | None = None
    """How long what began to fail here was seen to last; null where nothing did."""


@dataclass(frozen=True, slots=True)
class ChangeFacts:
    """What a stage changed, vendored, generated, lock and cache files left out."""

    source_added: int
    source_removed: int
    test_added: int
    test_removed: int
    files: int
    """Changed files without test files."""
    shared: int
    """Those of `files` that an earlier stage of the run changed, under any name."""
    files_with_tests: int
    shared_with_tests: int


@dataclass(frozen=True, slots=True)
class OwnTests:
    """The tests that the agent ran in one stage: executions, and test files of earlier stages."""

    events: int = 0
    """Executions of which it can be told whether they ran tests of an earlier stage."""
    revisits: int = 0
    """Those that did."""
    unknown: int = 0
    """The other executions."""
    files: int | None = None
    """Test files of earlier stages that were there; null where not known, or not known which of
    them ran."""
    files_run: int = 0
    """Those of `files` that ran."""


@dataclass(frozen=True, slots=True)
class StageFacts:
    """One stage of one run."""

    index: int
    status: Status
    gate: GateFacts
    cost_usd: float | None = None
    duration_s: float | None = None
    change: ChangeFacts | None = None
    revisits: bool | None = None
    """It ran tests of an earlier stage again; null where that cannot be told."""
    own_tests: OwnTests | None = None
    """Null for the first stage and without a trajectory."""
    awareness: int | None = None
    """Suggested level N0 … N6 of what was broken when it began; null where nothing was, or where
    there is no trajectory to look at."""


@dataclass(frozen=True, slots=True)
class GateCauses:
    """What the failing tests of one gate died of."""

    gate: str
    counts: tuple[tuple[str, int], ...]
    """Signature and failing tests that have it."""


@dataclass(frozen=True, slots=True)
class ExecutedFacts:
    """What gates that were run again say of one stage; results without a container left out."""

    stage: int
    label: WhatIfLabel | None = None
    """What made its gate fail; null where that was not asked."""
    x_passes: bool | None = None
    """The agent's change passes on the reference base; null where that was not run."""
    passes_at_end: bool | None = None
    """Its gate passes on the last state; null where it was not run there again."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run."""

    name: str
    """What it is called in lists: its path below the folder that was looked at."""
    run_id: str
    agent: str | None
    model: str | None
    task: str
    languages: tuple[str, ...]
    stages: tuple[StageFacts, ...]
    chain: GateFacts | None
    """Null where the benchmark has no chain gate."""
    causes: tuple[GateCauses, ...] = ()
    """Of each gate that failed on the state that it belongs to."""
    executed: tuple[ExecutedFacts, ...] = ()
    """As the sidecar has it now: never cached."""


def gate_facts(
    run: Run, tests: GateTests, policy: Policy = DEFAULT_POLICY
) -> tuple[dict[int, GateFacts], GateFacts | None]:
    """The facts of every stage gate by stage, and those of the chain gate.

    Args:
        run: The skeleton.
        tests: Gives the tests of a recorded gate; their messages are not needed.
        policy: Which outcomes count as ok.
    """
    history = run_history(run, tests, policy)
    slots = gate_slots(run, tests, policy)
    recovered = _recovered(slots, history.gates)
    spans = _spans(slots, history.gates, policy)
    stages: dict[int, GateFacts] = {}
    for stage in run.stages:
        record = stage_record(run, stage)
        state = record.state if record is not None else stage.end
        found = history.of(str(stage.index), state)
        key = str(stage.index), state
        stages[stage.index] = replace(
            _facts(record, found, recovered.get(key), policy),
            debt=history.debt.get(stage.index),
            lasts=spans.get(key),
        )
    record = run.chain_gate()
    if record is None and not run.chain.has_chain_gate:
        return stages, None
    found = history.of("chain", record.state) if record is not None else None
    return stages, _facts(record, found, None, policy)


def _facts(
    record: GateRecord | None, history: GateHistory | None, recovered: int | None, policy: Policy
) -> GateFacts:
    judgement = judge(record, policy)
    if record is None or judgement.verdict is Verdict.UNMEASURED:
        return GateFacts(judgement.verdict, judgement.reason)
    plain = GateFacts(
        judgement.verdict,
        f2p_ok=_ok(record.f2p, policy) if record.f2p is not None and record.f2p.expected else None,
        p2p_ok=_ok(record.p2p, policy),
        p2p_tests=record.p2p.expected if record.p2p is not None else 0,
    )
    if history is None or history.healed is None:
        return plain
    p2p = [kind for (group, _), kind in history.failing.items() if group == Group.P2P.value]
    regressed = sum(kind in (History.NEW, History.BROKEN_AGAIN) for kind in p2p)
    inherited = p2p.count(History.INHERITED)
    return GateFacts(
        plain.verdict,
        f2p_ok=plain.f2p_ok,
        p2p_ok=plain.p2p_ok,
        p2p_tests=plain.p2p_tests,
        regressed=regressed,
        inherited=inherited,
        unclear=len(p2p) - regressed - inherited,
        broken_before=history.count(History.INHERITED) + len(history.healed),
        healed=len(history.healed),
        recovered_before=recovered,
        broken_again=history.count(History.BROKEN_AGAIN),
    )


def _ok(counts: GroupCounts | None, policy: Policy) -> bool | None:
    return None if counts is None else not_ok_count(counts, policy) == 0


def _recovered(
    gate_runs: Iterable[GateSlot], histories: Sequence[GateHistory]
) -> dict[tuple[str, str | None], int]:
    """By gate run: how many of its tests were healed at an earlier one and ok ever since."""
    recovered: set[str] = set()
    counts: dict[tuple[str, str | None], int] = {}
    slots = {(slot.gate, slot.state): slot for slot in gate_runs}
    for history in histories:
        slot = slots[history.gate, history.state]
        counts[history.gate, history.state] = len({t.id for t in slot.tests} & recovered)
        recovered -= {test_id for _, test_id in history.failing}
        recovered |= {test_id for _, test_id in history.healed or ()}
    return counts


def _spans(
    slots: Iterable[GateSlot], histories: Sequence[GateHistory], policy: Policy
) -> dict[tuple[str, str | None], FailureSpan]:
    """By stage gate at which something began to fail: how long that was seen to last.

    Only gates at the ends of stages are looked at: age counts in stages.
    """
    ends = [
        (slot, {test.id: is_ok(test.outcome, policy) for test in slot.tests})
        for slot in slots
        if slot.measured and not slot.between and slot.gate != "chain"
    ]
    began = (History.FIRST, History.NEW, History.BROKEN_AGAIN)
    of = {(history.gate, history.state): history for history in histories}
    spans: dict[tuple[str, str | None], FailureSpan] = {}
    for place, (slot, _) in enumerate(ends):
        failing = of[slot.gate, slot.state].failing
        new = {test_id for (_, test_id), kind in failing.items() if kind in began}
        if new:
            later = ((one.stage - slot.stage, oks) for one, oks in ends[place + 1 :])
            spans[slot.gate, slot.state] = failure_span(new, later)
    return spans


_LEFT_OUT = frozenset({PathClass.GENERATED, PathClass.LOCK, PathClass.CACHE, PathClass.VENDORED})


def change_facts(
    steps: Iterable[tuple[int | None, Sequence[FileChange] | None]],
) -> dict[int, ChangeFacts]:
    """The change of every stage, and how much of it lies in files that earlier stages changed.

    A stage after one whose change is not known is left out: what it shares is not known either.

    Args:
        steps: The steps from state to state in order: the stage that made it, null for a pass
            between stages (whose renames are followed and whose changes are nobody's), and its
            changes, null where they cannot be computed.
    """
    found: dict[int, ChangeFacts] = {}
    touched: set[str] = set()
    """Files that stages changed so far, by their present names."""
    for stage, changes in steps:
        if changes is None:
            return found
        renamed = {c.old_path: c.path for c in changes if c.kind is ChangeKind.RENAMED}
        touched = {renamed.get(path, path) for path in touched}
        if stage is not None:
            kept = [change for change in changes if change.path_class not in _LEFT_OUT]
            found[stage] = _change(kept, touched)
            touched |= {change.path for change in kept}
    return found


def _change(kept: Sequence[FileChange], touched: set[str]) -> ChangeFacts:
    def lines(path_class: PathClass) -> tuple[int, int]:
        chosen = [change for change in kept if change.path_class is path_class]
        return sum(c.added or 0 for c in chosen), sum(c.removed or 0 for c in chosen)

    source, test = lines(PathClass.SOURCE), lines(PathClass.TEST)
    without_tests = [c.path for c in kept if c.path_class is not PathClass.TEST]
    return ChangeFacts(
        *source,
        *test,
        files=len(without_tests),
        shared=sum(path in touched for path in without_tests),
        files_with_tests=len(kept),
        shared_with_tests=sum(change.path in touched for change in kept),
    )
