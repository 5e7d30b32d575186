"""Long texts as rows: wrapping, numbers, colours, and files too large for memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcview.text import cells, clean
from arcview.ui.rows import text_view_file
from arcview.ui.rows.lines import Needle, RowSource
from arcview.ui.rows.text_view import TextRows, wrap
from arcview.ui.rows.text_view_file import LogFile


def shown(rows: RowSource) -> list[str]:
    return [rows.row(index).plain for index in range(len(rows))]


def find(rows: RowSource, text: str, start: int, step: int = 1) -> int | None:
    return next((hit for hit in rows.find(Needle(text), start, step) if hit is not None), None)


# Wrapping


@given(st.text(alphabet="ab 日é-\u0301", max_size=60), st.integers(2, 20))
def test_wrapping_loses_nothing_and_fits(text: str, width: int) -> None:
    text = clean(text)
    ranges = wrap(text, width)
    assert "".join(text[start:end] for start, end in ranges) == text
    assert all(cells(text[start:end]) <= width for start, end in ranges)


def test_lines_break_at_blanks() -> None:
    text = "the quick brown fox"
    assert [text[a:b] for a, b in wrap(text, 10)] == ["the quick ", "brown fox"]


def test_a_word_longer_than_the_view_is_cut() -> None:
    text = "ab " + "x" * 25
    assert [text[a:b] for a, b in wrap(text, 10)] == ["ab xxxxxxx", "x" * 10, "x" * 8]


def test_wide_characters_are_not_lost_at_the_edge() -> None:
    text = "表示" * 5
    assert [text[a:b] for a, b in wrap(text, 5)] == ["表示", "表示", "表示", "表示", "表示"]


def test_an_empty_line_is_one_row() -> None:
    assert wrap("", 10) == [(0, 0)]


# Texts


def test_a_text_has_a_row_for_each_line() -> None:
    assert shown(TextRows("one\n\nthree\n")) == ["one", "", "three"]


def test_a_long_line_takes_several_rows_and_one_number() -> None:
    rows = TextRows("word " * 6 + "\nshort", numbered=True)
    rows.fit(18)
    assert len(rows) == 3
    assert [rows.cells(i, 18)[0].content.plain.strip() for i in range(3)] == ["1", "", "2"]
    assert (rows.line_at(1), rows.row_of(2)) == (1, 2)


def test_colours_go_on_in_the_second_row_of_a_line() -> None:
    rows = TextRows("\x1b[31m" + "red " * 10 + "\x1b[0m")
    rows.fit(22)
    assert [[span.style for span in rows.row(i).spans] for i in range(2)] == [["$ansi-1"]] * 2


def test_a_text_that_is_no_output_shows_its_escapes() -> None:
    assert shown(TextRows("\x1b[31mred", terminal=False)) == ["␛[31mred"]


def test_a_file_name_brings_syntax_colours() -> None:
    rows = TextRows("def go():\n    pass", path="a.py", terminal=False)
    assert "$syntax-keyword" in [span.style for span in rows.row(0).spans]


def test_notes_stand_above_and_are_not_lines() -> None:
    rows = TextRows("one\ntwo", notes=["damaged"], numbered=True)
    assert shown(rows) == ["▲ damaged", "one", "two"]
    assert (rows.row_of(2), rows.line_at(2), rows.line_at(0)) == (2, 2, 1)
    assert find(rows, "two", 0) == 2
    assert find(rows, "one", 2, -1) == 1


def test_a_search_finds_the_row_within_a_wrapped_line() -> None:
    rows = TextRows("word " * 20 + "needle end\nneedle again")
    rows.fit(21)
    first = find(rows, "needle", 0)
    assert first is not None
    assert "needle" in rows.row(first).plain
    second = find(rows, "needle", first + 1)
    assert second is not None
    assert rows.row(second).plain == "needle again"


def test_unwrapped_lines_are_one_row_each() -> None:
    rows = TextRows("x" * 500 + "\ny", wrapped=False)
    rows.fit(40)
    assert len(rows) == 2
    rows.set_wrapped(wrapped=True)
    assert len(rows) == 14


# Files


def log_file(path: Path, data: bytes) -> LogFile:
    path.write_bytes(data)
    file = LogFile(path)
    for counts in file.count_lines():
        file.extend(counts)
    return file


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 16 bytes, so that every border is met."""
    monkeypatch.setattr(text_view_file, "BLOCK_BYTES", 16)
    monkeypatch.setattr(text_view_file, "SLICE_BYTES", 32)


lines_of_a_file = st.lists(
    st.binary(max_size=40).map(lambda b: b.replace(b"\n", b" ")), max_size=12
)


@given(lines_of_a_file, st.booleans())
def test_a_file_has_the_lines_of_a_plain_split(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ends: bool
) -> None:
    data = b"\n".join(lines) + (b"\n" if ends and lines else b"")
    file = log_file(tmp_path_factory.mktemp("log") / "a.log", data)
    split = data.split(b"\n")
    if split[-1] == b"":
        split.pop()
    assert [file.line_bytes(i) for i in range(len(file))] == split
    file.close()


@given(lines_of_a_file)
def test_the_line_of_a_byte_is_the_line_it_is_in(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    data = b"\n".join(lines) + b"\n"
    file = log_file(tmp_path_factory.mktemp("log") / "a.log", data)
    for offset in range(len(data)):
        assert file.line_of(offset) == data[:offset].count(b"\n")
    for line in range(len(file)):
        assert file.line_of(file.offset_of(line)) == line
    file.close()


def test_a_search_in_a_file_goes_both_ways_over_every_border(tmp_path: Path) -> None:
    lines = [f"line {i} {'x' * (i % 13)}" for i in range(200)]
    lines[77] += " Needle"
    lines[141] += " nEEdle"
    file = log_file(tmp_path / "a.log", "\n".join(lines).encode())
    assert find(file, "needle", 0) == 77
    assert find(file, "needle", 78) == 141
    assert find(file, "needle", 142) is None
    assert find(file, "needle", 199, -1) == 141
    assert find(file, "needle", 140, -1) == 77
    assert find(file, "Needle", 0) == 77
    assert find(file, "Needle", 78) is None
    file.close()


def test_a_search_finds_letters_that_are_not_ascii(tmp_path: Path) -> None:
    file = log_file(tmp_path / "a.log", "eins\nÄPFEL\n".encode())
    assert find(file, "äpfel", 0) == 1
    file.close()


def test_a_search_waits_for_the_index(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"x\n" * 100 + b"needle\n")
    file = LogFile(path)
    search = file.find(Needle("needle"), 0, 1)
    assert [next(search) for _ in range(5)] == [None] * 5
    for counts in file.count_lines():
        file.extend(counts)
    assert next(hit for hit in search if hit is not None) == 100
    file.close()


def test_a_line_of_a_file_is_clean_and_clipped(tmp_path: Path) -> None:
    file = log_file(
        tmp_path / "a.log", b"\xef\xbb\xbf\x1b[31mred\x1b[0m \x00\xff\r\n" + b"y" * 9_000
    )
    assert file.row(0).plain == "red ␀�"
    assert len(file.row(1).plain) < 4_100
    file.close()


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    assert len(log_file(tmp_path / "a.log", b"")) == 0
