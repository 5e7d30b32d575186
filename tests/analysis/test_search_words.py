from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from arcview.analysis.search import PatternError, compile_pattern
from arcview.analysis.search_words import required_word


@pytest.mark.parametrize(
    ("regex", "word"),
    [
        (r"need[a-z]+ in \w+", "need"),
        ("abc?def", "def"),
        ("ab{3}cde", "cde"),
        (r"foo\.barbaz", "barbaz"),
        ("[]abc]xyz", "xyz"),
        ("^Key.+Missing$", "missing"),
        ("(foo)?barbaz", None),
        ("abc|xyz", None),
        (r"\x41bcdef", None),
        ("abc*?d", None),
        ("ab", None),
    ],
)
def test_a_regular_expression_needs_its_longest_certain_word(regex: str, word: str | None) -> None:
    assert required_word(regex, regex=True) == word


def test_a_literal_needs_its_longest_word() -> None:
    assert required_word("Undefined signal: X") == "undefined"
    assert required_word("é: !") is None


@given(st.text("abc0_ .+*?{}[]()|\\^$2,dwx", max_size=14), st.text("abc0_ .2dwx[]{}", max_size=30))
def test_what_matches_holds_the_word(regex: str, text: str) -> None:
    try:
        pattern = compile_pattern(regex, regex=True)
    except PatternError:
        assume(False)
    if pattern.word is not None and pattern.regex.search(text):
        assert pattern.word in text.lower()
