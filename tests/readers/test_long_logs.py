"""Logs that are too long to be held say what the same logs say when they are read as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arcview.errors import ArcviewError
from arcview.model.trajectory import LongSteps, Trajectory
from arcview.readers.registry import find_trajectory_reader
from arcview.readers.trajectories import aside, drafts, long_files
from arcview.readers.trajectories.claude_code import ClaudeCodeReader
from arcview.readers.trajectories.claude_code_long import read_long
from arcview.readers.trajectories.codex import CodexReader
from arcview.readers.trajectories.codex_join import Reading

Record = dict[str, Any]
LONG = "begin " + "long text\n" * 200 + "end"


def whole(found: Trajectory) -> Trajectory:
    """With all steps in memory, so that two ways of reading can be compared."""
    return replace(found, steps=tuple(found.steps))


def assert_same(files: Sequence[Path]) -> None:
    held = ClaudeCodeReader().read(files[0], files[1:])
    found = read_long(files)
    assert found is not None
    assert isinstance(found.steps, LongSteps)
    assert whole(found) == whole(held)
    assert (found.step_count, found.tool_call_count) == (held.step_count, held.tool_call_count)
    for head, step in zip(found.heads, held.steps, strict=True):
        assert (head.key, head.number, head.usage) == (step.key, step.number, step.usage)
        assert "".join(step.text.split()).startswith("".join(head.text.split())[:200])
        assert [call.key for call in head.calls] == [call.key for call in step.calls]
        assert len(head.text) + len(head.raw or "") < 3000


def claude_logs(cases: Path) -> list[Path]:
    found = []
    for path in sorted(cases.rglob("*.jsonl")):
        try:
            reader, _ = find_trajectory_reader(path, only_built_in=True)
        except ArcviewError:
            continue
        if reader.id == "claude_code" and read_long([path]) is not None:
            found.append(path)
    return found


def test_every_sample_says_the_same_either_way(cases: Path) -> None:
    logs = claude_logs(cases)
    assert len(logs) >= 15
    for path in logs:
        assert_same([path])


def test_a_session_and_its_sub_agents_say_the_same_either_way(cases: Path) -> None:
    folder = cases / "formats" / "claude-code-session"
    assert_same(sorted((folder / "compaction-long").glob("*.jsonl")))
    assert_same(sorted((folder / "nested-subagent").rglob("*.jsonl")))


def test_a_stream_and_its_sessions_say_the_same_either_way(scb: Callable[[str], Path]) -> None:
    joined = 0
    for stream in sorted(scb("circuit-eval").rglob("*.jsonl")):
        others = [path for path in sorted(stream.parent.rglob("*.jsonl")) if path != stream]
        if others and read_long([stream, *others]) is not None:
            joined += 1
            assert_same([stream, *others])
    assert joined


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-100],
        lambda data: data + b'{"type": "assistant", "mess',
        lambda data: data + b"\0" * 3000,
        lambda data: data.replace(b"\n", b"\n\0\0\0", 5).lstrip(b"\0"),
        lambda data: data.replace(b'"content"', b'"content\xff"', 4),
        lambda data: data.replace(b"\n", b'\njunk\n[1, 2]\n"text"\n', 3),
        lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
        lambda data: data + data,
        lambda data: data.replace(b"toolu_", b"", 40),
    ],
)
def test_damage_says_the_same_either_way(
    cases: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    source = cases / "formats" / "claude-code-session" / "full-session-four.jsonl"
    path = tmp_path / "s.jsonl"
    path.write_bytes(damage(source.read_bytes()))
    assert_same([path])


_ids = st.sampled_from(["a", "b", "c", "d"])
_texts = st.sampled_from(["", "hi", " hi ", LONG, LONG + "!", " " * 900 + LONG])
_uses = st.builds(
    lambda call_id, given: {"type": "tool_use", "id": call_id, "name": "Bash", "input": given},
    _ids,
    st.sampled_from(
        [{"command": "ls"}, {"command": LONG}, {"prompt": LONG}, {"a": [LONG] * 3}, LONG, [LONG]]
    ),
)
_results = st.builds(
    lambda call_id, content: {"type": "tool_result", "tool_use_id": call_id, "content": content},
    _ids,
    _texts,
)
_said = st.builds(lambda text: {"type": "text", "text": text}, _texts)
_thought = st.builds(lambda text: {"type": "thinking", "thinking": text}, _texts)
_image = st.just(
    {"type": "image", "source": {"media_type": "image/png", "data": "AAAA" * 200, "type": "base64"}}
)
_blocks = st.lists(st.one_of(_uses, _results, _said, _thought, _image), max_size=3)


def _record(
    kind: str, message_id: str, blocks: list[Record], uuid: str | None, more: Record
) -> Record:
    message = {"id": message_id, "role": kind, "content": blocks, "model": "m"}
    record = {"type": kind, "sessionId": "s", "message": message, **more}
    return record if uuid is None else {**record, "uuid": uuid}


_records = st.builds(
    _record,
    st.sampled_from(["assistant", "user", "odd", "queue-operation", "summary"]),
    _ids,
    _blocks,
    st.none() | st.integers(0, 40).map(str),
    st.sampled_from(
        [
            {},
            {"isSidechain": True, "agentId": "agent"},
            {"isSidechain": True, "parentUuid": "3"},
            {"content": LONG},
            {"toolUseResult": {"agentId": "agent", "stdout": LONG}},
            {"isCompactSummary": True},
            {"timestamp": "2026-01-01T10:00:00Z", "isMeta": True},
        ]
    ),
)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.lists(_records, min_size=2, max_size=12), min_size=1, max_size=2))
def test_any_records_say_the_same_either_way(tmp_path: Path, files: list[list[Record]]) -> None:
    paths = []
    for number, records in enumerate(files):
        path = tmp_path / f"{number}.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        paths.append(path)
    assert_same(paths)


def test_a_long_log_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = _record("assistant", "m", [{"type": "text", "text": LONG}], "u", {})
    path = tmp_path / "s.jsonl"
    path.write_text((json.dumps(record) + "\n") * 3)
    assert isinstance(ClaudeCodeReader().read(path).steps, tuple)
    monkeypatch.setattr(long_files, "LONG_BYTES", 100)
    found = ClaudeCodeReader().read(path)
    assert isinstance(found.steps, LongSteps)
    assert len(found.heads[0].text) < len(LONG)
    assert found.steps[0].text == LONG
    assert found.steps[0] is found.steps[0]
    assert found.steps[-1:][0].text == LONG


def test_a_sub_agent_of_one_line_does_not_make_a_log_be_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_files, "LONG_BYTES", 100)
    record = _record("assistant", "m", [{"type": "text", "text": LONG}], "u", {})
    for name, lines in (("s", 3), ("agent-1", 1)):
        (tmp_path / f"{name}.jsonl").write_text((json.dumps(record) + "\n") * lines)
    agents = [tmp_path / "agent-1.jsonl"]
    assert isinstance(ClaudeCodeReader().read(tmp_path / "s.jsonl", agents).steps, LongSteps)


def test_what_is_gone_since_is_said(tmp_path: Path) -> None:
    record = _record("assistant", "m", [{"type": "text", "text": LONG}], "u", {})
    path = tmp_path / "s.jsonl"
    path.write_text((json.dumps(record) + "\n") * 2)
    found = read_long([path])
    assert found is not None
    path.write_text("\n")
    assert "the file has changed" in found.steps[0].text
    path.unlink()
    (step,) = found.steps
    assert step.text.endswith("(cannot be read: No such file or directory)")


def codex_logs(cases: Path) -> list[Path]:
    found = []
    for path in sorted((cases / "formats").glob("codex-*/**/*.jsonl*")):
        reader, _ = find_trajectory_reader(path, only_built_in=True)
        assert reader.id == "codex"
        found.append(path)
    return found


def assert_same_aside(path: Path, monkeypatch: pytest.MonkeyPatch, unsettled: int) -> None:
    held = CodexReader().read(path)
    with monkeypatch.context() as patched:
        patched.setattr(long_files, "LONG_BYTES", -1)
        patched.setattr(drafts, "_UNSETTLED", unsettled)
        found = CodexReader().read(path)
    assert isinstance(found.steps, LongSteps)
    assert whole(found) == whole(held)
    for head in found.heads:
        assert max(len(head.text), len(head.thinking), len(head.raw or "")) <= 400
        for call in head.calls:
            assert call.result is None or len(call.result.text) <= 400


@pytest.mark.parametrize("unsettled", [0, 3, 500])
def test_every_rollout_says_the_same_with_its_texts_aside(
    cases: Path, monkeypatch: pytest.MonkeyPatch, unsettled: int
) -> None:
    logs = codex_logs(cases)
    assert len(logs) >= 8
    for path in logs:
        assert_same_aside(path, monkeypatch, unsettled)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-100],
        lambda data: data + b"\0" * 3000,
        lambda data: data.replace(b'"text"', b'"text\xff"', 4),
        lambda data: data.replace(b"\n", b'\njunk\n[1, 2]\n"text"\n', 3),
        lambda data: data + data,
        lambda data: data.replace(b"call-", b"", 40),
        lambda data: data.replace(b'"output":"', b'"output":"' + b"long \\ud800 text " * 90),
    ],
)
def test_damaged_rollouts_say_the_same_with_their_texts_aside(
    cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[bytes], bytes]
) -> None:
    source = cases / "formats" / "codex-rollout" / "scrubbed-2026-small.jsonl"
    path = tmp_path / "rollout-s.jsonl"
    path.write_bytes(damage(source.read_bytes()))
    assert_same_aside(path, monkeypatch, 2)


def test_drafts_are_let_go_of_when_they_are_steps(cases: Path) -> None:
    reading = Reading(aside.Aside())
    reading.take(cases / "formats" / "codex-rollout" / "scrubbed-2026-small.jsonl")
    (file,) = reading.files
    assert file.log.drafts.items
    assert reading.trajectory().steps
    assert not file.log.drafts.items


def test_texts_that_are_aside_outlive_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_files, "LONG_BYTES", 100)
    lines = [
        {"type": "session_meta", "payload": {"id": "t"}},
        {
            "type": "response_item",
            "payload": {
                "type": "function_call",
                "name": "shell",
                "call_id": "c",
                "arguments": json.dumps({"command": ["cat", LONG], "notes": {"a": [LONG]}}),
            },
        },
        {
            "type": "response_item",
            "payload": {"type": "function_call_output", "call_id": "c", "output": LONG},
        },
    ]
    path = tmp_path / "rollout-t.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = CodexReader().read(path)
    path.unlink()
    (call,) = found.steps[1].calls
    assert call.arguments == {"command": ["cat", LONG], "notes": {"a": [LONG]}}
    assert call.command is not None
    assert LONG in call.command
    assert call.result is not None
    assert call.result.text == LONG
    (head,) = found.heads[1].calls
    assert head.result is not None
    assert len(head.result.text) == 400
    assert isinstance(head.arguments, aside.PutArguments)
