"""OpenHands 0.x: actions and what they caused, a task a line, tokens and cost once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolKind, Trajectory
from arcview.model.trajectory_refs import SessionRole
from arcview.readers.registry import find_trajectory_reader
from arcview.readers.trajectories.openhands import OpenHandsReader

Record = dict[str, Any]
AT = "2025-04-30T16:32:54.707474"


def action(event_id: int, name: str, source: str = "agent", **args: object) -> Record:
    return {"id": event_id, "timestamp": AT, "source": source, "action": name, "args": args}


def caused(cause: int, name: str, content: str, **extras: object) -> Record:
    return {
        "id": cause + 1,
        "timestamp": "2025-04-30T16:32:56.707474",
        "source": "agent",
        "cause": cause,
        "observation": name,
        "content": content,
        "extras": extras,
    }


def called(event: Record, call_id: str, response: str, **function: object) -> Record:
    """An action that the model asked for by a tool call."""
    name = str(function.pop("name", "execute_bash"))
    made = {"id": call_id, "function": {"name": name, "arguments": json.dumps(function)}}
    answer = {
        "id": response,
        "model": "m",
        "choices": [{"message": {"content": f"say {response}", "tool_calls": [made]}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }
    metadata = {"function_name": name, "tool_call_id": call_id, "model_response": answer}
    return {**event, "tool_call_metadata": metadata}


def output(*events: object, **fields: object) -> Record:
    return {
        "instance_id": "task-1",
        "test_result": {"git_patch": ""},
        "instruction": "do it",
        "metadata": {"agent_class": "CodeActAgent", "llm_config": {"model": "m"}},
        "history": list(events),
        "metrics": {},
        "error": None,
        **fields,
    }


def write(folder: Path, *records: object, name: str = "output.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def read(folder: Path, *events: object) -> Trajectory:
    path = folder / "trajectory.json"
    path.write_text(json.dumps(list(events)))
    return OpenHandsReader().read(path)


def model_steps(trajectory: Trajectory) -> list[Step]:
    return [step for step in trajectory.steps if step.number is not None]


def user_turns(trajectory: Trajectory) -> list[str]:
    return [
        step.text
        for step in trajectory.steps
        if step.role is Role.USER and step.kind is StepKind.MESSAGE
    ]


def calls(trajectory: Trajectory) -> list[ToolCall]:
    return [call for step in trajectory.steps for call in step.calls]


RUN = called(action(5, "run", command="ls", thought="t"), "c1", "r1", command="ls")


def test_an_action_and_what_it_caused_are_a_call_and_its_result(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        action(0, "system", content="rules"),
        action(1, "message", "user", content="go"),
        RUN,
        caused(5, "run", "a\n", metadata={"exit_code": 2}),
    )
    assert user_turns(trajectory) == ["go"]
    (step,) = model_steps(trajectory)
    assert (step.text, step.model, step.at, step.duration_s) == ("say r1", "m", AT, 2.0)
    (call,) = step.calls
    assert (call.key, call.kind, call.command) == ("c1", ToolKind.SHELL, "ls")
    assert call.result is not None
    assert (call.result.text, call.result.exit_code, call.result.is_error) == ("a\n", 2, None)


@pytest.mark.parametrize(
    ("extras", "code"),
    [
        ({"metadata": {"exit_code": 0}}, 0),
        ({"exit_code": 3}, 3),
        ({"metadata": {"exit_code": -1}}, None),
        ({}, None),
    ],
)
def test_the_exit_code_of_a_command_that_still_runs_is_unknown(
    tmp_path: Path, extras: Record, code: int | None
) -> None:
    (call,) = calls(read(tmp_path, RUN, caused(5, "run", "x", **extras)))
    assert call.result is not None
    assert call.result.exit_code == code


def test_why_a_command_has_no_exit_code_is_part_of_its_result(tmp_path: Path) -> None:
    told = {"suffix": "\n[The command timed out after 30 seconds.]"}
    (call,) = calls(read(tmp_path, RUN, caused(5, "run", "x", metadata={**told, "exit_code": -1})))
    assert call.result is not None
    assert call.result.text == "x\n[The command timed out after 30 seconds.]"


def test_parallel_calls_of_one_response_are_one_step(tmp_path: Path) -> None:
    second = called(action(6, "read", path="/w/a"), "c2", "r1", name="str_replace_editor")
    trajectory = read(tmp_path, RUN, second, caused(6, "read", "two"), caused(5, "run", "one"))
    (step,) = model_steps(trajectory)
    assert [call.result.text for call in step.calls if call.result] == ["one", "two"]
    assert step.text == "say r1"
    assert step.usage is not None
    assert step.usage.input_tokens == 100


def test_actions_without_tool_calls_are_paired_by_their_cause(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        action(5, "run", command="ls", thought="look"),
        caused(5, "run", "a"),
        action(7, "edit", path="/w/a", thought="", content="x"),
        caused(7, "edit", "ERROR:\nno"),
        action(9, "delegate", agent="Browser", inputs={"task": "x"}),
    )
    first, second, third = model_steps(trajectory)
    assert (first.text, first.calls[0].name, first.calls[0].command) == ("look", "run", "ls")
    assert "thought" not in first.calls[0].arguments
    assert (second.calls[0].kind, second.calls[0].path) == (ToolKind.EDIT, "/w/a")
    assert second.calls[0].result is not None
    assert second.calls[0].result.is_error is True
    assert third.calls[0].kind is ToolKind.TASK


def test_pairs_of_old_logs_open(tmp_path: Path) -> None:
    pairs = [
        [action(1, "message", "user", content="go"), {"observation": "null", "content": ""}],
        [action(5, "run", command="ls"), caused(5, "run", "a")],
    ]
    path = write(tmp_path, output(*pairs))
    assert find_trajectory_reader(path)[0].id == "openhands"
    trajectory = OpenHandsReader().read(path)
    assert user_turns(trajectory) == ["go"]
    (call,) = calls(trajectory)
    assert call.result is not None
    assert call.result.text == "a"


@pytest.mark.parametrize("has_ids", [True, False])
@pytest.mark.parametrize("is_paired", [True, False])
def test_what_names_no_cause_belongs_to_the_action_before_it(
    tmp_path: Path, has_ids: bool, is_paired: bool
) -> None:
    def bare(record: Record) -> Record:
        dropped = {"cause"} if has_ids else {"cause", "id"}
        return {key: value for key, value in record.items() if key not in dropped}

    pairs = [
        [action(1, "run", command="ls"), caused(1, "run", "a", exit_code=2)],
        [action(3, "message", "user", content="and?"), {"observation": "null", "content": ""}],
        [action(5, "browse_interactive", browser_actions="x"), caused(5, "browse", "page")],
        [action(7, "write", path="/w/a"), caused(7, "error", "no")],
        [action(9, "finish"), {"observation": "null", "content": ""}],
    ]
    bared = [[bare(event) for event in pair] for pair in pairs]
    events = bared if is_paired else [event for pair in bared for event in pair]
    trajectory = OpenHandsReader().read(write(tmp_path, output(*events)))
    results = [call.result and call.result.text for call in calls(trajectory)]
    assert results == ["a", "page", "no", None]
    assert trajectory.unknown_records == ()


@pytest.mark.parametrize("name", ["trajectory", "events", "history"])
@pytest.mark.parametrize("indent", [None, 1])
def test_events_in_an_object_open(tmp_path: Path, name: str, indent: int | None) -> None:
    path = tmp_path / "x.json"
    events = [action(1, "message", "user", content="go"), RUN, caused(5, "run", "a")]
    path.write_text(json.dumps({name: events}, indent=indent))
    assert find_trajectory_reader(path)[0].id == "openhands"
    trajectory = OpenHandsReader().read(path)
    assert user_turns(trajectory) == ["go"]
    assert [call.result and call.result.text for call in calls(trajectory)] == ["a"]
    assert trajectory.unknown_records == ()


def test_a_patch_may_be_longer_than_what_is_looked_at(tmp_path: Path) -> None:
    patch = "diff --git a/a b/a\n" + "+x\n" * 50_000
    path = write(tmp_path, output(RUN, test_result={"git_patch": patch}))
    assert find_trajectory_reader(path)[0].id == "openhands"
    trajectory = OpenHandsReader().read(path)
    assert (trajectory.patch, trajectory.tool_call_count) == (patch, 1)


def test_a_change_of_state_says_to_what_and_why(tmp_path: Path) -> None:
    changed = {"observation": "agent_state_changed", "source": "environment", "content": ""}
    trajectory = read(
        tmp_path,
        action(1, "change_agent_state", agent_state="paused", thought=""),
        {**changed, "extras": {"agent_state": "error", "reason": "too many turns"}},
    )
    first, second = (step.text for step in trajectory.steps)
    assert "paused" in first
    assert "too many turns" in second
    assert trajectory.exit_status == "error"


def test_what_is_recalled_is_shown(tmp_path: Path) -> None:
    known = [{"name": "docker", "trigger": "docker", "content": "how to"}]
    recalled = caused(1, "recall", "Added", microagent_knowledge=known, repo_name="")
    (step,) = read(tmp_path, recalled).steps
    assert step.text.startswith("recall: Added\n")
    assert "how to" in step.text
    assert "repo_name" not in step.text


def test_an_error_of_the_browser_is_part_of_the_result(tmp_path: Path) -> None:
    seen = caused(1, "browse", "page", error=True, last_browser_action_error="no such button")
    (call,) = calls(read(tmp_path, action(1, "browse_interactive", browser_actions="x"), seen))
    assert call.result is not None
    assert (call.result.text, call.result.is_error) == ("page\nno such button", True)


def test_messages_of_the_first_logs_tell_no_source(tmp_path: Path) -> None:
    def said(text: str) -> list[Record]:
        asked = {"action": "message", "args": {"content": text}, "message": text}
        return [asked, {"observation": "null", "content": "", "extras": {}}]

    ran = {"action": "run", "args": {"command": "ls", "thought": "look"}}
    pair = [ran, {"observation": "run", "content": "a", "extras": {"exit_code": 0}}]
    path = write(tmp_path, output(said("go"), pair, said("done")))
    trajectory = OpenHandsReader().read(path)
    assert user_turns(trajectory) == ["go"]
    assert [step.text for step in model_steps(trajectory)] == ["look", "done"]


def test_steps_of_a_delegate_belong_to_the_call_that_started_it(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        action(5, "delegate", agent="Browser", inputs={"task": "x"}),
        action(6, "run", command="inner"),
        caused(6, "run", ""),
        caused(5, "delegate", "found"),
        action(9, "run", command="outer"),
    )
    told = [(step.calls[0].name, step.agent, step.parent_call) for step in model_steps(trajectory)]
    key = calls(trajectory)[0].key
    assert told == [("delegate", None, None), ("run", "Browser 5", key), ("run", None, None)]


def test_what_an_evaluation_answers_to_go_on_is_no_user_turn(tmp_path: Path) -> None:
    nudge = "Please continue working on the task on whatever approach you think is suitable."
    trajectory = read(
        tmp_path,
        action(1, "message", "user", content="go"),
        action(9, "message", "user", content=nudge),
    )
    assert user_turns(trajectory) == ["go"]
    assert trajectory.steps[-1].text == nudge


def test_a_picture_that_was_read_is_a_placeholder_that_opens(tmp_path: Path) -> None:
    seen = caused(1, "read", "data:image/png;base64,QUJD", path="/w/a.png")
    (call,) = calls(read(tmp_path, action(1, "read", path="/w/a.png"), seen))
    assert call.result is not None
    assert call.result.text == ""
    shown = [(one.media_type, one.size_bytes) for one in call.result.images]
    assert shown == [("image/png", 3)]


def test_a_line_of_the_first_evaluations_may_begin_with_a_long_instance(tmp_path: Path) -> None:
    history = [[{"action": "run", "args": {"command": "ls"}}, {"observation": "run"}]]
    task = {"instance_id": "t", "swe_instance": {"hints": "x" * 100_000}, "history": history}
    path = write(tmp_path, task)
    assert find_trajectory_reader(path)[0].id == "openhands"
    assert OpenHandsReader().read(path).tool_call_count == 1


def test_a_condensation_is_no_user_turn(tmp_path: Path) -> None:
    condensed = action(5, "condensation", forgotten_event_ids=[1, 2], summary="so far")
    (step,) = read(tmp_path, condensed).steps
    assert (step.kind, step.text) == (
        StepKind.COMPACTION,
        "context condensed: 2 events forgotten\nso far",
    )


def test_an_error_that_nothing_caused_is_an_error(tmp_path: Path) -> None:
    event = {"id": 1, "source": "agent", "observation": "error", "content": "bad", "extras": {}}
    (step,) = read(tmp_path, event).steps
    assert (step.kind, step.is_error, step.text) == (StepKind.NOTE, True, "error: bad")


def test_screens_are_placeholders_that_open(tmp_path: Path) -> None:
    browse = action(5, "browse", url="http://x")
    seen = caused(5, "browse", "page", screenshot="data:image/png;base64,QUJD", set_of_marks="QUJD")
    (call,) = calls(read(tmp_path, browse, seen))
    assert call.result is not None
    assert [(one.media_type, one.size_bytes) for one in call.result.images] == [
        ("image/png", 3),
        ("image/png", 3),
    ]


def test_unknown_events_are_shown_raw_and_counted(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        RUN,
        action(8, "levitate"),
        {"id": 9, "source": "agent", "observation": "vision", "content": "", "extras": {}},
        {"id": 10, "source": "agent"},
        "text",
    )
    assert dict(trajectory.unknown_records) == {
        "action levitate": 1,
        "neither action nor observation": 1,
        "observation vision": 1,
        "str": 1,
    }


def metrics(cost: float, *usages: tuple[str, int]) -> Record:
    total = sum(count for _, count in usages)
    return {
        "accumulated_cost": cost,
        "accumulated_token_usage": {"prompt_tokens": total, "completion_tokens": 1},
        "costs": [{"cost": cost / len(usages)} for _ in usages],
        "token_usages": [
            {"response_id": name, "prompt_tokens": count, "completion_tokens": 1}
            for name, count in usages
        ],
    }


def test_tokens_and_cost_are_those_of_the_metrics(tmp_path: Path) -> None:
    second = called(action(7, "run", command="pwd"), "c2", "r2", command="pwd")
    record = output(RUN, second, metrics=metrics(0.5, ("r1", 40), ("r2", 60)))
    trajectory = OpenHandsReader().read(write(tmp_path, record))
    used = [step.usage for step in model_steps(trajectory)]
    assert [(one.input_tokens, one.cost_usd) for one in used if one] == [(40, 0.25), (60, 0.25)]
    assert trajectory.usage is not None
    assert (trajectory.usage.input_tokens, trajectory.usage.cost_usd) == (100, 0.5)


def test_a_cost_of_0_beside_real_work_is_unknown_and_said_to_be(tmp_path: Path) -> None:
    trajectory = OpenHandsReader().read(write(tmp_path, output(RUN, metrics=metrics(0, ("r1", 9)))))
    assert trajectory.usage is not None
    assert trajectory.usage.cost_usd is None
    assert [problem.what for problem in trajectory.problems] == [
        "a cost of 0 beside 1 messages of the model is taken as unknown"
    ]


def test_every_task_of_an_output_is_a_session_with_keys_of_its_own(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        output(action(1, "message", "user", content="a"), RUN),
        output(action(1, "message", "user", content="b"), RUN, instance_id="task-2"),
        output(RUN, instance_id="task-2"),
    )
    trajectory = OpenHandsReader().read(path)
    assert [(one.id, one.role, one.steps) for one in trajectory.sessions] == [
        ("task-1", SessionRole.MAIN, 1),
        ("task-2", SessionRole.RETRY, 1),
        ("task-2 attempt 2", SessionRole.RETRY, 1),
    ]
    assert len({call.key for call in calls(trajectory)}) == 3


def test_an_instruction_without_a_message_is_the_user_turn(tmp_path: Path) -> None:
    assert user_turns(OpenHandsReader().read(write(tmp_path, output(RUN)))) == ["do it"]


@pytest.mark.parametrize("history", [None, []])
def test_a_task_without_a_history_says_so(tmp_path: Path, history: object) -> None:
    record = output(error="AgentStuckInLoopError", history=history)
    trajectory = OpenHandsReader().read(write(tmp_path, record))
    texts = [(step.text, step.is_error) for step in trajectory.steps]
    assert ("no history is recorded", False) in texts
    assert ("error: AgentStuckInLoopError", True) in texts


def test_the_record_of_the_issue_resolver_opens(tmp_path: Path) -> None:
    record = output(RUN, issue={"number": 7}, base_commit="abc", git_patch="", issue_type="issue")
    del record["instance_id"], record["test_result"]
    path = write(tmp_path, record)
    assert find_trajectory_reader(path)[0].id == "openhands"
    assert [one.id for one in OpenHandsReader().read(path).sessions] == ["issue 7"]


def test_a_long_first_line_is_recognised_by_its_beginning(tmp_path: Path) -> None:
    path = write(tmp_path, output(caused(1, "recall", "x" * 200_000), RUN))
    assert find_trajectory_reader(path)[0].id == "openhands"
    assert len(model_steps(OpenHandsReader().read(path))) == 1


def test_of_a_line_that_is_cut_off_the_whole_events_are_kept(cases: Path) -> None:
    folder = cases / "formats" / "openhands-v0"
    trajectory = OpenHandsReader().read(folder / "derived" / "truncated-last-line.output.jsonl")
    whole = OpenHandsReader().read(folder / "multi_swe_bench.output.jsonl")
    steps = [step.key for step in model_steps(trajectory)]
    assert steps == [step.key for step in model_steps(whole)][: len(steps)]
    (first, second) = trajectory.sessions
    assert first.steps == whole.sessions[0].steps
    assert 0 < second.steps < whole.sessions[1].steps
    assert any("line 2" in problem.where for problem in trajectory.problems)


def test_events_a_line_open(tmp_path: Path) -> None:
    path = write(tmp_path, RUN, caused(5, "run", "a"), name="events.jsonl")
    assert find_trajectory_reader(path)[0].id == "openhands"
    assert len(calls(OpenHandsReader().read(path))) == 1


@pytest.mark.parametrize("data", [b"", b"\0" * 64, b'"a text"', b"{}", b"[]", b"not json\n" * 9])
def test_a_file_that_is_no_trajectory_gets_a_clear_answer(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    trajectory = OpenHandsReader().read(path)
    assert trajectory.steps == ()
    (problem,) = trajectory.problems
    assert problem.where == str(path)
    assert problem.what in ("the file is empty", "not a log of OpenHands")


@pytest.mark.parametrize("value", [float("nan"), "\ud800", 10**30, None, [], {"a": [[]]}, [1]])
def test_odd_values_break_nothing(tmp_path: Path, value: object) -> None:
    fields = ("args", "extras", "content", "cause", "id", "timestamp", "tool_call_metadata")
    odd = dict.fromkeys(fields, value)
    events = [{"source": "agent", "action": name, **odd} for name in ("run", "message", "system")]
    events += [{"source": "agent", "observation": name, **odd} for name in ("run", "error", "x")]
    record = output(RUN, *events, metrics=value, metadata=value)
    trajectory = OpenHandsReader().read(write(tmp_path, record))
    assert trajectory.sessions[0].id == "task-1"


def test_without_metrics_of_the_whole_those_of_the_last_event_count(tmp_path: Path) -> None:
    spent = {"accumulated_cost": 0.1, "accumulated_token_usage": {"prompt_tokens": 9}}
    more = {"accumulated_cost": 0.3, "accumulated_token_usage": {"prompt_tokens": 20}}
    path = tmp_path / "trajectory.json"
    events = [
        {**called(action(1, "run", command="ls"), "a", "r1"), "llm_metrics": spent},
        {**called(action(3, "run", command="ls"), "b", "r2"), "llm_metrics": more},
        caused(3, "run", "out"),
    ]
    path.write_text(json.dumps(events))
    usage = OpenHandsReader().read(path).usage
    assert usage is not None
    assert (usage.cost_usd, usage.input_tokens) == (0.3, 20)
