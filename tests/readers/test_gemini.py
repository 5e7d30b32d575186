"""Gemini CLI sessions and streams: a message once, whatever the log says again or takes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolKind, Trajectory
from arcview.model.trajectory_refs import SessionRole
from arcview.readers.registry import find_trajectory_reader
from arcview.readers.trajectories.gemini import GeminiReader

Record = dict[str, Any]
META: Record = {"sessionId": "s1", "projectHash": "0", "startTime": "2026-01-01T10:00:00.000Z"}
AT = "2026-01-01T10:00:01.000Z"


def user(message_id: str, content: object) -> Record:
    return {"id": message_id, "timestamp": AT, "type": "user", "content": content}


def model(message_id: str, text: object = "", **fields: object) -> Record:
    record = {"id": message_id, "timestamp": AT, "type": "gemini", "content": text, "model": "g"}
    return {**record, **fields}


def call(call_id: str, name: str = "run_shell_command", **fields: object) -> Record:
    given = {"id": call_id, "name": name, "args": {"command": "ls"}, "status": "success"}
    return {**given, "timestamp": "2026-01-01T10:00:03.000Z", **fields}


def response(call_id: str, output: str, key: str = "output") -> list[Record]:
    return [{"functionResponse": {"id": call_id, "name": "x", "response": {key: output}}}]


def write(folder: Path, *records: Record, name: str = "session-1.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def read(folder: Path, *records: Record) -> Trajectory:
    return GeminiReader().read(write(folder, META, *records))


def model_steps(trajectory: Trajectory) -> list[Step]:
    return [step for step in trajectory.steps if step.number is not None]


def user_turns(trajectory: Trajectory) -> list[str]:
    return [
        step.text
        for step in trajectory.steps
        if step.role is Role.USER and step.kind is StepKind.MESSAGE
    ]


def only_call(trajectory: Trajectory) -> ToolCall:
    (found,) = (one for step in trajectory.steps for one in step.calls)
    return found


def test_a_message_that_is_written_again_is_one_step(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        user("u", [{"text": "go"}]),
        model("m", "looking", tokens={"input": 10, "output": 2, "cached": 4, "thoughts": 1}),
        {"$set": {"lastUpdated": AT}},
        model(
            "m",
            "looking",
            tokens={"input": 10, "output": 2, "cached": 4, "thoughts": 1},
            toolCalls=[call("c", result=response("c", "a"))],
        ),
        user("r", response("c", "a")),
    )
    (step,) = model_steps(trajectory)
    assert (step.text, step.key, step.model) == ("looking", "c", "g")
    assert step.duration_s == 2
    assert trajectory.usage is not None
    assert (trajectory.usage.input_tokens, trajectory.usage.reasoning_tokens) == (10, 1)
    assert trajectory.usage.cost_usd is None
    assert user_turns(trajectory) == ["go"]


def test_thoughts_are_shown_with_their_subjects(tmp_path: Path) -> None:
    thoughts = [{"subject": "Plan", "description": "read first"}, {"description": "then edit"}]
    (step,) = model_steps(read(tmp_path, model("m", "x", thoughts=thoughts)))
    assert step.thinking == "Plan: read first\nthen edit"


@pytest.mark.parametrize(
    ("output", "code"),
    [
        (
            "<untrusted_context>\nOutput: x\nExit Code: 3\nSignal: 1\n</untrusted_context>",
            3,
        ),
        (
            "Command: x\nOutput: y\nError: (none)\nExit Code: 0\nProcess Group PGID: 1",
            0,
        ),
        ("Output: y\nExit Code: (none)\nSignal: 9", None),
        ("Output: Exit Code: 4", None),
        ("Output: printed\nExit Code: 5\nand more", None),
        ("Output: fine", None),
    ],
)
def test_the_exit_code_is_read_below_the_output_only(
    tmp_path: Path, output: str, code: int | None
) -> None:
    trajectory = read(tmp_path, model("m", toolCalls=[call("c", result=response("c", output))]))
    result = only_call(trajectory).result
    assert result is not None
    assert (result.exit_code, result.is_error, result.text) == (code, False, output)


def test_a_failed_or_cancelled_call_is_an_error(tmp_path: Path) -> None:
    calls = [
        call("c1", "replace", status="error", result=response("c1", "no match", "error")),
        call("c2", status="cancelled", result=response("c2", "[Operation Cancelled]", "error")),
    ]
    (step,) = model_steps(read(tmp_path, model("m", toolCalls=calls)))
    assert [one.result.is_error for one in step.calls if one.result] == [True, True]
    assert step.calls[1].note == "cancelled"


def test_of_the_responses_of_a_whole_turn_each_call_gets_its_own(tmp_path: Path) -> None:
    turn = [*response("c1", "one\nExit Code: 1"), *response("c2", "two")]
    calls = [call("c1", result=turn), call("c2", result=turn)]
    (step,) = model_steps(read(tmp_path, model("m", toolCalls=calls)))
    results = [one.result for one in step.calls]
    assert [(one.text, one.exit_code) for one in results if one] == [
        ("one\nExit Code: 1", 1),
        ("two", None),
    ]


def test_a_call_that_stands_in_the_content_too_is_one_call(tmp_path: Path) -> None:
    asked: Record = {"name": "run_shell_command", "args": {"command": "ls"}}
    record = model(
        "m",
        [{"functionCall": asked}, {"functionCall": {**asked, "id": "c2"}}, {"text": "x"}],
        toolCalls=[call("run_1", result=response("run_1", "a")), call("c2")],
    )
    (step,) = model_steps(read(tmp_path, record))
    assert [one.key for one in step.calls] == ["run_1", "c2"]


def test_a_call_may_have_another_id_in_the_content(tmp_path: Path) -> None:
    asked = [
        {"functionCall": {"id": "x1", "name": "a", "args": {}}},
        {"functionCall": {"id": "x2", "name": "b", "args": {}}},
    ]
    (step,) = model_steps(read(tmp_path, model("m", asked, toolCalls=[call("c1", "a")])))
    assert [one.key for one in step.calls] == ["c1", "x2"]


def test_what_a_hook_adds_is_no_turn_of_the_user(tmp_path: Path) -> None:
    assert user_turns(read(tmp_path, user("a", "<hook_context>x</hook_context>"))) == []


def test_a_call_without_an_id_gets_the_response_of_its_name(tmp_path: Path) -> None:
    asked: list[Record] = [{"functionCall": {"name": name, "args": {}}} for name in ("a", "b", "a")]

    def answered(call_id: str, name: str, output: str) -> Record:
        return {"functionResponse": {"id": call_id, "name": name, "response": {"output": output}}}

    answers = [answered("b_9", "b", "B"), answered("a_9", "a", "A1"), answered("a_8", "a", "A2")]
    trajectory = read(tmp_path, model("m", asked), user("r", answers), user("s", answers[:1]))
    (step,) = model_steps(trajectory)
    assert [one.result and one.result.text for one in step.calls] == ["A1", "B", "A2"]
    assert len(trajectory.problems) == 1


def test_a_response_without_an_id_belongs_to_the_call_of_its_name(tmp_path: Path) -> None:
    answers = [{"functionResponse": {"name": "b", "response": {"output": "B"}}}]
    calls = [call("c1", "a", status="executing"), call("c2", "b", status="executing")]
    (step,) = model_steps(read(tmp_path, model("m", toolCalls=calls), user("r", answers)))
    assert [one.result and one.result.text for one in step.calls] == [None, "B"]


def test_what_is_said_again_keeps_its_time(tmp_path: Path) -> None:
    again = model("m", "x", timestamp="2026-01-02T10:00:00.000Z")
    (step,) = model_steps(read(tmp_path, model("m", "x"), again))
    assert step.at == AT


def test_a_command_that_the_user_ran_beside_is_no_turn(tmp_path: Path) -> None:
    ran = (
        "I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:"
    )
    trajectory = read(tmp_path, user("a", [{"text": ran}]), user("b", [{"text": "why?"}]))
    assert user_turns(trajectory) == ["why?"]
    assert any(step.text == ran for step in trajectory.steps)


def test_a_result_that_only_the_client_showed_is_shown(tmp_path: Path) -> None:
    made = call("c", "list_directory", resultDisplay={"summary": "Listed 3 entries"})
    result = only_call(read(tmp_path, model("m", toolCalls=[made]))).result
    assert result is not None
    assert result.text == "Listed 3 entries"


def test_a_call_that_shows_the_progress_of_a_sub_agent_is_one(tmp_path: Path) -> None:
    made = call("c", "helper", resultDisplay={"isSubagentProgress": True, "agentName": "helper"})
    assert only_call(read(tmp_path, model("m", toolCalls=[made]))).kind is ToolKind.TASK


def test_a_call_that_had_not_ended_has_no_result(tmp_path: Path) -> None:
    trajectory = read(tmp_path, model("m", toolCalls=[call("c", status="executing")]))
    assert only_call(trajectory).result is None
    assert only_call(trajectory).note == "status executing"


def test_a_cut_output_is_shown_whole_where_the_client_kept_it(tmp_path: Path) -> None:
    made = call(
        "c",
        result=response("c", "Output too large. Showing first 2\n\nyy\nExit Code: 2"),
        resultDisplay="y" * 90,
    )
    found = only_call(read(tmp_path, model("m", toolCalls=[made])))
    assert found.result is not None
    assert (found.result.text, found.result.exit_code) == ("y" * 90, 2)
    assert found.note is not None
    assert "of 90 characters" in found.note


def test_tools_have_kinds_commands_and_paths(tmp_path: Path) -> None:
    calls = [
        call("c1"),
        call("c2", "replace", args={"file_path": "/w/a"}),
        call("c3", "write_file", args={"file_path": "/w/b"}),
        call("c4", "read_file", args={"absolute_path": "/w/c"}),
        call("c5", "search_file_content", args={"pattern": "x"}),
        call("c6", "mcp_tool", args="not an object"),
    ]
    (step,) = model_steps(read(tmp_path, model("m", toolCalls=calls)))
    assert [(one.kind, one.command or one.path) for one in step.calls] == [
        (ToolKind.SHELL, "ls"),
        (ToolKind.EDIT, "/w/a"),
        (ToolKind.WRITE, "/w/b"),
        (ToolKind.READ, "/w/c"),
        (ToolKind.SEARCH, None),
        (ToolKind.OTHER, None),
    ]
    assert step.calls[5].raw_arguments == "not an object"


def test_images_in_messages_and_results_are_placeholders(tmp_path: Path) -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}
    answer = [{"functionResponse": {"id": "c", "response": {"output": "ok"}, "parts": [picture]}}]
    trajectory = read(
        tmp_path,
        user("u", [{"text": "look"}, picture]),
        model("m", toolCalls=[call("c", result=answer)]),
    )
    (turn,) = (step for step in trajectory.steps if step.role is Role.USER)
    assert [(one.media_type, one.size_bytes) for one in turn.images] == [("image/png", 3)]
    result = only_call(trajectory).result
    assert result is not None
    assert len(result.images) == 1


@pytest.mark.parametrize(
    "text",
    [
        "<session_context>\nThis is the Gemini CLI.",
        "This is the Gemini CLI. We are setting up the context for our chat.\nToday",
        "System: Please continue.",
    ],
)
def test_what_the_client_says_for_the_user_is_no_user_turn(tmp_path: Path, text: str) -> None:
    assert user_turns(read(tmp_path, user("c", [{"text": text}]), user("u", "real"))) == ["real"]


def test_a_checkpoint_of_known_messages_changes_nothing(tmp_path: Path) -> None:
    context = user("ctx", [{"text": "<session_context>\nx"}])
    poor = [
        context,
        user("u", [{"text": "go"}]),
        {"id": "m", "type": "gemini", "timestamp": "later", "content": [{"text": "rich"}]},
        user("m_response", response("c", "a")),
    ]
    trajectory = read(
        tmp_path,
        user("u", [{"text": "go"}]),
        model("m", "rich", toolCalls=[call("c", result=response("c", "a"))], tokens={"input": 5}),
        user("r", response("c", "a")),
        {**META, "startTime": "2026-01-02T10:00:00.000Z"},
        {"$set": {"messages": [context]}},
        {"$set": {"messages": poor}},
        user("u2", [{"text": "next"}]),
        model("m2", "more"),
    )
    assert user_turns(trajectory) == ["go", "next"]
    first, second = model_steps(trajectory)
    assert (first.at, first.model, len(first.calls), second.text) == (AT, "g", 1, "more")
    assert not any(step.kind is StepKind.COMPACTION for step in trajectory.steps)


def test_a_compression_is_shown_as_what_it_is(tmp_path: Path) -> None:
    snapshot = user("x", [{"text": "<state_snapshot>\n<overall_goal>fix</overall_goal>"}])
    trajectory = read(
        tmp_path,
        user("u", "go"),
        model("m", "a"),
        model("k", "kept"),
        {"$set": {"messages": [snapshot, model("k", "kept")]}},
        model("n", "b"),
    )
    assert [step.text for step in model_steps(trajectory)] == ["a", "kept", "b"]
    told = [step.text for step in trajectory.steps if step.kind is StepKind.COMPACTION]
    assert told[0] == "history replaced: 2 messages left out from here on"
    assert "fix" in told[1]
    assert user_turns(trajectory) == ["go"]


def test_a_checkpoint_with_messages_never_seen_gives_them(tmp_path: Path) -> None:
    lossy = [
        user("u", [{"text": "go"}]),
        {
            "id": "m",
            "type": "gemini",
            "timestamp": AT,
            "content": [
                {"text": "hm", "thought": True},
                {"text": "ok"},
                {
                    "functionCall": {
                        "id": "c",
                        "name": "run_shell_command",
                        "args": {"command": "x"},
                    }
                },
            ],
        },
        user("m_response", response("c", "no", "error")),
    ]
    trajectory = read(tmp_path, {"$set": {"messages": lossy}})
    (step,) = model_steps(trajectory)
    assert (step.thinking, step.text) == ("hm", "ok")
    result = only_call(trajectory).result
    assert result is not None
    assert (result.text, result.is_error) == ("no", True)
    assert user_turns(trajectory) == ["go"]


@pytest.mark.parametrize(("target", "count"), [("m2", "2 messages"), ("unknown", "4 messages")])
def test_a_rewind_is_marked_and_what_was_done_stays(
    tmp_path: Path, target: str, count: str
) -> None:
    trajectory = read(
        tmp_path,
        user("u1", "go"),
        model("m1", "a"),
        model("m2", "b"),
        user("u2", "on"),
        {"$rewindTo": target},
        user("u3", "other way"),
    )
    assert [step.text for step in model_steps(trajectory)] == ["a", "b"]
    (note,) = (step.text for step in trajectory.steps if step.text.startswith("rewound"))
    assert count in note


def test_a_prompt_that_was_rewound_is_no_turn(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        user("u1", "go"),
        model("m1", "a"),
        user("u2", "on"),
        model("m2", "b"),
        {"$rewindTo": "u2"},
        user("u3", "other way"),
    )
    assert user_turns(trajectory) == ["go", "other way"]
    assert "on" in [step.text for step in trajectory.steps if step.kind is StepKind.NOTE]


def test_an_update_changes_the_message_that_it_names(tmp_path: Path) -> None:
    news = {"type": "message_update", "id": "m", "tokens": {"input": 7, "output": 1}}
    (step,) = model_steps(read(tmp_path, model("m", "a"), news))
    assert step.usage is not None
    assert step.usage.input_tokens == 7


def test_notes_of_the_client_are_notes_and_its_errors_errors(tmp_path: Path) -> None:
    records = [{"id": k, "type": k, "timestamp": AT, "content": "x"} for k in ("info", "error")]
    notes = [step for step in read(tmp_path, *records).steps if step.key in ("info", "error")]
    assert [(step.kind, step.is_error) for step in notes] == [
        (StepKind.NOTE, False),
        (StepKind.NOTE, True),
    ]


def test_a_result_without_a_call_is_shown_as_an_orphan(tmp_path: Path) -> None:
    trajectory = read(tmp_path, user("r", response("lost", "text")))
    assert any("without a call" in step.text for step in trajectory.steps)
    assert [problem.what for problem in trajectory.problems] == ["a result without a call: lost"]


def test_unknown_records_are_shown_raw_and_counted(tmp_path: Path) -> None:
    trajectory = read(tmp_path, {"id": "x", "type": "dream"}, {"y": 1})
    assert dict(trajectory.unknown_records) == {"None": 1, "message of type dream": 1}


DOCUMENT = {**META, "lastUpdated": AT, "messages": [user("u", "go"), model("m", "ok")]}


@pytest.mark.parametrize("indent", [None, 2])
def test_the_document_of_older_versions_opens(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "session-1.json"
    path.write_text(json.dumps(DOCUMENT, indent=indent))
    assert find_trajectory_reader(path)[0].id == "gemini"
    trajectory = GeminiReader().read(path)
    assert (user_turns(trajectory), len(model_steps(trajectory))) == (["go"], 1)


def test_of_a_document_that_is_cut_off_the_good_part_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "session-1.json"
    messages = [user("u", "go"), *(model(f"m{n}", "x" * 50) for n in range(9))]
    text = json.dumps({**META, "messages": messages}, indent=2)
    path.write_text(text[: len(text) // 2])
    trajectory = GeminiReader().read(path)
    assert 1 <= len(model_steps(trajectory)) < 9
    assert trajectory.problems


def test_the_session_of_a_sub_agent_opens_by_itself(tmp_path: Path) -> None:
    meta = {**META, "sessionId": "a1", "kind": "subagent"}
    trajectory = GeminiReader().read(write(tmp_path, meta, user("u", "dig"), model("m", "dug")))
    assert (trajectory.agent, user_turns(trajectory)) == ("Gemini CLI", ["dig"])
    assert [step.agent for step in model_steps(trajectory)] == [None]
    assert [one.role for one in trajectory.sessions] == [SessionRole.MAIN]


def test_a_sub_agent_that_no_call_names_is_shown_at_the_end(tmp_path: Path) -> None:
    meta = {**META, "sessionId": "a1", "kind": "subagent"}
    write(tmp_path, meta, model("m9", "dug"), name="s1/a1.jsonl")
    write(tmp_path, meta, model("m9", "secret"), name="x.jsonl")
    (tmp_path / "s1" / "b.jsonl").symlink_to(tmp_path / "x.jsonl")
    trajectory = read(tmp_path, model("m", "go"))
    assert [(step.text, step.agent) for step in model_steps(trajectory)] == [
        ("go", None),
        ("dug", "a1"),
    ]
    assert [one.role for one in trajectory.sessions] == [SessionRole.MAIN, SessionRole.SUBAGENT]


def test_a_sub_agent_stands_at_the_call_that_started_it(tmp_path: Path) -> None:
    made = call("c", "codebase_investigator", agentId="a1", result=response("c", "found"))
    write(
        tmp_path,
        {**META, "sessionId": "a1", "kind": "subagent"},
        user("u9", "dig"),
        model("m9", "dug"),
        name="s1/a1.jsonl",
    )
    trajectory = read(tmp_path, model("m", "", toolCalls=[made]), model("m2", "end"))
    assert [(step.text, step.agent, step.parent_call) for step in model_steps(trajectory)] == [
        ("", None, None),
        ("dug", "a1", "c"),
        ("end", None, None),
    ]
    assert [(one.id, one.role, one.steps) for one in trajectory.sessions] == [
        ("s1", SessionRole.MAIN, 2),
        ("a1", SessionRole.SUBAGENT, 1),
    ]


def test_a_sub_agent_is_not_looked_for_outside_the_folder(tmp_path: Path) -> None:
    write(tmp_path, {**META, "kind": "subagent"}, model("m9", "dug"), name="x.jsonl")
    made = call("c", "codebase_investigator", agentId="../x", result=response("c", "found"))
    path = write(tmp_path, META, model("m", "", toolCalls=[made]), name="chats/s.jsonl")
    assert len(model_steps(GeminiReader().read(path))) == 1


def spoken(text: str, role: str = "assistant") -> Record:
    record = {"type": "message", "timestamp": AT, "role": role, "content": text}
    return {**record, "delta": True} if role == "assistant" else record


def used(call_id: str) -> Record:
    given = {"tool_name": "run_shell_command", "parameters": {"command": "ls"}}
    return {"type": "tool_use", "timestamp": AT, "tool_id": call_id, **given}


def got(call_id: str, **fields: object) -> Record:
    return {
        "type": "tool_result",
        "timestamp": AT,
        "tool_id": call_id,
        "status": "success",
        **fields,
    }


INIT = {"type": "init", "timestamp": AT, "session_id": "s1", "model": "g"}


def test_pieces_of_text_make_one_message_and_calls_its_response(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        INIT,
        spoken("go", "user"),
        spoken("Let me "),
        spoken("look."),
        used("c1"),
        used("c2"),
        got("c2", output="b"),
        got("c1", status="error", output="", error={"type": "t", "message": "no"}),
        spoken("Done."),
        {"type": "error", "severity": "warning", "message": "loop"},
        {
            "type": "result",
            "status": "success",
            "stats": {"input_tokens": 9, "output_tokens": 2, "cached": 3, "duration_ms": 1500},
        },
    )
    assert find_trajectory_reader(path)[0].id == "gemini"
    trajectory = GeminiReader().read(path)
    first, second = model_steps(trajectory)
    assert (first.text, second.text, first.model) == ("Let me look.", "Done.", "g")
    results = [one.result for one in first.calls]
    assert [(one.text, one.is_error) for one in results if one] == [("no", True), ("b", False)]
    assert trajectory.usage is not None
    assert (trajectory.usage.input_tokens, trajectory.usage.cached_tokens) == (9, 3)
    assert [step.text for step in trajectory.steps if step.kind is StepKind.NOTE][-1] == (
        "session ended: success, 1.5 s"
    )


def test_a_stream_and_the_session_of_the_same_id_are_shown_once(tmp_path: Path) -> None:
    stream = write(tmp_path, INIT, spoken("hi"), name="stdout.jsonl")
    session = write(tmp_path, META, model("m", "hi", tokens={"input": 3}))
    trajectory = GeminiReader().read(stream, [session])
    assert [step.key for step in model_steps(trajectory)] == ["m"]


def test_streams_of_two_runs_add_up(tmp_path: Path) -> None:
    end = {"type": "result", "status": "success", "stats": {"input_tokens": 9, "output_tokens": 1}}
    first = write(tmp_path, INIT, spoken("a"), end, name="1.jsonl")
    second = write(tmp_path, INIT, spoken("b"), end, name="2.jsonl")
    trajectory = GeminiReader().read(first, [second])
    assert trajectory.usage is not None
    assert (trajectory.usage.input_tokens, trajectory.step_count) == (18, 2)


def test_two_stages_in_one_session_are_two_user_turns(cases: Path) -> None:
    (path,) = (cases / "formats" / "gemini-cli" / "generated-0.61").glob("session-*.jsonl")
    assert user_turns(GeminiReader().read(path)) == [
        "Stage 1: fix the word count",
        "Stage 2: show the diff",
    ]


def test_damaged_lines_cost_themselves_only(tmp_path: Path) -> None:
    path = write(tmp_path, META, model("m", "good"))
    path.write_bytes(path.read_bytes() + b"junk\n" + b'{"id": "x", "ty')
    trajectory = GeminiReader().read(path)
    assert [step.text for step in model_steps(trajectory)] == ["good"]
    assert [problem.what for problem in trajectory.problems] == [
        "not JSON: 4 bytes left out",
        "cut off: 15 bytes left out",
    ]


@pytest.mark.parametrize("data", [b"", b"\0" * 64, b'"a text"', b"{}", b"not json\n" * 9])
def test_a_file_that_is_no_trajectory_gets_a_clear_answer(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    trajectory = GeminiReader().read(path)
    assert trajectory.steps == ()
    (problem,) = trajectory.problems
    assert problem.where == str(path)
    assert problem.what in ("the file is empty", "not a Gemini CLI session or stream")


@pytest.mark.parametrize("duration", [10**400, -1, float("nan"), True, "x"])
def test_an_odd_duration_of_a_stream_is_left_out(tmp_path: Path, duration: object) -> None:
    ended = {"type": "result", "status": "success", "stats": {"duration_ms": duration}}
    started = {"type": "init", "session_id": "s", "model": "g"}
    trajectory = GeminiReader().read(write(tmp_path, started, ended))
    assert trajectory.steps[-1].text == "session ended: success"


@pytest.mark.parametrize("value", [float("nan"), "\ud800", 10**30, None, [], {"a": [[]]}, [1]])
def test_odd_values_break_nothing(tmp_path: Path, value: object) -> None:
    fields = ("content", "thoughts", "tokens", "toolCalls", "model", "timestamp")
    records: list[Record] = [
        {"id": f"x{n}", "type": kind, **dict.fromkeys(fields, value)}
        for n, kind in enumerate(("user", "gemini", "info"))
    ]
    inner = dict.fromkeys(("id", "name", "args", "status", "result", "resultDisplay"), value)
    records += [model("m", toolCalls=[inner]), {"$set": value}, {"$set": {"messages": value}}]
    records += [{"$rewindTo": value}, {"id": value, "type": "gemini"}]
    trajectory = read(tmp_path, *records)
    assert trajectory.sessions[0].id == "s1"
