"""Rows of a diff, without an app: what each hostile patch shows, folding, modes, jumps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.model.patch import (
    ChangeKind,
    DiffLine,
    FileChange,
    FilePatch,
    Hunk,
    LineKind,
    PathClass,
)
from arcview.states.patch_text import parse_patch
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows import diff_lines
from arcview.ui.rows.diff import DiffRows
from arcview.ui.rows.diff_file import Kind, prepare
from arcview.ui.rows.diff_layout import Mode
from arcview.ui.rows.diff_tree import FileTree

OLD = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"


def loaded(patches: list[FilePatch], mode: Mode = "unified") -> DiffRows:
    rows = DiffRows([patch.change for patch in patches], mode=mode)
    for file, patch in zip(rows.files, patches, strict=True):
        rows.put(file, prepare(patch))
    return rows


def parsed(text: str, mode: Mode = "unified") -> DiffRows:
    return loaded(list(parse_patch(text.encode()).files), mode)


def lines(rows: DiffRows, width: int = 80) -> list[str]:
    """The rows as they are drawn in a view of that width, without the blanks at their ends."""
    return [
        "".join(
            cell.content.plain.ljust(
                (cell.width or 0) - cells(cell.content.plain) + len(cell.content.plain)
            )
            for cell in rows.cells(index, width)
        ).rstrip()
        for index in range(len(rows))
    ]


@pytest.fixture
def hostile(cases: Path) -> Callable[[str], DiffRows]:
    def read(name: str) -> DiffRows:
        (path,) = (cases / "hostile" / "diff").glob(f"{name}_*")
        return loaded(list(parse_patch(path.read_bytes()).files))

    return read


PATCH = """\
diff --git a/src/engine.py b/src/engine.py
--- a/src/engine.py
+++ b/src/engine.py
@@ -10,7 +10,8 @@ def apply(rules):
     keep 1
     keep 2
     keep 3
-    total = one(a)
+    total = one(a, b)
+    extra = 1
     keep 4
     keep 5
     keep 6
@@ -40,7 +41,6 @@ def other():
     keep 7
     keep 8
     keep 9
-    gone()
     keep 10
     keep 11
     keep 12
"""


# what a diff looks like


def test_a_unified_diff_has_numbers_signs_and_gaps() -> None:
    assert lines(parsed(PATCH)) == [
        "▾ M src/engine.py +2 −2",
        "  ··· 9 unchanged lines @@ −10 +10 @@ def apply(rules):",
        " 10       keep 1",
        " 11       keep 2",
        " 12       keep 3",
        " 13 −     total = one(a)",
        " 13 +     total = one(a, b)",
        " 14 +     extra = 1",
        " 15       keep 4",
        " 16       keep 5",
        " 17       keep 6",
        "  ··· 23 unchanged lines @@ −40 +41 @@ def other():",
        " 41       keep 7",
        " 42       keep 8",
        " 43       keep 9",
        " 43 −     gone()",
        " 44       keep 10",
        " 45       keep 11",
        " 46       keep 12",
        "  ··· unchanged to the end",
        "",
    ]


def test_a_wide_unified_diff_has_both_numbers() -> None:
    assert lines(parsed(PATCH), 100)[5:7] == [
        " 13     −     total = one(a)",
        "     13 +     total = one(a, b)",
    ]


def test_a_split_diff_puts_versions_of_a_line_side_by_side() -> None:
    assert lines(parsed(PATCH, "split"), 61)[5:7] == [
        " 13 −     total = one(a)      │ 13 +     total = one(a, b)",
        "                              │ 14 +     extra = 1",
    ]


def test_changed_words_are_marked_on_both_sides() -> None:
    rows = parsed(PATCH)
    marks = [
        (cell.content.plain[span.start : span.end], span.style)
        for index in (5, 6, 7)
        for cell in rows.cells(index, 80)
        for span in cell.content.spans
        if span.style in (theme.ADDED_WORD, theme.REMOVED_WORD)
    ]
    assert marks == [(", b", theme.ADDED_WORD)]


def test_automatic_mode_splits_where_there_is_room() -> None:
    rows = parsed(PATCH, "auto")
    assert rows.fit(109) is False
    assert rows.fit(110) is True
    assert rows.is_split


# every hostile patch


def test_an_octal_path_is_decoded(hostile: Callable[[str], DiffRows]) -> None:
    assert lines(hostile("d01"))[0] == "▾ M docs/plan 日.md +1 −1"


def test_an_added_file_with_blanks_in_its_name(hostile: Callable[[str], DiffRows]) -> None:
    assert lines(hostile("d02"))[:2] == [
        "▾ A src/My Module/api client.py  added +2",
        "  1 + def ping():",
    ]


def test_crlf_is_a_mark_and_the_line_stays_visible(hostile: Callable[[str], DiffRows]) -> None:
    shown = lines(hostile("d04"))
    assert "  2 −   int x;␍" in shown
    assert "  2 +   long x;␍" in shown


def test_odd_line_separators_do_not_end_a_line(hostile: Callable[[str], DiffRows]) -> None:
    shown = lines(hostile("d05"))
    assert [text for text in shown if " + " in text] == [
        "  2 + form␌feed",
        "  3 + vert␋tab",
        "  4 + nel�here",
        "  5 + ls�ps�end",
    ]


def test_empty_files_are_listed_and_explained(hostile: Callable[[str], DiffRows]) -> None:
    assert lines(hostile("d07")) == [
        "▾ A pkg/__init__.py  added ±0",
        "  an empty file",
        "",
        "▾ D old/__init__.py  deleted ±0",
        "  it was empty",
        "",
    ]


def test_a_binary_file_is_an_entry_without_lines(hostile: Callable[[str], DiffRows]) -> None:
    shown = lines(hostile("d08"))
    assert shown[0].startswith("▾ M logo.png  binary")
    assert shown[1] == "  binary, not shown as text"
    assert "▾ M a.py +1 −1" in shown


@pytest.mark.parametrize(
    ("name", "header", "note"),
    [
        ("d10", "▾ M run.sh  mode 100644 → 100755 ±0", "only the mode changed"),
        ("d11", "▾ R src/helpers.py  renamed from src/util.py 100% ±0", "no line changed"),
        ("d13", "▾ C copy.cfg  copied from base.cfg 100% ±0", "no line changed"),
        ("d37", "▾ R README.md  renamed from Readme.md 100% ±0", "no line changed"),
    ],
)
def test_changes_without_lines_say_what_they_are(
    hostile: Callable[[str], DiffRows], name: str, header: str, note: str
) -> None:
    assert lines(hostile(name))[:2] == [header, f"  {note}"]


def test_a_symlink_shows_its_targets(hostile: Callable[[str], DiffRows]) -> None:
    assert lines(hostile("d14")) == [
        "▾ M current  symlink target changed +1 −1",
        "  @@ −1 +1 @@",
        "  1 − releases/1 ⊘ no newline at end of file",
        "  1 + releases/2 ⊘ no newline at end of file",
        "",
    ]


def test_a_combined_diff_is_shown_raw_and_says_so(hostile: Callable[[str], DiffRows]) -> None:
    shown = lines(hostile("d16"))
    assert shown[0].startswith("▾ U conf.ini  combined")
    assert "combined diff, shown raw" in shown[1]
    assert "++debug=1" in shown


def test_content_that_looks_like_headers_is_content(hostile: Callable[[str], DiffRows]) -> None:
    shown = lines(hostile("d17"))
    assert shown[0] == "▾ M q.sql +2 −2"
    assert sum(text.startswith("▾") for text in shown) == 1


def test_a_file_without_a_name_has_a_row(hostile: Callable[[str], DiffRows]) -> None:
    assert lines(hostile("d19"))[0] == "▾ M (no name) +1 −1"


def test_a_patch_cut_short_says_so_on_top(hostile: Callable[[str], DiffRows]) -> None:
    assert lines(hostile("d22"))[1].startswith("  ▲ cut short")


def test_a_stripped_last_line_is_warned_of(hostile: Callable[[str], DiffRows]) -> None:
    assert "▲" in lines(hostile("d23"))[1]


def test_nul_and_escape_sequences_are_drawn(hostile: Callable[[str], DiffRows]) -> None:
    assert "  1 − a␀b" in lines(hostile("d25"))
    escapes = "\n".join(lines(hostile("d26")))
    assert "␛[31m" in escapes
    assert "\x1b" not in escapes


def test_tabs_keep_their_columns_on_both_sides(hostile: Callable[[str], DiffRows]) -> None:
    rows = hostile("d28")
    rows.set_mode("split", 80)
    texts = [(rows.text(i, 0), rows.text(i, 1)) for i in range(len(rows))]
    assert ("        gcc a.c", "        gcc a.c···") in texts


def test_blanks_at_the_end_of_a_changed_line_are_visible(
    hostile: Callable[[str], DiffRows],
) -> None:
    assert any(text.endswith("···") for text in lines(hostile("d28")))


def test_bidi_controls_are_marks(hostile: Callable[[str], DiffRows]) -> None:
    added = next(text for text in lines(hostile("d29")) if " + " in text)
    assert added.count("�") == 4


def test_a_path_that_leaves_the_folder_is_shown_as_it_is(
    hostile: Callable[[str], DiffRows],
) -> None:
    assert lines(hostile("d32"))[0].startswith("▾ M ../../outside.txt")


def test_a_file_that_became_a_symlink_is_one_file(hostile: Callable[[str], DiffRows]) -> None:
    shown = lines(hostile("d34"))
    assert shown[0] == "▾ T data  file → symlink +1 −1"
    assert sum(text.startswith("▾") for text in shown) == 1


def test_an_emoji_selector_shifts_nothing(hostile: Callable[[str], DiffRows]) -> None:
    from rich.cells import cell_len

    for text in lines(hostile("d43")):
        assert cell_len(text) == cells(text)


def test_nothing_changed_is_said() -> None:
    assert lines(loaded([])) == ["No changes"]
    assert DiffRows((), empty="Nothing changed: S1 → S2").row(0).plain.startswith("Nothing changed")


def test_every_hostile_patch_makes_drawable_rows(cases: Path) -> None:
    for path in sorted((cases / "hostile" / "diff").iterdir()):
        for mode in ("unified", "split"):
            rows = loaded(list(parse_patch(path.read_bytes()).files))
            rows.set_mode(mode, 80)
            for index in range(len(rows)):
                for cell in rows.cells(index, 80):
                    assert "\x1b" not in cell.content.plain, path.name
                    list(cell.content.render(end=""))


# lines that look alike


def one_hunk(old: list[str], new: list[str]) -> FilePatch:
    removed = [DiffLine(LineKind.REMOVED, text, i, None) for i, text in enumerate(old, 1)]
    added = [DiffLine(LineKind.ADDED, text, None, i) for i, text in enumerate(new, 1)]
    hunk = Hunk(1, len(old), 1, len(new), "", (*removed, *added))
    change = FileChange("a.txt", ChangeKind.MODIFIED, added=len(new), removed=len(old))
    return FilePatch(change, (hunk,))


def test_lines_that_differ_in_what_is_not_drawn_are_marked_whole() -> None:
    rows = loaded([one_hunk(["✔ done"], ["✔\ufe0f done"])])
    styles = {span.style for cell in rows.cells(3, 80) for span in cell.content.spans}
    assert theme.ADDED_WORD in styles


def test_a_very_long_line_is_clipped_and_says_so() -> None:
    rows = loaded([one_hunk(["x" * 10_000_000], ["y"])])
    assert rows.text(2).endswith("… 9,996,000 more characters")


# folding


def change(path: str, path_class: PathClass = PathClass.SOURCE, count: int = 1) -> FileChange:
    return FileChange(path, ChangeKind.ADDED, added=count, removed=0, path_class=path_class)


def test_folded_classes_stand_counted_behind_the_other_files() -> None:
    rows = DiffRows(
        [
            change("a.py"),
            change("node_modules/x.js", PathClass.VENDORED, 100),
            change("node_modules/y.js", PathClass.VENDORED, 900),
            change("poetry.lock", PathClass.LOCK, 5),
        ]
    )
    assert lines(rows) == [
        "▾ A a.py  added +1",
        "  … loading",
        "",
        "▸ 1 lock file  +5  folded — enter opens",
        "▸ 2 vendored files  +1,000  folded — enter opens",
    ]
    rows.toggle_group(4)
    assert lines(rows)[4:] == [
        "▾ 2 vendored files  +1,000",
        "▸ A node_modules/x.js  added +100",
        "▸ A node_modules/y.js  added +900",
    ]


def test_a_very_long_file_begins_folded() -> None:
    assert lines(DiffRows([change("big.py", count=9_000)])) == ["▸ A big.py  added +9,000"]


def test_a_file_folds_to_its_header_and_opens_again() -> None:
    rows = parsed(PATCH)
    count = len(rows)
    rows.set_open(rows.files[0], is_open=False)
    assert lines(rows) == ["▸ M src/engine.py +2 −2"]
    rows.set_open(rows.files[0], is_open=True)
    assert len(rows) == count


def test_a_file_that_cannot_be_read_says_why() -> None:
    rows = DiffRows([change("a.py")])
    rows.put_error(rows.files[0], "no such object")
    assert lines(rows)[1] == "  ✗ not readable: no such object"


def test_the_rest_of_a_file_too_large_to_compare_is_sized() -> None:
    patch = FilePatch(change("a.bin"), truncated_bytes=9_800_000)
    assert lines(loaded([patch]))[1] == "  … 9.8 MB more, too large to compare at once"


def new_side() -> list[str]:
    return [f"line {i}" for i in range(1, 61)]


def test_a_gap_opens_to_the_lines_it_stands_for() -> None:
    rows = parsed(PATCH)
    rows.put_text(rows.files[0], new_side())
    assert lines(rows)[-2] == "  ··· 14 unchanged lines to the end"
    rows.open_gap(rows.files[0], 1)
    shown = lines(rows)
    assert shown[11] == " 18   line 18"
    assert shown[33] == " 40   line 40"
    assert shown[34] == " 41       keep 7"
    position = rows.position(11)
    assert position is not None
    assert (position.old_line, position.new_line) == (17, 18)


def test_opened_gaps_cover_the_whole_file() -> None:
    rows = parsed(PATCH)
    file = rows.files[0]
    rows.put_text(file, new_side())
    for gap in range(3):
        rows.open_gap(file, gap)
    numbers = [p.new_line for i in range(len(rows)) if (p := rows.position(i)) and p.new_line]
    assert numbers == list(range(1, 61))


# places and jumps


def test_a_place_survives_every_change_of_the_rows() -> None:
    rows = parsed(PATCH)
    index = next(i for i in range(len(rows)) if "gone" in rows.text(i))
    anchor = rows.anchor(index)
    rows.put_text(rows.files[0], new_side())
    rows.open_gap(rows.files[0], 1)
    rows.set_mode("split", 200)
    assert "gone" in rows.text(rows.locate(anchor))
    rows.set_open(rows.files[0], is_open=False)
    assert rows.locate(anchor) == 0


def test_a_place_in_a_folded_class_is_the_class() -> None:
    rows = DiffRows([change("a.py"), change("b.lock", PathClass.LOCK)])
    rows.toggle_group(3)
    anchor = rows.anchor(4)
    rows.toggle_group(3)
    assert rows.locate(anchor) == 3


def test_hunk_jumps_go_to_the_runs_of_changed_lines() -> None:
    rows = parsed(PATCH)
    first = rows.next_hunk(0, 1)
    assert first == 5
    second = rows.next_hunk(first, 1)
    assert second is not None
    assert "gone" in rows.text(second)
    assert rows.next_hunk(second, 1) is None
    assert rows.next_hunk(second, -1) == first
    assert rows.next_hunk(first, -1) is None


def test_file_jumps_go_to_the_headers() -> None:
    rows = parsed(PATCH + PATCH.replace("engine", "other"))
    second = rows.next_file(3, 1)
    assert second == 21
    assert rows.next_file(second, 1) is None
    assert rows.next_file(second + 4, -1) == second
    assert rows.next_file(second, -1) == 0
    assert rows.next_file(0, -1) is None


@pytest.mark.parametrize(
    ("line", "text"), [(13, "total = one(a, b)"), (15, "keep 4"), (30, "keep 6")]
)
def test_a_line_is_found_or_the_nearest_shown_before_it(line: int, text: str) -> None:
    rows = parsed(PATCH)
    index = rows.row_of_line(rows.files[0], line)
    assert index is not None
    assert rows.text(index).strip() == text


def test_a_line_of_the_old_side_is_found() -> None:
    rows = parsed(PATCH)
    index = rows.row_of_line(rows.files[0], 43, old_side=True)
    assert index is not None
    assert "gone" in rows.text(index)


def test_positions_name_file_hunk_and_lines() -> None:
    rows = parsed(PATCH)
    position = rows.position(5)
    assert position is not None
    assert (position.change.path, position.kind, position.hunk) == ("src/engine.py", Kind.LINE, 0)
    assert (position.old_line, position.new_line) == (13, None)


def test_an_origin_stands_left_of_the_lines_of_the_new_side() -> None:
    rows = parsed(PATCH)
    rows.origin = lambda path, line: f"2#{line}" if line == 14 else None
    assert lines(rows)[7] == "2#14     14 +     extra = 1"
    assert lines(rows)[5] == "         13 −     total = one(a)"


# the tree


def tree_lines(tree: FileTree, width: int) -> list[str]:
    return [
        "".join(
            cell.content.plain.ljust(width - 8 if cell.width is None else 0)
            for cell in tree.cells(index, width)
        ).rstrip()
        for index in range(len(tree))
    ]


def test_the_tree_joins_folders_and_counts_folded_classes() -> None:
    tree = FileTree(
        [
            change("src/pkg/deep/a.py"),
            change("src/pkg/deep/b.py"),
            change("top.py"),
            change("tests/test_a.py"),
            change("vendor/x.js", PathClass.VENDORED),
        ]
    )
    assert tree_lines(tree, 30) == [
        "▾ src/pkg/deep/",
        "  a.py                 +1 A",
        "  b.py                 +1 A",
        "▾ tests/",
        "  test_a.py            +1 A",
        "top.py                 +1 A",
        "▸ 1 vendored file",
    ]
    assert tree.change_at(0) is None
    assert tree.text(1) == "src/pkg/deep/a.py"


def test_a_folder_of_the_tree_folds_and_a_counted_class_opens() -> None:
    paths = ("src/a.py", "src/deep/b.py", "src/deep/er/c.py", "src/other/d.py", "z.py")
    tree = FileTree([*map(change, paths), change("vendor/x.js", PathClass.VENDORED)])
    whole = tree_lines(tree, 30)
    deep = next(n for n, line in enumerate(whole) if "deep/" in line)
    assert tree.toggle(deep)
    folded = tree_lines(tree, 30)
    assert "  ▸ deep/" in folded
    assert "  ▾ other/" in folded
    assert not any("b.py" in line or "c.py" in line for line in folded)
    assert not tree.toggle(len(tree) - 2)
    assert tree.toggle(len(tree) - 1)
    assert tree.text(len(tree) - 1) == "vendor/x.js"
    assert tree.change_at(len(tree) - 1) is not None
    assert tree.toggle(len(tree) - 2)
    assert tree.toggle(deep)
    assert tree_lines(tree, 30) == whole


# small things


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (18_300, "18.3 kB"), (999_960, "1.0 MB")],
)
def test_sizes_are_for_people(size_bytes: int, text: str) -> None:
    assert diff_lines.size(size_bytes) == text


def test_a_long_path_keeps_its_end() -> None:
    assert diff_lines.shortened("src/very/long/engine.py", 12) == "…g/engine.py"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            FileChange(
                "a.png",
                ChangeKind.MODIFIED,
                binary=True,
                old_size_bytes=1_200,
                new_size_bytes=3_400,
            ),
            "binary 1.2 kB → 3.4 kB",
        ),
        (FileChange("link", ChangeKind.ADDED, new_mode="120000"), "added, symlink"),
        (FileChange("run", ChangeKind.ADDED, new_mode="100755"), "added, executable"),
        (
            FileChange(
                "b.sh",
                ChangeKind.RENAMED,
                old_path="a.sh",
                similarity=97,
                old_mode="100644",
                new_mode="100755",
            ),
            "renamed from a.sh 97%, mode 100644 → 100755",
        ),
        (FileChange("a.py", ChangeKind.MODIFIED, old_mode="100644", new_mode="100644"), ""),
    ],
)
def test_a_change_is_described_beyond_its_counts(change: FileChange, words: str) -> None:
    assert diff_lines.describe(change) == words
