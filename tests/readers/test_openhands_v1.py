"""Conversations of OpenHands' SDK: folders, arrays and archives of events."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolKind, Trajectory
from arcview.model.trajectory_refs import SessionRole
from arcview.readers.registry import find_trajectory_reader, iter_runs, open_run
from arcview.readers.trajectories.openhands import OpenHandsReader

Record = dict[str, Any]
AT = "2026-01-01T10:00:00.000000"


def event(kind: str, event_id: str, source: str = "agent", **fields: object) -> Record:
    return {"kind": kind, "id": event_id, "timestamp": AT, "source": source, **fields}


def message(event_id: str, text: str, source: str = "user", **fields: object) -> Record:
    role = "assistant" if source == "agent" else "user"
    content = {"role": role, "content": [{"type": "text", "text": text}]}
    return event("MessageEvent", event_id, source, llm_message=content, **fields)


def acted(event_id: str, call_id: str, response: str = "r1", **fields: object) -> Record:
    given: Record = {"tool_name": "terminal", "tool_call_id": call_id, "thought": []}
    action = {"kind": "TerminalAction", "command": "ls"}
    made: Record = {**given, "llm_response_id": response, "action": action, **fields}
    return event("ActionEvent", event_id, **made)


def observed(action_id: str, call_id: str, text: str, **fields: object) -> Record:
    observation = {"kind": "X", "content": [{"type": "text", "text": text}], "is_error": False}
    return event(
        "ObservationEvent",
        f"o-{action_id}",
        "environment",
        action_id=action_id,
        tool_call_id=call_id,
        observation={**observation, **fields},
        timestamp="2026-01-01T10:00:01.500000",
    )


def state(**fields: object) -> Record:
    usage = {
        "model_name": "m",
        "accumulated_cost": 0.2,
        "accumulated_token_usage": {"prompt_tokens": 30, "completion_tokens": 3},
        "token_usages": [
            {"response_id": "r1", "prompt_tokens": 10, "completion_tokens": 1},
            {"response_id": "r2", "prompt_tokens": 20, "completion_tokens": 2},
        ],
    }
    return {
        "id": "conv",
        "agent": {"llm": {"model": "m"}},
        "workspace": {},
        "execution_status": "finished",
        "stats": {"usage_to_metrics": {"agent": usage}},
        **fields,
    }


def folder(root: Path, *events: Record, **fields: object) -> Path:
    (root / "events").mkdir(parents=True)
    (root / "base_state.json").write_text(json.dumps(state(**fields)))
    for number, one in enumerate(events):
        (root / "events" / f"event-{number:05}-{one['id']}.json").write_text(json.dumps(one))
    return root


def read(folder: Path, *events: object) -> Trajectory:
    path = folder / "events.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in events))
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


def test_why_a_command_has_no_exit_code_is_part_of_its_result(tmp_path: Path) -> None:
    told = {"suffix": "\n[The command timed out after 30 seconds.]"}
    (call,) = calls(
        read(tmp_path, acted("a1", "c1"), observed("a1", "c1", "x", exit_code=-1, metadata=told))
    )
    assert call.result is not None
    assert call.result.text == "x\n[The command timed out after 30 seconds.]"


def test_parallel_calls_of_one_response_are_one_step(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        message("u", "go"),
        acted("a1", "c1", thought=[{"type": "text", "text": "look"}], reasoning_content="hm"),
        acted("a2", "c2", tool_name="file_editor", action={"command": "view", "path": "/w/a"}),
        observed("a2", "c2", "two"),
        observed("a1", "c1", "one", exit_code=1),
        message("m", "done", "agent", llm_response_id="r2"),
    )
    assert user_turns(trajectory) == ["go"]
    first, second = model_steps(trajectory)
    assert (first.text, first.thinking, first.duration_s, second.text) == (
        "look",
        "hm",
        1.5,
        "done",
    )
    assert [(one.kind, one.command or one.path) for one in first.calls] == [
        (ToolKind.SHELL, "ls"),
        (ToolKind.READ, "/w/a"),
    ]
    results = [one.result for one in first.calls]
    assert [(one.text, one.exit_code, one.is_error) for one in results if one] == [
        ("one", 1, False),
        ("two", None, False),
    ]


def test_the_exit_code_of_a_command_that_still_runs_is_unknown(tmp_path: Path) -> None:
    (call,) = calls(read(tmp_path, acted("a1", "c1"), observed("a1", "c1", "", exit_code=-1)))
    assert call.result is not None
    assert call.result.exit_code is None


def test_the_first_versions_tell_the_exit_code_beside_the_observation(tmp_path: Path) -> None:
    def early(number: int, code: int, **fields: object) -> tuple[Record, Record]:
        unknown: Record = {"content": None, "is_error": None, "exit_code": None}
        given: Record = {"output": f"o{number}", "error": False, "metadata": {"exit_code": code}}
        told = {**unknown, **given, **fields}
        return acted(f"a{number}", f"c{number}", f"r{number}"), observed(
            f"a{number}", f"c{number}", "", **told
        )

    events = [*early(1, 0), *early(2, 127), *early(3, -1), *early(4, 9, exit_code=2, error=True)]
    results = [call.result for call in calls(read(tmp_path, *events))]
    assert [(one.text, one.exit_code, one.is_error) for one in results if one] == [
        ("o1", 0, False),
        ("o2", 127, False),
        ("o3", None, False),
        ("o4", 2, True),
    ]


def test_what_the_first_versions_say_of_a_failure_is_the_result(tmp_path: Path) -> None:
    told: Record = {"content": None, "is_error": None, "output": "", "error": "no such file"}
    (call,) = calls(read(tmp_path, acted("a1", "c1"), observed("a1", "c1", "", **told)))
    assert call.result is not None
    assert (call.result.text, call.result.is_error) == ("no such file", True)


def test_what_a_finish_says_is_its_result(tmp_path: Path) -> None:
    told: Record = {"content": None, "message": "all done"}
    (call,) = calls(read(tmp_path, acted("a1", "c1"), observed("a1", "c1", "", **told)))
    assert call.result is not None
    assert call.result.text == "all done"


def test_a_screenshot_is_a_placeholder_that_opens(tmp_path: Path) -> None:
    seen = observed("a1", "c1", "page", screenshot_data="QUJD")
    (call,) = calls(read(tmp_path, acted("a1", "c1"), seen))
    assert call.result is not None
    assert [(one.media_type, one.size_bytes) for one in call.result.images] == [("image/png", 3)]


def test_a_call_that_was_no_valid_one_is_shown_as_the_model_wrote_it(tmp_path: Path) -> None:
    broken = acted("a1", "c1", tool_name="nope", tool_call={"arguments": '{"x": 1}'})
    odd = acted("a2", "c2", response="r2", tool_name="nope", tool_call={"arguments": "{oh"})
    del broken["action"], odd["action"]
    failed = event("AgentErrorEvent", "e1", tool_call_id="c1", error="Tool 'nope' not found")
    first, second = calls(read(tmp_path, broken, failed, odd))
    assert dict(first.arguments) == {"x": 1}
    assert first.result is not None
    assert first.result.is_error is True
    assert (second.raw_arguments, second.result) == ("{oh", None)


def test_a_rejected_call_is_an_error(tmp_path: Path) -> None:
    rejected = event(
        "UserRejectObservation", "x", "user", action_id="a1", tool_call_id="c1",
        rejection_reason="no",
    )  # fmt: skip
    (call,) = calls(read(tmp_path, acted("a1", "c1"), rejected))
    assert call.result is not None
    assert (call.result.text, call.result.is_error) == ("rejected: no", True)


def test_thinking_blocks_stand_for_reasoning_that_is_not_there(tmp_path: Path) -> None:
    blocks = [{"type": "thinking", "thinking": "deep"}]
    (step,) = model_steps(read(tmp_path, acted("a1", "c1", thinking_blocks=blocks)))
    assert step.thinking == "deep"


def test_images_are_placeholders_that_open(tmp_path: Path) -> None:
    shown = message("u", "look")
    picture = {"type": "image", "image_urls": ["data:image/png;base64,QUJD"]}
    shown["llm_message"]["content"].append(picture)
    (step,) = read(tmp_path, shown).steps
    assert [(one.media_type, one.size_bytes) for one in step.images] == [("image/png", 3)]


@pytest.mark.parametrize("is_array", [True, False])
@pytest.mark.parametrize("body", ["system_prompt", "llm_message"])
def test_the_first_event_may_be_longer_than_what_is_looked_at(
    tmp_path: Path, body: str, is_array: bool
) -> None:
    kind = "SystemPromptEvent" if body == "system_prompt" else "MessageEvent"
    first = {"id": "e", "timestamp": AT, "source": "agent", body: {"text": "x" * 100_000}}
    events = [{**first, "kind": kind}, message("u", "go")]
    path = tmp_path / "x"
    lines = "\n".join(map(json.dumps, events))
    path.write_text(json.dumps(events) if is_array else lines)
    assert find_trajectory_reader(path)[0].id == "openhands"
    assert user_turns(OpenHandsReader().read(path)) == ["go"]


def test_what_an_evaluation_answers_to_go_on_is_no_user_turn(tmp_path: Path) -> None:
    nudge = "Please continue working on the task on whatever approach you think is suitable."
    trajectory = read(tmp_path, message("u", "go"), message("n", nudge))
    assert user_turns(trajectory) == ["go"]
    assert trajectory.steps[-1].text == nudge


def test_a_condensation_is_no_user_turn(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        message("u", "go"),
        event("Condensation", "c", "environment", forgotten_event_ids=["a"], summary="so far"),
    )
    assert [step.kind for step in trajectory.steps] == [StepKind.MESSAGE, StepKind.COMPACTION]


def test_an_error_of_the_conversation_is_an_error(tmp_path: Path) -> None:
    failed = event("ConversationErrorEvent", "e", "environment", code="X", detail="out of budget")
    (step,) = read(tmp_path, failed).steps
    assert (step.is_error, step.text) == (True, "ConversationErrorEvent: out of budget")


def test_messages_of_the_environment_are_no_user_turns(tmp_path: Path) -> None:
    assert user_turns(read(tmp_path, message("x", "note", "environment"))) == []


def test_unknown_events_are_shown_raw_and_counted(tmp_path: Path) -> None:
    trajectory = read(tmp_path, acted("a1", "c1"), event("DreamEvent", "d"), [1])
    assert dict(trajectory.unknown_records) == {"DreamEvent": 1, "list": 1}


def test_calls_of_an_outside_agent_are_told_of_again_and_shown_once(tmp_path: Path) -> None:
    def told(event_id: str, call_id: str, status: str, **fields: Any) -> Record:
        given: Record = {"title": "Run ls", "tool_kind": "execute", "raw_input": {"command": "ls"}}
        return event(
            "ACPToolCallEvent", event_id, tool_call_id=call_id, status=status, **given, **fields
        )

    trajectory = read(
        tmp_path,
        told("e1", "c1", "pending"),
        told("e2", "c1", "completed", raw_output="a"),
        told("e3", "c2", "failed", raw_output="b", is_error=True),
    )
    assert len(model_steps(trajectory)) == 2
    assert [(one.command, one.result and one.result.is_error) for one in calls(trajectory)] == [
        ("ls", False),
        ("ls", True),
    ]


def test_a_conversation_folder_opens_by_its_path_and_by_its_state(tmp_path: Path) -> None:
    root = folder(
        tmp_path / "conv",
        message("u", "go"),
        acted("a1", "c1"),
        observed("a1", "c1", "x", exit_code=0),
        message("m", "done", "agent", llm_response_id="r2"),
    )
    for path in (root, root / "base_state.json"):
        assert find_trajectory_reader(path)[0].id == "openhands"
        trajectory = OpenHandsReader().read(path)
        assert [step.usage and step.usage.input_tokens for step in model_steps(trajectory)] == [
            10,
            20,
        ]
        assert {step.model for step in model_steps(trajectory)} == {"m"}
        assert trajectory.usage is not None
        assert (trajectory.usage.input_tokens, trajectory.usage.cost_usd) == (30, 0.2)
        assert trajectory.steps[-1].text == "conversation state: finished"
        assert trajectory.problems == ()


def test_a_folder_without_a_state_is_told_by_its_events(tmp_path: Path) -> None:
    root = folder(tmp_path / "conversation", message("u", "go"), acted("a", "c"))
    (root / "base_state.json").unlink()
    run = open_run(root)
    assert run.trajectory(run.run.stages[0].trajectories).tool_call_count == 1
    assert [path.name for path in iter_runs(tmp_path)] == ["conversation"]


def test_a_state_is_known_whatever_its_file_is_called(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(json.dumps(state(execution_status="stuck")))
    found = OpenHandsReader().read(path)
    assert (found.exit_status, found.model) == ("stuck", "m")


def test_a_state_without_events_opens(tmp_path: Path) -> None:
    (tmp_path / "base_state.json").write_text(json.dumps(state()))
    trajectory = OpenHandsReader().read(tmp_path)
    assert [step.text for step in trajectory.steps] == ["conversation state: finished"]
    assert trajectory.usage is not None


def test_events_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    root = folder(tmp_path / "conv")
    for number in (100000, 9, 10):
        one = message(f"u{number}", str(number))
        (root / "events" / f"event-{number:05}-u{number}.json").write_text(json.dumps(one))
    assert user_turns(OpenHandsReader().read(root)) == ["9", "10", "100000"]


def test_events_that_are_missing_are_reported(tmp_path: Path) -> None:
    root = folder(tmp_path / "conv", *(message(f"u{n}", str(n)) for n in range(4)))
    next(iter((root / "events").glob("event-00001-*"))).unlink()
    (root / "events" / ".eventlog-len-6.marker").touch()
    problems = OpenHandsReader().read(root).problems
    assert [problem.what for problem in problems] == ["3 of 6 events are not there (1, 4, 5)"]


def test_a_damaged_event_costs_itself_only(tmp_path: Path) -> None:
    root = folder(tmp_path / "conv", message("u0", "a"), message("u1", "b"))
    (damaged,) = (root / "events").glob("event-00001-*")
    damaged.write_text("junk")
    trajectory = OpenHandsReader().read(root)
    assert user_turns(trajectory) == ["a"]
    assert [str(damaged) in problem.where for problem in trajectory.problems] == [True]


def test_links_in_a_conversation_folder_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps(message("s", "secret")))
    root = folder(tmp_path / "conv", message("u0", "a"))
    (root / "events" / "event-00001-s.json").symlink_to(secret)
    trajectory = OpenHandsReader().read(root)
    assert user_turns(trajectory) == ["a"]
    assert any("a link" in problem.what for problem in trajectory.problems)


def test_a_sub_agent_stands_at_the_call_that_told_it_what_to_do(tmp_path: Path) -> None:
    task: Record = {"tool_name": "task", "action": {"kind": "TaskAction", "prompt": "dig"}}
    root = folder(
        tmp_path / "conv",
        message("u", "go"),
        acted("a1", "c1", **task),
        observed("a1", "c1", "dug"),
        message("m", "end", "agent"),
    )
    inner = (message("u2", "dig"), message("m2", "digging", "agent"))
    folder(root / "subagents" / "child", *inner, id="child")
    trajectory = OpenHandsReader().read(root)
    assert [(step.text, step.agent, step.parent_call) for step in model_steps(trajectory)] == [
        ("", None, None),
        ("digging", "child", "c1"),
        ("end", None, None),
    ]
    assert [(one.id, one.role) for one in trajectory.sessions] == [
        ("conv", SessionRole.MAIN),
        ("child", SessionRole.SUBAGENT),
    ]


def test_events_off_the_branch_are_shown_and_reported(tmp_path: Path) -> None:
    root = folder(
        tmp_path / "conv",
        message("u", "go"),
        message("x", "left", "agent", parent_id="u"),
        message("y", "right", "agent", parent_id="u"),
        leaf_event_id="y",
    )
    trajectory = OpenHandsReader().read(root)
    assert [step.text for step in model_steps(trajectory)] == ["left", "right"]
    assert any("1 events are not on the branch" in problem.what for problem in trajectory.problems)


def test_an_array_and_a_lone_event_open(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.json"
    for value in ([message("u", "go"), acted("a", "c")], message("u", "go")):
        path.write_text(json.dumps(value, indent=2))
        assert find_trajectory_reader(path)[0].id == "openhands"
        assert user_turns(OpenHandsReader().read(path)) == ["go"]


def test_metrics_in_events_count_where_there_is_no_state(tmp_path: Path) -> None:
    update = event(
        "ConversationStateUpdateEvent", "s", "environment", key="stats", value=state()["stats"]
    )
    trajectory = read(tmp_path, message("m", "x", "agent"), update)
    assert trajectory.usage is not None
    assert (trajectory.usage.input_tokens, trajectory.usage.cost_usd) == (30, 0.2)


def archive(path: Path, *events: Record) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for number, one in enumerate(events):
            data = json.dumps(one).encode()
            member = tarfile.TarInfo(f"conv/events/event-{number:05}-{one['id']}.json")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("conv/events/event-00099-l.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)


def test_an_output_without_a_history_takes_the_archive_beside_it(tmp_path: Path) -> None:
    archive(tmp_path / "conversations" / "i1.tar.gz", message("u", "go"), acted("a", "c"))
    record = {"instance_id": "i1", "test_result": {}, "instruction": "go", "metadata": {}}
    path = tmp_path / "output.jsonl"
    path.write_text(json.dumps({**record, "history": [], "metrics": {}}) + "\n")
    trajectory = OpenHandsReader().read(path)
    assert (user_turns(trajectory), trajectory.tool_call_count) == (["go"], 1)


def test_a_damaged_archive_says_so(tmp_path: Path) -> None:
    path = tmp_path / "c.tar.gz"
    archive(path, *(message(f"u{n}", "x" * 500) for n in range(50)))
    path.write_bytes(path.read_bytes()[:200])
    problems = OpenHandsReader().read(path).problems
    assert any("damaged archive" in problem.what for problem in problems)


def test_two_stages_in_one_conversation_are_two_user_turns(cases: Path) -> None:
    (root,) = (cases / "formats" / "openhands-v1" / "generated-two-stage").iterdir()
    assert user_turns(OpenHandsReader().read(root)) == [
        "Stage 1: fix the word count in wc.py.",
        "Stage 2: add one more test.",
    ]


@pytest.mark.parametrize("value", [float("nan"), "\ud800", 10**30, None, [], {"a": [[]]}, [1]])
def test_odd_values_break_nothing(tmp_path: Path, value: object) -> None:
    fields = ("thought", "action", "tool_call", "tool_call_id", "observation", "llm_message")
    odd: Record = dict.fromkeys(
        (*fields, "llm_response_id", "raw_input", "content", "key", "value"), value
    )
    kinds = ("ActionEvent", "ObservationEvent", "MessageEvent", "ACPToolCallEvent", "Condensation")
    events = [event(kind, f"e{n}", **odd) for n, kind in enumerate(kinds)]
    events.append(event("ConversationStateUpdateEvent", "z", **odd))
    trajectory = read(tmp_path, message("u", "go"), *events)
    assert user_turns(trajectory)[0] == "go"
