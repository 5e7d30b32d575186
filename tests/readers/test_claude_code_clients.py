"""Claude Code logs of newer clients: what nobody typed, whose sub-agents, what a turn cost."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from arcview.model.trajectory import Role, StepKind, Trajectory
from arcview.readers.parts import turn_starts, usage_of
from arcview.readers.registry import find_trajectory_reader, open_run
from arcview.readers.trajectories.claude_code import Source, join

Record = dict[str, object]


def lines(records: Iterable[Record]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def stream(*records: Record) -> list[Record]:
    more = {"session_id": "s", "parent_tool_use_id": None}
    return [{**more, "uuid": f"u{n}", **record} for n, record in enumerate(records)]


def session(*records: Record, **more: object) -> list[Record]:
    found = []
    for n, record in enumerate(records):
        base = {"sessionId": "s", "uuid": f"u{n}", "isSidechain": False}
        base |= {"parentUuid": f"u{n - 1}" if n else None}
        found.append({**base, "timestamp": f"2026-01-01T10:00:{n:02}.000Z", **more, **record})
    return found


def says(mid: str, *blocks: object, out: int = 5, **more: object) -> Record:
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    usage = {"input_tokens": 10, "output_tokens": out}
    message = {"id": mid, "role": "assistant", "model": "m", "content": content, "usage": usage}
    return {"type": "assistant", "message": message, **more}


def told(content: object, **more: object) -> Record:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def use(call: str, name: str, **given: object) -> Record:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def result(call: str, text: str, **more: object) -> Record:
    return told([{"type": "tool_result", "tool_use_id": call, "content": text}], **more)


INIT: Record = {"type": "system", "subtype": "init", "model": "m"}


def end(cost: float, own: int, of_process: int) -> Record:
    """A closing record: cost and counts by model are the process's, `usage` is the turn's."""
    models = {"m": {"inputTokens": of_process, "outputTokens": 0, "costUSD": cost}}
    usage = {"input_tokens": own, "output_tokens": 0}
    kind = {"type": "result", "subtype": "success", "is_error": False}
    return {**kind, "total_cost_usd": cost, "usage": usage, "modelUsage": models}


def read(*files: list[Record]) -> Trajectory:
    return join([Source(f"f{n}.jsonl", lines(file)) for n, file in enumerate(files)])


def turns(found: Trajectory) -> list[str]:
    return [found.steps[at].text for at in turn_starts(found.steps)[1:]]


# -- detection


@pytest.mark.parametrize("indent", [None, 2])
def test_a_long_array_of_messages_is_recognised(tmp_path: Path, indent: int | None) -> None:
    found = stream(INIT, *[says(f"m{n}", "x" * 400) for n in range(400)], end(1, 1, 1))
    file = tmp_path / "claude-execution-output.json"
    file.write_text(json.dumps(found, indent=indent))
    assert find_trajectory_reader(file)[1].reader == "claude_code"


def test_a_stream_whose_first_line_is_longer_than_the_head_is_recognised(tmp_path: Path) -> None:
    more = {"session_id": "s", "tools": ["x" * 60] * 2000}
    first: Record = {"type": "system", "subtype": "init", **more}
    file = tmp_path / "stdout.jsonl"
    file.write_bytes(lines([first, *stream(says("a", "hi"))]))
    assert find_trajectory_reader(file)[1].reader == "claude_code"


def test_a_document_is_a_placeholder_and_no_text() -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
    found = read(session(told([{"type": "document", "source": source}, "read this"])))
    (image,) = found.steps[0].images
    assert found.steps[0].text == "read this"
    assert (image.media_type, image.size_bytes) == ("application/pdf", 5)


def test_a_message_that_the_client_wrote_names_no_model() -> None:
    failed = says("a", "API Error", isApiErrorMessage=True)
    failed["message"]["model"] = "<synthetic>"  # type: ignore[index]
    found = read(session(told("go"), failed, says("b", "done")))
    assert [step.model for step in found.steps] == [None, None, "m"]


# -- cost and tokens


def test_the_cost_of_a_process_that_serves_several_turns_is_told_anew_in_each() -> None:
    found = read(
        stream(INIT, says("a", "x"), end(0.1, 100, 100), INIT, says("b", "x"), end(0.3, 200, 300))
    )
    total = usage_of(found)
    assert total is not None
    assert total.cost_usd == pytest.approx(0.3)
    costs = [step.usage.cost_usd for step in found.steps if step.usage and step.usage.cost_usd]
    assert costs == pytest.approx([0.1, 0.2])


def test_tokens_of_sub_agents_are_in_the_total_as_their_cost_is() -> None:
    """`usage` leaves sub-agents out; `modelUsage` and the cost have them."""
    found = read(stream(INIT, says("a", "x"), end(0.5, own=100, of_process=400)))
    total = usage_of(found)
    assert total is not None
    assert total.input_tokens == 400


# -- whose turn it is


@pytest.mark.parametrize("words", ["Base directory for this skill: /x", "Stop hook feedback:\nno"])
def test_what_the_client_says_in_a_stream_is_no_turn(words: str) -> None:
    assert turns(read(stream(INIT, says("a", "x"), told(words, isSynthetic=True)))) == []


@pytest.mark.parametrize(
    "words",
    [
        "<bash-input>git status</bash-input>",
        "<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>",
        "<local-command-stderr>no</local-command-stderr>",
        "<task-notification>\n<task-id>b</task-id></task-notification>",
        "<system-reminder>careful</system-reminder>",
        '<teammate-message teammate_id="lead">rebase</teammate-message>',
        "Another Claude session sent a message: <cross-session-message>hi</cross-session-message>",
    ],
)
def test_what_nobody_typed_is_no_turn(words: str) -> None:
    found = read(session(told("go"), says("a", "x"), told(words), told("next"), says("b", "y")))
    assert turns(found) == ["next"]


def test_a_record_that_names_another_origin_than_a_person_is_no_turn() -> None:
    note = told("a background command finished", origin={"kind": "task-notification"})
    assert turns(read(session(told("go"), says("a", "x"), note, says("b", "y")))) == []


def test_a_command_that_the_client_answers_is_no_turn() -> None:
    leave = told("<command-name>/exit</command-name>\n<command-args></command-args>")
    bye = told("<local-command-stdout>Bye</local-command-stdout>")
    review = told("<command-message>review</command-message>\n<command-name>/review</command-name>")
    found = read(
        session(told("go"), says("a", "x"), review, told("Review it", isMeta=True), says("b", "y"))
    )
    assert len(turns(found)) == 1
    assert turns(read(session(told("go"), says("a", "x"), leave, bye))) == []


def test_a_queued_prompt_is_shown_once_whatever_becomes_of_it() -> None:
    queued: Record = {"type": "queue-operation", "sessionId": "s", "content": "also this"}
    given: Record = {
        "type": "attachment",
        "attachment": {"type": "queued_command", "prompt": "also this", "commandMode": "prompt"},
    }
    found = read(
        session(
            told("go"),
            {**queued, "operation": "enqueue"},
            {**queued, "operation": "remove"},
            given,
            says("a", "x"),
        )
    )
    shown = [step for step in found.steps if "also this" in step.text]
    assert [(step.role, step.kind) for step in shown] == [(Role.USER, StepKind.NOTE)]


def test_a_conversation_that_goes_on_under_another_session_id_is_one() -> None:
    first = session(told("go"), says("a", "x"), sessionId="old")
    later = [
        {**record, "uuid": f"n{n}", "parentUuid": f"n{n - 1}" if n else "u1"}
        for n, record in enumerate(session(told("more"), says("b", "y")))
    ]
    assert turns(read([*first, *later])) == ["more"]


# -- calls and sub-agents


def test_results_of_the_providers_tools_go_to_their_calls() -> None:
    call = {**use("srv", "advisor"), "type": "server_tool_use"}
    answer = {"type": "advisor_tool_result", "tool_use_id": "srv", "content": "think"}
    (step,) = read(session(says("a", call), says("a", answer))).steps
    assert [c.result.text if c.result else None for c in step.calls] == ["think"]


def test_a_sub_agent_that_is_told_more_stands_where_it_was_started() -> None:
    again: Record = {"agentId": "g"}
    main = session(
        told("go"),
        says("a", use("t1", "Agent", prompt="one")),
        result("t1", "1", toolUseResult=again),
        says("b", use("t2", "Agent", prompt="two", resume="g")),
        result("t2", "2", toolUseResult=again),
    )
    agent = session(told("one"), says("x", "1"), isSidechain=True, agentId="g")
    agent = [{**record, "uuid": f"g{n}"} for n, record in enumerate(agent)]
    steps = [step for step in read(main, agent).steps if step.agent == "g"]
    assert {step.parent_call for step in steps} == {"t1"}


def test_sub_agents_with_the_same_prompt_stand_at_calls_of_their_own() -> None:
    calls = [use(call, "Agent", prompt="look") for call in ("t1", "t2")]
    main = session(told("go"), says("a", *calls))
    agents = [
        [
            {**record, "uuid": f"{name}{n}"}
            for n, record in enumerate(
                session(
                    told("look"),
                    says(f"m{name}", use(f"c{name}", "Bash", command="ls")),
                    isSidechain=True,
                    agentId=name,
                )
            )
        ]
        for name in ("g", "h")
    ]
    found = read(main, *agents)
    assert {step.parent_call for step in found.steps if step.agent} == {"t1", "t2"}


def test_the_agents_of_a_workflow_come_along(tmp_path: Path) -> None:
    answer = result("t1", "launched", toolUseResult={"runId": "wf_1", "status": "async_launched"})
    main = session(told("go"), says("a", use("t1", "Workflow", scriptPath="x.js")), answer)
    (tmp_path / "s.jsonl").write_bytes(lines(main))
    folder = tmp_path / "s" / "subagents" / "workflows" / "wf_1"
    folder.mkdir(parents=True)
    own = session(
        told("sweep"), says("x", use("q", "Bash", command="ls")), isSidechain=True, agentId="w"
    )
    agent = [{**record, "uuid": f"w{n}"} for n, record in enumerate(own)]
    (folder / "agent-w.jsonl").write_bytes(lines(agent))
    opened = open_run(tmp_path / "s.jsonl")
    found = opened.trajectory(opened.run.stages[0].trajectories)
    assert any(step.agent == "w" for step in found.steps)


# -- nothing is lost, nothing is noise


def test_a_message_without_content_is_raw_and_counted() -> None:
    parts = {"role": "user", "parts": [{"text": "fix it"}]}
    found = read(session({"type": "user", "message": parts}))
    assert found.unknown_records
    assert found.steps[0].raw is not None


def test_estimates_of_tokens_are_left_out_as_partial_events_are() -> None:
    tick: Record = {"type": "system", "subtype": "thinking_tokens", "estimated_tokens": 50}
    found = read(stream(INIT, *[{**tick, "n": n} for n in range(3)], says("a", "x")))
    assert len(found.steps) == 2


def test_a_record_without_a_session_stands_where_it_was_written() -> None:
    asked: Record = {"type": "control_request", "request_id": "r"}
    first, second, third = stream(INIT, says("a", "x"), says("b", "y"))
    kinds = [step.kind for step in read([first, second, asked, third]).steps]
    assert kinds.index(StepKind.RAW) == 2
