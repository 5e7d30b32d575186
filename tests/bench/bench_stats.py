"""`arcview stats` over 200 runs of 660 stages, first look and from the cache, as a whole process.

`python -m tests.bench.bench_stats [FOLDER OF RUNS] [TIMES]`. The bootstrap draws 1,000 times. The
runs are made from seeded booleans: gates without workspaces and trajectories, whose facts are the
same once they are kept.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from tests.bench.subject import ARCVIEW, HEAD, row
from tests.session.boolean_runs import write_run

TIMES = 7
TASKS, AGENTS = 40, 5
"""200 runs; three tasks in ten have four stages, the others three: 660 stages."""


def write_corpus(root: Path) -> int:
    """Writes the runs and says how many stages they have."""
    random = Random(1)
    written = 0
    for task in range(TASKS):
        chance = random.betavariate(0.475, 0.626)
        length = 4 if task % 10 < 3 else 3
        for agent in range(AGENTS):
            stages = [random.random() < chance for _ in range(length)]
            name = f"agent-{agent}"
            folder = root / name / f"task-{task}"
            write_run(folder, stages, all(stages), task=f"task-{task}", agent=name)
            written += length
    return written


def stats(runs: Path, cache: Path, *options: str) -> float:
    """Seconds that the command takes."""
    begin = time.perf_counter()
    subprocess.run(
        [ARCVIEW, "stats", str(runs), *options],
        env={**os.environ, "ARCVIEW_CACHE": str(cache)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - begin


def main(argv: list[str]) -> None:
    """Measures and prints the table."""
    times = int(argv[2]) if len(argv) > 2 else TIMES
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        runs, what = (Path(argv[1]), argv[1]) if len(argv) > 1 else (scratch / "runs", "")
        if not what:
            what = f"{TASKS * AGENTS} runs, {write_corpus(runs)} stages"
        cache = scratch / "cache"
        first = stats(runs, cache)
        print(f"{what}, {times} times each\n{HEAD}")
        print(row("first look", [first]))
        for options in ((), ("--json",), ("--by", "agent"), ("--by", "task")):
            values = [stats(runs, cache, *options) for _ in range(times)]
            print(row(f"from the cache {' '.join(options)}", values))


if __name__ == "__main__":
    main(sys.argv)
