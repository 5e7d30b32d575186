"""Reports and single patches below a folder: no runs of a list, and pointed at."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from arcview.errors import UnknownLayoutError
from arcview.readers import unlisted as unlisted_module
from arcview.readers.registry import find_run_reader, iter_runs
from arcview.readers.unlisted import _Left, in_place_of_runs, unlisted
from tests.readers.scb_run import write, write_run
from tests.readers.test_run_layouts import HUNK

JUNIT = (
    '<testsuites><testsuite name="s"><testcase name="t" classname="c"/></testsuite></testsuites>'
)


def found(root: Path) -> list[str]:
    listed = unlisted(root, list(iter_runs(root)))
    return [f"{each.path.relative_to(root).as_posix()}: {each.called}" for each in listed]


def test_reports_and_patches_that_lie_in_no_run_are_found(tmp_path: Path) -> None:
    run = write_run(tmp_path / "demo")
    write(run / "junit.xml", JUNIT)
    write(tmp_path / "ci" / "junit.xml", JUNIT)
    write(tmp_path / "ci" / "fix.patch", HUNK)
    write(tmp_path / "ci" / "notes.txt", "nothing\n")
    write(tmp_path / "ci" / ".hidden.xml", JUNIT)
    assert found(tmp_path) == ["ci/fix.patch: patch", "ci/junit.xml: test report"]


def test_patches_that_are_a_run_are_not_named_again(tmp_path: Path) -> None:
    for number in (1, 2):
        write(tmp_path / "mine" / f"{number}.patch", HUNK)
    assert found(tmp_path) == []


def test_a_folder_of_reports_says_how_to_open_one(tmp_path: Path) -> None:
    first = write(tmp_path / "a" / "junit.xml", JUNIT)
    assert in_place_of_runs(tmp_path) == f"1 test report: open it by its path: {first}"
    write(tmp_path / "b" / "junit.xml", JUNIT)
    with pytest.raises(UnknownLayoutError, match="no run, but 2 test reports: open one"):
        find_run_reader(tmp_path)
    write(tmp_path / "b" / "fix.patch", HUNK)
    said = f"2 test reports and 1 patch: open one by its path, such as {first}"
    assert in_place_of_runs(tmp_path) == said


def test_a_folder_of_neither_says_nothing(tmp_path: Path) -> None:
    write(tmp_path / "notes.txt", "nothing\n")
    assert in_place_of_runs(tmp_path) is None


@pytest.mark.parametrize(("limit", "count"), [("files", 3), ("folders", 2)])
def test_a_large_folder_is_not_looked_through_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, count: int
) -> None:
    for number in range(6):
        write(tmp_path / f"{number}" / "junit.xml", JUNIT)
    monkeypatch.setattr(unlisted_module, "_Left", partial(_Left, **{limit: 3}))
    assert len(unlisted(tmp_path)) == count
