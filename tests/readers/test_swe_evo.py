"""SWE-EVO inference folders: the client's closing record, its patch, the grading above."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arcview.errors import BadInputError
from arcview.model.results import Verdict
from arcview.model.run import Status
from arcview.readers.registry import find_run_reader, open_run
from tests.readers.scb_run import stream, write
from tests.readers.test_swe_bench import graded

INSTANCE = "org__repo_1.0_1.1"
RECORDED = "formats/swe-evo-infer/runs/iterative__dvc_1.1.0_1.1.1"


def result(**more: object) -> dict[str, Any]:
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 1500,
        "num_turns": 4,
        "result": "done\nmore",
        "session_id": "s",
        "total_cost_usd": 0.5,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 4, "output_tokens": 2},
        "modelUsage": {"model-1": {}},
        **more,
    }


def write_instance(root: Path, **more: object) -> Path:
    folder = root / "runs" / INSTANCE
    write(folder / "cli_result.json", result(**more))
    write(folder / "patch.diff", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    return folder


def test_the_recorded_figures_are_those_of_the_closing_record(cases: Path) -> None:
    folder = cases / RECORDED
    closing = json.loads((folder / "cli_result.json").read_text(encoding="utf-8"))
    run = open_run(folder).run
    stage = run.stages[0]
    assert stage.usage is not None
    assert stage.usage.cost_usd == closing["total_cost_usd"]
    models = closing["modelUsage"].values()
    assert stage.usage.output_tokens == sum(model["outputTokens"] for model in models)
    sent = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    assert stage.usage.input_tokens == sum(model[name] for model in models for name in sent)
    own = f"{closing['usage']['output_tokens']:,} produced"
    assert any(note.endswith(own) for note in stage.notes)
    assert stage.duration_s == closing["duration_ms"] / 1000
    assert run.model == next(iter(closing["modelUsage"]))


def test_a_client_that_ended_well_has_no_steps_to_show(tmp_path: Path) -> None:
    opened = open_run(write_instance(tmp_path))
    assert opened.run.status is Status.COMPLETED
    assert opened.run.stages[0].trajectories == ()
    assert opened.run.stages[0].reported_steps == 4


@pytest.mark.parametrize(
    ("more", "status", "detail"),
    [
        ({"is_error": True}, Status.AGENT_ERROR, "done"),
        ({"subtype": "error_max_turns"}, Status.INTERRUPTED, "stopped at the turn limit"),
        ({"subtype": "something new"}, Status.UNKNOWN, "something new"),
    ],
)
def test_how_a_client_ended(
    tmp_path: Path, more: dict[str, object], status: Status, detail: str
) -> None:
    run = open_run(write_instance(tmp_path, **more)).run
    assert (run.status, run.status_detail) == (status, detail)


def test_a_session_put_beside_the_result_is_shown(tmp_path: Path) -> None:
    folder = write_instance(tmp_path)
    write(folder / "session.jsonl", stream("one", "two"))
    opened = open_run(folder)
    assert opened.trajectory(opened.run.stages[0].trajectories).step_count == 2


def test_the_output_of_the_client_is_no_session(tmp_path: Path) -> None:
    folder = write_instance(tmp_path)
    write(folder / "cli_stdout.log", "warning: x\n" + json.dumps(result()) + "\n")
    assert open_run(folder).run.stages[0].trajectories == ()


def test_the_one_grading_above_is_the_gate(tmp_path: Path) -> None:
    folder = write_instance(tmp_path)
    logs = tmp_path / "logs" / "run_evaluation" / "e" / "m" / INSTANCE
    write(logs / "report.json", {INSTANCE: graded()})
    gate = open_run(folder).run.gates[0]
    assert gate.recorded_verdict is Verdict.PASSED
    assert gate.log_paths == (f"logs/run_evaluation/e/m/{INSTANCE}/report.json",)


def test_of_several_gradings_none_is_taken(tmp_path: Path) -> None:
    folder = write_instance(tmp_path)
    for run in ("e1", "e2"):
        logs = tmp_path / "logs" / "run_evaluation" / run / "m" / INSTANCE
        write(logs / "report.json", {INSTANCE: graded()})
    reason = "graded 2 times (e1, e2): open the one that is meant"
    assert open_run(folder).run.gates[0].unmeasured == reason


def test_nothing_graded_is_not_measured(tmp_path: Path) -> None:
    gate = open_run(write_instance(tmp_path)).run.gates[0]
    assert (gate.unmeasured or "").startswith("no gate result is recorded")


def test_a_closing_record_alone_is_not_this_layout(tmp_path: Path) -> None:
    write(tmp_path / "x" / "cli_result.json", result())
    write(tmp_path / "x" / "preds.json", {INSTANCE: {"model_patch": "x"}})
    assert find_run_reader(tmp_path / "x")[0].id == "swe_evo"
    (tmp_path / "x" / "preds.json").unlink()
    assert find_run_reader(tmp_path / "x" / "cli_result.json")[0].id != "swe_evo"


def test_a_record_that_ends_early_is_a_problem_and_no_end(tmp_path: Path) -> None:
    folder = write_instance(tmp_path)
    (folder / "cli_result.json").write_text('{"type": "resu', encoding="utf-8")
    assert find_run_reader(folder)[0].id == "swe_evo"
    opened = open_run(folder)
    assert opened.run.status is Status.UNKNOWN
    assert [problem.where for problem in opened.problems()] == ["cli_result.json"]


def test_a_folder_without_any_of_its_files_is_one_clear_line(tmp_path: Path) -> None:
    write(tmp_path / "x" / "notes.md", "x")
    with pytest.raises(BadInputError, match=r"expected cli_result\.json, patch\.diff"):
        open_run(tmp_path / "x", layout="swe_evo")
