"""States recorded after each step: commits with a key between two states of a bundle."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview.model.run import Run
from arcview.model.states import BundleSource, State, StateKind
from arcview.states.store import StateStore
from tests.states.workspaces import commit_all, git, ingested, run_of, state, write_files

BASE = b"one\ntwo\nthree\n"


class Watched:
    """A repository that grows commit by commit, as a harness that watches every step makes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []

    def state(self, name: str) -> None:
        git(self.folder, "update-ref", f"refs/arcview/{name}", "HEAD")
        self.names.append(name)

    def commit(self, message: str, **files: bytes) -> None:
        write_files(self.folder, files)
        commit_all(self.folder, message)

    def step(self, key: str, **files: bytes) -> None:
        self.commit(f"a step\n\nStep-Key: {key}", **files)

    def run(self, target: Path) -> Run:
        target.mkdir(exist_ok=True)
        refs = [f"refs/arcview/{name}" for name in self.names]
        path = str(target / "workspace.bundle")
        git(self.folder, "bundle", "create", "-q", path, *refs)
        return run_of(target, *(bundled(name) for name in self.names))


def bundled(name: str) -> State:
    kind = StateKind.START if name == "S0" else StateKind.STAGE_END
    return state(name, BundleSource("workspace.bundle", f"refs/arcview/{name}"), kind)


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    """Two stages: the first watched step by step, the second not."""
    made = Watched(tmp_path / "repository")
    made.commit("start", f=BASE)
    made.state("S0")
    made.step("call_1", f=b"ONE\ntwo\nthree\n")
    made.step("call_2", f=b"ONE\ntwo\nthree\nfour\n", g=b"new\n")
    made.state("S1")
    made.commit("all at once", f=b"ONE\ntwo\nthree\nfour\nfive\n")
    made.state("S2")
    return made


@pytest.fixture
def store(watched: Watched, tmp_path: Path) -> StateStore:
    return ingested(watched.run(tmp_path / "run"))


def test_the_steps_between_two_states_are_listed_in_order(store: StateStore) -> None:
    assert [step.key for step in store.step_states("S1")] == ["call_1", "call_2"]
    assert store.step_states("S0") == ()


def test_a_commit_without_a_key_is_a_state_of_no_known_step(store: StateStore) -> None:
    assert [step.key for step in store.step_states("S2")] == [None]


def test_a_commit_of_several_steps_is_of_none_of_them(watched: Watched, tmp_path: Path) -> None:
    watched.commit("two at once\n\nStep-Key: call_8\nStep-Key: call_9", f=b"x\n")
    watched.state("S3")
    store = ingested(watched.run(tmp_path / "run"))
    assert [step.key for step in store.step_states("S3")] == [None]


def test_the_state_after_a_step_can_be_compared_like_any_other(store: StateStore) -> None:
    first, second = store.step_states("S1")
    assert [change.path for change in store.changes("S0", first.id)] == ["f"]
    assert [change.path for change in store.changes(first.id, second.id)] == ["f", "g"]
    assert store.file(first.id, "f") == b"ONE\ntwo\nthree\n"
    assert store.patch("S0", first.id, "f").hunks


def test_every_line_is_the_work_of_the_step_that_wrote_it(store: StateStore) -> None:
    assert store.blame_steps("S1", "f") == ("call_1", None, None, "call_2")
    assert store.blame_steps("S1", "g") == ("call_2",)


def test_a_line_of_an_unwatched_commit_is_the_work_of_no_known_step(store: StateStore) -> None:
    assert store.blame_steps("S2", "f") == (None,) * 5


def test_blame_over_the_states_does_not_see_the_steps(store: StateStore) -> None:
    assert [line.state_id for line in store.blame("S1", "f")] == ["S1", "S0", "S0", "S1"]


def test_steps_are_still_known_when_the_states_come_from_the_cache(
    watched: Watched, tmp_path: Path
) -> None:
    run = watched.run(tmp_path / "run")
    ingested(run)
    again = ingested(run)
    assert again.blame_steps("S1", "f") == ("call_1", None, None, "call_2")


def test_commits_that_do_not_lead_to_the_state_before_are_no_steps(
    watched: Watched, tmp_path: Path
) -> None:
    git(watched.folder, "checkout", "-q", "--orphan", "other")
    watched.step("call_1", f=b"unrelated\n")
    watched.state("S3")
    assert ingested(watched.run(tmp_path / "run")).step_states("S3") == ()


def test_a_state_without_steps_has_none(tmp_path: Path) -> None:
    made = Watched(tmp_path / "repository")
    made.commit("start", f=BASE)
    made.state("S0")
    made.state("S1")
    store = ingested(made.run(tmp_path / "run"))
    assert store.step_states("S1") == ()
    assert store.blame_steps("S1", "f") == ()


def test_a_sample_run_was_watched_at_every_step(demo_run: Path) -> None:
    from arcview.session.opened import OpenRun

    run = OpenRun.open(demo_run)
    run.store.ingest()
    keys = [step.key for step in run.store.step_states("S2.refactor")]
    assert keys == ["call_2_refactor_01", "call_2_refactor_02"]
