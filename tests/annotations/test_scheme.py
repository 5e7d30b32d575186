"""The label scheme: the shipped one, a team's own, and labels that are in neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arcview.annotations.scheme import (
    FIELDS,
    default_scheme,
    load_scheme,
    scheme_of_lists,
)
from arcview.errors import BadInputError
from arcview.model.annotation import Origin, Reading

SHIPPED = Path(load_scheme.__code__.co_filename).with_name("default_scheme.toml")

SMALL = """\
schema = "arcview/scheme/1"
name = "ours"
version = "3"
[[field]]
id = "defect"
key = "d"
title = "Defect"
kind = "one"
of = "origin"
[[field.code]]
code = "slip"
key = "s"
name = "slip"
definition = "A slip."
"""


def codes(field: str) -> list[str]:
    found = default_scheme().field(field)
    assert found is not None
    return [code.code for code in found.codes]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("validity", [f"V{n}" for n in range(8)]),
        ("defect", [f"D{n}" for n in range(11)]),
        ("mechanism", [f"M{n}" for n in range(10)]),
        ("awareness", [f"N{n}" for n in range(7)]),
        ("cause", [f"C{n}" for n in range(15)]),
        ("causes", [f"C{n}" for n in range(15)]),
        ("grade", ["A", "B", "C", "D"]),
        ("confidence", ["1", "2", "3"]),
    ],
)
def test_the_shipped_scheme_has_every_code(field: str, expected: list[str]) -> None:
    assert codes(field) == expected


def test_the_shipped_scheme_labels_every_field_of_a_case() -> None:
    assert {field.id for field in default_scheme().fields} == set(FIELDS)


def test_every_code_has_a_key_and_a_definition() -> None:
    every = [code for field in default_scheme().fields for code in field.codes]
    assert [code.code for code in every if not (code.key and code.definition)] == []


def test_keys_find_a_field_and_its_code() -> None:
    field = default_scheme().by_key("d")
    assert field is not None
    code = field.by_key("a")
    assert code is not None
    assert code.code == "D10"


@pytest.mark.parametrize(
    ("cause", "mast"),
    [("C1", "1.1"), ("C4", "1.4"), ("C7", "3.2"), ("C8", "3.3"), ("C10", "3.1"), ("C5", None)],
)
def test_causes_map_to_mast(cause: str, mast: str | None) -> None:
    assert default_scheme().mapped("cause", cause, "mast") == mast


def test_a_team_can_bring_its_own_scheme(tmp_path: Path) -> None:
    (tmp_path / "scheme.toml").write_text(SMALL)
    scheme = load_scheme(tmp_path / "scheme.toml")
    assert (str(scheme), scheme.name_of("defect", "slip")) == ("ours 3", "slip slip")


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('schema = "arcview/scheme/1"', 'schema = "x"', "schema"),
        ('id = "defect"', 'id = "colour"', "field[0].id"),
        ('kind = "one"', 'kind = "two"', "field[0].kind"),
        ('title = "Defect"', "title = 3", "field[0].title"),
        ('definition = "A slip."', "", "field[0].code[0].definition"),
        ("[[field.code]]", "[field.code]", "field[0].code"),
        ('definition = "A slip."', 'definition = "A slip."\nmaps = 3', "field[0].code[0].maps"),
    ],
)
def test_an_unsound_scheme_is_one_line(tmp_path: Path, old: str, new: str, field: str) -> None:
    (tmp_path / "scheme.toml").write_text(SMALL.replace(old, new))
    with pytest.raises(BadInputError) as caught:
        load_scheme(tmp_path / "scheme.toml")
    assert caught.value.field == field


def test_one_key_cannot_mean_two_codes(tmp_path: Path) -> None:
    twice = SMALL + SMALL.partition("[[field.code]]")[1] + SMALL.partition("[[field.code]]")[2]
    (tmp_path / "scheme.toml").write_text(twice.replace('code = "slip"', 'code = "b"', 1))
    with pytest.raises(BadInputError, match="'s' stands there twice"):
        load_scheme(tmp_path / "scheme.toml")


def test_a_scheme_that_is_no_toml_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "scheme.toml").write_text("= 3")
    with pytest.raises(BadInputError, match="not TOML"):
        load_scheme(tmp_path / "scheme.toml")


def test_the_shipped_file_is_a_template_a_team_can_start_from(tmp_path: Path) -> None:
    (tmp_path / "scheme.toml").write_bytes(SHIPPED.read_bytes())
    assert load_scheme(tmp_path / "scheme.toml") == default_scheme()


def test_a05_a_label_that_is_not_in_the_scheme_is_flagged_with_a_near_one_only(
    cases: Path,
) -> None:
    data = json.loads((cases / "hostile" / "annot" / "a05_label_not_in_schema.json").read_text())
    scheme = scheme_of_lists("theirs", data["schema"])
    found = [scheme.unknown("cause", label["cause"]) for label in data["labels"]]
    assert [label and (label.code, label.nearest) for label in found] == [
        ("spec_misread", "spec-misread"),
        ("flaky", None),
    ]


def test_a_short_code_is_near_to_no_other() -> None:
    label = default_scheme().unknown("defect", "D11")
    assert label is not None
    assert label.nearest is None


def test_a_code_in_other_letters_is_near() -> None:
    label = default_scheme().unknown("validity", "v1")
    assert label is not None
    assert label.nearest == "V1"


def test_every_unknown_label_of_a_reading_is_found() -> None:
    reading = Reading(
        "ann", validity="V0", confidence=9, origins=(Origin("a", defect="D77", causes=("C1", "x")),)
    )
    found = [(label.field, label.code) for label in default_scheme().unknown_in(reading)]
    assert found == [("confidence", "9"), ("defect", "D77"), ("causes", "x")]
