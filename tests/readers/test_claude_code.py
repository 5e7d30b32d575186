"""Claude Code streams and sessions: joined, counted once, and damage costs the damaged part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolKind, Trajectory
from arcview.model.trajectory_refs import SessionRole, Usage
from arcview.readers.parts import usage_of
from arcview.readers.registry import find_trajectory_reader
from arcview.readers.trajectories.claude_code import ClaudeCodeReader, Source, join

Record = dict[str, Any]


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def use(call_id: str | None, name: str = "Bash", **arguments: object) -> Record:
    block: Record = {"type": "tool_use", "name": name, "input": arguments}
    return block if call_id is None else {**block, "id": call_id}


def result(call_id: str, content: object, **more: object) -> Record:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def said(message_id: str, *blocks: Record, **more: object) -> Record:
    message = {"id": message_id, "role": "assistant", "model": "m", "content": list(blocks)}
    return {"type": "assistant", "message": {**message, **more}}


def told(*blocks: Record | str, **more: object) -> Record:
    content: object = blocks[0] if blocks and isinstance(blocks[0], str) else list(blocks)
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def jsonl(records: list[Record]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def session(*records: Record, sid: str = "s", start: int = 0, **more: object) -> bytes:
    """A session file: every record gets its id, its time and the session's id."""
    return jsonl(
        [
            {
                "sessionId": sid,
                "uuid": f"{sid}{start + n}",
                "isSidechain": False,
                "timestamp": f"2026-01-01T10:00:{start + n:02}.000Z",
                **more,
                **record,
            }
            for n, record in enumerate(records)
        ]
    )


def stream(*records: Record, sid: str = "s", start: int = 0) -> bytes:
    return jsonl(
        [
            {"session_id": sid, "uuid": f"{sid}{start + n}", "parent_tool_use_id": None, **record}
            for n, record in enumerate(records)
        ]
    )


def read(*files: bytes) -> Trajectory:
    return join([Source(f"file{n}.jsonl", data) for n, data in enumerate(files)])


def messages(trajectory: Trajectory) -> list[Step]:
    return [step for step in trajectory.steps if step.number is not None]


def calls(trajectory: Trajectory) -> list[ToolCall]:
    return [call for step in trajectory.steps for call in step.calls]


INIT: Record = {"type": "system", "subtype": "init", "model": "m", "uuid": "init"}
END: Record = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "num_turns": 2,
    "total_cost_usd": 0.5,
    "uuid": "end",
    "usage": {"input_tokens": 10, "output_tokens": 5},
}


def test_records_with_one_message_id_are_one_step() -> None:
    trajectory = read(session(said("a", text("one")), said("a", use("c1", command="ls"))))
    step = messages(trajectory)[0]
    assert trajectory.step_count == 1
    assert (step.text, step.calls[0].command) == ("one", "ls")


def test_the_last_usage_of_a_message_counts() -> None:
    early = said("a", text("x"), usage={"input_tokens": 7, "output_tokens": 0})
    last = said("a", text("y"), usage={"input_tokens": 7, "output_tokens": 42})
    usage = messages(read(session(early, last)))[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (7, 42)


def test_input_is_all_that_was_sent_whether_cached_or_not() -> None:
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 40,
        "cache_creation_input_tokens": 500,
        "output_tokens": 6,
    }
    found = messages(read(session(said("a", text("x"), usage=usage))))[0].usage
    assert found is not None
    assert (found.input_tokens, found.cached_tokens) == (543, 40)


def test_usage_of_0_is_unknown() -> None:
    zero = said("a", text("x"), usage={"input_tokens": 0, "output_tokens": 0})
    assert messages(read(session(zero)))[0].usage is None


def test_stream_and_session_are_counted_once() -> None:
    records = said("a", text("hi"), use("c1", command="ls")), told(result("c1", "out"))
    trajectory = read(stream(INIT, *records), session(*records, start=1))
    assert (trajectory.step_count, trajectory.tool_call_count) == (1, 1)
    assert messages(trajectory)[0].text == "hi"


def test_records_are_joined_by_message_and_call_id_where_record_ids_differ() -> None:
    records = said("a", text("hi"), use("c1", command="ls")), told(result("c1", "out"))
    trajectory = read(stream(INIT, *records), session(*records, start=50))
    assert (trajectory.step_count, trajectory.tool_call_count) == (1, 1)
    assert messages(trajectory)[0].text == "hi"
    assert trajectory.problems == ()


def test_a_text_that_a_message_says_twice_is_kept_twice() -> None:
    twice = said("a", text("...")), said("a", text("..."))
    assert messages(read(session(*twice), stream(*twice, start=20)))[0].text == "...\n..."


def test_times_come_from_the_session() -> None:
    records = said("a", use("c1", command="ls")), told(result("c1", "out"))
    trajectory = read(stream(*records), session(*records))
    step = messages(trajectory)[0]
    assert (step.at, step.duration_s) == ("2026-01-01T10:00:00.000Z", 1.0)


@pytest.mark.parametrize("at", ["2026-01-01T10:00:00", "yesterday", "2026-01-01T11:00:00Z"])
def test_times_that_cannot_be_compared_give_no_duration(at: str) -> None:
    call = {**said("a", use("c1", command="ls")), "timestamp": at}
    trajectory = read(session(call, told(result("c1", "out"))))
    assert messages(trajectory)[0].at == at
    assert messages(trajectory)[0].duration_s is None


def test_a_session_that_is_not_in_the_stream_is_a_retry() -> None:
    lost = session(told("do it"), said("x", text("lost")), sid="first")
    kept = session(told("do it"), said("y", text("kept")), sid="second", start=30)
    trajectory = read(stream(said("y", text("kept")), sid="second", start=31), kept, lost)
    assert [(s.id, s.role, s.steps) for s in trajectory.sessions] == [
        ("first", SessionRole.RETRY, 1),
        ("second", SessionRole.MAIN, 1),
    ]
    assert [step.text for step in messages(trajectory)] == ["lost", "kept"]


def test_without_a_stream_the_first_file_is_the_main_session() -> None:
    trajectory = read(session(said("a", text("x")), sid="late", start=9), session(told("hello")))
    assert [(s.id, s.role) for s in trajectory.sessions] == [
        ("s", SessionRole.RETRY),
        ("late", SessionRole.MAIN),
    ]


def subagent(agent: str, *records: Record, start: int = 10) -> bytes:
    return session(*records, sid="s", start=start, isSidechain=True, agentId=agent)


def test_a_subagent_follows_the_call_that_started_it() -> None:
    main = session(
        said("a", use("task", "Task", prompt="look")),
        told(result("task", "found"), toolUseResult={"agentId": "ag"}),
        said("b", text("done")),
    )
    trajectory = read(main, subagent("ag", said("sub", text("looking"))))
    assert [(s.text, s.agent, s.parent_call) for s in messages(trajectory)] == [
        ("", None, None),
        ("looking", "ag", "task"),
        ("done", None, None),
    ]


def test_a_subagent_is_found_by_its_prompt_when_nothing_else_links_it() -> None:
    main = session(said("a", use("task", "Task", prompt=" look ")), said("b", text("done")))
    trajectory = read(main, subagent("ag", told("look"), said("sub", text("looking"))))
    assert [step.parent_call for step in trajectory.steps] == [None, "task", "task", None]


def test_a_subagent_that_only_the_stream_knows_stands_there_too() -> None:
    trajectory = read(
        stream(
            said("a", use("task", "Task", prompt="look")),
            {**told(text("look")), "parent_tool_use_id": "task"},
            {**said("sub", text("looking")), "parent_tool_use_id": "task"},
            said("b", text("done")),
        )
    )
    assert [step.parent_call for step in trajectory.steps] == [None, "task", "task", None]
    assert [s.steps for s in trajectory.sessions] == [2, 1]


def test_a_nested_subagent_follows_its_own_parent() -> None:
    main = session(
        said("a", use("t1", "Task", prompt="p")),
        told(result("t1", "r"), toolUseResult={"agentId": "one"}),
    )
    one = subagent(
        "one",
        said("b", use("t2", "Task", prompt="q")),
        told(result("t2", "r"), toolUseResult={"agentId": "two"}),
        said("c", text("end of one")),
    )
    two = subagent("two", said("d", text("in two")), start=30)
    assert [step.agent for step in messages(read(main, one, two))] == [None, "one", "two", "one"]


def test_subagents_that_start_each_other_do_not_hang() -> None:
    one = subagent(
        "one",
        said("b", use("t2", "Task", prompt="q")),
        told(result("t2", "r"), toolUseResult={"agentId": "two"}),
    )
    two = subagent(
        "two",
        said("c", use("t1", "Task", prompt="p")),
        told(result("t1", "r"), toolUseResult={"agentId": "one"}),
        start=30,
    )
    assert read(one, two).step_count == 2


def test_a_warm_up_is_a_note_in_its_place() -> None:
    main = session(told("go"), said("a", text("x")), start=0)
    warm = subagent("warm", {**said("w", text("ready")), "uuid": "warm"}, start=0)
    late = session(said("b", text("y")), start=30)
    trajectory = read(main + late, warm)
    assert [(s.text, s.kind, s.number) for s in trajectory.steps[1:3]] == [
        ("ready", StepKind.NOTE, None),
        ("x", StepKind.MESSAGE, 1),
    ]


def test_a_subagent_with_work_is_counted_even_when_its_call_is_lost() -> None:
    lost = subagent("lost", said("w", use("c9", command="ls")), told(result("c9", "x")))
    trajectory = read(session(said("a", text("x"))), lost)
    assert trajectory.step_count == 2
    assert trajectory.sessions[-1].note == "the call that started it is not recorded"


def test_a_subagents_file_opened_alone_is_numbered() -> None:
    assert read(subagent("ag", said("a", text("x")))).step_count == 1


def test_an_old_sidechain_inside_the_main_file_is_a_subagent() -> None:
    trajectory = read(
        session(
            said("a", use("task", "Task", prompt="look")),
            {**told("look"), "isSidechain": True, "parentUuid": None},
            {**said("b", text("looking")), "isSidechain": True, "parentUuid": "s1"},
            said("c", text("done")),
        )
    )
    assert [step.parent_call for step in trajectory.steps] == [None, "task", "task", None]


def test_a_queued_prompt_is_shown_once() -> None:
    queued = {"type": "queue-operation", "operation": "enqueue", "content": "go"}
    trajectory = read(session(queued, told("go"), said("a", text("x"))))
    assert [step.text for step in trajectory.steps] == ["go", "x"]


def test_a_queued_prompt_that_was_never_said_is_shown() -> None:
    queued = {"type": "queue-operation", "operation": "enqueue", "content": "go"}
    assert [step.text for step in read(session(queued)).steps] == ["go"]


def test_a_compaction_and_its_summary_are_no_user_turns() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "compactMetadata": {"trigger": "auto", "preTokens": 150000},
    }
    trajectory = read(session(boundary, told("summary", isCompactSummary=True)))
    assert [(step.kind, step.text) for step in trajectory.steps] == [
        (StepKind.COMPACTION, "context compacted (auto, 150000 tokens before)"),
        (StepKind.COMPACTION, "summary"),
    ]


def test_in_a_stream_the_turn_after_a_boundary_is_the_summary() -> None:
    boundary = {"type": "system", "subtype": "compact_boundary"}
    trajectory = read(stream(boundary, told("summary"), said("a", text("x"))))
    assert [step.kind for step in trajectory.steps[:2]] == [StepKind.COMPACTION] * 2


def test_the_end_of_a_session_carries_cost_and_error() -> None:
    trajectory = read(stream(INIT, said("a", text("x")), END))
    end = trajectory.steps[-1]
    assert end.kind is StepKind.NOTE
    assert end.usage is not None
    assert (end.usage.cost_usd, end.is_error) == (0.5, False)


def test_the_tokens_of_the_closing_record_are_totals_and_counted_once() -> None:
    counts = {"input_tokens": 10, "output_tokens": 5}
    closing = {**END, "usage": {"input_tokens": 12, "output_tokens": 8}, "total_cost_usd": 0.5}
    trajectory = read(stream(INIT, said("a", text("x"), usage=counts), closing))
    assert usage_of(trajectory) == Usage(12, None, 8, None, 0.5)
    assert trajectory.steps[-1].usage == Usage(cost_usd=0.5)


def test_a_session_without_a_closing_record_is_added_to_the_totals_of_the_others() -> None:
    counts = {"input_tokens": 10, "output_tokens": 5}
    earlier = session(told("go"), said("b", text("x"), usage=counts), sid="first")
    closing = {**END, "usage": {"input_tokens": 12, "output_tokens": 8}, "total_cost_usd": 0.5}
    found = read(stream(INIT, said("a", text("x"), usage=counts), closing), earlier)
    assert usage_of(found) == Usage(22, None, 13, None, 0.5)


def test_version_and_end_are_those_of_the_client() -> None:
    found = read(stream({**INIT, "claude_code_version": "2.0.51"}, said("a", text("x")), END))
    assert (found.agent_version, found.exit_status) == ("2.0.51", "success")
    assert read(session(told("go"), version="2.1.0")).agent_version == "2.1.0"
    limited = read(stream(INIT, {**END, "subtype": "error_max_turns", "is_error": False}))
    failed = read(stream(INIT, {**END, "is_error": True}))
    assert (limited.exit_status, failed.exit_status) == ("error_max_turns", "error")


def test_success_with_is_error_is_an_error() -> None:
    closing = {**END, "is_error": True, "result": "API Error: 403"}
    end = read(stream(INIT, closing)).steps[-1]
    assert (end.is_error, end.text) == (True, "session ended in an error: API Error: 403")


def test_an_api_error_message_is_marked() -> None:
    failed = {**said("a", text("API Error"), model="<synthetic>"), "isApiErrorMessage": True}
    assert messages(read(session(failed)))[0].is_error


@pytest.mark.parametrize(
    ("content", "is_error", "code"),
    [
        ("Exit code 3\nboom", True, 3),
        ("Exit code 3\nboom", None, None),
        ("Exit code: 3", True, None),
        ("it said Exit code 3", True, None),
        ("fine", False, None),
    ],
)
def test_an_exit_code_is_read_from_the_fixed_phrase_only(
    content: str, is_error: bool | None, code: int | None
) -> None:
    records = said("a", use("c1", command="x")), told(result("c1", content, is_error=is_error))
    given_back = calls(read(session(*records)))[0].result
    assert given_back is not None
    assert given_back.exit_code == code


def test_a_result_is_completed_by_the_richer_record() -> None:
    richer = {"stdout": "out", "stderr": "err", "interrupted": True}
    back = told(result("c1", ""), toolUseResult=richer)
    call = calls(read(session(said("a", use("c1", command="x")), back)))[0]
    assert call.result is not None
    assert (call.result.text, call.note) == ("out\nerr", "interrupted")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bash", ToolKind.SHELL),
        ("BashOutput", ToolKind.SHELL),
        ("Read", ToolKind.READ),
        ("Write", ToolKind.WRITE),
        ("Edit", ToolKind.EDIT),
        ("MultiEdit", ToolKind.EDIT),
        ("NotebookEdit", ToolKind.EDIT),
        ("Glob", ToolKind.SEARCH),
        ("Grep", ToolKind.SEARCH),
        ("Task", ToolKind.TASK),
        ("TodoWrite", ToolKind.OTHER),
        ("mcp__x__y", ToolKind.OTHER),
    ],
)
def test_tools_are_sorted_by_what_they_do(name: str, kind: ToolKind) -> None:
    assert calls(read(session(said("a", use("c1", name, file_path="/f")))))[0].kind is kind


def test_content_parts_and_images_are_kept() -> None:
    image = {"type": "image", "source": {"media_type": "image/png", "data": "QUJD"}}
    back = told(result("c1", [text("one"), image, text("two")]))
    got = calls(read(session(said("a", use("c1")), back)))[0].result
    assert got is not None
    assert got.text == "one\ntwo"
    assert [(i.media_type, i.size_bytes) for i in got.images] == [("image/png", 3)]


def test_thinking_is_kept_apart() -> None:
    blocks = {"type": "thinking", "thinking": "hm"}, {"type": "redacted_thinking", "data": "x"}
    step = messages(read(session(said("a", *blocks, text("so")))))[0]
    assert step.thinking == "hm\n(thinking that the provider encrypted)"
    assert step.text == "so"


def test_arguments_that_are_no_object_are_kept_as_text() -> None:
    odd = {"type": "tool_use", "id": "c1", "name": "Bash", "input": "{not json"}
    call = calls(read(session(said("a", odd))))[0]
    assert (call.raw_arguments, call.arguments, call.command) == ("{not json", {}, None)
    assert call.note == "the arguments are not a JSON object"


def test_a_result_without_a_call_is_shown_as_an_orphan() -> None:
    trajectory = read(session(told(result("nope", "orphan output"))))
    step = trajectory.steps[0]
    assert (step.kind, step.text) == (
        StepKind.NOTE,
        "(a result without a call: nope)\norphan output",
    )
    assert trajectory.tool_call_count == 0
    assert trajectory.problems[0].what == "a result without a call: nope"


def test_a_result_before_its_call_is_paired() -> None:
    trajectory = read(session(told(result("c1", "out")), said("a", use("c1", command="x"))))
    got = calls(trajectory)[0].result
    assert got is not None
    assert got.text == "out"
    assert len(trajectory.steps) == 1
    assert trajectory.problems == ()


def test_duplicate_call_ids_are_paired_in_order_and_flagged() -> None:
    trajectory = read(
        session(
            said("a", use("c1", command="first")),
            said("b", use("c1", command="second")),
            told(result("c1", "one")),
            told(result("c1", "two")),
        )
    )
    found = [(c.key, c.command, c.result.text if c.result else None) for c in calls(trajectory)]
    assert found == [("c1", "first", "one"), ("c1#2", "second", "two")]
    assert "duplicate id" in str(calls(trajectory)[1].note)
    assert len({step.key for step in trajectory.steps}) == 2


def test_a_second_result_for_a_call_is_shown_and_flagged() -> None:
    trajectory = read(
        session(said("a", use("c1")), told(result("c1", "one")), told(result("c1", "two")))
    )
    assert trajectory.steps[1].text == "(a second result for c1)\ntwo"
    assert len(trajectory.problems) == 1


def test_a_call_without_an_id_has_an_address() -> None:
    assert calls(read(session(said("a", use(None, command="x")))))[0].key == "file0.jsonl:1.0"


def test_unknown_records_are_raw_and_counted() -> None:
    odd: list[Any] = [{"type": "novelty", "x": 1}, {"type": "novelty"}, "text", 7, [1], None]
    trajectory = read(session(said("a", text("x"))) + jsonl(odd))
    raws = [step for step in trajectory.steps if step.kind is StepKind.RAW]
    assert len(raws) == 6
    assert dict(trajectory.unknown_records) == {
        "novelty": 2,
        "str": 1,
        "int": 1,
        "list": 1,
        "NoneType": 1,
    }
    assert raws[0].raw is not None
    assert "novelty" in raws[0].raw


def test_housekeeping_records_are_notes() -> None:
    kept: Mapping[str, object] = {"type": "file-history-snapshot", "messageId": "x"}
    step = read(session(dict(kept))).steps[0]
    assert (step.kind, step.role) == (StepKind.NOTE, Role.SYSTEM)
    assert "file-history-snapshot" in step.text


def test_a_prompt_that_was_taken_back_is_no_turn() -> None:
    records = session(
        told("start"),
        {**said("a", text("base")), "parentUuid": "s0"},
        {**told("one way"), "parentUuid": "s1"},
        {**said("b", text("A")), "parentUuid": "s2"},
        {**told("another way"), "parentUuid": "s1"},
        {**said("c", text("B")), "parentUuid": "s4"},
    )
    found = read(records)
    turns = [s.text for s in found.steps if s.role is Role.USER and s.kind is StepKind.MESSAGE]
    assert turns == ["start", "another way"]
    assert [step.text for step in messages(found)] == ["base", "A", "B"]
    assert [p.what for p in found.problems] == [
        "taken back: the user went on with another prompt (s4)"
    ]


@pytest.mark.parametrize(
    "words",
    [
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
        "<local-command-stdout>Bye</local-command-stdout>",
        "<local-command-stderr>no such model</local-command-stderr>",
        "<local-command-caveat>Caveat: The messages below …</local-command-caveat>",
        "Caveat: The messages below were generated by the user while running local commands.",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>a.py</bash-stdout><bash-stderr></bash-stderr>",
        "<task-notification>a background task ended</task-notification>",
        "<system-reminder>The task list is empty.</system-reminder>",
    ],
)
def test_what_the_client_writes_in_the_users_name_is_a_note(words: str) -> None:
    found = read(session(told("go"), said("a", text("x")), told(text(words)), told("next")))
    turns = [s.text for s in found.steps if s.role is Role.USER and s.kind is StepKind.MESSAGE]
    assert turns == ["go", "next"]
    assert words in [step.text for step in found.steps if step.kind is StepKind.NOTE]


_CLEAR = "<command-name>/clear</command-name>\n<command-message>clear</command-message>"
_FIX = "<command-message>fix</command-message>\n<command-name>/fix</command-name>"


def _turns(found: Trajectory) -> list[str]:
    return [s.text for s in found.steps if s.role is Role.USER and s.kind is StepKind.MESSAGE]


@pytest.mark.parametrize("linked", [True, False])
def test_a_command_that_the_client_answers_itself_is_no_turn(linked: bool) -> None:
    answer = told("<local-command-stdout></local-command-stdout>")
    records = session(
        told(_CLEAR),
        {**answer, "parentUuid": "s0"} if linked else answer,
        told("go"),
        said("a", text("x")),
    )
    found = read(records)
    assert _turns(found) == ["go"]
    assert _CLEAR in [step.text for step in found.steps if step.kind is StepKind.NOTE]


def test_a_command_that_stands_for_a_prompt_is_a_turn() -> None:
    found = read(session(told(_FIX), told("Fix the issue.", isMeta=True), said("a", text("x"))))
    assert _turns(found) == [_FIX]


def test_a_summary_that_an_old_client_does_not_mark_is_no_turn() -> None:
    words = "This session is being continued from a previous conversation that ran out of context."
    found = read(session(told(words), said("a", text("x")), told("next")))
    assert (found.steps[0].kind, _turns(found)) == (StepKind.COMPACTION, ["next"])


def test_a_result_that_only_the_richer_record_has_is_shown_with_its_exit_code() -> None:
    failed = {"type": "tool_result", "tool_use_id": "t", "is_error": True}
    answer = {**told(failed), "toolUseResult": "Error: Exit code 3\nboom"}
    found = read(session(said("a", use("t", command="false")), answer))
    (call,) = calls(found)
    assert call.result is not None
    assert (call.result.exit_code, call.result.text) == (3, "Error: Exit code 3\nboom")


def test_meta_turns_are_not_the_users() -> None:
    step = read(session(told("Caveat: …", isMeta=True))).steps[0]
    assert (step.kind, step.role) == (StepKind.NOTE, Role.SYSTEM)


def test_a_torn_last_line_is_reported_with_its_size() -> None:
    whole = session(said("a", text("x")), said("b", text("y")))
    trajectory = read(whole[:-20])
    assert trajectory.step_count == 1
    assert [p.where for p in trajectory.problems] == ["file0.jsonl: line 2"]
    assert trajectory.problems[0].what.startswith("cut off: ")


def test_lines_that_are_no_json_are_reported_with_their_size() -> None:
    junk = "⚠️ [BashTool] Pre-flight check is taking longer\n".encode()
    good = session(said("a", text("x")))
    trajectory = read(junk + good)
    assert trajectory.step_count == 1
    assert trajectory.problems[0].what == f"not JSON: {len(junk) - 1} bytes left out"


def test_nul_padding_is_reported_and_the_row_kept() -> None:
    row = session(said("a", text("x"))).rstrip(b"\n")
    trajectory = read(row + b"\0" * 300 + b"\n" + session(said("b", text("y")), start=5))
    assert trajectory.step_count == 2
    assert trajectory.problems[0].what == "300 bytes of NUL padding"


def test_bytes_that_are_not_utf8_are_replaced_and_reported() -> None:
    row = session(said("a", text("caf?"))).replace(b"caf?", b"caf\xe9")
    trajectory = read(row)
    assert messages(trajectory)[0].text == "caf�"
    assert "not UTF-8" in trajectory.problems[0].what


def test_a_byte_order_mark_is_skipped() -> None:
    trajectory = read(b"\xef\xbb\xbf" + session(said("a", text("x"))))
    assert (trajectory.step_count, trajectory.problems) == (1, ())


def test_numbers_that_json_does_not_have_become_text() -> None:
    row = b'{"type":"assistant","sessionId":"s","uuid":"1","message":{"id":"a","content":'
    row += b'[{"type":"tool_use","id":"c","name":"Bash","input":{"n":NaN}}]}}\n'
    assert calls(read(row))[0].arguments == {"n": "NaN"}


def test_lone_surrogates_are_kept_for_the_cleaner() -> None:
    row = session(said("a", text("x"))).replace(b'"x"', b'"\\ud800"')
    assert messages(read(row))[0].text == "\ud800"


@pytest.mark.parametrize("data", [b"", b"\0\0\0", b"\n\n", b"[[[[" * 50_000, b"{}", b"null"])
def test_files_without_a_single_message_are_no_error(data: bytes) -> None:
    trajectory = read(data)
    assert trajectory.step_count == 0
    assert trajectory.problems or trajectory.unknown_records


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    trajectory = ClaudeCodeReader().read(tmp_path / "gone.jsonl", [tmp_path])
    assert [problem.what for problem in trajectory.problems] == [
        "the file is missing",
        "expected a file, found a folder",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "claude-code-session/claude-code-log-edge_cases.jsonl",
        "claude-code-session/compaction-long/951e45e1-28c2-4bf5-89eb-ca93576c88f5.jsonl",
        "claude-code-session/compaction-long/agent-cd1d3455.jsonl",
        "claude-code-session/full-session-four.jsonl",
        "claude-code-session/derived/truncated-last-line.jsonl",
        "claude-code-session/web-export-loglines.json",
        "claude-code-session/scrubbed-schema_drift.jsonl",
        "claude-code-session/sample_session.jsonl",
        "claude-code-stream-json/no-result-line.stdout.jsonl",
        "claude-code-stream-json/thinking-code_search.stdout.jsonl",
        "claude-code-stream-json/result-success-but-is_error.stdout.jsonl",
        "claude-code-stream-json/tiny.stdout.jsonl",
        "claude-code-stream-json/ansi-escapes.stdout.jsonl",
        "claude-code-stream-json/subagent-parent_tool_use.stdout.jsonl",
    ],
)
def test_real_samples_are_recognised_and_every_message_counted(cases: Path, name: str) -> None:
    file = cases / "formats" / name
    reader, detection = find_trajectory_reader(file)
    assert detection.reader == "claude_code"
    ids = set()
    for number, line in enumerate(file.read_bytes().splitlines()):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and record.get("type") == "assistant":
            ids.add(record["message"].get("id", number))
    trajectory = reader.read(file)
    assert trajectory.step_count == (len(ids) or 15)


@pytest.mark.parametrize(
    ("name", "texts", "problems"),
    [
        ("t07_jsonl_partial_last_line.jsonl", ["system: You are an agent.", "Stage 1: add ping()"],
         ["cut off: 36 bytes left out"]),
        ("t25_nul_padded_rows.jsonl", ["ok", "still here"],
         ["300 bytes of NUL padding", "500 bytes of NUL padding"]),
    ],
)  # fmt: skip
def test_hostile_rows_are_shown_and_the_damage_reported(
    cases: Path, name: str, texts: list[str], problems: list[str]
) -> None:
    file = cases / "hostile" / "traj" / name
    trajectory = find_trajectory_reader(file)[0].read(file)
    assert [step.text for step in trajectory.steps] == texts
    assert [problem.what for problem in trajectory.problems] == problems


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "message", "content", "id", "tool_use_id", "text", "role", "uuid",
                 "sessionId", "session_id", "subtype", "usage", "input", "timestamp", "agentId",
                 "isSidechain", "parent_tool_use_id", "toolUseResult", "isCompactSummary"]
            ),
            inner | st.sampled_from(["assistant", "user", "system", "tool_use", "tool_result"]),
            max_size=6,
        )
    ),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(JSON, max_size=6), st.binary(max_size=30), st.booleans())
def test_no_content_raises(records: list[Any], junk: bytes, both: bool) -> None:
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records) + junk
    trajectory = read(*([data, data] if both else [data]))
    keys = [step.key for step in trajectory.steps]
    assert len(keys) == len(set(keys))
    numbers = [step.number for step in trajectory.steps if step.number is not None]
    assert numbers == list(range(1, len(numbers) + 1))
