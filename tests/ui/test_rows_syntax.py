"""Syntax kinds by file name, lexed no further than asked for."""

from __future__ import annotations

import pytest

from arcview.analysis.syntax import CHARACTER_LIMIT, LINE_LIMIT, LazySyntax, lexer_for


def kinds(path: str, lines: list[str]) -> list[list[tuple[str, str]]]:
    syntax = LazySyntax(path, lines)
    return [
        [(line[start:end], kind) for start, end, kind in syntax.line(number)]
        for number, line in enumerate(lines)
    ]


def test_python_is_told_by_the_name_of_the_file() -> None:
    assert kinds("src/a.py", ["def go(n):", "    return 'x'  # why"]) == [
        [("def", "keyword"), ("go", "function")],
        [
            ("return", "keyword"),
            ("'", "string"),
            ("x", "string"),
            ("'", "string"),
            ("# why", "comment"),
        ],
    ]


def test_a_string_over_lines_is_one_in_each() -> None:
    found = kinds("a.py", ['x = """one', "two", 'three"""', "y = 1"])
    assert found[1] == [("two", "string")]
    assert found[3] == [("1", "number")]


@pytest.mark.parametrize("path", ["notes.txt", "noname", "data.unknownsuffix", ""])
def test_unknown_names_have_no_syntax(path: str) -> None:
    assert lexer_for(path) is None
    assert kinds(path, ["def x"]) == [[]]


@pytest.mark.parametrize("lines", [["x = 1"] * (LINE_LIMIT + 1), ["x" * (CHARACTER_LIMIT + 1)]])
def test_very_long_texts_have_no_syntax(lines: list[str]) -> None:
    assert LazySyntax("a.py", lines).line(0) == ()


def test_blank_lines_at_both_ends_do_not_shift_the_rest() -> None:
    assert kinds("a.py", ["", "", "x = 1", ""]) == [[], [], [("1", "number")], []]


def test_only_what_is_asked_for_is_lexed() -> None:
    syntax = LazySyntax("a.py", ["x = 1"] * 1_000)
    syntax.line(3)
    assert len(syntax._found) == 4


def test_a_line_beyond_the_end_has_no_syntax() -> None:
    assert LazySyntax("a.py", ["x = 1"]).line(7) == ()
