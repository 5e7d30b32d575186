"""EvoClaw trials, as the benchmark's own code writes them; no recorded trial was at hand."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arcview.model.results import Outcome
from arcview.model.run import Status
from arcview.model.states import ArchiveSource, StateKind
from arcview.readers.detect import formats
from arcview.readers.registry import find_run_reader, open_run
from tests.readers.git_run import commit, tag
from tests.readers.scb_run import session_file, write
from tests.states.workspaces import git


def result(
    milestone: str, failed: Sequence[str] = (), p2p: tuple[int, int] = (9, 1), **more: object
) -> dict[str, Any]:
    """An `evaluation_result.json`: passing P2P tests are only counted."""
    return {
        "milestone_id": milestone,
        "patch_is_None": False,
        "patch_exists": True,
        "patch_successfully_applied": True,
        "resolved": not failed,
        "tests_status": {
            "FAIL_TO_PASS": {"success": ["t.py::a"], "failure": list(failed)},
            "NONE_TO_PASS": {"success": ["t.py::n"], "failure": []},
            "PASS_TO_PASS": {"success_count": p2p[0], "failure": ["t.py::o"], "missing": p2p[1]},
        },
        **more,
    }


def snapshot(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode()
    member = tarfile.TarInfo("src/main.py")
    member.size = len(data)
    with tarfile.open(file, "w") as archive:
        archive.addfile(member, io.BytesIO(data))


def write_trial(
    root: Path, milestones: Sequence[str], entries: Mapping[str, Mapping[str, Any]] | None = None
) -> Path:
    """A finished trial; each milestone was evaluated a minute after the one before."""
    trial = root / "e2e_trial" / "trial-1"
    write(
        trial / "trial_metadata.json",
        {
            "trial_name": "trial-1",
            "repo_name": "org/repo",
            "agent_name": "claude-code",
            "model": "model-1",
            "test_dirs": ["tests"],
        },
    )
    times = {m: {"timestamp": f"Thu Jan  1 10:{i:02}:00 2026"} for i, m in enumerate(milestones)}
    summary = {"results": {**times, **(entries or {})}, "milestone_status": {}}
    write(trial / "evaluation" / "summary.json", summary)
    write(trial / "selected_milestone_ids.txt", "\n".join(milestones) + "\n")
    for milestone in milestones:
        write(trial / "e2e_workspace" / "srs" / f"{milestone}_SRS.md", f"# {milestone}\n")
        place = trial / "evaluation" / milestone
        write(place / "evaluation_result.json", result(milestone))
        snapshot(place / "source_snapshot.tar", f"print('{milestone}')\n")
    return trial


def tag_all(trial: Path, milestones: Sequence[str]) -> None:
    """The repository of the trial with a tag per milestone, a minute after each other."""
    repository = trial / "testbed"
    repository.mkdir()
    git(repository, "init", "-q")
    for minute, name in enumerate(milestones, start=1):
        tag(repository, f"agent-impl-{name}", commit(repository, name, minute, x=name))


def test_that_there_was_no_sample_is_said() -> None:
    (known,) = [each for each in formats() if each.id == "evo_claw"]
    assert known.sample.startswith("no recorded trial was at hand")


def test_milestones_are_stages_in_the_order_of_their_submission(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, ["M2", "M10", "M1"])
    opened = open_run(trial)
    assert find_run_reader(trial)[0].id == "evo_claw"
    assert [stage.title for stage in opened.run.stages] == ["M2", "M10", "M1"]
    assert opened.text(opened.run.stages[0].spec_path or "") == "# M2\n"
    assert opened.run.status is Status.COMPLETED


def test_snapshots_are_states(tmp_path: Path) -> None:
    run = open_run(write_trial(tmp_path, ["M1"])).run
    start, end = run.states
    assert start.missing is not None
    assert end.source == ArchiveSource("evaluation/M1/source_snapshot.tar")
    assert run.stages[0].notes == ("S1 holds the source folders of the submission, without tests",)


def test_a_lost_snapshot_is_a_missing_state(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, ["M1"])
    (trial / "evaluation" / "M1" / "source_snapshot.tar").unlink()
    assert open_run(trial).run.states[1].missing == "there is no evaluation/M1/source_snapshot.tar"


def test_missing_tests_may_be_named_instead_of_counted(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, ["M1"])
    counted = {"success_count": 9, "failure": [], "missing": ["t.py::m", "t.py::n"]}
    written = result("M1")
    written["tests_status"]["PASS_TO_PASS"] = counted
    write(trial / "evaluation" / "M1" / "evaluation_result.json", written)
    gate = open_run(trial).run.gates[0]
    assert gate.p2p is not None
    assert (gate.p2p.passed, gate.p2p.missing) == (9, 2)


def test_counted_tests_count_without_a_name(tmp_path: Path) -> None:
    opened = open_run(write_trial(tmp_path, ["M1"]))
    gate = opened.run.gates[0]
    assert gate.f2p is not None
    assert (gate.f2p.expected, gate.f2p.passed) == (2, 2)
    assert gate.p2p is not None
    assert (gate.p2p.expected, gate.p2p.passed, gate.p2p.failed, gate.p2p.missing) == (11, 9, 1, 1)
    outcomes = {test.id: test.outcome for test in opened.gate_tests("1", "S1")}
    assert outcomes == {
        "t.py::a": Outcome.PASSED,
        "t.py::n": Outcome.PASSED,
        "t.py::o": Outcome.FAILED,
    }


def test_the_filtered_result_is_preferred(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, ["M1"])
    filtered = result("M1", p2p=(5, 0))
    write(trial / "evaluation" / "M1" / "evaluation_result_filtered.json", filtered)
    gate = open_run(trial).run.gates[0]
    assert gate.p2p is not None
    assert gate.p2p.passed == 5
    assert any(note.startswith("the filtered result") for note in gate.notes)


def test_a_milestone_that_was_submitted_again_has_a_state_of_its_own(tmp_path: Path) -> None:
    again = {"M1-retry1": {"timestamp": "Thu Jan  1 11:00:00 2026"}}
    trial = write_trial(tmp_path, ["M1", "M2"], again)
    write(trial / "evaluation" / "M1-retry1" / "evaluation_result.json", result("M1"))
    run = open_run(trial).run
    assert [stage.title for stage in run.stages] == ["M1", "M2"]
    assert [state.id for state in run.states] == ["S0", "S1", "S1.retry1", "S2"]
    assert run.states[2].kind is StateKind.BETWEEN
    assert [(gate.gate, gate.state) for gate in run.gates] == [
        ("1", "S1"),
        ("1", "S1.retry1"),
        ("2", "S2"),
    ]


def test_an_evaluation_that_failed_is_not_measured(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, ["M1"], {"M1": {"error": "docker is gone"}})
    (trial / "evaluation" / "M1" / "evaluation_result.json").unlink()
    gate = open_run(trial).run.gates[0]
    assert gate.unmeasured == "error of the evaluation: docker is gone"


def test_the_log_of_a_failed_evaluation_says_why(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, ["M1"])
    (trial / "evaluation" / "M1" / "evaluation_result.json").unlink()
    log = trial / "evaluation" / "M1" / "evaluation_error.log"
    write(log, "Traceback (most recent call last):\n  File x\nRuntimeError: docker is gone\n\n")
    gate = open_run(trial).run.gates[0]
    assert gate.unmeasured == "error of the evaluation: RuntimeError: docker is gone"
    assert gate.log_paths == ("evaluation/M1/evaluation_error.log",)


def test_damaged_metadata_is_a_problem_and_the_evaluation_is_read(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, ["M1"])
    (trial / "trial_metadata.json").write_text('{"trial_na', encoding="utf-8")
    assert find_run_reader(trial)[0].id == "evo_claw"
    opened = open_run(trial)
    assert [stage.title for stage in opened.run.stages] == ["M1"]
    assert [problem.where for problem in opened.problems()] == ["trial_metadata.json"]


def test_milestones_that_were_never_submitted_are_not_started(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, ["M1"])
    write(trial / "selected_milestone_ids.txt", "M1\nM2\nM3\n")
    summary = json.loads((trial / "evaluation" / "summary.json").read_text())
    summary["milestone_status"] = {"skipped": ["M3"]}
    write(trial / "evaluation" / "summary.json", summary)
    run = open_run(trial).run
    assert [stage.status for stage in run.stages] == [
        Status.COMPLETED,
        Status.NOT_STARTED,
        Status.SKIPPED,
    ]
    assert run.status is Status.INTERRUPTED


def test_the_times_of_tags_cut_the_session_into_stages(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, ["M2", "M1"])
    tag_all(trial, ["M1", "M2"])
    early = session_file("go", "one", session="s", at="2026-01-01T10:00:30Z")
    late = session_file("on", "two", "three", session="t", at="2026-01-01T10:01:30Z")
    history = early + late.replace('"sessionId": "t"', '"sessionId": "s"')
    write(trial / "log" / "session_history.jsonl", history)
    opened = open_run(trial)
    parts = [opened.trajectory(stage.trajectories) for stage in opened.run.stages]
    assert [stage.title for stage in opened.run.stages] == ["M1", "M2"]
    assert [stage.duration_s for stage in opened.run.stages] == [None, 60]
    assert [part.step_count for part in parts] == [1, 2]


def test_without_tags_the_session_is_shown_at_the_first_stage(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, ["M1", "M2"])
    at = "2026-01-01T10:00:00Z"
    write(trial / "log" / "session_history.jsonl", session_file("go", "one", session="s", at=at))
    opened = open_run(trial)
    first, second = opened.run.stages
    assert opened.trajectory(first.trajectories).step_count == 1
    assert second.trajectories == ()
    assert any("the whole session is shown here" in note for note in first.notes)


def test_a_name_that_leaves_the_trial_is_a_problem(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, ["M1"], {"../../x": {}})
    opened = open_run(trial)
    assert [stage.title for stage in opened.run.stages] == ["M1"]
    assert any("no folder can be called" in problem.what for problem in opened.problems())


def test_a_damaged_summary_is_a_problem_and_the_folders_are_read(tmp_path: Path) -> None:
    trial = write_trial(tmp_path, ["M1"])
    (trial / "evaluation" / "summary.json").write_text("{", encoding="utf-8")
    opened = open_run(trial)
    assert [stage.title for stage in opened.run.stages] == ["M1"]
    assert opened.problems()[0].where == "evaluation/summary.json"
