"""Every hostile diff of the cases, as far as data goes; how it looks is tested with the screens."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview.model.patch import ChangeKind, FilePatch, LineKind
from arcview.states.patch_names import is_inside
from arcview.states.patch_text import PatchFile, parse_patch


@pytest.fixture
def patch(cases: Path, request: pytest.FixtureRequest) -> PatchFile:
    name: str = request.param
    return parse_patch((cases / "hostile" / "diff" / f"{name}.patch").read_bytes())


@pytest.fixture
def file(patch: PatchFile) -> FilePatch:
    (only,) = patch.files
    return only


def lines(file: FilePatch, kind: LineKind) -> list[str]:
    return [line.text for hunk in file.hunks for line in hunk.lines if line.kind is kind]


@pytest.mark.parametrize(
    ("patch", "path", "kind", "added", "removed"),
    [
        ("d01_quoted_octal_path", "docs/plan 日.md", ChangeKind.MODIFIED, 1, 1),
        ("d02_space_in_path_new_file", "src/My Module/api client.py", ChangeKind.ADDED, 2, 0),
        ("d04_crlf_content", "win.cs", ChangeKind.MODIFIED, 1, 1),
        ("d05_splitlines_traps", "weird.txt", ChangeKind.MODIFIED, 4, 0),
        ("d10_mode_change_only", "run.sh", ChangeKind.MODE_CHANGED, 0, 0),
        ("d11_pure_rename", "src/helpers.py", ChangeKind.RENAMED, 0, 0),
        ("d13_copy", "copy.cfg", ChangeKind.COPIED, 0, 0),
        ("d14_symlink_retarget", "current", ChangeKind.MODIFIED, 1, 1),
        ("d16_combined_merge", "conf.ini", ChangeKind.UNMERGED, None, None),
        ("d17_content_looks_like_header", "q.sql", ChangeKind.MODIFIED, 2, 2),
        ("d19_difflib_no_names", "", ChangeKind.MODIFIED, 1, 1),
        ("d20_noprefix", "src/a.py", ChangeKind.MODIFIED, 1, 1),
        ("d22_cut_mid_hunk", "a.py", ChangeKind.MODIFIED, 1, 1),
        ("d23_last_context_line_stripped", "a.py", ChangeKind.MODIFIED, 1, 1),
        ("d25_nul_byte", "z", ChangeKind.MODIFIED, 1, 1),
        ("d26_escape_sequences_in_content", "c.py", ChangeKind.MODIFIED, 3, 0),
        ("d28_tabs_and_trailing_ws", "Makefile", ChangeKind.MODIFIED, 1, 1),
        ("d29_bidi_override", "auth.py", ChangeKind.MODIFIED, 1, 0),
        ("d31_log_preamble", "real", ChangeKind.MODIFIED, 1, 1),
        ("d32_path_traversal", "../../outside.txt", ChangeKind.MODIFIED, 1, 1),
        ("d34_type_change_file_to_symlink", "data", ChangeKind.TYPE_CHANGED, 1, 1),
        ("d35_moved_block", "m.py", ChangeKind.MODIFIED, 4, 4),
        ("d37_same_name_twice_case", "README.md", ChangeKind.RENAMED, 0, 0),
        ("d38_blank_line_stripped_context", "a", ChangeKind.MODIFIED, 1, 1),
        ("d41_unquoted_ambiguous_b_slash", "x b/y", ChangeKind.ADDED, 0, 0),
        ("d43_emoji_selector_context", "ci.yml", ChangeKind.MODIFIED, 1, 1),
    ],
    indirect=["patch"],
)
def test_patch_names_one_file_and_counts_its_lines(
    file: FilePatch, path: str, kind: ChangeKind, added: int | None, removed: int | None
) -> None:
    change = file.change
    assert (change.path, change.kind, change.added, change.removed) == (path, kind, added, removed)


def test_every_diff_of_the_cases_is_read_here(cases: Path) -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    for path in sorted((cases / "hostile" / "diff").iterdir()):
        assert f'"{path.stem}"' in source


@pytest.mark.parametrize("patch", ["d01_quoted_octal_path"], indirect=True)
def test_quoted_path_keeps_its_raw_form_for_copy(file: FilePatch) -> None:
    assert file.change.raw_path == r'"b/docs/plan \346\227\245.md"'


@pytest.mark.parametrize("patch", ["d04_crlf_content"], indirect=True)
def test_carriage_returns_of_the_content_stay(file: FilePatch) -> None:
    assert lines(file, LineKind.REMOVED) == ["  int x;\r"]
    assert lines(file, LineKind.ADDED) == ["  long x;\r"]


@pytest.mark.parametrize("patch", ["d05_splitlines_traps"], indirect=True)
def test_only_line_feeds_end_lines(file: FilePatch) -> None:
    assert lines(file, LineKind.ADDED) == [
        "form\x0cfeed",
        "vert\x0btab",
        "nel\x85here",
        "ls\u2028ps\u2029end",
    ]


@pytest.mark.parametrize("patch", ["d07_empty_new_and_empty_deleted"], indirect=True)
def test_empty_files_are_listed(patch: PatchFile) -> None:
    found = [(file.change.path, file.change.kind) for file in patch.files]
    assert found == [
        ("pkg/__init__.py", ChangeKind.ADDED),
        ("old/__init__.py", ChangeKind.DELETED),
    ]


@pytest.mark.parametrize("patch", ["d08_binary_first"], indirect=True)
def test_binary_entry_has_no_hunks_and_the_next_file_follows(patch: PatchFile) -> None:
    binary, text = patch.files
    assert (binary.change.path, binary.change.binary, binary.hunks) == ("logo.png", True, ())
    assert binary.change.added is None
    assert (text.change.path, text.change.added, text.change.removed) == ("a.py", 1, 1)


@pytest.mark.parametrize("patch", ["d10_mode_change_only"], indirect=True)
def test_mode_change_has_both_modes(file: FilePatch) -> None:
    assert (file.change.old_mode, file.change.new_mode) == ("100644", "100755")


@pytest.mark.parametrize(
    ("patch", "old_path"),
    [
        ("d11_pure_rename", "src/util.py"),
        ("d13_copy", "base.cfg"),
        ("d37_same_name_twice_case", "Readme.md"),
    ],
    indirect=["patch"],
)
def test_rename_and_copy_name_their_origin(file: FilePatch, old_path: str) -> None:
    assert (file.change.old_path, file.change.similarity) == (old_path, 100)


@pytest.mark.parametrize("patch", ["d14_symlink_retarget"], indirect=True)
def test_symlink_target_change_says_that_it_is_a_symlink(file: FilePatch) -> None:
    assert (file.change.old_mode, file.change.new_mode) == ("120000", "120000")
    assert all(line.no_newline for line in file.hunks[0].lines)


@pytest.mark.parametrize("patch", ["d16_combined_merge"], indirect=True)
def test_combined_diff_is_kept_raw(file: FilePatch) -> None:
    assert file.warnings == ("combined diff, shown raw",)
    assert file.raw is not None
    assert "++debug=1" in file.raw


@pytest.mark.parametrize("patch", ["d17_content_looks_like_header"], indirect=True)
def test_counts_decide_what_is_content(file: FilePatch) -> None:
    assert lines(file, LineKind.REMOVED) == ["-- drop the old view", "@@ -1 +1 @@"]
    assert lines(file, LineKind.ADDED) == ["++ b/looks/like/a/path", "diff --git a/x b/x"]


@pytest.mark.parametrize("patch", ["d22_cut_mid_hunk"], indirect=True)
def test_cut_hunk_shows_what_is_there_and_says_what_is_not(file: FilePatch) -> None:
    assert lines(file, LineKind.ADDED) == ["TW"]
    assert file.warnings == ("cut short: 2 of 9 lines on each side; the last line is torn",)


@pytest.mark.parametrize("patch", ["d23_last_context_line_stripped"], indirect=True)
def test_stripped_end_is_told_from_a_cut(file: FilePatch) -> None:
    (warning,) = file.warnings
    assert warning == "the last context line is missing, as when the end of a patch was stripped"


@pytest.mark.parametrize("patch", ["d25_nul_byte"], indirect=True)
def test_nul_bytes_stay_in_a_text_diff(file: FilePatch) -> None:
    assert lines(file, LineKind.ADDED) == ["a\0c"]


@pytest.mark.parametrize("patch", ["d28_tabs_and_trailing_ws"], indirect=True)
def test_tabs_and_trailing_blanks_stay(file: FilePatch) -> None:
    assert lines(file, LineKind.ADDED) == ["\tgcc a.c   "]


@pytest.mark.parametrize("patch", ["d31_log_preamble"], indirect=True)
def test_indented_diff_of_a_message_is_prose(patch: PatchFile) -> None:
    assert "    diff --git a/fake b/fake\n" in patch.preamble


@pytest.mark.parametrize("patch", ["d32_path_traversal"], indirect=True)
def test_path_that_leaves_the_folder_is_known_as_such(file: FilePatch) -> None:
    assert not is_inside(file.change.path)


@pytest.mark.parametrize("patch", ["d34_type_change_file_to_symlink"], indirect=True)
def test_type_change_is_one_entry_with_both_sides(file: FilePatch) -> None:
    assert (file.change.old_mode, file.change.new_mode) == ("100644", "120000")
    assert lines(file, LineKind.REMOVED) == ["body"]
    assert lines(file, LineKind.ADDED) == ["/elsewhere"]


@pytest.mark.parametrize("patch", ["d38_blank_line_stripped_context"], indirect=True)
def test_empty_line_in_a_hunk_is_empty_context(file: FilePatch) -> None:
    assert lines(file, LineKind.CONTEXT) == ["one", "", "three"]
    assert file.warnings == ()


@pytest.mark.parametrize("patch", ["d40_empty"], indirect=True)
def test_empty_patch_has_no_files(patch: PatchFile) -> None:
    assert (patch.files, patch.warnings) == ((), ())
