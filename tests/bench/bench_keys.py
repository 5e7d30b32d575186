"""Time from a key press to the painted frame, when switching stages, panes and files.

`python -m tests.bench.bench_keys [RUN] [ROUNDS]`. A press counts from the moment the key is sent;
`first` is the first output after it, `settled` the last one before 150 ms of silence.
"""

from __future__ import annotations

import sys

from tests.bench.subject import HEAD, arcview, bench_run, fill_cache, row, whole_frame

ROUNDS = 10
KEYS = {
    "next stage": "]",
    "previous stage": "[",
    "next pane": "\t",
    "row down": "j",
    "page down": "\x04",
    "next file of the diff": ")",
    "previous file of the diff": "(",
    "zoom and back": "z",
}


def main(argv: list[str]) -> None:
    """Measures and prints the table."""
    rounds = int(argv[2]) if len(argv) > 2 else ROUNDS
    with bench_run(argv) as (run, scratch):
        cache = scratch / "warm"
        fill_cache(run, cache)
        first: dict[str, list[float]] = {name: [] for name in KEYS}
        settled: dict[str, list[float]] = {name: [] for name in KEYS}
        with arcview(run, cache) as terminal:
            terminal.wait_for(whole_frame)
            terminal.settle(quiet_s=1)
            for _ in range(rounds):
                for name, key in KEYS.items():
                    pressed = terminal.press(key)
                    if (seen := terminal.settle()) is not None:
                        first[name].append(seen[0] - pressed)
                        settled[name].append(seen[1] - pressed)
        print(f"{run.name}, {rounds} rounds\n{HEAD}")
        for name in KEYS:
            for what, times in (("first", first[name]), ("settled", settled[name])):
                print(row(f"{name}, {what}", times) if times else f"{name}: nothing was painted")


if __name__ == "__main__":
    main(sys.argv)
