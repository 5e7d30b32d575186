"""Stepping through a stage: exact on recorded steps, reconstructed and measured elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.errors import ArcviewError
from arcview.model.patch import LineKind
from arcview.session.attribution import Attribution
from arcview.session.opened import OpenRun
from arcview.session.replay_at import StageReplay
from arcview.session.workspace_files import WorkspaceFiles

Scb = Callable[[str], Path]


def replay_of(path: Path, stage: int, state: str | None = None) -> tuple[OpenRun, StageReplay]:
    run = OpenRun.open(path)
    run.ensure_states()
    files = WorkspaceFiles(run)
    return run, StageReplay(run, Attribution(run, files), files, stage, state)


def changed(replay: StageReplay, step_key: str) -> dict[str, tuple[int | None, int | None]]:
    return {c.path: (c.added, c.removed) for c in replay.changes(step_key)}


def test_recorded_steps_are_shown_as_they_were(demo_run: Path) -> None:
    run, replay = replay_of(demo_run, 2)
    keys = [step.key for step in run.trajectory(2).steps]

    assert replay.is_exact
    assert replay.missing is None
    assert replay.fidelity() is None
    assert replay.changes(keys[0]) == ()
    assert list(changed(replay, "call_2_02")) == ["notes/search.py"]
    assert replay.changes(keys[-1]) == run.store.changes("S1", "S2")


def test_a_step_that_changed_nothing_shows_what_the_one_before_left(demo_run: Path) -> None:
    run, replay = replay_of(demo_run, 2)
    keys = [step.key for step in run.trajectory(2).steps]
    last_edit = keys.index("call_2_04")
    assert replay.state_at(keys[last_edit + 1]) == replay.state_at("call_2_04") == "S2@3"


def test_the_patch_of_a_step_is_that_of_its_state(demo_run: Path) -> None:
    run, replay = replay_of(demo_run, 2)
    state = replay.state_at("call_2_02")
    assert state is not None
    assert replay.patch("call_2_02", "notes/search.py") == run.store.patch(
        "S1", state, "notes/search.py"
    )


def test_a_pass_is_stepped_through_too(demo_run: Path) -> None:
    _, replay = replay_of(demo_run, 2, "S2.refactor")
    assert replay.edit_steps() == ("call_2_refactor_01", "call_2_refactor_02")
    assert set(changed(replay, "call_2_refactor_02")) == {
        "notes/search.py",
        "notes/store.py",
        "notes/text.py",
    }


def test_without_recorded_steps_the_end_is_reconstructed_line_by_line(scb: Scb) -> None:
    run, replay = replay_of(scb("circuit-eval"), 3)
    last = run.trajectory(3).steps[-1].key
    fidelity = replay.fidelity()
    (recorded,) = run.store.changes("S2.refactor", "S3")

    assert not replay.is_exact
    assert fidelity is not None
    assert (fidelity.files, fidelity.equal, fidelity.unlike) == (1, 1, ())
    added, removed = changed(replay, last)["circopt.py"]
    assert added is not None
    assert removed is not None
    assert recorded.added is not None
    assert recorded.removed is not None
    # Two ways to align the same texts.
    assert added - removed == recorded.added - recorded.removed
    assert abs(added - recorded.added) < 5


def test_a_stage_grows_edit_by_edit_and_back_again(scb: Scb) -> None:
    _, replay = replay_of(scb("circuit-eval"), 3)
    steps = replay.edit_steps()
    forward = [changed(replay, key) for key in steps]
    backward = [changed(replay, key) for key in reversed(steps)]

    assert len({str(one) for one in forward}) > 3
    assert backward[::-1] == forward


def test_a_reconstructed_patch_says_that_it_is_one(scb: Scb) -> None:
    _, replay = replay_of(scb("circuit-eval"), 3)
    first = replay.edit_steps()[0]
    patch = replay.patch(first, "circopt.py")
    added = sum(line.kind is LineKind.ADDED for hunk in patch.hunks for line in hunk.lines)

    assert patch.warnings[0].startswith("reconstructed")
    assert added == patch.change.added
    assert added > 100


def test_what_a_program_wrote_lowers_the_fidelity(scb: Scb) -> None:
    _, replay = replay_of(scb("code-search-collapse"), 4)
    fidelity = replay.fidelity()

    assert fidelity is not None
    assert 0 < fidelity.equal < fidelity.files
    assert len(fidelity.unlike) == fidelity.files - fidelity.equal
    assert "code_search.py" not in fidelity.unlike


def test_a_stage_without_states_says_why(scb: Scb) -> None:
    _, replay = replay_of(scb("recli-nothing-built"), 1)
    assert replay.missing is not None
    assert replay.missing.startswith("S1: ")


def test_an_unknown_step_is_said_in_one_line(demo_run: Path) -> None:
    _, replay = replay_of(demo_run, 2)
    with pytest.raises(ArcviewError, match="no step nowhere"):
        replay.changes("nowhere")
