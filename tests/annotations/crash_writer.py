"""Forks writers that label as fast as they can, and kills each at a random moment.

Prints a JSON object: how many labels their writers had been told are saved, and what is left of
them in the file. Run as a program of its own, since it forks.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from arcview.annotations.events import EventKind
from arcview.annotations.store import AnnotationStore, Draft
from arcview.errors import ArcviewError


def write_for_ever(folder: Path, told: int) -> None:
    store = AnnotationStore(folder, "run", "ann", host="h")
    for number in range(1_000_000):
        values: dict[str, object] = {"note": f"{number} " + "x" * (number % 200)}
        event = store.save(Draft("c1", EventKind.EDIT, values))[0]
        os.write(told, event.id.encode("ascii") + b"\n")


def killed_writer(folder: Path, *, torn: bool) -> list[str]:
    """The ids that a writer had acknowledged when it was killed."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        write_for_ever(folder, write_end)
    os.close(write_end)
    # Somewhere within one of the next labels, however fast the machine is.
    seen = b""
    wanted = random.randint(0, 2)
    while seen.count(b"\n") < wanted:
        seen += os.read(read_end, 17)
    time.sleep(random.uniform(0, 0.003))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(read_end, "rb") as pipe:
        told = [line.decode("ascii") for line in (seen + pipe.read()).split(b"\n")[:-1]]
    if torn:
        # What a power cut leaves: the beginning of a line that nobody was told is saved.
        with (folder / "ann@h.jsonl").open("ab") as file:
            file.write(b'{"schema":"arcview/case-event/1","event":"torn'[: random.randint(1, 45)])
    return told


def main(folder: Path, rounds: int) -> None:
    random.seed(7)
    told: list[str] = []
    unreadable = 0
    reader = AnnotationStore(folder, "run", None)
    for number in range(rounds):
        told += killed_writer(folder, torn=number % 3 == 0)
        try:
            reader.refresh()
            if number % 20 == 0:
                AnnotationStore(folder, "run", None)
        except (ArcviewError, OSError, ValueError, LookupError, TypeError):
            unreadable += 1
    store = AnnotationStore(folder, "run", None)
    found = {event.id for event in store.events()}
    print(
        json.dumps(
            {
                "told": len(told),
                "lost": sum(event not in found for event in told),
                "unreadable": unreadable,
                "torn": len(store.bad_lines),
                "notes_read_whole": all(
                    len(str(event.values["note"]).partition(" ")[2])
                    == int(str(event.values["note"]).partition(" ")[0]) % 200
                    for event in store.events()
                ),
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
