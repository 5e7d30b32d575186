"""Typed access to foreign files: the right type or a problem with file and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.readers.fields import Fields, parse_json, parse_yaml, read_bytes


@pytest.fixture
def problems() -> list[Problem]:
    return []


def fields(problems: list[Problem], **values: object) -> Fields:
    return Fields("file.json", dict(values), problems)


def test_values_of_the_right_type_come_out(problems: list[Problem]) -> None:
    found = fields(problems, t="x", n=1.5, c=3.0, f=True, m={"k": 1}, l=["a"], r=[{"z": 2}])
    assert (found.text("t"), found.number("n"), found.count("c")) == ("x", 1.5, 3)
    assert found.flag("f") is True
    assert found.sub("m").count("k") == 1
    assert found.texts("l") == ["a"]
    assert [record.count("z") for record in found.records("r")] == [2]
    assert problems == []


def test_missing_and_null_are_unknown_without_a_problem(problems: list[Problem]) -> None:
    found = fields(problems, n=None)
    assert [found.text("t"), found.number("n"), found.count("c"), found.flag("f")] == [None] * 4
    assert (found.texts("l"), found.records("r"), found.sub("m").values) == ([], [], {})
    assert problems == []


@pytest.mark.parametrize(
    ("read", "value", "what"),
    [
        ("text", 7, "expected a text, found a number (7); ignored"),
        ("number", "7", "expected a finite number, found a text ('7'); ignored"),
        ("number", True, "expected a finite number, found true or false; ignored"),
        ("number", float("inf"), "expected a finite number, found a number (inf); ignored"),
        ("number", 10**400, "expected a finite number, found a number (a long one); ignored"),
        ("count", -1, "expected a count, found a number (-1.0); ignored"),
        ("count", 1.5, "expected a count, found a number (1.5); ignored"),
        ("flag", "yes", "expected true or false, found a text ('yes'); ignored"),
        ("sub", [], "expected a mapping, found a list; ignored"),
        ("texts", "x" * 50, "expected a list, found a text (a long one); ignored"),
        ("texts", ["a", 1, 2], "2 of its items left out: each should be a text"),
        ("records", [{}, 1], "1 of its items left out: each should be a mapping"),
    ],
)
def test_a_wrong_type_is_reported_with_file_and_field(
    problems: list[Problem], read: str, value: object, what: str
) -> None:
    getattr(fields(problems, outer={"k": value}).sub("outer"), read)("k")
    assert problems == [Problem("file.json: outer.k", what)]


def test_a_field_that_is_asked_for_twice_is_reported_once(problems: list[Problem]) -> None:
    found = fields(problems, k=1)
    found.text("k")
    found.text("k")
    assert len(problems) == 1


def test_dates_of_yaml_count_as_texts(tmp_path: Path, problems: list[Problem]) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("at: 2026-01-02T03:04:05\nday: 2026-01-02\n")
    found = Fields.yaml_file(file, "x.yaml", problems)
    assert (found.text("at"), found.text("day")) == ("2026-01-02T03:04:05", "2026-01-02")


def test_what_the_layout_needs_raises_when_it_is_missing(problems: list[Problem]) -> None:
    with pytest.raises(BadInputError, match=r"file\.json: name: expected a text, found nothing"):
        fields(problems).need_text("name")


def test_yaml_constructs_plain_types_only() -> None:
    with pytest.raises(BadInputError, match="expected YAML"):
        parse_yaml(b"!!python/object/apply:os.system ['true']", "x.yaml")


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse_json(b'\xef\xbb\xbf{"a": NaN}', "x.json") == {"a": "NaN"}


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "x.json: expected JSON, the file is empty"),
        (b'{\n"a": }', "x.json: line 2: expected JSON: Expecting value"),
        (b"[" * 100_000, "x.json: nested too deeply"),
    ],
)
def test_damaged_json_names_the_line(data: bytes, what: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_json(data, "x.json")
    assert str(caught.value) == what


def test_unreadable_files_are_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="x: expected a file, found a folder"):
        read_bytes(tmp_path, "x")
    with pytest.raises(BadInputError, match="x: the file is missing"):
        read_bytes(tmp_path / "gone", "x")
    with pytest.raises(BadInputError, match="x: cannot be read"):
        read_bytes(tmp_path / "nul\0", "x")
