"""Makes rerun results with given outcomes."""

from __future__ import annotations

from collections.abc import Mapping

from arcview.gates.engine import EngineInfo
from arcview.gates.results import RerunResult, ResultKey
from arcview.model.results import GateTest, Group, GroupCounts, Outcome, Verdict

INFO = EngineInfo("docker", "fake", "1", "fake://")


def outcomes_of(outcomes: Mapping[str, str]) -> tuple[GateTest, ...]:
    return tuple(GateTest(name, Group.F2P, Outcome(word)) for name, word in outcomes.items())


def result(
    outcomes: Mapping[str, str], verdict: Verdict = Verdict.FAILED, **more: object
) -> RerunResult:
    found = outcomes_of(outcomes)
    values: dict[str, object] = {
        "key": ResultKey("d" * 64, "t" * 40, "sha256:" + "1" * 64),
        "attempt": 0,
        "gate": "1",
        "label": "S1",
        "image_ref": "image",
        "verdict": verdict,
        "reason": None,
        "tests": found,
        "f2p": GroupCounts.of(found),
        "p2p": None,
        "other": None,
        "exit_codes": (1,),
        "timed_out": False,
        "started": "2026-01-01T00:00:00.000+00:00",
        "duration_s": 1.0,
        "overhead_s": 0.5,
        "engine": INFO,
        **more,
    }
    return RerunResult(**values)  # type: ignore[arg-type]
