"""Resident memory with a run open, against an empty Textual app.

`python -m tests.bench.bench_memory [RUN]`; Linux only.
"""

from __future__ import annotations

import sys

from tests.bench.subject import arcview, bench_run, empty_app, fill_cache, whole_frame
from tests.bench.terminal import Terminal


def main(argv: list[str]) -> None:
    """Measures and prints the table."""
    with bench_run(argv) as (run, scratch):
        cache = scratch / "cache"
        cold = scratch / "cold"
        with empty_app() as terminal:
            empty = _settled_rss(terminal)
        with arcview(run, cold) as terminal:
            first = _settled_rss(terminal)
        fill_cache(run, cache)
        with arcview(run, cache) as terminal:
            cached = _settled_rss(terminal)
            for key in "]" * 10 + "[" * 10:
                terminal.press(key)
                terminal.settle()
            toured = terminal.rss_bytes()
        print(f"{run.name}\n{'':<44} {'MB':>8}")
        rows = {
            "empty app": empty,
            "not cached": first,
            "cached": cached,
            "cached, after a tour of the stages": toured,
        }
        for name, size in rows.items():
            print(f"{name:<44} {size / 1e6:8.1f} {size / empty:6.2f}×")


def _settled_rss(terminal: Terminal) -> int:
    terminal.wait_for(whole_frame)
    terminal.settle(quiet_s=2)
    return terminal.rss_bytes()


if __name__ == "__main__":
    main(sys.argv)
