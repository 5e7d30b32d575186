from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arcview.session import twin
from arcview.session.opened import OpenRun
from arcview.session.plain_text import show_lines
from arcview.session.plain_text_parts import Glyphs

Json = dict[str, Any]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Json:
    run = Path(__file__).parents[2] / "fixtures" / "runs" / "scripted-demo" / "notes-cli"
    opened = OpenRun.open(run, cache_root=tmp_path_factory.mktemp("cache"))
    found: Json = json.loads(twin.dumps(twin.show(opened)))
    return found


def gates(show: Json) -> dict[tuple[str, str], Json]:
    """(gate, state) → the object that holds its verdict and failures."""
    found = {}
    for row in show["stages"]:
        found[str(row["index"]), row["end"]] = row
        for between in row["between"]:
            found[between["gate"], between["state"]] = between
    found["chain", show["chain_gate"]["state"]] = show["chain_gate"]
    return found


def test_every_planted_fault_shows_where_the_truth_says(shown: Json, demo_run: Path) -> None:
    truth = json.loads((demo_run / "truth.json").read_text())
    effects = [effect for fault in truth["faults"] for effect in fault["effects"]]
    assert effects
    for effect in effects:
        gate = gates(shown)[effect["gate"], effect["state"]]
        histories = {failure["id"]: failure["history"] for failure in gate["failures"]}
        for test in effect["tests"]:
            assert histories.get(test) == effect["history"], (effect, test)


def test_every_field_of_the_contract_is_there(shown: Json) -> None:
    assert shown["schema"] == "arcview/show/1"
    assert {
        "run_id", "layout", "agent", "model", "task_id", "attempt", "status", "states", "stages",
        "chain_gate", "first_bad_stage", "first_failing_gate", "problems",
    } <= set(shown)  # fmt: skip
    stage = shown["stages"][0]
    assert {
        "index", "title", "status", "verdict", "reason", "f2p", "p2p", "other", "debt", "steps",
        "tool_calls", "tokens", "cost_usd", "duration_s", "base", "end", "change", "failures",
        "healed", "self_tests",
    } <= set(stage)  # fmt: skip
    assert {"input", "cached", "output", "reasoning"} == set(stage["tokens"])
    assert {"files", "added", "removed", "unchanged"} <= set(stage["change"])
    assert {
        "step", "command", "runner", "kind", "passed", "failed", "exit_code", "masked",
        "earlier_stages",
    } <= set(stage["self_tests"][0])  # fmt: skip
    failure = shown["stages"][1]["failures"][0]
    assert {
        "id", "group", "outcome", "history", "message", "traceback", "frames"
    } <= set(failure)  # fmt: skip
    assert {"id", "stage", "kind", "provenance", "tree", "unchanged"} <= set(shown["states"][0])


def test_the_outcomes_of_a_group_add_up(shown: Json) -> None:
    for gate in gates(shown).values():
        for group in ("f2p", "p2p", "other"):
            counts = gate[group]
            if counts is not None:
                total = sum(
                    number
                    for name, number in counts.items()
                    if name not in ("expected", "extra", "duplicated")
                )
                assert total == counts["expected"]


def test_stages_can_be_picked(demo_run: Path) -> None:
    show = twin.show(OpenRun.open(demo_run), stage=2)
    stages = show["stages"]
    assert isinstance(stages, list)
    assert [stage["index"] for stage in stages] == [2]


def test_json_is_ascii_whatever_a_run_holds() -> None:
    text = twin.dumps({"é": "\x1b]0;x\x07 \u202e \ud800", "nan": float("nan"), "tuple": (1,)})
    assert text.isascii()
    assert text.isprintable()
    assert json.loads(text)["nan"] is None


def test_a_broken_run_is_a_row_with_the_same_fields(demo_run: Path) -> None:
    row = twin.broken_row("runs/x", "runs/x/run.json: not JSON")
    assert set(row) <= set(twin.list_row(OpenRun.open(demo_run)))
    assert row["problems"] == [{"where": "runs/x", "what": "runs/x/run.json: not JSON"}]


def test_a_cache_that_cannot_be_used_costs_only_what_needs_it(
    demo_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "cache").touch()
    opened = OpenRun.open(demo_run, cache_root=tmp_path / "cache")
    stages: Any = twin.show(opened)["stages"]
    assert [stage["verdict"] for stage in stages] == ["passed", "failed", "failed", "failed"]
    assert all("cannot be used as the cache" in stage["change"]["missing"] for stage in stages)


def test_the_text_says_why_a_change_is_unknown(demo_run: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    opened = OpenRun.open(demo_run, cache_root=tmp_path / "cache")
    lines = [
        line
        for line in show_lines(opened, None, Glyphs.for_encoding("utf-8"))
        if "unknown: " in line
    ]
    assert len(lines) == 1
    assert lines[0].startswith("change of stage 1–4 unknown: ")
