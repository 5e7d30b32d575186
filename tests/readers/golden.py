"""Summaries of trajectories to hold real files to; the expected ones lie in `tests/data/golden`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from arcview.model.trajectory import Role, StepKind, Trajectory
from arcview.readers.registry import find_trajectory_reader

_FOLDER = Path(__file__).parent.parent / "data" / "golden"

Summary = dict[str, Any]


def expected(format_id: str) -> dict[str, Summary]:
    """The reviewed summaries of one format, by path below the folder of the formats."""
    found: dict[str, Summary] = json.loads((_FOLDER / f"{format_id}.json").read_text())
    return found


def summary(path: Path) -> Summary:
    """What a file is recognised as and the figures that are read from it."""
    reader, _ = find_trajectory_reader(path)
    trajectory = reader.read(path)
    results = [call.result for step in trajectory.steps for call in step.calls]
    known = [result for result in results if result is not None]
    usage = trajectory.usage
    return {
        "reader": reader.id,
        "steps": trajectory.step_count,
        "tool_calls": trajectory.tool_call_count,
        "results": len(known),
        "user_turns": _user_turns(trajectory),
        "tokens": None
        if usage is None
        else [
            usage.input_tokens,
            usage.cached_tokens,
            usage.output_tokens,
            usage.reasoning_tokens,
        ],
        "cost_usd": None if usage is None else usage.cost_usd,
        "models": sorted({step.model for step in trajectory.steps if step.model}),
        "exit_codes": _counted(result.exit_code for result in known),
        "is_error": _counted(result.is_error for result in known),
        "exit_status": trajectory.exit_status,
        "sessions": [
            [session.id, session.role.value, session.steps] for session in trajectory.sessions
        ],
        "compactions": sum(step.kind is StepKind.COMPACTION for step in trajectory.steps),
        "unknown": dict(trajectory.unknown_records),
        "problems": [problem.what for problem in trajectory.problems],
    }


def _user_turns(trajectory: Trajectory) -> list[str]:
    return [
        step.text[:40]
        for step in trajectory.steps
        if step.role is Role.USER and step.kind is StepKind.MESSAGE
    ]


def _counted(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(str(value) for value in values).items()))
