"""The quick way through lines that say `PASSED` gives what reading them one by one gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcview.readers.reports.logs import pytest_session
from arcview.readers.reports.logs.log import Found
from arcview.readers.reports.logs.pytest_state import Progress
from arcview.readers.reports.text_log import read_log
from tests.readers.report_files import outcomes, the
from tests.readers.test_report_logs import HEAD, pytest_run

LINES = (
    "a.py::t PASSED", "a.py::t PASSED   [ 10%]", "a.py::u PASSED   [ 20%]", "a.py::C::v PASSED",
    "a.py::w[x-1] PASSED   [  5%]", "a.py::w[x y] PASSED   [ 30%]", "a.py::t FAILED   [ 40%]",
    "a.py::t ERROR   [ 40%]", "a.py::u RERUN", "a.py::u", "PASSED", "FAILED   [ 50%]", "text",
    "a.py::x text", "a.py::u SUBFAILED(i=1)", "a.py .F.  [ 60%]", "[gw0] [ 70%] PASSED a.py::y",
    "=== FAILURES ===", "___ t ___", "E   x", "=== short test summary info ===",
    "FAILED a.py::t - x", "PASSED a.py::u", "=== 1 failed, 2 passed in 1s ===", "",
    "!!! KeyboardInterrupt !!!", "a.py::z PASSED   [100%]text", "INTERNALERROR> x",
)  # fmt: skip


def one_by_one(found: Found, progress: Progress, start: int) -> tuple[int, str | None]:
    return start, None


@given(st.lists(st.sampled_from(LINES), max_size=12), st.booleans())
@settings(max_examples=300, deadline=None)
def test_both_ways_say_the_same(lines: list[str], has_heading: bool) -> None:
    text = ((HEAD.format(9) if has_heading else "") + "\n".join(lines)).encode()

    with pytest.MonkeyPatch.context() as patch:
        quick = read_log(text, "log.txt")
        patch.setattr(pytest_session, "take_passes", one_by_one)
        slow = read_log(text, "log.txt")
    assert quick == slow


def test_both_ways_say_the_same_of_recorded_logs(
    cases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [*(cases / "logs/python").glob("*/std*.txt"), *(cases / "hostile/log").glob("*.txt")]
    quick = {path: read_log(path.read_bytes(), path.name) for path in paths}
    monkeypatch.setattr(pytest_session, "take_passes", one_by_one)
    assert quick == {path: read_log(path.read_bytes(), path.name) for path in paths}
    assert len(paths) > 20


def test_a_second_line_about_a_test_that_passed_is_seen() -> None:
    report = pytest_run(
        2, "a.py::t PASSED   [ 50%]", "a.py::u PASSED   [100%]", "a.py::t ERROR   [100%]"
    )
    assert outcomes(report) == {"a.py::t": "error", "a.py::u": "passed"}
    assert [test.id for test in report.tests] == ["a.py::t", "a.py::u"]


def test_a_test_behind_which_others_passed_is_not_blamed_for_a_crash() -> None:
    report = pytest_run(
        4, "a.py::t ", "a.py::u ", "a.py::v PASSED   [ 75%]", "a.py::w PASSED   [100%]",
        "Segmentation fault (core dumped)",
    )  # fmt: skip
    assert the(report, "a.py::t").outcome.value == "not_run"
