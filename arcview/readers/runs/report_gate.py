"""What a test report makes of a gate: its counts, and whether anything was measured at all.

Pure functions; the reports themselves are read by `readers.reports`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from arcview.errors import ArcviewError
from arcview.model.problem import Problem
from arcview.model.results import (
    WITHOUT_RESULT,
    GateRecord,
    GateTest,
    Group,
    GroupCounts,
    Outcome,
    Report,
    Verdict,
)
from arcview.readers.registry import find_report_reader
from arcview.readers.reports.collect import doubts
from arcview.readers.runs.assembled import counted

_OK = frozenset({Outcome.PASSED, Outcome.XFAILED})


def find_report(path: Path, shown: str, problems: list[Problem]) -> Report | None:
    """Reads a file as a test report; null when no reader knows it.

    Args:
        path: The file.
        shown: How the user would name it.
        problems: Takes what is wrong with a report that is one.
    """
    try:
        reader, _ = find_report_reader(path)
    except ArcviewError:
        return None
    try:
        report = reader.read(path)
    except ArcviewError as error:
        problems.append(Problem(shown, str(error).removeprefix(f"{path.name}: ")))
        return None
    problems += (_placed(each, path, shown) for each in report.problems)
    return report


def gate_of(
    record: GateRecord, report: Report, *, keep_verdict: bool = True
) -> tuple[GateRecord, tuple[GateTest, ...]]:
    """The record of a gate whose tests a report names, and the tests.

    Args:
        record: What else is known of the gate.
        report: Its report.
        keep_verdict: The report's own verdict is the harness's.
    """
    tests = report.tests
    found = counted(record, tests)
    notes = [*record.notes, *report.notes]
    is_split = any(test.group is not Group.OTHER for test in tests)
    unnamed = report.unreported or 0
    if unnamed and not is_split:
        found = replace(found, other=_with_not_run(found.other, unnamed))
        notes.append(f"{unnamed} announced tests have no result; their names are not known")
    notes += (f"{gap.prefix}: {gap.why}" for gap in report.gaps if gap.prefix)
    if doubted := doubts(tests):
        notes.append(doubted)
    codes = record.exit_codes
    if not codes and report.exit_code is not None:
        codes = (report.exit_code,)
    verdict = report.recorded_verdict if keep_verdict else None
    found = replace(
        found,
        exit_codes=codes,
        recorded_verdict=record.recorded_verdict or verdict,
        unmeasured=record.unmeasured or _unmeasured(report, unnamed),
        notes=tuple(dict.fromkeys(notes)),
    )
    if report.stopped is not None and found.unmeasured is None:
        found = replace(found, notes=tuple(dict.fromkeys((*found.notes, report.stopped.why))))
    return found, tests


def reward_verdict(rewards: dict[str, float]) -> Verdict | None:
    """What rewards say where they say it plainly: all of them full, or none above 0."""
    if rewards and all(value >= 1 for value in rewards.values()):
        return Verdict.PASSED
    if rewards and all(value <= 0 for value in rewards.values()):
        return Verdict.FAILED
    return None


def _unmeasured(report: Report, unnamed: int) -> str | None:
    """Why a report measures nothing; null where it does."""
    expected = [test for test in report.tests if not test.extra]
    stopped = report.stopped
    if not expected and not unnamed:
        return stopped.why if stopped is not None else "the report names no test"
    if stopped is not None and not stopped.own_doing:
        has_failed = any(
            test.outcome not in _OK and test.outcome not in WITHOUT_RESULT for test in expected
        )
        return None if has_failed else stopped.why
    return None


def _with_not_run(counts: GroupCounts | None, unnamed: int) -> GroupCounts:
    known = counts or GroupCounts()
    return replace(known, expected=known.expected + unnamed, not_run=known.not_run + unnamed)


def _placed(problem: Problem, path: Path, shown: str) -> Problem:
    rest = problem.where.removeprefix(path.name)
    return replace(problem, where=f"{shown}{rest}" if rest != problem.where else shown)
