"""FeatureBench attempts: graded or not, with the harness's rate and that over the task's list."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from arcview.errors import UnknownLayoutError
from arcview.model.results import Outcome, Verdict
from arcview.model.run import Status
from arcview.model.states import PatchSource
from arcview.readers.registry import find_run_reader, iter_runs, open_run
from tests.readers.scb_run import stream, write

INSTANCE = "demo__adder.abc.test_add.0f1e.lv1"
PATCH = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
SECRET = "sk-" + "0123456789abcdef" * 2


def graded(
    f2p: Sequence[str] = ("t.py::a",), failed: Sequence[str] = (), p2p: Sequence[str] = ("t.py::o",)
) -> dict[str, Any]:
    status = {
        "FAIL_TO_PASS": {"success": list(f2p), "failure": list(failed)},
        "PASS_TO_PASS": {"success": list(p2p), "failure": []},
    }
    return {
        INSTANCE: {
            "n_attempt": 1,
            "patch_is_None": False,
            "patch_exists": True,
            "patch_successfully_applied": True,
            "resolved": not failed,
            "pass_rate": 0.5 if failed else 1.0,
            "tests_status": status,
        }
    }


def line(**more: object) -> str:
    record = {
        "instance_id": INSTANCE,
        "n_attempt": 1,
        "model_patch": PATCH,
        "agent": "claude_code",
        "model": "model-1",
        "task_metadata": {"repo": "demo/adder"},
        "success": True,
        "error": None,
        **more,
    }
    return json.dumps(record) + "\n"


def write_attempt(
    root: Path,
    report: Mapping[str, object] | None,
    output: str | None = None,
    instance: str = INSTANCE,
) -> Path:
    metadata = {
        "agent": "claude_code",
        "model": "model-1",
        "api_key": SECRET,
        "base_url": "http://h",
    }
    write(root / "run_metadata.json", metadata)
    write(root / "output.jsonl", line() if output is None else output)
    attempt = root / "run_outputs" / instance / "attempt-1"
    log = f"2026-01-05 10:00:00,5 - x\nexport KEY={SECRET}\n2026-01-05 10:02:00,5 - y\n"
    write(attempt / "infer.log", log)
    write(attempt / "patch.diff", PATCH)
    write(attempt / "claude_code_stream_output.jsonl", stream("one"))
    if report is not None:
        place = root / "eval_outputs" / instance / "attempt-1"
        write(place / "report.json", report)
        write(place / "run_instance.log", f"key {SECRET}\n")
        write(place / "test_output.txt", "t.py::a PASSED\n")
    return attempt


# -- the recorded run, counted in another way


def test_every_test_of_a_report_counts_once(cases: Path) -> None:
    root = cases / "formats/featurebench/generated/runs/2026-01-05__10-20-30"
    for file in sorted(root.glob("eval_outputs/*/*/report.json")):
        place = file.parent.relative_to(root / "eval_outputs")
        ((_, entry),) = json.loads(file.read_text()).items()
        gate = open_run(root / "run_outputs" / place).run.gates[0]
        for key, counts in (("FAIL_TO_PASS", gate.f2p), ("PASS_TO_PASS", gate.p2p)):
            listed = entry["tests_status"][key]
            total = len(listed["success"]) + len(listed["failure"])
            assert (0 if counts is None else counts.expected) == total
            assert (0 if counts is None else counts.passed) == len(listed["success"])


def test_every_attempt_is_a_run(cases: Path) -> None:
    root = cases / "formats/featurebench/generated/runs/2026-01-05__10-20-30"
    assert list(iter_runs(root)) == sorted(root.glob("run_outputs/*/attempt-*"))


# -- small runs


def test_an_attempt_has_its_patch_agent_and_steps(tmp_path: Path) -> None:
    opened = open_run(write_attempt(tmp_path, graded()))
    run = opened.run
    assert (run.agent, run.model, run.attempt) == ("claude_code", "model-1", "1")
    assert isinstance(run.states[1].source, PatchSource)
    assert run.states[0].source is None
    assert opened.trajectory(run.stages[0].trajectories).step_count == 1
    assert run.stages[0].duration_s == 120.0


def test_both_rates_are_noted_where_the_task_names_its_tests(tmp_path: Path) -> None:
    task = {"FAIL_TO_PASS": json.dumps(["t.py::a", "t.py::b", "t.py::c"])}
    attempt = write_attempt(
        tmp_path, graded(failed=["t.py::b"]), line(task_metadata={"repo": "r", **task})
    )
    opened = open_run(attempt)
    gate = opened.run.gates[0]
    assert "F2P as reported: 1 of 2, pass_rate 0.5" in gate.notes
    assert "F2P over the task's own list: 1 of 3" in gate.notes
    assert gate.f2p is not None
    assert (gate.f2p.expected, gate.f2p.missing) == (3, 1)
    outcomes = {test.id: test.outcome for test in opened.gate_tests("1", "S1")}
    assert outcomes["t.py::c"] is Outcome.MISSING


def test_a_list_of_files_adds_no_tests(tmp_path: Path) -> None:
    output = line(task_metadata={"FAIL_TO_PASS": ["t.py", "u.py"]})
    gate = open_run(write_attempt(tmp_path, graded(), output)).run.gates[0]
    assert "the task lists 2 F2P files, 1 of them have results" in gate.notes
    assert gate.f2p is not None
    assert gate.f2p.expected == 1


def test_without_a_list_the_second_rate_is_not_known(tmp_path: Path) -> None:
    gate = open_run(write_attempt(tmp_path, graded())).run.gates[0]
    expected = "F2P over the task's own list: not known, the run does not hold the list"
    assert expected in gate.notes


def test_no_result_at_all_is_said_so(tmp_path: Path) -> None:
    gate = open_run(write_attempt(tmp_path, graded(f2p=[]))).run.gates[0]
    assert "F2P as reported: no test has a result, pass_rate 1" in gate.notes


def test_marks_of_newer_versions_beside_the_instance_are_passed_over(tmp_path: Path) -> None:
    marks = {"eval_completed": True, "eval_completed_at": "2026-01-01T10:00:00"}
    gate = open_run(write_attempt(tmp_path, {**marks, **graded()})).run.gates[0]
    assert gate.recorded_verdict is Verdict.PASSED


def test_p2p_without_tests_is_not_measured(tmp_path: Path) -> None:
    gate = open_run(write_attempt(tmp_path, graded(p2p=[]))).run.gates[0]
    assert gate.p2p is None
    assert "P2P is not measured: none is reported" in gate.notes


def test_an_attempt_that_was_not_graded_is_not_measured(tmp_path: Path) -> None:
    gate = open_run(write_attempt(tmp_path, None)).run.gates[0]
    assert gate.unmeasured == "no eval_outputs/…/report.json: not graded"
    assert (gate.f2p, gate.p2p) == (None, None)


def test_a_damaged_report_is_a_problem_and_not_measured(tmp_path: Path) -> None:
    attempt = write_attempt(tmp_path, graded())
    report = tmp_path / "eval_outputs" / INSTANCE / "attempt-1" / "report.json"
    report.write_text('{"a": ', encoding="utf-8")
    opened = open_run(attempt)
    assert (opened.run.gates[0].unmeasured or "").startswith("report.json is damaged")
    assert opened.problems()[0].where.endswith("report.json")


@pytest.mark.parametrize(
    ("more", "status", "detail"),
    [
        ({}, Status.COMPLETED, None),
        (
            {"success": False, "error": "Agent timed out after 7200s\nmore"},
            Status.AGENT_TIMEOUT,
            "Agent timed out after 7200s",
        ),
        ({"success": False, "error": "boom"}, Status.AGENT_ERROR, "boom"),
        (
            {"success": False},
            Status.AGENT_ERROR,
            "the harness records no success and no error",
        ),
        (
            {"instance_id": "another"},
            Status.INTERRUPTED,
            "output.jsonl has no line for the attempt",
        ),
    ],
)
def test_how_an_attempt_ended(
    tmp_path: Path, more: dict[str, object], status: Status, detail: str | None
) -> None:
    run = open_run(write_attempt(tmp_path, graded(), line(**more))).run
    assert (run.status, run.status_detail) == (status, detail)


def test_the_last_record_of_an_attempt_counts(tmp_path: Path) -> None:
    output = line(success=False, error="first try") + line()
    assert open_run(write_attempt(tmp_path, graded(), output)).run.status is Status.COMPLETED


def test_a_torn_line_is_a_problem_and_the_rest_is_read(tmp_path: Path) -> None:
    opened = open_run(write_attempt(tmp_path, graded(), line() + '{"instance_id": "de'))
    assert [problem.where for problem in opened.problems()] == ["output.jsonl: line 2"]
    assert opened.run.status is Status.COMPLETED


def test_a_key_in_the_files_is_never_shown(tmp_path: Path) -> None:
    opened = open_run(write_attempt(tmp_path, graded()))
    logs = [opened.text(path) for path in opened.run.gates[0].log_paths]
    assert any("key " in log for log in logs)
    shown = repr((opened.run, opened.problems(), opened.gate_tests("1", "S1"), logs))
    assert SECRET not in shown
    assert SECRET not in opened.text(f"run_outputs/{INSTANCE}/attempt-1/infer.log")


def test_a_grading_without_its_attempt_is_a_run_of_its_own(tmp_path: Path) -> None:
    write_attempt(tmp_path, graded())
    (tmp_path / "run_outputs").rename(tmp_path / "elsewhere")
    place = tmp_path / "eval_outputs" / INSTANCE / "attempt-1"
    assert find_run_reader(place)[0].id == "feature_bench"
    assert open_run(place).run.gates[0].recorded_verdict is Verdict.PASSED


def test_a_grading_beside_its_attempt_is_no_second_run(tmp_path: Path) -> None:
    attempt = write_attempt(tmp_path, graded())
    assert list(iter_runs(tmp_path)) == [attempt]


def test_a_grading_that_is_opened_itself_names_its_attempt(tmp_path: Path) -> None:
    attempt = write_attempt(tmp_path, graded())
    with pytest.raises(UnknownLayoutError, match=f"open the attempt itself: {attempt}"):
        find_run_reader(tmp_path / "eval_outputs" / INSTANCE / "attempt-1")
