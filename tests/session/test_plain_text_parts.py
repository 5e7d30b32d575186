from __future__ import annotations

import pytest

from arcview.session.plain_text_parts import Glyphs, ranges


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], ""),
        (["4"], "4"),
        (["1", "2"], "1, 2"),
        (["1", "2", "3"], "1–3"),
        ([str(n) for n in range(1, 181)], "1–180"),
        (["1", "2", "3", "5", "8", "9", "10"], "1–3, 5, 8–10"),
        (["1", "2", "S2.refactor", "3"], "1, 2, S2.refactor, 3"),
        (["2", "2"], "2, 2"),
    ],
)
def test_numbers_in_a_row_are_a_range(names: list[str], said: str) -> None:
    assert ranges(names, Glyphs()) == said


def test_many_parts_are_cut_with_their_number() -> None:
    names = [str(n) for n in range(3, 178, 3)]
    assert ranges(names, Glyphs()) == "3, 6, 9, 12, 15, 18, 21, 24 … 177 (59 in all)"


def test_a_terminal_of_ascii_gets_ascii() -> None:
    assert ranges(["1", "2", "3"], Glyphs.for_encoding("ascii")) == "1-3"
