"""Two runs of one task, as `arcview compare` prints them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arcview import cli
from arcview.schema.faults import find_faults
from arcview.schema.reports import CompareReport
from arcview.session.compare_states import StatesBeside
from arcview.session.opened import OpenRun
from tests.readers.native_run import full_run

Json = dict[str, Any]
Scb = Callable[[str], Path]
Capture = pytest.CaptureFixture[str]


def compared(capsys: Capture, a: Path, b: Path) -> Json:
    assert cli.main(["compare", str(a), str(b), "--json"]) == 0
    found: Json = json.loads(capsys.readouterr().out)
    assert find_faults(CompareReport, found) == ()
    return found


@pytest.fixture
def code_search(scb: Scb, capsys: Capture) -> Json:
    return compared(capsys, scb("code-search-collapse"), scb("code-search-refactor-pass"))


def test_two_runs_of_a_task_part_where_the_first_verdict_differs(code_search: Json) -> None:
    assert code_search["same_task"] is True
    assert code_search["first_divergence"] == {
        "gate": "2",
        "stage": 2,
        "a": "failed",
        "b": "passed",
    }


def test_single_tests_are_told_apart_by_gate(code_search: Json) -> None:
    better = [
        [d["better"] for d in stage["gate"]["differences"]] for stage in code_search["stages"]
    ]
    counts = [(found.count("a"), found.count("b")) for found in better]
    assert counts == [(0, 0), (0, 10), (12, 1), (0, 0), (0, 0)]


def test_the_counts_of_a_gate_add_up(code_search: Json) -> None:
    for stage in code_search["stages"]:
        gate = stage["gate"]
        if gate["compared"]:
            apart = sum(d["better"] != "neither" for d in gate["differences"])
            expected = sum(gate["a"][g]["expected"] for g in ("f2p", "p2p"))
            common = expected - len(gate["only_in_a"])
            assert gate["both_ok"] + gate["both_not_ok"] + apart == common


def test_what_one_run_never_measured_is_not_compared(code_search: Json) -> None:
    for stage in code_search["stages"][3:]:
        assert stage["gate"]["compared"] is False
        assert stage["gate"]["differences"] == []
        assert stage["files"] is None


def test_sizes_cost_and_steps_stand_side_by_side(code_search: Json) -> None:
    first = code_search["stages"][0]
    assert (first["a"]["steps"], first["b"]["steps"]) == (44, 26)
    assert (first["a"]["change"]["files"], first["b"]["change"]["files"]) == (22, 2)
    assert "code_search.py" in first["files"]["both"]


def test_other_tasks_are_compared_and_it_is_said(scb: Scb, demo_run: Path, capsys: Capture) -> None:
    found = compared(capsys, scb("circuit-eval"), demo_run)
    assert found["same_task"] is False
    assert found["problems"][0].startswith("the runs are of different tasks (circuit_eval and")
    assert "gate 1: the runs were not held to the same tests" in found["problems"][2]


def test_a_run_does_not_part_from_itself(demo_run: Path, capsys: Capture) -> None:
    found = compared(capsys, demo_run, demo_run)
    assert found["first_divergence"] is found["first_test_divergence"] is None
    assert all(stage["gate"]["differences"] == [] for stage in found["stages"])
    assert found["chain_gate"]["compared"] is True
    assert found["problems"] == []


def test_the_table_says_where_they_part(scb: Scb, capsys: Capture) -> None:
    runs = [str(scb("code-search-collapse")), str(scb("code-search-refactor-pass"))]
    assert cli.main(["compare", *runs]) == 0
    out = capsys.readouterr().out
    assert "verdicts part at: gate 2 (A failed, B passed)" in out
    assert "0 ok in A only, 10 ok in B only" in out
    assert "not measured in both" in out


@pytest.fixture
def two_names(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs whose second stage writes one file, under another name in each."""
    code = "".join(f"def step_{n}():\n    return {n}\n\n\n" for n in range(12))
    roots = []
    for name, path in (("a", "engine.py"), ("b", "core/engine.py")):
        made = full_run(tmp_path / name)
        text = code if name == "a" else code.replace("return 3", "return 33")
        made.write_text(f"stages/2/workspace/{path}", text)
        roots.append(made.write())
    return roots[0], roots[1]


def test_a_file_with_another_name_in_each_run_is_one_file(
    two_names: tuple[Path, Path], capsys: Capture
) -> None:
    files = compared(capsys, *two_names)["stages"][1]["files"]

    (pair,) = files["renamed"]
    assert (pair["a"], pair["b"]) == ("engine.py", "core/engine.py")
    assert 90 < pair["similarity"] < 100
    assert (files["only_a"], files["only_b"]) == ([], [])


def test_the_code_of_a_file_with_two_names_stands_against_itself(
    two_names: tuple[Path, Path],
) -> None:
    a, b = (OpenRun.open(path) for path in two_names)
    beside = StatesBeside(a, "S2", b, "S2")
    (change,) = beside.changes()
    patch = beside.patch(change)

    assert (change.kind.value, change.old_path, change.path) == (
        "renamed",
        "engine.py",
        "core/engine.py",
    )
    assert (change.added, change.removed) == (1, 1)
    assert len(patch.hunks) == 1
