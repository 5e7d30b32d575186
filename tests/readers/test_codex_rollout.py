"""Codex rollouts of every era: counted once, calls with their facts, damage where it is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolKind, Trajectory
from arcview.model.trajectory_refs import SessionRole
from arcview.readers.registry import find_trajectory_reader
from arcview.readers.trajectories.codex import CodexReader

Record = dict[str, Any]


def line(kind: str, payload: Record, **more: object) -> Record:
    return {"timestamp": "2026-01-01T10:00:00.000Z", "type": kind, "payload": payload, **more}


def item(kind: str, **fields: object) -> Record:
    return line("response_item", {"type": kind, **fields})


def event(kind: str, **fields: object) -> Record:
    return line("event_msg", {"type": kind, **fields})


def done(kind: str, **fields: object) -> Record:
    return event("item_completed", item={"type": kind, **fields})


def meta(thread: str = "t1", **fields: object) -> Record:
    return line("session_meta", {"id": thread, "cwd": "/w", "cli_version": "0.50.0", **fields})


def said(role: str, text: str, **fields: object) -> Record:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}], **fields)


def shell(call_id: str, *words: str) -> Record:
    arguments = json.dumps({"command": list(words)})
    return item("function_call", name="shell", arguments=arguments, call_id=call_id)


def answer(call_id: str, output: object) -> Record:
    return item("function_call_output", call_id=call_id, output=output)


def tokens(last: int, total: int) -> Record:
    info = {
        name: {"input_tokens": count, "cached_input_tokens": 1, "output_tokens": count // 10}
        for name, count in (("last_token_usage", last), ("total_token_usage", total))
    }
    return event("token_count", info=info)


def jsonl(records: Iterable[Record]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def write(folder: Path, *records: Record, name: str = "rollout-t1.jsonl") -> Path:
    path = folder / name
    path.write_bytes(jsonl(records))
    return path


def read(folder: Path, *records: Record) -> Trajectory:
    return CodexReader().read(write(folder, *records))


def model_steps(trajectory: Trajectory) -> list[Step]:
    return [step for step in trajectory.steps if step.number is not None]


def user_turns(trajectory: Trajectory) -> list[str]:
    return [
        step.text
        for step in trajectory.steps
        if step.role is Role.USER and step.kind is StepKind.MESSAGE
    ]


def only_call(trajectory: Trajectory) -> ToolCall:
    (call,) = (call for step in trajectory.steps for call in step.calls)
    return call


def test_one_response_is_one_step_with_its_thoughts_words_and_calls(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        said("user", "go"),
        item("reasoning", summary=[{"type": "summary_text", "text": "hm"}], encrypted_content="x"),
        said("assistant", "looking"),
        shell("c1", "ls"),
        shell("c2", "pwd"),
        answer("c1", "a\n"),
        answer("c2", "/w\n"),
        said("assistant", "done"),
    )
    first, second = model_steps(trajectory)
    assert (first.thinking, first.text) == ("hm", "looking")
    assert [call.key for call in first.calls] == ["c1", "c2"]
    assert second.text == "done"


def test_encrypted_reasoning_is_said_to_be_there(tmp_path: Path) -> None:
    trajectory = read(tmp_path, meta(), item("reasoning", summary=[], encrypted_content="xxx"))
    assert "encrypted" in model_steps(trajectory)[0].thinking


def test_parallel_calls_take_results_that_come_out_of_order(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path, meta(), shell("c1", "a"), shell("c2", "b"), answer("c2", "2"), answer("c1", "1")
    )
    (step,) = model_steps(trajectory)
    assert [call.result.text for call in step.calls if call.result] == ["1", "2"]


@pytest.mark.parametrize(
    ("output", "text", "code"),
    [
        ("plain", "plain", None),
        ('{"output":"out","metadata":{"exit_code":2,"duration_seconds":0.1}}', "out", 2),
        ("Exit code: 3\nWall time: 0.1 seconds\nOutput:\nx", None, 3),
        ("Chunk ID: a\nWall time: 1 s\nProcess exited with code 4\nOutput:\nx", None, 4),
        ("Wall time: 0 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\n", None, 0),
        ("Chunk ID: a\nProcess running with session ID 7\nOutput:\nExit code: 9", None, None),
        ("text first\nExit code: 5", None, None),
        ('{"output":"no metadata"}', '{"output":"no metadata"}', None),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\nb", None),
        ({"content": "inner", "success": True}, "inner", None),
        (None, "", None),
    ],
)
def test_every_shape_of_an_output_is_read(
    tmp_path: Path, output: object, text: str | None, code: int | None
) -> None:
    result = only_call(read(tmp_path, meta(), shell("c", "x"), answer("c", output))).result
    assert result is not None
    assert result.exit_code == code
    assert result.text == (output if text is None else text)


@pytest.mark.parametrize(
    "told", ["unsupported call: nope", "apply_patch verification failed: no such file"]
)
def test_a_refused_call_is_an_error_without_an_exit_code(tmp_path: Path, told: str) -> None:
    result = only_call(read(tmp_path, meta(), shell("c", "x"), answer("c", told))).result
    assert result is not None
    assert (result.is_error, result.exit_code) == (True, None)


def test_the_command_is_what_the_shell_ran(tmp_path: Path) -> None:
    trajectory = read(tmp_path, meta(), shell("c", "bash", "-lc", "pytest -q | tail -3"))
    assert only_call(trajectory).command == "pytest -q | tail -3"


@pytest.mark.parametrize(
    "call",
    [
        item("custom_tool_call", name="apply_patch", call_id="c", input="PATCH"),
        item(
            "function_call",
            name="shell",
            call_id="c",
            arguments=json.dumps({"command": ["apply_patch", "PATCH"]}),
        ),
    ],
)
def test_a_patch_is_an_edit_of_the_file_that_it_names(tmp_path: Path, call: Record) -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n*** End Patch"
    record = json.loads(json.dumps(call).replace("PATCH", json.dumps(patch)[1:-1]))
    if call["payload"]["type"] == "function_call":
        record["payload"]["arguments"] = json.dumps({"command": ["apply_patch", patch]})
    made = only_call(read(tmp_path, meta(), record))
    assert (made.kind, made.path) == (ToolKind.EDIT, "src/a.py")
    assert made.arguments["input"] == patch


HEREDOC = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: wc.py\n-a\n+b\n*** End Patch\nEOF"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("exec_command", {"cmd": HEREDOC}),
        ("shell", {"command": ["bash", "-lc", f"{HEREDOC}\n"]}),
        ("shell_command", {"command": HEREDOC.replace("'EOF'", '"EOF"')}),
    ],
)
def test_a_patch_in_a_heredoc_is_an_edit_too(
    tmp_path: Path, name: str, arguments: dict[str, object]
) -> None:
    call = item("function_call", name=name, call_id="c", arguments=json.dumps(arguments))
    made = only_call(read(tmp_path, meta(), call))
    assert (made.kind, made.path, made.command) == (ToolKind.EDIT, "wc.py", None)
    assert str(made.arguments["input"]).endswith("+b\n*** End Patch")


@pytest.mark.parametrize("line", [f"cd sub && {HEREDOC}", f"{HEREDOC}\npytest -q"])
def test_a_line_that_does_more_than_patch_is_a_command(tmp_path: Path, line: str) -> None:
    call = item("function_call", name="shell", call_id="c", arguments=json.dumps({"cmd": line}))
    made = only_call(read(tmp_path, meta(), call))
    assert (made.kind, made.command) == (ToolKind.SHELL, line)


def test_arguments_that_are_not_json_are_kept_as_they_are(tmp_path: Path) -> None:
    call = only_call(
        read(tmp_path, meta(), item("function_call", name="x", arguments="{oh", call_id="c"))
    )
    assert (call.raw_arguments, dict(call.arguments)) == ("{oh", {})
    assert call.note == "the arguments are not JSON"


def test_built_in_tools_have_names_and_kinds(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        item("local_shell_call", call_id="l", action={"type": "exec", "command": ["ls"]}),
        item("web_search_call", id="w", action={"type": "search", "query": "q"}),
    )
    (step,) = model_steps(trajectory)
    assert [(call.name, call.kind) for call in step.calls] == [
        ("local_shell", ToolKind.SHELL),
        ("web_search", ToolKind.SEARCH),
    ]
    assert step.calls[0].command == "ls"


def test_events_that_repeat_response_items_are_shown_once(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        said("user", "go"),
        event("user_message", message="go"),
        event("agent_reasoning", text="hm"),  # old clients: events first
        event("agent_message", message="hello"),
        item("reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
        said("assistant", "hello"),
        done("AgentMessage", id="m", content=[{"type": "Text", "text": "hello again"}]),
        said("assistant", "hello again"),
    )
    assert user_turns(trajectory) == ["go"]
    (step,) = model_steps(trajectory)
    assert (step.thinking, step.text) == ("hm", "hello\nhello again")


def test_events_alone_are_shown_where_no_item_says_the_same(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        event("user_message", message="go"),
        event("agent_reasoning", text="hm"),
        event("agent_message", message="hello"),
    )
    assert user_turns(trajectory) == ["go"]
    assert [(step.thinking, step.text) for step in model_steps(trajectory)] == [("hm", "hello")]


def test_the_same_words_said_twice_are_two_turns(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        said("user", "go on"),
        event("user_message", message="go on"),
        said("assistant", "ok"),
        said("user", "go on"),
        event("user_message", message="go on"),
    )
    assert user_turns(trajectory) == ["go on", "go on"]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n<cwd>/w</cwd>\n</environment_context>",
        "<user_instructions>\nbe nice\n</user_instructions>",
        "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>",
        "<turn_aborted>\nreason\n</turn_aborted>",
    ],
)
def test_what_the_client_says_for_the_user_is_no_user_turn(tmp_path: Path, text: str) -> None:
    trajectory = read(tmp_path, meta(), said("user", text), said("user", "real"))
    assert user_turns(trajectory) == ["real"]


def test_provenance_says_who_wrote_a_message(tmp_path: Path) -> None:
    def from_(source: str) -> Record:
        kinds = [{"provenance": {"type": source}}]
        return {"internal_chat_message_metadata_passthrough": {"content_item_metadata": kinds}}

    trajectory = read(
        tmp_path,
        meta(),
        said("user", "injected", **from_("harness")),
        said("user", "<skill> is what I ask for", **from_("user")),
    )
    assert user_turns(trajectory) == ["<skill> is what I ask for"]


def test_developer_messages_are_notes(tmp_path: Path) -> None:
    trajectory = read(tmp_path, meta(), said("developer", "rules"))
    assert [step.kind for step in trajectory.steps if step.text == "rules"] == [StepKind.NOTE]


def test_usage_that_comes_after_a_response_belongs_to_it(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        said("user", "go"),
        event("token_count", info=None),
        shell("c1", "a"),
        tokens(100, 100),
        tokens(100, 100),
        answer("c1", ""),
        said("assistant", "done"),
        tokens(250, 350),
    )
    used = [step.usage.input_tokens for step in model_steps(trajectory) if step.usage]
    assert used == [100, 250]
    assert trajectory.usage is not None
    assert (trajectory.usage.input_tokens, trajectory.usage.output_tokens) == (350, 35)
    assert trajectory.usage.cost_usd is None


def test_usage_that_old_clients_wrote_before_a_response_belongs_to_it(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        said("user", "go"),
        tokens(100, 100),
        shell("c1", "a"),
        answer("c1", ""),
        tokens(250, 350),
        said("assistant", "done"),
    )
    used = [step.usage.input_tokens for step in model_steps(trajectory) if step.usage]
    assert used == [100, 250]


def test_usage_of_what_is_not_shown_shifts_no_other(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        said("assistant", "a"),
        tokens(100, 100),
        said("user", "on"),
        tokens(7, 107),  # such as the making of a summary
        shell("c1", "x"),
        tokens(250, 357),
        answer("c1", ""),
        said("assistant", "b"),
        tokens(300, 657),
    )
    used = [step.usage.input_tokens for step in model_steps(trajectory) if step.usage]
    assert used == [100, 250, 300]
    assert trajectory.usage is not None
    assert trajectory.usage.input_tokens == 657


def test_a_resumed_thread_counts_only_what_this_rollout_spent(tmp_path: Path) -> None:
    trajectory = read(tmp_path, meta(), said("assistant", "a"), tokens(50, 1050))
    assert trajectory.usage is not None
    assert trajectory.usage.input_tokens == 50


def test_a_usage_record_and_the_event_that_repeats_it_count_once(tmp_path: Path) -> None:
    usage = {"input_tokens": 70, "cached_input_tokens": 1, "output_tokens": 7}
    record = line("token_usage_record", {"usage": usage, "thread_token_usage": usage})
    trajectory = read(
        tmp_path, meta(), shell("c", "a"), record, answer("c", ""), tokens(70, 70), shell("d", "b")
    )
    first, second = model_steps(trajectory)
    assert first.usage is not None
    assert first.usage.input_tokens == 70
    assert second.usage is None


def test_an_execution_event_gives_exit_code_and_whole_output(tmp_path: Path) -> None:
    fact = {"command": ["bash", "-lc", "x"], "aggregated_output": "y" * 500, "exit_code": 1}
    trajectory = read(
        tmp_path,
        meta(),
        shell("c", "x"),
        done("CommandExecution", id="c", status="failed", **fact),
        answer("c", "y…y"),
    )
    call = only_call(trajectory)
    assert call.result is not None
    assert (call.result.exit_code, call.result.is_error) == (1, None)
    assert call.result.text == "y" * 500
    assert call.note == "the model was shown 3 of 500 characters"


def test_an_execution_without_a_recorded_output_is_the_result(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        shell("c", "x"),
        event("exec_command_end", call_id="c", command=["x"], stdout="out", stderr="", exit_code=0),
    )
    result = only_call(trajectory).result
    assert result is not None
    assert (result.text, result.exit_code) == ("out", 0)


def test_a_failed_patch_event_marks_the_call(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        item("custom_tool_call", name="apply_patch", call_id="c", input="*** Begin Patch"),
        event("patch_apply_end", call_id="c", success=False, stdout="", stderr="no", changes={}),
        item("custom_tool_call_output", call_id="c", output="failed"),
    )
    result = only_call(trajectory).result
    assert result is not None
    assert result.is_error is True


def test_what_the_client_ran_for_a_script_of_the_model_is_shown_beside_it(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        item("custom_tool_call", name="exec", call_id="c", input="await run('pytest')"),
        done("CommandExecution", id="e1", command=["pytest"], aggregated_output="ok", exit_code=0),
        item("custom_tool_call_output", call_id="c", output="ok"),
    )
    (step,) = model_steps(trajectory)
    assert [call.command for call in step.calls] == [None, "pytest"]
    assert step.calls[1].note is not None


def test_a_command_of_the_user_is_no_call_of_the_model(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        said("assistant", "hi"),
        event("task_complete"),
        event("exec_command_end", call_id="u", command=["ls"], exit_code=0, source="user_shell"),
    )
    (step,) = (step for step in trajectory.steps if step.calls)
    assert (step.role, step.number) == (Role.USER, None)


def test_a_call_id_that_comes_again_is_paired_in_order_and_flagged(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path, meta(), shell("c", "a"), answer("c", "1"), shell("c", "b"), answer("c", "2")
    )
    calls = [call for step in trajectory.steps for call in step.calls]
    assert [(call.key, call.result and call.result.text) for call in calls] == [
        ("c", "1"),
        ("c#2", "2"),
    ]
    assert calls[1].note is not None
    assert any("used again" in problem.what for problem in trajectory.problems)


def test_a_result_without_a_call_is_shown_as_an_orphan(tmp_path: Path) -> None:
    trajectory = read(tmp_path, meta(), answer("lost", "text"))
    assert any(
        "without a call: lost\ntext" in step.text.replace(")", "") for step in trajectory.steps
    )
    assert any("without a call: lost" in problem.what for problem in trajectory.problems)


def test_a_result_before_its_call_is_paired(tmp_path: Path) -> None:
    trajectory = read(tmp_path, meta(), answer("c", "early"), shell("c", "a"))
    result = only_call(trajectory).result
    assert result is not None
    assert result.text == "early"
    assert trajectory.problems == ()


def test_a_compaction_is_one_step_and_no_user_turn(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        said("user", "go"),
        line("compacted", {"message": "what was done", "replacement_history": [{}, {}]}),
        event("context_compacted"),
        said("user", "Another language model started to solve this problem and produced a summary"),
    )
    (step,) = (step for step in trajectory.steps if step.kind is StepKind.COMPACTION)
    assert "what was done" in step.text
    assert user_turns(trajectory) == ["go"]


def test_images_are_placeholders_that_open(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        item(
            "message",
            role="user",
            content=[
                {"type": "input_text", "text": "<image name=[Image #1]>"},
                {"type": "input_image", "image_url": "data:image/png;base64,QUJD"},
                {"type": "input_text", "text": "</image>"},
                {"type": "input_text", "text": "look"},
            ],
        ),
    )
    (step,) = (step for step in trajectory.steps if step.images)
    assert (step.images[0].media_type, step.images[0].data_base64) == ("image/png", "QUJD")
    assert step.images[0].size_bytes == 3
    assert step.text == "look"


def test_the_model_is_that_of_the_turn(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        line("turn_context", {"model": "m1"}),
        said("assistant", "a"),
        said("user", "go"),
        line("turn_context", {"model": "m2"}),
        said("assistant", "b"),
    )
    assert [step.model for step in model_steps(trajectory)] == ["m1", "m2"]


def test_an_aborted_turn_is_an_error(tmp_path: Path) -> None:
    trajectory = read(tmp_path, meta(), event("turn_aborted", reason="interrupted"))
    assert [step.text for step in trajectory.steps if step.is_error] == [
        "turn_aborted: interrupted"
    ]


@pytest.mark.parametrize(
    ("num_turns", "turns"), [(1, ["one", "three"]), (2, ["three"]), (9, ["three"]), (None, None)]
)
def test_turns_that_were_rolled_back_are_none(
    tmp_path: Path, num_turns: object, turns: list[str] | None
) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        *(said("user", "one"), said("assistant", "A")),
        *(said("user", "two"), said("assistant", "B")),
        event("thread_rolled_back", num_turns=num_turns),
        *(said("user", "three"), said("assistant", "C")),
    )
    assert user_turns(trajectory) == (turns or ["one", "two", "three"])
    assert [step.text for step in model_steps(trajectory)] == ["A", "B", "C"]


def test_times_are_kept_and_measured(tmp_path: Path) -> None:
    call = {**shell("c", "a"), "timestamp": "2026-01-01T10:00:00.000Z"}
    out = {**answer("c", ""), "timestamp": "2026-01-01T10:00:02.500Z"}
    (step,) = model_steps(read(tmp_path, meta(), call, out))
    assert (step.at, step.duration_s) == ("2026-01-01T10:00:00.000Z", 2.5)


def test_times_that_cannot_be_compared_give_no_duration(tmp_path: Path) -> None:
    call = {**shell("c", "a"), "timestamp": "yesterday"}
    (step,) = model_steps(read(tmp_path, meta(), call, answer("c", "")))
    assert (step.at, step.duration_s) == ("yesterday", None)


def test_unknown_records_are_shown_raw_and_counted(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(),
        line("hologram", {"a": 1}),
        item("telepathy", x=1),
        item("telepathy", x=2),
        event("sneeze"),
        done("Dream"),
        said("oracle", "hm"),
    )
    assert dict(trajectory.unknown_records) == {
        "hologram": 1,
        "item_completed Dream": 1,
        "message of oracle": 1,
        "sneeze": 1,
        "telepathy": 2,
    }
    assert sum(step.kind is StepKind.RAW for step in trajectory.steps) == 6


BARE: list[Record] = [
    {"id": "b1", "timestamp": "2025-08-01T00:00:00Z", "instructions": None, "git": {}},
    {"record_type": "state"},
    {
        "type": "message",
        "id": None,
        "role": "user",
        "content": [{"type": "input_text", "text": "go"}],
    },
    {"record_type": "state"},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
    {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c"},
    {
        "type": "function_call_output",
        "call_id": "c",
        "output": '{"output":"a\\n","metadata":{"exit_code":0,"duration_seconds":0.0}}',
    },
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]},
]


def test_a_bare_rollout_opens(tmp_path: Path) -> None:
    trajectory = read(tmp_path, *BARE)
    first, second = model_steps(trajectory)
    assert (first.thinking, first.at, second.text) == ("hm", None, "ok")
    assert only_call(trajectory).result is not None
    assert user_turns(trajectory) == ["go"]
    assert [session.id for session in trajectory.sessions] == ["b1"]


@pytest.mark.parametrize("first", [0, 1, 2, 5, 6, 7])
def test_a_bare_rollout_is_recognised_by_any_of_its_records(tmp_path: Path, first: int) -> None:
    assert find_trajectory_reader(write(tmp_path, BARE[first]))[0].id == "codex"


def test_the_document_of_the_first_client_opens(tmp_path: Path) -> None:
    path = tmp_path / "rollout-x.json"
    path.write_text(json.dumps({"session": {"id": "ts"}, "items": BARE[2:]}, indent=2))
    assert find_trajectory_reader(path)[0].id == "codex"
    trajectory = CodexReader().read(path)
    assert len(model_steps(trajectory)) == 2
    assert [session.id for session in trajectory.sessions] == ["ts"]


def test_a_packed_rollout_opens(tmp_path: Path) -> None:
    records = jsonl([meta(), said("user", "go"), said("assistant", "ok")])
    path = tmp_path / "rollout-t1.jsonl.zst"
    path.write_bytes(zstandard.ZstdCompressor(level=3).compress(records))
    assert find_trajectory_reader(path)[0].id == "codex"
    assert [step.text for step in model_steps(CodexReader().read(path))] == ["ok"]


def test_a_packed_rollout_that_is_cut_off_is_shown_up_to_there(tmp_path: Path) -> None:
    records = jsonl([meta(), *(said("assistant", f"{n} {'x' * n}") for n in range(2000))])
    path = tmp_path / "rollout-t1.jsonl.zst"
    packed = zstandard.ZstdCompressor(level=3).compress(records)
    path.write_bytes(packed[: len(packed) // 2])
    trajectory = CodexReader().read(path)
    assert model_steps(trajectory)
    assert trajectory.problems


def test_a_packed_rollout_that_is_damaged_says_so(tmp_path: Path) -> None:
    records = jsonl([meta(), *(said("assistant", f"{n} {'x' * n}") for n in range(2000))])
    path = tmp_path / "rollout-t1.jsonl.zst"
    packed = bytearray(zstandard.ZstdCompressor(level=3, write_checksum=True).compress(records))
    packed[-3] ^= 0xFF
    path.write_bytes(packed)
    problems = CodexReader().read(path).problems
    assert any("damaged" in problem.what for problem in problems)


def child(thread: str, parent: str, **fields: object) -> Record:
    spawn = {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}
    return meta(thread, source={"subagent": spawn}, **fields)


SPAWN = item("function_call", name="spawn_agent", arguments='{"message":"dig"}', call_id="s1")


def test_a_sub_agent_in_a_rollout_beside_stands_at_its_call(tmp_path: Path) -> None:
    write(
        tmp_path,
        child("t2", "t1"),
        said("user", "dig"),
        said("assistant", "dug"),
        name="rollout-t2.jsonl",
    )
    write(tmp_path, child("t9", "t8"), said("assistant", "no"), name="rollout-t9.jsonl")
    trajectory = read(
        tmp_path, meta(), SPAWN, answer("s1", '{"agent_id":"t2"}'), said("assistant", "end")
    )
    texts = [(step.text, step.agent, step.parent_call) for step in model_steps(trajectory)]
    assert texts == [("", None, None), ("dug", "t2", "s1"), ("end", None, None)]
    assert [(one.id, one.role, one.steps) for one in trajectory.sessions] == [
        ("t1", SessionRole.MAIN, 2),
        ("t2", SessionRole.SUBAGENT, 1),
    ]


def test_a_sub_agent_that_only_its_path_names_is_found(tmp_path: Path) -> None:
    spawn = {"parent_thread_id": "t1", "agent_path": "/root/digger"}
    first = meta("t2", source={"subagent": {"thread_spawn": spawn}})
    write(tmp_path, first, said("assistant", "dug"), name="rollout-t2.jsonl")
    trajectory = read(tmp_path, meta(), SPAWN, answer("s1", '{"task_name":"/root/digger"}'))
    told = [(step.text, step.agent, step.parent_call) for step in model_steps(trajectory)]
    assert told == [("", None, None), ("dug", "t2", "s1")]


def test_the_history_that_a_sub_agent_was_given_is_not_counted_again(tmp_path: Path) -> None:
    copied = [
        {**said("assistant", "from the parent"), "ordinal": 1},
        {**tokens(9, 900), "ordinal": 2},
    ]
    own = [{**said("assistant", "own"), "ordinal": 3}, {**tokens(20, 920), "ordinal": 4}]
    first = {**child("t2", "t1", subagent_history_start_ordinal=3), "ordinal": 0}
    trajectory = CodexReader().read(write(tmp_path, first, *copied, *own, name="rollout-t2.jsonl"))
    assert [step.text for step in model_steps(trajectory)] == ["own"]
    assert trajectory.usage is not None
    assert trajectory.usage.input_tokens == 20
    assert any("2 records" in step.text for step in trajectory.steps)


def test_a_copied_history_without_a_known_end_is_reported(tmp_path: Path) -> None:
    trajectory = read(tmp_path, child("t2", "t1"), meta("t1"), said("assistant", "whose?"))
    assert any("history of t1" in problem.what for problem in trajectory.problems)


def test_a_fork_is_read_without_what_it_copied_from_the_rollout_beside_it(tmp_path: Path) -> None:
    shared = [said("user", "go"), said("assistant", "a"), tokens(10, 10)]
    parent = write(tmp_path, meta("t1"), *shared, said("assistant", "b"))
    fork = write(
        tmp_path,
        meta("t2", forked_from_id="t1"),
        meta("t1"),
        *shared,
        said("user", "other way"),
        said("assistant", "c"),
        tokens(30, 40),
        name="rollout-t2.jsonl",
    )
    trajectory = CodexReader().read(parent, [fork])
    assert [step.text for step in model_steps(trajectory)] == ["a", "b", "c"]
    assert trajectory.usage is not None
    assert trajectory.usage.input_tokens == 40
    assert trajectory.problems == ()


def test_two_stages_in_one_thread_are_two_user_turns(cases: Path) -> None:
    (path,) = (cases / "formats" / "codex-rollout" / "generated-0.171").iterdir()
    assert user_turns(CodexReader().read(path)) == [
        "Stage 1: fix the word count",
        "Stage 2: show the diff",
    ]


@pytest.mark.parametrize("data", [b"", b"\0" * 64, b'"a text"', b"{}", b"not json\n" * 9])
def test_a_file_that_is_no_trajectory_gets_a_clear_answer(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    trajectory = CodexReader().read(path)
    assert trajectory.steps == ()
    (problem,) = trajectory.problems
    assert problem.where == str(path)
    assert problem.what in ("the file is empty", "not a Codex rollout or exec stream")


def test_a_file_that_is_not_there_gets_a_clear_answer(tmp_path: Path) -> None:
    (problem,) = CodexReader().read(tmp_path / "none.jsonl").problems
    assert problem.what.startswith("cannot be read: ")


def test_damaged_lines_cost_themselves_only(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    good = jsonl([meta(), said("assistant", "good")])
    bad = [
        b"junk\n",
        b"\0\0\0" + jsonl([said("user", "padded")]),
        jsonl([said("user", "bad byte")]).replace(b"bad", b"b\xffd"),
        json.dumps(said("user", "x")).encode()[:-5],
    ]
    path.write_bytes(good + b"".join(bad))
    trajectory = CodexReader().read(path)
    assert [problem.what for problem in trajectory.problems] == [
        "not JSON: 4 bytes left out",
        "3 bytes of NUL padding",
        f"byte {bad[2].index(0xFF) + 1} is not UTF-8; such bytes are replaced",
        f"cut off: {len(bad[-1])} bytes left out",
    ]
    assert user_turns(trajectory) == ["padded", "b\ufffdd byte"]
    assert model_steps(trajectory)[0].text == "good"


@pytest.mark.parametrize("value", [float("nan"), "\ud800", 10**30, None, [], {"a": [[]]}])
def test_odd_values_break_nothing(tmp_path: Path, value: object) -> None:
    fields = ("message", "text", "info", "item", "call_id", "output", "content", "summary", "usage")
    records = [event(kind, **dict.fromkeys(fields, value)) for kind in ("token_count", "sneeze")]
    kinds = ("message", "reasoning", "function_call", "function_call_output", "custom_tool_call")
    records += [item(kind, role="user", **dict.fromkeys(fields, value)) for kind in kinds]
    records += [
        line("compacted", dict.fromkeys(fields, value)),
        done("Reasoning", summary_text=value),
    ]
    records += [line("session_meta", dict.fromkeys(("id", "source", "git"), value))]
    trajectory = read(tmp_path, meta(), *records)
    assert trajectory.sessions[0].id == "t1"
