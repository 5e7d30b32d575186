"""Text of unittest as different versions of Python print it: fixtures, subtests, tearDowns."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from arcview.model.results import Outcome, Report
from tests.readers.report_files import outcomes, the
from tests.readers.test_report_logs import log

RULE, LINE = "=" * 70, "-" * 70


def run(live: Sequence[str], red: Sequence[str], *closing: str) -> Report:
    told = [part for head in red for part in (RULE, head, LINE, "Traceback:", "ValueError: x", "")]
    return log(*live, "", *told, LINE, *closing)


def totals(report: Report) -> dict[str, int]:
    assert report.totals is not None
    names = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
    return {name: n for name in names if (n := getattr(report.totals, name))}


def test_a_bare_error_after_a_test_is_that_of_the_next_class_fixture() -> None:
    report = run(
        ["test_a (m.A) ... ok", "ERROR", "test_b (m.B) ... FAIL", "ERROR", "ERROR"],
        ["ERROR: setUpClass (m.X)", "ERROR: setUpClass (m.Y)", "ERROR: tearDownClass (m.B)",
         "FAIL: test_b (m.B)"],
        "Ran 2 tests in 0.1s", "", "FAILED (failures=1, errors=3)",
    )  # fmt: skip
    found = outcomes(report)
    assert found["m.A.test_a"] == "passed"
    assert found["m.B.test_b"] == "failed"
    assert the(report, "m.A.test_a").conflict is None
    assert totals(report) == {"passed": 1, "failed": 1}


def test_a_bare_error_is_the_tests_own_where_a_heading_says_so() -> None:
    report = run(
        ["test_a (m.A) ... FAIL", "ERROR", "test_b (m.A) ... ok"],
        ["ERROR: test_a (m.A)", "FAIL: test_a (m.A)"],
        "Ran 2 tests in 0.1s", "", "FAILED (failures=1, errors=1)",
    )  # fmt: skip
    assert outcomes(report) == {"m.A.test_a": "error", "m.A.test_b": "passed"}
    assert the(report, "m.A.test_a").conflict is None
    assert totals(report) == {"passed": 1, "error": 1}


def test_an_error_in_a_teardown_is_no_second_test() -> None:
    report = run(
        ["test_a (m.A.test_a) ... FAIL", "test_a (m.A.test_a) ... ERROR"],
        ["ERROR: test_a (m.A.test_a)", "FAIL: test_a (m.A.test_a)"],
        "Ran 1 test in 0.1s", "", "FAILED (failures=1, errors=1)",
    )  # fmt: skip
    assert outcomes(report) == {"m.A.test_a": "error"}
    assert the(report, "m.A.test_a").conflict is None
    assert totals(report) == {"error": 1}


def test_a_test_whose_subtests_failed_has_no_word_before_python_3_11() -> None:
    report = run(
        ["test_s (m.A) ... test_t (m.A) ... ok", "test_u (m.A) ... skipped 's'", "skipped 's'",
         "test_v (m.A) ... test_w (m.A)", "Doc of w. ... ok"],
        ["FAIL: test_s (m.A) (i=1)", "FAIL: test_s (m.A) (i=2)", "FAIL: test_v (m.A) (i=1)"],
        "Ran 5 tests in 0.1s", "", "FAILED (failures=3, skipped=2)",
    )  # fmt: skip
    assert outcomes(report) == {
        "m.A.test_s": "failed", "m.A.test_t": "passed", "m.A.test_u": "skipped",
        "m.A.test_v": "failed", "m.A.test_w": "passed",
    }  # fmt: skip
    assert all(test.conflict is None for test in report.tests)
    assert totals(report) == {"passed": 2, "failed": 2, "skipped": 1}


def test_a_line_behind_a_test_was_printed_by_it_where_its_own_word_follows() -> None:
    report = run(
        ["test_a (m.A) ... test_never (m.A) ... ok", "FAIL"], ["FAIL: test_a (m.A)"],
        "Ran 1 test in 0.1s", "", "FAILED (failures=1)",
    )  # fmt: skip
    assert outcomes(report) == {"m.A.test_a": "failed"}
    assert any("test_never" in note for note in report.notes)


def test_a_test_without_any_word_and_heading_is_unfinished() -> None:
    report = log("test_a (m.A) ... ok", "test_b (m.A) ... ")
    assert outcomes(report) == {"m.A.test_a": "passed", "m.A.test_b": "not_run"}


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("""skipped "why 'quoted'\"""", "why 'quoted'"),
        ("skipped why (x)", "why (x)"),
        ("SKIP: why", "why"),
        ("skipped 'a'", "a"),
    ],
)
def test_the_reason_of_a_skip_is_kept_whole(word: str, message: str) -> None:
    report = log(f"test_a (m.A) ... {word}", "test_b (m.A) ... ok")
    assert the(report, "m.A.test_a").outcome is Outcome.SKIPPED
    assert the(report, "m.A.test_a").message == message


def test_what_a_failed_test_printed_with_buffer_is_no_result() -> None:
    printed = "test_never (m.A.test_never) ... ok"
    report = log(
        "test_a (m.A.test_a) ... FAIL", "", "Stderr:", printed, "test_b (m.A.test_b) ... ok", "",
        RULE, "FAIL: test_a (m.A.test_a)", LINE, "ValueError: x", "", "Stderr:", printed, "", LINE,
        "Ran 2 tests in 0.1s", "", "FAILED (failures=1)",
    )  # fmt: skip
    assert outcomes(report) == {"m.A.test_a": "failed", "m.A.test_b": "passed"}
    assert any("test_never" in note for note in report.notes)


def test_counts_that_leave_skipped_tests_out_are_not_taken_for_passes() -> None:
    live = ["test_a (m.A.test_a) ... ok", "test_b (m.A.test_b) ... skipped 's'"]
    report = run(live, [], "Ran 1 test in 0.1s", "", "OK (skipped=1)")
    assert outcomes(report) == {"m.A.test_a": "passed", "m.A.test_b": "skipped"}
    assert report.totals is None


def test_a_module_that_cannot_be_loaded_is_no_test_whatever_follows() -> None:
    report = run(
        ["m (unittest.loader._FailedTest) ... ERROR", "ERROR", "test_b (m.B) ... ok", "ERROR"],
        ["ERROR: m (unittest.loader._FailedTest)", "ERROR: setUpClass (m.X)"],
        "Ran 2 tests in 0.1s", "", "FAILED (errors=3)",
    )  # fmt: skip
    assert outcomes(report)["m"] == "error"
    assert outcomes(report)["m.B.test_b"] == "passed"


@pytest.mark.parametrize(
    "line",
    [
        "app.tests.test_x (unittest.loader._FailedTest.app.tests.test_x)",
        "app.tests.test_x (unittest.loader._FailedTest)",
        "app.tests.test_x (unittest.loader.ModuleImportFailure)",
    ],
)
@pytest.mark.parametrize("live", [True, False])
def test_a_module_of_a_package_that_cannot_be_loaded_keeps_its_name(line: str, live: bool) -> None:
    shown = [f"{line} ... ERROR"] if live else ["E"]
    report = run(shown, [f"ERROR: {line}"], "Ran 1 test in 0.1s", "", "FAILED (errors=1)")
    assert outcomes(report) == {"app.tests.test_x": "error"}
    assert the(report, "app.tests.test_x").reported == "collection error"
    assert report.unnamed("app.tests.test_x.A.test_a")[0] is Outcome.NOT_RUN
    assert totals(report) == {}
