"""A folder of patches: one a stage, each on top of the one before."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview.errors import BadInputError, UnknownLayoutError
from arcview.model.states import PatchSource
from arcview.readers.protocols import Given
from arcview.readers.registry import find_run_reader, open_run
from arcview.session.opened import OpenRun
from tests.readers.scb_run import session_file, write

HEAD = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n"


def patch(old: str, new: str) -> str:
    return f"{HEAD}@@ -1 +1 @@\n-{old}\n+{new}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in (1, 2, 10):
        write(tmp_path / "chain" / f"{number}.patch", patch(str(number), str(number + 1)))
    write(tmp_path / "chain" / "notes.md", "# Notes\n")
    return tmp_path / "chain"


def test_patches_are_stages_in_the_order_of_their_numbers(folder: Path) -> None:
    assert find_run_reader(folder)[0].id == "patch_folder"
    run = open_run(folder).run
    assert [state.source for state in run.states[1:]] == [
        PatchSource("1.patch", "S0"),
        PatchSource("2.patch", "S1"),
        PatchSource("10.patch", "S2"),
    ]
    assert [stage.base for stage in run.stages] == ["S0", "S1", "S2"]


def test_a_mailed_patch_has_its_subject_as_title(tmp_path: Path) -> None:
    mail = f"From 0 Mon\nSubject: [PATCH 1/2] Add a\n thing\n\n---\n{patch('a', 'b')}"
    write(tmp_path / "x" / "0001-Add.patch", mail)
    assert open_run(tmp_path / "x").run.stages[0].title == "Add a thing"


def test_without_a_base_patches_are_shown_as_they_are(folder: Path) -> None:
    run = OpenRun.open(folder)
    run.ensure_states()
    assert run.store.missing("S0") is not None
    assert [change.path for change in run.store.changes("S1", "S2")] == ["x.py"]


def test_on_a_base_patches_become_workspaces(folder: Path, tmp_path: Path) -> None:
    (folder / "10.patch").unlink()
    write(tmp_path / "base" / "x.py", "1\n")
    run = OpenRun.open(folder, given=Given(base=str(tmp_path / "base")))
    run.ensure_states()
    assert [run.store.file(f"S{k}", "x.py") for k in range(3)] == [b"1\n", b"2\n", b"3\n"]


def test_a_patch_that_does_not_fit_is_said_and_shown_as_it_is(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "base" / "x.py", "something else\n")
    run = OpenRun.open(folder, given=Given(base=str(tmp_path / "base")))
    run.ensure_states()
    assert "does not apply" in (run.store.missing("S1") or "")
    assert [change.path for change in run.store.changes("S0", "S1")] == ["x.py"]


def test_a_session_with_a_turn_per_patch_is_spread_over_them(folder: Path, tmp_path: Path) -> None:
    told = [session_file(f"part {k}", "done", session=f"s{k}", at="") for k in range(3)]
    text = "".join(
        part.replace(f'"sessionId": "s{k}"', '"sessionId": "s"') for k, part in enumerate(told)
    )
    session = write(tmp_path / "session.jsonl", text)
    opened = open_run(folder, given=Given(trajectory=session))
    texts = [opened.trajectory(stage.trajectories).steps[0].text for stage in opened.run.stages]
    assert texts == ["part 0", "part 1", "part 2"]


def test_a_file_that_is_called_a_patch_and_is_none_makes_it_another_folder(folder: Path) -> None:
    write(folder / "3.patch", "this is no diff\n")
    with pytest.raises(UnknownLayoutError, match=r"3\.patch is called a patch and is none"):
        find_run_reader(folder)


def test_too_many_patches_are_one_clear_line(tmp_path: Path) -> None:
    for number in range(201):
        write(tmp_path / "x" / f"{number}.diff", patch("a", "b"))
    with pytest.raises(UnknownLayoutError, match="201 patches: too many to be stages"):
        find_run_reader(tmp_path / "x")


def test_a_cover_letter_is_no_stage(folder: Path) -> None:
    letter = "From 0123456789 Mon Sep 17 00:00:00 2001\nSubject: [PATCH 0/3] All\n\n x | 2 +-\n"
    write(folder / "0000-cover-letter.patch", letter)
    stages = open_run(folder).run.stages
    assert [stage.notes[0] for stage in stages] == ["1.patch", "2.patch", "10.patch"]
    assert stages[0].notes[1] == "0000-cover-letter.patch: a cover letter"
    assert find_run_reader(folder)[1].reason == "3 patches, 1.patch first"


def test_endings_may_be_written_large(tmp_path: Path) -> None:
    for name in ("2.DIFF", "10.Patch"):
        write(tmp_path / "x" / name, patch("a", "b"))
    assert [s.notes[0] for s in open_run(tmp_path / "x").run.stages] == ["2.DIFF", "10.Patch"]


def test_a_link_is_not_followed_and_said(folder: Path, tmp_path: Path) -> None:
    (folder / "11.patch").symlink_to(write(tmp_path / "far.patch", patch("a", "b")))
    opened = open_run(folder)
    assert len(opened.run.stages) == 3
    assert [problem.where for problem in opened.problems()] == ["11.patch"]


def test_a_folder_of_patches_one_level_down_is_named(folder: Path) -> None:
    with pytest.raises(UnknownLayoutError, match=rf"open one of them, such as {folder}\Z"):
        find_run_reader(folder.parent)


def test_a_folder_without_patches_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"expected files ending in \.patch or \.diff"):
        open_run(tmp_path, layout="patch_folder")
