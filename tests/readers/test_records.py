"""Lines of a log, whatever is wrong with them: shared by the readers of JSON Lines."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcview.readers.trajectories.records import (
    Lines,
    as_json,
    each_record,
    loaded,
    parse_lines,
    parsed,
)


def test_damage_is_named_by_line_and_bytes() -> None:
    lines = parse_lines(b'\xef\xbb\xbf{"a": 1}\n\njunk\n\0\0{"b": NaN}\n{"c": "\xff"}\n{"d', "log")
    assert lines.records == [(1, {"a": 1}), (4, {"b": "NaN"}), (5, {"c": "\ufffd"})]
    assert [(problem.where, problem.what) for problem in lines.problems] == [
        ("log: line 3", "not JSON: 4 bytes left out"),
        ("log: line 4", "2 bytes of NUL padding"),
        ("log: line 5", "byte 8 is not UTF-8; such bytes are replaced"),
        ("log: line 6", "cut off: 3 bytes left out"),
    ]


def test_very_many_damaged_lines_are_counted_and_not_named_one_by_one() -> None:
    lines = parse_lines(b'{"a": 1}\n' + b"junk\n" * 5000, "log")
    assert len(lines.problems) == 101
    assert lines.problems[-1].what == (
        "4900 more, the last in line 5001: not JSON: 4 bytes left out"
    )


@pytest.mark.parametrize(
    ("data", "what"), [(b"", "the file is empty"), (b"\0\0\n", "3 bytes, all blank or NUL")]
)
def test_a_file_without_anything_in_it_says_so(data: bytes, what: str) -> None:
    assert [problem.what for problem in parse_lines(data, "log").problems] == [what]


def test_lines_are_parsed_one_by_one() -> None:
    lines = Lines("log")
    records = each_record(io.BytesIO(b'{"a": 1}\nnot yet read'), lines)
    assert next(records) == (1, {"a": 1})
    assert lines.problems == []


@pytest.mark.parametrize("data", [b"[" * 100_000 + b"\n", b"1" * 5000 + b"\n"])
def test_what_python_cannot_parse_costs_its_line(data: bytes) -> None:
    lines = parse_lines(data + b'{"a": 1}\n', "log")
    assert lines.records == [(2, {"a": 1})]
    assert len(lines.problems) == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 123456789012345678901234567890}',
        '{"a": -9223372036854775809, "a": 18446744073709551616}',
        '{"a": 1e400, "b": [NaN, -Infinity]}',
        '{"a": 9007199254740993.0, "b": 4.9e-324, "c": -0.0, "d": 1E5}',
        r'{"a": "\ud800", "\udfff": "\ud83d\ude00"}',
        '{"a": "\x7f", "b": "\\u0000"}',
        "[" * 800 + "]" * 800,
    ],
)
def test_odd_values_are_read_as_the_standard_library_reads_them(text: str) -> None:
    expected = json.loads(text, parse_constant=str)
    lines = parse_lines(text.encode() + b"\n", "log")
    assert repr(lines.records) == repr([(1, expected)])
    assert repr(loaded(text.encode())) == repr(expected)
    assert repr(parsed(text)) == repr(expected)
    assert lines.problems == []


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_values, st.booleans())
def test_any_value_is_read_as_the_standard_library_reads_it(value: object, ascii_: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_)
    lines = parse_lines(text.encode("utf-8", "surrogatepass") + b"\n", "log")
    read = [found for _, found in lines.records]
    expected = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    assert repr(read) == repr([json.loads(expected, parse_constant=str)])


@given(_values)
def test_any_value_is_written_so_that_it_reads_back_the_same(value: object) -> None:
    assert repr(json.loads(as_json(value))) == repr(value)


def test_json_is_laid_out_for_people_whatever_is_in_it() -> None:
    plain = {"a": [1, 2.5, {}], "b": "é\n\x7f", "c": 10**30}
    for value in (plain, {**plain, "d": None}, {**plain, "d": "\ud800"}):
        assert as_json(value) == json.dumps(value, ensure_ascii=False)
    assert as_json({"a": float("nan")}) == '{"a": NaN}'
    assert as_json({"a": 1 + 2j}) == '{"a": "(1+2j)"}'


@pytest.mark.parametrize("text", ["", "{", "nul", '"\ud800', "[" * 100_000])
def test_what_is_no_json_raises(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        parsed(text)
