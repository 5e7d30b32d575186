"""Folders that SWE-agent and mini-swe-agent leave of one instance."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arcview.errors import BadInputError
from arcview.model.results import Verdict
from arcview.model.states import PatchSource
from arcview.readers.registry import find_run_reader, iter_runs, open_run
from tests.readers.scb_run import stream, write
from tests.readers.test_lone_file import PATCH, mini
from tests.readers.test_swe_bench import graded

INSTANCE = "org__repo-1"


def write_folder(root: Path, **info: object) -> Path:
    return write(root / INSTANCE / f"{INSTANCE}.traj.json", mini(**info)).parent


def test_the_folders_of_a_recorded_batch_are_its_runs(cases: Path) -> None:
    batch = cases / "formats" / "mini-swe-agent" / "v1-batch"
    files = sorted(batch.glob("*/*.traj.json"))
    assert list(iter_runs(batch)) == [file.parent for file in files]
    for file in files:
        info = json.loads(file.read_text(encoding="utf-8"))["info"]
        opened = open_run(file.parent)
        (stage,) = opened.run.stages
        assert stage.usage is not None
        assert stage.usage.cost_usd == info["model_stats"]["instance_cost"]
        assert opened.trajectory(stage.trajectories).step_count == info["model_stats"]["api_calls"]


def test_the_patch_of_the_session_is_the_state_after_it(tmp_path: Path) -> None:
    run = open_run(write_folder(tmp_path, submission=PATCH)).run
    assert run.chain.task_id == INSTANCE
    assert run.states[1].source == PatchSource(f"{INSTANCE}.traj.json", "S0", PATCH)


def test_a_patch_beside_the_session_is_taken_where_it_holds_none(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    write(folder / f"{INSTANCE}.patch", PATCH)
    assert open_run(folder).run.states[1].source == PatchSource(f"{INSTANCE}.patch", "S0")


def test_predictions_above_are_taken_where_there_is_no_patch(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    write(tmp_path / "preds.json", {INSTANCE: {"model_patch": PATCH, "instance_id": INSTANCE}})
    assert open_run(folder).run.states[1].source == PatchSource("preds.json", "S0", PATCH)


def test_no_patch_anywhere_is_a_missing_state(tmp_path: Path) -> None:
    run = open_run(write_folder(tmp_path)).run
    assert run.states[1].missing is not None


def test_the_grading_above_is_the_gate(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, submission=PATCH)
    logs = tmp_path / "logs" / "run_evaluation" / "r" / "m" / INSTANCE
    write(logs / "report.json", {INSTANCE: graded()})
    opened = open_run(folder)
    (gate,) = opened.run.gates
    assert gate.recorded_verdict is Verdict.PASSED
    assert all(opened.text(path) for path in gate.log_paths)
    assert opened.trajectory(opened.run.stages[0].trajectories).step_count == 1


def test_a_change_of_the_grading_is_seen(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, submission=PATCH)
    logs = tmp_path / "logs" / "run_evaluation" / "r" / "m" / INSTANCE
    report = write(logs / "report.json", {INSTANCE: graded()})
    inputs = open_run(folder).inputs()
    assert report in inputs
    assert folder / f"{INSTANCE}.traj.json" in inputs
    assert all(path.exists() for path in inputs)


def test_a_session_of_another_agent_is_no_such_folder(tmp_path: Path) -> None:
    write(tmp_path / "x" / "x.traj", stream("one"))
    assert list(iter_runs(tmp_path)) == [tmp_path / "x" / "x.traj"]


def test_the_folder_is_recognised_by_the_session_called_like_it(tmp_path: Path) -> None:
    detection = find_run_reader(write_folder(tmp_path))[1]
    assert detection.reason == f"{INSTANCE}.traj.json (mini_swe_agent)"


def test_an_empty_session_is_a_run_that_cannot_be_read(tmp_path: Path) -> None:
    """A kill while the file is written anew leaves nothing in it; the batch had that instance."""
    file = write(tmp_path / "o__r-1" / "o__r-1.traj.json", "")
    assert list(iter_runs(tmp_path)) == [file.parent]
    with pytest.raises(BadInputError, match="the file is empty"):
        open_run(file.parent)
