"""What `show` and `export` say of lone reports: nothing that the report does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview import cli
from tests.readers.git_run import commit
from tests.states.workspaces import git

Capture = pytest.CaptureFixture[str]


def _junit(folder: Path, *cases: str) -> str:
    """A JUnit report of pytest; each case is the inside of its element."""
    tests = "".join(
        f'<testcase classname="t" name="test_{number}">{inside}</testcase>'
        for number, inside in enumerate(cases, 1)
    )
    file = folder / "junit.xml"
    file.write_text(f'<testsuites><testsuite name="pytest">{tests}</testsuite></testsuites>')
    return str(file)


def _failure(message: str) -> str:
    return f'<failure message="{message}">E   {message}\n\nt.py:2: AssertionError</failure>'


def _said(capsys: Capture, *args: str) -> str:
    cli.main(list(args))
    return capsys.readouterr().out


def test_what_was_demanded_names_its_relation(tmp_path: Path, capsys: Capture) -> None:
    report = _junit(tmp_path, _failure("assert 5 &lt; 3"), _failure("assert 1 == 2"))
    shown = _said(capsys, "show", report)
    assert "        actual    5\n        expected  < 3\n" in shown
    assert "        actual    1\n        expected  2\n" in shown
    assert "< 3" in _said(capsys, "export", "--format", "md", report)


SKIPPED = '<skipped message="needs gpu"/>'


def test_a_skipped_test_is_not_called_failing(tmp_path: Path, capsys: Capture) -> None:
    report = _junit(tmp_path, "", "", SKIPPED)
    shown = _said(capsys, "show", report)
    assert "1 skipped: counts as not ok" in shown
    assert "Stage 1: 1 skipped test that counts as not ok, 1 cause" in shown
    assert "    – t.py::test_3  [other, skipped, first]" in shown
    assert "failing test" not in shown
    exported = _said(capsys, "export", "--format", "md", report)
    assert "1 skipped test that counts as not ok, 1 cause" in exported


def test_failing_and_skipped_tests_are_counted_apart(tmp_path: Path, capsys: Capture) -> None:
    report = _junit(tmp_path, "", _failure("assert 1 == 2"), SKIPPED, SKIPPED)
    shown = _said(capsys, "show", report)
    title = "Stage 1: 1 failing test, 2 skipped tests that count as not ok, 2 causes"
    assert title in shown
    assert "skipped: count" not in shown


def test_a_report_alone_says_nothing_of_self_tests_and_code(
    tmp_path: Path, capsys: Capture
) -> None:
    report = _junit(tmp_path, _failure("assert 5 &lt; 3"))
    shown = _said(capsys, "show", report)
    assert "self-tests of stage 1 unknown: no step is recorded" in shown
    assert "hardly exercised" not in shown
    assert "not known: the state that the gate ran on is not recorded" in shown
    assert "the code of this state" not in shown


def test_a_repository_alone_has_no_share_of_lines_that_are_traced(
    tmp_path: Path, capsys: Capture
) -> None:
    git(tmp_path, "init", "-q")
    for number in range(3):
        commit(tmp_path, f"part {number}", number, **{"x.py": f"x = {number}\n"})
    shown = _said(capsys, "show", str(tmp_path))
    assert "self-tests of stage 1, 2 unknown: no step is recorded" in shown
    assert "traced" not in shown
    assert "replayed" not in shown


def test_what_was_broken_before_a_stage_that_was_not_measured_is_unknown(
    tmp_path: Path, capsys: Capture
) -> None:
    git(tmp_path, "init", "-q")
    for number in range(2):
        commit(tmp_path, f"part {number}", number, **{"x.py": f"x = {number}\n"})
    rows = _said(capsys, "show", str(tmp_path)).splitlines()
    head = next(line for line in rows if "broken before" in line)
    row = next(line for line in rows if line.startswith("?  1 part 1"))
    assert row[: head.index("broken before") + len("broken before")].split()[-1] == "–"
