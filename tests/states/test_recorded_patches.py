"""What is shown between states of which only a patch is recorded, or a patch that does not fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arcview.errors import ArcviewError
from arcview.model.patch import LineKind
from arcview.model.states import FolderSource, PatchSource, StateKind
from tests.states.workspaces import run_of, state, store_of, write_files

PATCH = b"--- a/src/f.py\n+++ b/src/f.py\n@@ -7,2 +7,2 @@\n one\n-two\n+TWO\n"
CUT = b"--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n one\n-two\n"


def test_patch_without_a_base_is_shown_as_it_says(tmp_path: Path) -> None:
    write_files(tmp_path, {"p.diff": PATCH})
    start = replace(state("S0", None, StateKind.START), missing="the repository is not recorded")
    store = store_of(run_of(tmp_path, start, state("S1", PatchSource("p.diff", "S0"))))
    assert store.ingest() == ()
    (change,) = store.changes("S0", "S1")
    assert (change.path, change.added, change.removed) == ("src/f.py", 1, 1)
    (hunk,) = store.patch("S0", "S1", "src/f.py").hunks
    assert [(line.kind, line.old_number, line.text) for line in hunk.lines][1] == (
        LineKind.REMOVED,
        8,
        "two",
    )
    assert store.incomparable("S0", "S1") is None
    assert store.tree("S1") is None
    assert store.file("S1", "src/f.py") is None
    assert "own patch" in store.notes("S0", "S1")[0]


def test_patch_inside_another_file_is_read_from_the_state(tmp_path: Path) -> None:
    source = PatchSource("preds.json", "S0", PATCH.decode())
    store = store_of(run_of(tmp_path, state("S0", None, StateKind.START), state("S1", source)))
    store.ingest()
    assert [change.path for change in store.changes("S0", "S1")] == ["src/f.py"]


def test_patch_that_does_not_fit_is_shown_and_reported(tmp_path: Path) -> None:
    write_files(tmp_path, {"p.diff": CUT, "base/f": b"other\n"})
    base = state("S0", FolderSource("base"), StateKind.START)
    store = store_of(run_of(tmp_path, base, state("S1", PatchSource("p.diff", "S0"))))
    (problem,) = store.ingest()
    assert problem.where == "state S1"
    assert [change.path for change in store.changes("S0", "S1")] == ["f"]


def test_states_that_no_patch_joins_stay_incomparable(tmp_path: Path) -> None:
    write_files(tmp_path, {"p.diff": PATCH})
    start = replace(state("S0", None, StateKind.START), missing="not recorded")
    states = (start, state("S1", PatchSource("p.diff", "S0")), state("S2", None))
    store = store_of(run_of(tmp_path, *states))
    store.ingest()
    assert store.incomparable("S0", "S2") == "S0: not recorded"
    with pytest.raises(ArcviewError, match="S0 is missing"):
        store.changes("S0", "S2")


def test_patch_that_lies_outside_of_the_run_is_not_read(tmp_path: Path) -> None:
    write_files(tmp_path, {"p.diff": PATCH, "run/x": b""})
    start = state("S0", None, StateKind.START)
    run = run_of(tmp_path / "run", start, state("S1", PatchSource("../p.diff", "S0")))
    store = store_of(run)
    store.ingest()
    assert store.incomparable("S0", "S1") is not None


def test_folder_that_the_user_named_may_lie_outside_of_the_run(tmp_path: Path) -> None:
    write_files(tmp_path, {"base/src/f.py": b"\n" * 6 + b"one\ntwo\n", "run/p.diff": PATCH})
    base = state("S0", FolderSource(str(tmp_path / "base"), is_given=True), StateKind.START)
    run = run_of(tmp_path / "run", base, state("S1", PatchSource("p.diff", "S0")))
    store = store_of(run)
    assert store.ingest() == ()
    assert store.file("S1", "src/f.py") == b"\n" * 6 + b"one\nTWO\n"
