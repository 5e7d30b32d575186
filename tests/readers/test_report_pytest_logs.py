"""Terminal output of pytest in its rarer forms: other columns, blanks in paths, no capturing."""

from __future__ import annotations

import pytest

from arcview.model.results import Outcome
from arcview.readers.registry import report_reader
from arcview.readers.reports.text_log import read_log
from tests.readers.report_files import outcomes, the
from tests.readers.test_report_logs import log, pytest_run

SUMMARY = "=== short test summary info ==="


@pytest.mark.parametrize("column", ["176.2us", "1.2ms", "59.01s", "2m 5s", "1h 30m"])
def test_durations_may_stand_where_the_progress_is(column: str) -> None:
    report = pytest_run(
        3, f"a.py::t[x y] PASSED   {column}", f"a.py::u FAILED    {column}",
        f"a.py::v SKIPPED (why)   {column}", "=== 1 failed, 1 passed, 1 skipped in 1s ===",
    )  # fmt: skip
    assert outcomes(report) == {
        "a.py::t[x y]": "passed", "a.py::u": "failed", "a.py::v": "skipped"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "test_id", "word"),
    [
        ("FAILED my tests/a.py::t - assert 1 - x", "my tests/a.py::t", "failed"),
        ("PASSED my tests/a.py::C::t[a b]", "my tests/a.py::C::t[a b]", "passed"),
        ("ERROR my tests/a.py::t - x", "my tests/a.py::t", "error"),
    ],
)
def test_a_folder_with_a_blank_is_believed_in_the_summary(
    line: str, test_id: str, word: str
) -> None:
    report = pytest_run(1, "my tests/a.py F   [100%]", SUMMARY, line, "=== 1 failed in 0.1s ===")
    assert outcomes(report) == {test_id: word}


def test_a_folder_with_a_blank_is_believed_behind_the_name_of_a_worker() -> None:
    report = pytest_run(1, "[gw0] [100%] PASSED my tests/a.py::t[a b] ")
    assert outcomes(report) == {"my tests/a.py::t[a b]": "passed"}


def test_a_message_that_names_another_test_is_no_part_of_an_id() -> None:
    report = pytest_run(1, SUMMARY, "ERROR a.py - see b.py::t", "=== 1 error in 0.1s ===")
    assert outcomes(report) == {"a.py": "error"}


@pytest.mark.parametrize("word", ["SKIPPED (why)", "XFAIL (why)", "XPASS (why)", "PASSED"])
def test_an_error_in_the_teardown_is_no_conflict_whatever_came_before(word: str) -> None:
    report = pytest_run(1, f"a.py::t {word}  [100%]", "a.py::t ERROR    [100%]")
    assert the(report, "a.py::t").outcome is Outcome.ERROR
    assert the(report, "a.py::t").conflict is None


@pytest.mark.parametrize(
    "line",
    [
        "a.py::t PASSED   [100%]/lib/report.py:116: Warning: no data",
        "a.py::t PASSED   [1/1]Exception ignored in: <x>",
    ],
)
def test_output_that_follows_the_progress_without_a_line_end_hides_no_result(line: str) -> None:
    assert outcomes(pytest_run(1, line, "=== 1 passed in 1s ===")) == {"a.py::t": "passed"}


def test_an_id_that_holds_a_percentage_is_kept_whole() -> None:
    report = pytest_run(
        2, "a.py::t[[ 50%]x] PASSED   [ 50%]", "a.py::t[PASSED [ 5%]] FAILED [100%]"
    )
    assert outcomes(report) == {"a.py::t[[ 50%]x]": "passed", "a.py::t[PASSED [ 5%]]": "failed"}


# -- without capturing -----------------------------------------------------------------------------


def test_a_printed_result_of_another_test_becomes_no_part_of_an_id() -> None:
    report = pytest_run(
        2, "a.py::t a.py::never PASSED", "more", "FAILED", "a.py::u PASSED",
        "=== 1 failed, 1 passed in 1s ===",
    )  # fmt: skip
    assert outcomes(report) == {"a.py::t": "failed", "a.py::u": "passed"}
    assert any("a.py::never" in note for note in report.notes)


@pytest.mark.parametrize("printed", ["a.py::t some textPASSED", "a.py::t one\ntwo PASSED"])
def test_a_result_behind_printed_text_is_read_and_is_in_doubt(printed: str) -> None:
    report = pytest_run(2, printed, "a.py::u PASSED", "=== 2 passed in 1s ===")
    assert outcomes(report) == {"a.py::t": "passed", "a.py::u": "passed"}
    assert "behind text that it printed" in str(the(report, "a.py::t").conflict)
    assert the(report, "a.py::u").conflict is None


def test_a_printed_word_is_no_result_where_the_real_one_follows() -> None:
    report = pytest_run(
        1, "a.py::t checked: FAILED", "again FAILED", "PASSED", "=== 1 passed in 1s ==="
    )
    assert outcomes(report) == {"a.py::t": "passed"}
    assert the(report, "a.py::t").conflict is None


def test_a_printed_heading_of_the_summary_does_not_end_the_run() -> None:
    report = pytest_run(
        2, "a.py::t ", SUMMARY, "PASSED a.py::never", "=== 9 passed in 1s ===", "FAILED",
        "a.py::u PASSED", SUMMARY, "FAILED a.py::t - x", "=== 1 failed, 1 passed in 1s ===",
    )  # fmt: skip
    assert outcomes(report) == {"a.py::t": "failed", "a.py::u": "passed"}
    assert report.totals is not None
    assert report.totals.passed == 1


def test_fixtures_may_be_shown_around_a_test() -> None:
    report = pytest_run(
        1, "a.py::t ", "        SETUP    F db", "        a.py::t (fixtures used: db, x) PASSED",
        "        TEARDOWN F db", "=== 1 passed in 1s ===",
    )  # fmt: skip
    assert outcomes(report) == {"a.py::t": "passed"}


# -- how a run ended -------------------------------------------------------------------------------


def test_a_phase_before_the_id_of_the_summary_is_no_part_of_it() -> None:
    report = pytest_run(
        1, SUMMARY, "XFAIL at setup of a.py::t - [NOTRUN] x", "=== 1 xfailed in 1s ==="
    )
    assert outcomes(report) == {"a.py::t": "xfailed"}


def test_an_id_that_does_not_exist_stops_the_run() -> None:
    report = pytest_run(
        0, "=== no tests ran in 0.1s ===", "ERROR: not found: /r/a.py::t", "(no match)"
    )
    assert report.stopped is not None
    assert report.stopped.why == "ERROR: not found: /r/a.py::t"


def test_a_conftest_that_cannot_be_loaded_is_all_that_a_log_may_hold() -> None:
    text = b"ImportError while loading conftest '/r/conftest.py'.\nconftest.py:1: in <module>\n"
    assert report_reader("text_log").detect(text, "x") is not None
    report = read_log(text, "log.txt")
    assert report.stopped is not None
    assert report.stopped.own_doing


@pytest.mark.parametrize(
    "closing", ["2 tests collected in 0.58s", "2/3 tests collected (1 deselected) in 0.01s"]
)
@pytest.mark.parametrize("frame", ["{}", "=== {} ==="])
def test_tests_that_were_only_collected_have_no_outcome(closing: str, frame: str) -> None:
    report = log("a.py::t", "a.py::u", "", frame.format(closing))
    assert outcomes(report) == {}
    assert report.stopped is not None
    assert "only collected" in report.stopped.why


def test_a_crash_that_the_interpreter_reports_behind_an_id_is_that_tests() -> None:
    report = pytest_run(
        3, "a.py::t PASSED   [ 33%]", "a.py::u Fatal Python error: Segmentation fault", "",
        "Current thread 0x1 (most recent call first):", '  File "a.py", line 3 in u',
    )  # fmt: skip
    assert outcomes(report) == {"a.py::t": "passed", "a.py::u": "error"}
    assert report.stopped is not None
    assert report.stopped.why == "crashed: Fatal Python error: Segmentation fault"


def test_two_quiet_runs_without_closing_lines_are_not_cut_off() -> None:
    report = log(
        "..F   [100%]", "=== FAILURES ===", "___ t ___", "=== test session starts ===",
        "=== 9 passed in 0.1s ===", SUMMARY, "FAILED a.py::t - x",
    )  # fmt: skip
    assert outcomes(report) == {"a.py::t": "failed"}
    assert report.totals is not None
    assert report.totals.passed == 2
    assert report.stopped is None


# -- subtests --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        ("a.py::T::t ", "[m] (i=1) SUBFAIL   [ 50%]", "a.py::T::t PASSED   [ 50%]"),
        ("a.py::T::t [m] (i=1) SUBFAIL   [ 50%]", "a.py::T::t PASSED   [ 50%]"),
        ("a.py::T::t (i=1) SUBFAIL", "a.py::T::t PASSED"),
        ("a.py::T::t SUBFAILED[m] (i=1)  [ 50%]", "a.py::T::t PASSED   [ 50%]"),
        ("[gw0] [ 79%] [m] (i=1) SUBFAIL a.py::T::t ", "[gw0] [ 80%] PASSED a.py::T::t "),
        ("[gw0] [ 79%] SUBFAILED[m] (i=1) a.py::T::t ", "[gw0] [ 80%] PASSED a.py::T::t "),
        ("a.py .  [100%]", SUMMARY, "PASSED a.py::T::t", "[m] (i=1) SUBFAIL a.py::T::t - x"),
        ("a.py .  [100%]", SUMMARY, "PASSED a.py::T::t", "SUBFAILED[m] (i=1) a.py::T::t - x"),
    ],
)
def test_a_test_whose_subtest_failed_is_no_clean_pass(lines: tuple[str, ...]) -> None:
    report = pytest_run(1, *lines)
    assert outcomes(report) == {"a.py::T::t": "failed"}
    assert "(i=1)" in str(the(report, "a.py::T::t").message)


def test_a_subtest_that_passed_is_none_of_the_tests() -> None:
    report = pytest_run(1, "a.py::t[a b] [m] (i=1) SUBPASS  [ 50%]", "a.py::t[a b] PASSED  [100%]")
    assert outcomes(report) == {"a.py::t[a b]": "passed"}


def test_headings_with_a_blank_behind_them_are_headings() -> None:
    report = log(
        "=== test session starts === ", "platform win32 -- Python 3.11", "collected 1 item", "",
        "a.py F  [100%] ", "", "=== short test summary info === ", "FAILED a.py::t - x ",
        "=== 1 failed in 0.10s === ",
    )  # fmt: skip
    assert outcomes(report) == {"a.py::t": "failed"}
    assert report.stopped is None


# -- tests that are defined elsewhere --------------------------------------------------------------


@pytest.mark.parametrize("origin", ["base.py", "../lib/my base.py", "<string>", "C:\\x\\base.py"])
@pytest.mark.parametrize("end", ["PASSED   [ 50%]", "PASSED", "SKIPPED (why)  [ 50%]", "FAILED"])
def test_where_a_test_is_defined_is_no_part_of_its_id(origin: str, end: str) -> None:
    report = pytest_run(1, f"a.py::T::t[a b] <- {origin} {end}")
    assert set(outcomes(report)) == {"a.py::T::t[a b]"}
    assert the(report, "a.py::T::t[a b]").conflict is None


def test_a_test_that_is_defined_elsewhere_and_prints_has_its_result() -> None:
    report = pytest_run(
        2, "a.py::T::t <- base.py x", "PASSED", "a.py::T::u <- base.py FAILED",
        "a.py::T::v[x <- y.py] PASSED",
    )  # fmt: skip
    assert outcomes(report) == {
        "a.py::T::t": "passed", "a.py::T::u": "failed", "a.py::T::v[x <- y.py]": "passed"
    }  # fmt: skip


def test_progress_goes_on_behind_a_failure_that_is_told_at_once() -> None:
    report = pytest_run(
        4, "a.py::t FAILED   [ 25%]", "", "_____ t _____", "E   x",
        "----- Captured stdout call -----", "a.py::never PASSED   [ 10%]", "a.py::other PASSED", "",
        "a.py::u PASSED   [ 50%]", "a.py::v SKIPPED (why)   [ 75%]", "a.py::w XFAIL   [100%]",
        "=== FAILURES ===", "a.py::late PASSED   [100%]", "=== 1 failed, 1 passed in 1s ===",
    )  # fmt: skip
    assert outcomes(report) == {
        "a.py::t": "failed", "a.py::u": "passed", "a.py::v": "skipped", "a.py::w": "xfailed"
    }  # fmt: skip
    assert the(report, "a.py::t").message == "x"
    assert all(test.conflict is None for test in report.tests)
