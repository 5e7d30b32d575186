"""Folders into trees: bytes in are bytes out, whatever lies in a workspace."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from arcview.errors import CancelledError
from arcview.git import Git
from arcview.model.states import EmptySource, FolderSource, StateKind
from arcview.states.cache import RunCache
from arcview.states.objects import EMPTY_TREE
from arcview.states.store import StateStore
from tests.states.workspaces import (
    Content,
    commit_all,
    folder_run,
    git,
    ingested,
    run_of,
    state,
    store_of,
    write_files,
)

ODD_BYTES = os.fsdecode(b"caf\xe9")

HOSTILE_ATTRIBUTES = (
    b"* text=auto eol=lf ident filter=evil diff=evil export-subst merge=union\n"
    b"*.u16 working-tree-encoding=UTF-16LE text\nsecret export-ignore\n*.bin -text\n"
)

ODD: Mapping[str, Content] = {
    ".gitattributes": HOSTILE_ATTRIBUTES,
    ".gitignore": b"ignored/\n*.log\n",
    "ignored/kept.log": b"kept\n",
    "secret": b"not left out\n",
    "crlf.txt": b"a\r\nb\r\n",
    "ident.txt": b"$Id$ $Format:%H$\n",
    "text.u16": "ä".encode("utf-16-le"),
    "latin.txt": b"caf\xe9\n",
    "no newline": b"end",
    "empty": b"",
    "nul.bin": b"\0\1\2",
    "new\nline": b"x",
    'quo"te\ttab': b"x",
    f"{ODD_BYTES}/{ODD_BYTES}": b"x",
    "-dash": b"x",
    ":(top)magic": b"x",
    ".GIT/config": b"[core]\n\tfsmonitor = false\n",
    "git~1/config": b"x",
    ".gitmodules": "elsewhere",
    "a": b"sorts before a.b and a/",
    "a.b/c": b"x",
    "a-b": b"x",
    "link": "/etc/passwd",
    "loop": "loop",
    "up": "../../..",
    "dangling": os.fsdecode(b"no\xffwhere"),
    "folder link": "ignored",
}


def contents(store: StateStore, state_id: str) -> dict[str, bytes | None]:
    return {entry.path: store.file(state_id, entry.path) for entry in store.entries(state_id)}


def raw(content: Content) -> bytes:
    return os.fsencode(content) if isinstance(content, str) else content


def snapshot(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Names, sizes and times of everything below a folder."""
    facts = {path: path.lstat() for path in [folder, *folder.rglob("*")]}
    return {str(p): (f.st_size, f.st_mtime_ns, f.st_ctime_ns) for p, f in facts.items()}


def test_bytes_in_are_bytes_out(tmp_path: Path) -> None:
    store = ingested(folder_run(tmp_path, ODD))
    assert contents(store, "S0") == {name: raw(content) for name, content in ODD.items()}


def test_store_is_sound_for_git(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"a/b": b"x", "a.c": b"y", "link": "a"}, {"a/b": b"z"})
    store = ingested(run)
    assert store.tree("S0") is not None
    path = RunCache.for_run(tmp_path).states_git
    assert git(path, "fsck", "--full", "--strict", "--no-dangling") == b""
    assert git(path, "log", "--format=%s", "refs/arcview/S1") == b"S1\nS0\n"


def test_tree_is_the_one_that_git_would_make(tmp_path: Path) -> None:
    files: dict[str, Content] = {
        "a": b"1",
        "a.b/c": b"2",
        "a-b": b"3",
        "z/y/x": b"4",
        "link": "a",
        "B": b"5",
    }
    store = ingested(folder_run(tmp_path, files))
    repository = write_files(tmp_path / "repository", files)
    commit_all(repository, "all")
    assert store.tree("S0") == git(repository, "rev-parse", "HEAD^{tree}").decode().strip()


def test_modes_are_kept(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"run.sh": b"x", "plain": b"x", "link": "plain"})
    (tmp_path / "stages/0/workspace/run.sh").chmod(0o755)
    modes = {entry.path: entry.mode for entry in ingested(run).entries("S0")}
    assert modes == {"run.sh": "100755", "plain": "100644", "link": "120000"}


def test_run_folder_is_never_written(tmp_path: Path) -> None:
    run = folder_run(tmp_path / "run", ODD, {"a": b"1"})
    before = snapshot(tmp_path / "run")
    store = ingested(run)
    store.changes("S0", "S1")
    assert snapshot(tmp_path / "run") == before


def test_empty_folders_are_no_part_of_a_state(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"a": b"1"})
    (tmp_path / "stages/0/workspace/empty/deep").mkdir(parents=True)
    assert [entry.path for entry in ingested(run).entries("S0")] == ["a"]


def test_workspace_without_files_is_the_empty_tree(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {}, {"a": b"1"})
    store = ingested(run)
    assert store.tree("S0") == EMPTY_TREE
    assert [change.path for change in store.changes("S0", "S1")] == ["a"]


def test_empty_source_is_the_empty_tree(tmp_path: Path) -> None:
    write_files(tmp_path / "w", {"a": b"1"})
    run = run_of(tmp_path, state("S0", EmptySource()), state("S1", FolderSource("w")))
    store = ingested(run)
    assert [change.path for change in store.changes("S0", "S1")] == ["a"]


@pytest.mark.parametrize("has_commits", [True, False])
def test_nested_repository_keeps_its_files_and_is_named(tmp_path: Path, has_commits: bool) -> None:
    run = folder_run(tmp_path, {"a": b"1", "lib/x.py": b"2"})
    nested = tmp_path / "stages/0/workspace/lib"
    git(nested, "init", "-q")
    if has_commits:
        commit_all(nested, "one")
    store = store_of(run)
    problems = store.ingest()
    assert [entry.path for entry in store.entries("S0")] == ["a", "lib/x.py"]
    (problem,) = problems
    assert problem.where == "stages/0/workspace"
    assert problem.what == "nested git repository (lib/.git): its .git is left out, its files kept"


def test_own_repository_of_the_workspace_is_left_out_without_a_word(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"a": b"1"})
    commit_all(tmp_path / "stages/0/workspace", "one")
    store = store_of(run)
    assert store.ingest() == ()
    assert [entry.path for entry in store.entries("S0")] == ["a"]


def test_special_files_are_named_and_left_out(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"a": b"1"})
    os.mkfifo(tmp_path / "stages/0/workspace/pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "stages/0/workspace/socket"))
        store = store_of(run)
        problems = store.ingest()
    assert [problem.where for problem in problems] == [
        "stages/0/workspace: pipe",
        "stages/0/workspace: socket",
    ]
    assert [entry.path for entry in store.entries("S0")] == ["a"]


def test_unreadable_file_is_named_and_the_rest_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = folder_run(tmp_path, {"a": b"1", "locked": b"2"})
    real = os.open

    def refuse(path: bytes, flags: int, mode: int = 0o777) -> int:
        if os.fsencode(path).endswith(b"/locked"):
            raise PermissionError(13, "Permission denied")
        return real(path, flags, mode)

    # The mode of a file would not stop a test that runs as root.
    monkeypatch.setattr(os, "open", refuse)
    store = store_of(run)
    (problem,) = store.ingest()
    assert (problem.where, problem.what) == (
        "stages/0/workspace: locked",
        "cannot be read: Permission denied",
    )
    assert [entry.path for entry in store.entries("S0")] == ["a"]


def test_many_faults_are_counted_after_the_first_twenty(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"a": b"1"})
    for number in range(25):
        os.mkfifo(tmp_path / f"stages/0/workspace/pipe{number}")
    problems = store_of(run).ingest()
    assert len(problems) == 21
    assert problems[-1].what.startswith("5 more entries")


def test_large_file_is_stored_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcview.states.objects.WHOLE_BYTES", 1000)
    monkeypatch.setattr("arcview.states.folder.WHOLE_BYTES", 1000)
    data = os.urandom(4321)
    store = ingested(folder_run(tmp_path, {"big": data}))
    assert store.file("S0", "big") == data


def test_very_deep_folders_are_stored(tmp_path: Path) -> None:
    deep = "/".join("d" for _ in range(400)) + "/f"
    workspace = tmp_path / "w"
    workspace.mkdir()
    here = os.open(workspace, os.O_RDONLY)
    for _ in range(400):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    store = ingested(run_of(tmp_path, state("S0", FolderSource("w"))))
    assert [entry.path for entry in store.entries("S0")] == [deep]


def test_missing_folder_is_a_missing_state_and_a_problem(tmp_path: Path) -> None:
    run = run_of(tmp_path, state("S1", FolderSource("gone")))
    store = store_of(run)
    (problem,) = store.ingest()
    assert (store.tree("S1"), store.missing("S1")) == (
        None,
        "gone cannot be read: no such file or directory",
    )
    assert problem.where == "state S1"


@pytest.mark.parametrize("path", ["../outside", "link"])
def test_folder_outside_of_the_run_is_not_followed(tmp_path: Path, path: str) -> None:
    write_files(tmp_path / "outside", {"secret": b"x"})
    write_files(tmp_path / "run", {"link": "../outside"})
    store = ingested(run_of(tmp_path / "run", state("S1", FolderSource(path))))
    assert store.missing("S1") == f"{path} leads out of the run folder; not followed"


def test_reference_may_lie_in_a_shared_chain_folder(tmp_path: Path) -> None:
    write_files(tmp_path / "chain", {"a": b"x"})
    (tmp_path / "run").mkdir()
    run = run_of(tmp_path / "run", state("R1", FolderSource("../chain"), StateKind.REFERENCE))
    assert ingested(run).tree("R1") is not None


def test_state_without_source_says_why(tmp_path: Path) -> None:
    store = ingested(run_of(tmp_path, state("S1", None)))
    assert store.missing("S1") == "its files are not recorded"
    assert store.missing("S9") == "the run has no such state"


def test_state_that_the_run_calls_unchanged_has_the_tree_before_it(tmp_path: Path) -> None:
    write_files(tmp_path / "w", {"a": b"1"})
    unchanged = replace(state("S2", None), unchanged=True)
    store = ingested(run_of(tmp_path, state("S1", FolderSource("w")), unchanged))
    assert store.tree("S2") == store.tree("S1") is not None


def test_recorded_tree_that_differs_is_a_problem(tmp_path: Path) -> None:
    write_files(tmp_path / "w", {"a": b"1"})
    wrong = replace(state("S1", FolderSource("w")), tree="0" * 40)
    (problem,) = store_of(run_of(tmp_path, wrong)).ingest()
    assert problem.what.startswith(f"the run records the tree {'0' * 40} for it, its files give")


def test_odd_state_ids_are_kept_apart(tmp_path: Path) -> None:
    ids = ["S1", "s/1", "S1.lock", "..", "S 1", os.fsdecode(b"\xff"), "S2.refactor"]
    states = []
    for number, state_id in enumerate(ids):
        write_files(tmp_path / str(number), {"a": state_id.encode("utf-8", "surrogateescape")})
        states.append(state(state_id, FolderSource(str(number))))
    store = ingested(run_of(tmp_path, *states))
    refs = Git(RunCache.for_run(tmp_path).states_git).run(["for-each-ref", "--format=%(refname)"])
    assert len(refs.splitlines()) == len(ids)
    assert len({store.tree(state_id) for state_id in ids}) == len(ids)


def test_fresh_store_is_ready_in_the_next_session(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"a": b"1"}, {"a": b"2"})
    first = store_of(run)
    assert not first.ready()
    assert first.missing("S1") == "not read yet"
    first.ingest()
    assert store_of(run).ready()


@pytest.mark.parametrize("change", ["content", "mode", "name", "removed"])
def test_changed_workspace_is_stale_and_only_that_one_is_read_again(
    tmp_path: Path, change: str
) -> None:
    run = folder_run(tmp_path, {"a": b"1", "b": b"1"}, {"a": b"2"})
    ingested(run)
    path = tmp_path / "stages/0/workspace/a"
    match change:
        case "content":
            path.write_bytes(b"longer")
        case "mode":
            path.chmod(0o755)
        case "name":
            path.rename(path.with_name("c"))
        case _:
            path.unlink()
    store = store_of(run)
    assert not store.ready()
    read: list[str] = []
    store.ingest(progress=lambda done, total, what: read.append(what))
    assert (store.ready(), set(read)) == (True, {"S0"})


def test_cancelled_ingest_keeps_what_is_built_and_goes_on_later(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"a": b"1"}, {f"f{number}": b"%d" % number for number in range(300)})
    store = store_of(run)
    seen: list[str] = []
    with pytest.raises(CancelledError):
        store.ingest(lambda done, total, what: seen.append(what), cancelled=lambda: "S1" in seen)
    assert store.tree("S0") is not None
    assert store.tree("S1") is None
    seen.clear()
    store.ingest(lambda done, total, what: seen.append(what))
    assert "S0" not in seen
    assert len(store.entries("S1")) == 300


def test_progress_ends_at_its_total(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {f"f{n}": b"%d" % n for n in range(200)}, {"a": b"2"})
    calls: list[tuple[int, int]] = []
    store_of(run).ingest(lambda done, total, what: calls.append((done, total)))
    assert calls == sorted(calls)
    assert calls[-1] == (203, 203)


def test_two_processes_ingest_one_run_at_once(tmp_path: Path) -> None:
    files = {f"d{n % 7}/f{n}": b"%d" % n for n in range(500)}
    run = folder_run(tmp_path, files, {**files, "new": b"1"})
    code = (
        "import sys; from tests.states.workspaces import *\n"
        "root = Path(sys.argv[1]); source = 'stages/{}/workspace'.format\n"
        "run = run_of(root, *(state(f'S{n}', FolderSource(source(n))) for n in (0, 1)))\n"
        "print(ingested(run).tree('S1'))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    root = Path(__file__).parents[2]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) for _ in range(3)
    ]
    answers = {process.communicate()[0].strip() for process in processes}
    store = store_of(run)
    assert answers == {store.tree("S1")}
    path = RunCache.for_run(tmp_path).states_git
    assert git(path, "fsck", "--full", "--strict", "--no-dangling") == b""


def test_damaged_record_is_built_anew(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"a": b"1"})
    ingested(run)
    (RunCache.for_run(tmp_path).states_git / "arcview-states.json").write_bytes(b"{")
    store = store_of(run)
    assert not store.ready()
    store.ingest()
    assert store.file("S0", "a") == b"1"


def test_state_that_lost_its_source_is_not_the_one_that_was_there_before(tmp_path: Path) -> None:
    ingested(folder_run(tmp_path, {"a": b"1"}, {"a": b"2"}))
    missing = replace(state("S1", None), missing="the harness kept none")
    other = store_of(run_of(tmp_path, state("S0", FolderSource("stages/0/workspace")), missing))
    assert (other.tree("S1"), other.missing("S1")) == (None, "the harness kept none")
    other.ingest()
    assert other.tree("S1") is None


def test_evicted_run_is_built_anew(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"a": b"1"})
    ingested(run)
    shutil.rmtree(RunCache.for_run(tmp_path).folder)
    store = store_of(run)
    assert not store.ready()
    store.ingest()
    assert store.file("S0", "a") == b"1"


def test_ingest_evicts_other_runs_beyond_the_limit(tmp_path: Path) -> None:
    old, new = (folder_run(tmp_path / name, {"a": os.urandom(9999)}) for name in ("old", "new"))
    ingested(old)
    StateStore(new, RunCache.for_run(tmp_path / "new"), limit_bytes=1).ingest()
    assert store_of(new).ready()
    assert not store_of(old).ready()
