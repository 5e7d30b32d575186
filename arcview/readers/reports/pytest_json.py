"""Reads the report of pytest-json-report (`--json-report`).

Format: https://github.com/numirias/pytest-json-report#format. Must not import pydantic.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.results import GateTest, Group, Outcome, Report
from arcview.readers.fields import Fields
from arcview.readers.registry import Detection
from arcview.readers.reports.collect import (
    COLLECTION_ERROR,
    broken,
    joined,
    last_line,
    merged,
    pytest_gaps,
)

_PHASES = ("setup", "call", "teardown")
_BAD = frozenset({"failed", "error"})


class PytestJsonReader:
    """Reads `report.json` of pytest-json-report."""

    id = "pytest_json"
    title = "pytest-json-report"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the keys that the plugin writes before the first test."""
        if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return None
        if b'"exitcode"' in head and (b'"created"' in head or b'"root"' in head):
            return Detection(self.id, "an object with exitcode and created")
        return None

    def read(self, path: Path) -> Report:
        """Reads the tests in the report's order, each node id once.

        Raises:
            BadInputError: the file is not such a report.
        """
        problems: list[Problem] = []
        report = _report(path, path.name, problems)
        tests = [_test(entry) for entry in report.records("tests")]
        collectors = _failed_collectors(report)
        exit_code = report.count("exitcode")
        collected = report.sub("summary").count("collected")
        deselected = report.sub("summary").count("deselected") or 0
        return Report(
            format=self.id,
            tests=merged([*tests, *collectors]),
            announced=None if collected is None else max(0, collected - deselected),
            gaps=pytest_gaps(collectors, exit_code),
            exit_code=exit_code,
            problems=tuple(problems),
        )


def read_entries(path: Path, shown: str, problems: list[Problem]) -> list[GateTest]:
    """Reads every entry of a report, repeated node ids included; ids are node ids.

    Modules that could not be collected are entries of their own, with outcome `error`.

    Args:
        path: The report.
        shown: How the user would name it.
        problems: Takes what is wrong inside an otherwise readable report.

    Raises:
        BadInputError: the file is not such a report.
    """
    report = _report(path, shown, problems)
    entries = [_test(entry) for entry in report.records("tests")]
    return [*entries, *_failed_collectors(report)]


def _report(path: Path, shown: str, problems: list[Problem]) -> Fields:
    report = Fields.json_file(path, shown, problems)
    if not isinstance(report.values.get("tests"), list):
        raise BadInputError(shown, "expected a list of tests", "tests")
    return report


def _test(entry: Fields) -> GateTest:
    phases = [(name, entry.sub(name)) for name in _PHASES if name in entry.values]
    told = [phase for _, phase in phases if phase.text("outcome") in _BAD]
    told = told or [phase for _, phase in phases if phase.values.get("longrepr")]
    durations = [phase.number("duration") for _, phase in phases]
    word = entry.text("outcome")
    outcome = _outcome(word)
    return GateTest(
        id=entry.text("nodeid") or entry.prefix,
        group=Group.OTHER,
        outcome=outcome,
        duration_s=None
        if None in durations or not durations
        else sum(map(float, _some(durations))),
        message=joined(_message(phase) for phase in told),
        traceback=joined(_longrepr(phase) for phase in told),
        stdout=_captured(phases, "stdout"),
        stderr=_captured(phases, "stderr"),
        reported=None if word == outcome.value else (word or "no outcome"),
    )


def _some(values: Iterable[float | None]) -> Iterator[float]:
    return (value for value in values if value is not None)


def _outcome(word: str | None) -> Outcome:
    """The outcome that a word of the report means; one that is not known counts as an error."""
    try:
        # Where the last thing that a test reports is a subtest, its word is `subtests passed`.
        return Outcome((word or "").removeprefix("subtests "))
    except ValueError:
        return Outcome.ERROR


def _message(phase: Fields) -> str | None:
    """The crash message; for a skipped test the reason, which the report keeps in a tuple."""
    if "crash" in phase.values and (message := phase.sub("crash").text("message")):
        return message
    longrepr = _longrepr(phase)
    if longrepr is None:
        return None
    if phase.text("outcome") == "skipped" and longrepr.startswith("("):
        return _skip_reason(longrepr) or longrepr
    lines = longrepr.strip().splitlines()
    return lines[-1] if lines else None


def _skip_reason(longrepr: str) -> str | None:
    """The last item of `('file', 12, 'Skipped: why')`."""
    try:
        parts = ast.literal_eval(longrepr)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return parts[-1] if isinstance(parts, tuple) and isinstance(parts[-1], str) else None


def _longrepr(phase: Fields) -> str | None:
    value = phase.values.get("longrepr")
    return value if isinstance(value, str) else phase.text("longreprtext")


def _captured(phases: list[tuple[str, Fields]], stream: str) -> str | None:
    """What was captured of a stream; headed by the phase where several have some."""
    parts = [(name, text) for name, phase in phases if (text := phase.text(stream))]
    if len(parts) == 1:
        return parts[0][1]
    return "\n".join(f"--- {name} ---\n{text}" for name, text in parts) or None


def _failed_collectors(report: Fields) -> list[GateTest]:
    """Modules that could not be collected: their tests never became entries."""
    if "collectors" not in report.values:
        return []
    return [
        broken(
            collector.text("nodeid") or collector.prefix,
            COLLECTION_ERROR,
            last_line(_longrepr(collector)),
            _longrepr(collector),
        )
        for collector in report.records("collectors")
        if collector.text("outcome") in _BAD
    ]
