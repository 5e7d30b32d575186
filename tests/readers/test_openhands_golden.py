"""Every OpenHands log among the cases: the figures that are read equal a count of a few lines."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.readers.golden import expected, summary

Record = dict[str, Any]
GOLDEN = expected("openhands")
OUTPUT = "openhands-v0/multi_swe_bench.output.jsonl"
FOLDER = next(name for name in GOLDEN if name.startswith("openhands-v1"))


def tasks(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def events(folder: Path) -> list[Record]:
    files = sorted((folder / "events").glob("event-*.json"))
    return [json.loads(file.read_text()) for file in files]


@pytest.mark.parametrize("name", GOLDEN)
def test_a_log_reads_as_reviewed(cases: Path, name: str) -> None:
    assert summary(cases / "formats" / name) == GOLDEN[name]


def test_every_case_has_been_reviewed(cases: Path) -> None:
    index = (cases / "formats" / "INDEX.tsv").read_text().splitlines()
    opened = [row.split("\t")[0] for row in index if row.split("\t")[1] == "open"]
    assert {name for name in opened if name.startswith("openhands")} == set(GOLDEN)


def test_steps_of_an_output_are_the_responses_of_the_model(cases: Path) -> None:
    counts = [
        len(
            {
                event["tool_call_metadata"]["model_response"]["id"]
                for event in task["history"]
                if event.get("action") and event.get("tool_call_metadata")
            }
        )
        for task in tasks(cases / "formats" / OUTPUT)
    ]
    assert [steps for _, _, steps in GOLDEN[OUTPUT]["sessions"]] == counts
    assert GOLDEN[OUTPUT]["steps"] == sum(counts)


def test_calls_results_and_exit_codes_of_an_output_are_those_of_its_events(cases: Path) -> None:
    history = [event for task in tasks(cases / "formats" / OUTPUT) for event in task["history"]]
    asked = [event for event in history if event.get("action") and "tool_call_metadata" in event]
    told = [e for e in history if e.get("observation") and "tool_call_metadata" in e]
    codes = Counter(str(e["extras"].get("metadata", {}).get("exit_code")) for e in told)
    assert GOLDEN[OUTPUT]["tool_calls"] == len(asked)
    assert GOLDEN[OUTPUT]["results"] == len(told)
    assert GOLDEN[OUTPUT]["exit_codes"] == dict(sorted(codes.items()))
    failed = sum(event["content"].startswith("ERROR:") for event in told)
    assert GOLDEN[OUTPUT]["is_error"]["True"] == failed


def test_tokens_of_an_output_are_its_accumulated_ones(cases: Path) -> None:
    totals = [
        task["metrics"]["accumulated_token_usage"] for task in tasks(cases / "formats" / OUTPUT)
    ]
    assert GOLDEN[OUTPUT]["tokens"][0] == sum(total["prompt_tokens"] for total in totals)
    assert GOLDEN[OUTPUT]["tokens"][2] == sum(total["completion_tokens"] for total in totals)


def test_a_conversation_has_the_figures_of_its_events(cases: Path) -> None:
    found = events(cases / "formats" / FOLDER)
    kinds = Counter(event["kind"] for event in found)
    # Two stages with a scripted model, which starts its response ids anew in the second one.
    second = next(n for n, e in enumerate(found) if n > 1 and e["source"] == "user")
    responses = {
        (n >= second, e["llm_response_id"]) for n, e in enumerate(found) if "llm_response_id" in e
    }
    observed = [event["observation"] for event in found if event["kind"] == "ObservationEvent"]
    codes = Counter(str(one.get("exit_code")) for one in observed)
    codes["None"] += kinds["AgentErrorEvent"]
    assert GOLDEN[FOLDER]["steps"] == len(responses)
    assert GOLDEN[FOLDER]["tool_calls"] == kinds["ActionEvent"]
    assert GOLDEN[FOLDER]["exit_codes"] == dict(sorted(codes.items()))
    failed = sum(one["is_error"] for one in observed) + kinds["AgentErrorEvent"]
    assert GOLDEN[FOLDER]["is_error"]["True"] == failed


def test_a_conversation_has_the_tokens_and_the_end_of_its_state(cases: Path) -> None:
    state = json.loads((cases / "formats" / FOLDER / "base_state.json").read_text())
    usage = state["stats"]["usage_to_metrics"]["agent"]["accumulated_token_usage"]
    keys = ("prompt_tokens", "cache_read_tokens", "completion_tokens", "reasoning_tokens")
    assert GOLDEN[FOLDER]["tokens"] == [usage[key] for key in keys]
    assert GOLDEN[FOLDER]["exit_status"] == state["execution_status"]
