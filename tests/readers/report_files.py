"""Writes the files that the tests of report readers read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from arcview.model.results import GateTest, Report
from arcview.readers.registry import find_report_reader


def read_as(path: Path, text: str | bytes) -> Report:
    """Writes a file and reads it by whatever reader knows it."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    reader, _ = find_report_reader(path)
    return reader.read(path)


def read_lines(path: Path, records: Iterable[object]) -> Report:
    """The same for a file with a JSON record a line."""
    return read_as(path, "".join(json.dumps(record) + "\n" for record in records))


def outcomes(report: Report) -> dict[str, str]:
    return {test.id: test.outcome.value for test in report.tests}


def the(report: Report, test_id: str) -> GateTest:
    return next(test for test in report.tests if test.id == test_id)
