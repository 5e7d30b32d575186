"""Summaries of whole runs to hold recorded ones to; the expected ones lie in `GOLDEN`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from arcview.session import twin
from arcview.session.opened import OpenRun

GOLDEN = Path(__file__).parent.parent / "data" / "golden" / "run_layouts.json"

_RUN = ("run_id", "layout", "agent", "model", "task_id", "attempt", "status")
_STAGE = ("title", "status", "verdict", "reason", "steps", "tool_calls", "cost_usd", "duration_s")
_COUNTS = ("expected", "passed", "failed", "error", "skipped", "missing", "not_run", "timeout")

Summary = dict[str, Any]


def expected() -> dict[str, Summary]:
    """The reviewed summaries, by path below the folder of the formats."""
    found: dict[str, Summary] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


def summary(path: Path) -> Summary:
    """What a run is recognised as, and the figures of its stages."""
    run = OpenRun.open(path)
    shown = json.loads(twin.dumps(twin.show(run)))
    return {
        **{key: shown[key] for key in _RUN},
        "states": [state["id"] for state in shown["states"]],
        "stages": [_stage(stage) for stage in shown["stages"]],
        "recorded": [
            None if gate.recorded_verdict is None else gate.recorded_verdict.value
            for gate in run.run.gates
        ],
        "problems": [problem["what"] for problem in shown["problems"]],
    }


def _stage(stage: Summary) -> Summary:
    found = {key: stage[key] for key in _STAGE}
    tokens = stage["tokens"]
    counts = {group: _counts(stage[group]) for group in ("f2p", "p2p", "other")}
    return {
        **found,
        "tokens": None if tokens is None else list(tokens.values()),
        "change": stage["change"],
        **{group: value for group, value in counts.items() if value is not None},
        "failures": len(stage["failures"]),
    }


def _counts(counts: Summary | None) -> Summary | None:
    return None if counts is None else {key: counts[key] for key in _COUNTS if counts[key]}
