"""`go test`, as text and as JSON of older versions, which printed lines could fool."""

from __future__ import annotations

import json

from arcview.model.results import Report
from arcview.readers.registry import report_reader
from arcview.readers.reports.go_test import read_events
from tests.readers.report_files import outcomes, the
from tests.readers.test_report_logs import log


def events(*rows: tuple[str, str | None] | tuple[str, str | None, str]) -> Report:
    records = []
    for action, test, *output in rows:
        record = {"Action": action, "Package": "m/a"}
        if test is not None:
            record["Test"] = test
        if output:
            record["Output"] = output[0]
        records.append(record)
    return read_events("\n".join(map(json.dumps, records)).encode(), "go.json")


def test_a_test_that_ended_twice_is_in_doubt_and_failed() -> None:
    report = events(
        ("run", "TestA"), ("pass", "TestA"), ("run", "TestB"), ("fail", "TestA"),
        ("pass", "TestB"), ("fail", "TestB"), ("pass", "TestB"), ("fail", None),
    )  # fmt: skip
    assert outcomes(report) == {"m/a TestA": "failed", "m/a TestB": "failed"}
    assert "ended twice, passed and failed" in str(the(report, "m/a TestA").conflict)


def test_a_result_without_a_start_is_in_doubt() -> None:
    report = events(("run", "TestA"), ("pass", "TestNever"), ("pass", "TestA"), ("pass", None))
    assert the(report, "m/a TestA").conflict is None
    assert "no start" in str(the(report, "m/a TestNever").conflict)


def test_a_result_behind_text_without_a_line_end_is_read_and_in_doubt() -> None:
    report = events(
        ("run", "TestA"), ("output", "TestA", "no line end--- PASS: TestA (0.00s)\n"),
        ("run", "TestB"), ("fail", "TestB"), ("fail", None),
    )  # fmt: skip
    assert outcomes(report) == {"m/a TestA": "passed", "m/a TestB": "failed"}
    assert "behind printed text" in str(the(report, "m/a TestA").conflict)


def test_repeated_runs_are_no_doubt() -> None:
    report = events(("run", "TestA"), ("pass", "TestA"), ("run", "TestA"), ("pass", "TestA"))
    assert the(report, "m/a TestA").copies == 2
    assert the(report, "m/a TestA").conflict is None


def test_a_printed_frame_hides_no_failures_of_a_run_that_is_not_verbose() -> None:
    report = log(
        "--- FAIL: TestA (0.00s)", "    a_test.go:4: bad", "=== RUN   TestNever",
        "--- PASS: TestNever (0.00s)", "--- FAIL: TestB (0.00s)", "    a_test.go:9: bad too",
        "FAIL", "FAIL\tm/a\t0.011s",
    )  # fmt: skip
    assert outcomes(report) == {"m/a TestA": "failed", "m/a TestB": "failed"}
    assert any("TestNever" in note for note in report.notes)


def test_packages_that_pass_without_naming_tests_are_counted() -> None:
    text = b"ok  \tm/a\t0.01s\nok  \tm/b\t(cached)\n?   \tm/c\t[no test files]\n"
    assert report_reader("text_log").detect(text, "log.txt") is not None
    report = log(text.decode().rstrip())
    assert outcomes(report) == {}
    assert "2 packages pass without naming a test" in report.notes
