"""Time from a key press to the painted frame: stages, panes, files, and the labels of a case.

`python -m tests.bench.bench_keys [RUN] [ROUNDS]`. Times count from the moment the key is sent:
`frame` to the end of the first frame painted after it, `settled` to the last output before 150 ms
of silence, which includes what workers add (a diff that was not there yet).
"""

from __future__ import annotations

import sys

from tests.bench.subject import HEAD, arcview, bench_run, fill_cache, row, whole_frame
from tests.bench.terminal import Terminal

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
LABEL_KEYS = {
    "open a field of a case": "v",
    "set a label": "0",
    "undo": "u",
    "redo": "U",
}


def main(argv: list[str]) -> None:
    """Measures and prints the table."""
    rounds = int(argv[2]) if len(argv) > 2 else ROUNDS
    with bench_run(argv) as (run, scratch):
        cache = scratch / "warm"
        fill_cache(run, cache)
        print(f"{run.name}, {rounds} rounds\n{HEAD}")
        with arcview(run, cache) as terminal:
            terminal.wait_for(whole_frame)
            terminal.settle(quiet_s=1)
            _measure(terminal, KEYS, rounds)
            terminal.press("!")
            terminal.settle()
            terminal.press("a")
            terminal.settle(quiet_s=3)
            _measure(terminal, LABEL_KEYS, rounds)


def _measure(terminal: Terminal, keys: dict[str, str], rounds: int) -> None:
    frame: dict[str, list[float]] = {name: [] for name in keys}
    settled: dict[str, list[float]] = {name: [] for name in keys}
    for _ in range(rounds):
        for name, key in keys.items():
            pressed = terminal.press(key)
            if (seen := terminal.settle()) is not None:
                frame[name].append(seen.frame - pressed)
                settled[name].append(seen.settled - pressed)
    for name in keys:
        for what, times in (("frame", frame[name]), ("settled", settled[name])):
            print(row(f"{name}, {what}", times) if times else f"{name}: nothing was painted")


if __name__ == "__main__":
    main(sys.argv)
