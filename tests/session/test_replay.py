from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.model.patch import ChangeKind
from arcview.session.opened import OpenRun
from arcview.session.replay import StageReplay
from arcview.session.trail import TrailFinder

Scb = Callable[[str], Path]


def _replay(path: Path, state: str, *, recorded: bool = True) -> tuple[OpenRun, StageReplay]:
    opened = OpenRun.open(path)
    opened.ensure_states()
    trails = TrailFinder(opened)
    replay = StageReplay(
        opened, trails.attribution, trails.workspace, state, use_recorded_steps=recorded
    )
    return opened, replay


def _place(opened: OpenRun, stage: int, number: int) -> int:
    steps = opened.trajectory(stage).steps
    return next(place for place, step in enumerate(steps) if step.number == number)


def test_recorded_steps_are_shown_as_recorded_with_what_each_changed(demo_run: Path) -> None:
    opened, replay = _replay(demo_run, "S2")
    before = replay.at(_place(opened, 2, 1))
    assert (before.step_state, before.base) == ("S1", "S1")
    step = replay.at(_place(opened, 2, 3))
    assert (step.number, step.step_state, step.focus) == (3, "S2@2", ("notes/cli.py", 7))
    last = replay.at(_place(opened, 2, 6))
    assert last.step_state is not None
    assert opened.store.tree(last.step_state) == opened.store.tree("S2")


@pytest.mark.parametrize("state", ["S1", "S2", "S3", "S4"])
def test_reconstructed_steps_differ_from_the_recorded_ones_only_where_that_is_said(
    demo_run: Path, state: str
) -> None:
    opened, recorded = _replay(demo_run, state)
    _, rebuilt = _replay(demo_run, state, recorded=False)
    stage = int(state[1:])
    for place in range(len(opened.trajectory(stage).steps)):
        truth, shown = recorded.at(place), rebuilt.at(place)
        assert shown.step_state is None
        for path, text in shown.texts.items():
            data = opened.store.file(truth.step_state or truth.base, path)
            exact = (data.decode() if data is not None else None) == text
            assert exact or shown.misfits or shown.commands, (place, path)


def test_replayed_edits_arrive_at_the_end_of_a_real_stage(scb: Scb) -> None:
    opened, replay = _replay(scb("circuit-eval"), "S3")
    last = replay.at(len(opened.trajectory(3).steps) - 1)
    assert (last.edits, last.misfits) == (7, 0)
    end = opened.store.file("S3", "circopt.py")
    assert end is not None
    assert last.texts["circopt.py"] == end.decode()


def test_a_rewrite_is_a_change_from_its_step_on(scb: Scb) -> None:
    opened, replay = _replay(scb("circuit-eval"), "S3")
    assert replay.at(_place(opened, 3, 8)).patches == ()
    (patch,) = replay.at(_place(opened, 3, 9)).patches
    assert (patch.change.path, patch.change.kind) == ("circopt.py", ChangeKind.MODIFIED)
    assert patch.change.added == sum(
        line.old_number is None for hunk in patch.hunks for line in hunk.lines
    )


def test_files_that_an_agent_made_and_removed_come_and_go(scb: Scb) -> None:
    opened, replay = _replay(scb("circuit-eval"), "S4")
    steps = len(opened.trajectory(4).steps)
    seen = [{p.change.path for p in replay.at(place).patches} for place in range(steps)]
    assert any("and1.circ" in paths for paths in seen)
    assert "and1.circ" not in seen[-1]


def test_a_stage_whose_start_is_not_recorded_says_so(scb: Scb) -> None:
    _, replay = _replay(scb("circuit-eval"), "S0")
    assert replay.missing == "the state that the stage began with is not recorded"


@pytest.mark.parametrize("state", ["S1", "S2", "S2.refactor", "S3", "S4"])
def test_at_the_last_step_a_line_is_from_the_step_that_the_end_says(
    demo_run: Path, state: str
) -> None:
    opened, replay = _replay(demo_run, state)
    trails = TrailFinder(opened)
    number, between = int(state[1]), state if "." in state else None
    last = len(opened.trajectory(number, between).steps) - 1
    compared = 0
    for path in trails.files(state):
        for line, expected in enumerate(trails.sources(state, path), 1):
            found = replay.source(last, path, line)
            if expected.recorded and expected.state == state:
                assert found == expected, (path, line)
                compared += 1
    assert compared > 10


@pytest.mark.parametrize("recorded", [True, False])
def test_a_line_that_is_gone_at_the_end_still_has_its_step(demo_run: Path, recorded: bool) -> None:
    opened, replay = _replay(demo_run, "S1", recorded=recorded)
    steps = opened.trajectory(1).steps
    seen = set()
    for place in range(len(steps)):
        snapshot = replay.at(place)
        if snapshot.focus is not None and snapshot.focus[1] is not None:
            source = replay.source(place, snapshot.focus[0], snapshot.focus[1])
            assert source is not None
            assert source.step_key == steps[place].key
            seen.add(source.step)
    assert len(seen) > 1


def test_a_line_that_the_stage_began_with_is_from_before(demo_run: Path) -> None:
    opened, replay = _replay(demo_run, "S2")
    place = _place(opened, 2, 3)
    source = replay.source(place, "notes/cli.py", 1)

    assert source is not None
    assert source == TrailFinder(opened).source("S1", "notes/cli.py", 1)
    assert replay.source(place, "notes/cli.py", 9999) is None
    assert replay.source(place, "nowhere.py", 1) is None


def test_the_lines_of_a_reconstructed_file_lead_to_the_edits(scb: Scb) -> None:
    opened, replay = _replay(scb("circuit-eval"), "S3")
    source = replay.source(_place(opened, 3, 9), "circopt.py", 300)

    assert source is not None
    assert (source.stage, source.step, source.certainty) == (3, 9, "exact")
