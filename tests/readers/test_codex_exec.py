"""Streams of `codex exec --json`, old and new: responses told apart, tokens of a thread once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolKind, Trajectory
from arcview.model.trajectory_refs import SessionRole
from arcview.readers.registry import find_trajectory_reader
from arcview.readers.trajectories.codex import CodexReader

Record = dict[str, Any]


def start(thread: str = "t1") -> Record:
    return {"type": "thread.started", "thread_id": thread}


def item(kind: str, item_id: str = "item_0", stage: str = "completed", **fields: object) -> Record:
    return {"type": f"item.{stage}", "item": {"id": item_id, "type": kind, **fields}}


def command(item_id: str, stage: str, code: int | None = None, output: str = "") -> Record:
    status = "in_progress" if code is None else ("completed" if code == 0 else "failed")
    fields = {"aggregated_output": output, "exit_code": code, "status": status}
    return item("command_execution", item_id, stage, command="/bin/bash -lc 'x y'", **fields)


def turn_end(total: int) -> Record:
    usage = {"input_tokens": total, "cached_input_tokens": total // 2, "output_tokens": total // 10}
    return {"type": "turn.completed", "usage": usage}


def old(kind: str, **fields: object) -> Record:
    return {"id": "0", "msg": {"type": kind, **fields}}


def write(folder: Path, *records: Record, name: str = "stdout.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def read(folder: Path, *records: Record) -> Trajectory:
    return CodexReader().read(write(folder, *records))


def model_steps(trajectory: Trajectory) -> list[Step]:
    return [step for step in trajectory.steps if step.number is not None]


def calls(trajectory: Trajectory) -> list[ToolCall]:
    return [call for step in trajectory.steps for call in step.calls]


def test_calls_that_run_side_by_side_belong_to_one_response(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        start(),
        {"type": "turn.started"},
        item("reasoning", "item_0", text="hm"),
        item("agent_message", "item_1", text="looking"),
        command("item_2", "started"),
        command("item_3", "started"),
        command("item_3", "completed", 0, "b"),
        command("item_2", "completed", 1, "a"),
        command("item_4", "started"),
        command("item_4", "completed", 0),
        item("agent_message", "item_5", text="done"),
    )
    steps = model_steps(trajectory)
    assert [len(step.calls) for step in steps] == [2, 1, 0]
    assert (steps[0].thinking, steps[0].text) == ("hm", "looking")
    results = [call.result for call in steps[0].calls]
    assert [(one.text, one.exit_code) for one in results if one] == [("a", 1), ("b", 0)]


def test_a_todo_list_that_stays_open_joins_no_later_commands(tmp_path: Path) -> None:
    todo = [{"text": "a", "completed": False}]
    trajectory = read(
        tmp_path,
        start(),
        item("todo_list", "item_0", "started", items=todo),
        command("item_1", "started"),
        command("item_1", "completed", 0),
        item("todo_list", "item_0", "updated", items=[{"text": "a", "completed": True}]),
        command("item_2", "started"),
        command("item_2", "completed", 0),
    )
    assert [len(step.calls) for step in model_steps(trajectory)] == [1, 1, 1]
    assert calls(trajectory)[0].arguments["items"] == [{"text": "a", "completed": True}]


def test_a_command_is_what_the_shell_ran_and_its_code_says_how_it_ended(tmp_path: Path) -> None:
    (call,) = calls(read(tmp_path, start(), command("item_1", "completed", 3, "out")))
    assert (call.kind, call.command) == (ToolKind.SHELL, "x y")
    assert call.result is not None
    assert (call.result.exit_code, call.result.is_error) == (3, None)


def test_a_stream_that_is_cut_off_leaves_a_call_without_a_result(tmp_path: Path) -> None:
    (call,) = calls(read(tmp_path, start(), command("item_1", "started")))
    assert call.result is None


def test_a_declined_command_is_an_error(tmp_path: Path) -> None:
    declined = item("command_execution", status="declined", command="rm x", exit_code=None)
    (call,) = calls(read(tmp_path, start(), declined))
    assert call.result is not None
    assert call.result.is_error is True


def test_a_file_change_says_that_its_text_is_not_there(tmp_path: Path) -> None:
    changes = [{"path": "/w/a.py", "kind": "add"}]
    (call,) = calls(read(tmp_path, start(), item("file_change", changes=changes, status="failed")))
    assert (call.kind, call.path) == (ToolKind.EDIT, "/w/a.py")
    assert call.note == "this log holds no text of the change"
    assert call.result is not None
    assert call.result.is_error is True


def test_a_call_of_a_server_has_its_answer(tmp_path: Path) -> None:
    made = item(
        "mcp_tool_call",
        server="s",
        tool="t",
        arguments={"a": 1},
        status="completed",
        result={"content": [{"type": "text", "text": "42"}]},
    )
    (call,) = calls(read(tmp_path, start(), made))
    assert (call.name, dict(call.arguments)) == ("s.t", {"a": 1})
    assert call.result is not None
    assert call.result.text == "42"


def test_a_sub_agent_call_is_a_task(tmp_path: Path) -> None:
    made = item("collab_tool_call", tool="spawn_agent", prompt="dig", status="completed")
    assert calls(read(tmp_path, start(), made))[0].kind is ToolKind.TASK


def test_tokens_of_a_resumed_thread_count_once_over_both_files(tmp_path: Path) -> None:
    first = write(tmp_path, start(), turn_end(100), name="1.jsonl")
    second = write(tmp_path, start(), turn_end(160), name="2.jsonl")
    trajectory = CodexReader().read(first, [second])
    used = [step.usage.input_tokens for step in trajectory.steps if step.usage]
    assert used == [100, 60]
    assert trajectory.usage is not None
    assert (trajectory.usage.input_tokens, trajectory.usage.cost_usd) == (160, None)


def test_a_stream_says_that_its_tokens_are_those_of_the_thread(tmp_path: Path) -> None:
    (session,) = read(tmp_path, start(), turn_end(100)).sessions
    assert session.note is not None
    assert "whole thread" in session.note


def test_a_stream_and_the_rollout_of_its_thread_are_shown_once(tmp_path: Path) -> None:
    stream = write(tmp_path, start(), item("agent_message", text="hi"), turn_end(100))
    rollout = write(
        tmp_path,
        {"timestamp": "", "type": "session_meta", "payload": {"id": "t1"}},
        {
            "timestamp": "2026-01-01T10:00:00Z",
            "type": "response_item",
            "payload": {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "hi"}],
            },
        },
        name="rollout-t1.jsonl",
    )
    trajectory = CodexReader().read(stream, [rollout])
    assert [(step.text, step.at) for step in model_steps(trajectory)] == [
        ("hi", "2026-01-01T10:00:00Z")
    ]
    assert [session.role for session in trajectory.sessions] == [SessionRole.MAIN]


def test_warnings_are_notes_and_failed_turns_are_errors(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        start(),
        item("error", message="metadata not found"),
        {"type": "error", "message": "stream disconnected"},
        {"type": "turn.failed", "error": {"message": "usage limit"}},
    )
    notes = [(step.text, step.is_error) for step in trajectory.steps[1:]]
    assert notes == [
        ("warning or error: metadata not found", False),
        ("error: stream disconnected", True),
        ("turn.failed: usage limit", True),
    ]


def test_unknown_records_and_items_are_shown_raw_and_counted(tmp_path: Path) -> None:
    trajectory = read(tmp_path, start(), {"type": "turn.dreamt"}, item("telepathy"))
    assert dict(trajectory.unknown_records) == {"item telepathy": 1, "turn.dreamt": 1}
    assert sum(step.kind is StepKind.RAW for step in trajectory.steps) == 2


def test_the_names_of_september_2025_are_known(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"type": "session.created", "session_id": "s1"},
        {"type": "item.completed", "item": {"id": "itm_0", "item_type": "reasoning", "text": "h"}},
        {
            "type": "item.completed",
            "item": {
                "id": "itm_1",
                "item_type": "command_execution",
                "command": "bash -lc ls",
                "aggregated_output": "a",
                "exit_code": 0,
                "status": "completed",
            },
        },
        {
            "type": "item.completed",
            "item": {"id": "itm_2", "item_type": "assistant_message", "text": "ok"},
        },
    )
    assert find_trajectory_reader(path)[0].id == "codex"
    trajectory = CodexReader().read(path)
    assert [(step.thinking, step.text) for step in model_steps(trajectory)] == [
        ("h", ""),
        ("", "ok"),
    ]
    assert calls(trajectory)[0].command == "ls"


OLD = [
    {"model": "gpt-5", "provider": "openai", "workdir": "/w", "sandbox": "read-only"},
    {"prompt": "go"},
    old("task_started"),
    old("agent_reasoning", text="hm"),
    old("exec_command_begin", call_id="c1", command=["bash", "-lc", "ls"], cwd="/w"),
    old("exec_command_output_delta", call_id="c1", chunk="YQo="),
    old("exec_command_end", call_id="c1", stdout="a\n", stderr="", exit_code=2, duration={}),
    old(
        "token_count",
        info={
            "total_token_usage": {"input_tokens": 10, "output_tokens": 1},
            "last_token_usage": {"input_tokens": 10, "output_tokens": 1},
        },
    ),
    old("patch_apply_begin", call_id="c2", auto_approved=True, changes={"/w/a": {"add": {}}}),
    old("patch_apply_end", call_id="c2", success=True, stdout="Done", stderr=""),
    old("agent_message", message="ok"),
    old(
        "token_count",
        info={
            "total_token_usage": {"input_tokens": 30, "output_tokens": 3},
            "last_token_usage": {"input_tokens": 20, "output_tokens": 2},
        },
    ),
    old("task_complete", last_agent_message="ok"),
]


def test_the_events_of_old_clients_open(tmp_path: Path) -> None:
    path = write(tmp_path, *OLD)
    assert find_trajectory_reader(path)[0].id == "codex"
    trajectory = CodexReader().read(path)
    assert [step.text for step in trajectory.steps if step.role is Role.USER] == ["go"]
    steps = model_steps(trajectory)
    assert [(step.thinking, step.text, len(step.calls)) for step in steps] == [
        ("hm", "", 1),
        ("", "", 1),
        ("", "ok", 0),
    ]
    assert {step.model for step in steps} == {"gpt-5"}
    shell, patch = calls(trajectory)
    assert shell.result is not None
    assert (shell.command, shell.result.text, shell.result.exit_code) == ("ls", "a\n", 2)
    assert patch.result is not None
    assert (patch.kind, patch.path, patch.result.is_error) == (ToolKind.EDIT, "/w/a", False)
    assert trajectory.usage is not None
    assert trajectory.usage.input_tokens == 30
    assert trajectory.unknown_records == ()


def test_the_flat_token_counts_of_the_oldest_clients_add_up(tmp_path: Path) -> None:
    counts = [old("token_count", input_tokens=n, output_tokens=1) for n in (10, 20)]
    trajectory = read(tmp_path, old("agent_message", message="a"), *counts)
    assert trajectory.usage is not None
    assert (trajectory.usage.input_tokens, trajectory.usage.output_tokens) == (30, 2)


def test_two_runs_in_one_file_have_calls_of_their_own(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        start(),
        command("item_0", "completed", 0, "first"),
        start(),
        command("item_0", "completed", 1, "second"),
    )
    found = calls(trajectory)
    assert [call.result and call.result.text for call in found] == ["first", "second"]
    assert len({call.key for call in found}) == 2


@pytest.mark.parametrize("value", [float("nan"), "\ud800", 10**30, None, [], {"a": [[]]}])
def test_odd_values_break_nothing(tmp_path: Path, value: object) -> None:
    fields = ("text", "message", "command", "changes", "status", "result", "error", "arguments")
    kinds = ("agent_message", "command_execution", "file_change", "mcp_tool_call", "todo_list")
    odd = dict.fromkeys(fields, value)
    records: list[Record] = [
        {"type": "item.completed", "item": {"id": kind, "type": kind, **odd}} for kind in kinds
    ]
    records += [
        {"type": "turn.completed", "usage": value},
        {"type": "item.completed", "item": value},
    ]
    records += [
        old("exec_command_end", call_id=value, command=value),
        old("token_count", info=value),
    ]
    trajectory = read(tmp_path, start(), *records)
    assert trajectory.sessions[0].id == "t1"
