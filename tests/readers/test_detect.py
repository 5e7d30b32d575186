"""What a path is said to be, why, what else fits and what nearly does."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview.errors import UnknownLayoutError
from arcview.readers.detect import GROUPS, detect, formats
from arcview.readers.registry import REPORT_READERS, TRAJECTORY_READERS
from arcview.readers.run_layouts import READERS
from tests.readers.scb_run import report, stream, write, write_run


def test_a_run_is_named_with_its_reason(tmp_path: Path) -> None:
    found = detect(write_run(tmp_path / "demo"))
    assert found.taken is not None
    assert (found.taken.format.id, found.taken.reason) == (
        "slop_code_bench",
        "problem.yaml beside checkpoint_1/checkpoint.yaml",
    )
    assert found.taken.format.module == "arcview.readers.runs.slop_code_bench"
    assert found.is_recognised


def test_a_file_is_named_with_the_format_of_its_content(tmp_path: Path) -> None:
    found = detect(write(tmp_path / "x", stream("one")))
    assert found.taken is not None
    assert found.content is not None
    assert (found.taken.format.id, found.content.format.id) == ("lone_file", "claude_code")
    assert found.content.reason == "a stream record of type system"


def test_a_report_is_named_with_its_format(tmp_path: Path) -> None:
    found = detect(write(tmp_path / "x", report()))
    assert found.content is not None
    assert (found.content.format.group, found.content.format.id) == ("report", "pytest_json")


def test_what_nearly_fits_is_named_with_what_is_missing(tmp_path: Path) -> None:
    write(tmp_path / "problem.yaml", "name: x\n")
    found = detect(tmp_path)
    assert not found.is_recognised
    (near,) = found.rejected
    assert near.format.id == "slop_code_bench"
    assert near.reason == "problem.yaml is there, but not as SlopCodeBench output folder has it"
    assert "not a run that arcview can read" in (found.message or "")


def test_a_folder_of_runs_is_counted_by_layout(tmp_path: Path) -> None:
    write_run(tmp_path / "a")
    write_run(tmp_path / "b")
    write(tmp_path / "c.jsonl", stream("one"))
    found = detect(tmp_path)
    assert found.below == {"slop_code_bench": 2, "lone_file": 1}
    assert found.is_recognised


def test_a_second_layout_that_fits_is_named(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a")
    write(run / ".git" / "HEAD", "ref: refs/heads/main\n")
    (run / ".git" / "objects").mkdir()
    (run / ".git" / "refs").mkdir()
    assert [match.format.id for match in detect(run).also] == ["git_repository"]


def test_a_file_that_nobody_knows_says_so(tmp_path: Path) -> None:
    found = detect(write(tmp_path / "x", "hello\n"))
    assert not found.is_recognised
    assert (found.message or "").endswith("that arcview can read")


def test_nothing_at_a_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownLayoutError, match="no such file or folder"):
        detect(tmp_path / "nowhere")


def test_every_reader_is_listed_with_its_module() -> None:
    listed = {(each.group, each.id): each.module for each in formats()}
    tables = zip(GROUPS, (READERS, TRAJECTORY_READERS, REPORT_READERS), strict=True)
    for group, table in tables:
        for known, target in table.items():
            assert listed[group, known] == target.partition(":")[0]


def test_a_reader_says_where_no_recorded_file_was_at_hand() -> None:
    without = {each.id for each in formats() if each.sample != "recorded"}
    assert "evo_claw" in without
    assert "slop_code_bench" not in without
