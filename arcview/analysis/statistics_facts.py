"""What one run contributes to statistics over many: a few numbers a stage, cached with the run.

Pure: the skeleton, the outcomes of its gates and lists of changed files are handed in. Whatever is
not known is null and never counted as a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arcview.analysis.history import (
    GateHistory,
    GateTests,
    History,
    gate_slots,
    run_history,
    stage_record,
)
from arcview.analysis.verdicts import DEFAULT_POLICY, Policy, judge, not_ok_count
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
    awareness: int | None = None
    """Suggested level N0 … N6 of what was broken when it began; null where nothing was, or where
    there is no trajectory to look at."""


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
    recovered = _recovered(run, tests, history.gates, policy)
    stages: dict[int, GateFacts] = {}
    for stage in run.stages:
        record = stage_record(run, stage)
        state = record.state if record is not None else stage.end
        found = history.of(str(stage.index), state)
        stages[stage.index] = _facts(
            record, found, recovered.get((str(stage.index), state)), policy
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
    run: Run, tests: GateTests, histories: Sequence[GateHistory], policy: Policy
) -> dict[tuple[str, str | None], int]:
    """By gate run: how many of its tests were healed at an earlier one and ok ever since."""
    recovered: set[str] = set()
    counts: dict[tuple[str, str | None], int] = {}
    slots = {(slot.gate, slot.state): slot for slot in gate_slots(run, tests, policy)}
    for history in histories:
        slot = slots[history.gate, history.state]
        counts[history.gate, history.state] = len({t.id for t in slot.tests} & recovered)
        recovered -= {test_id for _, test_id in history.failing}
        recovered |= {test_id for _, test_id in history.healed or ()}
    return counts


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
