"""Makes small native runs whose one gate is any command, with or without an image."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class SmallRun:
    """What the run holds; `write` puts it on the disk."""

    command: Sequence[str] = ("sh", "run.sh")
    files: Mapping[str, str] = field(default_factory=dict)
    """Files of S1."""
    start: Mapping[str, str] = field(default_factory=lambda: {"README": "start\n"})
    """Files of S0."""
    overlay: Mapping[str, str] = field(default_factory=dict)
    f2p: Sequence[str] = ("t.py::test_a", "t.py::test_b")
    p2p: Sequence[str] = ()
    report: str | None = "report.json"
    steps: Sequence[Mapping[str, Any]] | None = None
    """Instead of `command`."""
    timeout_s: float = 180
    limits: Mapping[str, Any] = field(default_factory=dict)
    image: Mapping[str, Any] | None = None
    workdir: str = "/repo"
    user: str | None = None
    path_rules: Mapping[str, Any] = field(default_factory=dict)
    change: Callable[[Path], None] | None = None
    """What else is done to the folder of S1."""
    recorded: Mapping[str, str] | None = None
    """Test id → outcome, as recorded for gate 1 on S1."""

    def write(self, root: Path) -> Path:
        """The run folder below `root`."""
        run = root / "run"
        for state, files in ((0, self.start), (1, self.files)):
            _write(run / "stages" / str(state) / "workspace", files)
        if self.change is not None:
            self.change(run / "stages" / "1" / "workspace")
        _write(run / "chain" / "gates" / "1" / "overlay", self.overlay)
        step: dict[str, Any] = {"name": "tests", "command": list(self.command)}
        step |= {"timeout_s": self.timeout_s, "user": self.user}
        gate: dict[str, Any] = {
            "id": "1",
            "f2p": list(self.f2p),
            "p2p": list(self.p2p),
            "steps": list(self.steps) if self.steps is not None else [step],
            "reports": [{"path": self.report}] if self.report else [],
            "overlay": [{"path": path} for path in self.overlay],
            "limits": dict(self.limits),
        }
        chain = {
            "schema": "arcview/chain/1",
            "task_id": "small",
            "image": self.image,
            "workdir": self.workdir,
            "path_rules": dict(self.path_rules),
            "stages": [{"index": 1}],
            "gates": [gate],
        }
        (run / "chain" / "chain.json").write_text(json.dumps(chain))
        about: dict[str, Any] = {
            "schema": "arcview/run/1",
            "run_id": "small-run",
            "task_id": "small",
            "stages": [{"index": 1, "status": "completed", "base": "S0", "end": "S1"}],
        }
        (run / "run.json").write_text(json.dumps(about))
        if self.recorded is not None:
            self._record(run / "stages" / "1" / "gate")
        return run

    def _record(self, folder: Path) -> None:
        recorded = self.recorded or {}
        folder.mkdir(parents=True)
        counts: dict[str, dict[str, int]] = {}
        lines = []
        for group, ids in (("f2p", self.f2p), ("p2p", self.p2p)):
            counts[group] = {"expected": len(ids)}
            for test_id in ids:
                outcome = recorded.get(test_id, "missing")
                counts[group][outcome] = counts[group].get(outcome, 0) + 1
                lines.append(json.dumps({"id": test_id, "group": group, "outcome": outcome}))
        good = set(recorded.values()) <= {"passed"}
        result: dict[str, Any] = {
            "schema": "arcview/gate-result/1",
            "gate": "1",
            "state": "S1",
            **counts,
        }
        result |= {"verdict": "passed" if good else "failed", "exit_codes": [0 if good else 1]}
        result |= {"duration_s": 1.5}
        (folder / "result.json").write_text(json.dumps(result))
        (folder / "tests.jsonl").write_text("\n".join(lines) + "\n")


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))


def report_of(outcomes: Mapping[str, str]) -> str:
    """A pytest JSON report with these outcomes."""
    tests = [
        {"nodeid": test_id, "outcome": outcome, "call": {"duration": 0.01, "outcome": outcome}}
        for test_id, outcome in outcomes.items()
    ]
    return json.dumps({"created": 1.0, "exitcode": 0, "root": "/", "tests": tests})


PASSED = report_of({"t.py::test_a": "passed", "t.py::test_b": "passed"})
FAILED = report_of({"t.py::test_a": "passed", "t.py::test_b": "failed"})


def says(report: str, exit_code: int = 0, before: str = "") -> str:
    """A `run.sh` that writes a report and ends."""
    return f"{before}\ncat >report.json <<'END'\n{report}\nEND\nexit {exit_code}\n"
