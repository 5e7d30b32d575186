"""The evidence trail against the planted faults and the states recorded after each step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.analysis.clues import ClueKind
from arcview.session.opened import OpenRun
from arcview.session.trail import Trail, TrailFinder
from tests.readers.native_run import full_run, result_line


def opened(path: Path) -> OpenRun:
    run = OpenRun.open(path)
    run.store.ingest()
    return run


def trail_of(run: OpenRun, gate: str, part_of_id: str, state: str | None = None) -> Trail:
    view = run.gate_view(gate, state)
    failing = next(f for f in view.failing if part_of_id in f.test.id)
    assert view.cell.state is not None
    return TrailFinder(run).trail(int(gate), view.cell.state, failing)


def test_every_planted_fault_is_traced_to_the_step_that_wrote_it(demo_run: Path) -> None:
    run = opened(demo_run)
    finder = TrailFinder(run)
    truth = json.loads((demo_run / "truth.json").read_text())
    for fault in truth["faults"]:
        origin = fault["origin"]
        source = finder.source(origin["state"], origin["file"], origin["lines"][0])

        assert source is not None, fault["id"]
        assert (source.stage, source.state) == (origin["stage"], origin["state"]), fault["id"]
        if source.certainty != "none":
            assert source.step_key == origin["step_key"], fault["id"]


def test_every_failure_leads_to_the_change_that_it_began_with(demo_run: Path) -> None:
    run = opened(demo_run)
    finder = TrailFinder(run)
    truth = json.loads((demo_run / "truth.json").read_text())
    for fault in truth["faults"]:
        for effect in fault["effects"]:
            if effect["gate"] == "chain" or effect["history"] not in ("new", "inherited"):
                continue
            view = run.gate_view(effect["gate"], effect["state"])
            for failing in view.failing:
                if failing.test.id in effect["tests"] and fault["origin"]["state"] == failing.since:
                    trail = finder.trail(int(effect["gate"]), effect["state"], failing)

                    assert trail.began == fault["origin"]["state"]
                    assert fault["origin"]["file"] in {c.path for c in trail.suspect_change}


def test_a_traceback_into_the_agent_s_code_leads_to_its_line_and_step(demo_run: Path) -> None:
    trail = trail_of(opened(demo_run), "3", "test_old_file_loads")

    assert trail.leading is not None
    assert trail.leading.source is not None
    assert (trail.leading.frame.workspace_path, trail.leading.source.stage) == ("notes/store.py", 3)
    assert trail.leading.source.certainty == "exact"
    assert trail.nothing is None


def test_a_black_box_failure_leads_to_its_stage_s_change_message_and_symptoms(
    scb: Callable[[str], Path],
) -> None:
    trail = trail_of(opened(scb("circuit-eval")), "3", "literal_x")

    assert trail.leading is None
    assert [change.path for change in trail.suspect_change] == ["circopt.py"]
    spoken = [c.candidate for c in trail.candidates if c.candidate.clue.kind is ClueKind.MESSAGE]
    assert {candidate.clue.text for candidate in spoken} == {"Undefined signal: X"}
    assert all(candidate.speaks for candidate in spoken)
    assert "Undefined signal: X" in {symptom.clue.text for symptom in trail.symptoms}


def test_what_an_earlier_stage_had_on_its_screen_counts_too(scb: Callable[[str], Path]) -> None:
    trail = trail_of(opened(scb("circuit-eval")), "5", "literal_x")
    places = [(symptom.stage, symptom.state) for symptom in trail.symptoms]

    assert {s.number for s in trail.symptoms if (s.stage, s.state) == (3, None)} >= {47, 48, 53}
    assert places == sorted(places, key=lambda p: (-p[0], p[1] is None))


def test_a_later_stage_s_outputs_are_no_symptom(scb: Callable[[str], Path]) -> None:
    run = opened(scb("circuit-eval"))
    view = run.gate_view("4", "S4.refactor")
    finder = TrailFinder(run)
    trails = [finder.trail(4, "S4.refactor", failing) for failing in view.failing[:3]]
    seen = {symptom.stage for trail in trails for symptom in trail.symptoms}

    assert seen
    assert max(seen) <= 4


def test_what_a_pass_broke_leads_to_the_pass(scb: Callable[[str], Path]) -> None:
    run = opened(scb("circuit-eval"))
    trail = trail_of(run, "5", "test_eval_invalid_input_value[X]")

    assert trail.began == "S4.refactor"
    assert [change.path for change in trail.suspect_change] == ["circopt.py"]


@pytest.mark.parametrize("gate", ["1"])
def test_a_run_without_a_workspace_still_shows_what_there_is(
    scb: Callable[[str], Path], gate: str
) -> None:
    run = opened(scb("recli-nothing-built"))
    view = run.gate_view(gate)
    trail = TrailFinder(run).trail(1, view.cell.state or "S1", view.failing[0])

    assert trail.suspect_change == ()
    assert trail.candidates == ()
    assert trail.nothing is not None


def overlaid(tmp_path: Path, *, listed: bool = True) -> OpenRun:
    """A run whose agent has a test file and a module of the names that gate 1 lays over it."""
    made = full_run(tmp_path / "run")
    made.write_text("stages/1/workspace/tests/test_a.py", "# the agent's\n" * 9)
    made.write_text("stages/1/workspace/helper.py", "raise ValueError('no such colour: blue')\n")
    for name in ("tests/test_a.py", "helper.py"):
        made.write_text(f"chain/gates/1/overlay/{name}", "# the gate's\n" * 9)
    if listed:
        paths = [{"path": "tests/test_a.py"}, {"path": "helper.py"}]
        made.chain["gates"][0]["overlay"] = paths
    made.write_gate(1, {"t::a": "failed"})
    traceback = (
        "tests/test_a.py:7: in test_a\n    assert paint()\nhelper.py:3: in paint\n"
        "E   ValueError: no such colour: blue\n"
    )
    made.write_tests("stages/1/gate", [result_line("t::a", "f2p", "failed", traceback=traceback)])
    return opened(made.write())


@pytest.mark.parametrize("listed", [True, False])
def test_what_the_gate_laid_over_the_agent_s_file_is_not_the_agent_s(
    tmp_path: Path, listed: bool
) -> None:
    run = overlaid(tmp_path, listed=listed)
    trail = trail_of(run, "1", "t::a")

    assert trail.leading is None
    assert [(t.frame.overlay_path, t.source) for t in trail.frames] == [
        ("tests/test_a.py", None),
        ("helper.py", None),
    ]
    assert [c for c in trail.candidates if c.candidate.path == "helper.py"] == []
    files = {file.path: run.text(file.text_path) for file in run.run.overlay("1")}
    assert set(files) == {"tests/test_a.py", "helper.py"}
    assert all("the gate's" in text for text in files.values())
