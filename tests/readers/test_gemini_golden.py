"""Every Gemini CLI log among the cases: the figures that are read equal a count of a few lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.readers.golden import expected, summary

Record = dict[str, Any]
GOLDEN = expected("gemini")
STREAMS = [name for name in GOLDEN if "stream-json" in name]
SESSIONS = [name for name in GOLDEN if name not in STREAMS]


def messages(path: Path) -> dict[str, Record]:
    """The messages of the model by id, each as it was last written outside of a checkpoint."""
    if path.suffix == ".json":
        found = json.loads(path.read_text())["messages"]
    else:
        found = [json.loads(line) for line in path.read_text().splitlines()]
    return {one["id"]: one for one in found if one.get("type") == "gemini"}


@pytest.mark.parametrize("name", GOLDEN)
def test_a_log_reads_as_reviewed(cases: Path, name: str) -> None:
    assert summary(cases / "formats" / name) == GOLDEN[name]


def test_every_case_has_been_reviewed(cases: Path) -> None:
    index = (cases / "formats" / "INDEX.tsv").read_text().splitlines()
    opened = [row.split("\t")[0] for row in index if row.split("\t")[1] == "open"]
    assert {name for name in opened if name.startswith("gemini")} == set(GOLDEN)


@pytest.mark.parametrize("name", SESSIONS)
def test_steps_calls_and_tokens_are_those_of_the_messages(cases: Path, name: str) -> None:
    found = messages(cases / "formats" / name).values()
    calls = [call for one in found for call in one.get("toolCalls", [])]
    tokens = [one["tokens"] for one in found if one.get("tokens")]
    keys = ("input", "cached", "output", "thoughts")
    assert GOLDEN[name]["steps"] == len(found)
    assert GOLDEN[name]["tool_calls"] == len(calls)
    sent, cached, said, thoughts = (sum(one[key] for one in tokens) for key in keys)
    assert GOLDEN[name]["tokens"] == [sent, cached, said + thoughts, thoughts]
    failed = sum(call["status"] != "success" for call in calls)
    assert GOLDEN[name]["is_error"].get("True", 0) == failed


@pytest.mark.parametrize("name", SESSIONS)
def test_exit_codes_are_those_below_the_outputs(cases: Path, name: str) -> None:
    found = messages(cases / "formats" / name).values()
    shell = [
        call["result"][0]["functionResponse"]["response"].get("output", "")
        for one in found
        for call in one.get("toolCalls", [])
        if call["name"] == "run_shell_command"
    ]
    told = [
        text.rsplit("Exit Code: ", 1)[1].split("\n")[0] for text in shell if "Exit Code" in text
    ]
    codes = {code: told.count(code) for code in told if code.lstrip("-").isdigit()}
    recorded = {code: n for code, n in GOLDEN[name]["exit_codes"].items() if code != "None"}
    assert recorded == codes


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_has_the_figures_of_its_closing_record(cases: Path, name: str) -> None:
    lines = (cases / "formats" / name).read_text().splitlines()
    records = [json.loads(line) for line in lines]
    stats = records[-1]["stats"]
    assert GOLDEN[name]["tool_calls"] == stats["tool_calls"]
    # Thoughts are only in the total.
    produced = stats["total_tokens"] - stats["input_tokens"]
    told = [stats["input_tokens"], stats["cached"], produced, None]
    assert GOLDEN[name]["tokens"] == told
    assert GOLDEN[name]["exit_status"] == records[-1]["status"]


def test_the_streams_of_two_stages_have_the_steps_and_tokens_of_their_session() -> None:
    session = next(GOLDEN[name] for name in SESSIONS if "generated" in name)
    streams = [GOLDEN[name] for name in STREAMS]
    assert session["steps"] == sum(one["steps"] for one in streams)
    assert session["tool_calls"] == sum(one["tool_calls"] for one in streams)
    assert session["tokens"][0] == sum(one["tokens"][0] for one in streams)
