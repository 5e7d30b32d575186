"""What each of the eight real runs is about comes out as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.errors import BadInputError
from arcview.model.run import Run, Status
from arcview.model.states import EmptySource, FolderSource, Provenance, StateKind
from arcview.model.trajectory import Role, StepKind
from arcview.model.trajectory_refs import SessionRole, TrajectoryRef
from arcview.readers.registry import OpenedRun, open_run

Scb = Callable[[str], Path]


@pytest.fixture(scope="module")
def circuit(scb: Scb) -> OpenedRun:
    return open_run(scb("circuit-eval"))


@pytest.fixture(scope="module")
def refactored(scb: Scb) -> OpenedRun:
    return open_run(scb("code-search-refactor-pass"))


@pytest.fixture(scope="module")
def backup(scb: Scb) -> OpenedRun:
    return open_run(scb("file-backup-infra"))


@pytest.fixture(scope="module")
def recli(scb: Scb) -> OpenedRun:
    return open_run(scb("recli-nothing-built"))


def statuses(run: Run) -> list[Status]:
    return [stage.status for stage in run.stages]


def test_there_is_no_chain_gate(circuit: OpenedRun) -> None:
    assert circuit.run.chain_gate() is None
    assert not circuit.run.chain.has_chain_gate


def test_the_start_state_is_empty_and_inferred(circuit: OpenedRun) -> None:
    start = circuit.run.states[0]
    assert (start.id, start.kind, start.provenance) == (
        "S0",
        StateKind.START,
        Provenance.INFERRED,
    )
    assert start.source == EmptySource()


def test_who_ran_comes_from_run_info(circuit: OpenedRun) -> None:
    run = circuit.run
    assert (run.agent, run.agent_version, run.model) == ("claude_code", "2.0.51", "glm-5-kimi")
    assert run.chain.task_id == "circuit_eval"
    assert (run.started, run.ended) == (
        "2026-06-01T21:47:15.216147",
        "2026-06-02T00:32:43.556345",
    )


def test_a_refused_stage_is_an_agent_error_and_its_verdict_stays(circuit: OpenedRun) -> None:
    stage = circuit.run.stages[5]
    assert stage.status is Status.AGENT_ERROR
    assert "API Error: 403" in str(stage.status_detail)
    gate = circuit.run.stage_gate(6)
    assert gate is not None
    assert gate.f2p is not None
    assert (gate.f2p.passed, gate.f2p.expected) == (0, 51)


def test_stages_after_the_end_of_the_run_are_skipped(circuit: OpenedRun) -> None:
    assert statuses(circuit.run)[6:] == [Status.NOT_STARTED, Status.NOT_STARTED]


def test_a_stage_starts_from_the_pass_before_it(circuit: OpenedRun) -> None:
    assert [(stage.base, stage.end) for stage in circuit.run.stages[:3]] == [
        ("S0", "S1"),
        ("S1.refactor", "S2"),
        ("S2.refactor", "S3"),
    ]


def test_a_pass_has_its_own_gate_result(circuit: OpenedRun) -> None:
    before = circuit.run.gate("2", "S2")
    after = circuit.run.gate("2", "S2.refactor")
    assert before is not None
    assert before.f2p is not None
    assert after is not None
    assert after.f2p is not None
    assert (before.f2p.failed, after.f2p.failed) == (0, 18)


def test_a_pass_knows_what_it_cost(circuit: OpenedRun, scb: Scb) -> None:
    usage = circuit.run.stages[0].passes[0].usage
    assert usage is not None
    assert usage.cost_usd == pytest.approx(1.8857106)
    stream = scb("circuit-eval") / "checkpoint_1" / "after_skill" / "agent" / "stdout.jsonl"
    closing = json.loads(stream.read_text(encoding="utf-8").splitlines()[-1])
    models = closing["modelUsage"].values()
    sent = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    assert usage.input_tokens == sum(model[name] for model in models for name in sent)
    assert usage.output_tokens == sum(model["outputTokens"] for model in models)


def test_a_pass_that_ended_in_an_error_is_noted(circuit: OpenedRun) -> None:
    assert any("ended in an error: API Error: 403" in note for note in circuit.run.stages[4].notes)


def test_the_turn_limit_is_said(circuit: OpenedRun) -> None:
    assert circuit.run.stages[4].status is Status.COMPLETED
    assert circuit.run.stages[4].status_detail == "stopped at the turn limit (100 turns)"


def test_the_trajectory_of_a_pass_is_between_the_stages(circuit: OpenedRun) -> None:
    passed = circuit.run.stages[1].passes[0]
    trajectory = circuit.trajectory(passed.trajectories)
    assert trajectory.sessions[0].role is SessionRole.BETWEEN
    assert trajectory.step_count == 66


def test_subagents_stand_after_the_step_that_started_them(circuit: OpenedRun) -> None:
    steps = circuit.trajectory(circuit.run.stages[2].trajectories).steps
    starts = [i for i, step in enumerate(steps) if any(c.name == "Task" for c in step.calls)]
    for index in starts:
        call = next(call.key for call in steps[index].calls if call.name == "Task")
        assert steps[index + 1].parent_call == call
        assert steps[index + 1].role is Role.USER
        assert steps[index + 2].agent is not None


def test_warm_ups_are_shown_and_not_numbered(circuit: OpenedRun) -> None:
    trajectory = circuit.trajectory(circuit.run.stages[2].trajectories)
    warm = [step for step in trajectory.steps if step.agent == "cc102d66"]
    assert [(step.kind, step.number) for step in warm] == [(StepKind.NOTE, None)]
    session = next(session for session in trajectory.sessions if session.id == "cc102d66")
    assert (session.role, session.steps) == (SessionRole.SUBAGENT, 0)


def test_a_compaction_is_no_user_turn(circuit: OpenedRun) -> None:
    steps = circuit.trajectory(circuit.run.stages[2].trajectories).steps
    assert len([step for step in steps if step.kind is StepKind.COMPACTION]) == 2
    said = [step for step in steps if step.role is Role.USER and step.kind is StepKind.MESSAGE]
    assert not [step for step in said if step.text.startswith("This session is being continued")]


def test_steps_have_the_times_of_the_session(circuit: OpenedRun) -> None:
    steps = circuit.trajectory(circuit.run.stages[0].trajectories).steps
    assert all(step.at for step in steps if step.number is not None)
    shell = next(step for step in steps if any(call.command for call in step.calls))
    assert shell.duration_s is not None


def test_an_exit_code_is_read_from_a_failed_result_only(circuit: OpenedRun) -> None:
    steps = circuit.trajectory(circuit.run.stages[2].trajectories).steps
    results = [call.result for step in steps for call in step.calls if call.result]
    assert {r.exit_code for r in results if r.text.startswith("Exit code 3")} == {3}
    assert {r.exit_code for r in results if r.is_error is not True} == {None}


def test_the_agent_did_nothing_in_stage_2_of_the_collapse(scb: Scb) -> None:
    run = open_run(scb("code-search-collapse"))
    assert run.trajectory(run.run.stages[1].trajectories).step_count == 1
    gate = run.run.stage_gate(4)
    assert gate is not None
    assert gate.f2p is not None
    assert gate.p2p is not None
    assert gate.f2p.failed + gate.p2p.failed == 66


def test_sessions_of_a_pass_are_found_in_the_folder_of_the_next_stage(
    refactored: OpenedRun,
) -> None:
    passes = [stage.passes[0] for stage in refactored.run.stages[:2]]
    assert [ref.session for between in passes for ref in between.trajectories] == [
        "ebc74f98-400a-47bb-9630-1268e33dd8bb",
        "4630e85f-1a15-48d8-91fe-b50a7fd45110",
    ]
    assert [refactored.trajectory(b.trajectories).step_count for b in passes] == [10, 21]


def test_a_session_of_a_pass_adds_no_steps_to_the_stage_it_lies_in(
    refactored: OpenedRun,
) -> None:
    trajectory = refactored.trajectory(refactored.run.stages[1].trajectories)
    assert trajectory.step_count == 27
    aside = trajectory.sessions[-1]
    assert (aside.role, aside.steps) == (SessionRole.BETWEEN, 10)
    assert aside.note == "belongs to the pass after stage 1"


def test_a_run_without_run_info_is_interrupted(refactored: OpenedRun) -> None:
    run = refactored.run
    assert run.status is Status.INTERRUPTED
    assert (run.agent, run.model, run.ended) == ("claude_code", "glm-5", None)
    assert statuses(run)[3:] == [Status.NOT_STARTED, Status.NOT_STARTED]
    assert [problem.where for problem in run.problems] == ["run_info.yaml"]


def test_infrastructure_failures_are_unmeasured_with_their_reason(backup: OpenedRun) -> None:
    gates = backup.run.gates
    assert len(gates) == 7
    assert {gate.unmeasured for gate in gates} == {
        "infrastructure failure: pytest exit 126: bash: HANDLE_ENTRY.sh: Permission denied"
    }
    assert {gate.f2p for gate in gates} == {None}


def test_attempts_that_the_stream_lost_come_from_the_session(backup: OpenedRun) -> None:
    trajectory = backup.trajectory(backup.run.stages[3].trajectories)
    assert trajectory.step_count == 84
    assert trajectory.sessions[0].note == (
        "the stream holds 1 of its 84 messages, the session has the others"
    )
    prompts = [s.text for s in trajectory.steps if s.role is Role.USER]
    assert prompts[1:] == ["Continue from where you left off."] * 2


def test_the_last_attempt_starts_before_its_prompt(backup: OpenedRun) -> None:
    steps = backup.trajectory(backup.run.stages[3].trajectories).steps
    start = next(i for i, step in enumerate(steps) if step.text.startswith("session started"))
    assert steps[start + 1].text == "Continue from where you left off."
    assert [step.number for step in steps if step.number][-1] == 84
    assert steps[-1].text.startswith("session ended in an error: API Error: 403")


def test_usage_of_0_beside_an_error_is_unknown(backup: OpenedRun) -> None:
    stage = backup.run.stages[3]
    assert stage.status is Status.AGENT_ERROR
    assert stage.usage is None
    assert any("unknown" in note for note in stage.notes)


def test_a_missing_workspace_is_a_missing_state_not_an_empty_one(recli: OpenedRun) -> None:
    state = recli.run.states[1]
    assert (state.id, state.source, state.unchanged) == ("S1", None, None)
    assert state.missing == (
        "checkpoint_1/snapshot is missing; diff.json lists no changed text file"
    )
    gate = recli.run.stage_gate(1)
    assert gate is not None
    assert gate.f2p is not None
    assert (gate.f2p.passed, gate.f2p.expected) == (9, 34)


def test_no_evaluation_is_unmeasured(scb: Scb) -> None:
    run = open_run(scb("mocked-http-no-evaluation")).run
    gate = run.stage_gate(1)
    assert gate is not None
    assert (gate.f2p, gate.p2p, gate.unmeasured) == (None, None, "no evaluation.json")
    assert run.stages[0].status is Status.COMPLETED
    assert set(statuses(run)[1:]) == {Status.NOT_STARTED}


def test_an_interrupted_stage_has_no_end_state(scb: Scb) -> None:
    run = open_run(scb("mvvault-interrupted")).run
    assert statuses(run) == [
        Status.COMPLETED,
        Status.COMPLETED,
        Status.INTERRUPTED,
        Status.NOT_STARTED,
        Status.NOT_STARTED,
        Status.NOT_STARTED,
    ]
    assert (run.stages[2].base, run.stages[2].end) == ("S2", None)
    gate = run.stage_gate(3)
    assert gate is not None
    assert gate.unmeasured == "no evaluation.json"


def test_steps_that_the_harness_did_not_count_are_unknown(scb: Scb) -> None:
    run = open_run(scb("database-migration-rising")).run
    assert {stage.reported_steps for stage in run.stages} == {None}
    assert "steps" in run.stages[0].notes[0]


def test_a_skipped_test_keeps_its_reason(scb: Scb) -> None:
    run = open_run(scb("database-migration-rising"))
    skipped = [test for test in run.gate_tests("3", "S3") if test.outcome == "skipped"]
    assert [test.message for test in skipped] == ["Skipped: Applies only to checkpoints 1-2"]


def test_states_lie_in_the_snapshot_folders(circuit: OpenedRun) -> None:
    for state in circuit.run.states[1:]:
        assert isinstance(state.source, FolderSource)
        folder = Path(state.source.path)
        assert folder.is_dir()
        assert (folder.parent.name == "after_skill") == state.id.endswith(".refactor")


def test_the_run_id_does_not_depend_on_the_place(scb: Scb, tmp_path: Path) -> None:
    source = scb("mvvault-interrupted")
    moved = tmp_path / "elsewhere"
    moved.symlink_to(source, target_is_directory=True)
    assert open_run(moved).run.run_id == open_run(source).run.run_id


def test_the_specification_is_text_of_the_run(circuit: OpenedRun) -> None:
    spec = circuit.run.stages[0].spec_path
    assert spec is not None
    assert circuit.text(spec).startswith("Implement a program")


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "checkpoint_1/../../x", "", "a\0b"])
def test_text_outside_the_run_is_refused(circuit: OpenedRun, path: str) -> None:
    with pytest.raises(BadInputError):
        circuit.text(path)


def test_a_trajectory_that_is_gone_is_a_problem_not_an_error(circuit: OpenedRun) -> None:
    ref = TrajectoryRef("checkpoint_1/agent/gone.jsonl", format="claude_code")
    trajectory = circuit.trajectory([ref])
    assert trajectory.steps == ()
    assert [problem.what for problem in trajectory.problems] == ["the file is missing"]
