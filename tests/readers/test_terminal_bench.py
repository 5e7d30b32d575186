"""Trials of the classic Terminal-Bench: one stage, its tests, what its terminal showed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arcview.errors import BadInputError
from arcview.model.results import Outcome, Verdict
from arcview.model.run import Status
from arcview.readers.registry import find_run_reader, iter_runs, open_run
from arcview.session.import_run import write_run
from arcview.session.opened import OpenRun
from tests.readers.scb_run import stream, write
from tests.session.test_import_run import differences, faults

STAMP = "2026-01-01__10-00-00"
PANE = """\
root@0:/app# bash /tests/run-tests.sh; tmux wait -S done
============================= test session starts ==============================
collected 2 items

test_outputs.py::test_a PASSED                                           [ 50%]
test_outputs.py::test_b FAILED                                           [100%]

=================================== FAILURES ===================================
____________________________________ test_b ____________________________________
    def test_b():
>       assert 1 == 2
E       assert 1 == 2

test_outputs.py:4: AssertionError
=========================== short test summary info ============================
PASSED test_outputs.py::test_a
FAILED test_outputs.py::test_b - assert 1 == 2
========================= 1 failed, 1 passed in 0.10s ==========================
root@0:/app#
"""


def result(**more: object) -> dict[str, Any]:
    return {
        "id": "a1f3",
        "trial_name": f"adder.1-of-2.{STAMP}",
        "task_id": "adder",
        "instruction": "Add two numbers.",
        "is_resolved": False,
        "failure_mode": "unset",
        "parser_results": {"test_a": "passed", "test_b": "failed"},
        "recording_path": "x/sessions/agent.cast",
        "total_input_tokens": 10,
        "total_output_tokens": 2,
        "trial_started_at": "2026-01-01T10:00:00+00:00",
        "trial_ended_at": "2026-01-01T10:10:00+00:00",
        "agent_started_at": "2026-01-01T10:01:00+00:00",
        "agent_ended_at": "2026-01-01T10:06:00+00:00",
        "test_started_at": "2026-01-01T10:07:00+00:00",
        "test_ended_at": "2026-01-01T10:08:00+00:00",
        **more,
    }


def write_trial(root: Path, **more: object) -> Path:
    run = root / STAMP
    write(run / "results.json", {"id": "x", "results": [result()], "n_resolved": 0})
    write(run / "run_metadata.json", {"agent_name": "terminus", "model_name": "model-1"})
    trial = run / "adder" / f"adder.1-of-2.{STAMP}"
    write(trial / "results.json", result(**more))
    write(trial / "panes" / "post-test.txt", PANE)
    write(trial / "sessions" / "agent.log", "$ ls\n")
    return trial


def test_a_run_is_a_folder_of_its_trials(tmp_path: Path) -> None:
    trial = write_trial(tmp_path)
    assert list(iter_runs(tmp_path)) == [trial]
    assert find_run_reader(trial)[1].reason == "results.json with failure_mode and is_resolved"


def test_a_trial_is_one_stage_with_its_gate(tmp_path: Path) -> None:
    opened = open_run(write_trial(tmp_path))
    run = opened.run
    (stage,) = run.stages
    assert (run.run_id, run.chain.task_id, run.attempt) == ("terminal_bench-a1f3", "adder", "1")
    assert (run.agent, run.model) == ("terminus", "model-1")
    assert (stage.status, stage.duration_s) == (Status.COMPLETED, 300)
    assert opened.text(stage.spec_path or "") == "Add two numbers."
    gate = run.gates[0]
    assert (gate.recorded_verdict, gate.duration_s) == (Verdict.FAILED, 60)
    assert gate.log_paths == ("panes/post-test.txt", "sessions/agent.log")
    outcomes = {test.id: test.outcome for test in opened.gate_outcomes("1", None)}
    assert outcomes == {"test_a": Outcome.PASSED, "test_b": Outcome.FAILED}


def test_what_the_terminal_showed_of_a_test_is_its_message(tmp_path: Path) -> None:
    _, failed = open_run(write_trial(tmp_path)).gate_tests("1", None)
    assert "assert 1 == 2" in f"{failed.message} {failed.traceback}"


@pytest.mark.parametrize(
    ("word", "status", "detail"),
    [
        ("agent_timeout", Status.AGENT_TIMEOUT, "agent_timeout"),
        ("agent_installation_failed", Status.INFRASTRUCTURE_ERROR, "agent_installation_failed"),
        ("context_length_exceeded", Status.AGENT_ERROR, "context_length_exceeded"),
        ("test_timeout", Status.COMPLETED, None),
        ("something_new", Status.UNKNOWN, "something_new"),
    ],
)
def test_how_a_trial_ended(tmp_path: Path, word: str, status: Status, detail: str | None) -> None:
    run = open_run(write_trial(tmp_path, failure_mode=word)).run
    assert (run.status, run.status_detail) == (status, detail)


@pytest.mark.parametrize(("resolved", "status"), [(True, Status.COMPLETED), (None, Status.UNKNOWN)])
def test_without_a_word_for_it_a_graded_trial_came_to_its_end(
    tmp_path: Path, resolved: bool | None, status: Status
) -> None:
    run = open_run(write_trial(tmp_path, failure_mode=None, is_resolved=resolved)).run
    assert (run.status, run.status_detail) == (status, None)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("test_timeout", "the tests ran out of time"),
        ("parse_error", "the harness could not read what the tests printed"),
    ],
)
def test_tests_without_a_result_are_not_measured(tmp_path: Path, word: str, reason: str) -> None:
    trial = write_trial(tmp_path, failure_mode=word, parser_results=None, is_resolved=None)
    gate = open_run(trial).run.gates[0]
    assert (gate.unmeasured, gate.recorded_verdict) == (reason, None)


def test_the_log_stands_for_tests_that_the_harness_does_not_name(tmp_path: Path) -> None:
    gate = open_run(write_trial(tmp_path, parser_results=None)).run.gates[0]
    assert gate.other is not None
    assert (gate.other.passed, gate.other.failed) == (1, 1)
    assert gate.notes[0] == "the harness names no test: read from panes/post-test.txt"


def test_nothing_counted_is_unknown(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, total_input_tokens=0, total_output_tokens=0)
    assert open_run(trial).run.stages[0].usage is None


def test_a_killed_trial_is_interrupted(tmp_path: Path) -> None:
    trial = write_trial(tmp_path)
    (trial / "results.json").unlink()
    opened = open_run(trial)
    assert (opened.run.status, opened.run.chain.task_id) == (Status.INTERRUPTED, "adder")
    assert opened.run.gates[0].other is not None


def test_a_result_that_ends_early_is_a_problem(tmp_path: Path) -> None:
    trial = write_trial(tmp_path)
    (trial / "results.json").write_text('{"id": "a1', encoding="utf-8")
    opened = open_run(trial)
    assert opened.run.status is Status.INTERRUPTED
    assert [problem.where for problem in opened.problems()] == ["results.json"]


def test_a_session_among_the_logs_of_the_agent_is_shown(tmp_path: Path) -> None:
    trial = write_trial(tmp_path)
    write(trial / "agent-logs" / "stream.jsonl", stream("one", "two"))
    opened = open_run(trial)
    assert opened.trajectory(opened.run.stages[0].trajectories).step_count == 2


def test_results_of_others_are_not_taken(tmp_path: Path) -> None:
    write(tmp_path / "x" / "results.json", {"resolved": ["a"]})
    write(tmp_path / "y" / "sessions" / "a.txt", "x")
    assert list(iter_runs(tmp_path)) == []


def test_a_folder_without_any_of_its_files_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"expected results\.json"):
        open_run(tmp_path, layout="terminal_bench")


def test_an_imported_trial_is_the_same(tmp_path: Path) -> None:
    found, _ = differences(write_trial(tmp_path), tmp_path / "out")
    assert found == []
    assert faults(tmp_path / "out") == []


def test_an_imported_killed_trial_is_the_same(tmp_path: Path) -> None:
    trial = write_trial(tmp_path)
    (trial / "results.json").unlink()
    write_run(OpenRun.open(trial), tmp_path / "out")
    assert faults(tmp_path / "out") == []
