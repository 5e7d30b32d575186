"""Text and JUnit of `ctest`: repeated attempts, early ends, skips by return code."""

from __future__ import annotations

from pathlib import Path

from tests.readers.report_files import outcomes, read_as, the
from tests.readers.test_report_logs import log


def test_a_run_that_stopped_on_a_failure_did_not_come_to_the_rest() -> None:
    report = log(
        "Test project /b", "    Start 1: ok", "1/3 Test #1: ok ....   Passed    0.00 sec",
        "    Start 2: bad", "2/3 Test #2: bad ...***Failed    0.00 sec", "",
        "50% tests passed, 1 tests failed out of 2",
    )  # fmt: skip
    assert report.stopped is not None
    assert report.stopped.why == "ended early: 2 of 3 tests have a result"
    assert report.unnamed("third")[0].value == "not_run"


def test_disabled_tests_end_no_run_early() -> None:
    report = log(
        "1/2 Test #1: ok ....   Passed    0.00 sec",
        "2/2 Test #2: dis ...***Not Run (Disabled)   0.00 sec", "",
        "100% tests passed, 0 tests failed out of 1",
    )  # fmt: skip
    assert report.stopped is None


def test_of_several_attempts_the_last_one_counts() -> None:
    report = log(
        "    Start 1: t", "1/2 Test #1: t ....***Failed    0.01 sec", "    Start 1: t",
        "    Test #1: t ....   Passed    0.02 sec", "    Start 2: u",
        "2/2 Test #2: u ....***Failed    0.01 sec", "    Start 2: u",
        "    Test #2: u ....***Failed    0.01 sec", "",
        "50% tests passed, 1 tests failed out of 2",
    )  # fmt: skip
    assert outcomes(report) == {"t": "passed", "u": "failed"}
    assert "flaky" in str(the(report, "t").conflict)
    assert the(report, "u").conflict is None


def test_a_skip_by_return_code_is_a_skip(tmp_path: Path) -> None:
    text = (
        '<testsuite name="(empty)" tests="2"><testcase name="a" classname="a" status="notrun">'
        '<skipped message="SKIP_RETURN_CODE=77"/></testcase><testcase name="b" classname="b" '
        'status="notrun"><skipped message="Unable to find executable"/></testcase></testsuite>'
    )
    assert outcomes(read_as(tmp_path / "j.xml", text)) == {"a": "skipped", "b": "not_run"}
