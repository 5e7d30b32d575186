"""Odd and damaged SlopCodeBench folders: one clear line each, and all that is good is shown."""

from __future__ import annotations

import io
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.errors import BadInputError
from arcview.model.results import Group, Outcome
from arcview.model.run import Status
from arcview.model.states import Provenance
from arcview.readers.registry import OpenedRun, open_run
from tests.readers.scb_run import (
    SESSION,
    entry,
    evaluation,
    inference,
    report,
    session_file,
    stream,
    write,
    write_run,
)

ZERO = {"cost": 0.0, "steps": 0, "net_tokens": {"input": 0, "output": 0, "reasoning": 0}}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "demo")


def problems(opened: OpenedRun) -> list[str]:
    return [f"{problem.where}: {problem.what}" for problem in opened.problems()]


def test_a_whole_run_has_no_problems(run: Path) -> None:
    opened = open_run(run)
    opened.gate_tests("1", "S1")
    assert problems(opened) == []
    assert [stage.status for stage in opened.run.stages] == [Status.COMPLETED] * 2
    assert opened.run.status is Status.COMPLETED


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "problem.yaml: expected a mapping, found nothing"),
        ("- a\n- b\n", "problem.yaml: expected a mapping, found a list"),
        ("name: [", "problem.yaml: line 2: expected YAML"),
        ("checkpoints: {}\n", "problem.yaml: name: expected a text, found nothing"),
        ("name: 7\n", "problem.yaml: name: expected a text, found a number (7)"),
    ],
)
def test_a_bad_problem_yaml_is_one_clear_line(run: Path, content: str, message: str) -> None:
    write(run / "problem.yaml", content)
    with pytest.raises(BadInputError) as caught:
        open_run(run)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_folder_in_place_of_a_file_is_one_clear_line(run: Path) -> None:
    (run / "checkpoint_1" / "evaluation.json").unlink()
    (run / "checkpoint_1" / "evaluation.json").mkdir()
    opened = open_run(run)
    gate = opened.run.stage_gate(1)
    assert gate is not None
    assert gate.unmeasured == "evaluation.json is damaged: expected a file, found a folder"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "expected JSON, the file is empty"),
        ('{"tests": {', "expected JSON"),
        ("[]", "expected a mapping, found a list"),
        ("\x00\x01", "expected JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"n": ' + "9" * 5000 + "}", "expected JSON"),
    ],
)
def test_a_damaged_evaluation_is_unmeasured_never_failed(
    run: Path, content: str, reason: str
) -> None:
    write(run / "checkpoint_1" / "evaluation.json", content)
    opened = open_run(run)
    gate = opened.run.stage_gate(1)
    assert gate is not None
    assert (gate.f2p, gate.p2p) == (None, None)
    assert str(gate.unmeasured).startswith(f"evaluation.json is damaged: {reason}")
    assert len(problems(opened)) == 1
    assert opened.gate_tests("1", "S1") == ()


@pytest.mark.parametrize(
    "tests",
    [
        [],
        {"checkpoint_1-Core": []},
        {"checkpoint_1-Core": {"passed": "test_a"}},
        {"checkpoint_1-Core": {"passed": [1, None]}},
    ],
)
def test_tests_of_the_wrong_type_are_reported_and_not_counted(run: Path, tests: object) -> None:
    write(run / "checkpoint_1" / "evaluation.json", {**evaluation({}), "tests": tests})
    opened = open_run(run)
    gate = opened.run.stage_gate(1)
    assert gate is not None
    assert gate.unmeasured == "no test is recorded: pytest exit 1"
    assert any("checkpoint_1/evaluation.json: tests" in problem for problem in problems(opened))


def test_exit_126_is_unmeasured_even_without_the_flag(run: Path) -> None:
    tests = {"checkpoint_1-Core": {"passed": [], "failed": ["test_a"]}}
    write(run / "checkpoint_1" / "evaluation.json", evaluation(tests, pytest_exit_code=126))
    write(run / "checkpoint_1" / "evaluation" / "stderr.txt", "\nsh: denied\nmore\n")
    gate = open_run(run).run.stage_gate(1)
    assert gate is not None
    assert gate.unmeasured == "infrastructure failure: pytest exit 126: sh: denied"


def test_a_missing_report_costs_the_messages_only(run: Path) -> None:
    (run / "checkpoint_1" / "evaluation" / "report.json").unlink()
    opened = open_run(run)
    tests = opened.gate_tests("1", "S1")
    assert [(test.id, test.message) for test in tests] == [
        ("checkpoint_1::test_a", None),
        ("checkpoint_1::test_b", None),
    ]
    assert "messages, tracebacks and durations are not available" in problems(opened)[0]


def test_what_matches_in_neither_file_is_kept_and_reported(run: Path) -> None:
    file = ".evaluation_tests/test_checkpoint_1.py"
    broken = report(entry(f"{file}::test_a"), entry(f"{file}::test_new", "failed", "no"))
    write(run / "checkpoint_1" / "evaluation" / "report.json", broken)
    opened = open_run(run)
    tests = {test.id: test for test in opened.gate_tests("1", "S1")}
    assert tests["checkpoint_1::test_b"].outcome is Outcome.FAILED
    assert tests["checkpoint_1::test_b"].message is None
    assert tests["checkpoint_1::test_new"].extra
    assert tests["checkpoint_1::test_new"].group is Group.F2P
    assert len(problems(opened)) == 2


def test_a_gate_that_is_read_twice_reports_its_problems_once(run: Path) -> None:
    (run / "checkpoint_1" / "evaluation" / "report.json").unlink()
    opened = open_run(run)
    opened.gate_tests("1", "S1")
    opened.gate_tests("1", "S1")
    assert len(problems(opened)) == 1


def test_ids_with_blanks_newlines_brackets_and_colons_match(run: Path) -> None:
    names = ["test_x[a b]", "test_x[a\nb]", "test_x[[/]]", "TestA::test_y[m::n]", "test-z-Core"]
    tests = {
        "checkpoint_1-Core": {"passed": [], "failed": names},
        "checkpoint_1-with-dash-Regression": {"passed": ["test_x[a b]"], "failed": []},
    }
    write(run / "checkpoint_1" / "evaluation.json", evaluation(tests))
    file = ".evaluation_tests/test_checkpoint_1"
    entries = [entry(f"{file}.py::{name}", "failed", f"in {name}") for name in names]
    entries.append(entry(f"{file}-with-dash.py::test_x[a b]"))
    write(run / "checkpoint_1" / "evaluation" / "report.json", report(*entries))
    opened = open_run(run)
    found = opened.gate_tests("1", "S1")
    assert [t.message for t in found if t.group is Group.F2P] == [f"in {name}" for name in names]
    assert [t.id for t in found if t.group is Group.P2P] == ["checkpoint_1-with-dash::test_x[a b]"]
    assert problems(opened) == []


def test_a_report_may_refine_an_outcome_without_changing_the_counts(run: Path) -> None:
    file = ".evaluation_tests/test_checkpoint_1.py"
    entries = entry(f"{file}::test_a", "xfailed"), entry(f"{file}::test_b", "error", "boom")
    write(run / "checkpoint_1" / "evaluation" / "report.json", report(*entries))
    opened = open_run(run)
    assert [t.outcome for t in opened.gate_tests("1", "S1")] == [Outcome.XFAILED, Outcome.ERROR]
    gate = opened.run.stage_gate(1)
    assert gate is not None
    assert gate.f2p is not None
    assert (gate.f2p.passed, gate.f2p.failed) == (1, 1)


def test_a_report_that_contradicts_does_not_change_the_outcome(run: Path) -> None:
    file = ".evaluation_tests/test_checkpoint_1.py"
    entries = entry(f"{file}::test_a", "failed", "no"), entry(f"{file}::test_b", "passed")
    write(run / "checkpoint_1" / "evaluation" / "report.json", report(*entries))
    opened = open_run(run)
    assert [(t.outcome, t.reported) for t in opened.gate_tests("1", "S1")] == [
        (Outcome.PASSED, "failed"),
        (Outcome.FAILED, "passed"),
    ]
    assert "evaluation.json counts" in problems(opened)[0]


def test_an_id_that_is_listed_twice_is_one_test_with_the_worst_outcome(run: Path) -> None:
    tests = {"checkpoint_1-Core": {"passed": ["test_a"], "failed": ["test_a"]}}
    write(run / "checkpoint_1" / "evaluation.json", evaluation(tests))
    opened = open_run(run)
    found = opened.gate_outcomes("1", "S1")
    assert [(test.outcome, test.copies) for test in found] == [(Outcome.FAILED, 2)]
    gate = opened.run.stage_gate(1)
    assert gate is not None
    assert gate.f2p is not None
    assert (gate.f2p.expected, gate.f2p.duplicated) == (2, 1)


def test_a_group_of_another_checkpoint_is_neither_f2p_nor_p2p(run: Path) -> None:
    tests = {
        "checkpoint_2-Core": {"passed": ["test_a"], "failed": []},
        "checkpoint_1-Core": {"passed": ["test_a"], "failed": []},
    }
    write(run / "checkpoint_1" / "evaluation.json", evaluation(tests))
    opened = open_run(run)
    gate = opened.run.stage_gate(1)
    assert gate is not None
    assert gate.f2p is not None
    assert gate.other is not None
    assert (gate.f2p.expected, gate.other.expected) == (1, 1)
    assert "not a group of this checkpoint" in problems(opened)[0]


def test_totals_that_do_not_add_up_are_reported(run: Path) -> None:
    tests = {"checkpoint_1-Core": {"passed": ["test_a"], "failed": []}}
    write(run / "checkpoint_1" / "evaluation.json", evaluation(tests, total_counts={"Core": 5}))
    assert "total_counts say 5 tests, 1 are listed" in problems(open_run(run))[0]


def test_declared_checkpoints_without_a_folder_are_not_started(tmp_path: Path) -> None:
    run = write_run(tmp_path / "demo", stages=1, declared=3)
    (run / "run_info.yaml").unlink()
    assert [stage.status for stage in open_run(run).run.stages] == [
        Status.COMPLETED,
        Status.NOT_STARTED,
        Status.NOT_STARTED,
    ]


def test_a_checkpoint_that_is_not_declared_is_shown_and_reported(run: Path) -> None:
    shutil.copytree(run / "checkpoint_2", run / "checkpoint_9")
    opened = open_run(run)
    assert [stage.index for stage in opened.run.stages] == [1, 2, 3]
    assert problems(opened)[0].startswith("checkpoint_9: not among the checkpoints")


def test_checkpoints_follow_their_order_not_their_names(run: Path) -> None:
    write(
        run / "problem.yaml",
        "name: demo\ncheckpoints:\n  checkpoint_1: {order: 2}\n  checkpoint_2: {order: 1}\n",
    )
    assert [stage.spec_path for stage in open_run(run).run.stages] == [
        "checkpoint_2/prompt.txt",
        "checkpoint_1/prompt.txt",
    ]


def test_ten_checkpoints_without_an_order_are_sorted_by_number(tmp_path: Path) -> None:
    run = write_run(tmp_path / "demo", stages=10)
    names = "".join(f"  checkpoint_{k}: {{}}\n" for k in (10, 2, 1, 9, 3, 8, 4, 7, 5, 6))
    write(run / "problem.yaml", f"name: demo\ncheckpoints:\n{names}")
    assert open_run(run).run.stages[9].spec_path == "checkpoint_10/prompt.txt"


def test_a_checksum_that_does_not_follow_shows_a_state_that_is_not_recorded(run: Path) -> None:
    write(run / "checkpoint_2" / "diff.json", {"from_checksum": "f" * 32, "to_checksum": "e" * 32})
    opened = open_run(run)
    state = opened.run.states[2]
    assert (state.id, state.provenance, state.source) == (
        "S1.unrecorded",
        Provenance.UNKNOWN,
        None,
    )
    assert "starts from another snapshot" in str(state.missing)
    assert opened.run.stages[1].base == "S1.unrecorded"


def test_equal_checksums_mean_that_nothing_changed(run: Path) -> None:
    same = "1" * 32
    write(run / "checkpoint_2" / "diff.json", {"from_checksum": same, "to_checksum": same})
    assert open_run(run).run.states[2].unchanged is True


def test_different_checksums_do_not_prove_a_change(run: Path) -> None:
    assert [state.unchanged for state in open_run(run).run.states] == [None, None, None]


@pytest.mark.parametrize(
    ("make", "missing"),
    [
        (lambda p: p.write_text("x"), "checkpoint_1/snapshot: expected a folder, found a file"),
        (
            lambda p: p.symlink_to("/"),
            "checkpoint_1/snapshot: a link leads out of its folder; "
            "it is not followed: paths stay inside the folder",
        ),
    ],
)
def test_a_snapshot_that_is_no_folder_is_a_missing_state(
    run: Path, make: Callable[[Path], object], missing: str
) -> None:
    snapshot = run / "checkpoint_1" / "snapshot"
    shutil.rmtree(snapshot)
    make(snapshot)
    state = open_run(run).run.states[1]
    assert (state.source, state.missing) == (None, missing)


def test_a_link_that_leaves_the_run_is_not_followed(run: Path, tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.txt", "secret")
    (run / "checkpoint_1" / "link.txt").symlink_to(secret)
    with pytest.raises(BadInputError, match="a link leads out of its folder"):
        open_run(run).text("checkpoint_1/link.txt")


@pytest.mark.parametrize(
    "name",
    [
        "checkpoint_1/evaluation.json",
        "checkpoint_1/evaluation/report.json",
        "checkpoint_1/prompt.txt",
        "checkpoint_1/inference_result.json",
        "checkpoint_1/agent/stdout.jsonl",
        "checkpoint_1/agent",
        "checkpoint_1",
    ],
)
def test_no_file_is_read_through_a_link_that_leaves_the_run(
    run: Path, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    shutil.move(run / name, outside)
    (run / name).symlink_to(outside)
    if name != "checkpoint_1":
        write(outside / "stdout.jsonl" if outside.is_dir() else outside, "SECRET")
    opened = open_run(run)
    tests = [t for g in opened.run.gates for t in opened.gate_tests(g.gate, g.state)]
    steps = [opened.trajectory(stage.trajectories) for stage in opened.run.stages]
    shown = repr((opened.run, tests, steps, opened.problems()))
    assert "SECRET" not in shown
    assert any("a link leads out" in problem for problem in problems(opened)) or "agent" in name


def test_a_checkpoint_that_is_called_like_a_path_out_is_not_followed(
    run: Path, tmp_path: Path
) -> None:
    write_run(tmp_path / "other")
    write(
        run / "problem.yaml",
        'name: demo\ncheckpoints:\n  "../other/checkpoint_1": {}\n  "a\\0b": {}\n',
    )
    opened = open_run(run)
    assert [stage.end for stage in opened.run.stages] == [None, None, "S3", "S4"]
    assert any("the path leaves its folder" in problem for problem in problems(opened))
    assert any("no file can be called that" in problem for problem in problems(opened))


def test_a_damaged_inference_result_leaves_the_gate(run: Path) -> None:
    write(run / "checkpoint_1" / "inference_result.json", "{")
    opened = open_run(run)
    stage = opened.run.stages[0]
    assert (stage.status, stage.usage, stage.duration_s) == (Status.UNKNOWN, None, None)
    gate = opened.run.stage_gate(1)
    assert gate is not None
    assert gate.f2p is not None
    assert "checkpoint_1/inference_result.json: line 1" in problems(opened)[0]


def test_figures_of_the_wrong_type_are_unknown_and_reported(run: Path) -> None:
    usage = {"cost": "much", "steps": -3, "net_tokens": [1]}
    write(run / "checkpoint_1" / "inference_result.json", inference(usage=usage, elapsed=True))
    opened = open_run(run)
    stage = opened.run.stages[0]
    assert (stage.usage, stage.reported_steps, stage.duration_s) == (None, None, None)
    fields = [problem.split(": ")[1] for problem in problems(opened)]
    assert fields == ["usage.net_tokens", "usage.cost", "usage.steps", "elapsed"]


def test_a_cost_of_0_beside_tokens_is_unknown(run: Path) -> None:
    tokens = {"input": 10, "cache_read": 0, "output": 5, "reasoning": 0}
    usage = {"cost": 0.0, "steps": 0, "net_tokens": tokens}
    write(run / "checkpoint_1" / "inference_result.json", inference(usage=usage))
    stage = open_run(run).run.stages[0]
    assert stage.usage is not None
    assert (stage.usage.cost_usd, stage.usage.cached_tokens) == (None, 0)
    assert stage.notes == (
        "reported as 0 beside real work, so unknown: reasoning tokens, cost, steps",
    )


def test_a_time_out_of_the_agent_is_not_just_an_error(run: Path) -> None:
    told = "Traceback…\na.b.AgentError: Claude Code process timed out after 60s."
    result = inference(had_error=True, error_message=told)
    write(run / "checkpoint_1" / "inference_result.json", result)
    stage = open_run(run).run.stages[0]
    assert stage.status is Status.AGENT_TIMEOUT
    assert stage.status_detail == "AgentError: Claude Code process timed out after 60s."


def test_an_api_error_without_any_work_is_an_agent_error(run: Path) -> None:
    write(run / "checkpoint_1" / "inference_result.json", inference(usage=ZERO))
    closing = '{"type": "result", "subtype": "success", "is_error": true, "result": "API Error: x"}'
    write(run / "checkpoint_1" / "agent" / "stdout.jsonl", stream() + closing + "\n")
    stage = open_run(run).run.stages[0]
    assert (stage.status, stage.status_detail) == (Status.AGENT_ERROR, "API Error: x")


def test_an_error_of_the_harness_is_an_infrastructure_error(run: Path) -> None:
    (run / "checkpoint_2" / "inference_result.json").unlink()
    write(
        run / "run_info.yaml",
        "summary:\n  state: error\n  error_type: DockerException\n  error_message: no daemon\n"
        "  checkpoints: {checkpoint_1: ran, checkpoint_2: skipped}\n",
    )
    run_ = open_run(run).run
    assert run_.stages[1].status is Status.INFRASTRUCTURE_ERROR
    assert run_.stages[1].status_detail == "DockerException: no daemon"
    assert run_.status is Status.INFRASTRUCTURE_ERROR


def test_a_pass_without_a_snapshot_is_a_missing_state(run: Path) -> None:
    write(run / "checkpoint_1" / "after_skill" / "evaluation.json", evaluation({}))
    opened = open_run(run)
    assert [state.id for state in opened.run.states] == ["S0", "S1", "S1.refactor", "S2"]
    assert opened.run.states[2].missing == "checkpoint_1/after_skill/snapshot is missing"


def write_pass_session(run: Path, prompt: str, at: str) -> None:
    projects = run / "checkpoint_2" / "agent" / "workspace" / "projects" / "-workspace"
    own = session_file("# Part 2\nDo 2.", "work", session=SESSION, at="2026-01-01T12:00:00Z")
    write(projects / f"{SESSION}.jsonl", own)
    other = session_file(prompt, "tidied", "up", session="other", at=at)
    write(projects / "other.jsonl", other)


def test_a_session_of_unknown_origin_is_shown_as_such(run: Path) -> None:
    write_pass_session(run, "Something else", "2026-01-01T11:00:00Z")
    opened = open_run(run)
    trajectory = opened.trajectory(opened.run.stages[1].trajectories)
    assert trajectory.sessions[-1].note == "its first prompt is not this stage's"
    assert opened.run.stages[0].passes == ()


def test_a_session_with_the_prompt_of_the_pass_belongs_to_it(run: Path) -> None:
    with (run / "run_info.yaml").open("a") as file:
        file.write("post_checkpoint_skill: {prompt: Tidy up}\n")
    write_pass_session(run, "Tidy up", "2026-01-01T11:00:00Z")
    opened = open_run(run)
    passes = opened.run.stages[0].passes
    assert [ref.session for ref in passes[0].trajectories] == ["other"]
    assert opened.run.state("S1.refactor") is not None


def test_a_later_session_with_that_prompt_belongs_to_the_pass_after_the_stage(run: Path) -> None:
    with (run / "run_info.yaml").open("a") as file:
        file.write("post_checkpoint_skill: {prompt: Tidy up}\n")
    write_pass_session(run, "Tidy up", "2026-01-01T13:00:00Z")
    opened = open_run(run)
    assert [len(stage.passes) for stage in opened.run.stages] == [0, 1]


def test_a_continued_session_belongs_to_the_stage(run: Path) -> None:
    write_pass_session(run, "Continue from where you left off.", "2026-01-01T13:00:00Z")
    opened = open_run(run)
    assert len(opened.run.stages[1].trajectories) == 1
    assert len(opened.run.stages[1].trajectories[0].companions) == 2


def pack(run: Path, *, extra: tarfile.TarInfo | None = None) -> None:
    agent = run / "checkpoint_1" / "agent"
    with tarfile.open(run / "checkpoint_1" / "agent.tar.gz", "w:gz") as archive:
        archive.add(agent / "stdout.jsonl", arcname="stdout.jsonl")
        if extra is not None:
            archive.addfile(extra, io.BytesIO(b"x" * extra.size))
    shutil.rmtree(agent)


def test_packed_agent_files_open_like_unpacked_ones(run: Path) -> None:
    pack(run)
    opened = open_run(run)
    ref = opened.run.stages[0].trajectories[0]
    assert ref.path == "checkpoint_1/agent.tar.gz/stdout.jsonl"
    assert opened.trajectory([ref]).step_count == 2
    assert opened.text(ref.path).startswith('{"type": "system"')


@pytest.mark.parametrize("name", ["../../escape.txt", "/etc/escape.txt"])
def test_a_packed_path_that_escapes_is_left_out(run: Path, name: str) -> None:
    member = tarfile.TarInfo(name)
    member.size = 3
    pack(run, extra=member)
    opened = open_run(run)
    assert opened.trajectory(opened.run.stages[0].trajectories).step_count == 2
    assert problems(opened) == [
        "checkpoint_1/agent.tar.gz: 1 members left out: unsafe names, links, devices or too large"
    ]
    assert not (run.parent / "escape.txt").exists()


def test_a_torn_archive_is_reported_and_the_rest_opens(run: Path) -> None:
    pack(run)
    file = run / "checkpoint_1" / "agent.tar.gz"
    file.write_bytes(file.read_bytes()[:60])
    opened = open_run(run)
    assert opened.run.stage_gate(1) is not None
    assert problems(opened)[0].startswith("checkpoint_1/agent.tar.gz: damaged archive")


def test_another_agents_log_is_named_when_no_reader_knows_it(run: Path) -> None:
    write(run / "checkpoint_1" / "agent" / "stdout.jsonl", '{"event": 1}\n{"event": 2}\n')
    opened = open_run(run)
    trajectory = opened.trajectory(opened.run.stages[0].trajectories)
    assert trajectory.steps == ()
    assert "not a known trajectory format" in trajectory.problems[0].what


@pytest.mark.parametrize("name", ["run_info.yaml", "checkpoint_1/prompt.txt"])
def test_each_optional_file_may_be_missing(run: Path, name: str) -> None:
    (run / name).unlink()
    opened = open_run(run)
    assert len(opened.run.stages) == 2
    assert [problem.split(":")[0] for problem in problems(opened)] == [name]


@pytest.mark.parametrize(
    "name", ["diff.json", "checkpoint.yaml", "inference_result.json", "evaluation.json"]
)
@pytest.mark.parametrize("content", ["", "null", "[1", "\ud800", "{}", "\x00" * 50])
def test_no_damage_of_a_file_raises(run: Path, name: str, content: str) -> None:
    write(run / "checkpoint_2" / name, content)
    opened = open_run(run)
    for gate in opened.run.gates:
        opened.gate_tests(gate.gate, gate.state)
    for stage in opened.run.stages:
        opened.trajectory(stage.trajectories)
    first = opened.run.stage_gate(1)
    assert first is not None
    assert first.f2p is not None


@pytest.mark.parametrize(
    ("summary", "status"),
    [
        ("state: completed", Status.COMPLETED),
        ("state: failed", Status.COMPLETED),
        ("state: hit_rate_limited", Status.INTERRUPTED),
        ("state: running", Status.INTERRUPTED),
        ("state: error\n  error_type: DockerException", Status.INFRASTRUCTURE_ERROR),
        ("ended: null", Status.UNKNOWN),
    ],
)
def test_how_the_harness_ended_is_the_status_of_the_run(
    run: Path, summary: str, status: Status
) -> None:
    ran = "checkpoints: {checkpoint_1: ran, checkpoint_2: ran}"
    write(run / "run_info.yaml", f"summary:\n  {summary}\n  {ran}\n")
    assert open_run(run).run.status is status
