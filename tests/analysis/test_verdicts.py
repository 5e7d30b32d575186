from __future__ import annotations

import pytest

from arcview.analysis.verdicts import Policy, is_ok, judge, not_ok_count, ok_count
from arcview.model.results import GateRecord, GroupCounts, Outcome, Verdict

ONE_PASSED = GroupCounts(expected=1, passed=1)
NONE = GroupCounts()


def record(
    f2p: GroupCounts | None = ONE_PASSED,
    p2p: GroupCounts | None = NONE,
    other: GroupCounts | None = None,
    *,
    unmeasured: str | None = None,
    recorded: Verdict | None = None,
    exit_codes: tuple[int, ...] = (),
    timed_out: bool = False,
) -> GateRecord:
    return GateRecord(
        "1", "S1", f2p, p2p, other, unmeasured=unmeasured, recorded_verdict=recorded,
        exit_codes=exit_codes, timed_out=timed_out,
    )  # fmt: skip


ONE_OF_EACH = GroupCounts(
    expected=9, passed=1, failed=1, error=1, skipped=1, xfailed=1, xpassed=1, timeout=1,
    missing=1, not_run=1, extra=3,
)  # fmt: skip


def test_only_passed_and_xfailed_are_ok_by_default() -> None:
    assert {outcome for outcome in Outcome if is_ok(outcome)} == {Outcome.PASSED, Outcome.XFAILED}


@pytest.mark.parametrize(
    ("policy", "outcome", "ok"),
    [
        (Policy(skip_ok=True), Outcome.SKIPPED, True),
        (Policy(xpass_ok=True), Outcome.XPASSED, True),
        (Policy(missing_ok=True), Outcome.MISSING, True),
        (Policy(not_run_ok=True), Outcome.NOT_RUN, True),
        (Policy(xfail_ok=False), Outcome.XFAILED, False),
    ],
)
def test_each_switch_moves_its_own_outcome_only(policy: Policy, outcome: Outcome, ok: bool) -> None:
    assert is_ok(outcome, policy) is ok
    others = [o for o in Outcome if o is not outcome]
    assert [is_ok(o, policy) for o in others] == [is_ok(o) for o in others]


def test_counts_follow_the_policy_and_leave_extra_out() -> None:
    assert (ok_count(ONE_OF_EACH), not_ok_count(ONE_OF_EACH)) == (2, 7)
    assert ok_count(ONE_OF_EACH, Policy(skip_ok=True, missing_ok=True)) == 4


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (record(), Verdict.PASSED),
        (record(p2p=GroupCounts(expected=2, passed=1, xfailed=1)), Verdict.PASSED),
        (record(p2p=GroupCounts(expected=2, passed=1, skipped=1)), Verdict.FAILED),
        (record(p2p=GroupCounts(expected=2, passed=1, missing=1)), Verdict.FAILED),
        (record(p2p=GroupCounts(expected=2, passed=1, not_run=1)), Verdict.FAILED),
        (record(p2p=GroupCounts(expected=2, passed=1, xpassed=1)), Verdict.FAILED),
        (record(f2p=GroupCounts(expected=1, failed=1)), Verdict.FAILED),
        (record(None, None, GroupCounts(expected=1, passed=1)), Verdict.PASSED),
        (record(None, None, GroupCounts(expected=1, error=1)), Verdict.FAILED),
        (record(f2p=GroupCounts(expected=1, failed=1), p2p=None), Verdict.FAILED),
    ],
)
def test_a_gate_passes_only_when_every_expected_test_is_ok(
    given: GateRecord, verdict: Verdict
) -> None:
    assert judge(given).verdict is verdict


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (None, "no result recorded"),
        (record(unmeasured="infrastructure failure: exit 126"), "infrastructure failure: exit 126"),
        (record(None, None), "no test results recorded"),
        (record(None, None, timed_out=True), "timed out"),
        (record(NONE, NONE), "zero tests expected"),
        (record(GroupCounts(expected=3, missing=3)), "zero tests reported of 3 expected"),
        (record(p2p=None), "P2P not measured"),
        (record(None, ONE_PASSED), "F2P not measured"),
        (record(timed_out=True), "timed out, though no expected test failed"),
        (
            record(GroupCounts(expected=2, passed=1, not_run=1), exit_codes=(137,)),
            "killed (SIGKILL, exit 137), cause not recorded",
        ),
    ],
)
def test_what_was_not_measured_says_why_and_is_not_failed(
    given: GateRecord | None, reason: str
) -> None:
    judgement = judge(given)
    assert (judgement.verdict, judgement.reason) == (Verdict.UNMEASURED, reason)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (record(GroupCounts(expected=2, passed=1, missing=1), timed_out=True), "timed out"),
        (record(GroupCounts(expected=2, missing=2), timed_out=True), "timed out"),
        (
            record(GroupCounts(expected=2, passed=1, not_run=1), exit_codes=(139,)),
            "crashed (SIGSEGV, exit 139)",
        ),
        (
            record(GroupCounts(expected=2, passed=1, not_run=1), exit_codes=(-6,)),
            "crashed (SIGABRT, exit -6)",
        ),
        (
            record(GroupCounts(expected=2, failed=1, not_run=1), exit_codes=(137,)),
            "killed (SIGKILL, exit 137)",
        ),
    ],
)
def test_a_cut_short_run_fails_with_its_reason_when_an_expected_test_is_not_ok(
    given: GateRecord, reason: str
) -> None:
    judgement = judge(given)
    assert (judgement.verdict, judgement.reason) == (Verdict.FAILED, reason)


def test_a_recorded_verdict_that_contradicts_the_tests_is_flagged_and_does_not_count() -> None:
    judgement = judge(record(GroupCounts(expected=1, failed=1), recorded=Verdict.PASSED))
    assert judgement.verdict is Verdict.FAILED
    assert judgement.recorded is Verdict.PASSED
    assert judgement.conflict


def test_a_recorded_verdict_without_any_tests_contradicts_nothing() -> None:
    judgement = judge(record(None, None, recorded=Verdict.PASSED))
    assert judgement.verdict is Verdict.UNMEASURED
    assert not judgement.conflict


def test_a_switch_can_turn_the_verdict() -> None:
    skipped = record(p2p=GroupCounts(expected=1, skipped=1))
    assert judge(skipped).verdict is Verdict.FAILED
    assert judge(skipped, Policy(skip_ok=True)).verdict is Verdict.PASSED
