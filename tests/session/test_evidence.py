"""Failure → code → stage → step, as the JSON twin prints it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arcview import git
from arcview.errors import GitError
from arcview.session import twin
from arcview.session.evidence import EvidenceFinder
from arcview.session.opened import OpenRun

Json = dict[str, Any]
Scb = Callable[[str], Path]


@pytest.fixture(scope="module")
def shown(scb: Scb, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Json]:
    cache = tmp_path_factory.mktemp("cache")
    found: dict[str, Json] = {}

    def show(name: str) -> Json:
        if name not in found:
            found[name] = printed(OpenRun.open(scb(name), cache_root=cache))
        return found[name]

    return show


def printed(run: OpenRun) -> Json:
    found: Json = json.loads(twin.dumps(twin.show(run)))
    return found


def failure(show: Json, stage: int, part_of_id: str, state: str | None = None) -> Json:
    row = show["stages"][stage - 1]
    gate = row if state is None else next(b for b in row["between"] if b["state"] == state)
    found: Json = next(f for f in gate["failures"] if part_of_id in f["id"])
    return found


def failures(show: Json) -> list[Json]:
    gates = [gate for row in show["stages"] for gate in (row, *row["between"])]
    gates += [show["chain_gate"]] if show["chain_gate"] else []
    return [failure for gate in gates for failure in gate["failures"]]


def test_a_traceback_leads_to_a_line_its_stage_and_its_step(demo_run: Path) -> None:
    found = failure(printed(OpenRun.open(demo_run)), 3, "test_old_file_loads")
    frame = found["frames"][0]

    assert (frame["path"], frame["line"], frame["function"]) == ("notes/store.py", 30, "from_dict")
    assert (frame["stage"], frame["step_key"]) == (3, "call_3_03")
    assert (frame["certainty"], frame["basis"]) == ("exact", "traceback")


def test_every_planted_fault_is_reached_from_each_of_its_failures(demo_run: Path) -> None:
    show = printed(OpenRun.open(demo_run))
    by_id = {(f["id"], f["history"]): f for f in failures(show)}
    truth = json.loads((demo_run / "truth.json").read_text())
    for fault in truth["faults"]:
        for effect in fault["effects"]:
            if effect["history"] not in ("new", "broken_again") or effect["gate"] == "chain":
                continue
            for test in effect["tests"]:
                trail = by_id[test, effect["history"]]["trail"]
                steps = [share["step_key"] for share in trail["suspect_steps"]]
                assert trail["began"] == fault["origin"]["state"], test
                assert fault["origin"]["file"] in trail["suspect_change"], test
                assert fault["origin"]["step_key"] in steps, test


def test_a_black_box_failure_leads_to_the_change_that_a_step_rewrote_the_file_in(
    shown: Callable[[str], Json],
) -> None:
    trail = failure(shown("circuit-eval"), 3, "[literal_x")["trail"]

    assert (trail["began"], trail["suspect_change"]) == ("S3", ["circopt.py"])
    first, *rest = trail["suspect_steps"]
    assert (first["step"], first["lines"]) == (9, 566)
    assert sum(share["lines"] for share in rest) < 100


def test_a_black_box_failure_leads_to_the_lines_that_print_its_message(
    shown: Callable[[str], Json],
) -> None:
    frames = failure(shown("circuit-eval"), 3, "[literal_x")["frames"]

    assert 0 < len(frames) <= 10
    assert {(frame["certainty"], frame["basis"]) for frame in frames} == {("candidate", "clue")}
    spoken = [frame for frame in frames if "prints the message" in frame["reason"]]
    assert len(spoken) == 2
    assert all("'Undefined signal: X'" in frame["reason"] for frame in spoken)
    assert {frame["state"] for frame in spoken} == {"S1.refactor"}


def test_a_black_box_failure_leads_to_the_outputs_that_had_shown_it(
    shown: Callable[[str], Json],
) -> None:
    symptoms = failure(shown("circuit-eval"), 3, "[literal_x")["trail"]["symptoms"]

    seen = [s["step"] for s in symptoms if "Undefined signal: X" in s["text"]]
    assert seen == [47, 48, 53]


def test_what_a_pass_broke_leads_to_the_pass(shown: Callable[[str], Json]) -> None:
    test = "test_eval_invalid_input_value[X]"
    at_pass = failure(shown("circuit-eval"), 4, test, "S4.refactor")
    after = failure(shown("circuit-eval"), 5, test)

    assert (at_pass["history"], after["history"]) == ("new", "inherited")
    assert at_pass["trail"]["began"] == after["trail"]["began"] == "S4.refactor"
    assert after["trail"]["suspect_change"] == ["circopt.py"]


def test_a_stage_whose_agent_never_ran_has_no_change_to_suspect(
    shown: Callable[[str], Json],
) -> None:
    stage = shown("circuit-eval")["stages"][5]
    first = [f for f in stage["failures"] if f["history"] == "first"]

    assert len(first) == 51
    assert all(f["trail"]["suspect_change"] == [] for f in first)


def test_a_failure_with_nothing_to_go_on_says_so(shown: Callable[[str], Json]) -> None:
    found = failures(shown("recli-nothing-built"))
    assert found
    assert all(f["trail"]["nothing"] for f in found)
    assert all(f["frames"] == [] for f in found)


def test_no_failure_is_left_without_a_lead_or_a_reason(shown: Callable[[str], Json]) -> None:
    for name in ("circuit-eval", "code-search-collapse", "database-migration-rising"):
        for found in failures(shown(name)):
            trail = found["trail"]
            leads = found["frames"] or trail["suspect_change"] or trail["symptoms"]
            assert leads or trail["nothing"], (name, found["id"])


def test_without_git_the_frames_are_still_there_and_nothing_is_attributed(
    demo_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_git() -> str:
        raise GitError("git was not found")

    monkeypatch.setattr(git, "_program", no_git)
    found = failure(printed(OpenRun.open(demo_run)), 3, "test_old_file_loads")

    assert any(frame["path"].endswith("notes/store.py") for frame in found["frames"])
    assert {(f["stage"], f["step"], f["certainty"]) for f in found["frames"]} == {
        (None, None, "none")
    }
    assert found["trail"]["suspect_change"] == []


def test_evidence_is_found_once_and_then_read(
    demo_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = EvidenceFinder(OpenRun.open(demo_run)).of_gate("3")
    kept = EvidenceFinder(OpenRun.open(demo_run))
    monkeypatch.setattr(EvidenceFinder, "_of_test", None)

    assert kept.of_gate("3") == found
