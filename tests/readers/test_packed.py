"""Single files that were packed with gzip or zstd are read as what they hold."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from arcview.errors import BadInputError
from arcview.readers.detect import detect
from arcview.readers.registry import (
    find_report_reader,
    find_run_reader,
    find_trajectory_reader,
    iter_runs,
    open_run,
)
from arcview.readers.trajectories.claude_code import ClaudeCodeReader
from tests.readers import golden

TRAJECTORIES = [
    "atif/openagents-login-trace.trajectory.json",
    "claude-code-stream-json/thinking-code_search.stdout.jsonl",
    "codex-rollout/openagents-sample.jsonl",
    "gemini-cli/session-2025-10-27T19-55-981c87cb.json",
    "inspect-eval/generated/plain-log.json",
    "mini-swe-agent/generated/v2-toolcall.traj.json",
    "openhands-v0/multi_swe_bench.output.jsonl",
    "swe-agent/v1.0-messages.traj",
]
REPORTS = {
    "report.json": '{"results": {"tool": {}, "tests": [{"name": "a", "status": "passed"}]}}',
    "junit.xml": '<testsuite name="s"><testcase classname="c" name="t"/></testsuite>',
    "out.tap": "TAP version 13\n1..1\nok 1 - a\n",
}
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor(level=3).compress,
}


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("name", TRAJECTORIES)
def test_a_packed_trajectory_reads_as_the_plain_one(
    cases: Path, tmp_path: Path, name: str, ending: str
) -> None:
    plain = cases / "formats" / name
    packed = tmp_path / f"{plain.name}{ending}"
    packed.write_bytes(PACKERS[ending](plain.read_bytes()))
    found, expected = golden.summary(packed), golden.summary(plain)
    named_after_files = dict.fromkeys(("sessions", "problems"))
    assert found | named_after_files == expected | named_after_files


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("name", REPORTS)
def test_a_packed_report_reads_as_the_plain_one(tmp_path: Path, name: str, ending: str) -> None:
    packed = tmp_path / f"{name}{ending}"
    packed.write_bytes(PACKERS[ending](REPORTS[name].encode()))
    reader, _ = find_report_reader(packed)
    assert len(reader.read(packed).tests) == 1


def test_a_packed_session_opens_and_lists_with_the_same_model(cases: Path, tmp_path: Path) -> None:
    plain = cases / "formats" / "claude-code-session" / "full-session-four.jsonl"
    packed = tmp_path / "session.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    reader, _ = find_run_reader(packed)
    assert reader.summarise(packed).model == open_run(packed).run.model
    assert list(iter_runs(tmp_path)) == [packed]
    found = detect(packed)
    assert found.content is not None
    assert found.content.format.id == "claude_code"


@pytest.mark.parametrize("ending", PACKERS)
def test_of_a_packed_file_that_is_cut_off_the_good_part_is_shown(
    tmp_path: Path, ending: str
) -> None:
    line = '{"type": "user", "sessionId": "s", "uuid": "u%d", "message": {"content": "%s"}}\n'
    data = "".join(line % (n, n * "ab") for n in range(2000)).encode()
    path = tmp_path / f"cut.jsonl{ending}"
    packed = PACKERS[ending](data)
    path.write_bytes(packed[: len(packed) // 2])
    reader, _ = find_trajectory_reader(path)
    found = reader.read(path)
    assert len(found.steps) > 100
    assert any("cut off" in problem.what for problem in found.problems)


def test_a_packed_file_that_is_damaged_says_so(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(b'{"type": "user", "sessionId": "s", "uuid": "u"}\n' * 5))
    data[-8] ^= 0xFF
    path = tmp_path / "damaged.jsonl.gz"
    path.write_bytes(data)
    with pytest.raises(BadInputError, match="packed, and damaged"):
        find_trajectory_reader(path)
    assert "packed with gzip, and damaged" in ClaudeCodeReader().read(path).problems[0].what


def test_packed_bytes_of_nothing_known_are_no_run(tmp_path: Path) -> None:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb") as file:
        file.write(b"hello\n")
    path = tmp_path / "hello.gz"
    path.write_bytes(out.getvalue())
    assert not detect(path).is_recognised
