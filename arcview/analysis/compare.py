"""Two runs of one task, stage by stage: where they part, and test by test what differs.

Pure: the gates of both runs are handed in. What only one run measured is never counted as a
difference of outcomes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from arcview.analysis.gate_view import GateView
from arcview.analysis.overview import GateCell, StageRow
from arcview.analysis.renames import Renamed, pair_renames
from arcview.analysis.verdicts import DEFAULT_POLICY, Policy, is_ok
from arcview.model.results import GateTest, Outcome, Verdict

TestKey = tuple[str, str]
"""Group and id."""


@dataclass(frozen=True, slots=True)
class TestDifference:
    """A test that both runs measured and that ended otherwise."""

    __test__ = False  # no test of ours, whatever pytest makes of the name

    id: str
    group: str
    a: Outcome
    b: Outcome
    better: Literal["a", "b", "neither"]
    """In which run it is ok; `neither` where both are not ok, or both ok, in other ways."""


@dataclass(frozen=True, slots=True)
class GateComparison:
    """One gate on the states of two runs."""

    gate: str
    a: GateCell | None
    """Null where the run has no such gate."""
    b: GateCell | None
    compared: bool
    """Both measured it; otherwise there is nothing to compare and the rest is empty."""
    differences: tuple[TestDifference, ...] = ()
    both_ok: int = 0
    both_not_ok: int = 0
    only_in_a: tuple[str, ...] = ()
    """Ids of expected tests that the other run's gate does not have."""
    only_in_b: tuple[str, ...] = ()
    shared_causes: tuple[str, ...] = ()
    """Titles of what killed tests in both runs alike."""

    @property
    def verdicts_differ(self) -> bool:
        """Both have a verdict, and not the same."""
        if self.a is None or self.b is None or not self.compared:
            return False
        return self.a.judgement.verdict is not self.b.judgement.verdict

    @property
    def outcomes_differ(self) -> bool:
        """Some test is ok in one run only."""
        return any(difference.better != "neither" for difference in self.differences)


@dataclass(frozen=True, slots=True)
class FileComparison:
    """Which code files the same stage changed in two runs; not a judgement of either."""

    both: tuple[str, ...] = ()
    """Under one name."""
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    renamed: tuple[Renamed, ...] = ()
    """Changed in both, under another name in each; `old` is that in A."""


@dataclass(frozen=True, slots=True)
class StageComparison:
    """One stage of two runs."""

    index: int
    a: StageRow | None
    b: StageRow | None
    gate: GateComparison


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place, in the order of the chain, where two runs differ."""

    gate: str
    stage: int | None
    """Null for the chain gate."""
    a: Verdict
    b: Verdict


def compare_gates(
    a: GateView | None, b: GateView | None, policy: Policy = DEFAULT_POLICY
) -> GateComparison:
    """Compares one gate of two runs; at least one of them must have it."""
    cell = a.cell if a is not None else b.cell if b is not None else None
    assert cell is not None
    cells = (a.cell if a is not None else None, b.cell if b is not None else None)
    if a is None or b is None or not (_measured(a) and _measured(b)):
        return GateComparison(cell.gate, *cells, compared=False)
    tests_a, tests_b = _by_key(a), _by_key(b)
    common = [key for key in tests_a if key in tests_b]
    pairs = [(tests_a[key], tests_b[key]) for key in common]
    ok = [(is_ok(x.outcome, policy), is_ok(y.outcome, policy)) for x, y in pairs]
    titles = {group.title for group in b.groups}
    return GateComparison(
        cell.gate,
        *cells,
        compared=True,
        differences=tuple(
            _difference(x, y, *both)
            for (x, y), both in zip(pairs, ok, strict=True)
            if x.outcome is not y.outcome
        ),
        both_ok=ok.count((True, True)),
        both_not_ok=ok.count((False, False)),
        only_in_a=tuple(test.id for key, test in tests_a.items() if key not in tests_b),
        only_in_b=tuple(test.id for key, test in tests_b.items() if key not in tests_a),
        shared_causes=tuple(group.title for group in a.groups if group.title in titles),
    )


def compare_files(a: Mapping[str, str], b: Mapping[str, str]) -> FileComparison:
    """Sorts the files that a stage changed by which run changed them.

    Args:
        a: Path → text of the files that it changed in run A; a text may be empty.
        b: The same of run B.
    """
    only_a, only_b = a.keys() - b.keys(), b.keys() - a.keys()
    renamed = pair_renames({p: a[p] for p in only_a}, {p: b[p] for p in only_b})
    return FileComparison(
        tuple(sorted(a.keys() & b.keys())),
        tuple(sorted(only_a - {pair.old for pair in renamed})),
        tuple(sorted(only_b - {pair.new for pair in renamed})),
        renamed,
    )


def first_divergence(
    stages: Sequence[StageComparison], chain: GateComparison | None, *, verdicts_only: bool
) -> Divergence | None:
    """The first gate at which the runs part; gates that one of them did not measure are passed by.

    Args:
        stages: In order.
        chain: The chain gate, where a run has one.
        verdicts_only: Looks at verdicts; otherwise at single tests that are ok in one run only.
    """
    gates = [(stage.index, stage.gate) for stage in stages]
    for index, gate in [*gates, *([(None, chain)] if chain is not None else [])]:
        parts = gate.verdicts_differ if verdicts_only else gate.outcomes_differ
        if parts and gate.a is not None and gate.b is not None:
            return Divergence(gate.gate, index, gate.a.judgement.verdict, gate.b.judgement.verdict)
    return None


def _measured(view: GateView) -> bool:
    return view.cell.judgement.verdict is not Verdict.UNMEASURED


def _by_key(view: GateView) -> dict[TestKey, GateTest]:
    """The expected tests of a gate, in its order."""
    tests = [*(failing.test for failing in view.failing), *view.passing]
    return {(test.group.value, test.id): test for test in tests}


def _difference(a: GateTest, b: GateTest, a_ok: bool, b_ok: bool) -> TestDifference:
    better: Literal["a", "b", "neither"] = "neither"
    if a_ok != b_ok:
        better = "a" if a_ok else "b"
    return TestDifference(a.id, a.group.value, a.outcome, b.outcome, better)
