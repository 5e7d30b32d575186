"""Gate results: outcomes of single tests, counts by group, and what one gate recorded.

A verdict is not here: it is judged from these facts in `analysis.verdicts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What happened to one expected test."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    TIMEOUT = "timeout"
    MISSING = "missing"
    """Expected, but the report does not name it."""
    NOT_RUN = "not_run"
    """Never started: killed, interrupted, collection error."""


class Group(StrEnum):
    """Which list of a gate a test belongs to."""

    F2P = "f2p"
    P2P = "p2p"
    OTHER = "other"
    """No F2P/P2P split is recorded."""


class Verdict(StrEnum):
    """What a gate says. `UNMEASURED` is never folded into one of the others."""

    PASSED = "passed"
    FAILED = "failed"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, slots=True)
class GateTest:
    """One test of one gate, as recorded. Text is as it came from the run: hostile, untruncated."""

    id: str
    """Unique within its gate and group; see `Stage.gate` readers for how foreign ids are made."""
    group: Group
    outcome: Outcome
    duration_s: float | None = None
    message: str | None = None
    """The assertion or error message, where one is recorded."""
    traceback: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    reported: str | None = None
    """The word the report itself used, where it differs from `outcome`."""
    extra: bool = False
    """Reported but not expected: shown and counted, never part of the verdict."""
    copies: int = 1
    """How often the report names this id; above 1 the worst outcome counts."""


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """How many tests of one group ended how. `expected` is their sum without `extra`."""

    expected: int = 0
    passed: int = 0
    failed: int = 0
    error: int = 0
    skipped: int = 0
    xfailed: int = 0
    xpassed: int = 0
    timeout: int = 0
    missing: int = 0
    not_run: int = 0
    extra: int = 0
    """Reported but not expected."""
    duplicated: int = 0
    """Ids that the report names more than once."""

    @classmethod
    def of(cls, tests: Iterable[GateTest]) -> GroupCounts:
        """Counts the given tests of one group."""
        outcomes: Counter[str] = Counter()
        expected = extra = duplicated = 0
        for test in tests:
            duplicated += test.copies > 1
            if test.extra:
                extra += 1
                continue
            expected += 1
            outcomes[test.outcome.value] += 1
        return cls(expected=expected, extra=extra, duplicated=duplicated, **outcomes)


@dataclass(frozen=True, slots=True)
class GateRecord:
    """What was recorded about one gate run on one state; counts only, no single tests."""

    gate: str
    """`"1"` … `"n"`, or `"chain"`."""
    state: str | None
    """Id of the state it ran on (`S3`, `S2.refactor`), or null where that is not recorded."""
    f2p: GroupCounts | None = None
    """Null where the group was not measured or the run has no such split."""
    p2p: GroupCounts | None = None
    other: GroupCounts | None = None
    unmeasured: str | None = None
    """Why nothing was measured, as far as is known (`infrastructure failure: exit 126`)."""
    recorded_verdict: Verdict | None = None
    """The verdict that the harness itself wrote down, if any."""
    exit_codes: tuple[int, ...] = ()
    timed_out: bool = False
    started: str | None = None
    """ISO 8601, as recorded."""
    duration_s: float | None = None
    notes: tuple[str, ...] = ()
    """Facts worth showing beside the counts (an image that is not the recorded one, a rerun …)."""
    log_paths: tuple[str, ...] = ()
    """Raw logs and reports, relative to the run folder, in the order to show them."""
