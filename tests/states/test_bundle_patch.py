"""States that lie in a git bundle, and states that are a patch on another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arcview.model.run import Run
from arcview.model.states import BundleSource, FolderSource, PatchSource, State, StateKind
from arcview.states.cache import RunCache
from arcview.states.store import StateStore
from tests.states.workspaces import (
    commit_all,
    git,
    ingested,
    run_of,
    state,
    store_of,
    write_files,
)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A run folder with a bundle of three states."""
    repository = tmp_path / "repository"
    for name, files in {
        "S0": {"a": b"1\n"},
        "S1": {"a": b"1\n2\n", ".gitattributes": b"* text eol=crlf ident\n"},
        "S1.refactor": {"b": b"3\n"},
    }.items():
        commit_all(write_files(repository, files), name)
        git(repository, "update-ref", f"refs/arcview/{name}", "HEAD")
    run = tmp_path / "run"
    run.mkdir()
    refs = ["refs/arcview/S0", "refs/arcview/S1", "refs/arcview/S1.refactor"]
    git(repository, "bundle", "create", "-q", str(run / "workspace.bundle"), *refs)
    return run


def bundle_state(name: str, ref: str | None = None) -> State:
    return state(name, BundleSource("workspace.bundle", ref or f"refs/arcview/{name}"))


def test_every_state_of_a_bundle_is_there(bundle: Path) -> None:
    names = ("S0", "S1", "S1.refactor")
    store = ingested(run_of(bundle, *map(bundle_state, names)))
    assert [[entry.path for entry in store.entries(name)] for name in names] == [
        ["a"],
        [".gitattributes", "a"],
        [".gitattributes", "a", "b"],
    ]
    assert store.file("S1", "a") == b"1\n2\n"


def test_run_and_cache_may_be_named_by_relative_paths(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bundle.parent)
    run = run_of(Path("run"), bundle_state("S0"), bundle_state("S1"))
    store = StateStore(run, RunCache.for_run(Path("run"), Path("cache")))
    assert store.ingest() == ()
    assert [change.path for change in store.changes("S0", "S1")] == [".gitattributes", "a"]


def test_ref_that_a_bundle_lacks_is_a_missing_state(bundle: Path) -> None:
    store = ingested(run_of(bundle, bundle_state("S0"), bundle_state("S2")))
    assert store.missing("S2") == "workspace.bundle has no ref refs/arcview/S2"
    assert store.tree("S0") is not None


@pytest.mark.parametrize("keep", [0, 40, -30])
def test_damaged_bundle_is_a_missing_state_with_its_reason(bundle: Path, keep: int) -> None:
    path = bundle / "workspace.bundle"
    path.write_bytes(path.read_bytes()[:keep])
    store = ingested(run_of(bundle, bundle_state("S0")))
    assert store.tree("S0") is None
    assert str(store.missing("S0")).startswith("workspace.bundle: git ")


def test_bundle_that_builds_on_commits_it_lacks_is_a_missing_state(bundle: Path) -> None:
    repository = bundle.parent / "repository"
    span = ["refs/arcview/S0..refs/arcview/S1"]
    git(repository, "bundle", "create", "-q", str(bundle / "workspace.bundle"), *span)
    store = ingested(run_of(bundle, bundle_state("S1")))
    assert "prerequisite" in str(store.missing("S1"))


def test_submodule_in_a_bundle_is_listed_without_content(tmp_path: Path) -> None:
    repository = write_files(tmp_path / "repository", {"a": b"1"})
    commit = commit_all(repository, "S0")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{commit},lib")
    git(repository, "commit", "-q", "-m", "S1")
    (tmp_path / "run").mkdir()
    git(repository, "branch", "before", "HEAD~1")
    target = str(tmp_path / "run" / "workspace.bundle")
    git(repository, "bundle", "create", "-q", target, "main", "before")
    states = (bundle_state("S0", "refs/heads/before"), bundle_state("S1", "refs/heads/main"))
    store = ingested(run_of(tmp_path / "run", *states))
    (change,) = store.changes("S0", "S1")
    assert (change.path, change.new_mode, change.new_size_bytes) == ("lib", "160000", None)
    assert store.patch("S0", "S1", "lib").warnings == ("a submodule: its files are not recorded",)
    assert store.file("S1", "lib") is None


def patch_run(path: Path, base: dict[str, bytes], *patches: bytes) -> Run:
    write_files(path / "stages/0/workspace", dict(base))
    states = [state("S0", FolderSource("stages/0/workspace"), StateKind.START)]
    for number, patch in enumerate(patches, 1):
        write_files(path / f"stages/{number}", {"stage.patch": patch})
        states.append(
            state(f"S{number}", PatchSource(f"stages/{number}/stage.patch", f"S{number - 1}"))
        )
    return run_of(path, *states)


FIRST = b"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
SECOND = b"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one\n+ONE\n TWO\n"


def test_patches_apply_in_order(tmp_path: Path) -> None:
    store = ingested(patch_run(tmp_path, {"f": b"one\ntwo\n"}, FIRST, SECOND))
    assert store.file("S1", "f") == b"one\nTWO\n"
    assert store.file("S2", "f") == b"ONE\nTWO\n"


def test_first_patch_that_does_not_apply_is_said_and_takes_the_later_ones_along(
    tmp_path: Path,
) -> None:
    run = patch_run(tmp_path, {"f": b"other\n"}, FIRST, SECOND)
    store = store_of(run)
    problems = {problem.where: problem.what for problem in store.ingest()}
    assert problems["state S1"].startswith(
        "stages/1/stage.patch does not apply to S0: git apply failed: patch failed: f:1"
    )
    assert problems["state S2"].startswith("the state it is based on is missing: stages/1/")
    assert store.tree("S0") is not None


def test_patch_whose_line_ends_were_changed_on_its_way_applies_and_is_said(tmp_path: Path) -> None:
    run = patch_run(tmp_path, {"f": b"one\ntwo\n"}, FIRST.replace(b"\n", b"\r\n"))
    store = store_of(run)
    (problem,) = store.ingest()
    assert store.file("S1", "f") == b"one\nTWO\n"
    assert problem.where == "stages/1/stage.patch"
    assert problem.what.startswith("every line ends in CR LF")


def test_patch_of_a_file_with_other_line_ends_keeps_them(tmp_path: Path) -> None:
    patch = FIRST.replace(b"one\n", b"one\r\n").replace(b"two\n", b"two\r\n")
    store = ingested(patch_run(tmp_path, {"f": b"one\r\ntwo\r\n"}, patch))
    assert store.file("S1", "f") == b"one\r\nTWO\n"


def test_patch_before_its_base_in_the_order_still_finds_it(tmp_path: Path) -> None:
    run = patch_run(tmp_path, {"f": b"one\ntwo\n"}, FIRST)
    store = ingested(run_of(tmp_path, *reversed(run.states)))
    assert store.file("S1", "f") == b"one\nTWO\n"


def test_patches_that_build_on_each_other_are_missing(tmp_path: Path) -> None:
    write_files(tmp_path, {"p": FIRST})
    states = (state("S1", PatchSource("p", "S2")), state("S2", PatchSource("p", "S1")))
    store = ingested(run_of(tmp_path, *states))
    assert (store.tree("S1"), store.tree("S2")) == (None, None)


def test_patch_on_an_unknown_base_is_missing(tmp_path: Path) -> None:
    write_files(tmp_path, {"p": FIRST})
    store = ingested(run_of(tmp_path, state("S1", PatchSource("p", "S0"))))
    assert store.missing("S1") == "S0, which it is based on, is missing"


def test_empty_patch_changes_nothing(tmp_path: Path) -> None:
    store = ingested(patch_run(tmp_path, {"f": b"x\n"}, b"\n"))
    assert store.tree("S1") == store.tree("S0")


def test_patch_without_prefixes_lands_where_it_says(tmp_path: Path) -> None:
    patch = (
        b"diff --git src/new.py src/new.py\nnew file mode 100644\n"
        b"--- /dev/null\n+++ src/new.py\n@@ -0,0 +1 @@\n+x\n"
    )
    store = ingested(patch_run(tmp_path, {"f": b"x\n"}, patch))
    assert [entry.path for entry in store.entries("S1")] == ["f", "src/new.py"]


def test_patch_out_of_the_workspace_is_refused(tmp_path: Path) -> None:
    patch = b"--- /dev/null\n+++ b/../evil\n@@ -0,0 +1 @@\n+x\n"
    store = ingested(patch_run(tmp_path, {"f": b"x\n"}, patch))
    assert "does not apply" in str(store.missing("S1"))


def test_changed_base_makes_the_patched_states_stale(tmp_path: Path) -> None:
    run = patch_run(tmp_path, {"f": b"one\ntwo\n", "g": b"1"}, FIRST)
    ingested(run)
    (tmp_path / "stages/0/workspace/g").write_bytes(b"22")
    store = store_of(run)
    assert not store.ready()
    store.ingest()
    assert store.file("S1", "g") == b"22"


CONTENT = st.lists(
    st.sampled_from([b"a", b"b\r", b"\xff", b"", b"\tc ", b"d\x0ce"]), max_size=8
).flatmap(lambda lines: st.sampled_from([b"\n".join(lines), b"\n".join([*lines, b""])]))
TREE = st.dictionaries(
    st.sampled_from(["f", "dir/g", "with blank", "caf\udce9", 'q"uote']), CONTENT, max_size=4
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(old=TREE, new=TREE)
def test_patch_of_two_trees_leads_from_one_to_the_other(
    tmp_path_factory: pytest.TempPathFactory, old: dict[str, bytes], new: dict[str, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("patch")
    run = folder / "run"
    before = store_of(_two_folders(run, old, new))
    before.ingest()
    repository = folder / "repository"
    repository.mkdir()
    git(repository, "init", "-q")
    git(
        repository,
        "fetch",
        "-q",
        str(RunCache.for_run(run).states_git),
        "refs/arcview/*:refs/heads/*",
    )
    patch = git(repository, "diff", "--binary", "S0", "S1")
    write_files(run, {"stage.patch": patch})
    patched = _two_folders(run, None, None, state("P1", PatchSource("stage.patch", "S0")))
    after = ingested(patched)
    assert after.missing("P1") is None
    assert after.tree("P1") == before.tree("S1")


def _two_folders(
    run: Path, old: dict[str, bytes] | None, new: dict[str, bytes] | None, *more: State
) -> Run:
    for name, files in (("old", old), ("new", new)):
        if files is not None:
            write_files(run / name, dict(files))
    states = (state("S0", FolderSource("old")), state("S1", FolderSource("new")))
    return run_of(run, *states, *more)
