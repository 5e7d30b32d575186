from __future__ import annotations

import pytest

from arcview.analysis import search as search_module
from arcview.analysis.search import PatternError, Place, compile_pattern, search
from arcview.errors import CancelledError


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


@pytest.mark.parametrize("text", ["ERROR here", "é ERROR", "x" * 99 + "\neRRor"])
def test_small_letters_find_capitals_whatever_surrounds_them(text: str) -> None:
    assert len(lines(text, "error")) == 1


def test_letters_that_change_their_number_in_small_are_no_trap() -> None:
    (hit,) = search([place("İİ needle")], compile_pattern("needle"))

    assert hit.spans == ((3, 9),)


def test_a_match_over_two_lines_is_none() -> None:
    assert lines("a\nb", r"a\s+b", regex=True) == []
    assert lines("a\nb\na b", r"a\s+b", regex=True) == [3]


def test_every_line_of_a_text_can_match() -> None:
    assert lines("a\na\n\na", "a") == [1, 2, 4]


def test_a_search_stops_where_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "_SLICE", 8)
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 3

    with pytest.raises(CancelledError):
        list(search([place("line\n" * 100)], compile_pattern("needle"), cancelled))


def test_a_hit_is_at_its_line_where_lines_have_addresses() -> None:
    numbered = Place("diff:1/a", "diff", "a", lambda: "x\nneedle", lambda line: f"diff:1/a#L{line}")
    (hit,) = search([numbered], compile_pattern("needle"))

    assert hit.address == "diff:1/a#L2"
