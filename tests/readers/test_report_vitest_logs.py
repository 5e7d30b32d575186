"""Text of vitest 3 and 4: lists with and without suites, marks, counts, hooks, early ends."""

from __future__ import annotations

import pytest

from arcview.model.results import Outcome, Report
from tests.readers.report_files import outcomes, the
from tests.readers.test_report_logs import log

RUN = " RUN  v4.1.12 /repo"
BAR = "⎯" * 7


def run(*lines: str, files: str = "1 passed (1)", tests: str | None = None) -> Report:
    closing = [f" Test Files  {files}", f"      Tests  {tests}"] if tests else []
    return log(RUN, "", *lines, "", *closing)


def test_marks_of_skipped_and_planned_tests_are_read() -> None:
    report = run(
        " ✓ a.test.js (4 tests | 3 skipped) 4ms", "   ✓ runs 1ms", "   ↓ left out",
        "   ↓ began 0ms [why (x)]", "   □ write me 3ms", tests="1 passed | 2 skipped | 1 todo (4)",
    )  # fmt: skip
    assert outcomes(report) == {
        "a.test.js > runs": "passed", "a.test.js > left out": "skipped",
        "a.test.js > began": "skipped", "a.test.js > write me 3ms": "skipped",
    }  # fmt: skip


def test_failures_that_were_expected_count_as_passes() -> None:
    report = run(
        " ✓ a.test.js > one 1ms", " ✓ a.test.js > known bug 1ms",
        tests="1 passed | 1 expected fail (2)",
    )  # fmt: skip
    assert report.totals is not None
    assert (report.totals.passed, report.totals.expected) == (2, 2)
    assert all(test.conflict is None for test in report.tests)
    assert report.stopped is None


def test_more_passes_than_the_runner_counts_are_in_doubt() -> None:
    report = run(
        "stdout | a.test.js > one", "text", "", " ✓ b.test.js > never 3ms",
        " ✓ a.test.js > one 1ms", tests="1 passed (1)",
    )  # fmt: skip
    assert all(test.conflict for test in report.tests)


def test_a_line_of_the_verbose_reporter_among_lists_is_in_doubt() -> None:
    report = run(
        " ✓ b.test.js > never 3ms", " ✓ b.test.js (1 test) 4ms",
        " ❯ a.test.js (1 test | 1 failed) 4ms", "   × t 1ms", files="1 failed | 1 passed (2)",
        tests="1 failed | 1 passed (2)",
    )  # fmt: skip
    assert "outside of the lists" in str(the(report, "b.test.js > never").conflict)
    assert the(report, "a.test.js > t").conflict is None


def test_suites_of_the_tree_reporter_are_no_tests() -> None:
    report = run(
        " ❯ a.test.js (5 tests | 1 failed) 9ms", "   × plain 1ms", "   ❯ outer (3)",
        "     ❯ inner (1)", "       ✓ deep 0ms", "     ↓ left (1)", "       ↓ in left",
        "     ✓ after 0ms", files="1 failed (1)", tests="1 failed | 2 passed | 1 skipped (4)",
    )  # fmt: skip
    assert outcomes(report) == {
        "a.test.js > plain": "failed", "a.test.js > outer > inner > deep": "passed",
        "a.test.js > outer > left > in left": "skipped", "a.test.js > outer > after": "passed",
    }  # fmt: skip


def test_suites_that_are_not_printed_are_not_guessed() -> None:
    report = run(
        " ❯ a.test.js (3 tests | 2 failed) 9ms", "   × plain 1ms", "       ✓ deep 0ms",
        "       × deep fails 2ms", "", f"{BAR} Failed Tests 2 {BAR}", "",
        " FAIL  a.test.js > plain", "Error: x", "", f"{BAR}[1/2]{BAR}", "",
        " FAIL  a.test.js > outer > inner > deep fails", "Error: y", "",
        f"{BAR}[2/2]{BAR}", files="1 failed (1)", tests="2 failed | 1 passed (3)",
    )  # fmt: skip
    assert outcomes(report) == {
        "a.test.js > plain": "failed", "a.test.js > … > deep": "passed",
        "a.test.js > outer > inner > deep fails": "failed",
    }  # fmt: skip
    assert the(report, "a.test.js > outer > inner > deep fails").message == "Error: y"


def test_slow_tests_have_a_further_blank_before_their_duration() -> None:
    report = run(
        " ❯ a.test.js (2 tests) 1300ms", "   ✓ slow  1207ms", "   ✓ blank  2ms",
        tests="2 passed (2)",
    )  # fmt: skip
    assert set(outcomes(report)) == {"a.test.js > slow", "a.test.js > blank "}


def test_the_heading_of_a_title_with_two_lines_is_no_further_test() -> None:
    report = run(
        " × a.test.js > new", "line fails 0ms", "", f"{BAR} Failed Tests 1 {BAR}", "",
        " FAIL  a.test.js > new", "line fails", "Error: a", files="1 failed (1)",
        tests="1 failed (1)",
    )  # fmt: skip
    assert outcomes(report) == {"a.test.js > new\nline fails": "failed"}


def test_a_suite_whose_hook_failed_is_a_gap_and_no_test() -> None:
    report = run(
        " ❯ a.test.js (1 test | 1 skipped) 9ms", "     ↓ h1", "",
        f"{BAR} Failed Suites 1 {BAR}", "", " FAIL  a.test.js > hooked", "Error: hook",
        files="1 failed (1)", tests="1 skipped (1)",
    )  # fmt: skip
    assert "a.test.js > hooked" not in outcomes(report)
    assert report.unnamed("a.test.js > hooked > h1") == (Outcome.NOT_RUN, "hook failed")
    assert any("hook failed: a.test.js > hooked: Error: hook" in note for note in report.notes)


def test_after_bail_queued_tests_were_not_run() -> None:
    report = run(
        " ❯ a.test.js (3 tests | 1 failed) 9ms", "   × one 1ms", "   · two", "   · three 2ms",
        files="1 failed (5)", tests="1 failed (3)",
    )  # fmt: skip
    assert outcomes(report) == {
        "a.test.js > one": "failed", "a.test.js > two": "not_run",
        "a.test.js > three 2ms": "not_run",
    }  # fmt: skip
    assert report.stopped is not None
    assert report.stopped.why == "ended early: Test Files 1 failed (5)"


def test_no_test_files_are_said_so() -> None:
    report = log(RUN, "", "No test files found, exiting with code 1", "")
    assert report.stopped is not None
    assert report.stopped.why == "No test files found, exiting with code 1"


@pytest.mark.parametrize("mark", ["✓", "×"])
def test_a_blank_at_the_end_of_a_line_is_no_part_of_a_title(mark: str) -> None:
    (test_id,) = outcomes(run(f" {mark} a.test.js > t "))
    assert test_id == "a.test.js > t"


@pytest.mark.parametrize("project", ["|unit| ", " unit  ", " my proj  "])
def test_the_name_of_a_project_is_no_part_of_a_file(project: str) -> None:
    bar = "⎯" * 7
    lists = run(
        f" ✓ {project}b.test.js (1 test) 2ms", f" ❯ {project}a.test.js (2 tests | 1 failed) 5ms",
        "   ✓ ok 1ms", "   × bad 4ms", "", f"{bar} Failed Tests 1 {bar}", "",
        f" FAIL  {project}a.test.js > bad", "Error: x", "", f"{bar}[1/1]{bar}",
        files="1 failed | 1 passed (2)", tests="1 failed | 2 passed (3)",
    )  # fmt: skip
    assert outcomes(lists) == {"a.test.js > ok": "passed", "a.test.js > bad": "failed"}
    assert the(lists, "a.test.js > bad").message == "Error: x"
    verbose = run(f" ✓ {project}b.test.js > o > ok 1ms", tests="1 passed (1)")
    assert outcomes(verbose) == {"b.test.js > o > ok": "passed"}
