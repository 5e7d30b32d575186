"""States that are commits of a git repository, read where it lies."""

from __future__ import annotations

from pathlib import Path

from arcview.model.states import RepositorySource, StateKind
from tests.states.workspaces import commit_all, run_of, state, store_of


def repository(path: Path) -> tuple[str, str]:
    """Two commits; returns their ids."""
    path.mkdir()
    (path / "a.txt").write_bytes(b"one\r\n")
    first = commit_all(path, "start")
    (path / "b.txt").write_bytes(b"two\n")
    return first, commit_all(path, "stage")


def test_commits_are_states_without_a_copy_of_the_repository(tmp_path: Path) -> None:
    first, second = repository(tmp_path / "run")
    states = (
        state("S0", RepositorySource(".git", first), StateKind.START),
        state("S1", RepositorySource(".git", second)),
    )
    store = store_of(run_of(tmp_path / "run", *states))
    assert store.ingest() == ()
    assert [change.path for change in store.changes("S0", "S1")] == ["b.txt"]
    assert store.file("S0", "a.txt") == b"one\r\n"
    assert store.ready()
    assert [line.state_id for line in store.blame("S1", "b.txt")] == ["S1"]


def test_commit_that_is_not_there_is_missing(tmp_path: Path) -> None:
    repository(tmp_path / "run")
    absent = state("S0", RepositorySource(".git", "0" * 40), StateKind.START)
    store = store_of(run_of(tmp_path / "run", absent))
    store.ingest()
    assert store.tree("S0") is None
    assert "git rev-parse failed" in (store.missing("S0") or "")


def test_repository_outside_of_the_run_is_read_only_when_the_user_named_it(tmp_path: Path) -> None:
    first, _ = repository(tmp_path / "elsewhere")
    (tmp_path / "run").mkdir()
    path = str(tmp_path / "elsewhere/.git")
    states = (
        state("S0", RepositorySource(path, first), StateKind.START),
        state("S1", RepositorySource(path, first, is_given=True)),
    )
    store = store_of(run_of(tmp_path / "run", *states))
    store.ingest()
    assert "leads out of the run folder" in (store.missing("S0") or "")
    assert store.tree("S1") is not None


def test_nothing_is_written_into_the_repository(tmp_path: Path) -> None:
    _, second = repository(tmp_path / "run")
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "run").rglob("*")}
    store = store_of(run_of(tmp_path / "run", state("S1", RepositorySource(".git", second))))
    store.ingest()
    store.entries("S1")
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "run").rglob("*")} == before
