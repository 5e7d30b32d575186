"""Blame and attribution: time per file once the states exist, and how much is attributed how well.

`python -m tests.bench.bench_trail [RUN]`. Times are of one file with nothing read before (blame
over the states, replay of the visible edits of every stage that wrote it), then of following one
failing test and all tests of the run. Precision is held against the steps that the sample run
recorded, with the replay alone.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable

from arcview.analysis.replay import Certainty
from arcview.session.attribution import Attribution
from arcview.session.evidence import EvidenceFinder
from arcview.session.opened import OpenRun
from arcview.session.trail import TrailFinder
from arcview.session.workspace_files import WorkspaceFiles
from tests.bench.subject import HEAD, ROOT, bench_run, row

SAMPLE = ROOT / "fixtures" / "runs" / "scripted-demo" / "notes-cli"
BUDGET_S = 0.15


def main(argv: list[str]) -> None:
    """Measures and prints the tables."""
    with bench_run(argv) as (path, scratch):
        run = OpenRun.open(path, cache_root=scratch / "cache")
        run.ensure_states()
        run.complete_overview()
        print(f"{path.name}\n{HEAD}")
        _files(run)
        _trails(run)
        _coverage(run)
        sample = OpenRun.open(SAMPLE, cache_root=scratch / "sample")
        sample.ensure_states()
        _precision(sample)


def _files(run: OpenRun) -> None:
    times: dict[str, float] = {}
    cpu: dict[str, float] = {}
    for state in run.run.agent_states():
        for path, text in WorkspaceFiles(run).texts(state.id).items():
            # Of its own each time: what is kept of another file would make it look cheap. The
            # best of three, since other programs run meanwhile.
            name = f"{state.id} {path} ({text.count(chr(10))} lines)"
            tries = []
            for _ in range(3):
                before = _cpu()
                wall = _time(Attribution(run, WorkspaceFiles(run)).sources, state.id, path)
                tries.append((wall, _cpu() - before))
            times[name], cpu[name] = map(min, zip(*tries, strict=True))
    if times:
        print(row(f"blame and attribution, {len(times)} files", list(times.values())))
        worst = max(times, key=times.__getitem__)
        within = "within" if times[worst] <= BUDGET_S else "ABOVE"
        print(
            f"  slowest: {worst}: {times[worst] * 1000:.0f} ms, {within} {BUDGET_S * 1000:.0f} ms; "
            f"{cpu[worst] * 1000:.0f} ms of processor time, whatever else runs"
        )


def _trails(run: OpenRun) -> None:
    finder = TrailFinder(run)
    times = []
    for stage in run.overview.stages:
        view = run.gate_view(str(stage.index))
        for failing in view.failing:
            state = view.cell.state or ""
            times.append(_time(finder.trail, stage.index, state, failing))
    if times:
        print(row(f"one failing test, {len(times)} tests", times))
        print(row("the first of them, nothing read before", times[:1]))
    evidence = EvidenceFinder(run)
    stages = [str(stage.index) for stage in run.overview.stages]
    print(
        row("all tests of the stage gates", [_time(lambda: [evidence.of_gate(s) for s in stages])])
    )


def _coverage(run: OpenRun) -> None:
    files = WorkspaceFiles(run)
    attribution = Attribution(run, files)
    counts: Counter[Certainty] = Counter()
    for state in run.run.agent_states()[1:]:
        for path in files.texts(state.id):
            own = (s for s in attribution.sources(state.id, path) if s.state == state.id)
            counts.update(source.certainty for source in own)
    _shares("lines that a stage or pass wrote, by how their step is known", counts)


def _precision(run: OpenRun) -> None:
    """The replay alone against the recorded steps."""
    files = WorkspaceFiles(run)
    recorded = Attribution(run, files)
    replayed = Attribution(run, files, use_recorded_steps=False)
    counts: Counter[Certainty] = Counter()
    right: Counter[Certainty] = Counter()
    for state in run.run.agent_states()[1:]:
        for path in files.texts(state.id):
            pairs = zip(
                recorded.sources(state.id, path), replayed.sources(state.id, path), strict=True
            )
            for truth, found in pairs:
                if truth.recorded:
                    counts[found.certainty] += 1
                    right[found.certainty] += found.step_key == truth.step_key
    _shares(f"{SAMPLE.name}: lines of recorded steps, by what the replay alone says", counts)
    for certainty in ("exact", "candidate"):
        if counts[certainty]:
            print(f"  {certainty}: {right[certainty]} of {counts[certainty]} name the right step")


def _shares(title: str, counts: Counter[Certainty]) -> None:
    total = counts.total()
    shares = ", ".join(f"{name} {n} ({n / total:.1%})" for name, n in counts.most_common())
    print(f"{title}: {shares or 'none'}")


def _cpu() -> float:
    """Processor time of this program and of the git that it ran."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _time(work: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


if __name__ == "__main__":
    main(sys.argv)
