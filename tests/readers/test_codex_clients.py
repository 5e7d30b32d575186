"""Codex rollouts of newer clients: copies, sub-agents, searches and counts that begin anew."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from arcview.model.trajectory import Role, StepKind, Trajectory
from arcview.readers.parts import turn_starts
from arcview.readers.trajectories.codex import CodexReader

Record = dict[str, object]
PARENT, CHILD = "11111111-0000-4000-8000-00000000000a", "11111111-0000-4000-8000-00000000000b"


def lines(records: Iterable[Record]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def turns(found: Trajectory) -> list[str]:
    return [found.steps[at].text for at in turn_starts(found.steps)[1:]]


def line(kind: str, payload: Record, at: int = 0) -> Record:
    return {"timestamp": f"2026-01-01T10:00:{at:02}.000Z", "type": kind, "payload": payload}


def item(kind: str, **more: object) -> Record:
    return line("response_item", {"type": kind, **more})


def event(kind: str, **more: object) -> Record:
    return line("event_msg", {"type": kind, **more})


def message(role: str, *texts: str, **more: object) -> Record:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return item("message", role=role, content=content, **more)


def tokens(last: int, total: int, whole: int | None = None) -> Record:
    def counts(spent: int) -> Record:
        return {"input_tokens": spent, "output_tokens": 1 if spent else 0, "total_tokens": spent}

    totals = counts(total) if whole is None else {**counts(0), "total_tokens": whole}
    return event(
        "token_count", info={"last_token_usage": counts(last), "total_token_usage": totals}
    )


def meta(thread: str, **more: object) -> Record:
    return line("session_meta", {"id": thread, "cli_version": "0.150.0", "cwd": "/r", **more})


def rollout(folder: Path, thread: str, *records: Record) -> Path:
    file = folder / f"rollout-2026-01-01T10-00-00-{thread}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_bytes(lines(records))
    return file


def child(parent: str) -> Record:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}
    return meta(CHILD, session_id=parent, forked_from_id=parent, source=spawn)


def test_a_search_of_the_web_is_one_call(tmp_path: Path) -> None:
    action = {"type": "search", "query": "alpha"}
    told_of = event("web_search_end", call_id="ws_1", query="alpha", action=action)
    call = item("web_search_call", status="completed", action=action)
    answer = message("assistant", "ok")
    found = CodexReader().read(rollout(tmp_path, PARENT, meta(PARENT), told_of, call, answer))
    assert sum(len(step.calls) for step in found.steps) == 1


def test_tokens_before_the_context_was_full_are_counted(tmp_path: Path) -> None:
    """The client sets its totals to nothing then, and goes on counting from there."""
    file = rollout(
        tmp_path,
        PARENT,
        meta(PARENT),
        message("assistant", "a"),
        tokens(300, 300),
        tokens(0, 0, whole=272000),
        message("user", "go on"),
        message("assistant", "b"),
        tokens(50, 50),
    )
    found = CodexReader().read(file)
    assert found.usage is not None
    assert found.usage.input_tokens == 350


def test_the_choice_of_records_that_a_sub_agent_is_given_is_not_counted_again(
    tmp_path: Path,
) -> None:
    """It gets messages and events of its parent; thoughts, calls and results are left out."""
    shared = [message("user", "go"), tokens(100, 100), message("assistant", "fixed")]
    calls = [
        item("function_call", name="exec_command", arguments="{}", call_id="c"),
        item("function_call_output", call_id="c", output="ok"),
    ]
    spawn = [
        item("function_call", name="spawn_agent", arguments="{}", call_id="s"),
        item("function_call_output", call_id="s", output=json.dumps({"agent_id": CHILD})),
    ]
    parent = rollout(
        tmp_path, PARENT, meta(PARENT), shared[0], *calls, shared[1], shared[2], *spawn
    )
    rollout(
        tmp_path,
        CHILD,
        child(PARENT),
        meta(PARENT),
        *shared,
        message("user", "test it"),
        message("assistant", "tested"),
        tokens(30, 130),
    )
    found = CodexReader().read(parent)
    said = [step.text for step in found.steps if step.role is Role.ASSISTANT and step.text]
    assert said.count("fixed") == 1
    assert found.usage is not None
    assert found.usage.input_tokens == 130


def test_a_prompt_of_several_parts_is_one_turn(tmp_path: Path) -> None:
    """The event joins the parts without anything between them."""
    prompt = message("user", "one", "two")
    mirror = event("user_message", message="onetwo")
    file = rollout(tmp_path, PARENT, meta(PARENT), prompt, mirror, message("assistant", "ok"))
    steps = CodexReader().read(file).steps
    assert [s.text for s in steps if s.role is Role.USER] == ["one\ntwo"]


def test_a_sub_agents_rollout_opened_alone_says_how_it_ended(tmp_path: Path) -> None:
    done = event("task_complete", last_agent_message="ok")
    turn = line("turn_context", {"model": "m", "cwd": "/r"})
    file = rollout(tmp_path, CHILD, child(PARENT), turn, message("assistant", "ok"), done)
    found = CodexReader().read(file)
    assert (found.model, found.agent_version, found.exit_status) == (
        "m",
        "0.150.0",
        "task_complete",
    )


def test_a_sub_agent_that_no_answer_names_is_found_by_its_parent(tmp_path: Path) -> None:
    call = item("function_call", name="spawn_agent", arguments='{"message": "x"}', call_id="s")
    answer = item("function_call_output", call_id="s", output=f"agent {CHILD} spawned")
    parent = rollout(tmp_path, PARENT, meta(PARENT), call, answer)
    rollout(tmp_path, CHILD, child(PARENT), message("assistant", "did x"))
    assert any(step.agent == CHILD for step in CodexReader().read(parent).steps)


def test_a_sub_agent_in_the_folder_of_another_day_is_found(tmp_path: Path) -> None:
    call = item("function_call", name="spawn_agent", arguments='{"message": "x"}', call_id="s")
    answer = item("function_call_output", call_id="s", output=json.dumps({"agent_id": CHILD}))
    days = tmp_path / "sessions" / "2026" / "01"
    parent = rollout(days / "01", PARENT, meta(PARENT), call, answer)
    rollout(days / "02", CHILD, child(PARENT), message("assistant", "did x"))
    assert any(step.agent == CHILD for step in CodexReader().read(parent).steps)


@pytest.mark.parametrize(
    "words",
    [
        "<recommended_plugins>\nHere is a list</recommended_plugins>",
        "<extension_context>\nx\n</extension_context>",
        "<external_browser>\nx\n</external_browser>",
        "<agent_message_board_notification>\nx</agent_message_board_notification>",
        "Warning: Your account was flagged for potentially high-risk cyber activity.",
    ],
)
def test_what_newer_clients_say_for_the_user_is_no_turn(tmp_path: Path, words: str) -> None:
    file = rollout(tmp_path, PARENT, meta(PARENT), message("user", words))
    assert {step.kind for step in CodexReader().read(file).steps} == {StepKind.NOTE}


def test_the_kinds_of_the_parts_say_who_wrote_a_message(tmp_path: Path) -> None:
    def of(kind: str) -> Record:
        told_by = {"content_item_kinds": [kind]}
        return message("user", "words", internal_chat_message_metadata_passthrough=told_by)

    steps = (
        CodexReader()
        .read(
            rollout(tmp_path, PARENT, meta(PARENT), of("user.text"), of("world_state.environments"))
        )
        .steps
    )
    assert [step.kind for step in steps[1:]] == [StepKind.MESSAGE, StepKind.NOTE]
