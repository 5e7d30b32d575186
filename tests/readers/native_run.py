"""Builds small native runs in a temporary folder, for the tests of everything that reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

F2P = {1: ["t::a", "t::b"], 2: ["t::c"]}
P2P: dict[int, list[str]] = {1: [], 2: ["t::a", "t::b"]}


def stage(index: int, **fields: Any) -> dict[str, Any]:
    return {"index": index, "status": "completed", **fields}


def state(state_id: str, **fields: Any) -> dict[str, Any]:
    number, _, name = state_id[1:].partition(".")
    kind = "between" if name else "stage_end" if int(number) else "start"
    return {"id": state_id, "stage": int(number), "kind": kind, "provenance": "recorded", **fields}


def result_line(test_id: str, group: str | None, outcome: str, **fields: Any) -> dict[str, Any]:
    return {"id": test_id, "group": group, "outcome": outcome, **fields}


@dataclass
class NativeRun:
    """A run folder of two complete stages; tests take away or change what they are about."""

    root: Path
    run: dict[str, Any] = field(default_factory=dict)
    chain: dict[str, Any] = field(default_factory=dict)

    @property
    def chain_root(self) -> Path:
        return self.root / "chain"

    def write(self) -> Path:
        self.write_json("run.json", self.run)
        if self.chain:
            self.write_json("chain/chain.json", self.chain)
        return self.root

    def write_json(self, path: str, value: object) -> None:
        self.write_text(path, json.dumps(value))

    def write_text(self, path: str, text: str) -> None:
        self.write_bytes(path, text.encode())

    def write_bytes(self, path: str, data: bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def write_tests(self, folder: str, lines: Iterable[Mapping[str, Any]]) -> None:
        self.write_text(f"{folder}/tests.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    def write_result(self, folder: str, gate: str, state_id: str | None, **fields: Any) -> None:
        result = {"schema": "arcview/gate-result/1", "gate": gate, "state": state_id, **fields}
        self.write_json(f"{folder}/result.json", result)

    def write_gate(self, index: int, outcomes: Mapping[str, str]) -> None:
        """A complete gate of a stage: outcome by id, passed where none is given."""
        lines, counts = [], {}
        for group, ids in (("f2p", F2P[index]), ("p2p", P2P[index])):
            found = [outcomes.get(test_id, "passed") for test_id in ids]
            counts[group] = {"expected": len(ids), **{o: found.count(o) for o in set(found)}}
            lines += [result_line(i, group, o) for i, o in zip(ids, found, strict=True)]
        folder = f"stages/{index}/gate"
        good = all(line["outcome"] == "passed" for line in lines)
        verdict = "passed" if good else "failed"
        self.write_result(folder, str(index), f"S{index}", verdict=verdict, **counts)
        self.write_tests(folder, lines)
        self.write_text(f"{folder}/log.txt", "ran\n")

    def write_trajectory(self, path: str) -> None:
        self.write_json(
            path,
            {
                "schema_version": "ATIF-v1.7",
                "session_id": "s-1",
                "agent": {"name": "scripted-demo", "version": "1"},
                "steps": [
                    {"step_id": 1, "source": "user", "message": "do it"},
                    {"step_id": 2, "source": "agent", "message": "done"},
                ],
            },
        )


def minimal_run(root: Path) -> NativeRun:
    """Only run.json with one stage: the least that opens."""
    run = {"schema": "arcview/run/1", "stages": [{"index": 1}]}
    return NativeRun(root, run)


def full_run(root: Path) -> NativeRun:
    """Two stages with a between-state, gates, trajectories, workspaces and a chain; not written."""
    run = NativeRun(
        root,
        run={
            "schema": "arcview/run/1",
            "run_id": "demo-1",
            "agent": {"name": "scripted-demo", "version": "1"},
            "model": "none",
            "task_id": "notes",
            "attempt": 1,
            "status": "completed",
            "states": [state("S0"), state("S1"), state("S1.refactor"), state("S2")],
            "stages": [
                stage(1, started="2026-01-31T12:00:00Z", ended="2026-01-31T12:01:30Z"),
                stage(2),
            ],
        },
        chain={
            "schema": "arcview/chain/1",
            "task_id": "notes",
            "stages": [{"index": 1, "title": "add"}, {"index": 2, "title": "list"}],
            "gates": [{"id": str(k), "f2p": F2P[k], "p2p": P2P[k]} for k in (1, 2)],
        },
    )
    for folder in ("0", "1", "1.refactor", "2"):
        run.write_text(f"stages/{folder}/workspace/a.py", f"# {folder}\n")
    for index in (1, 2):
        run.write_text(f"chain/stages/{index}/spec.md", f"Stage {index}\n")
        run.write_trajectory(f"stages/{index}/trajectory.json")
        run.write_gate(index, {})
    return run
