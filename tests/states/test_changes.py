"""What differs between two states: kinds, counts, sizes, classes, and that nothing alters them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from arcview.errors import ArcviewError, GitError
from arcview.git import BIG_FILE_BYTES
from arcview.model.patch import ChangeKind, FileChange, LineKind, PathClass
from arcview.model.run import PathRules
from arcview.states.cache import RunCache
from arcview.states.store import PATCH_LIMIT_BYTES
from tests.states.workspaces import (
    Content,
    folder_run,
    git,
    ingested,
    run_of,
    state,
    store_of,
)


def only_change(tmp_path: Path, old: dict[str, Content], new: dict[str, Content]) -> FileChange:
    (change,) = ingested(folder_run(tmp_path, old, new)).changes("S0", "S1")
    return change


def by_path(
    tmp_path: Path,
    old: dict[str, Content],
    new: dict[str, Content],
    rules: PathRules | None = None,
) -> dict[str, FileChange]:
    store = ingested(folder_run(tmp_path, old, new, rules=rules))
    return {change.path: change for change in store.changes("S0", "S1")}


LONG = b"".join(b"line %d\n" % number for number in range(40))


def test_added_file_has_no_old_side(tmp_path: Path) -> None:
    change = only_change(tmp_path, {}, {"a": b"1\n2\n"})
    assert (change.kind, change.added, change.removed) == (ChangeKind.ADDED, 2, 0)
    assert (change.old_mode, change.old_size_bytes, change.old_blob) == (None, None, None)
    assert (change.new_mode, change.new_size_bytes) == ("100644", 4)


def test_deleted_file_has_no_new_side(tmp_path: Path) -> None:
    change = only_change(tmp_path, {"a": b"1\n2\n"}, {})
    assert (change.kind, change.added, change.removed) == (ChangeKind.DELETED, 0, 2)
    assert (change.new_mode, change.new_size_bytes, change.new_blob) == (None, None, None)


def test_rename_with_an_edit_is_found(tmp_path: Path) -> None:
    change = only_change(tmp_path, {"old": LONG}, {"dir/new": LONG + b"more\n"})
    assert (change.kind, change.old_path, change.path) == (ChangeKind.RENAMED, "old", "dir/new")
    assert (change.added, change.removed) == (1, 0)
    assert 50 <= (change.similarity or 0) < 100


def test_rewritten_file_under_a_new_name_is_no_rename(tmp_path: Path) -> None:
    changes = by_path(tmp_path, {"old": LONG}, {"new": b"other\n" * 40})
    assert {path: change.kind for path, change in changes.items()} == {
        "old": ChangeKind.DELETED,
        "new": ChangeKind.ADDED,
    }


def test_case_only_rename_keeps_both_names_apart(tmp_path: Path) -> None:
    change = only_change(tmp_path, {"Readme.md": LONG}, {"README.md": LONG})
    assert (change.old_path, change.path, change.similarity) == ("Readme.md", "README.md", 100)


def test_mode_change_is_told_from_an_edit(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"run.sh": b"x"}, {"run.sh": b"x"})
    (tmp_path / "stages/1/workspace/run.sh").chmod(0o755)
    store = ingested(run)
    (change,) = store.changes("S0", "S1")
    assert (change.kind, change.old_mode, change.new_mode) == (
        ChangeKind.MODE_CHANGED,
        "100644",
        "100755",
    )
    assert store.patch("S0", "S1", "run.sh").hunks == ()


def test_file_that_became_a_symlink_is_one_type_change(tmp_path: Path) -> None:
    store = ingested(folder_run(tmp_path, {"data": b"body\n"}, {"data": "/elsewhere"}))
    (change,) = store.changes("S0", "S1")
    assert (change.kind, change.old_mode, change.new_mode) == (
        ChangeKind.TYPE_CHANGED,
        "100644",
        "120000",
    )
    texts = [(line.kind, line.text) for line in store.patch("S0", "S1", "data").hunks[0].lines]
    assert texts == [(LineKind.REMOVED, "body"), (LineKind.ADDED, "/elsewhere")]


def test_binary_file_has_sizes_and_no_counts(tmp_path: Path) -> None:
    store = ingested(folder_run(tmp_path, {"i.png": b"\0" * 9}, {"i.png": b"\0" * 12}))
    (change,) = store.changes("S0", "S1")
    assert (change.binary, change.added, change.removed) == (True, None, None)
    assert (change.old_size_bytes, change.new_size_bytes) == (9, 12)
    assert store.patch("S0", "S1", "i.png").hunks == ()


def test_odd_names_come_through(tmp_path: Path) -> None:
    names = [
        "with blank",
        "new\nline",
        'q"uote',
        os.fsdecode(b"caf\xe9"),
        "tab\t",
        "=>",
        "{a => b}",
    ]
    changes = by_path(tmp_path, {}, dict.fromkeys(names, b"1\n"))
    assert list(changes) == sorted(names)


def test_odd_names_of_renames_come_through(tmp_path: Path) -> None:
    odd = os.fsdecode(b"n\xe9w\nname")
    change = only_change(tmp_path, {"old => name": LONG}, {odd: LONG + b"x\n"})
    assert (change.old_path, change.path, change.added) == ("old => name", odd, 1)


def test_in_tree_attributes_change_neither_counts_nor_lines(tmp_path: Path) -> None:
    attributes = (
        b"* -diff\n*.txt binary\n*.py diff=evil\n* text eol=crlf ident whitespace=cr-at-eol\n"
    )
    old: dict[str, Content] = {".gitattributes": attributes, "a.txt": b"1\r\n", "a.py": b"$Id$\n"}
    new: dict[str, Content] = {".gitattributes": attributes, "a.txt": b"1\n", "a.py": b"$Id: x$\n"}
    store = ingested(folder_run(tmp_path, old, new))
    assert [(c.path, c.added, c.removed) for c in store.changes("S0", "S1")] == [
        ("a.py", 1, 1),
        ("a.txt", 1, 1),
    ]
    lines = [line.text for line in store.patch("S0", "S1", "a.txt").hunks[0].lines]
    assert lines == ["1\r", "1"]


def test_user_configuration_does_not_change_a_diff(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "attributes").write_text("* diff=evil\n")
    (home / ".gitconfig").write_text(
        f"[core]\n\tattributesFile = {home}/attributes\n\thooksPath = {home}\n"
        f'[diff]\n\texternal = "touch {home}/owned"\n\tnoprefix = true\n\tcontext = 0\n'
        f'[diff "evil"]\n\ttextconv = "touch {home}/owned; cat"\n\tcommand = "touch {home}/owned"\n'
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {home}/owned")
    store = ingested(folder_run(tmp_path / "run", {"a": b"1\n2\n"}, {"a": b"1\n3\n"}))
    lines = [line.text for line in store.patch("S0", "S1", "a").hunks[0].lines]
    assert lines == ["1", "2", "3"]
    assert not (home / "owned").exists()


def test_classes_follow_names_content_and_attributes(tmp_path: Path) -> None:
    new: dict[str, Content] = {
        ".gitattributes": b"# *.md linguist-generated\n"
        b"api/** linguist-generated\napi/own.py -linguist-generated\n"
        b"lib/x/ linguist-vendored=true\n",
        "api/a.py": b"1",
        "api/own.py": b"1",
        "lib/x/a.py": b"1",
        "src/made.go": b"// Code generated by x. DO NOT EDIT.\n",
        "node_modules/x/a.js": b"1",
        "tests/test_a.py": b"1",
        "README.md": b"1",
        "main.py": b"1",
    }
    classes = {path: c.path_class for path, c in by_path(tmp_path, {}, new).items()}
    assert classes == {
        ".gitattributes": PathClass.CONFIG,
        "api/a.py": PathClass.GENERATED,
        "api/own.py": PathClass.SOURCE,
        "lib/x/a.py": PathClass.VENDORED,
        "src/made.go": PathClass.GENERATED,
        "node_modules/x/a.js": PathClass.VENDORED,
        "tests/test_a.py": PathClass.TEST,
        "README.md": PathClass.DOCS,
        "main.py": PathClass.SOURCE,
    }


def test_rules_of_the_chain_decide_the_class(tmp_path: Path) -> None:
    rules = PathRules(test=("main.py",), source=("README.md",))
    changes = by_path(tmp_path, {}, {"main.py": b"1", "README.md": b"1"}, rules)
    assert changes["main.py"].path_class is PathClass.TEST
    assert changes["README.md"].path_class is PathClass.SOURCE


def test_cached_changes_are_the_computed_ones(tmp_path: Path) -> None:
    old: dict[str, Content] = {"old": LONG, "b": b"\0", "data": b"x", "mode": b"x"}
    new: dict[str, Content] = {"new": LONG, "b": b"\0\0", "data": "x", os.fsdecode(b"\xff"): b"x"}
    run = folder_run(tmp_path, old, new)
    computed = ingested(run).changes("S0", "S1")
    assert store_of(run).changes("S0", "S1") == computed


def test_cached_changes_need_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = folder_run(tmp_path, {"a": b"1"}, {"a": b"2"})
    computed = ingested(run).changes("S0", "S1")
    monkeypatch.setattr("arcview.git._call", lambda *_: pytest.fail("git was called"))
    assert store_of(run).changes("S0", "S1") == computed


def test_other_rules_do_not_get_cached_classes(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {}, {"a.py": b"1"})
    ingested(run).changes("S0", "S1")
    ruled = folder_run(tmp_path / "x", rules=PathRules(docs=("a.py",)))
    again = store_of(run_of(tmp_path, *run.states, rules=ruled.chain.path_rules))
    assert again.changes("S0", "S1")[0].path_class is PathClass.DOCS


def test_damaged_cached_changes_are_computed_anew(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {}, {"a.py": b"1"})
    computed = ingested(run).changes("S0", "S1")
    for path in RunCache.for_run(tmp_path).changes.iterdir():
        path.write_bytes(b'{"rows": [[1]], "notes": []}')
    assert store_of(run).changes("S0", "S1") == computed


def test_limited_rename_detection_is_said(tmp_path: Path) -> None:
    old: dict[str, Content] = {f"a{n}": b"old %d\n" % n * 3 for n in range(1010)}
    new: dict[str, Content] = {f"b{n}": b"new %d\n" % n * 3 for n in range(1010)}
    store = ingested(folder_run(tmp_path, old, new))
    assert store.notes("S0", "S1") == ("rename detection was limited: too many files changed",)


def test_changes_with_a_missing_state_say_why(tmp_path: Path) -> None:
    store = ingested(run_of(tmp_path, state("S1", None), state("S2", None)))
    with pytest.raises(ArcviewError, match="state S1 is missing: its files are not recorded"):
        store.changes("S1", "S2")


def test_patch_of_a_file_that_does_not_differ_is_refused(tmp_path: Path) -> None:
    store = ingested(folder_run(tmp_path, {"a": b"1"}, {"a": b"1"}))
    with pytest.raises(ArcviewError, match="a does not differ between S0 and S1"):
        store.patch("S0", "S1", "a")


def test_context_is_as_wide_as_asked_for(tmp_path: Path) -> None:
    store = ingested(folder_run(tmp_path, {"a": LONG}, {"a": LONG.replace(b"line 20\n", b"x\n")}))
    widths = [len(store.patch("S0", "S1", "a", context=n).hunks[0].lines) for n in (0, 3, 1000)]
    assert widths == [2, 8, 41]


def test_empty_file_is_added_without_hunks(tmp_path: Path) -> None:
    store = ingested(folder_run(tmp_path, {}, {"a": b""}))
    patch = store.patch("S0", "S1", "a")
    assert (patch.change.kind, patch.change.added, patch.hunks) == (ChangeKind.ADDED, 0, ())


def test_missing_last_newline_is_marked(tmp_path: Path) -> None:
    store = ingested(folder_run(tmp_path, {"a": b"1\n2"}, {"a": b"1\n2\n"}))
    marks = [line.no_newline for line in store.patch("S0", "S1", "a").hunks[0].lines]
    assert marks == [False, True, False]


def test_undecodable_content_keeps_its_bytes(tmp_path: Path) -> None:
    store = ingested(folder_run(tmp_path, {"a": b"caf\xe9\n"}, {"a": b"caf\xe8\n"}))
    texts = [line.text for line in store.patch("S0", "S1", "a").hunks[0].lines]
    assert [text.encode("utf-8", "surrogateescape") for text in texts] == [b"caf\xe9", b"caf\xe8"]


def test_ten_megabyte_line_is_left_out_until_all_of_it_is_asked_for(tmp_path: Path) -> None:
    old, new = b"x" * 10_000_000, b"y" * 10_000_000
    store = ingested(folder_run(tmp_path, {"a.min.js": old}, {"a.min.js": new}))
    (change,) = store.changes("S0", "S1")
    assert (change.added, change.removed, change.binary) == (1, 1, False)
    short = store.patch("S0", "S1", "a.min.js")
    assert (short.hunks, short.truncated_bytes) == ((), 20_000_000)
    lines = store.patch("S0", "S1", "a.min.js", full=True).hunks[0].lines
    assert [line.text.encode() for line in lines] == [old, new]


def test_very_big_text_is_compared_as_a_whole_and_says_so(tmp_path: Path) -> None:
    data = b"text\n" * (BIG_FILE_BYTES // 5 + 1)
    store = ingested(folder_run(tmp_path, {"a.csv": data}, {"a.csv": data + b"x"}))
    (change,) = store.changes("S0", "S1")
    assert (change.added, change.new_size_bytes) == (None, len(data) + 1)
    assert store.patch("S0", "S1", "a.csv", full=True).warnings == (
        "of 32 MiB or more: compared as a whole, text or not",
    )


def test_file_just_below_the_limit_is_compared(tmp_path: Path) -> None:
    store = ingested(folder_run(tmp_path, {}, {"a": b"x" * PATCH_LIMIT_BYTES}))
    assert store.patch("S0", "S1", "a").truncated_bytes == 0


def test_file_of_no_state_is_null(tmp_path: Path) -> None:
    store = ingested(folder_run(tmp_path, {"d/a": b"1"}))
    answers = [store.file("S0", path) for path in ("d", "d/", "./d/a", "../x", "/d/a", "", "b")]
    assert answers == [None] * 7
    assert store.file("S9", "d/a") is None


def test_damaged_store_is_one_clear_error(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"a": b"1"}, {"a": b"2"})
    store = ingested(run)
    for path in (RunCache.for_run(tmp_path).states_git / "objects" / "pack").glob("*.pack"):
        path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(GitError, match=r"^git diff-tree failed: [^\n]+$"):
        store.changes("S0", "S1")


def test_counts_are_those_of_plain_git(tmp_path: Path) -> None:
    old: dict[str, Content] = {f"f{n}": LONG[: n * 20] for n in range(20)}
    new: dict[str, Content] = {f"f{n}": LONG[n * 7 :] for n in range(3, 25)}
    store = ingested(folder_run(tmp_path, old, new))
    plain = git(
        RunCache.for_run(tmp_path).states_git,
        "diff",
        "--numstat",
        "-M50%",
        *(f"refs/arcview/{name}" for name in ("S0", "S1")),
    )
    expected = sorted(tuple(line.split("\t")[:2]) for line in plain.decode().splitlines())
    found = sorted((str(c.added), str(c.removed)) for c in store.changes("S0", "S1"))
    assert found == expected


def test_blame_names_the_state_of_each_line(tmp_path: Path) -> None:
    run = folder_run(
        tmp_path,
        {"a": b"one\ntwo\nthree\n"},
        {"a": b"one\nTWO\nthree\n"},
        {"a": b"zero\none\n    TWO\nthree\n"},
    )
    found = [(line.state_id, line.original_line) for line in ingested(run).blame("S2", "a")]
    # The indentation of S2 does not count as having written the line.
    assert found == [("S2", 1), ("S0", 1), ("S1", 2), ("S0", 3)]


def test_blame_follows_a_rename(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"old name": LONG}, {"new\nname": LONG + b"more\n"})
    lines = ingested(run).blame("S1", "new\nname")
    assert (lines[0].state_id, lines[0].original_path) == ("S0", "old name")
    assert (lines[-1].state_id, lines[-1].original_path) == ("S1", "new\nname")


def test_blame_of_an_earlier_state_knows_nothing_of_later_ones(tmp_path: Path) -> None:
    store = ingested(folder_run(tmp_path, {"a": b"1\n"}, {"a": b"2\n"}, {"a": b"3\n"}))
    assert [line.state_id for line in store.blame("S1", "a")] == ["S1"]


def test_blame_of_an_absent_file_is_one_clear_error(tmp_path: Path) -> None:
    store = ingested(folder_run(tmp_path, {"a": b"1\n"}))
    with pytest.raises(GitError, match=r"^git blame failed: [^\n]+$"):
        store.blame("S0", "b")
