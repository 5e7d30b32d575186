"""Whole folders of SlopCodeBench runs, and runs that keep less than the benchmark writes."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from arcview.model.run import Status
from arcview.readers.registry import find_run_reader, iter_runs, open_run
from tests.readers.scb_run import evaluation, inference, write, write_run


def exec_stream() -> str:
    """A run of Codex as the benchmark keeps it."""
    command = {"id": "item_0", "type": "command_execution", "command": "ls", "exit_code": 0}
    records = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.started", "item": {**command, "status": "in_progress", "exit_code": None}},
        {"type": "item.completed", "item": {**command, "status": "completed"}},
        {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 2}},
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


def pack(folder: Path, name: str, text: str) -> None:
    with tarfile.open(folder / "agent.tar.gz", "w:gz") as archive:
        data = text.encode()
        member = tarfile.TarInfo(f"agent/{name}")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as `run_agent` leaves it: files of the whole run beside several problems."""
    root = tmp_path / "model" / "claude_code-2.0_just-solve_none_20260101T1000"
    for name in ("config.yaml", "environment.yaml", "run_agent.log", "checkpoint_results.jsonl"):
        write(root / name, "a: 1\n")
    write(root / "result.json", {"mean": {"cost": 1.0}, "pass_rates": {}})
    for name in ("b-problem", "a-problem", "c-problem"):
        write_run(root / name)
    return root


def test_every_problem_of_a_run_folder_is_a_run(folder: Path) -> None:
    assert [run.name for run in iter_runs(folder)] == ["a-problem", "b-problem", "c-problem"]


def test_the_folders_of_several_runs_are_listed_through(folder: Path) -> None:
    write_run(folder.parent.parent / "other" / "run" / "d-problem")
    found = [run.name for run in iter_runs(folder.parent.parent)]
    assert found == ["a-problem", "b-problem", "c-problem", "d-problem"]


def test_a_run_without_its_problem_file_has_the_stages_that_run_info_names(tmp_path: Path) -> None:
    run = write_run(tmp_path / "demo", stages=1, declared=3)
    (run / "problem.yaml").unlink()
    opened = open_run(run)
    assert [stage.status for stage in opened.run.stages] == [
        Status.COMPLETED,
        Status.NOT_STARTED,
        Status.NOT_STARTED,
    ]
    assert opened.run.chain.task_id == "demo"
    assert "problem.yaml" in {problem.where for problem in opened.problems()}


def test_results_alone_are_recognised_and_name_the_task(tmp_path: Path) -> None:
    tests = {"checkpoint_1-Core": {"passed": ["test_a"], "failed": []}}
    results = evaluation(tests, problem_name="adder", checkpoint_name="checkpoint_1")
    write(tmp_path / "x" / "checkpoint_1" / "evaluation.json", results)
    reader, detection = find_run_reader(tmp_path / "x")
    assert (reader.id, detection.reason) == (
        "slop_code_bench",
        "checkpoint_1/evaluation.json is one of its results",
    )
    run = open_run(tmp_path / "x").run
    assert run.chain.task_id == "adder"
    counts = run.gates[0].f2p
    assert counts is not None
    assert (counts.expected, counts.passed) == (1, 1)


def test_a_closing_record_alone_is_recognised(tmp_path: Path) -> None:
    write(tmp_path / "checkpoint_1" / "inference_result.json", inference(snapshot_dir="snapshot"))
    assert find_run_reader(tmp_path)[0].id == "slop_code_bench"


def test_a_foreign_result_of_that_name_is_not_taken(tmp_path: Path) -> None:
    write(tmp_path / "checkpoint_1" / "evaluation.json", {"loss": 0.5})
    assert list(iter_runs(tmp_path)) == []


def test_the_packed_log_of_another_agent_is_read(tmp_path: Path) -> None:
    run = write_run(tmp_path / "demo", stages=1)
    (run / "checkpoint_1" / "agent" / "stdout.jsonl").unlink()
    (run / "checkpoint_1" / "agent").rmdir()
    pack(run / "checkpoint_1", "stdout.jsonl", exec_stream())
    opened = open_run(run)
    trajectory = opened.trajectory(opened.run.stages[0].trajectories)
    assert (trajectory.format, trajectory.tool_call_count) == ("codex", 1)


def test_a_gate_that_could_not_run_is_not_measured(tmp_path: Path) -> None:
    run = write_run(tmp_path / "demo", stages=1)
    lost = evaluation({}, pytest_exit_code=126, infrastructure_failure=True)
    write(run / "checkpoint_1" / "evaluation.json", lost)
    gate = open_run(run).run.gates[0]
    assert gate.unmeasured is not None
    assert gate.f2p is None
