"""Harbor trials: a stage per step, what stopped the chain, whose fault an error is."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from arcview.errors import BadInputError
from arcview.model.results import Outcome, Verdict
from arcview.model.run import Status
from arcview.model.states import FolderSource, Provenance
from arcview.readers.registry import OpenedRun, find_run_reader, iter_runs, open_run
from tests.readers.harbor_trial import NAME, ctrf, error, session, step, write_trial
from tests.readers.scb_run import write

JOB = "formats/harbor-job/generated-multi-step/demo-chain"


@pytest.fixture(scope="module")
def job(cases: Path) -> Path:
    return cases / JOB


def trials(job: Path) -> list[Path]:
    return sorted(path.parent for path in job.glob("*__*/result.json"))


def result_of(trial: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((trial / "result.json").read_text(encoding="utf-8"))
    return found


def statuses(opened: OpenedRun) -> list[Status]:
    return [stage.status for stage in opened.run.stages]


# -- the recorded job, counted in another way


def test_a_job_is_a_folder_of_its_trials(job: Path) -> None:
    assert list(iter_runs(job)) == trials(job)


def test_every_test_of_a_report_counts_once(job: Path) -> None:
    for trial in trials(job):
        opened = open_run(trial)
        for entry, gate in zip(result_of(trial)["step_results"], opened.run.gates, strict=True):
            report = trial / "steps" / entry["step_name"] / "verifier" / "ctrf.json"
            tests = json.loads(report.read_text())["results"]["tests"]
            if not tests:  # nothing could be collected
                continue
            words = Counter(test["status"] for test in tests)
            assert gate.other is not None
            assert (gate.other.expected, gate.other.passed, gate.other.failed) == (
                len(tests),
                words["passed"],
                words["failed"],
            )


def test_stages_are_the_steps_in_the_order_of_the_result(job: Path) -> None:
    for trial in trials(job):
        names = [entry["step_name"] for entry in result_of(trial)["step_results"]]
        assert [stage.title for stage in open_run(trial).run.stages][: len(names)] == names


def test_tokens_of_a_stage_are_those_of_the_result(job: Path) -> None:
    for trial in trials(job):
        stages = open_run(trial).run.stages
        for entry, stage in zip(result_of(trial)["step_results"], stages, strict=False):
            used = entry["agent_result"] or {}
            usage = stage.usage
            assert (usage and usage.input_tokens) == (used.get("n_input_tokens") or None)


def test_a_gated_stop_leaves_a_stage_that_never_started(job: Path) -> None:
    (trial,) = job.glob("chain-gated__*")
    opened = open_run(trial)
    assert statuses(opened) == [Status.COMPLETED, Status.COMPLETED, Status.NOT_STARTED]
    last = opened.run.stages[-1]
    assert last.status_detail is not None
    assert "aborting remaining steps" in last.status_detail
    assert opened.run.gates[-1].gate == "2"


def test_a_crash_of_the_agent_does_not_end_the_chain(job: Path) -> None:
    (trial,) = job.glob("chain-crash__*")
    opened = open_run(trial)
    assert statuses(opened) == [Status.COMPLETED, Status.AGENT_ERROR, Status.COMPLETED]
    assert opened.run.stages[1].trajectories == ()
    recorded = result_of(trial)["step_results"][1]["exception_info"]
    assert (opened.run.stages[1].status_detail or "").startswith(recorded["exception_type"])


def test_a_collection_error_is_an_error_of_the_gate_with_its_reason(job: Path) -> None:
    (trial,) = job.glob("chain-crash__*")
    opened = open_run(trial)
    (test,) = opened.gate_tests("2", "S2")
    assert test.outcome is Outcome.ERROR
    assert "ImportError" in f"{test.message} {test.traceback}"


def test_instructions_come_from_the_task_beside_the_job(job: Path) -> None:
    (trial,) = job.glob("chain-ok__*")
    opened = open_run(trial)
    for stage in opened.run.stages:
        assert stage.spec_path is not None
        task = job.parent / "tasks" / "chain-ok" / "steps" / (stage.title or "")
        assert opened.text(stage.spec_path) == (task / "instruction.md").read_text()


# -- small trials


@pytest.mark.parametrize("named", ["tasks/adder", "/home/somebody/tasks/adder", "/x/adder"])
def test_the_task_is_found_beside_the_job(tmp_path: Path, named: str) -> None:
    """A job that was copied from another machine names that machine's folders."""
    config = {"trial_name": NAME, "task": {"path": named}, "agent": {"name": "tester"}}
    trial = write_trial(tmp_path / "jobs" / "today", [step("one")], config=config)
    place = tmp_path / ("adder" if named == "/x/adder" else "tasks/adder")
    write(place / "task.toml", '[task]\nname = "demo/adder"\n[[steps]]\nname = "one"\n')
    write(place / "steps" / "one" / "instruction.md", "Add two numbers.\n")
    opened = open_run(trial)
    assert opened.text(opened.run.stages[0].spec_path or "") == "Add two numbers.\n"


def test_rewards_stand_for_tests_where_there_is_no_report(tmp_path: Path) -> None:
    entry = step("one", verifier_result={"rewards": {"style": 0.5, "tests": 1.0}})
    trial = write_trial(tmp_path, [entry])
    (trial / "steps" / "one" / "verifier" / "ctrf.json").unlink()
    opened = open_run(trial)
    gate = opened.run.gates[0]
    outcomes = {test.id: test.outcome for test in opened.gate_tests("1", "S1")}
    assert outcomes == {"style": Outcome.FAILED, "tests": Outcome.PASSED}
    assert any(note.startswith("no test report was found") for note in gate.notes)


@pytest.mark.parametrize(
    ("reward", "verdict"), [(1.0, Verdict.PASSED), (0.0, Verdict.FAILED), (0.5, None)]
)
def test_rewards_stand_beside_a_report(
    tmp_path: Path, reward: float, verdict: Verdict | None
) -> None:
    gate = open_run(write_trial(tmp_path, [step("one", reward)])).run.gates[0]
    assert f"rewards: reward {reward:g}" in gate.notes
    assert gate.recorded_verdict is verdict


def test_a_verifier_that_left_nothing_is_not_measured(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [step("one", None)])
    (trial / "steps" / "one" / "verifier" / "ctrf.json").unlink()
    gate = open_run(trial).run.gates[0]
    assert gate.unmeasured == "the verifier left neither a reward nor a report"
    assert gate.other is None


def test_a_time_out_of_the_verifier_is_not_the_agents(tmp_path: Path) -> None:
    entry = step("one", None, **error("VerifierTimeoutError", "after 60 s"))
    trial = write_trial(tmp_path, [entry])
    (trial / "steps" / "one" / "verifier" / "ctrf.json").unlink()
    opened = open_run(trial)
    assert statuses(opened) == [Status.COMPLETED]
    gate = opened.run.gates[0]
    assert (gate.timed_out, gate.unmeasured) == (True, "VerifierTimeoutError: after 60 s")


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("AgentTimeoutError", Status.AGENT_TIMEOUT),
        ("EnvironmentStartTimeoutError", Status.INFRASTRUCTURE_ERROR),
        ("CancelledError", Status.INTERRUPTED),
        ("NonZeroAgentExitCodeError", Status.AGENT_ERROR),
    ],
)
def test_an_error_says_whose_fault_it_is(tmp_path: Path, kind: str, status: Status) -> None:
    opened = open_run(write_trial(tmp_path, [step("one", **error(kind, "line 1\nline 2"))]))
    stage = opened.run.stages[0]
    assert (stage.status, stage.status_detail) == (status, f"{kind}: line 1")


def test_an_agent_that_never_began_is_not_to_blame(tmp_path: Path) -> None:
    entry = step("one", **error("SomethingError"), agent_execution=None)
    opened = open_run(write_trial(tmp_path, [entry]))
    assert statuses(opened) == [Status.INFRASTRUCTURE_ERROR]


def test_order_is_that_of_the_result_and_not_of_the_folders(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [step("b second"), step("a first")])
    assert [s.title for s in open_run(trial).run.stages] == ["b second", "a first"]


def test_a_step_name_that_leaves_the_trial_is_left_out(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [step("one")])
    result = result_of(trial)
    result["step_results"].append(step("../../x"))
    write(trial / "result.json", result)
    opened = open_run(trial)
    assert [stage.title for stage in opened.run.stages] == ["one"]
    assert any("no folder can be called" in problem.what for problem in opened.problems())


@pytest.mark.parametrize("name", ["Ärger & Spaß", "step: two", "(3) last", "_x", "a.b"])
def test_a_step_may_be_called_anything_that_a_folder_can(tmp_path: Path, name: str) -> None:
    opened = open_run(write_trial(tmp_path, [step("one"), step(name)]))
    assert [stage.title for stage in opened.run.stages] == ["one", name]
    assert opened.trajectory(opened.run.stages[1].trajectories).step_count == 1
    assert opened.problems() == ()


def test_a_folder_that_is_a_link_elsewhere_is_said(tmp_path: Path) -> None:
    trial = write_trial(tmp_path / "job", [step("one")])
    agent = trial / "steps" / "one" / "agent"
    agent.rename(tmp_path / "elsewhere")
    agent.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    opened = open_run(trial)
    assert opened.run.stages[0].trajectories == ()
    (problem,) = opened.problems()
    assert problem.where == "steps/one/agent"
    assert "a link leads out of its folder" in problem.what


def test_reports_of_several_parts_are_all_counted(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [step("one")])
    folder = trial / "steps" / "one" / "verifier"
    (folder / "ctrf.json").unlink()
    write(folder / "ctrf_black.json", ctrf({"test_a": "passed"}))
    write(folder / "ctrf_ruff.json", ctrf({"test_b": "failed"}))
    opened = open_run(trial)
    gate = opened.run.gates[0]
    assert {test.id: test.outcome for test in opened.gate_tests("1", "S1")} == {
        "test_a": Outcome.PASSED,
        "test_b": Outcome.FAILED,
    }
    assert "tests of 2 reports: ctrf_black.json, ctrf_ruff.json" in gate.notes


def test_a_test_of_several_reports_is_one_for_each(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [step("one")])
    folder = trial / "steps" / "one" / "verifier"
    (folder / "ctrf.json").unlink()
    write(folder / "ctrf_black.json", ctrf({"test_a": "passed"}))
    write(folder / "ctrf_ruff.json", ctrf({"test_a": "failed"}))
    tests = {test.id: test.outcome for test in open_run(trial).gate_tests("1", "S1")}
    assert tests == {
        "ctrf_black.json: test_a": Outcome.PASSED,
        "ctrf_ruff.json: test_a": Outcome.FAILED,
    }


def test_a_second_copy_of_the_report_counts_nothing_twice(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [step("one")])
    folder = trial / "steps" / "one" / "verifier"
    write(folder / "ctrf-attempt-1.json", ctrf({"test_a": "failed", "test_b": "failed"}))
    opened = open_run(trial)
    assert [test.id for test in opened.gate_tests("1", "S1")] == ["test_a", "test_b"]
    assert opened.gate_tests("1", "S1")[0].outcome is Outcome.PASSED


def test_an_error_of_the_trial_is_that_of_the_step_that_had_begun(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [step("one"), step("two")], 3)
    result = result_of(trial)
    result |= {"step_results": [], **error("EnvironmentStartTimeoutError", "no room")}
    write(trial / "result.json", result)
    stages = open_run(trial).run.stages
    assert [stage.status for stage in stages] == [
        Status.UNKNOWN,
        Status.INFRASTRUCTURE_ERROR,
        Status.NOT_STARTED,
    ]
    assert stages[0].status_detail == "result.json has no entry for the step"
    assert stages[1].status_detail == "EnvironmentStartTimeoutError: no room"


def test_what_ended_a_trial_without_a_result_is_said(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [step("one")])
    (trial / "result.json").unlink()
    write(trial / "exception.txt", "Traceback (most recent call last):\nOSError: disk full\n\n")
    assert open_run(trial).run.status_detail == "no result.json: OSError: disk full"


def test_of_a_killed_trial_the_last_step_that_began_was_interrupted(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [step("one"), step("two")])
    (trial / "result.json").unlink()
    assert statuses(open_run(trial)) == [Status.UNKNOWN, Status.INTERRUPTED]


def test_a_trial_without_steps_is_one_stage(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [], verifier_result={"rewards": {"reward": 1}})
    write(trial / "verifier" / "ctrf.json", ctrf({"test_a": "passed"}))
    write(trial / "agent" / "trajectory.json", session("do it"))
    opened = open_run(trial)
    (stage,) = opened.run.stages
    assert stage.title == "demo/adder"
    assert opened.trajectory(stage.trajectories).step_count == 1
    gate = opened.run.gates[0]
    assert gate.other is not None
    assert gate.other.passed == 1


def test_a_killed_trial_is_interrupted_and_keeps_its_steps(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [step("one"), step("two")])
    (trial / "result.json").unlink()
    opened = open_run(trial)
    assert opened.run.status is Status.INTERRUPTED
    assert [stage.title for stage in opened.run.stages] == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "content", "verdict"),
    [
        ("reward.txt", "1\n", Verdict.PASSED),
        ("reward.txt", "0.0", Verdict.FAILED),
        ("reward.json", '{"tests": 1.0, "style": 1}', Verdict.PASSED),
        ("reward.txt", "", None),
        ("reward.txt", "nan", None),
    ],
)
def test_rewards_of_a_killed_trial_are_read_from_its_files(
    tmp_path: Path, name: str, content: str, verdict: Verdict | None
) -> None:
    trial = write_trial(tmp_path, [step("one")])
    (trial / "result.json").unlink()
    (trial / "steps" / "one" / "verifier" / "ctrf.json").unlink()
    write(trial / "steps" / "one" / "verifier" / name, content)
    gate = open_run(trial).run.gates[0]
    assert gate.recorded_verdict is verdict
    assert (gate.unmeasured is None) == (verdict is not None)


def test_a_damaged_result_is_a_problem_and_no_end(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [step("one")])
    (trial / "result.json").write_text("{", encoding="utf-8")
    opened = open_run(trial)
    assert opened.problems()[0].where == "result.json"
    assert [stage.title for stage in opened.run.stages] == ["one"]


def test_a_session_that_went_on_is_cut_where_the_step_began(tmp_path: Path) -> None:
    entries = [step("one"), step("two")]
    entries[1]["agent_execution"] = {
        "started_at": "2026-01-01T10:01:00Z",
        "finished_at": "2026-01-01T10:02:00Z",
    }
    agent = {"name": "tester", "resume_trajectory": True}
    config = {"trial_name": NAME, "task": {"path": "tasks/adder"}, "agent": agent}
    trial = write_trial(tmp_path, entries, config=config)
    write(trial / "steps" / "two" / "agent" / "trajectory.json", session("step 1", "step 2"))
    opened = open_run(trial)
    part = opened.trajectory(opened.run.stages[1].trajectories)
    assert [entry.text for entry in part.steps] == ["step 2", "done 1"]


def test_what_was_collected_is_the_state_after_a_step(tmp_path: Path) -> None:
    opened = open_run(write_trial(tmp_path, [step("one")]))
    start, end = opened.run.states
    assert start.source is None
    assert end.provenance is Provenance.INFERRED
    assert isinstance(end.source, FolderSource)
    assert end.source.path.endswith("steps/one/artifacts/app")


def test_nothing_collected_is_a_missing_state(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [step("one")])
    (trial / "steps" / "one" / "artifacts" / "app" / "main.py").unlink()
    end = open_run(trial).run.states[-1]
    assert end.missing is not None
    assert end.missing.startswith("steps/one/artifacts holds no files")


def test_a_cost_of_nothing_beside_work_is_unknown(tmp_path: Path) -> None:
    used = {"n_input_tokens": 10, "n_cache_tokens": 0, "n_output_tokens": 2, "cost_usd": 0.0}
    stage = open_run(write_trial(tmp_path, [step("one", agent_result=used)])).run.stages[0]
    assert stage.usage is not None
    assert stage.usage.cost_usd is None


def test_the_id_of_a_trial_is_its_own(tmp_path: Path) -> None:
    assert open_run(write_trial(tmp_path, [step("one")])).run.run_id == "harbor-3f0c"


def test_a_job_result_is_no_trial(tmp_path: Path) -> None:
    write(tmp_path / "result.json", {"id": "x", "n_total_trials": 4, "stats": {}})
    write(tmp_path / "config.json", {"job_name": "x", "jobs_dir": "jobs"})
    write_trial(tmp_path, [step("one")])
    assert list(iter_runs(tmp_path)) == [tmp_path / NAME]


def test_a_path_that_is_no_trial_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"config\.json: the file is missing"):
        open_run(tmp_path, layout="harbor")


def test_a_summary_is_the_skeleton_without_trajectories(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, [step("one")])
    run = find_run_reader(trial)[0].summarise(trial)
    assert run.stages[0].trajectories == ()
    assert run.gates == open_run(trial).run.gates
