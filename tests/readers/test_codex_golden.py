"""Every Codex log among the cases: the figures that are read equal a count of a few lines."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.readers.golden import expected, summary

Record = dict[str, Any]
GOLDEN = expected("codex")
ROLLOUTS = [name for name in GOLDEN if name.startswith("codex-rollout")]
STREAMS = [name for name in GOLDEN if name.startswith("codex-exec")]
CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
REAL = [name for name in ROLLOUTS if "scrubbed" not in name]


def records(path: Path) -> list[Record]:
    found = []
    for line in path.read_text().splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def payloads(path: Path, kind: str) -> list[Record]:
    return [record["payload"] for record in records(path) if record.get("type") == kind]


@pytest.mark.parametrize("name", GOLDEN)
def test_a_log_reads_as_reviewed(cases: Path, name: str) -> None:
    assert summary(cases / "formats" / name) == GOLDEN[name]


def test_every_case_has_been_reviewed(cases: Path) -> None:
    index = (cases / "formats" / "INDEX.tsv").read_text().splitlines()
    opened = [row.split("\t")[0] for row in index if row.split("\t")[1] == "open"]
    assert {name for name in opened if name.startswith("codex")} == set(GOLDEN)


@pytest.mark.parametrize("name", REAL)
def test_calls_and_results_are_those_of_the_response_items(cases: Path, name: str) -> None:
    items = Counter(item["type"] for item in payloads(cases / "formats" / name, "response_item"))
    assert GOLDEN[name]["tool_calls"] == sum(items[kind] for kind in CALLS)
    assert GOLDEN[name]["results"] == items["function_call_output"]


@pytest.mark.parametrize("name", [name for name in REAL if "0.171" in name or "torn" in name])
def test_steps_are_the_responses_that_were_paid_for(cases: Path, name: str) -> None:
    paid = payloads(cases / "formats" / name, "token_usage_record")
    assert GOLDEN[name]["steps"] == len({(one["turn_id"], one["response_id"]) for one in paid})


@pytest.mark.parametrize("name", [n for n in REAL if "050" not in n and "052" not in n])
def test_tokens_are_the_last_total_of_the_thread(cases: Path, name: str) -> None:
    counts = [
        event["info"]["total_token_usage"]
        for event in payloads(cases / "formats" / name, "event_msg")
        if event["type"] == "token_count" and event["info"]
    ]
    keys = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
    assert GOLDEN[name]["tokens"] == [counts[-1][key] for key in keys]


def test_exit_codes_are_those_that_the_client_recorded(cases: Path) -> None:
    name = next(name for name in ROLLOUTS if "generated" in name)
    events = payloads(cases / "formats" / name, "event_msg")
    done = [event["item"] for event in events if event["type"] == "item_completed"]
    codes = Counter(str(item["exit_code"]) for item in done if item["type"] == "CommandExecution")
    # The patch ran inside the client, which tells of its success in the output alone.
    codes["0"] += 1
    codes["None"] = GOLDEN[name]["results"] - sum(codes.values())
    assert GOLDEN[name]["exit_codes"] == dict(sorted(codes.items()))


def test_user_turns_are_those_that_the_user_wrote(cases: Path) -> None:
    name = next(name for name in ROLLOUTS if "generated" in name)
    told = [
        item["content"][0]["text"]
        for item in payloads(cases / "formats" / name, "response_item")
        if item.get("role") == "user" and '{"type": "user"}' in json.dumps(item)
    ]
    assert GOLDEN[name]["user_turns"] == told


@pytest.mark.parametrize("name", STREAMS)
def test_calls_of_a_stream_are_its_items(cases: Path, name: str) -> None:
    items = [record["item"] for record in records(cases / "formats" / name) if "item" in record]
    kinds = {item["id"]: item["type"] for item in items}
    calls = [kind for kind in kinds.values() if kind in ("command_execution", "file_change")]
    codes = Counter(
        str(item.get("exit_code"))
        for item in items
        if item.get("status") in ("completed", "failed")
    )
    assert GOLDEN[name]["tool_calls"] == len(calls)
    assert GOLDEN[name]["exit_codes"] == dict(sorted(codes.items()))


@pytest.mark.parametrize("name", STREAMS)
def test_tokens_of_a_stream_are_those_of_its_last_turn(cases: Path, name: str) -> None:
    usages = [one["usage"] for one in records(cases / "formats" / name) if "usage" in one]
    keys = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
    told = [usages[-1].get(key) for key in keys] if usages else None
    assert GOLDEN[name]["tokens"] == told
