from __future__ import annotations

from pathlib import Path

import pytest

from arcview.errors import CancelledError
from arcview.model.results import Outcome
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns
from tests.gates.fake_engine import FakeEngine


@pytest.fixture
def opened(demo_run: Path) -> OpenRun:
    return OpenRun.open(demo_run)


def outcomes(opened: OpenRun, gate: str, label: str) -> dict[str, str]:
    """What is recorded, and on the reference all passed."""
    tests = opened.reader().gate_tests(gate, f"S{gate}")
    known = {t.id: t.outcome.value for t in tests if t.outcome is not Outcome.MISSING}
    return dict.fromkeys(known, "passed") if label.startswith("R") else known


def test_a_gate_that_passes_on_the_reference_and_reproduces_is_believed(
    opened: OpenRun, tmp_path: Path
) -> None:
    engine = FakeEngine(lambda gate, label, tree: outcomes(opened, gate, label))
    reruns = Reruns(opened, sidecar=tmp_path, engine=engine)
    control = reruns.control("2")
    assert (control.ok, control.reason) == (True, "passes on R2, reproduces S2")
    assert [job.label for job in engine.jobs] == ["R2", "S2"]
    assert reruns.control("2") is control
    assert len(engine.jobs) == 2


def test_a_gate_that_fails_on_the_reference_is_not_believed(
    opened: OpenRun, tmp_path: Path
) -> None:
    def script(gate: str, label: str, tree: str) -> dict[str, str]:
        found = outcomes(opened, gate, label)
        return found | {next(iter(found)): "failed"}

    control = Reruns(opened, sidecar=tmp_path, engine=FakeEngine(script)).control("2")
    assert not control.ok
    assert control.reason == "gate 2 does not pass on the reference state R2: failed"
    assert control.recorded is None


def test_a_gate_that_says_something_else_than_recorded_is_not_believed(
    opened: OpenRun, tmp_path: Path
) -> None:
    def script(gate: str, label: str, tree: str) -> dict[str, str]:
        return dict.fromkeys(outcomes(opened, gate, "R"), "passed")

    control = Reruns(opened, sidecar=tmp_path, engine=FakeEngine(script)).control("2")
    assert not control.ok
    assert "does not say on S2 what was recorded: recorded failed, now passed" in control.reason
    assert control.reference is not None
    assert control.recorded is not None


def test_a_control_that_is_cancelled_before_it_runs_says_so(
    opened: OpenRun, tmp_path: Path
) -> None:
    reruns = Reruns(opened, sidecar=tmp_path, engine=FakeEngine(lambda *_: {}))
    with pytest.raises(CancelledError):
        reruns.control("1", cancelled=lambda: True)
