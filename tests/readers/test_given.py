"""What a user adds to a run: a trajectory, the state before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview.errors import ArcviewError
from arcview.model.states import FolderSource, Provenance, RepositorySource
from arcview.readers.protocols import Given
from arcview.readers.registry import open_run
from arcview.session.opened import OpenRun
from tests.readers.git_run import commit
from tests.readers.harbor_trial import step, write_trial
from tests.readers.scb_run import stream, write, write_run
from tests.readers.test_lone_file import PATCH, turns
from tests.states.workspaces import git


@pytest.fixture
def patch(tmp_path: Path) -> Path:
    return write(tmp_path / "run" / "x.patch", PATCH)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, "start", 0, **{"x.py": "a\n"})
    return folder


def start_of(path: Path, base: str) -> object:
    return open_run(path, given=Given(base=base)).run.states[0].source


def test_a_folder_is_a_base(patch: Path, tmp_path: Path) -> None:
    base = write(tmp_path / "base" / "x.py", "a\n").parent
    opened = open_run(patch, given=Given(base=str(base)))
    start = opened.run.states[0]
    assert start.source == FolderSource(str(base), is_given=True)
    assert (start.provenance, start.missing) == (Provenance.INFERRED, None)


def test_a_commit_of_another_repository_is_a_base(patch: Path, repository: Path) -> None:
    source = start_of(patch, f"{repository}@HEAD")
    assert isinstance(source, RepositorySource)
    run = OpenRun.open(patch, given=Given(base=f"{repository}@HEAD"))
    run.ensure_states()
    assert run.store.file("S1", "x.py") == b"b\n"


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("nowhere", "--base nowhere: no such folder, and .* is no git repository"),
        ("{repository}@nonsense", "has no commit nonsense"),
        ("{repository}@--output=x", "has no commit --output=x"),
    ],
)
def test_a_base_that_is_not_there_is_one_clear_line(
    patch: Path, repository: Path, base: str, message: str
) -> None:
    with pytest.raises(ArcviewError, match=message):
        open_run(patch, given=Given(base=base.format(repository=repository)))
    assert not (repository / "x").exists()


def test_a_base_completes_a_run_of_any_layout(tmp_path: Path) -> None:
    trial = write_trial(tmp_path / "job", [step("one")])
    base = write(tmp_path / "base" / "main.py", "print(0)\n").parent
    run = OpenRun.open(trial, given=Given(base=str(base)))
    run.ensure_states()
    assert [change.path for change in run.store.changes("S0", "S1")] == ["main.py"]


def test_a_trajectory_completes_a_run_of_one_stage(patch: Path, tmp_path: Path) -> None:
    session = write(tmp_path / "session.jsonl", turns("one", "two"))
    opened = open_run(patch, given=Given(trajectory=session))
    assert opened.trajectory(opened.run.stages[0].trajectories).step_count == 2
    assert session in opened.inputs()


def test_a_trajectory_with_a_turn_per_stage_is_spread_over_them(tmp_path: Path) -> None:
    run = write_run(tmp_path / "demo", stages=2)
    session = write(tmp_path / "session.jsonl", turns("one", "two"))
    opened = open_run(run, given=Given(trajectory=session))
    added = [opened.trajectory(stage.trajectories[-1:]) for stage in opened.run.stages]
    assert [part.steps[0].text for part in added] == ["one", "two"]


def test_the_runs_own_steps_come_first(tmp_path: Path) -> None:
    run = write_run(tmp_path / "demo", stages=1)
    session = write(tmp_path / "session.jsonl", stream("three", session="other"))
    opened = open_run(run, given=Given(trajectory=session))
    joined = opened.trajectory(opened.run.stages[0].trajectories)
    assert [each.text for each in joined.steps if each.number] == ["one", "two", "three"]


def test_stages_that_never_ran_get_no_part_of_it(tmp_path: Path) -> None:
    run = write_run(tmp_path / "demo", stages=1, declared=2)
    session = write(tmp_path / "session.jsonl", turns("one", "two"))
    stages = open_run(run, given=Given(trajectory=session)).run.stages
    assert stages[1].trajectories == ()
    assert stages[0].trajectories[-1].turns is None


def test_a_trajectory_that_is_not_there_is_one_clear_line(patch: Path, tmp_path: Path) -> None:
    with pytest.raises(ArcviewError, match="no such file"):
        open_run(patch, given=Given(trajectory=tmp_path / "nowhere"))


def test_what_is_added_does_not_stick_to_the_run(patch: Path, tmp_path: Path) -> None:
    base = write(tmp_path / "base" / "x.py", "a\n").parent
    with_base = OpenRun.open(patch, given=Given(base=str(base)))
    with_base.ensure_states()
    without = OpenRun.open(patch)
    without.ensure_states()
    assert without.store.missing("S0") is not None


@pytest.mark.parametrize("name", ["notes.txt", "empty.jsonl", "."])
def test_a_trajectory_that_is_none_is_one_clear_line(
    patch: Path, tmp_path: Path, name: str
) -> None:
    write(tmp_path / "notes.txt", "hello\n")
    write(tmp_path / "empty.jsonl", "")
    with pytest.raises(ArcviewError, match=r"--trajectory .*: "):
        open_run(patch, given=Given(trajectory=tmp_path / name))
