"""Readers are found by content; what cannot be opened is said in one line that helps."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.errors import BadInputError, UnknownLayoutError
from arcview.model.run import Run
from arcview.readers import registry, run_layouts
from arcview.readers.registry import (
    Detection,
    OpenedRun,
    find_report_reader,
    find_run_reader,
    find_trajectory_reader,
    iter_runs,
    open_run,
    trajectory_reader,
)
from tests.readers.scb_run import report, stream, write, write_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "runs" / "agent" / "demo")


class Foreign:
    """A run reader of another package."""

    id = "foreign"
    title = "Foreign layout"

    def detect(self, path: Path) -> Detection | None:
        return Detection(self.id, "marker") if (path / "foreign.txt").exists() else None

    def summarise(self, path: Path) -> Run:
        raise NotImplementedError

    def read(self, path: Path) -> OpenedRun:
        raise NotImplementedError


class Raising(Foreign):
    id = "raising"

    def detect(self, path: Path) -> Detection | None:
        raise RuntimeError("first line\nsecond line")


Plug = Callable[..., None]


@pytest.fixture
def plug(monkeypatch: pytest.MonkeyPatch) -> Plug:
    """Installs entry points of another package; values that are errors are raised on loading."""

    class Entry:
        def __init__(self, name: str, value: object) -> None:
            self.name = name
            self.value = f"elsewhere:{name}"
            self.loaded = value

        def load(self) -> object:
            if isinstance(self.loaded, Exception):
                raise self.loaded
            return self.loaded

    def install(**plugins: object) -> None:
        entries = [Entry(name, value) for name, value in plugins.items()]
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries)

    return install


def test_a_run_is_recognised_by_its_content(run: Path) -> None:
    reader, detection = find_run_reader(run)
    assert reader.id == detection.reader == "slop_code_bench"
    assert detection.reason == "problem.yaml beside checkpoint_1/checkpoint.yaml"


def test_a_marker_file_alone_is_no_run(tmp_path: Path) -> None:
    write(tmp_path / "problem.yaml", "name: demo\n")
    with pytest.raises(UnknownLayoutError, match="not a run that arcview can read"):
        open_run(tmp_path)


@pytest.mark.parametrize("inside", ["checkpoint_2", "checkpoint_2/snapshot", "problem.yaml"])
def test_a_path_inside_a_run_names_the_run_above(run: Path, inside: str) -> None:
    with pytest.raises(UnknownLayoutError) as caught:
        open_run(run / inside)
    assert str(caught.value).endswith(f"inside a run; open the run itself: {run}")


def test_a_relative_path_inside_a_run_names_it_too(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run / "checkpoint_1")
    with pytest.raises(UnknownLayoutError, match=f"open the run itself: {run}"):
        open_run(Path())


def test_a_folder_of_runs_names_one_of_them(run: Path) -> None:
    with pytest.raises(UnknownLayoutError) as caught:
        open_run(run.parent.parent)
    assert f"holds runs but is none; open one of them, such as {run}" in str(caught.value)


def test_a_missing_path_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnknownLayoutError, match="no such file or folder"):
        open_run(tmp_path / "nowhere")


def test_a_file_that_nobody_knows_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnknownLayoutError, match="not a trajectory, patch, test report or test"):
        open_run(write(tmp_path / "x.txt", "x"))
    with pytest.raises(UnknownLayoutError, match="the file is empty"):
        open_run(write(tmp_path / "y.txt", ""))


def test_a_single_file_is_a_run_of_its_own(tmp_path: Path) -> None:
    assert find_run_reader(write(tmp_path / "x", stream("x")))[0].id == "lone_file"


def test_a_layout_can_be_asked_for(run: Path) -> None:
    reader, detection = find_run_reader(run, layout="slop_code_bench")
    assert reader.id == "slop_code_bench"
    assert detection.reason == "asked for as slop_code_bench"


def test_an_unknown_layout_names_the_known_ones(run: Path, plug: Plug) -> None:
    plug(foreign=Foreign)
    with pytest.raises(UnknownLayoutError) as caught:
        open_run(run, layout="nonsense")
    known = ", ".join([*run_layouts.READERS, "foreign"])
    assert str(caught.value) == f"nonsense: no such reader; known: {known}"


def test_a_layout_that_does_not_fit_is_one_clear_line(run: Path) -> None:
    with pytest.raises(BadInputError, match=r"problem\.yaml: the file is missing"):
        open_run(run / "checkpoint_1", layout="slop_code_bench")


def test_readers_of_other_packages_are_asked_last(tmp_path: Path, plug: Plug) -> None:
    plug(foreign=Foreign)
    write(tmp_path / "foreign.txt", "")
    assert find_run_reader(tmp_path)[0].id == "foreign"


def test_a_reader_of_another_package_can_be_asked_for(tmp_path: Path, plug: Plug) -> None:
    plug(foreign=Foreign)
    assert find_run_reader(tmp_path, layout="foreign")[0].id == "foreign"


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (ImportError("no module named x"), "reader bad does not work: ImportError: no module"),
        (Raising, "reader raising does not work: RuntimeError: first line"),
        (7, "reader bad does not work: TypeError"),
    ],
)
def test_a_broken_reader_is_one_clear_line(
    tmp_path: Path, plug: Plug, plugin: object, message: str
) -> None:
    plug(bad=plugin)
    with pytest.raises(UnknownLayoutError) as caught:
        find_run_reader(tmp_path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_broken_reader_does_not_hide_a_working_one(tmp_path: Path, plug: Plug) -> None:
    plug(bad=ImportError("x"), worse=Raising, foreign=Foreign)
    write(tmp_path / "foreign.txt", "")
    assert find_run_reader(tmp_path)[0].id == "foreign"


def test_runs_are_listed_in_order_without_going_into_them(run: Path) -> None:
    root = run.parent.parent
    other = write_run(root / "agent" / "another")
    nested = write_run(run / "checkpoint_1" / "snapshot" / "inner")
    write_run(root / ".hidden" / "demo")
    (root / "loop").symlink_to(root, target_is_directory=True)
    assert list(iter_runs(root)) == [other, run]
    assert nested.is_dir()


def test_a_run_itself_is_the_only_run_below_it(run: Path) -> None:
    assert list(iter_runs(run)) == [run]


def test_runs_of_foreign_layouts_are_listed_too(run: Path, plug: Plug) -> None:
    plug(foreign=Foreign, bad=Raising)
    foreign = write(run.parent / "foreign" / "foreign.txt", "").parent
    assert list(iter_runs(run.parent)) == [run, foreign]


def test_nothing_below_is_an_empty_list(tmp_path: Path) -> None:
    assert list(iter_runs(tmp_path)) == []


def test_a_trajectory_is_recognised_by_its_content(tmp_path: Path) -> None:
    file = write(tmp_path / "any-name", stream("x"))
    reader, detection = find_trajectory_reader(file)
    assert reader.id == "claude_code"
    assert detection.reason == "a stream record of type system"


def test_a_report_is_recognised_by_its_content(tmp_path: Path) -> None:
    reader, _ = find_report_reader(write(tmp_path / "any-name", report()))
    assert reader.id == "pytest_json"


@pytest.mark.parametrize("find", [find_trajectory_reader, find_report_reader])
def test_files_that_nobody_knows_are_said(tmp_path: Path, find: Callable[[Path], object]) -> None:
    with pytest.raises(UnknownLayoutError, match="not a known"):
        find(write(tmp_path / "x", "plain text\n"))
    with pytest.raises(BadInputError, match="the file is empty"):
        find(write(tmp_path / "empty", ""))
    with pytest.raises(BadInputError, match="cannot be read"):
        find(tmp_path)


def test_a_trajectory_reader_is_found_by_its_id() -> None:
    assert trajectory_reader("claude_code").title == "Claude Code stream or session"
    with pytest.raises(UnknownLayoutError, match="no such reader"):
        trajectory_reader("nonsense")


def test_other_packages_are_looked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That reads a file of each of them, and a folder may hold thousands of unknown files."""
    asked = []

    def entry_points(group: str) -> list[object]:
        asked.append(group)
        return []

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    for number in range(3):
        write(tmp_path / f"{number}.jsonl", '{"x": 1}\n')
    assert list(iter_runs(tmp_path)) == []
    assert len(asked) == len(set(asked))


def test_every_entry_point_of_this_package_is_in_the_table() -> None:
    tables = {
        "arcview.runs": run_layouts.READERS,
        "arcview.trajectories": registry.TRAJECTORY_READERS,
        "arcview.reports": registry.REPORT_READERS,
    }
    for group, table in tables.items():
        entries = importlib.metadata.entry_points(group=group)
        own = {e.name: e.value for e in entries if e.value.startswith("arcview.")}
        assert own == table


def test_opening_a_foreign_run_imports_nothing_heavy(run: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from arcview.readers.registry import open_run\n"
        f"o = open_run(Path({str(run)!r})); o.gate_tests('1', 'S1')\n"
        "o.trajectory(o.run.stages[0].trajectories)\n"
        "heavy = {'pydantic', 'importlib.metadata', 'textual', 'rich', 'docker'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
