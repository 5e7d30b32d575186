"""Reads pytest's terminal output, whole or in part: verbose or dots, with pytest-xdist, cut off.

Several runs in one log are read one by one. Pure; must not read files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from arcview.model.results import UNFINISHED, Gap, GroupCounts, Outcome, Report
from arcview.readers.reports.collect import (
    COLLECTION_ERROR,
    beside,
    broken,
    combined,
    joined,
    last_line,
)
from arcview.readers.reports.logs.log import MAX_LINE, Details, Found, cut_off, ending
from arcview.readers.reports.logs.pytest_blocks import details
from arcview.readers.reports.logs.pytest_session import Session
from arcview.readers.reports.logs.pytest_state import Mode, is_section

FAMILY = "pytest"
_SESSION = "test session starts"
_TIMEOUT = "+++ Timeout +++"
_MARKS = {
    ".": "passed",
    "F": "failed",
    "E": "error",
    "s": "skipped",
    "x": "xfailed",
    "X": "xpassed",
}


def read_pytest(lines: Sequence[str]) -> Report:
    """Reads every run of pytest in a log.

    Args:
        lines: The log, without terminal escapes.
    """
    starts = _starts(lines)
    pieces = [0, *starts] if not starts or starts[0] > 0 else starts
    sessions = []
    for number, start in enumerate(pieces):
        end = pieces[number + 1] if number + 1 < len(pieces) else len(lines)
        is_whole = start in starts
        mode = Mode.PROGRESS if is_whole else Mode.FRAGMENT
        piece = lines if end - start == len(lines) else lines[start:end]
        session = Session(piece, start + 1, mode, is_fragment=not is_whole)
        session.read()
        session.settle()
        if start in starts or not session.found.is_empty or session.uncollected or not starts:
            sessions.append(session)
    reports = [_report(session) for session in sessions]
    return combined(FAMILY, reports)


def _starts(lines: Sequence[str]) -> list[int]:
    """Where runs begin: a heading that a test prints has no line about the platform below it."""
    starts: list[int] = []
    is_progress = True
    for index, line in enumerate(lines):
        if line[:1] != "=" or len(line) >= MAX_LINE:
            continue
        title = line.strip("= ")
        if title == _SESSION:
            following = lines[index + 1] if index + 1 < len(lines) else "platform "
            if following.startswith("platform ") or (is_progress and not starts):
                starts.append(index)
        elif is_section(title):
            is_progress = False
    return starts


def _report(session: Session) -> Report:
    found = session.found
    for test_id, count in session.reruns.items():
        _flaky(found, test_id, count)
    for test_id in session.subtests.failed:
        _subfailed(found, test_id)
    gap = _gap(session)
    if gap is not None:
        _crashed(session, gap)
    failed = [
        test_id
        for test_id, sightings in found.sightings.items()
        if any(s.outcome in (Outcome.FAILED, Outcome.ERROR) for s in sightings)
    ]
    found.details = details(session.lines, session.blocks, [*failed, *session.uncollected])
    for test_id, failures in session.subtests.failed.items():
        _tell_subtests(found, test_id, failures)
    totals = _totals(session)
    broken_files = [
        replace(
            broken(path, COLLECTION_ERROR, *_why(session, path)),
            evidence=line,
        )
        for path, line in session.uncollected.items()
    ]
    gaps = [Gap(path, COLLECTION_ERROR) for path in session.uncollected]
    return Report(
        format=FAMILY,
        tests=beside(found.tests(totals if session.totals else None), after=broken_files),
        announced=_announced(session),
        totals=totals,
        gaps=tuple([*gaps, gap] if gap else gaps),
        is_scraped=True,
        notes=tuple(_notes(session)),
    )


def _why(session: Session, path: str) -> tuple[str | None, str | None]:
    """One line of why a file could not be collected, and all of it."""
    told = session.found.details.get(path, Details())
    return last_line(told.message) or session.why_uncollected.get(path), told.traceback


def _flaky(found: Found, test_id: str, count: int) -> None:
    sightings = found.of(test_id)
    if sightings and all(sighting.outcome is Outcome.PASSED for sighting in sightings):
        doubt = f"flaky: passed after {count} failed attempts"
        sightings[0] = sightings[0]._replace(doubt=doubt)


def _subfailed(found: Found, test_id: str) -> None:
    """A test some of whose subtests failed is never a clean pass."""
    found.sightings[test_id] = [
        sighting._replace(outcome=Outcome.FAILED, reported="passed, but subtests failed")
        if sighting.outcome is Outcome.PASSED
        else sighting
        for sighting in found.of(test_id)
    ]


def _tell_subtests(found: Found, test_id: str, failures: list[str]) -> None:
    """Puts the failed subtests, by name, before what else is told of their test."""
    told = found.details.get(test_id, Details())
    others = [sighting.message for sighting in found.of(test_id)]
    names = joined(dict.fromkeys(failures), "\n")
    message = joined([names, told.message or joined(dict.fromkeys(others), "\n")], "\n")
    found.details[test_id] = replace(told, message=message)


def _gap(session: Session) -> Gap | None:
    """Why the run ended before its end, if it did."""
    if session.interrupted is not None:
        text = session.interrupted
        is_own = "error" in text or "stopping after" in text
        return Gap("", text, own_doing=is_own)
    if session.internal_error is not None:
        return Gap("", f"internal error of pytest: {session.internal_error}", own_doing=False)
    if session.not_started is not None:
        is_own = session.not_started.startswith("ImportError")
        return Gap("", session.not_started, own_doing=is_own)
    if session.only_collected:
        return Gap("", "the tests were only collected, not run", own_doing=False)
    if session.totals is not None:
        return None
    is_piece = session.is_fragment and session.announced is None
    if is_piece and (session.mode is Mode.FRAGMENT or session.listed.has_heading):
        return ending(session.lines)  # with `-qq` there is no closing line
    if any(_TIMEOUT in line for line in session.lines):
        return Gap("", "timed out: pytest-timeout ended the run")
    return cut_off("there is no closing line", session.lines)


def _crashed(session: Session, gap: Gap) -> None:
    """Gives the test that was running when pytest crashed or timed out the blame."""
    last = next(reversed(session.found.sightings.values()), None)
    if not last or last[-1].reported != UNFINISHED:
        return
    if last[-1].line < next(reversed(session.found.passed.values()), 0):
        return  # others ran after it
    timed_out = any(_TIMEOUT in line for line in session.lines[last[-1].line :])
    timed_out = timed_out or _TIMEOUT in last[-1].text
    if timed_out:
        last[-1] = last[-1]._replace(outcome=Outcome.TIMEOUT, message="timed out")
    elif gap.own_doing:
        last[-1] = last[-1]._replace(outcome=Outcome.ERROR, message=gap.why)


def _totals(session: Session) -> GroupCounts | None:
    """Pytest's counts of tests: without files, subtests, and errors after another result."""
    totals = session.totals
    if totals is None:
        if not session.marks:
            return None
        counts: Counter[str] = Counter()
        for mark, number in session.marks.items():
            if mark in _MARKS:
                counts[_MARKS[mark]] += number
        return GroupCounts(expected=sum(counts.values()), **counts)
    second = sum(
        {Outcome.ERROR} < {sighting.outcome for sighting in sightings}
        for sightings in session.found.sightings.values()
    )
    failed = _without_subtests(session, totals.failed)
    error = max(0, totals.error - len(session.uncollected) - second)
    less = (totals.failed - failed) + (totals.error - error)
    return replace(totals, failed=failed, error=error, expected=totals.expected - less)


def _without_subtests(session: Session, failed: int) -> int:
    """Pytest counts a failed subtest as a failure beside the test's own, from version 9 on."""
    words = Counter(entry.word for _, entry in session.listed.entries)
    return max(min(failed, words["FAILED"]), failed - words["SUBFAILED"])


def _announced(session: Session) -> int | None:
    if session.announced is not None:
        return session.announced
    possible = [] if session.reruns else _sizes(session.progress.percents)
    return possible[0] if len(possible) == 1 else None


def _sizes(percents: Sequence[int]) -> list[int]:
    """The numbers of tests that give these percentages, if they are the first ones of a run."""
    if not percents or percents[0] in (0, 100):
        return []
    low = len(percents)
    return [
        size
        for size in range(low, 101)
        if all(done * 100 // size == percent for done, percent in enumerate(percents, start=1))
    ]


def _notes(session: Session) -> list[str]:
    notes = [*session.notes, *session.found.notes()]
    if session.announced is None and (size := _announced(session)) is not None:
        notes.append(f"the percentages say {size} tests")
    named = sum(
        any(sighting.outcome is Outcome.SKIPPED for sighting in sightings)
        for sightings in session.found.sightings.values()
    )
    if (unnamed := session.listed.unnamed_skips - named) > 0:
        what = "1 skipped test has" if unnamed == 1 else f"{unnamed} skipped tests have"
        notes.append(f"{what} no name: {'; '.join(session.listed.skipped_places[:5])}")
    if session.internal_error is not None:
        notes.append(f"internal error of pytest: {session.internal_error}")
    return notes
