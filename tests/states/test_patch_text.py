"""Unified diffs that the hostile cases do not cover; git and unidiff are the judges."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unidiff.patch import PatchSet

from arcview.model.patch import ChangeKind, FilePatch, LineKind
from arcview.states.patch_names import is_inside
from arcview.states.patch_text import parse_patch, strip_level
from tests.states.workspaces import git


def only(data: bytes) -> FilePatch:
    (file,) = parse_patch(data).files
    return file


def rebuilt(file: FilePatch, skipped: LineKind) -> bytes:
    """One side of a patch whose context is the whole file."""
    parts = [
        line.text.encode("utf-8", "surrogateescape") + (b"" if line.no_newline else b"\n")
        for hunk in file.hunks
        for line in hunk.lines
        if line.kind is not skipped
    ]
    return b"".join(parts)


LINE = st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"").replace(b"\0", b""))
LIKE_A_HEADER = st.sampled_from(
    [b"-- a", b"++ b", b"@@ -1 +1 @@", b"diff --git a/x b/x", b"\\ No newline at end of file", b""]
)
TEXT = st.builds(
    lambda lines, is_ended: b"\n".join(lines) + (b"\n" if is_ended and lines else b""),
    st.lists(st.one_of(LINE, LIKE_A_HEADER), max_size=12),
    st.booleans(),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(old=TEXT, new=TEXT)
def test_both_sides_come_back_from_what_git_wrote(tmp_path: Path, old: bytes, new: bytes) -> None:
    (tmp_path / "old").write_bytes(old)
    (tmp_path / "new").write_bytes(new)
    data = _no_index(tmp_path, "-U1000000")
    files = parse_patch(data).files
    if old == new:
        assert files == ()
        return
    (file,) = files
    assert (rebuilt(file, LineKind.ADDED), rebuilt(file, LineKind.REMOVED)) == (old, new)
    assert file.warnings == ()


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(old=TEXT, new=TEXT)
def test_hunks_are_those_that_unidiff_sees(tmp_path: Path, old: bytes, new: bytes) -> None:
    (tmp_path / "old").write_bytes(old)
    (tmp_path / "new").write_bytes(new)
    data = _no_index(tmp_path, "-U2")
    expected = [
        [
            (line.line_type, line.source_line_no, line.target_line_no)
            for line in hunk
            if line.line_type != "\\"
        ]
        for file in PatchSet(
            # unidiff itself would split at other line ends than git does.
            [f"{line}\n" for line in data.decode("utf-8", "surrogateescape").split("\n")[:-1]]
        )
        for hunk in file
    ]
    found = [
        [(line.kind.value, line.old_number, line.new_number) for line in hunk.lines]
        for file in parse_patch(data).files
        for hunk in file.hunks
    ]
    assert found == expected


@settings(max_examples=300, deadline=None)
@given(
    data=st.lists(
        st.one_of(
            st.sampled_from(
                [
                    b"diff --git a/x b/x",
                    b"--- a/x",
                    b"+++ b/x",
                    b"@@ -1,2 +1,3 @@ f",
                    b"@@ -0,0 +1 @@",
                    b" c",
                    b"-r",
                    b"+a",
                    b"\\ No newline at end of file",
                    b"rename from q",
                    b"Binary files a/x and b/x differ",
                    b"GIT binary patch",
                    b"index 12..34 100644",
                    b"diff --cc x",
                    b"diff --git ",
                    b"---",
                    b"+++",
                    b"",
                ]
            ),
            st.binary(max_size=8),
        ),
        max_size=14,
    ).map(b"\n".join)
)
def test_no_text_raises_and_no_change_line_is_lost(data: bytes) -> None:
    patch = parse_patch(data)
    for file in patch.files:
        counted = sum(
            line.kind is not LineKind.CONTEXT for hunk in file.hunks for line in hunk.lines
        )
        assert counted <= sum(line[:1] in (b"+", b"-") for line in data.split(b"\n"))


def _no_index(folder: Path, context: str) -> bytes:
    args = ["diff", "--no-index", "--text", context, "old", "new"]
    return git(folder, *args, exit_codes=(0, 1))


def test_names_with_times_are_cut_at_the_tab() -> None:
    data = (
        b"--- src/a.c\t2024-01-01 00:00:00.000000000 +0000\n"
        b"+++ src/a.c\t2024-01-02 00:00:00.000000000 +0000\n@@ -1 +1 @@\n-a\n+b\n"
    )
    assert only(data).change.path == "src/a.c"


def test_deleted_file_keeps_its_old_name() -> None:
    file = only(b"--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")
    assert (file.change.path, file.change.kind) == ("gone.py", ChangeKind.DELETED)


def test_noprefix_added_file_keeps_a_folder_called_b() -> None:
    data = b"diff --git b/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"
    assert only(data).change.path == "b/x"


def test_mnemonic_prefixes_are_prefixes() -> None:
    data = b"diff --git i/src/x w/src/x\n--- i/src/x\n+++ w/src/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert only(data).change.path == "src/x"


def test_rename_with_edit_has_both_names_and_its_hunk() -> None:
    data = (
        b"diff --git a/old name b/new name\nsimilarity index 80%\nrename from old name\n"
        b"rename to new name\n--- a/old name\t\n+++ b/new name\t\n@@ -1 +1 @@\n-a\n+b\n"
    )
    change = only(data).change
    assert (change.old_path, change.path, change.added) == ("old name", "new name", 1)


def test_undecodable_path_keeps_its_bytes() -> None:
    data = b'diff --git "a/caf\\351" "b/caf\\351"\nold mode 100644\nnew mode 100755\n'
    assert only(data).change.path.encode("utf-8", "surrogateescape") == b"caf\xe9"


def test_git_binary_patch_is_a_binary_file_and_its_data_is_no_prose() -> None:
    data = (
        b"diff --git a/i.png b/i.png\nindex 12..34 100644\nGIT binary patch\nliteral 4\n"
        b"LcmZQzVqjun0ssI200000\n\nliteral 3\nKcmZQzVqjun0ssI2\n\n"
        b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n"
    )
    patch = parse_patch(data)
    assert [file.change.binary for file in patch.files] == [True, False]
    assert patch.preamble == ""


def test_mail_signature_after_the_last_hunk_is_prose() -> None:
    data = b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n\n"
    patch = parse_patch(data)
    assert patch.files[0].change.removed == 1
    assert patch.preamble.startswith("-- \n2.39.5")


def test_cut_file_does_not_swallow_the_next_one() -> None:
    data = (
        b"--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n one\n-two\n+TWO\n"
        b"--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n"
    )
    cut, whole = parse_patch(data).files
    assert (cut.change.path, cut.warnings) == ("a", ("cut short: 2 of 9 lines on each side",))
    assert (whole.change.path, whole.warnings) == ("b", ())


def test_patch_with_crlf_line_ends_throughout_reads_like_one_without() -> None:
    plain = b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-a\n+b\n"
    patch = parse_patch(plain.replace(b"\n", b"\r\n"))
    assert patch.files == parse_patch(plain).files
    assert patch.warnings == ("the patch was given CRLF line ends; they are left out",)


def test_hunk_without_any_name_is_kept() -> None:
    file = only(b"@@ -1 +1 @@\n-a\n+b\n")
    assert (file.change.path, file.warnings) == ("", ("no file name",))


def test_heading_of_a_hunk_is_kept() -> None:
    file = only(b"--- a/a\n+++ b/a\n@@ -7 +7 @@ def f(x):\n-a\n+b\n")
    assert (file.hunks[0].heading, file.hunks[0].old_start) == ("def f(x):", 7)


@pytest.mark.parametrize(
    ("data", "level"),
    [
        (b"diff --git a/x b/x\n", 1),
        (b"diff --git src/x src/x\n", 0),
        (b"--- src/x\n+++ src/x\n@@ -1 +1 @@\n-a\n+b\n", 0),
        (b"--- old/x\n+++ new/x\n@@ -1 +1 @@\n-a\n+b\n", 1),
        (b"", 1),
    ],
)
def test_strip_level_follows_the_names(data: bytes, level: int) -> None:
    assert strip_level(data) == level


@pytest.mark.parametrize("path", ["a", "a/b", "..a", "a..b", ".hidden", "a b"])
def test_path_below_the_folder_is_inside(path: str) -> None:
    assert is_inside(path)


@pytest.mark.parametrize(
    "path", ["../a", "a/../../b", "/etc/passwd", "", "..", "a\0b", "C:\\x", "\\x", "a\\..\\b"]
)
def test_path_that_could_leave_the_folder_is_not_inside(path: str) -> None:
    assert not is_inside(path)
