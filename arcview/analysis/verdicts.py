"""Which outcomes count as ok, and what a gate's counts say; pure functions over recorded facts.

The rules are those of the run format: unmeasured is never failed, missing is never passed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arcview.model.results import WITHOUT_RESULT, GateRecord, GroupCounts, Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Policy:
    """Which outcomes besides `passed` count as ok. Every figure is printed under a policy."""

    skip_ok: bool = False
    xfail_ok: bool = True
    xpass_ok: bool = False
    missing_ok: bool = False
    not_run_ok: bool = False


DEFAULT_POLICY = Policy()

_CRASH_SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"}
"""Signals that a program brings on itself: the tests' own doing, so the gate failed."""

_KILL_SIGNALS = {1: "SIGHUP", 2: "SIGINT", 9: "SIGKILL", 15: "SIGTERM"}
"""Signals that come from outside: who sent them is not in the exit code."""


def is_ok(outcome: Outcome, policy: Policy = DEFAULT_POLICY) -> bool:
    """Whether a test with this outcome lets its gate pass."""
    return (
        outcome is Outcome.PASSED
        or (outcome is Outcome.XFAILED and policy.xfail_ok)
        or (outcome is Outcome.SKIPPED and policy.skip_ok)
        or (outcome is Outcome.XPASSED and policy.xpass_ok)
        or (outcome is Outcome.MISSING and policy.missing_ok)
        or (outcome is Outcome.NOT_RUN and policy.not_run_ok)
    )


def count_of(counts: GroupCounts, outcome: Outcome) -> int:
    """How many expected tests of the group ended this way."""
    number: int = getattr(counts, outcome.value)
    return number


def ok_count(counts: GroupCounts, policy: Policy = DEFAULT_POLICY) -> int:
    """How many expected tests of the group are ok."""
    return sum(count_of(counts, outcome) for outcome in Outcome if is_ok(outcome, policy))


def not_ok_count(counts: GroupCounts, policy: Policy = DEFAULT_POLICY) -> int:
    """How many expected tests of the group are not ok."""
    return counts.expected - ok_count(counts, policy)


def groups_of(record: GateRecord) -> tuple[GroupCounts, ...]:
    """The groups that were measured."""
    return tuple(c for c in (record.f2p, record.p2p, record.other) if c is not None)


def failing_tests(record: GateRecord | None, policy: Policy = DEFAULT_POLICY) -> int:
    """How many expected tests of the gate are recorded as not ok; 0 where nothing is recorded."""
    if record is None:
        return 0
    return sum(not_ok_count(counts, policy) for counts in groups_of(record))


def only_skipped(groups: Iterable[GroupCounts], policy: Policy = DEFAULT_POLICY) -> int:
    """How many tests were skipped, where that alone is why not all are ok; else 0."""
    counts = tuple(groups)
    skipped = sum(group.skipped for group in counts)
    return skipped if skipped == sum(not_ok_count(group, policy) for group in counts) else 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a gate says, and what its own harness said."""

    verdict: Verdict
    reason: str | None = None
    """Why it is unmeasured, or what besides single tests made it fail (`timed out`)."""
    recorded: Verdict | None = None
    """The verdict that the harness wrote down."""
    conflict: bool = False
    """The recorded verdict contradicts what was measured; the computed one counts."""


def judge(record: GateRecord | None, policy: Policy = DEFAULT_POLICY) -> Judgement:
    """Judges one recorded gate run from its counts.

    Args:
        record: What was recorded, or null where there is nothing.
        policy: Which outcomes count as ok.
    """
    if record is None:
        return Judgement(Verdict.UNMEASURED, "no result recorded")
    verdict, reason = _verdict(record, policy)
    recorded = record.recorded_verdict
    # Without counts there is nothing that the recorded verdict could contradict.
    has_evidence = bool(groups_of(record)) or record.unmeasured is not None
    conflict = has_evidence and recorded is not None and recorded is not verdict
    return Judgement(verdict, reason, recorded, conflict)


def _verdict(record: GateRecord, policy: Policy) -> tuple[Verdict, str | None]:
    if record.unmeasured is not None:
        return Verdict.UNMEASURED, record.unmeasured
    groups = groups_of(record)
    if not groups:
        return Verdict.UNMEASURED, "timed out" if record.timed_out else "no test results recorded"
    expected = sum(counts.expected for counts in groups)
    if expected == 0:
        return Verdict.UNMEASURED, "zero tests expected"
    abort, own_doing = _abort(record)
    failing = failing_tests(record, policy)
    unfinished = sum(count_of(counts, o) for counts in groups for o in WITHOUT_RESULT)
    if abort is not None:
        if failing == 0:
            return Verdict.UNMEASURED, f"{abort}, though no expected test failed"
        if own_doing or failing > unfinished:
            return Verdict.FAILED, abort
        return Verdict.UNMEASURED, f"{abort}, cause not recorded"
    if _nothing_reported(groups, expected):
        return Verdict.UNMEASURED, f"zero tests reported of {expected} expected"
    if failing:
        return Verdict.FAILED, None
    if record.other is None and (record.f2p is None or record.p2p is None):
        return Verdict.UNMEASURED, "F2P not measured" if record.f2p is None else "P2P not measured"
    return Verdict.PASSED, None


def _nothing_reported(groups: tuple[GroupCounts, ...], expected: int) -> bool:
    """An empty report: every expected test is missing, and nothing says that the build broke."""
    missing = sum(counts.missing for counts in groups)
    return missing == expected and not any(counts.extra for counts in groups)


def _abort(record: GateRecord) -> tuple[str | None, bool]:
    """How the run was cut short, if it was, and whether the tested code itself is to blame."""
    if record.timed_out:
        return "timed out", True
    for code in record.exit_codes:
        signal = -code if code < 0 else code - 128
        if signal in _CRASH_SIGNALS:
            return f"crashed ({_CRASH_SIGNALS[signal]}, exit {code})", True
        if signal in _KILL_SIGNALS:
            return f"killed ({_KILL_SIGNALS[signal]}, exit {code})", False
    return None, False
