"""The published JSON Schemas and the models behind them."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from arcview.schema import json_schemas
from arcview.schema.base import Model
from arcview.schema.chain import ChainFile
from arcview.schema.faults import find_faults
from arcview.schema.result import GateResultFile, GateTestLine
from arcview.schema.run import RunFile

DIGEST = "sha256:" + "a" * 64

RUN: dict[str, Any] = {
    "schema": "arcview/run/1",
    "run_id": "demo-1",
    "agent": {"name": "scripted-demo", "version": "1"},
    "model": "none",
    "task_id": "notes-cli",
    "attempt": 1,
    "chain": "../../../chains/notes-cli",
    "delegation": {"declared": "L4"},
    "started": "2026-01-31T12:00:00Z",
    "ended": "2026-01-31T13:00:00+00:00",
    "harness": {"name": "h", "version": "2"},
    "status": "interrupted",
    "status_detail": "killed",
    "states": [
        {"id": "S0", "stage": 0, "kind": "start", "provenance": "recorded", "tree": "b" * 40},
        {"id": "S1", "stage": 1, "kind": "stage_end", "unchanged": False},
        {"id": "S1.refactor", "stage": 1, "kind": "between", "usage": {"cost_usd": 0.5}},
    ],
    "stages": [
        {
            "index": 1,
            "status": "completed",
            "base": "S0",
            "end": "S1",
            "sessions": ["a"],
            "started": "2026-01-31T12:00:00Z",
            "ended": "2026-01-31T12:10:00Z",
            "usage": {"input_tokens": 10, "cached_tokens": None, "cost_usd": 1},
            "trajectories": [{"path": "stages/1/trajectory.json", "role": "main"}],
        }
    ],
}
CHAIN: dict[str, Any] = {
    "schema": "arcview/chain/1",
    "task_id": "notes-cli",
    "image": {"ref": "python:3.12", "digest": DIGEST},
    "path_rules": {"test": ["checks/**"]},
    "stages": [{"index": 1, "title": "add", "spec": "stages/1/spec.md", "depends_on": []}],
    "gates": [
        {
            "id": "1",
            "f2p": ["t::a"],
            "p2p": [],
            "steps": [{"command": ["pytest"], "timeout_s": 60, "build": False}],
            "overlay": [{"path": "tests/test_a.py", "sha256": "c" * 64}],
            "limits": {"cpus": 1.5, "memory_mb": 512, "pids": 100},
        },
        {"id": "chain", "f2p": ["t::a"]},
    ],
}
RESULT: dict[str, Any] = {
    "schema": "arcview/gate-result/1",
    "gate": "1",
    "state": "S1",
    "verdict": "failed",
    "exit_codes": [1, None],
    "timed_out": False,
    "f2p": {"expected": 2, "passed": 1, "failed": 1},
    "p2p": None,
    "engine": {"name": "docker", "version": "1", "limits_enforced": True},
}
LINE: dict[str, Any] = {"id": "t::a", "group": "f2p", "outcome": "failed", "message": "1 != 2"}

FILES: dict[str, tuple[type[Model], dict[str, Any]]] = {
    "run": (RunFile, RUN),
    "chain": (ChainFile, CHAIN),
    "result": (GateResultFile, RESULT),
    "test": (GateTestLine, LINE),
}


def with_value(document: dict[str, Any], path: list[str | int], value: object) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    place: Any = changed
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return changed


@pytest.mark.parametrize("name", ["run", "chain", "result", "test", "show", "list"])
def test_every_schema_is_valid_json_schema(name: str) -> None:
    Draft202012Validator.check_schema(json_schemas()[name])


@pytest.mark.parametrize("name", list(FILES))
def test_an_example_file_satisfies_schema_and_model(name: str) -> None:
    model, document = FILES[name]
    Draft202012Validator(json_schemas()[name]).validate(document)
    assert find_faults(model, document) == ()


@pytest.mark.parametrize("name", list(FILES))
def test_every_field_of_a_file_survives_a_round_trip(name: str) -> None:
    model, document = FILES[name]
    again = model.model_validate(document).model_dump(by_alias=True, exclude_unset=True)
    assert again == document


def test_unknown_fields_survive_a_round_trip_at_every_depth() -> None:
    document = with_value(RUN, ["x_lab"], {"seed": 7})
    document = with_value(document, ["stages", 0, "usage", "x_cache_writes"], 3)
    again = RunFile.model_validate(document).model_dump(by_alias=True, exclude_unset=True)
    assert again == document


def test_a_run_needs_nothing_but_its_schema_and_one_stage() -> None:
    assert find_faults(RunFile, {"schema": "arcview/run/1", "stages": [{"index": 1}]}) == ()


def test_every_field_of_every_format_says_what_it_is_for_where_its_name_does_not() -> None:
    schemas = json_schemas()
    silent = [
        f"{name}: {title}"
        for name, schema in schemas.items()
        for title, part in [(name, schema), *schema.get("$defs", {}).items()]  # type: ignore[attr-defined]
        if not part.get("description")
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("name", "path", "value", "field", "expected"),
    [
        (
            "run",
            ["stages", 0, "index"],
            "1",
            "stages[0].index",
            'expected a whole number, found "1"',
        ),
        ("run", ["stages", 0, "index"], 0, "stages[0].index", "expected 1 or more, found 0"),
        (
            "run",
            ["stages", 0, "usage", "cost_usd"],
            "free",
            "stages[0].usage.cost_usd",
            'expected a number, found "free"',
        ),
        (
            "run",
            ["stages", 0, "usage", "cost_usd"],
            float("nan"),
            "stages[0].usage.cost_usd",
            "expected a finite number, found NaN",
        ),
        ("run", ["stages"], [], "stages", "expected at least one entry, found a list of 0"),
        ("run", ["stages"], 5, "stages", "expected a list, found 5"),
        ("run", ["agent"], "opus", "agent", 'expected an object, found "opus"'),
        (
            "run",
            ["started"],
            "yesterday",
            "started",
            'expected an ISO 8601 time such as 2026-01-31T12:00:00Z, found "yesterday"',
        ),
        (
            "run",
            ["states", 1, "id"],
            "../S1",
            "states[1].id",
            'expected a state id such as S0, S2, S2.refactor or R1, found "../S1"',
        ),
        ("run", ["attempt"], [1], "attempt", "expected a whole number or text, found a list of 1"),
        (
            "run",
            ["schema"],
            "arcview/run/9",
            "schema",
            'expected "arcview/run/1", found "arcview/run/9"',
        ),
        (
            "chain",
            ["gates", 0, "id"],
            "two",
            "gates[0].id",
            'expected "1" … "n" or "chain", found "two"',
        ),
        (
            "chain",
            ["image", "digest"],
            "latest",
            "image.digest",
            'expected an image digest (sha256: and 64 hex digits), found "latest"',
        ),
        (
            "chain",
            ["gates", 0, "overlay", 0, "sha256"],
            "abc",
            "gates[0].overlay[0].sha256",
            'expected a sha256 (64 hex digits), found "abc"',
        ),
        ("result", ["f2p", "passed"], -1, "f2p.passed", "expected 0 or more, found -1"),
        ("result", ["timed_out"], "no", "timed_out", 'expected true or false, found "no"'),
    ],
)
def test_a_wrong_value_gives_its_field_and_what_was_expected(
    name: str, path: list[str | int], value: object, field: str, expected: str
) -> None:
    model, document = FILES[name]
    faults = find_faults(model, with_value(document, path, value))
    assert [(fault.field, fault.expected) for fault in faults] == [(field, expected)]


def test_a_wrong_word_lists_the_words_of_the_format() -> None:
    (fault,) = find_faults(RunFile, with_value(RUN, ["stages", 0, "status"], "done"))
    assert fault.expected.startswith('expected "completed", "interrupted"')
    assert fault.expected.endswith('found "done"')


def test_a_missing_field_is_named() -> None:
    (fault,) = find_faults(GateTestLine, {"id": "a"})
    assert (fault.field, fault.expected) == ("outcome", "required, and missing")


def test_every_fault_of_a_document_is_found_not_only_the_first() -> None:
    document = with_value(RUN, ["started"], 5)
    document = with_value(document, ["stages", 0, "end"], "the end")
    assert [fault.field for fault in find_faults(RunFile, document)] == ["started", "stages[0].end"]


def test_the_schema_package_loads_no_pydantic_until_it_is_needed() -> None:
    code = "import arcview.schema, sys; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
