"""The sample run's self-tests against what its script really did."""

from __future__ import annotations

import json
from pathlib import Path

from arcview.analysis.self_tests import SelfTestKind, find_self_tests
from arcview.readers.registry import open_run


def test_every_recorded_self_test_is_found_with_its_result(demo_run: Path) -> None:
    truth = json.loads((demo_run / "truth.json").read_text("utf-8"))["self_tests"]
    opened = open_run(demo_run)
    found = {
        (stage.index, test.call_key): test
        for stage in opened.run.stages
        for test in find_self_tests(opened.trajectory(stage.trajectories))
        if test.kind is SelfTestKind.SUITE
    }
    counted = [one for one in truth if one["passed"] is not None]
    assert counted
    for one in counted:
        test = found[one["stage"], one["call_key"]]
        assert (test.passed, test.failed, test.masked is not None) == (
            one["passed"],
            one["failed"],
            one["masked"],
        )
        assert test.exit_code == (None if one["masked"] else one["exit_code"])
        assert test.outcome == ("failed" if one["failed"] else "passed")
    assert {(one["stage"], one["call_key"]) for one in truth} == set(found)
