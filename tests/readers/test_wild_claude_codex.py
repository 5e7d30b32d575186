"""Shapes that newer clients of Claude Code and Codex write: whose words they are, each once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from arcview.model.trajectory import StepKind, Trajectory
from arcview.model.trajectory_refs import SessionRole
from arcview.readers.parts import turn_starts, usage_of
from arcview.readers.trajectories.claude_code import ClaudeCodeReader
from arcview.readers.trajectories.codex import CodexReader

Record = dict[str, Any]
PARENT, CHILD = "11111111-0000-4000-8000-00000000000a", "11111111-0000-4000-8000-00000000000b"
INIT: Record = {"type": "system", "subtype": "init", "model": "m"}


def write(file: Path, records: Iterable[Record | str], end: str = "\n") -> Path:
    """A log; texts among the records are lines that are none."""
    told = (each if isinstance(each, str) else json.dumps(each) for each in records)
    file.write_bytes("".join(f"{line}{end}" for line in told).encode())
    return file


def stream(*records: Record, start: int = 0) -> list[Record]:
    ids = {"session_id": "s", "parent_tool_use_id": None}
    return [{**ids, "uuid": f"u{n}", **each} for n, each in enumerate(records, start=start)]


def session(*records: Record, uuid: str = "u", **more: object) -> list[Record]:
    return [
        {
            "sessionId": "s",
            "uuid": f"{uuid}{n}",
            "isSidechain": False,
            "timestamp": f"2026-01-01T10:00:{n:02}.000Z",
            **more,
            **record,
        }
        for n, record in enumerate(records)
    ]


def says(message_id: str, *content: object) -> Record:
    blocks = [{"type": "text", "text": b} if isinstance(b, str) else b for b in content]
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {"id": message_id, "role": "assistant", "content": blocks, "usage": usage}
    return {"type": "assistant", "message": message}


def told(content: object, **more: object) -> Record:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def bash(call_id: str) -> Record:
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "ls"}}


def answer(call_id: str, text: str, **more: object) -> Record:
    return told([{"type": "tool_result", "tool_use_id": call_id, "content": text, **more}])


def read(folder: Path, records: Iterable[Record | str], *more: Path) -> Trajectory:
    return ClaudeCodeReader().read(write(folder / "log.jsonl", records), more)


def user_turns(found: Trajectory) -> list[str]:
    """What the later turns of a session begin with."""
    return [found.steps[place].text for place in turn_starts(found.steps)[1:]]


# -- Claude Code


def test_frames_of_the_wire_are_notes_or_raw_and_take_nothing_away(tmp_path: Path) -> None:
    hook = {"type": "system", "subtype": "hook_response", "output": "x" * 70_000, "exit_code": 0}
    denied = {"type": "system", "subtype": "permission_denied", "message": "a mere text"}
    reset = {"type": "conversation_reset", "new_conversation_id": "other"}
    refused = answer("t", "denied", is_error=True) | {"tool_use_result": "Error: denied"}
    asked = {"type": "control_request", "request_id": "r", "request": {"subtype": "can_use_tool"}}
    known = stream(hook, INIT, says("a", bash("t")), denied, refused, reset, says("b", "done"))
    found = read(tmp_path, [*known, asked])
    assert dict(found.unknown_records) == {"control_request": 1, "conversation_reset": 1}
    assert [step.number for step in found.steps if step.number] == [1, 2]
    (call,) = [call for step in found.steps for call in step.calls]
    assert call.result is not None
    assert (call.result.is_error, call.result.text) == (True, "denied")


def test_a_compaction_in_a_stream_starts_no_turn(tmp_path: Path) -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "compact_metadata": {}}
    summary = told("This session is being continued", isSynthetic=True, isReplay=False)
    printed = told("<local-command-stdout>Compacted </local-command-stdout>", isReplay=True)
    found = read(
        tmp_path, stream(INIT, says("a", "x"), INIT, boundary, summary, printed, says("b", "y"))
    )
    assert user_turns(found) == []
    assert [s.kind for s in found.steps].count(StepKind.COMPACTION) == 2


def test_prompts_that_the_client_plays_back_are_turns(tmp_path: Path) -> None:
    first, second = (told([{"type": "text", "text": w}], isReplay=True) for w in ("one", "two"))
    found = read(tmp_path, stream(INIT, first, says("a", "x"), INIT, second, says("b", "y")))
    assert user_turns(found) == ["two"]


def test_runs_of_one_session_that_were_started_anew_cost_what_each_tells(tmp_path: Path) -> None:
    def end(cost: float, spent: int) -> Record:
        counts = {"input_tokens": spent, "output_tokens": 1}
        models = {"m": {"inputTokens": spent, "outputTokens": 1, "costUSD": cost}}
        closing = {"type": "result", "subtype": "success", "total_cost_usd": cost}
        return closing | {"usage": counts, "modelUsage": models}

    found = read(
        tmp_path,
        stream(INIT, says("a", "x"), end(0.2, 100), INIT, says("b", "y"), end(0.1, 50)),
    )
    total = usage_of(found)
    assert total is not None
    assert (total.input_tokens, total.output_tokens) == (150, 2)
    assert total.cost_usd == pytest.approx(0.3)


@pytest.mark.parametrize("uuid", ["u", "z"])
def test_a_side_agent_that_repeats_the_conversation_adds_its_own_words_only(
    tmp_path: Path, uuid: str
) -> None:
    shared = (told("go"), says("a", bash("t")), answer("t", "ok"), says("b", "done"))
    own = [
        *session(*shared, uuid=uuid, isSidechain=True, agentId="acompact-1"),
        *session(says("c", "a summary"), uuid="c", isSidechain=True, agentId="acompact-1"),
    ]
    agent = write(tmp_path / "agent-acompact-1.jsonl", own)
    found = read(tmp_path, session(*shared), agent)
    said = [step.text for step in found.steps if step.role == "assistant"]
    assert sorted(said) == ["", "a summary", "done"]
    assert sum(len(step.calls) for step in found.steps) == 1
    assert [p for p in found.problems if "second result" in p.what] == []


def test_messages_that_are_no_messages_are_raw_and_counted(tmp_path: Path) -> None:
    odd = [{"type": kind, "message": value} for kind in ("user", "assistant") for value in ("x", 3)]
    found = read(tmp_path, session(*odd, told({"text": "in a mapping"})))
    assert sum(count for _, count in found.unknown_records) == 4
    assert "in a mapping" in found.steps[-1].text


def test_line_ends_of_windows_change_nothing(tmp_path: Path) -> None:
    records = session(told("go"), says("a", bash("t")), answer("t", "ok"), says("b", "done"))
    plain = read(tmp_path, records)
    assert ClaudeCodeReader().read(write(tmp_path / "log.jsonl", records, "\r\n")) == plain


# -- Codex


def line(kind: str, **payload: object) -> Record:
    return {"timestamp": "2026-01-01T10:00:00.000Z", "type": kind, "payload": payload}


def message(role: str, text: str) -> Record:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return line("response_item", type="message", role=role, content=content)


def tokens(last: int, total: int) -> Record:
    used = [{"input_tokens": count, "output_tokens": 1} for count in (last, total)]
    info = {"last_token_usage": used[0], "total_token_usage": used[1]}
    return line("event_msg", type="token_count", info=info)


def meta(thread: str, **more: object) -> Record:
    return line("session_meta", id=thread, cwd="/r", cli_version="0.150.0", **more)


def rollout(folder: Path, thread: str, *records: Record) -> Path:
    return write(folder / f"rollout-2026-01-01T10-00-00-{thread}.jsonl", records)


def spent(found: Trajectory) -> int | None:
    return found.usage.input_tokens if found.usage else None


def test_a_fork_that_was_stamped_anew_is_read_without_its_copy(tmp_path: Path) -> None:
    shared = [message("user", "go"), message("assistant", "a"), tokens(100, 100)]
    rollout(tmp_path, PARENT, meta(PARENT), *shared)
    copied = [{**record, "timestamp": "2026-01-02T00:00:00.000Z"} for record in shared]
    own = (message("user", "other way"), message("assistant", "b"), tokens(30, 130))
    forked = meta(CHILD, forked_from_id=PARENT)
    found = CodexReader().read(rollout(tmp_path, CHILD, forked, meta(PARENT), *copied, *own))
    assert [step.text for step in found.steps if step.number] == ["b"]
    assert spent(found) == 30


def test_a_sub_agent_is_known_by_its_own_id_where_the_session_is_its_parents(
    tmp_path: Path,
) -> None:
    call = line(
        "response_item", type="function_call", name="spawn_agent", arguments="{}", call_id="s"
    )
    given = json.dumps({"agent_id": CHILD})
    result = line("response_item", type="function_call_output", call_id="s", output=given)
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    first = meta(CHILD, session_id=PARENT, forked_from_id=PARENT, source=spawn)
    rollout(tmp_path, CHILD, first, meta(PARENT), message("assistant", "own"), tokens(30, 30))
    found = CodexReader().read(
        rollout(tmp_path, PARENT, meta(PARENT), call, tokens(100, 100), result)
    )
    (step,) = [step for step in found.steps if step.agent and step.number]
    assert (step.agent, step.parent_call, step.text) == (CHILD, "s", "own")
    assert [s.role for s in found.sessions] == [SessionRole.MAIN, SessionRole.SUBAGENT]
    assert spent(found) == 130


def test_a_rollout_that_goes_on_counts_what_is_repeated_once(tmp_path: Path) -> None:
    turn = (message("user", "go"), message("assistant", "a"), tokens(100, 100))
    later = (message("user", "more"), message("assistant", "b"), tokens(50, 150), tokens(50, 150))
    log = rollout(tmp_path, PARENT, meta(PARENT), *turn, meta(PARENT), *later)
    found = CodexReader().read(log)
    assert (spent(found), user_turns(found)) == (150, ["more"])


def test_a_rollout_of_totals_alone_tells_its_tokens(tmp_path: Path) -> None:
    totals = [{"total_token_usage": {"input_tokens": n, "output_tokens": 1}} for n in (1000, 1600)]
    counts = [line("event_msg", type="token_count", info=info) for info in totals]
    found = CodexReader().read(
        rollout(tmp_path, PARENT, line("turn_context", model="gpt-5.2"), *counts)
    )
    assert (spent(found), found.model, found.step_count) == (1600, "gpt-5.2", 0)


def test_what_a_shell_mixed_into_a_stream_is_left_out_and_said(tmp_path: Path) -> None:
    item = {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "hi"}}
    records: list[Record | str] = [
        "Reading prompt from stdin...",
        {"type": "thread.started", "thread_id": PARENT},
        item,
    ]
    found = CodexReader().read(write(tmp_path / "out.jsonl", records))
    assert [step.text for step in found.steps if step.number] == ["hi"]
    assert [problem.what for problem in found.problems] == ["not JSON: 28 bytes left out"]
