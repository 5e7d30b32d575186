from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcview.analysis.text_diff import count_changes, diff_texts
from arcview.model.patch import Hunk, LineKind

TEXT = st.lists(st.sampled_from("abcdef"), max_size=14).map(
    lambda ls: "".join(f"{x}\n" for x in ls)
)


def applied(old: str, hunks: tuple[Hunk, ...]) -> str:
    """The new text, put together from the old one and the hunks, numbers checked."""
    lines, out, place = old.splitlines(), list[str](), 0
    for hunk in hunks:
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        out += lines[place:start]
        place = start
        for line in hunk.lines:
            if line.kind is not LineKind.ADDED:
                assert lines[place] == line.text
                assert line.old_number == place + 1
                place += 1
            if line.kind is not LineKind.REMOVED:
                out.append(line.text)
                assert line.new_number == len(out)
    return "".join(f"{line}\n" for line in [*out, *lines[place:]])


@given(TEXT, TEXT, st.integers(0, 3))
def test_hunks_lead_from_one_text_to_the_other(old: str, new: str, context: int) -> None:
    assert applied(old, diff_texts(old, new, context=context)) == new


@given(TEXT)
def test_equal_texts_have_no_hunks(text: str) -> None:
    assert diff_texts(text, text) == ()


def test_changes_far_apart_are_hunks_of_their_own() -> None:
    old = "".join(f"{n}\n" for n in range(40))
    new = old.replace("5\n", "five\n", 1).replace("30\n", "thirty\n")
    first, second = diff_texts(old, new)

    assert (first.old_start, first.old_count, first.new_start) == (3, 7, 3)
    assert (second.old_start, second.old_count) == (28, 7)
    assert count_changes((first, second)) == (2, 2)


def test_changes_whose_context_touches_are_one_hunk() -> None:
    old = "".join(f"{n}\n" for n in range(10, 30))
    assert len(diff_texts(old, old.replace("12\n", "x\n").replace("18\n", "y\n"))) == 1


@pytest.mark.parametrize(("old", "new"), [(None, "a\nb\n"), ("a\nb\n", None)])
def test_a_file_that_comes_or_goes_is_one_hunk(old: str | None, new: str | None) -> None:
    (hunk,) = diff_texts(old, new)
    assert len(hunk.lines) == 2


def test_counts_are_those_of_git(tmp_path: Path) -> None:
    old = "".join(f"line {n}\n" for n in range(200))
    new = old.replace("line 7\n", "").replace("line 90\n", "x\ny\n").replace("line 150\n", "z\n")
    (tmp_path / "old").write_text(old)
    (tmp_path / "new").write_text(new)
    done = subprocess.run(
        ["git", "diff", "--no-index", "--numstat", "old", "new"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    added, removed = count_changes(diff_texts(old, new))
    assert done.stdout.split("\t")[:2] == [str(added), str(removed)]
