"""Long trajectories: time to the first steps, speed of the index, memory, and keys meanwhile.

`python -m tests.bench.bench_sessions [STARTS] [MB]`. Interleaved with an empty Textual app, each
start without a cache. `MINI_SWE_AGENT` names a Python that has mini-swe-agent: its own inspector
is started on the same document then.
"""

from __future__ import annotations

import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from arcview.readers.registry import find_trajectory_reader
from arcview.session.collector import held_collector
from tests.bench.sessions import (
    CLAUDE_CODE,
    CLAUDE_CODE_SHORT,
    CODEX,
    CODEX_TRIMMED,
    document,
    repeat,
)
from tests.bench.subject import HEAD, arcview, empty_app, row, whole_frame
from tests.bench.terminal import Terminal

STARTS, MEGABYTES, DOCUMENT_MEGABYTES = 10, 100, 60
_FIRST_STEPS = re.compile(r"▸ +[12] .{60}")
_ALL_STEPS = re.compile(r"· (?:step [\d,]+/\d|[\d,]+ steps)")
_TESTS_KNOWN = re.compile(r"Self-tests +(?:none|\d)")
_MOST_KEYS = 400
_KEYS = "jjkk \x04\x15 "
"""Rows and half pages of the trajectory, which has the keys; a step is opened and closed."""
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
    # The caches lie elsewhere: a new folder beside a log would be news of the log.
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as caches:
        scratch = Path(name)
        logs = {
            "Claude Code session": repeat(CLAUDE_CODE, scratch / "claude.jsonl", size),
            "Codex rollout": repeat(CODEX, scratch / "codex.jsonl", size, kept_lines=1),
            "mini-swe-agent document": document(
                scratch / "mini.traj.json", DOCUMENT_MEGABYTES * 1_000_000
            ),
        }
        short = {
            "Claude Code session, short records": repeat(
                CLAUDE_CODE_SHORT, scratch / "short.jsonl", size
            ),
            "Codex rollout, trimmed records": repeat(
                CODEX_TRIMMED, scratch / "trimmed.jsonl", size, kept_lines=1
            ),
        }
        _starts(logs, Path(caches), starts)
        _indexing({**logs, **short})
        for title, path in logs.items():
            _while_reading(title, path, Path(caches))


def _starts(logs: dict[str, Path], caches: Path, starts: int) -> None:
    clock: dict[str, list[float]] = {}
    cpu: dict[str, list[float]] = {}

    def measure(name: str, started: Terminal, seen: Callable[[str], bool]) -> None:
        with started as terminal:
            clock.setdefault(name, []).append(terminal.wait_for(seen))
            cpu.setdefault(name, []).append(terminal.cpu_s())

    python = os.environ.get("MINI_SWE_AGENT")
    for number in range(starts):
        measure("empty app", empty_app(), whole_frame)
        for title, path in logs.items():
            cache = caches / f"cold-{number} {title}"
            measure(f"{title}, first steps", arcview(path, cache), first_steps)
        if python is not None:
            own = Terminal([python, "-c", _INSPECTOR, str(logs["mini-swe-agent document"])])
            measure("its own inspector, first step", own, lambda t: "helpful assistant" in t)
    sizes = ", ".join(f"{path.stat().st_size / 1e6:.0f} MB" for path in logs.values())
    print(f"{sizes}; {starts} interleaved starts each, nothing kept\n{HEAD}")
    for name, values in clock.items():
        print(row(name, values, min(clock["empty app"])))
    print("processor time until then, of the process itself")
    for name, values in cpu.items():
        print(row(name, values, min(cpu["empty app"])))


def _indexing(logs: dict[str, Path]) -> None:
    for title, path in logs.items():
        reader, best = find_trajectory_reader(path)[0], float("inf")
        for _ in range(3):
            with held_collector():
                begun = time.perf_counter()
                found = reader.read(path)
                best = min(best, time.perf_counter() - begun)
        megabytes = path.stat().st_size / 1e6
        counts = f"{found.step_count:,} steps, {found.tool_call_count:,} calls"
        print(f"{title}: {counts} known in {best:.2f} s, {megabytes / best:.0f} MB/s")


def _while_reading(title: str, path: Path, caches: Path) -> None:
    """Keys while the rest is read; memory when all is known."""
    with arcview(path, caches / f"keys {title}") as terminal:
        terminal.wait_for(first_steps)
        terminal.settle(quiet_s=0.3, timeout_s=1)
        frames: list[float] = []
        unseen = 0
        while not _is_known(terminal.text) and len(frames) < _MOST_KEYS:
            for key in _KEYS:
                pressed = terminal.press(key)
                seen = terminal.settle(quiet_s=0.15, timeout_s=0.5)
                if seen is not None:
                    frames.append(seen.frame - pressed)
                unseen += seen is None
        known = time.perf_counter() - terminal.started
        terminal.settle(quiet_s=2)
        memory = terminal.rss_bytes()
    print(
        f"{title}: everything known after {known:.1f} s, {memory / 1e6:.0f} MB resident\n"
        f"{title}, {len(frames)} keys meanwhile: {_milliseconds(frames)}, {unseen} without a frame"
    )


def _milliseconds(frames: list[float]) -> str:
    """`median 12 ms, slowest 40 ms`."""
    if not frames:
        return "none was seen"
    return f"median {statistics.median(frames) * 1000:.0f} ms, slowest {max(frames) * 1000:.0f} ms"


def _is_known(text: str) -> bool:
    return _ALL_STEPS.search(text) is not None and _TESTS_KNOWN.search(text) is not None


if __name__ == "__main__":
    main(sys.argv)
