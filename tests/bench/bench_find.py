"""Search over a run of 50 MB of steps and logs: first hits, all hits, and how long it holds a key.

`python -m tests.bench.bench_find [MEGABYTES]`. The run is made up, opened from the cache as a
second open is. `stall` is the longest time that another thread, which wants to run every two
milliseconds, had to wait. Then the same in the program: keys that are pressed while it searches.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

from arcview.analysis.search import compile_pattern
from arcview.session.find import RunSearch
from arcview.session.opened import OpenRun
from tests.bench.subject import arcview, fill_cache, row, whole_frame

STAGES = 8
FIRST_HITS_S, STALL_S = 0.2, 0.1
KEY_ROUNDS = 5
SEARCHES = {
    "in every stage": ("needle", False),
    "once, in the last stage": ("haystack", False),
    "the same by expression": (r"one\s+hays[a-z]+", True),
    "case matters": ("Needle", False),
    "regular expression": (r"need[a-z]+ in \w+", True),
    "nowhere": ("not there at all", False),
}


def main(argv: list[str]) -> None:
    """Measures and prints the table."""
    megabytes = int(argv[1]) if len(argv) > 1 else 50
    with tempfile.TemporaryDirectory() as name:
        # Not side by side: a folder that holds a run is watched for changes.
        run, cache = Path(name) / "runs" / "bench", Path(name) / "cache"
        made = _make_run(run, megabytes << 20)
        OpenRun.open(run, cache_root=cache).complete_overview()
        print(f"{made >> 20} MB of steps and logs in {STAGES} stages")
        print(f"{'':<26} {'first ms':>9} {'all ms':>9} {'stall ms':>9} {'hits':>7}")
        for title, (text, regex) in SEARCHES.items():
            _search(title, OpenRun.open(run, cache_root=cache), text, regex)
        _keys(run, Path(name) / "screen")
        print(f"to be met: first hits {FIRST_HITS_S * 1000:.0f} ms, stall {STALL_S * 1000:.0f} ms")


def _search(title: str, run: OpenRun, text: str, regex: bool) -> None:
    search = RunSearch(run, compile_pattern(text, regex=regex))
    first, stall = None, _Stall()
    with stall:
        start = time.perf_counter()
        for _ in search.run():
            first = first or time.perf_counter() - start
        whole = time.perf_counter() - start
    shown = f"{first * 1000:9.0f}" if first is not None else f"{'–':>9}"
    hits = search.hits.total()
    print(f"{title:<26} {shown} {whole * 1000:9.0f} {stall.longest_s * 1000:9.0f} {hits:7}")


def _keys(run: Path, cache: Path) -> None:
    """Moves in the hits while the search goes on: from each key to the frame that follows it."""
    fill_cache(run, cache)
    with arcview(run, cache) as terminal:
        terminal.wait_for(whole_frame)
        terminal.settle(quiet_s=2)
        frames = []
        for _ in range(KEY_ROUNDS):
            terminal.press("\x06")
            terminal.settle()
            terminal.press("\x15" + "need[a-z]+\r")
            terminal.press("\x12")  # as an expression, which reads everything
            for key in "jkjkjkjk":
                pressed = terminal.press(key)
                if (seen := terminal.settle(quiet_s=0.02)) is not None:
                    frames.append(seen.frame - pressed)
            terminal.settle(quiet_s=1)
            terminal.press("\x1b")
            terminal.settle()
        print(row(f"keys while it searches, {len(frames)} of them", frames))
        print(f"  longest: {max(frames) * 1000:.0f} ms")


class _Stall:
    """Measures how long another thread waits for the interpreter."""

    def __enter__(self) -> None:
        self.longest_s, self._ends = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._tick)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def _tick(self) -> None:
        pause_s = 0.002
        while not self._ends.is_set():
            before = time.perf_counter()
            time.sleep(pause_s)
            self.longest_s = max(self.longest_s, time.perf_counter() - before - pause_s)


def _make_run(root: Path, size_bytes: int) -> int:
    """Writes a run whose trajectories and logs have about that size, two thirds of it steps."""
    rng = random.Random(1)
    words = [f"{rng.choice('abcdefgh')}{n:x}" for n in range(3000)]
    made = 0
    for stage in range(1, STAGES + 1):
        folder = root / "stages" / str(stage)
        (folder / "gate").mkdir(parents=True)
        steps: list[dict[str, object]] = []
        wanted = size_bytes * 2 // 3 // STAGES
        while wanted > 0:
            output = _lines(rng, words, 60)
            wanted -= len(output)
            steps.append(_step(len(steps) + 1, output))
        if stage == STAGES:
            steps.append(_step(len(steps) + 1, "one haystack"))
        trajectory = {
            "schema_version": "ATIF-v1.7",
            "session_id": "s",
            "agent": {"name": "bench", "version": "1"},
            "steps": steps,
        }
        text = json.dumps(trajectory)
        log = "".join(_lines(rng, words, 200) for _ in range(size_bytes // 3 // STAGES // 9000))
        (folder / "trajectory.json").write_text(text)
        (folder / "gate" / "log.txt").write_text(log)
        result = {"schema": "arcview/gate-result/1", "gate": str(stage), "state": f"S{stage}"}
        (folder / "gate" / "result.json").write_text(json.dumps(result))
        test = {"id": f"test_{stage}", "group": "f2p", "outcome": "passed"}
        (folder / "gate" / "tests.jsonl").write_text(json.dumps(test) + "\n")
        made += len(text) + len(log)
    stages = [{"index": n, "status": "completed"} for n in range(1, STAGES + 1)]
    run = {"schema": "arcview/run/1", "run_id": "bench", "task_id": "bench", "stages": stages}
    (root / "run.json").write_text(json.dumps(run))
    return made


def _lines(rng: random.Random, words: list[str], count: int) -> str:
    lines = [" ".join(rng.choices(words, k=9)) for _ in range(count)]
    if rng.random() < 0.05:
        lines[count // 2] = "a needle in here"
    return "\n".join(lines) + "\n"


def _step(number: int, output: str) -> dict[str, object]:
    call = {
        "tool_call_id": f"c{number}",
        "function_name": "bash",
        "arguments": {"command": f"python -m step {number}"},
    }
    result = {"source_call_id": f"c{number}", "content": output}
    return {
        "step_id": number,
        "source": "agent",
        "message": f"step {number}",
        "tool_calls": [call],
        "observation": {"results": [result]},
    }


if __name__ == "__main__":
    main(sys.argv)
