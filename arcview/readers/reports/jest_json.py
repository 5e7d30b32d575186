"""Reads the JSON of jest (`--json`) and of vitest (`--reporter=json`), which writes the same.

Format: https://jestjs.io/docs/configuration#testresultsprocessor-string. Must not import pydantic.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.results import Gap, GateTest, Group, GroupCounts, Outcome, Report
from arcview.readers.fields import Fields
from arcview.readers.registry import Detection
from arcview.readers.reports.collect import (
    FILE_FAILED,
    broken,
    embedded_object,
    joined,
    merged,
)

_STATUSES = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "skipped": Outcome.SKIPPED,
    "pending": Outcome.SKIPPED,
    "todo": Outcome.SKIPPED,
    "disabled": Outcome.SKIPPED,
}
_TITLES_OF_FAILED_SUITE = "Test suite failed to run"


class JestJsonReader:
    """Reads the JSON of jest and vitest."""

    id = "jest_json"
    title = "jest or vitest JSON"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the totals that stand first."""
        if b'"numTotalTest' in head and b'"numFailedTest' in head:
            return Detection(self.id, "an object with numTotalTests")
        if b'"testResults"' in head and b'"assertionResults"' in head:
            return Detection(self.id, "an object with testResults and assertionResults")
        return None

    def read(self, path: Path) -> Report:
        """Reads the tests in the report's order, as `file > describe > test`.

        Raises:
            BadInputError: the file is not such a report.
        """
        problems: list[Problem] = []
        report = embedded_object(path, problems, "testResults")
        if not isinstance(report.values.get("testResults"), list):
            raise BadInputError(path.name, "expected a list of test files", "testResults")
        files = report.records("testResults")
        entries = [test for file in files for test in _file(file)]
        gaps = [Gap(test.id, FILE_FAILED) for test in entries if test.reported == FILE_FAILED]
        if report.flag("wasInterrupted"):
            gaps.append(Gap("", "interrupted", own_doing=False))
        return Report(
            format=self.id,
            tests=merged(entries),
            announced=report.count("numTotalTests"),
            totals=_totals(report),
            gaps=tuple(gaps),
            notes=tuple(_notes(report, entries)),
            problems=tuple(problems),
        )


def _totals(report: Fields) -> GroupCounts | None:
    passed, failed = report.count("numPassedTests"), report.count("numFailedTests")
    if passed is None or failed is None:
        return None
    skipped = (report.count("numPendingTests") or 0) + (report.count("numTodoTests") or 0)
    return GroupCounts(
        expected=passed + failed + skipped, passed=passed, failed=failed, skipped=skipped
    )


def _notes(report: Fields, entries: list[GateTest]) -> Iterator[str]:
    bad = any(test.outcome in (Outcome.FAILED, Outcome.ERROR) for test in entries)
    if report.flag("success") is False and not bad:
        yield "the run failed, though no test did: an error outside of tests, or a hook"


def _file(file: Fields) -> Iterator[GateTest]:
    name = file.text("name") or file.prefix
    tests = file.records("assertionResults") if "assertionResults" in file.values else []
    for entry in tests:
        yield _test(entry, name)
    message = file.text("message") or ""
    failed = any(entry.text("status") == "failed" for entry in tests)
    if file.text("status") == "failed" and not failed and (message or not tests):
        yield broken(name, FILE_FAILED, _why(message), message.strip() or None)


def _why(message: str) -> str | None:
    """The first line that says something, below jest's heading."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    said = [line for line in lines if not line.endswith(_TITLES_OF_FAILED_SUITE)]
    return next(iter(said or lines), None)


def _test(entry: Fields, file: str) -> GateTest:
    status = entry.text("status") or "no status"
    outcome = _STATUSES.get(status, Outcome.ERROR)
    failures = entry.texts("failureMessages") if "failureMessages" in entry.values else []
    duration = entry.number("duration")
    titles = entry.texts("ancestorTitles") if "ancestorTitles" in entry.values else []
    title = entry.text("title")
    parts = [*titles, title] if title is not None else [entry.text("fullName") or entry.prefix]
    failed = outcome is not Outcome.PASSED
    return GateTest(
        id=" > ".join([file, *parts]),
        group=Group.OTHER,
        outcome=outcome,
        duration_s=None if duration is None else duration / 1000,
        message=failures[0].partition("\n    at ")[0] if failures and failed else None,
        traceback=joined(failures) if failed else None,
        reported=None if status == outcome.value else status,
        conflict=_flaky(entry, outcome, len(failures)),
    )


def _flaky(entry: Fields, outcome: Outcome, failures: int) -> str | None:
    """Jest counts attempts, vitest keeps the messages of those that failed."""
    attempts = entry.count("invocations") or 1
    failed = max(attempts - 1, failures)
    if outcome is Outcome.PASSED and failed:
        return f"flaky: passed after {failed} failed attempts"
    return None
