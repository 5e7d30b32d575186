"""Writes small Harbor trials, whole ones that tests then damage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.readers.scb_run import write

NAME = "adder__Ab3dE5f"


def ctrf(tests: Mapping[str, str]) -> dict[str, Any]:
    listed = [{"name": name, "status": word, "duration": 5} for name, word in tests.items()]
    return {"results": {"tool": {"name": "pytest"}, "summary": {}, "tests": listed}}


def step(name: str, reward: float | None = 1.0, **more: Any) -> dict[str, Any]:
    rewards = None if reward is None else {"rewards": {"reward": reward}}
    times = {"started_at": "2026-01-01T10:00:00Z", "finished_at": "2026-01-01T10:01:30Z"}
    return {
        "step_name": name,
        "agent_result": {"n_input_tokens": 10, "n_cache_tokens": 4, "n_output_tokens": 2},
        "verifier_result": rewards,
        "exception_info": None,
        "agent_execution": times,
        "verifier": None,
        **more,
    }


def error(kind: str, message: str = "") -> dict[str, Any]:
    return {"exception_info": {"exception_type": kind, "exception_message": message}}


def session(*told: str) -> dict[str, Any]:
    """An ATIF trajectory; the agent answers each turn once."""
    steps: list[dict[str, Any]] = []
    for minute, text in enumerate(told):
        for source, message in (("user", text), ("agent", f"done {minute}")):
            second = 0 if source == "user" else 30
            at = f"2026-01-01T10:{minute:02}:{second:02}Z"
            number = len(steps) + 1
            steps.append({"step_id": number, "timestamp": at, "source": source, "message": message})
    agent = {"name": "tester", "version": "1"}
    return {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": agent, "steps": steps}


def write_trial(
    root: Path, steps: Sequence[Mapping[str, Any]], planned: int | None = None, **more: object
) -> Path:
    """A trial of a task with steps; every step collected a file and has a report.

    Args:
        root: The job folder.
        steps: Entries of `step_results`.
        planned: How many steps the log counts.
        more: Other fields of `result.json`.
    """
    trial = root / NAME
    config = {"trial_name": NAME, "task": {"path": "tasks/adder"}, "agent": {"name": "tester"}}
    write(trial / "config.json", config)
    result = {
        "id": "3f0c",
        "trial_name": NAME,
        "task_name": "demo/adder",
        "task_checksum": "0" * 8,
        "agent_info": {"name": "tester", "version": "1.2", "model_info": {"name": "model-1"}},
        "started_at": "2026-01-01T10:00:00Z",
        "finished_at": "2026-01-01T11:00:00Z",
        "exception_info": None,
        "step_results": list(steps),
        **more,
    }
    write(trial / "result.json", result)
    total = planned or len(steps)
    log = [f"Starting step {i}/{total}: {s['step_name']}" for i, s in enumerate(steps, 1)]
    write(trial / "trial.log", "\n".join(log) + "\n")
    for index, entry in enumerate(steps, start=1):
        folder = trial / "steps" / str(entry["step_name"])
        write(folder / "verifier" / "ctrf.json", ctrf({"test_a": "passed", "test_b": "failed"}))
        write(folder / "artifacts" / "app" / "main.py", f"print({index})\n")
        write(folder / "agent" / "trajectory.json", session(f"step {index}"))
    return trial
