from __future__ import annotations

import stat
from pathlib import Path

import pytest

from arcview.ui.clipboard import LIMIT, copyable
from arcview.ui.editor import editor_arguments, editor_command, private_copy


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, ["vi"]),
        ({"EDITOR": "nano"}, ["nano"]),
        ({"EDITOR": "nano", "VISUAL": "code --wait"}, ["code", "--wait"]),
        ({"EDITOR": "'unclosed"}, ["vi"]),
        ({"EDITOR": "  "}, ["vi"]),
    ],
)
def test_the_editor_is_what_the_environment_names(
    environ: dict[str, str], expected: list[str]
) -> None:
    assert editor_command(environ) == expected


@pytest.mark.parametrize(
    ("editor", "expected"),
    [
        (["vim"], ["vim", "+12", "/t/a.py"]),
        (["code", "--wait"], ["code", "--wait", "--goto", "/t/a.py:12"]),
        (["/usr/bin/hx"], ["/usr/bin/hx", "/t/a.py:12"]),
    ],
)
def test_each_family_of_editors_is_told_the_line_in_its_way(
    editor: list[str], expected: list[str]
) -> None:
    assert editor_arguments(editor, Path("/t/a.py"), 12) == expected


@pytest.mark.parametrize(
    "path",
    ["../../etc/passwd", "/etc/passwd", "a/..", "-rf", "--cmd=x", "$(touch x)", "a;b`c`", "..", ""],
)
def test_no_path_of_a_run_leaves_the_private_folder_or_looks_like_an_option(
    tmp_path: Path, path: str
) -> None:
    copy = private_copy(tmp_path, path, b"data")
    assert tmp_path in copy.resolve().parents
    assert not copy.name.startswith("-")
    assert not set(copy.name) & set("$;`()/")


def test_the_copy_is_read_only_and_keeps_its_suffix_and_bytes(tmp_path: Path) -> None:
    copy = private_copy(tmp_path, "src/a.py", b"\xff\r\n")
    assert copy.name == "a.py"
    assert copy.read_bytes() == b"\xff\r\n"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o400


def test_two_files_of_one_name_do_not_meet(tmp_path: Path) -> None:
    first = private_copy(tmp_path, "a/x.py", b"1")
    second = private_copy(tmp_path, "b/x.py", b"2")
    assert (first.read_bytes(), second.read_bytes()) == (b"1", b"2")


def test_what_is_copied_holds_no_escape_and_keeps_tabs_and_lines() -> None:
    text, left_out = copyable("a\tb\n\x1b]52;c;AAAA\x07\x00")
    assert text == "a\tb\n␛]52;c;AAAA␇␀"
    assert left_out == 0


def test_a_large_copy_is_cut_and_says_by_how_much() -> None:
    text, left_out = copyable("x" * (LIMIT + 7))
    assert (len(text), left_out) == (LIMIT, 7)
