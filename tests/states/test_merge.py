from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from arcview.states.merge import Conflict, TreeMerger, paths_of
from arcview.states.store import StateStore
from tests.states.workspaces import folder_run, ingested


def merger(
    path: Path, *contents: Mapping[str, bytes | str]
) -> tuple[TreeMerger, StateStore, list[str]]:
    store = ingested(folder_run(path, *contents))
    trees = [store.tree(f"S{number}") or "" for number in range(len(contents))]
    return TreeMerger(store), store, trees


LINES = b"".join(b"line %d\n" % number for number in range(9))


def test_changes_in_different_lines_merge(tmp_path: Path) -> None:
    ours, theirs = LINES.replace(b"line 1", b"our 1"), LINES.replace(b"line 7", b"their 7")
    merge, _, trees = merger(tmp_path, {"a": LINES}, {"a": ours}, {"a": theirs, "new": b"x"})
    found = merge.three_way(*trees)
    assert found.tree is not None
    files = merge.files(found.tree)
    assert merge.read(files["a"].blob) == ours.replace(b"line 7", b"their 7")
    assert merge.read(files["new"].blob) == b"x"


def test_a_conflict_names_its_file_with_all_three_sides(tmp_path: Path) -> None:
    merge, _, trees = merger(tmp_path, {"ä b": b"1\n"}, {"ä b": b"2\n"}, {"ä b": b"3\n"})
    found = merge.three_way(*trees)
    (conflict,) = found.conflicts
    assert (found.tree, conflict.path, conflict.is_edit) == (None, "ä b", True)
    sides = (conflict.base, conflict.ours, conflict.theirs)
    assert [merge.read(side.blob) for side in sides if side] == [b"1\n", b"2\n", b"3\n"]


def test_a_file_that_one_side_removed_and_the_other_changed_is_no_edit(tmp_path: Path) -> None:
    merge, _, trees = merger(tmp_path, {"a": LINES, "b": b""}, {"b": b""}, {"a": b"x", "b": b""})
    (conflict,) = merge.three_way(*trees).conflicts
    assert (conflict.ours, conflict.is_edit) == (None, False)


def test_a_file_that_both_added_differently_is_a_conflict_without_base(tmp_path: Path) -> None:
    merge, _, trees = merger(tmp_path, {"b": b""}, {"a": b"1", "b": b""}, {"a": b"2", "b": b""})
    (conflict,) = merge.three_way(*trees).conflicts
    assert (conflict.base, conflict.is_edit) == (None, True)


def test_files_can_be_replaced_added_and_removed(tmp_path: Path) -> None:
    merge, _, (tree,) = merger(tmp_path, {"a": b"1", "b/c": b"2", "d": b"3"})
    old = merge.files(tree)
    new = merge.with_files(tree, {"a": ("100755", b"new"), "e f/g": old["d"], "b/c": None})
    files = merge.files(new)
    assert {path: merge.read(entry.blob) for path, entry in files.items()} == {
        "a": b"new", "d": b"3", "e f/g": b"3",
    }  # fmt: skip
    assert files["a"].mode == "100755"


def test_attributes_of_a_workspace_choose_no_merge_driver(tmp_path: Path) -> None:
    attributes = {".gitattributes": b"* merge=union\n"}
    contents = ({"a": text, **attributes} for text in (b"1\n", b"2\n", b"3\n"))
    merge, _, trees = merger(tmp_path, *contents)
    assert paths_of(merge.three_way(*trees).conflicts) == ("a",)


def test_one_text_merges_line_by_line_or_not_at_all(tmp_path: Path) -> None:
    merge, _, _ = merger(tmp_path, {"a": b""})
    merged = merge.merge_file(LINES, LINES.replace(b"line 0", b"0"), LINES + b"end\n")
    assert merged == LINES.replace(b"line 0", b"0") + b"end\n"
    assert merge.merge_file(b"1\n", b"2\n", b"3\n") is None


def test_a_merge_writes_only_below_the_store(tmp_path: Path) -> None:
    merge, store, trees = merger(tmp_path, {"a": b"1\n"}, {"a": b"2\n"}, {"a": b"3\n"})
    before = sorted(p for p in tmp_path.rglob("*") if store.objects not in p.parents)
    merge.three_way(*trees)
    merge.with_files(trees[0], {"a": ("100644", b"x")})
    assert sorted(p for p in tmp_path.rglob("*") if store.objects not in p.parents) == before


def test_a_conflict_without_sides_is_no_edit() -> None:
    assert not Conflict("a", None, None, None).is_edit
