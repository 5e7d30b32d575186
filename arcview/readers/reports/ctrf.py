"""Reads CTRF, the Common Test Report Format (`{"reportFormat": "CTRF", …}`).

Format: https://ctrf.io/docs/specification. Must not import pydantic.
"""

from __future__ import annotations

import re
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.results import GateTest, Group, GroupCounts, Outcome, Report
from arcview.readers.fields import Fields
from arcview.readers.registry import Detection
from arcview.readers.reports.collect import joined, merged

_STATUSES = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "skipped": Outcome.SKIPPED,
    "pending": Outcome.SKIPPED,
}
_RAW = {
    "xfailed": Outcome.XFAILED,
    "xpassed": Outcome.XPASSED,
    "setup_failed": Outcome.ERROR,
    "teardown_failed": Outcome.ERROR,
    "error": Outcome.ERROR,
    "timedout": Outcome.TIMEOUT,
    "timed out": Outcome.TIMEOUT,
    "timeout": Outcome.TIMEOUT,
    "interrupted": Outcome.NOT_RUN,
}
"""What the runner's own status refines, in lower case."""
_LEFT_OUT = frozenset({"todo", "pending", "skipped", "disabled", "ignored"})
"""Own statuses of tests that were not run, which some writers call `other`."""


_NESTED = (
    re.compile(rb'"results"\s*:\s*\{'),
    re.compile(rb'"tool"\s*:\s*\{'),
    re.compile(rb'"summary"\s*:\s*\{|"tests"\s*:\s*\['),
)


class CtrfReader:
    """Reads CTRF reports."""

    id = "ctrf"
    title = "CTRF (Common Test Report Format)"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the format's name, or its nested objects."""
        if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return None
        if b'"reportFormat"' in head and b'"CTRF"' in head:
            return Detection(self.id, "an object with reportFormat CTRF")
        if all(key.search(head) for key in _NESTED):
            return Detection(self.id, "an object with results.tool and its summary or tests")
        return None

    def read(self, path: Path) -> Report:
        """Reads the tests in the report's order, each id once.

        Raises:
            BadInputError: the file is not such a report.
        """
        problems: list[Problem] = []
        results = Fields.json_file(path, path.name, problems).sub("results")
        if not isinstance(results.values.get("tests"), list):
            raise BadInputError(path.name, "expected a list of tests", "results.tests")
        summary = results.sub("summary")
        return Report(
            format=self.id,
            tests=merged(_test(entry) for entry in results.records("tests")),
            announced=summary.count("tests"),
            totals=_totals(summary),
            problems=tuple(problems),
        )


def _totals(summary: Fields) -> GroupCounts | None:
    passed, failed = summary.count("passed"), summary.count("failed")
    if passed is None or failed is None:
        return None
    skipped = (summary.count("skipped") or 0) + (summary.count("pending") or 0)
    error = summary.count("other") or 0
    total = passed + failed + skipped + error
    return GroupCounts(expected=total, passed=passed, failed=failed, skipped=skipped, error=error)


def _test(entry: Fields) -> GateTest:
    status, raw = entry.text("status"), entry.text("rawStatus")
    outcome = _STATUSES.get(status or "", Outcome.ERROR)
    refined = _RAW.get((raw or "").lower())
    # A test may call itself anything: a raw status never makes a failure better than it is.
    if refined is not None and (outcome is not Outcome.FAILED or refined is not Outcome.XPASSED):
        outcome = refined
    elif status == "other" and (raw or "").lower() in _LEFT_OUT:
        outcome = Outcome.SKIPPED
    duration = entry.number("duration")
    word = raw or status or "no status"
    retries = entry.count("retries") or 0
    is_flaky = outcome is Outcome.PASSED and (entry.flag("flaky") or retries > 0)
    return GateTest(
        id=_id(entry),
        group=Group.OTHER,
        outcome=outcome,
        duration_s=None if duration is None else duration / 1000,
        message=entry.text("message"),
        traceback=entry.text("trace"),
        stdout=_lines(entry, "stdout"),
        stderr=_lines(entry, "stderr"),
        reported=None if word == outcome.value else word,
        conflict=f"flaky: passed after {retries} retries" if is_flaky else None,
    )


def _id(entry: Fields) -> str:
    """The name where it is a whole id already, else the suites and the title.

    The name may hold the titles of the suites, too; of a suite's path the file is no part of that.
    """
    name = entry.text("name") or entry.prefix
    suite = entry.values.get("suite")
    parts = entry.texts("suite") if isinstance(suite, list) else str(suite or "").split(" > ")
    suites = [part for part in parts if part]
    if "::" in name or not suites or name.startswith(f"{suites[0]} > "):
        return name
    before = " ".join(suites[1:])
    if before and name.startswith(f"{before} "):
        return " > ".join([*suites, name.removeprefix(f"{before} ")])
    return name if name.startswith(suites[0]) else " > ".join([*suites, name])


def _lines(entry: Fields, key: str) -> str | None:
    value = entry.values.get(key)
    return joined(entry.texts(key), "\n") if isinstance(value, list) else entry.text(key)
