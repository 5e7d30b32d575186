from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arcview.gates.engine import End
from arcview.gates.errors import CannotRerunError
from arcview.model.results import Outcome, Verdict
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns
from arcview.session.reruns_model import RerunOptions
from tests.gates.fake_engine import FakeEngine, LackingEngine, Play


@pytest.fixture
def opened(demo_run: Path) -> OpenRun:
    return OpenRun.open(demo_run)


def recorded(opened: OpenRun, gate: str) -> dict[str, str]:
    state = opened.run.stage(int(gate)).end  # type: ignore[union-attr]
    tests = opened.reader().gate_tests(gate, state)
    return {t.id: t.outcome.value for t in tests if t.outcome is not Outcome.MISSING}


def test_a_gate_that_says_what_was_recorded_reproduces_it(opened: OpenRun, tmp_path: Path) -> None:
    for gate in ("1", "2"):
        engine = FakeEngine(lambda gate, label, tree: recorded(opened, gate))
        reruns = Reruns(opened, sidecar=tmp_path / gate, engine=engine)
        (result,) = reruns.run(gate, reruns.default_target(gate))
        comparison = reruns.comparison(result)
        assert comparison is not None
        assert comparison.reproduces is True, (result.reason, comparison)


def test_a_stored_result_is_found_again_instead_of_run_again(
    opened: OpenRun, tmp_path: Path
) -> None:
    engine = FakeEngine(lambda gate, label, tree: recorded(opened, gate))
    reruns = Reruns(opened, sidecar=tmp_path, engine=engine)
    target = reruns.target("S1")
    first = reruns.run("1", target)
    again = Reruns(opened, sidecar=tmp_path, engine=engine).run("1", target)
    assert (len(engine.jobs), again) == (1, first)
    assert reruns.known("1", target.tree) == first
    assert [r.attempt for r in reruns.run("1", target, again=True)] == [2]
    assert [r.attempt for r in reruns.run("1", target, times=3)] == [1, 2, 3]


def test_a_cancelled_run_is_kept_as_unmeasured_and_never_taken_for_an_answer(
    opened: OpenRun, tmp_path: Path
) -> None:
    engine = FakeEngine(lambda gate, label, tree: Play(end=End.CANCELLED))
    reruns = Reruns(opened, sidecar=tmp_path, engine=engine)
    (result,) = reruns.run("1", reruns.target("S1"))
    assert (result.verdict, result.reason) == (Verdict.UNMEASURED, "cancelled")
    engine.script = lambda gate, label, tree: recorded(opened, gate)
    (result,) = reruns.run("1", reruns.target("S1"))
    assert (result.verdict, result.attempt) == (Verdict.PASSED, 2)


def test_a_state_without_files_says_so(opened: OpenRun, tmp_path: Path) -> None:
    reruns = Reruns(opened, sidecar=tmp_path, engine=FakeEngine(lambda *_: {}))
    with pytest.raises(CannotRerunError, match="S9: the run has no such state"):
        reruns.target("S9")


def test_without_an_engine_the_plan_says_why_and_prints_the_command(
    opened: OpenRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    reruns = Reruns(opened, sidecar=tmp_path)
    plan = reruns.plan("1", reruns.target("S1"))
    assert plan.unavailable is not None
    assert "none.sock" in plan.unavailable
    assert plan.shell.startswith("{ git --git-dir=")
    assert "docker run --rm -i --network none" in plan.shell


def test_what_is_stored_is_read_without_docker_and_pydantic(
    opened: OpenRun, demo_run: Path, tmp_path: Path
) -> None:
    engine = FakeEngine(lambda gate, label, tree: recorded(opened, gate))
    Reruns(opened, sidecar=tmp_path / "side", engine=engine).run(
        "1", Reruns(opened, engine=engine).target("S1")
    )
    code = (
        "import sys; from pathlib import Path\n"
        "from arcview.session.opened import OpenRun\n"
        "from arcview.session.reruns import Reruns\n"
        f"run, side = Path({str(demo_run)!r}), Path({str(tmp_path / 'side')!r})\n"
        "reruns = Reruns(OpenRun.open(run), sidecar=side)\n"
        "(result,) = reruns.known('1', reruns.target('S1').tree)\n"
        "assert reruns.comparison(result).reproduces\n"
        "print([m for m in ('docker', 'requests', 'pydantic', 'textual') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_an_image_is_fetched_when_the_gate_is_run_and_not_when_it_is_looked_at(
    opened: OpenRun, tmp_path: Path
) -> None:
    engine = LackingEngine(lambda gate, label, tree: recorded(opened, gate))
    reruns = Reruns(opened, sidecar=tmp_path, engine=engine, options=RerunOptions(pull=True))
    target = reruns.target("S1")
    plan = reruns.plan("1", target)
    assert (plan.image, plan.unavailable) == (None, None)
    assert not engine.has_image
    said: list[bytes] = []
    phases: list[str] = []
    (result,) = reruns.run(
        "1", target, on_output=said.append, on_event=lambda event: phases.append(event.phase.value)
    )
    assert result.is_measured
    assert phases[:2] == ["fetching", "reading"]
    assert said.count(b"a1 Downloading\n") == 1


def test_an_image_that_is_not_to_be_fetched_keeps_the_gate_from_running(
    opened: OpenRun, tmp_path: Path
) -> None:
    engine = LackingEngine(lambda *_: {})
    reruns = Reruns(opened, sidecar=tmp_path, engine=engine)
    plan = reruns.plan("1", reruns.target("S1"))
    assert plan.unavailable is not None
    assert "is not on this engine" in plan.unavailable


def test_a_rerun_that_is_cancelled_while_the_image_is_fetched_leaves_nothing(
    opened: OpenRun, tmp_path: Path
) -> None:
    engine = LackingEngine(lambda *_: {})
    reruns = Reruns(opened, sidecar=tmp_path, engine=engine, options=RerunOptions(pull=True))
    assert reruns.run("1", reruns.target("S1"), cancelled=lambda: True) == ()
    assert reruns.store.all() == ()
