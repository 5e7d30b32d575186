"""Word-level differences and the pairing of lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcview.analysis.words import compare, pair_lines

line = st.text(alphabet="ab (),_ x", max_size=30)


def marked(text: str, marks: tuple[tuple[int, int], ...]) -> list[str]:
    return [text[start:end] for start, end in marks]


@pytest.mark.parametrize(
    ("old", "new", "removed", "added"),
    [
        ("return foo(a, b)", "return foo(a, b, c=None)", [], [", c=None"]),
        ("for i in range(10):", "for index in range(len(x)):", ["i", "10"], ["index", "len(x)"]),
        ("    x = 1", "\tx = 1", ["    "], ["\t"]),
        ("one two", "one new thing two", [], ["new thing "]),
        ("same", "same", [], []),
        ("alpha beta gamma", "alpha delta epsilon", ["beta gamma"], ["delta epsilon"]),
    ],
)
def test_changed_words_are_marked(old: str, new: str, removed: list[str], added: list[str]) -> None:
    diff = compare(old, new)
    assert marked(old, diff.removed) == removed
    assert marked(new, diff.added) == added


@given(line, line)
def test_without_the_marked_words_both_lines_are_the_same(old: str, new: str) -> None:
    diff = compare(old, new)

    def rest(text: str, marks: tuple[tuple[int, int], ...]) -> str:
        kept = [c for i, c in enumerate(text) if not any(a <= i < b for a, b in marks)]
        return "".join(kept).replace(" ", "")

    assert rest(old, diff.removed) == rest(new, diff.added)


def test_very_long_lines_are_compared_by_their_ends() -> None:
    old, new = "a, " * 500 + "x" + " ,b" * 500, "a, " * 500 + "yy" + " ,b" * 500
    diff = compare(old, new)
    assert (marked(old, diff.removed), marked(new, diff.added)) == (["x"], ["yy"])


def test_lines_pair_with_what_they_became() -> None:
    removed = ["def area(w, h):", "    return w * h", "# end"]
    added = ["import math", "", "def area(width, h):", "    return width * h"]
    assert pair_lines(removed, added) == ((0, 2), (1, 3))


def test_unlike_lines_do_not_pair() -> None:
    assert pair_lines(["x = 1"], ["class Parser:"]) == ()


@given(st.lists(line, max_size=8), st.lists(line, max_size=8))
def test_pairs_never_cross(removed: list[str], added: list[str]) -> None:
    pairs = pair_lines(removed, added)
    assert [i for i, _ in pairs] == sorted({i for i, _ in pairs})
    assert [j for _, j in pairs] == sorted({j for _, j in pairs})


def test_a_large_block_pairs_by_position() -> None:
    lines = [f"value_{i} = compute(i)" for i in range(100)]
    changed = [text.replace("compute", "compute_all") for text in lines]
    assert pair_lines(lines, changed) == tuple((i, i) for i in range(100))
