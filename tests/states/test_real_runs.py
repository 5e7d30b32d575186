"""Every workspace of the real runs comes out of the store as it lies on disk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arcview.model.run import Run
from arcview.model.states import EmptySource, FolderSource
from tests.states.workspaces import ingested, run_of, state

WORKSPACES = {
    "circuit-eval": 11,
    "code-search-collapse": 5,
    "code-search-refactor-pass": 5,
    "database-migration-rising": 5,
    "file-backup-infra": 7,
    "mocked-http-no-evaluation": 1,
    "mvvault-interrupted": 2,
    "recli-nothing-built": 0,
}


@pytest.fixture(params=sorted(WORKSPACES))
def run(request: pytest.FixtureRequest, scb: Callable[[str], Path]) -> Run:
    root = scb(request.param)
    folders = sorted(root.glob("checkpoint_*/snapshot")) + sorted(
        root.glob("checkpoint_*/after_skill/snapshot")
    )
    assert len(folders) == WORKSPACES[request.param]
    names = [str(folder.relative_to(root)) for folder in folders]
    return run_of(
        root, state("S0", EmptySource()), *(state(name, FolderSource(name)) for name in names)
    )


def on_disk(folder: Path) -> Iterator[tuple[str, str]]:
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(where) / name
            content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            yield str(path.relative_to(folder)), hashlib.sha256(content).hexdigest()


def test_every_file_of_every_workspace_is_the_one_on_disk(run: Run) -> None:
    store = ingested(run)
    for name in [later.id for later in run.states[1:]]:
        stored = {
            entry.path: hashlib.sha256(store.file(name, entry.path) or b"").hexdigest()
            for entry in store.entries(name)
        }
        assert stored == dict(on_disk(Path(run.path) / name))


def test_changes_from_nothing_count_every_line(run: Run) -> None:
    store = ingested(run)
    for name in [later.id for later in run.states[1:]]:
        lines = 0
        for change in store.changes("S0", name):
            if not change.binary:
                content = (Path(run.path) / name / change.path).read_bytes()
                lines += content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
        assert sum(change.added or 0 for change in store.changes("S0", name)) == lines


def test_patches_between_neighbours_have_the_lines_that_the_changes_count(run: Run) -> None:
    store = ingested(run)
    for old, new in zip(run.states, run.states[1:], strict=False):
        for change in store.changes(old.id, new.id):
            patch = store.patch(old.id, new.id, change.path, full=True)
            kinds = [line.kind.value for hunk in patch.hunks for line in hunk.lines]
            assert (kinds.count("+"), kinds.count("-")) == (change.added or 0, change.removed or 0)
