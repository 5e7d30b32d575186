from __future__ import annotations

import pytest

from arcview.analysis import search as search_module
from arcview.analysis.search import PatternError, Place, compile_pattern, search


def place(text: str) -> Place:
    return Place("step:1/a", "step", "step 1", lambda: text)


def lines(text: str, wanted: str, *, regex: bool = False) -> list[int]:
    return [hit.line for hit in search([place(text)], compile_pattern(wanted, regex=regex))]


def test_every_matching_line_is_found_once_with_all_its_matches() -> None:
    (hit,) = search([place("x\nab ab\n")], compile_pattern("ab"))

    assert (hit.line, hit.text, hit.spans) == (2, "ab ab", ((0, 2), (3, 5)))


def test_capitals_make_the_search_sensitive_to_case() -> None:
    assert lines("Error\nerror", "error") == [1, 2]
    assert lines("Error\nerror", "Error") == [1]


def test_a_literal_is_not_read_as_a_regular_expression() -> None:
    assert lines("a.c\nabc", "a.c") == [1]
    assert lines("a.c\nabc", "a.c", regex=True) == [1, 2]


def test_a_broken_expression_says_so_in_one_line() -> None:
    with pytest.raises(PatternError, match="not a regular expression"):
        compile_pattern("(", regex=True)


def test_an_empty_match_is_no_hit() -> None:
    assert lines("abc", "x*", regex=True) == []


def test_texts_longer_than_a_slice_keep_their_line_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search_module, "_SLICE", 64)
    text = "\n".join(f"line {n} {'needle' if n % 50 == 0 else ''}" for n in range(1, 1000))

    assert lines(text, "needle") == [n for n in range(1, 1000) if n % 50 == 0]


def test_a_place_is_read_only_when_its_turn_comes() -> None:
    def refuse() -> str:
        raise AssertionError("read too early")

    hits = search([place("needle"), Place("a", "log", "later", refuse)], compile_pattern("needle"))

    assert next(hits).line == 1
