"""What `show` and `export` say of lone reports: nothing that the report does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview import cli

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
