"""Every recorded folder and file opens as a run, with the figures that were reviewed."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from arcview.errors import ArcviewError, UnknownLayoutError
from arcview.readers.registry import find_run_reader, find_trajectory_reader, iter_runs, open_run
from arcview.readers.run_layouts import MARKERS, READERS
from tests.readers import layout_summary
from tests.readers.scb_run import stream, write, write_run
from tests.readers.test_lone_file import mini
from tests.readers.test_swe_bench import graded

GOLDEN = layout_summary.expected()


@pytest.fixture(scope="module")
def formats(cases: Path) -> Path:
    return cases / "formats"


@pytest.fixture(scope="module")
def open_rows(formats: Path) -> list[Path]:
    """What the index says must open."""
    with (formats / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [formats / row[0] for row in rows[1:] if len(row) > 1 and row[1] == "open"]


@pytest.mark.parametrize("path", GOLDEN)
def test_a_recorded_run_has_the_reviewed_figures(formats: Path, path: str) -> None:
    assert layout_summary.summary(formats / path) == GOLDEN[path]


def test_every_run_in_the_folders_that_must_open_was_reviewed(
    formats: Path, open_rows: list[Path]
) -> None:
    found = [run for row in open_rows if row.is_dir() for run in iter_runs(row)]
    assert {run.relative_to(formats).as_posix() for run in found} <= set(GOLDEN)


def test_everything_that_must_open_is_recognised(open_rows: list[Path]) -> None:
    unknown = []
    for row in open_rows:
        for run in iter_runs(row) if row.is_dir() else [row]:
            try:
                find_run_reader(run)
            except ArcviewError:
                unknown.append(row)
        if row.is_dir() and not list(iter_runs(row)):
            unknown.append(row)
    assert unknown == []


def test_the_stages_of_a_session_have_all_of_its_steps(open_rows: list[Path]) -> None:
    differ = []
    for row in open_rows:
        if row.is_dir():
            continue
        reader, _ = find_trajectory_reader(row)
        opened = open_run(row)
        parts = [opened.trajectory(stage.trajectories) for stage in opened.run.stages]
        # A Claude session is read with its sub-agents, which lie in files of their own.
        if any(ref.companions for stage in opened.run.stages for ref in stage.trajectories):
            continue
        if sum(part.step_count for part in parts) != reader.read(row).step_count:
            differ.append(row.name)
    assert differ == []


def test_the_ids_of_recorded_runs_are_all_different(open_rows: list[Path]) -> None:
    runs = [run for row in open_rows for run in (iter_runs(row) if row.is_dir() else [row])]
    assert len({open_run(run).run.run_id for run in runs}) == len(runs)


def test_a_run_has_the_same_id_wherever_it_lies(formats: Path, tmp_path: Path) -> None:
    session = formats / "codex-exec-json" / "stream-output-1.jsonl"
    copy = tmp_path / "elsewhere" / session.name
    copy.parent.mkdir()
    copy.write_bytes(session.read_bytes())
    assert open_run(copy).run.run_id == open_run(session).run.run_id


HUNK = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"


def test_every_layout_has_a_reader_and_every_marker_a_layout() -> None:
    assert set(MARKERS) <= set(READERS)


def test_a_single_session_in_a_folder_is_listed(tmp_path: Path) -> None:
    session = write(tmp_path / "logs" / "session.jsonl", stream("one"))
    assert list(iter_runs(tmp_path)) == [session]


def test_a_folder_of_sessions_lists_each(tmp_path: Path) -> None:
    names = ["b.jsonl", "a.jsonl"]
    files = [write(tmp_path / name, stream("one", session=name)) for name in names]
    assert list(iter_runs(tmp_path)) == sorted(files)


def test_files_that_are_no_sessions_are_not_listed(tmp_path: Path) -> None:
    write(tmp_path / "notes.md", "# Notes\n")
    write(tmp_path / "data.json", {"a": 1})
    write(tmp_path / "junit.xml", "<testsuites/>")
    assert list(iter_runs(tmp_path)) == []


def test_a_repository_is_listed_where_no_run_lies_in_it(tmp_path: Path) -> None:
    write(tmp_path / "x" / ".git" / "HEAD", "ref: refs/heads/main\n")
    write_run(tmp_path / "y" / "runs" / "demo")
    write(tmp_path / "y" / ".git" / "HEAD", "ref: refs/heads/main\n")
    assert list(iter_runs(tmp_path)) == [tmp_path / "x", tmp_path / "y" / "runs" / "demo"]


def test_an_attempt_that_is_graded_beside_its_trajectory_is_listed_once(tmp_path: Path) -> None:
    for name in ("o__r-1", "o__r-2"):
        write(tmp_path / "logs" / name / "report.json", {name: graded()})
    write(tmp_path / "trajs" / "o__r-1.traj.json", mini(exit_status="Submitted"))
    write(tmp_path / "trajs" / "o__r-2" / "o__r-2.traj.json", mini(exit_status="Submitted"))
    write(tmp_path / "trajs" / "o__r-3.traj.json", mini(exit_status="Submitted"))
    found = [run.relative_to(tmp_path).as_posix() for run in iter_runs(tmp_path)]
    assert found == ["logs/o__r-1", "logs/o__r-2", "trajs/o__r-3.traj.json"]
    for name in found[:2]:
        opened = open_run(tmp_path / name)
        assert opened.trajectory(opened.run.stages[0].trajectories).step_count == 1


def test_a_bare_repository_is_listed(tmp_path: Path) -> None:
    for name in ("objects", "refs"):
        (tmp_path / "x.git" / name).mkdir(parents=True)
    write(tmp_path / "x.git" / "HEAD", "ref: refs/heads/main\n")
    assert list(iter_runs(tmp_path)) == [tmp_path / "x.git"]


def test_a_folder_of_patches_is_a_run_where_it_is_asked_for_itself(tmp_path: Path) -> None:
    folder = write(tmp_path / "patches" / "1.patch", HUNK).parent
    assert list(iter_runs(folder)) == [folder]
    # Every task may keep reference patches: those are no runs of anybody.
    assert list(iter_runs(tmp_path)) == []


@pytest.mark.parametrize(
    ("names", "is_listed"),
    [
        (("stage-1.patch", "stage-2.patch"), True),
        (("0001-add.patch", "0002-list.diff"), True),
        (("fix.patch", "test.patch"), False),
        (("1.patch", "fix.patch"), False),
        (("v2-a.patch", "v2-b.patch"), False),
    ],
)
def test_a_folder_of_numbered_patches_is_listed(
    tmp_path: Path, names: tuple[str, ...], is_listed: bool
) -> None:
    run = write_run(tmp_path / "a" / "demo")
    for name in names:
        write(tmp_path / "mine" / name, HUNK)
    assert list(iter_runs(tmp_path)) == [run, *[tmp_path / "mine"] * is_listed]


def test_numbered_patches_of_a_repository_are_no_run(tmp_path: Path) -> None:
    repository = tmp_path / "x"
    write(repository / ".git" / "HEAD", "ref: refs/heads/main\n")
    for name in ("1.patch", "2.patch"):
        write(repository / "debian" / "patches" / name, HUNK)
    assert list(iter_runs(tmp_path)) == [repository]


def test_a_folder_that_is_called_like_a_patch_is_none(tmp_path: Path) -> None:
    (tmp_path / "a" / "1.patch").mkdir(parents=True)
    assert list(iter_runs(tmp_path)) == []


@pytest.mark.parametrize(
    ("path", "layout", "message"),
    [
        ("x.patch", "harbor", r"x\.patch: a file; harbor is a folder \(Harbor trial\)"),
        ("x.patch", "swe_bench", r"x\.patch: a file; swe_bench is a folder"),
        (".", "junit", "a folder; junit is the format of a single file"),
        (".", "nonsense", "nonsense: no such reader; known: native, "),
    ],
)
def test_a_layout_that_cannot_be_meant_is_one_clear_line(
    tmp_path: Path, path: str, layout: str, message: str
) -> None:
    write(tmp_path / "x.patch", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    with pytest.raises(UnknownLayoutError, match=message):
        open_run(tmp_path / path, layout=layout)
