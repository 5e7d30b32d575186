"""SWE-agent trajectories: real files of each version against their own counts, and made ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolKind, Trajectory
from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories import documents
from arcview.readers.trajectories.swe_agent import SweAgentReader
from tests.readers.golden import expected, summary
from tests.readers.odd_values import with_odd_values

GOLDEN = expected("swe_agent")

Record = dict[str, Any]


def item(action: str, observation: str = "", thought: str = "t", **fields: Any) -> Record:
    step = {"action": action, "observation": observation, "thought": thought}
    return {**step, "response": thought, "state": {}, "execution_time": 0.5, **fields}


def answer(action: str, thought: str = "t", **fields: Any) -> Record:
    entry = {"role": "assistant", "content": thought, "thought": thought, "action": action}
    return {**entry, "agent": "main", **fields}


def tool_call(name: str, call_id: str = "c", **arguments: Any) -> Record:
    return {"id": call_id, "function": {"name": name, "arguments": json.dumps(arguments)}}


def read(folder: Path, content: object) -> Trajectory:
    path = folder / "task.traj"
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
    return SweAgentReader().read(path)


def of(
    folder: Path, *steps: Record, history: list[Record] | None = None, **info: Any
) -> Trajectory:
    return read(folder, {"trajectory": list(steps), "history": history or [], "info": info})


def model_steps(trajectory: Trajectory) -> list[Step]:
    return [step for step in trajectory.steps if step.number is not None]


def only_call(trajectory: Trajectory) -> ToolCall:
    (call,) = [call for step in trajectory.steps for call in step.calls]
    return call


def notes(trajectory: Trajectory) -> list[str]:
    return [step.text for step in trajectory.steps if step.kind is StepKind.NOTE]


# Real files


@pytest.mark.parametrize("sample", GOLDEN)
def test_a_real_file_reads_as_reviewed(cases: Path, sample: str) -> None:
    assert summary(cases / "formats" / sample) == GOLDEN[sample]


@pytest.mark.parametrize("sample", GOLDEN)
def test_steps_and_observations_agree_with_the_file(cases: Path, sample: str) -> None:
    path = cases / "formats" / sample
    document = json.loads(path.read_text())
    found = SweAgentReader().read(path)
    steps = document["trajectory"]
    assert found.step_count == len(steps)
    acted = [step for step in steps if step["action"].strip()]
    results = [call.result for step in found.steps for call in step.calls]
    assert [r and r.text for r in results] == [step["observation"] for step in acted]
    seconds = [step.duration_s for step in model_steps(found) if step.calls]
    assert seconds == [step.get("execution_time") for step in acted]


@pytest.mark.parametrize("sample", GOLDEN)
def test_every_thought_of_a_real_file_is_there(cases: Path, sample: str) -> None:
    path = cases / "formats" / sample
    told = [step["thought"] for step in json.loads(path.read_text())["trajectory"]]
    assert [step.text for step in model_steps(SweAgentReader().read(path))] == told


@pytest.mark.parametrize("sample", GOLDEN)
def test_totals_and_the_end_agree_with_the_file(cases: Path, sample: str) -> None:
    path = cases / "formats" / sample
    info = json.loads(path.read_text())["info"]
    stats = info["model_stats"]
    found = SweAgentReader().read(path)
    assert (found.exit_status, found.patch) == (info["exit_status"], info["submission"])
    usage = found.usage or Usage()
    assert usage.input_tokens == (stats["tokens_sent"] or None)
    assert usage.output_tokens == (stats["tokens_received"] or None)
    assert usage.cost_usd == (stats["instance_cost"] or None)


@pytest.mark.parametrize("sample", [name for name in GOLDEN if "v0.x" not in name])
def test_structured_calls_come_from_the_history(cases: Path, sample: str) -> None:
    path = cases / "formats" / sample
    history = json.loads(path.read_text())["history"]
    told = [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for entry in history
        for call in entry.get("tool_calls") or []
    ]
    calls = [call for step in SweAgentReader().read(path).steps for call in step.calls]
    if told:
        assert [(call.name, dict(call.arguments)) for call in calls] == told


def test_a_rejected_answer_is_a_step_without_a_call(cases: Path) -> None:
    path = cases / "formats/swe-agent/generated-1.1.0/demo-1/demo-1.traj"
    third = model_steps(SweAgentReader().read(path))[2]
    assert (third.text, third.calls) == ("No tool call in this one.", ())


def test_a_demonstration_is_not_the_run(cases: Path) -> None:
    path = cases / "formats/swe-agent/v0.x-pydicom-1458.traj"
    (demo,) = [e for e in json.loads(path.read_text())["history"] if e.get("is_demo")]
    found = SweAgentReader().read(path)
    assert notes(found)[0] == (
        f"a demonstration that the model was shown: 1 messages, {len(demo['content']):,} characters"
    )
    assert all(demo["content"] != step.text for step in found.steps)


def test_editing_names_the_open_file(cases: Path) -> None:
    found = SweAgentReader().read(cases / "formats/swe-agent/v0.x-pydicom-1458.traj")
    calls = [call for step in found.steps for call in step.calls]
    assert [(call.name, call.kind, call.path) for call in calls][:5] == [
        ("create", ToolKind.WRITE, "reproduce_bug.py"),
        ("edit", ToolKind.EDIT, "/pydicom__pydicom/reproduce_bug.py"),
        ("bash", ToolKind.SHELL, None),
        ("find_file", ToolKind.SEARCH, None),
        ("open", ToolKind.READ, "pydicom/pixel_data_handlers/numpy_handler.py"),
    ]


# Steps


def test_a_line_without_a_structured_call_is_kept_as_written(tmp_path: Path) -> None:
    call = only_call(of(tmp_path, item("edit 1:2\nx = 1\nend_of_edit\n")))
    assert (call.name, call.raw_arguments) == ("edit", "edit 1:2\nx = 1\nend_of_edit")


def test_any_other_line_is_shell(tmp_path: Path) -> None:
    call = only_call(of(tmp_path, item("python -m pytest | tail\n", "1 failed")))
    assert (call.kind, call.command) == (ToolKind.SHELL, "python -m pytest | tail")
    assert call.result is not None
    assert (call.result.text, call.result.exit_code) == ("1 failed", None)


def test_an_action_that_was_sent_back_never_ran(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        item("vim x.py", "", "edit it", execution_time=0.0),
        item("ls", "files", "look"),
        history=[answer("ls", "look")],
    )
    first, second = [call for step in found.steps for call in step.calls]
    assert (first.command, first.note, first.result) == ("vim x.py", "rejected: never run", None)
    assert second.result is not None
    assert second.result.text == "files"


def test_an_error_text_after_a_rejected_answer_is_a_note(tmp_path: Path) -> None:
    found = of(tmp_path, item("", "Your output could not be parsed.", "hm"))
    assert [step.text for step in model_steps(found)] == ["hm"]
    assert notes(found) == ["Your output could not be parsed."]


def test_the_end_that_the_harness_adds_is_no_answer_of_the_model(tmp_path: Path) -> None:
    end = item("", "Exited (autosubmitted)", "Exit due to cost limit")
    found = of(tmp_path, item("ls", "x"), end, exit_status="submitted (exit_cost)")
    assert found.step_count == 1
    assert found.exit_status == "submitted (exit_cost)"
    assert [(s.text, s.is_error) for s in found.steps[1:]] == [
        ("Exit due to cost limit\nExited (autosubmitted)", True),
        ("session ended: submitted (exit_cost)", False),
    ]


def test_thinking_comes_from_the_step_or_the_history(tmp_path: Path) -> None:
    blocks = [{"type": "thinking", "thinking": "deep"}]
    found = of(
        tmp_path,
        item("ls", "x", reasoning_content="aloud"),
        item("pwd", "y"),
        history=[answer("ls"), answer("pwd", thinking_blocks=blocks)],
    )
    assert [step.thinking for step in model_steps(found)] == ["aloud", "deep"]


def test_images_of_an_observation_stand_in_the_history(tmp_path: Path) -> None:
    url = "data:image/png;base64,iVBORw0KGgo="
    content = [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": url}}]
    reply = {"role": "tool", "content": content, "tool_call_ids": ["c"]}
    found = of(tmp_path, item("view_image a.png", "x"), history=[answer("view_image a.png"), reply])
    call = only_call(found)
    assert call.result is not None
    assert ([image.media_type for image in call.result.images], call.path) == (
        ["image/png"],
        "a.png",
    )


def test_the_same_action_twice_takes_two_entries_of_the_history(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        item("ls", "one"),
        item("ls", "two"),
        history=[
            answer("ls", tool_calls=[tool_call("bash", "a", command="ls")]),
            answer("ls", tool_calls=[tool_call("bash", "b", command="ls")]),
        ],
    )
    assert [step.key for step in model_steps(found)] == ["a", "b"]


def test_prompts_stand_in_the_first_step_where_there_is_no_history(tmp_path: Path) -> None:
    query = [{"role": "system", "content": "s"}, {"role": "user", "content": [{"text": "u"}]}]
    found = read(tmp_path, {"trajectory": [item("ls", "x", query=query)], "info": {}})
    assert [(step.role, step.text) for step in found.steps[:2]] == [
        (Role.SYSTEM, "s"),
        (Role.USER, "u"),
    ]


def test_what_each_step_repeats_is_not_even_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_LARGE_BYTES", 0)
    query = [{"role": "user", "content": "not a number: 0123"}]
    document = {"trajectory": [item("ls", "x", query=query)], "history": [answer("ls")], "info": {}}
    text = json.dumps(document, indent=2).replace('"not a number: 0123"', "0123")
    found = read(tmp_path, text)
    assert (found.step_count, found.problems) == (1, ())


def test_a_history_alone_is_a_demonstration_with_steps(tmp_path: Path) -> None:
    history = [
        {"role": "system", "content": "s", "agent": "main"},
        {"role": "user", "content": "task", "agent": "main"},
        answer("ls -F", tool_calls=[tool_call("bash", "c1", command="ls -F")]),
        {"role": "tool", "content": "files", "tool_call_ids": ["c1"], "agent": "main"},
        answer("submit"),
    ]
    found = read(tmp_path, {"history": history})
    assert [s.role for s in found.steps] == [
        Role.SYSTEM,
        Role.USER,
        Role.ASSISTANT,
        Role.ASSISTANT,
    ]
    first, last = [call for step in found.steps for call in step.calls]
    assert (first.key, first.result and first.result.text) == ("c1", "files")
    assert (last.name, last.result) == ("submit", None)


# Attempts


def attempt(*actions: str, **info: Any) -> Record:
    return {"trajectory": [item(action, "x") for action in actions], "history": [], "info": info}


def test_attempts_are_sessions_and_the_chosen_one_counts_once(tmp_path: Path) -> None:
    attempts = [
        attempt("ls", exit_status="exit_cost"),
        attempt("pwd", "id", exit_status="submitted"),
    ]
    info = {
        "exit_status": "submitted",
        "best_attempt_idx": 1,
        "model_stats": {"instance_cost": 3.0},
    }
    found = read(tmp_path, {"attempts": attempts, **attempts[1], "info": info})
    assert [(s.id, s.role.value, s.steps, s.note) for s in found.sessions] == [
        ("task#1", "retry", 1, "attempt 1 of 2"),
        ("task#2", "main", 2, "attempt 2 of 2, chosen"),
    ]
    assert found.step_count == 3
    assert found.usage == Usage(cost_usd=3.0)


def test_a_run_between_attempts_has_what_is_finished(tmp_path: Path) -> None:
    stats = {"instance_cost": 0.5, "tokens_sent": 10, "tokens_received": 2}
    attempts = [attempt("ls", model_stats=stats), attempt("pwd", model_stats=stats)]
    found = read(tmp_path, {"attempts": attempts})
    assert (found.step_count, found.usage) == (2, Usage(20, None, 4, None, 1.0))


# Damage and recognition


def test_a_run_that_ended_before_its_first_step_opens(tmp_path: Path) -> None:
    content = {"trajectory": [], "history": [], "info": {"exit_status": "exit_error"}}
    head = json.dumps(content).encode()
    assert SweAgentReader().detect(head, "x.traj") is not None
    trajectory = read(tmp_path, content)
    assert (trajectory.exit_status, trajectory.step_count) == ("exit_error", 0)


def test_a_history_may_begin_with_more_than_is_looked_at() -> None:
    head = b'{"environment": "main", "history": [{"agent": "main", "content": "' + b"x" * 1000
    assert SweAgentReader().detect(head, "x.traj") is not None


@pytest.mark.parametrize(
    ("stats", "cost"),
    [
        ({"instance_cost": 0.3, "total_cost": 9.0}, 0.3),
        ({"instance_cost": 0, "total_cost": 9.0}, None),
        ({"total_cost": 0.2}, 0.2),
    ],
)
def test_the_cost_of_other_runs_is_not_that_of_this_one(
    tmp_path: Path, stats: Record, cost: float | None
) -> None:
    usage = of(tmp_path, item("ls"), model_stats={**stats, "tokens_sent": 1}).usage
    assert usage is not None
    assert usage.cost_usd == cost


def test_a_cut_file_keeps_its_whole_steps(tmp_path: Path) -> None:
    whole = json.dumps({"trajectory": [item("ls", "a"), item("pwd", "b")]}, indent=2)
    found = read(tmp_path, whole[: whole.index('"pwd"') + 3])
    assert [call.command for step in found.steps for call in step.calls] == ["ls"]
    assert "cut off" in found.problems[0].what


def test_what_no_rule_knows_is_raw_and_counted(tmp_path: Path) -> None:
    history = [{"role": "narrator", "content": "x"}, answer("ls")]
    found = read(tmp_path, {"trajectory": [item("ls", "x"), "odd"], "history": history})
    assert found.unknown_records == (("not an object", 1), ("role 'narrator'", 1))


@pytest.mark.parametrize("config", [{"agent": {"model": {"name": "m"}}}, "text"])
def test_the_model_stands_in_the_configuration(tmp_path: Path, config: object) -> None:
    given = config if config != "text" else json.dumps({"agent": {"model": {"name": "m"}}})
    found = read(tmp_path, {"trajectory": [item("ls")], "history": [], "replay_config": given})
    assert (found.model, model_steps(found)[0].model) == ("m", "m")


@pytest.mark.parametrize(
    "content",
    [
        '{"environment": "main", "trajectory": [{"action": "ls", "observation": "x"',
        '{"history": [{"role": "system", "content": "x"}]}',
        '{"attempts": []}',
        '{"attempts": [{"trajectory": [{"action": "ls", "thought": "x"}]}]}',
    ],
)
def test_it_is_recognised_by_content(content: str) -> None:
    assert SweAgentReader().detect(content.encode(), "x") is not None


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"trajectory": [{"kind": "ActionEvent"}]}',
        '{"history": [{"source": "agent", "action": "run"}], "test_result": {}}',
        '{"messages": []}',
    ],
)
def test_other_formats_are_left_to_their_readers(content: str) -> None:
    assert SweAgentReader().detect(content.encode(), "x.traj") is None


@pytest.mark.parametrize("content", ['{"messages": []}', "[1]", '"text"'])
def test_a_file_of_another_kind_is_said_not_raised(tmp_path: Path, content: str) -> None:
    (problem,) = read(tmp_path, content).problems
    assert problem.what == "not a trajectory: expected an object with steps or attempts"


def test_odd_values_never_raise(tmp_path: Path) -> None:
    made = attempt("ls", exit_status="x", submission="p", model_stats={"tokens_sent": 1})
    steps = [item("open a.py", "x", state='{"open_file": "a.py"}', execution_time=1.0)]
    blocks = [{"type": "thinking", "thinking": "x"}]
    call = tool_call("open", path="a.py")
    history = [
        {"role": "user", "content": "u", "is_demo": False},
        answer("open a.py", tool_calls=[call], thinking_blocks=blocks),
    ]
    whole = {"trajectory": steps, "history": history, "replay_config": {"agent": {"model": {}}}}
    for document in (whole, {"attempts": [made], "info": {"best_attempt_idx": 0}}):
        for changed in with_odd_values(document):
            text = json.dumps(changed)
            SweAgentReader().detect(text.encode(), "x")
            read(tmp_path, text)
