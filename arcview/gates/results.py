"""Results of reruns, how they compare with recorded ones, and how steady they are; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from arcview.analysis.verdicts import DEFAULT_POLICY, Policy, is_ok
from arcview.gates.engine import EngineInfo
from arcview.model.results import WITHOUT_RESULT, GateTest, GroupCounts, Outcome, Verdict


@dataclass(frozen=True, slots=True)
class ResultKey:
    """What a result belongs to: gate definition, tree, image."""

    gate_digest: str
    tree: str
    image: str
    """`sha256:…`, or `host` for a run without a container."""

    @property
    def prefix(self) -> str:
        """The name of the key without the image."""
        return f"{self.gate_digest[:16]}-{self.tree[:16]}"

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.prefix}-{self.image.rpartition(':')[2][:16]}"


@dataclass(frozen=True, slots=True)
class RerunResult:
    """One rerun of one gate; never changed once it is stored."""

    key: ResultKey
    attempt: int
    """From 1; 0 before it is stored."""
    gate: str
    label: str
    """What it ran on: `S3`, `R2`, `S2.refactor`, `X3`."""
    image_ref: str | None
    verdict: Verdict
    reason: str | None
    tests: tuple[GateTest, ...]
    f2p: GroupCounts | None
    p2p: GroupCounts | None
    other: GroupCounts | None
    exit_codes: tuple[int | None, ...]
    timed_out: bool
    started: str
    """ISO 8601, UTC."""
    duration_s: float
    overhead_s: float
    engine: EngineInfo
    logs: tuple[Path, ...] = ()
    """What it printed and its reports, the output first."""
    origins_file: Path | None = None
    """Where each file of the tested tree came from; see `ResultStore.origins`."""
    notes: tuple[str, ...] = ()
    arcview_version: str = ""

    @property
    def tree(self) -> str:
        """Git tree id of the state."""
        return self.key.tree

    @property
    def image_digest(self) -> str:
        """Digest of the image it ran in; `host` without a container."""
        return self.key.image

    @property
    def graded_on_host(self) -> bool:
        """Ran without a container: stamped, and kept out of statistics."""
        return self.engine.kind == "host"

    @property
    def is_measured(self) -> bool:
        """Whether it says anything about the tree."""
        return self.verdict is not Verdict.UNMEASURED

    @property
    def is_silent(self) -> bool:
        """Nothing was measured and no expected test has a result: counts would say nothing."""
        outcomes = {test.outcome for test in self.tests if not test.extra}
        return not self.is_measured and outcomes <= {Outcome.MISSING}


class Change(StrEnum):
    """What a rerun says of one test that was recorded before."""

    SAME = "same"
    FLIPPED_UP = "flipped_up"
    """Not ok as recorded, ok now."""
    FLIPPED_DOWN = "flipped_down"
    MISSING_NOW = "missing_now"
    """Recorded with an outcome, not reported now."""
    NEW = "new"
    """Not recorded."""


@dataclass(frozen=True, slots=True)
class TestChange:
    """One test beside its recorded outcome."""

    __test__ = False

    id: str
    change: Change
    recorded: Outcome | None
    now: Outcome | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A rerun beside what was recorded."""

    tests: tuple[TestChange, ...]
    recorded_verdict: Verdict | None
    has_same_verdict: bool | None
    """Null where either side is unmeasured."""
    reproduces: bool | None
    """Same verdict and no expected test flipped; null where either side is unmeasured."""

    def count(self, change: Change) -> int:
        """How many tests went that way."""
        return sum(test.change is change for test in self.tests)


def compare(
    recorded: Sequence[GateTest],
    recorded_verdict: Verdict | None,
    result: RerunResult,
    policy: Policy = DEFAULT_POLICY,
) -> Comparison:
    """Puts a rerun beside the recorded result of the same gate and state.

    Args:
        recorded: The recorded tests; may be empty.
        recorded_verdict: What was judged from them; null where nothing is recorded.
        result: The rerun.
        policy: Which outcomes count as ok.
    """
    before = {(test.group, test.id): test for test in recorded}
    after = {(test.group, test.id): test for test in result.tests}
    changes = []
    expected_moved = False
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        change = _change(old, new, policy)
        known = old or new
        is_expected = known is not None and not known.extra
        expected_moved = expected_moved or (is_expected and change is not Change.SAME)
        changes.append(
            TestChange(key[1], change, old.outcome if old else None, new.outcome if new else None)
        )
    measured = recorded_verdict not in (None, Verdict.UNMEASURED) and result.is_measured
    if not measured:
        return Comparison(tuple(changes), recorded_verdict, None, None)
    same = result.verdict is recorded_verdict
    reproduces = same and not (recorded and expected_moved)
    return Comparison(tuple(changes), recorded_verdict, same, reproduces)


def _change(old: GateTest | None, new: GateTest | None, policy: Policy) -> Change:
    if old is None:
        return Change.NEW
    if new is None or (new.outcome in WITHOUT_RESULT and old.outcome not in WITHOUT_RESULT):
        return Change.MISSING_NOW
    was_ok, now_ok = is_ok(old.outcome, policy), is_ok(new.outcome, policy)
    if was_ok is now_ok:
        return Change.SAME
    return Change.FLIPPED_UP if now_ok else Change.FLIPPED_DOWN


@dataclass(frozen=True, slots=True)
class Flakiness:
    """How often each test was ok over the attempts of one key."""

    attempts: int
    """Measured ones only."""
    ok: Mapping[str, int]
    """Test id → attempts in which it was ok."""

    @property
    def flaky(self) -> tuple[str, ...]:
        """Tests that were ok in some attempts and not in others."""
        return tuple(t for t, count in self.ok.items() if 0 < count < self.attempts)

    def words(self, test_id: str) -> str:
        """`ok in 2 of 5`; what never changed is not called stable."""
        return f"ok in {self.ok.get(test_id, 0)} of {self.attempts}"


def flakiness(results: Iterable[RerunResult], policy: Policy = DEFAULT_POLICY) -> Flakiness:
    """Counts per test over the measured attempts of one key."""
    measured = [result for result in results if result.is_measured]
    ok: dict[str, int] = {}
    for result in measured:
        for test in result.tests:
            ok[test.id] = ok.get(test.id, 0) + is_ok(test.outcome, policy)
    return Flakiness(len(measured), ok)
