from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arcview.analysis.renames import Renamed, pair_renames

LINES = [f"line {n}\n" for n in range(10)]
WHOLE = "".join(LINES)


def test_the_same_text_under_two_names_is_one_file() -> None:
    assert pair_renames({"a.py": WHOLE}, {"b.py": WHOLE}) == (Renamed("a.py", "b.py", 100),)


def test_an_edited_file_is_still_the_same() -> None:
    edited = WHOLE.replace("line 3", "line three")
    (pair,) = pair_renames({"a.py": WHOLE}, {"b.py": edited, "c.py": "something else\n" * 10})

    assert (pair.new, pair.similarity) == ("b.py", 85)


def test_less_than_half_is_no_rename() -> None:
    assert pair_renames({"a.py": WHOLE}, {"b.py": "".join(LINES[:4]) + "new\n" * 12}) == ()
    assert pair_renames({"a.py": WHOLE}, {"b.py": WHOLE * 3}) == ()


def test_of_equal_files_those_of_one_name_belong_together() -> None:
    found = pair_renames({"x/a.py": WHOLE, "x/b.py": WHOLE}, {"y/b.py": WHOLE, "y/a.py": WHOLE})

    assert {(pair.old, pair.new) for pair in found} == {("x/a.py", "y/a.py"), ("x/b.py", "y/b.py")}


def test_empty_files_are_like_no_other() -> None:
    assert pair_renames({"a": ""}, {"b": ""}) == ()


texts = st.dictionaries(st.text("ab", max_size=2), st.text("xy\n", max_size=12), max_size=4)


@given(texts, texts)
def test_no_file_is_paired_twice(old: dict[str, str], new: dict[str, str]) -> None:
    found = pair_renames(old, new)

    assert len({pair.old for pair in found}) == len({pair.new for pair in found}) == len(found)
    assert all(50 <= pair.similarity <= 100 for pair in found)
