"""A list of 200 runs, copies of the real cases with changed names: all rows, cold and kept.

`python -m tests.bench.bench_library [RUNS] [TIMES]`. Each is a process of its own, from its start
to the last row; what the disk has in memory stays there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from tests.bench.subject import HEAD, ROOT, row

RUNS, TIMES = 200, 5
COLD_S, KEPT_S = 5.0, 1.0
_LIST = (
    "import sys; from pathlib import Path; from arcview.session.library_cache import scan_kept; "
    "print(sum(1 for _ in scan_kept(Path(sys.argv[1]))))"
)


def make_runs(scratch: Path, count: int) -> Path:
    """Unpacks the cases, or takes our own runs where they are absent, and copies them."""
    cases = Path(os.environ.get("ARCVIEW_CASES", ROOT.parent / "shared" / "cases")) / "scb"
    originals = []
    for packed in sorted(cases.glob("*.tar.xz")):
        with tarfile.open(packed) as archive:
            archive.extractall(scratch / "cases", filter="data")
        originals.append(scratch / "cases" / packed.name.removesuffix(".tar.xz"))
    if not originals:
        print(f"{cases} is not there: measured on copies of the sample runs instead")
        shutil.copytree(ROOT / "fixtures" / "chains", scratch / "chains")
        originals = sorted((ROOT / "fixtures" / "runs" / "scripted-demo").iterdir())
    for number in range(count):
        original = originals[number % len(originals)]
        agent = f"agent-{number % 5}"
        shutil.copytree(original, scratch / "runs" / agent / f"{original.name}-{number}")
    return scratch / "runs"


def list_runs(runs: Path, cache: Path) -> tuple[float, int]:
    """Seconds until the last row, and how many there are."""
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _LIST, str(runs)],
        env={**os.environ, "ARCVIEW_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - begin, int(done.stdout)


def main(argv: list[str]) -> None:
    """Measures and prints the table."""
    count = int(argv[1]) if len(argv) > 1 else RUNS
    times = int(argv[2]) if len(argv) > 2 else TIMES
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        runs, cold, kept = make_runs(scratch, count), [], []
        for number in range(times):
            cache = scratch / f"cache-{number}"
            first, found = list_runs(runs, cache)
            again, _ = list_runs(runs, cache)
            cold.append(first)
            kept.append(again)
    print(f"{found} runs, {times} times each\n{HEAD}")
    print(row("cold", cold))
    print(row("from the cache", kept))
    print(f"to be met: cold {COLD_S * 1000:.0f} ms, from the cache {KEPT_S * 1000:.0f} ms")


if __name__ == "__main__":
    main(sys.argv)
