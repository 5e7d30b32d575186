"""Writes native runs whose gates say what a list of booleans says: a corpus with known answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Answer = bool | str | None
"""Passed, failed, null for unmeasured, or the outcome word of the one new test."""


def write_run(
    folder: Path,
    stages: Sequence[Answer],
    chain: Answer | str = "absent",
    *,
    task: str = "task",
    agent: str = "scripted-demo",
    languages: Sequence[str] = ("python",),
    statuses: dict[int, str] | None = None,
    **run: Any,
) -> Path:
    """A run with one new test a stage and one old test that always passes.

    Args:
        folder: Where to write it.
        stages: What the gate of each stage says.
        chain: What the chain gate says; by default the chain has none.
        task: Its task.
        agent: Its agent.
        languages: Of the task.
        statuses: By stage, where it is not completed.
        run: Further fields of run.json.
    """
    numbers = range(1, len(stages) + 1)
    _json(
        folder / "run.json",
        {
            "schema": "arcview/run/1",
            "run_id": f"{agent}-{task}",
            "agent": {"name": agent, "version": "1"},
            "task_id": task,
            "status": "completed",
            "states": [
                {"id": f"S{k}", "stage": k, "kind": "stage_end" if k else "start",
                 "provenance": "recorded"}
                for k in (0, *numbers)
            ],
            "stages": [
                {"index": k, "status": (statuses or {}).get(k, "completed"), "base": f"S{k - 1}",
                 "end": f"S{k}"}
                for k in numbers
            ],
            **run,
        },
    )  # fmt: skip
    gates = [{"id": str(k), "f2p": [f"t::new{k}"], "p2p": ["t::old"]} for k in numbers]
    if chain != "absent":
        gates.append({"id": "chain", "f2p": ["t::chain"], "p2p": ["t::old"]})
    _json(
        folder / "chain" / "chain.json",
        {
            "schema": "arcview/chain/1",
            "task_id": task,
            "languages": list(languages),
            "stages": [{"index": k, "title": f"stage {k}"} for k in numbers],
            "gates": gates,
        },
    )
    for k, answer in zip(numbers, stages, strict=True):
        _gate(folder / "stages" / str(k) / "gate", str(k), f"S{k}", f"t::new{k}", answer)
    if chain != "absent":
        _gate(folder / "chain-gate", "chain", f"S{len(stages)}", "t::chain", chain)
    return folder


def _gate(folder: Path, gate: str, state: str, test: str, answer: Answer) -> None:
    result: dict[str, object] = {"schema": "arcview/gate-result/1", "gate": gate, "state": state}
    if answer is None:
        _json(folder / "result.json", {**result, "verdict": "unmeasured", "reason": "no report"})
        return
    word = answer if isinstance(answer, str) else "passed" if answer else "failed"
    result |= {
        "verdict": "passed" if word == "passed" else "failed",
        "f2p": {"expected": 1, word: 1},
        "p2p": {"expected": 1, "passed": 1},
    }
    _json(folder / "result.json", result)
    lines = [
        {"id": test, "group": "f2p", "outcome": word},
        {"id": "t::old", "group": "p2p", "outcome": "passed"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "tests.jsonl").write_text(text, encoding="utf-8")


def _json(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), encoding="utf-8")
