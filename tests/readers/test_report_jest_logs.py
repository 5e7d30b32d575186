"""Text of jest: titles of two lines, planned tests, files that were left out."""

from __future__ import annotations

import pytest

from tests.readers.report_files import outcomes, the
from tests.readers.test_report_logs import log


def test_a_block_names_a_title_of_two_lines_whole() -> None:
    report = log(
        "FAIL ./a.test.js", "  ● outer › new", "line fails", "", "    boom", "",
        "Test Suites: 1 failed, 1 total", "Tests:       1 failed, 1 total",
    )  # fmt: skip
    assert outcomes(report) == {"a.test.js > outer > new\nline fails": "failed"}
    assert the(report, "a.test.js > outer > new\nline fails").message == "boom"


def test_a_test_that_was_not_begun_has_no_duration_in_its_title() -> None:
    report = log(
        "PASS ./a.test.js", "  ✓ adds (1 ms) (5 ms)", "  ○ skipped waits (1 ms)",
        "  ✎ todo (2 ms)", "", "Test Suites: 1 passed, 1 total",
        "Tests:       1 skipped, 1 todo, 1 passed, 3 total",
    )  # fmt: skip
    assert outcomes(report) == {
        "a.test.js > adds (1 ms)": "passed", "a.test.js > waits (1 ms)": "skipped",
        "a.test.js > (2 ms)": "skipped",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("suites", "is_cut"),
    [
        ("1 failed, 1 of 5 total", True),
        ("4 failed, 1 skipped, 4 of 5 total", False),
        ("1 skipped, 1 passed, 1 of 3 total", True),
        ("5 passed, 5 total", False),
    ],
)
def test_files_that_are_skipped_are_not_left_out(suites: str, is_cut: bool) -> None:
    report = log(
        "PASS ./a.test.js", "  ✓ t", "", f"Test Suites: {suites}", "Tests:       1 passed, 1 total"
    )
    assert (report.stopped is not None) == is_cut


def test_no_tests_are_said_so() -> None:
    report = log("No tests found, exiting with code 1", "In /repo", "  6 files checked.")
    assert outcomes(report) == {}
    assert report.stopped is not None
    assert report.stopped.why == "No tests found, exiting with code 1"


@pytest.mark.parametrize(
    "took", ["", " (5.1 s)", " (23 MB heap size)", " (5.1 s, 23 MB heap size)"]
)
def test_a_heading_may_say_how_long_and_how_much_memory_a_file_took(took: str) -> None:
    report = log(
        f"PASS ./a.test.js{took}", "  o", "    ✓ t (2 ms)", "", "Tests:       1 passed, 1 total"
    )
    assert outcomes(report) == {"a.test.js > o > t": "passed"}
