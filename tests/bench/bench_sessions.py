"""Long trajectories: time to the first steps, speed of the index, memory, and keys meanwhile.

`python -m tests.bench.bench_sessions [STARTS] [MB]`. Interleaved with an empty Textual app, each
start without a cache. `MINI_SWE_AGENT` names a Python that has mini-swe-agent: its own inspector
is started on the same document then.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from pathlib import Path

from arcview.readers.registry import trajectory_reader
from arcview.session.collector import held_collector
from tests.bench.sessions import CLAUDE_CODE, CODEX, document, repeat
from tests.bench.subject import HEAD, arcview, empty_app, row, whole_frame
from tests.bench.terminal import Terminal

STARTS, MEGABYTES, DOCUMENT_MEGABYTES = 10, 100, 60
_FIRST_STEPS = re.compile(r"▸ +[12] .{60}")
_ALL_STEPS = re.compile(r"· (?:step [\d,]+/\d|[\d,]+ steps)")
_TESTS_KNOWN = re.compile(r"Self-tests +(?:none|\d)")
_KEYS = "jjjj\x04jjkk\x15\x05\x02"
"""Rows, pages and half pages of the trajectory."""
_INSPECTOR = """
import sys
from pathlib import Path
from minisweagent.run.utilities.inspector import TrajectoryInspector
TrajectoryInspector([Path(sys.argv[1])]).run()
"""


def first_steps(text: str) -> bool:
    """Whether the first steps are on the screen, whole."""
    return whole_frame(text) and _FIRST_STEPS.search(text) is not None


def main(argv: list[str]) -> None:
    """Measures and prints the tables."""
    starts = int(argv[1]) if len(argv) > 1 else STARTS
    size = (int(argv[2]) if len(argv) > 2 else MEGABYTES) * 1_000_000
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        logs = {
            "Claude Code session": repeat(CLAUDE_CODE, scratch / "claude.jsonl", size),
            "Codex rollout": repeat(CODEX, scratch / "codex.jsonl", size, kept_lines=1),
            "mini-swe-agent document": document(
                scratch / "mini.traj.json", DOCUMENT_MEGABYTES * 1_000_000
            ),
        }
        _starts(logs, scratch, starts)
        _indexing(logs)
        for title, path in logs.items():
            _while_reading(title, path, scratch)


def _starts(logs: dict[str, Path], scratch: Path, starts: int) -> None:
    times: dict[str, list[float]] = {"empty app": []}
    python = os.environ.get("MINI_SWE_AGENT")
    for number in range(starts):
        with empty_app() as terminal:
            times["empty app"].append(terminal.wait_for(whole_frame))
        for title, path in logs.items():
            with arcview(path, scratch / f"cold-{number}") as terminal:
                times.setdefault(f"{title}, first steps", []).append(terminal.wait_for(first_steps))
        if python is not None:
            with Terminal([python, "-c", _INSPECTOR, str(logs["mini-swe-agent document"])]) as t:
                seen = times.setdefault("its own inspector, first step", [])
                seen.append(t.wait_for(lambda text: "helpful assistant" in text))
    sizes = ", ".join(f"{path.stat().st_size / 1e6:.0f} MB" for path in logs.values())
    print(f"{sizes}; {starts} interleaved starts each, nothing kept\n{HEAD}")
    for name, values in times.items():
        print(row(name, values, min(times["empty app"])))


def _indexing(logs: dict[str, Path]) -> None:
    formats = ("claude_code", "codex", "mini_swe_agent")
    for format_id, (title, path) in zip(formats, logs.items(), strict=True):
        reader, best = trajectory_reader(format_id), float("inf")
        for _ in range(3):
            with held_collector():
                begun = time.perf_counter()
                found = reader.read(path)
                best = min(best, time.perf_counter() - begun)
        megabytes = path.stat().st_size / 1e6
        counts = f"{found.step_count:,} steps, {found.tool_call_count:,} calls"
        print(f"{title}: {counts} known in {best:.2f} s, {megabytes / best:.0f} MB/s")


def _while_reading(title: str, path: Path, scratch: Path) -> None:
    """Keys while the rest is read; memory when all is known."""
    with arcview(path, scratch / f"keys {title}") as terminal:
        terminal.wait_for(first_steps)
        terminal.press("4")
        terminal.settle(quiet_s=0.05, timeout_s=1)
        frames = []
        while not _is_known(terminal.text) and len(frames) < 400:
            for key in _KEYS:
                pressed = terminal.press(key)
                if (seen := terminal.settle(quiet_s=0.03, timeout_s=2)) is not None:
                    frames.append(seen.frame - pressed)
        known = time.perf_counter() - terminal.started
        terminal.settle(quiet_s=2)
        memory = terminal.rss_bytes()
    print(
        f"{title}: everything known after {known:.1f} s, {memory / 1e6:.0f} MB resident; "
        f"{len(frames)} keys meanwhile, slowest frame {max(frames, default=0) * 1000:.0f} ms"
    )


def _is_known(text: str) -> bool:
    return _ALL_STEPS.search(text) is not None and _TESTS_KNOWN.search(text) is not None


if __name__ == "__main__":
    main(sys.argv)
