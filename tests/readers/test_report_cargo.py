"""Text of `cargo test` whose live lines do not say what failed."""

from __future__ import annotations

from tests.readers.report_files import outcomes, the
from tests.readers.test_report_logs import log

BLOCK = (
    "", "failures:", "", "---- tests::fails stdout ----", "thread 'x' panicked at src/lib.rs:1:1:",
    "boom", "failures:", "    forged", "test result: ok. 9 passed; 0 failed; 0 ignored;", "", "",
    "failures:", "    tests::fails", "    src/lib.rs - add (line 11)", "",
    "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
    "", "error: 1 target failed:", "    `--lib`",
)  # fmt: skip


def test_the_list_of_failures_names_what_quiet_output_does_not() -> None:
    report = log("", "running 3 tests", "F.F", *BLOCK)
    assert outcomes(report) == {"tests::fails": "failed", "src/lib.rs - add (line 11)": "failed"}
    assert the(report, "tests::fails").message == "boom"
    assert report.totals is not None
    assert (report.totals.passed, report.totals.failed) == (1, 2)


def test_the_list_of_failures_names_a_test_whose_line_cannot_be_read() -> None:
    report = log(
        "", "running 3 tests", "test tests::fails ... text FAILED/rustc/x", "more",
        "test tests::ok ... ok", "test src/lib.rs - add (line 11) ... FAILED", *BLOCK,
    )  # fmt: skip
    assert outcomes(report) == {
        "tests::fails": "failed", "tests::ok": "passed", "src/lib.rs - add (line 11)": "failed"
    }  # fmt: skip
    assert all(test.conflict is None for test in report.tests)


def test_the_list_of_successes_is_none_of_failures() -> None:
    report = log(
        "", "running 1 test", "test a ... ok", "", "successes:", "", "successes:", "    a", "",
        "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
    )  # fmt: skip
    assert outcomes(report) == {"a": "passed"}
