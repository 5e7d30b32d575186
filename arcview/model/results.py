"""Gate results: outcomes of single tests, counts by group, reports, and what one gate recorded.

A verdict is not here: it is judged from these facts in `analysis.verdicts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from arcview.model.problem import Problem


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
    """Never started, or cut off with the whole run: killed, interrupted, collection error."""


WITHOUT_RESULT = (Outcome.MISSING, Outcome.NOT_RUN)
"""Outcomes of expected tests that say nothing about the tested code by themselves."""


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
    evidence: str | None = None
    """The line of a text log that the outcome was read from; null for structured reports."""
    conflict: str | None = None
    """Why the outcome is in doubt: the id is reported with different outcomes, a test printed a
    line that looks like a result, it passed on a second attempt only."""


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


UNFINISHED = "started, not finished"
"""What `GateTest.reported` says of a test that the report shows only the start of."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Tests that a run did not come to, as far as its report shows that."""

    prefix: str
    """What their ids begin with: a file, package, class, parent test; empty for the whole run."""
    why: str
    """`Interrupted: 2 errors during collection`, `build failed`, `killed, cause unknown`."""
    own_doing: bool = True
    """The tested code or its tests are to blame (build, collection, crash, time-out); false where
    nobody knows (killed, the report just ends)."""

    def covers(self, test_id: str) -> bool:
        """Whether a test with that id is one of them."""
        rest = test_id.removeprefix(self.prefix)
        return not self.prefix or (rest != test_id and not rest[:1].isidentifier())


@dataclass(frozen=True, slots=True)
class Report:
    """What one report file, or one text log, says about one run of tests."""

    format: str
    """Id of the reader."""
    tests: tuple[GateTest, ...] = ()
    """Each id once, in the report's order; of group `other` unless the format has a split.

    What could not be loaded or built is an entry of its own: a file, package or class as id,
    outcome `error`, and its kind (`collection error`, `build failed`) in `reported`.
    """
    announced: int | None = None
    """How many tests the runner said that it would run; null where it did not say."""
    totals: GroupCounts | None = None
    """What the runner itself counted, named or not; null where it did not count."""
    gaps: tuple[Gap, ...] = ()
    """What was not run. An expected test in none of them that is not reported is missing."""
    exit_code: int | None = None
    """The runner's own, where the report holds it."""
    recorded_verdict: Verdict | None = None
    """What a harness made of the tests, where the report holds that."""
    is_scraped: bool = False
    """Read from text meant for people: every outcome has its evidence line."""
    is_damaged: bool = False
    """Parts of the file are lost, so that a missing test says little."""
    notes: tuple[str, ...] = ()
    """Facts about the whole run: crashed workers, hooks, errors outside of tests, odd counts."""
    problems: tuple[Problem, ...] = ()
    """What is wrong with the file."""

    @property
    def stopped(self) -> Gap | None:
        """Why the run ended before all of its tests had run, if it did."""
        return next((gap for gap in self.gaps if not gap.prefix), None)

    @property
    def unreported(self) -> int | None:
        """How many announced tests have no result; null where nothing was announced."""
        if self.announced is None:
            return None
        broken = {gap.prefix for gap in self.gaps}
        named = sum(
            test.copies
            for test in self.tests
            if test.reported != UNFINISHED and test.id not in broken
        )
        counted = self.totals.expected if self.totals else 0
        return max(0, self.announced - max(named, counted))

    def unnamed(self, test_id: str) -> tuple[Outcome, str | None]:
        """What became of an expected test that the report does not name, and why."""
        gap = next((gap for gap in self.gaps if gap.covers(test_id)), None)
        return (Outcome.NOT_RUN, gap.why) if gap else (Outcome.MISSING, None)


@dataclass(frozen=True, slots=True)
class OverlayFile:
    """A file of the gate's own that is laid over the workspace before the gate runs."""

    path: str
    """In the workspace; what the agent has under that name is not what was run."""
    text_path: str
    """Where the file lies, relative to the run folder as `GateRecord.log_paths` are."""


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
    overlay: tuple[OverlayFile, ...] = ()
    """Empty also where nobody says what was laid over the workspace."""
