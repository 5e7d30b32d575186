"""Reports of pytest-json-report: outcomes, messages, tracebacks, captured output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arcview.errors import BadInputError
from arcview.model.results import GateTest, Group, Outcome
from arcview.readers.reports.pytest_json import PytestJsonReader
from tests.readers.scb_run import entry, report, write


def read(tmp_path: Path, *entries: object, **more: object) -> tuple[GateTest, ...]:
    path = write(tmp_path / "report.json", {**report(*entries), **more})
    return PytestJsonReader().read(path).tests


def test_a_test_has_its_id_outcome_and_duration(tmp_path: Path) -> None:
    (test,) = read(tmp_path, entry("t.py::test_a[x y]"))
    assert (test.id, test.group, test.outcome) == ("t.py::test_a[x y]", Group.OTHER, "passed")
    assert test.duration_s == pytest.approx(0.6)
    assert (test.message, test.traceback, test.reported) == (None, None, None)


def test_a_failure_has_its_message_and_traceback(tmp_path: Path) -> None:
    (test,) = read(tmp_path, entry("t.py::test_a", "failed", "assert 1 == 2\n + where"))
    assert (test.message, test.traceback) == ("assert 1 == 2\n + where", "E boom")


@pytest.mark.parametrize("word", ["passed", "failed", "error", "skipped", "xfailed", "xpassed"])
def test_every_word_of_pytest_is_an_outcome(tmp_path: Path, word: str) -> None:
    (test,) = read(tmp_path, entry("t.py::test_a", word))
    assert (test.outcome.value, test.reported) == (word, None)


@pytest.mark.parametrize("word", ["rerun", None, 7])
def test_a_word_that_nobody_knows_is_an_error_and_kept(tmp_path: Path, word: object) -> None:
    (test,) = read(tmp_path, {"nodeid": "t.py::test_a", "outcome": word})
    assert test.outcome is Outcome.ERROR
    assert test.reported == ("rerun" if word == "rerun" else "no outcome")


def test_failures_of_two_phases_are_both_shown(tmp_path: Path) -> None:
    phases: dict[str, Any] = {
        "call": {"outcome": "failed", "crash": {"message": "first"}, "longrepr": "L1"},
        "teardown": {"outcome": "failed", "crash": {"message": "second"}, "longrepr": "L2"},
    }
    (test,) = read(tmp_path, {"nodeid": "a::b", "outcome": "failed", **phases})
    assert (test.message, test.traceback) == ("first\n\nsecond", "L1\n\nL2")


def test_a_failure_without_a_crash_is_told_by_its_last_line(tmp_path: Path) -> None:
    setup = {"outcome": "failed", "longrepr": "file x\nfixture 'db' not found\n"}
    (test,) = read(tmp_path, {"nodeid": "a::b", "outcome": "error", "setup": setup})
    assert test.message == "fixture 'db' not found"


def test_a_skip_has_its_reason(tmp_path: Path) -> None:
    setup = {"outcome": "skipped", "longrepr": "('/x/t.py', 3, 'Skipped: not here')"}
    (test,) = read(tmp_path, {"nodeid": "a::b", "outcome": "skipped", "setup": setup})
    assert test.message == "Skipped: not here"


def test_a_skip_reason_that_is_no_tuple_is_kept_as_it_is(tmp_path: Path) -> None:
    setup = {"outcome": "skipped", "longrepr": "(broken"}
    (test,) = read(tmp_path, {"nodeid": "a::b", "outcome": "skipped", "setup": setup})
    assert test.message == "(broken"


def test_captured_output_names_its_phase_where_several_have_some(tmp_path: Path) -> None:
    phases = {
        "setup": {"outcome": "passed", "stdout": "one\n", "stderr": "err"},
        "call": {"outcome": "passed", "stdout": "two\n"},
    }
    (test,) = read(tmp_path, {"nodeid": "a::b", "outcome": "passed", **phases})
    assert test.stdout == "--- setup ---\none\n\n--- call ---\ntwo\n"
    assert test.stderr == "err"


def test_an_id_that_is_reported_twice_counts_once_with_the_worst_outcome(tmp_path: Path) -> None:
    (test,) = read(tmp_path, entry("a::b"), entry("a::b", "failed", "no"), entry("a::b", "skipped"))
    assert (test.outcome, test.message, test.copies) == (Outcome.FAILED, "no", 3)


def test_a_module_that_could_not_be_collected_is_an_error(tmp_path: Path) -> None:
    collectors = [
        {"nodeid": "t.py", "outcome": "failed", "longrepr": "SyntaxError"},
        {"nodeid": "", "outcome": "passed"},
    ]
    (test,) = read(tmp_path, collectors=collectors)
    assert (test.id, test.outcome, test.traceback) == ("t.py", Outcome.ERROR, "SyntaxError")


def test_damaged_entries_leave_the_others(tmp_path: Path) -> None:
    tests = read(tmp_path, None, "x", {}, entry("a::b"))
    assert [(t.id, t.outcome.value) for t in tests] == [("tests[2]", "error"), ("a::b", "passed")]


def test_durations_that_are_not_all_known_are_not_added_up(tmp_path: Path) -> None:
    phases = {"setup": {"outcome": "passed"}, "call": {"outcome": "passed", "duration": 1}}
    (test,) = read(tmp_path, {"nodeid": "a::b", "outcome": "passed", **phases})
    assert test.duration_s is None


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"tests": {}}', "{", "7"])
def test_what_is_no_report_is_one_clear_line(tmp_path: Path, content: str) -> None:
    with pytest.raises(BadInputError) as caught:
        PytestJsonReader().read(write(tmp_path / "report.json", content))
    assert str(caught.value).startswith("report.json: ")


@pytest.mark.parametrize("head", [b'{"exitcode": 1}', b'[{"exitcode": 1, "created": 2}]', b""])
def test_other_json_is_not_taken_for_a_report(head: bytes) -> None:
    assert PytestJsonReader().detect(head, "report.json") is None


@pytest.mark.parametrize("word", ["passed", "failed", "skipped"])
def test_a_test_that_ends_with_a_subtest_has_the_outcome_behind_that_word(
    tmp_path: Path, word: str
) -> None:
    (test,) = read(tmp_path, entry("t.py::test_a", f"subtests {word}"))
    assert (test.outcome.value, test.reported) == (word, f"subtests {word}")
