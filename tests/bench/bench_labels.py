"""Labelling: how long each key works until its label is on the disk, and what the screens ask for.

`python -m tests.bench.bench_labels [RUN]`. Without a screen: what it adds is in `bench_keys`. The
disk's own time to sync is in it, since a label counts as saved only then.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from arcview.annotations.events import EventKind
from arcview.annotations.store import AnnotationStore, Draft
from arcview.session.address import Address
from arcview.session.annotate import AnnotateSession
from arcview.session.annotate_keys import KeyPad
from arcview.session.annotate_rows import code_rows, form_rows, side_rows
from arcview.session.annotate_suggestions import SuggestionFinder
from arcview.session.opened import OpenRun
from tests.bench.subject import HEAD, bench_run, row

BUDGET_S = 0.06
_KEYS = ("v0", "d2", "c8", "m1", "gb", "f3")


def main(argv: list[str]) -> None:
    """Measures and prints the table."""
    with bench_run(argv) as (path, scratch):
        run = OpenRun.open(path, cache_root=scratch / "cache")
        run.ensure_states()
        run.complete_overview()
        print(f"{path.name}\n{HEAD}")
        _keys(run, scratch / "sidecar")
        _suggestions(run)
        _many(scratch / "many")


def _keys(run: OpenRun, sidecar: Path) -> None:
    session = AnnotateSession.open(run, annotator="bench", sidecar=sidecar)
    gate = run.overview.first_failing_gate
    if gate is None:
        print("  no gate failed: nothing to label")
        return
    failing = [one.test for one in run.gate_view(gate).failing]
    times: dict[str, list[float]] = {
        "mark a test": [
            _time(session.mark, str(Address("gate", gate, (test.group.value, test.id))))
            for test in failing[:20]
        ]
    }
    pad = KeyPad(session)
    times["field and code"] = [_time(_press, pad, keys) for _ in range(20) for keys in _KEYS]
    times["undo, redo"] = [_time(lambda: (session.undo(), session.redo())) for _ in range(20)]
    times["rows of form, codes and sides"] = [
        _time(lambda: (form_rows(session), code_rows(session, "cause"), side_rows(session)))
        for _ in range(20)
    ]
    times["open the labels again"] = [
        _time(AnnotateSession.open, run, annotator="bench", sidecar=sidecar) for _ in range(5)
    ]
    for name, found in times.items():
        print(row(name, found))
    worst = max(max(found) for found in times.values())
    within = "within" if worst <= BUDGET_S else "ABOVE"
    print(f"  slowest: {worst * 1000:.1f} ms, {within} {BUDGET_S * 1000:.0f} ms")


def _press(pad: KeyPad, keys: str) -> None:
    for key in keys:
        pad.press(key)
    pad.close()


def _suggestions(run: OpenRun) -> None:
    finder = SuggestionFinder(run)
    gates = [r.index for r in run.overview.stages if run.gate_view(str(r.index)).failing]
    if gates:
        print(row("suggestions for one gate", [_time(finder.about, f"gate:{g}") for g in gates]))


def _many(folder: Path) -> None:
    """A store with three thousand events, as a large run of several annotators has."""
    store = AnnotationStore(folder, "run", "bench", host="h")
    drafts = [
        Draft(f"c{n % 40}", EventKind.EDIT, {f"origins/{n % 5}/defect": "D2"}) for n in range(3000)
    ]
    store.save(*drafts)
    more = Draft("c1", EventKind.EDIT, {"validity": "V0"})
    print(row("one more label beside 3,000", [_time(store.save, more) for _ in range(20)]))
    print(row("read 3,000 labels", [_time(AnnotationStore, folder, "run", None)]))


def _time(call: Callable[..., object], *args: object, **named: object) -> float:
    start = time.perf_counter()
    call(*args, **named)
    return time.perf_counter() - start


if __name__ == "__main__":
    main(sys.argv)
