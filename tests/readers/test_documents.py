"""Single JSON documents of any size: whole, cut off, damaged in the middle, or no JSON at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcview.readers.trajectories import documents
from arcview.readers.trajectories.documents import Document, parse_document, peek

MESSAGES = [
    {"role": "user", "content": "fix it"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "n": 1.5}]},
    {"role": "tool", "content": ["a", {"type": "text", "text": 'say "hi"\n\\'}]},
]
WHOLE: dict[str, Any] = {"info": {"exit_status": "Submitted"}, "messages": MESSAGES, "n": 3}


def parse(text: str | bytes, **options: Any) -> Document:
    return parse_document(text if isinstance(text, bytes) else text.encode(), "t.json", **options)


def notes(document: Document) -> list[str]:
    return [f"{problem.where}: {problem.what}" for problem in document.problems]


# Whole documents


@pytest.mark.parametrize("indent", [None, 2, 4])
def test_a_whole_document_is_what_json_says(indent: int | None) -> None:
    document = parse(json.dumps(WHOLE, indent=indent))
    assert (document.value, document.problems, document.is_cut) == (WHOLE, [], False)


def test_a_byte_order_mark_is_skipped() -> None:
    document = parse(b"\xef\xbb\xbf" + json.dumps(WHOLE).encode())
    assert (document.value, document.problems) == (WHOLE, [])


def test_numbers_that_json_has_not_become_texts() -> None:
    assert parse('{"score": NaN, "limit": -Infinity}').value == {
        "score": "NaN",
        "limit": "-Infinity",
    }


def test_half_a_surrogate_pair_is_read() -> None:
    assert parse(r'["\ud83d", 1]').value == ["\ud83d", 1]


# Large documents, which are parsed in slices


@pytest.fixture
def in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_LARGE_BYTES", 0)
    monkeypatch.setattr(documents, "_SLICE_BYTES", 40)


LISTS = ("messages", "history")
TEXTS = st.text(alphabet='ab"\\\n {}[],:é日', max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
ITEMS = st.lists(st.dictionaries(TEXTS, VALUES, max_size=4), max_size=12)


@given(messages=ITEMS, history=ITEMS, other=VALUES)
def test_slices_give_what_the_whole_gives(
    messages: list[Any], history: list[Any], other: Any
) -> None:
    whole = {"a": other, "messages": messages, "b": [other], "history": history, "z": other}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "_LARGE_BYTES", 0)
        patch.setattr(documents, "_SLICE_BYTES", 40)
        document = parse(json.dumps(whole, indent=2), lists=LISTS)
    assert (document.value, document.problems) == (whole, [])
    assert list(document.value) == list(whole)  # type: ignore[call-overload]


@pytest.mark.usefixtures("in_slices")
@pytest.mark.parametrize("indent", [None, 1, 4])
def test_a_large_document_of_another_layout_is_read_all_the_same(indent: int | None) -> None:
    assert parse(json.dumps(WHOLE, indent=indent), lists=LISTS).value == WHOLE


@pytest.mark.usefixtures("in_slices")
def test_lists_that_nobody_needs_are_left_empty() -> None:
    steps = [{"action": "ls", "query": [{"content": "long " * n}], "end": n} for n in range(9)]
    document = parse(json.dumps({"messages": steps}, indent=2), lists=LISTS, without=("query",))
    assert document.value == {"messages": [{**step, "query": []} for step in steps]}


@pytest.mark.usefixtures("in_slices")
def test_a_text_that_looks_like_the_layout_is_text() -> None:
    tricky = [{"content": '\n  "messages": [\n    {\n    },\n    {\n  ]', "n": n} for n in range(9)]
    whole = {"first": '\n  "messages": [\n    {', "messages": tricky}
    assert parse(json.dumps(whole, indent=2), lists=LISTS).value == whole


@pytest.mark.usefixtures("in_slices")
def test_damage_in_one_slice_costs_only_itself() -> None:
    text = json.dumps({"messages": [{"n": n} for n in range(20)]}, indent=2)
    document = parse(text.replace('"n": 7\n', '"n": oops\n'), lists=LISTS)
    kept = [message.get("n") for message in document.value["messages"]]  # type: ignore[index]
    assert kept == [*range(7), None, *range(8, 20)]
    assert notes(document) == ["t.json: line 25: not JSON: 4 bytes left out"]


# Damage


@pytest.mark.parametrize("indent", [None, 2])
def test_every_cut_keeps_what_is_whole_before_it(indent: int | None) -> None:
    text = json.dumps(WHOLE, indent=indent)
    for cut in range(1, len(text) - 1):
        document = parse(text[:cut])
        assert document.is_cut, text[:cut]
        assert len(document.problems) >= 1
        assert isinstance(document.value, dict)
        kept = document.value.get("messages", [])
        whole = [message for message in kept if message in MESSAGES]
        assert whole == MESSAGES[: len(whole)]
        assert len(kept) <= len(whole) + 1


def test_a_cut_is_reported_with_its_line_and_bytes() -> None:
    text = json.dumps(WHOLE, indent=2)
    document = parse(text[: text.index("1.5") + 2])
    assert notes(document) == ["t.json: line 16: cut off: 2 bytes left out"]
    assert document.value == {
        "info": WHOLE["info"],
        "messages": [
            MESSAGES[0],
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]},
        ],
    }


def test_a_long_text_is_kept_up_to_where_it_is_cut() -> None:
    document = parse('{"messages": [{"content": "' + "word " * 20 + "\\u00")
    assert document.value == {"messages": [{"content": "word " * 20}]}
    assert notes(document) == ["t.json: line 1: cut off inside a text: 0 bytes left out"]


def test_a_short_text_that_is_cut_is_unknown() -> None:
    assert parse('{"messages": [{"role": "assis').value == {"messages": [{}]}


def test_what_is_nested_too_deeply_is_left_out_alone() -> None:
    deep = '{"messages": [{"role": "user", "extra": ' + "[" * 100_000 + "]" * 100_000
    document = parse(deep + ', "content": "hi"}, {"role": "tool"}], "n": 1}')
    assert document.value["n"] == 1  # type: ignore[index]
    first, second = document.value["messages"]  # type: ignore[index]
    assert (first["content"], second) == ("hi", {"role": "tool"})
    assert [note.split(":")[2] for note in notes(document)] == [" nested too deeply"]
    assert not document.is_cut


def test_bytes_that_are_not_utf8_are_replaced_and_said() -> None:
    document = parse(b'{"a":\n"caf\xe9"}')
    assert document.value == {"a": "caf\ufffd"}
    assert notes(document) == [
        "t.json: line 2: byte 11 is not UTF-8; such bytes are replaced",
    ]


def test_nul_padding_is_removed_and_said() -> None:
    document = parse(b'{"a": 1}' + b"\0" * 30)
    assert document.value == {"a": 1}
    assert notes(document) == ["t.json: 30 bytes of NUL padding"]


def test_line_breaks_inside_a_text_are_read() -> None:
    assert parse('{"a": "one\ntwo"}').value == {"a": "one\ntwo"}


def test_a_number_of_too_many_digits_is_left_out() -> None:
    document = parse('{"a": ' + "9" * 5000 + ', "b": 1}')
    assert document.value == {"b": 1}
    assert notes(document) == ["t.json: line 1: not JSON: 5,000 bytes left out"]


def test_what_follows_the_document_is_said() -> None:
    document = parse('{"a": 1}\n{"a": 2}')
    assert document.value == {"a": 1}
    assert notes(document) == [
        "t.json: line 1: more after the end of the document: 9 bytes left out"
    ]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "the file is empty"),
        (b" \n", "2 bytes, all blank or NUL"),
        (b"\0\0\0", "3 bytes of NUL padding"),
        (b"hello", "line 1: not JSON: 5 bytes left out"),
    ],
)
def test_what_is_no_document_has_no_value(data: bytes, told: str) -> None:
    document = parse(data)
    assert document.value is None
    assert told in notes(document)[0]


@given(st.binary(max_size=60))
def test_no_bytes_raise(data: bytes) -> None:
    parse(b'{"messages": [{"content": "' + data)
    parse(data)


# The first look


def test_the_head_of_a_document_tells_its_keys() -> None:
    text = json.dumps({"info": {"submission": "x" * 500}, "messages": []})
    assert peek(text[:100].encode()) == {"info": {"submission": "x" * 75}}
    assert peek(b'{"info": {"exit_status": "Subm') == {"info": {"exit_status": None}}


def test_the_head_of_something_else_tells_nothing() -> None:
    assert peek(b"PK\x03\x04 zip") is None
