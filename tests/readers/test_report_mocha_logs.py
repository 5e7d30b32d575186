"""Text of mocha's `spec` reporter: what tests print between its lines."""

from __future__ import annotations

from tests.readers.report_files import outcomes, the
from tests.readers.test_report_logs import log


def test_printed_closing_counts_end_no_list() -> None:
    report = log(
        "", "  outer", "    ✔ one", "  ✔ never (3ms)", "", "  3 passing (2ms)", "", "    ✔ prints",
        "    inner", "      1) fails", "", "", "  2 passing (5ms)", "  1 failing", "",
        "  1) outer", "       inner", "         fails:", "     Error: x",
    )  # fmt: skip
    assert outcomes(report) == {
        "outer > one": "passed", "never": "passed", "outer > prints": "passed",
        "outer > inner > fails": "failed",
    }  # fmt: skip
    assert report.totals is not None
    assert (report.totals.passed, report.totals.failed) == (2, 1)
    assert "a test may have printed" in str(the(report, "never").conflict)
    assert the(report, "outer > inner > fails").message == "Error: x"


def test_no_test_files_are_said_so() -> None:
    report = log('Error: No test files found: "nofile.js"')
    assert report.stopped is not None
    assert report.stopped.why == 'No test files found: "nofile.js"'
    assert not report.stopped.own_doing
