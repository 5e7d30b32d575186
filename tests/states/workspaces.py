"""Runs and workspaces for the tests of the state store."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from arcview.model.run import Chain, PathRules, Run
from arcview.model.states import FolderSource, Provenance, State, StateKind, StateSource
from arcview.states.cache import RunCache
from arcview.states.store import StateStore

Content = bytes | str


def write_files(folder: Path, files: Mapping[str, Content]) -> Path:
    """Writes files; a text value is the target of a symlink. Names may hold surrogates."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.symlink_to(content)
        else:
            path.write_bytes(content)
    return folder


def state(
    state_id: str, source: StateSource | None, kind: StateKind = StateKind.STAGE_END
) -> State:
    return State(state_id, 1, kind, Provenance.RECORDED, source)


def run_of(path: Path, *states: State, rules: PathRules | None = None) -> Run:
    chain = Chain("task", path_rules=rules or PathRules())
    return Run("run", "test", str(path), chain, states=states)


def folder_run(path: Path, *contents: Mapping[str, Content], rules: PathRules | None = None) -> Run:
    """A run with one folder per state, S0 first."""
    states = []
    for number, files in enumerate(contents):
        write_files(path / f"stages/{number}/workspace", files)
        states.append(state(f"S{number}", FolderSource(f"stages/{number}/workspace")))
    return run_of(path, *states, rules=rules)


def store_of(run: Run) -> StateStore:
    """The store of a run in this test's own cache, not ingested."""
    return StateStore(run, RunCache.for_run(Path(run.path)))


def ingested(run: Run) -> StateStore:
    store = store_of(run)
    store.ingest()
    return store


def git(
    folder: Path, *args: str, stdin: bytes | None = None, exit_codes: tuple[int, ...] = (0,)
) -> bytes:
    """Plain git, as a user without any configuration would run it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {
        **kept,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.invalid",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.invalid",
    }
    done = subprocess.run(
        ["git", *args], cwd=folder, env=environment, input=stdin, capture_output=True, check=False
    )
    assert done.returncode in exit_codes, done.stderr
    return done.stdout


def commit_all(folder: Path, message: str) -> str:
    """Commits everything below a folder, made a repository if it is none; gives the commit id."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "--initial-branch=main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD").decode().strip()
