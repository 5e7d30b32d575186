"""A matrix of 20 cells whose command sleeps, two at once, in real containers.

`python -m tests.bench.bench_matrix [SECONDS] [JOBS] [IMAGE]`. Needs an engine and a python image of
`fixtures/images`. The run is made up: five sleeping gates, five states, the diagonal recorded. The
controls come first and are not in the figure; the limit is 1.25 times the sum by the jobs.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from arcview.session.matrix import Matrix
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns
from arcview.session.reruns_model import RerunOptions
from tests.readers.native_run import NativeRun, result_line, stage, state

STAGES = 4
LIMIT = 1.25
IMAGE = "arcview/gate-python:1"
GATES = [*map(str, range(1, STAGES + 1)), "chain"]


def write_run(root: Path, seconds: float, image: str) -> Path:
    """A run of four stages whose gates sleep and pass."""
    run = NativeRun(root)
    run.run = {
        "schema": "arcview/run/1",
        "run_id": "sleeping",
        "agent": {"name": "scripted-demo"},
        "task_id": "sleep",
        "chain": "chain",
        "states": [state(f"S{number}") for number in range(STAGES + 1)],
        "stages": [stage(index, base=f"S{index - 1}") for index in range(1, STAGES + 1)],
    }
    run.chain = {
        "schema": "arcview/chain/1",
        "task_id": "sleep",
        "image": {"ref": image},
        "workdir": "/workspace",
        "stages": [{"index": index} for index in range(1, STAGES + 1)],
        "gates": [_gate(gate, seconds) for gate in GATES],
    }
    for number in range(STAGES + 1):
        run.write_text(f"stages/{number}/workspace/state.txt", f"{number}\n")
    for gate in GATES:
        folder = "chain-gate" if gate == "chain" else f"stages/{gate}/gate"
        at = f"S{STAGES}" if gate == "chain" else f"S{gate}"
        counts = {"f2p": {"expected": 1, "passed": 1}, "p2p": {"expected": 0}}
        run.write_result(folder, gate, at, verdict="passed", duration_s=seconds, **counts)
        run.write_tests(folder, [result_line(f"t.{gate}", "f2p", "passed")])
    return run.write()


def _gate(gate: str, seconds: float) -> dict[str, object]:
    case = f'<testcase classname="t" name="{gate}" time="0.1"/>'
    report = f'<testsuite name="t" tests="1" failures="0" errors="0">{case}</testsuite>'
    command = ["sh", "-c", f"sleep {seconds}; printf '%s' '{report}' > report.xml"]
    return {
        "id": gate,
        "f2p": [f"t.{gate}"],
        "p2p": [],
        "steps": [{"name": "tests", "command": command, "timeout_s": 60}],
        "reports": [{"format": "junit", "path": "report.xml", "step": "tests"}],
        "limits": {"cpus": 1, "memory_mb": 256, "pids": 64},
    }


def main(argv: list[str]) -> int:
    """Measures and prints the figures; 1 where the limit is passed."""
    seconds = float(argv[1]) if len(argv) > 1 else 5.0
    jobs = int(argv[2]) if len(argv) > 2 else 2
    image = argv[3] if len(argv) > 3 else IMAGE
    with tempfile.TemporaryDirectory() as name:
        os.environ["ARCVIEW_CACHE"] = f"{name}/cache"
        run = OpenRun.open(write_run(Path(name) / "run", seconds, image))
        reruns = Reruns(run, sidecar=Path(name) / "sidecar", options=RerunOptions())
        matrix = Matrix(run, reruns)
        for gate in GATES:
            control = reruns.control(gate)
            if not control.ok:
                print(json.dumps({"gate": gate, "control": control.reason}))
                return 1
        plan = matrix.plan()
        begin = time.perf_counter()
        outcome = matrix.run(plan, jobs=jobs)
        took = time.perf_counter() - begin
        reruns.close()
    ideal = len(plan.cells) * seconds / jobs
    print(f"{outcome.done} of {outcome.total} cells, {outcome.unmeasured} unmeasured")
    print(f"{took:.2f} s, {took / ideal:.3f} times {ideal:.1f} s (limit {LIMIT}), {jobs} at once")
    return int(took > LIMIT * ideal or outcome.done < outcome.total or outcome.unmeasured > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
