"""SWE-bench harness logs: what was graded, what kept it from being, what lies around it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from arcview.errors import BadInputError
from arcview.model.results import Outcome, Verdict
from arcview.model.run import Status
from arcview.model.states import PatchSource
from arcview.readers.registry import find_run_reader, iter_runs, open_run
from tests.readers.scb_run import stream, write

INSTANCE = "org__repo-1"
PATCH = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
LOGS = "formats/swe-bench-harness"


def graded(failed: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "patch_is_None": False,
        "patch_exists": True,
        "patch_successfully_applied": True,
        "resolved": not failed,
        "tests_status": {
            "FAIL_TO_PASS": {"success": ["t.py::a"], "failure": list(failed)},
            "PASS_TO_PASS": {"success": ["t.py::o"], "failure": []},
            "FAIL_TO_FAIL": {"success": [], "failure": []},
            "PASS_TO_FAIL": {"success": [], "failure": []},
        },
    }


def write_logs(root: Path, report: Mapping[str, object] | None, patch: str | None = PATCH) -> Path:
    folder = root / "logs" / "run_evaluation" / "run-7" / "org__model" / INSTANCE
    write(folder / "run_instance.log", "2026-01-01 10:00:00,000 - INFO - Running\n")
    if report is not None:
        write(folder / "report.json", report)
    if patch is not None:
        write(folder / "patch.diff", patch)
    return folder


# -- the recorded logs, counted in another way


def entries(file: Path) -> dict[str, Any]:
    found = json.loads(file.read_text(encoding="utf-8"))
    (inner,) = found.values() if "tests_status" not in found else [found]
    status: dict[str, Any] = inner["tests_status"]
    return status


def test_every_test_of_a_report_counts_once(cases: Path) -> None:
    files = sorted((cases / LOGS).rglob("report.json"))
    assert len(files) == 6
    for file in files:
        gate = open_run(file.parent).run.gates[0]
        status = entries(file)
        for key, counts in (("FAIL_TO_PASS", gate.f2p), ("PASS_TO_PASS", gate.p2p)):
            success, failure = set(status[key]["success"]), set(status[key]["failure"])
            assert counts is not None
            assert (counts.expected, counts.passed) == (
                len(success | failure),
                len(success - failure),
            )


def test_a_recorded_failure_has_the_message_of_the_log(cases: Path) -> None:
    (folder,) = (cases / LOGS).rglob("iterative__dvc_0.91.2_0.91.3")
    opened = open_run(folder)
    failing = [t for t in opened.gate_tests("1", "S1") if t.outcome is Outcome.FAILED]
    assert failing
    assert all(test.message or test.traceback for test in failing)


# -- small logs


def test_the_place_in_the_logs_names_model_and_run(tmp_path: Path) -> None:
    run = open_run(write_logs(tmp_path, {INSTANCE: graded()})).run
    assert (run.chain.task_id, run.model, run.attempt) == (INSTANCE, "org/model", "run-7")


def test_the_repository_before_is_not_known(tmp_path: Path) -> None:
    run = open_run(write_logs(tmp_path, {INSTANCE: graded()})).run
    start, end = run.states
    assert start.missing is not None
    assert "--base" in start.missing
    assert isinstance(end.source, PatchSource)
    assert run.status is Status.UNKNOWN


def test_a_flat_report_takes_its_instance_from_the_folder(tmp_path: Path) -> None:
    write(tmp_path / INSTANCE / "report.json", graded())
    run = open_run(tmp_path / INSTANCE).run
    assert run.chain.task_id == INSTANCE
    assert run.gates[0].recorded_verdict is Verdict.PASSED


def test_predictions_above_hold_the_patch(tmp_path: Path) -> None:
    folder = write_logs(tmp_path, {INSTANCE: graded()}, patch=None)
    record = {"model_name_or_path": "m", "model_patch": PATCH, "instance_id": INSTANCE}
    write(tmp_path / "preds.json", {INSTANCE: record})
    run = open_run(folder).run
    assert run.states[1].source == PatchSource("preds.json", "S0", PATCH)
    assert run.model == "org/model"


def test_predictions_that_say_null_are_said(tmp_path: Path) -> None:
    folder = write_logs(tmp_path, {INSTANCE: graded()}, patch=None)
    write(tmp_path / "preds.json", {INSTANCE: {"model_patch": None, "instance_id": INSTANCE}})
    assert open_run(folder).run.states[1].missing == "preds.json says that there is no patch"


def test_the_diff_in_the_log_stands_in_for_a_patch(tmp_path: Path) -> None:
    folder = write_logs(tmp_path, {INSTANCE: graded()}, patch=None)
    at = "2026-01-01 10:00:00,000 - INFO - "
    write(folder / "run_instance.log", f"{at}Git diff before:\n{PATCH}{at}Running\n")
    run = open_run(folder).run
    assert run.states[1].source == PatchSource("run_instance.log", "S0", PATCH)
    assert any("run_instance.log" in note for note in run.stages[0].notes)


def test_a_trajectory_folder_above_is_found(tmp_path: Path) -> None:
    folder = write_logs(tmp_path, {INSTANCE: graded()})
    write(tmp_path / "trajs" / f"{INSTANCE}.jsonl", stream("one", "two"))
    opened = open_run(folder)
    assert opened.trajectory(opened.run.stages[0].trajectories).step_count == 2
    assert all(opened.text(path) for path in opened.run.gates[0].log_paths)


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("2026-01-01 10:00:00,000 - INFO - >>>>> Patch Apply Failed:\nno", "could not be applied"),
        ("2026-01-01 10:00:00,000 - INFO - Test timed out after 60 seconds", "timed out"),
        ("Traceback\nDockerError: no space left", "error of the harness: DockerError: no space"),
        ("hello", "no report.json: the harness did not come to grading"),
    ],
)
def test_what_was_not_graded_is_not_measured(tmp_path: Path, log: str, reason: str) -> None:
    folder = write_logs(tmp_path, None)
    write(folder / "run_instance.log", log)
    gate = open_run(folder).run.gates[0]
    assert reason in (gate.unmeasured or "")
    assert (gate.f2p, gate.p2p) == (None, None)


def test_words_that_a_test_prints_are_not_the_harness(tmp_path: Path) -> None:
    folder = write_logs(tmp_path, {INSTANCE: graded()})
    write(folder / "test_output.txt", ">>>>> Tests Timed Out\nt.py::a PASSED\n1 passed\n")
    gate = open_run(folder).run.gates[0]
    assert not gate.timed_out
    assert gate.unmeasured is None


def test_a_report_without_tests_is_not_measured(tmp_path: Path) -> None:
    entry = {**graded(), "patch_successfully_applied": False, "resolved": False}
    del entry["tests_status"]
    gate = open_run(write_logs(tmp_path, {INSTANCE: entry})).run.gates[0]
    assert gate.unmeasured is not None
    assert gate.f2p is None


@pytest.mark.parametrize("infra", [True, "no space left on device"])
def test_a_failure_of_the_infrastructure_measures_nothing(tmp_path: Path, infra: object) -> None:
    entry = {**graded(), "patch_successfully_applied": False, "resolved": False}
    del entry["tests_status"]
    gate = open_run(write_logs(tmp_path, {INSTANCE: {**entry, "infra_failure": infra}})).run.gates[
        0
    ]
    reason = gate.unmeasured or ""
    assert reason.startswith("the harness reports a failure of its infrastructure")
    assert (": no space" in reason) == isinstance(infra, str)


def test_an_empty_report_is_a_problem_and_not_measured(tmp_path: Path) -> None:
    folder = write_logs(tmp_path, {INSTANCE: graded()})
    (folder / "report.json").write_text("", encoding="utf-8")
    opened = open_run(folder, layout="swe_bench")
    assert (opened.run.gates[0].unmeasured or "").startswith("report.json is damaged")
    assert [problem.where for problem in opened.problems()] == ["report.json"]


def test_a_log_alone_is_recognised(tmp_path: Path) -> None:
    folder = write_logs(tmp_path, None)
    detection = find_run_reader(folder)[1]
    assert detection.reader == "swe_bench"
    assert detection.reason == "run_instance.log of a harness that wrote no report.json"


@pytest.mark.parametrize("begun", ["", "{}", '{"x__y-1": {"patch_is_No'])
def test_a_report_that_was_only_begun_is_none(tmp_path: Path, begun: str) -> None:
    folder = write_logs(tmp_path, {INSTANCE: graded()})
    (folder / "report.json").write_text(begun, encoding="utf-8")
    assert find_run_reader(folder)[1].reader == "swe_bench"
    assert open_run(folder).run.gates[0].unmeasured


def test_reports_of_other_programs_are_not_taken(tmp_path: Path) -> None:
    write(tmp_path / "x" / "report.json", {"summary": {}, "tests": []})
    write(tmp_path / "y" / "report.json", {"a": graded(), "b": graded()})
    assert list(iter_runs(tmp_path)) == []


def test_a_folder_without_any_of_its_files_is_one_clear_line(tmp_path: Path) -> None:
    write(tmp_path / "x" / "notes.md", "x")
    with pytest.raises(BadInputError, match=r"expected report\.json, run_instance\.log"):
        open_run(tmp_path / "x", layout="swe_bench")
