"""Start-up on a pseudo-terminal of 160×50, interleaved, against an empty Textual app.

`python -m tests.bench.bench_start [RUN] [STARTS]`. An open counts as done when a whole frame is
painted and the texts of rail, gate and self-tests are among what was written.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from tests.bench.subject import (
    HEAD,
    arcview,
    bench_run,
    empty_app,
    fill_cache,
    row,
    show_json,
    whole_frame,
)

STARTS = 20


PANES = (
    re.compile(r"Gate (\d+|chain) +[✓✗]"),
    re.compile(r"(F2P|P2P) (failing|passed) +\d"),
    re.compile(r"Self-tests +(none|\d+ )"),
)


def ready_when(show: str) -> Callable[[str], bool]:
    """A condition on the written text: rail, gate and self-tests of the run are on the screen."""
    rail = {
        f"{counts['passed']}/{counts['expected']}"
        for stage in json.loads(show)["stages"]
        for counts in (stage["f2p"], stage["p2p"])
        if counts and counts["expected"]
    }
    return lambda text: (
        whole_frame(text)
        and all(mark in text for mark in rail)
        and all(pane.search(text) for pane in PANES)
    )


def main(argv: list[str]) -> None:
    """Measures and prints the table."""
    starts = int(argv[2]) if len(argv) > 2 else STARTS
    times: dict[str, list[float]] = {"empty app": [], "cached": [], "not cached": []}
    with bench_run(argv) as (run, scratch):
        warm = scratch / "warm"
        fill_cache(run, warm)
        ready = ready_when(show_json(run, warm))
        for number in range(starts):
            with empty_app() as terminal:
                times["empty app"].append(terminal.wait_for(whole_frame))
            with arcview(run, warm) as terminal:
                times["cached"].append(terminal.wait_for(ready))
            cold = _empty(scratch / f"cold-{number}")
            with arcview(run, cold) as terminal:
                times["not cached"].append(terminal.wait_for(ready))
            shutil.rmtree(cold, ignore_errors=True)
        print(f"{run.name}, {starts} interleaved starts each\n{HEAD}")
        for name, values in times.items():
            print(row(name, values, min(times["empty app"])))


def _empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main(sys.argv)
