from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from arcview.analysis.matrix import Source, Standing
from arcview.errors import ArcviewError
from arcview.gates.errors import EngineUnavailableError
from arcview.model.results import Outcome, Verdict
from arcview.session.matrix import Matrix
from arcview.session.matrix_run import MatrixEvent, MatrixPhase
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns
from tests.gates.fake_engine import FakeEngine, Play


@pytest.fixture
def opened(demo_run: Path) -> OpenRun:
    return OpenRun.open(demo_run)


def recorded(opened: OpenRun, gate: str, state: str) -> dict[str, str]:
    tests = opened.reader().gate_tests(gate, state)
    return {t.id: t.outcome.value for t in tests if t.outcome is not Outcome.MISSING}


def all_pass(reruns: Reruns, gate: str) -> dict[str, str]:
    return dict.fromkeys(reruns.definition(gate).expected_ids, "passed")


Answer = Callable[[str, str], Play | Mapping[str, str] | None]


def matrix(opened: OpenRun, sidecar: Path, answer: Answer = lambda *_: None) -> Matrix:
    """Recorded states say what is recorded, reference states pass, the rest as `answer` has it."""

    def script(gate: str, label: str, tree: str) -> Play | Mapping[str, str]:
        own = answer(gate, label)
        if own is not None:
            return own
        if opened.run.gate(gate, label) is not None:
            return recorded(opened, gate, label)
        return all_pass(reruns, gate)

    reruns = Reruns(opened, sidecar=sidecar, engine=FakeEngine(script))
    return Matrix(opened, reruns)


def engine_of(found: Matrix) -> FakeEngine:
    engine = found.reruns.engine()
    assert isinstance(engine, FakeEngine)
    return engine


def test_recorded_cells_are_there_at_once_and_need_no_engine(
    opened: OpenRun, tmp_path: Path
) -> None:
    found = Matrix(opened, Reruns(opened, sidecar=tmp_path)).view()
    table = found.table
    assert [gate.gate for gate in table.gates] == ["1", "2", "3", "4", "chain"]
    assert [state.id for state in table.line] == ["S0", "S1", "S2", "S2.refactor", "S3", "S4"]
    for record in opened.run.gates:
        cell = table.cell(record.gate, record.state or "")
        assert cell.source is Source.RECORDED
        assert len(cell.tests) == cell.expected
    assert table.cell("1", "S2").source is Source.REPEATED
    assert table.cell("2", "S1").is_partial
    assert not (tmp_path / opened.run.run_id).exists()


def test_the_plan_has_count_and_time_and_names_what_cannot_be_run(
    opened: OpenRun, tmp_path: Path
) -> None:
    plan = matrix(opened, tmp_path).plan()
    assert (plan.cells[0].gate, plan.cells[0].state) == ("2", "S0")  # the row that fails first
    assert all(cell.estimate_s is not None for cell in plan.cells)
    assert plan.estimate_s is not None
    assert plan.estimate(2) is not None
    assert set(plan.controls or {}) == {cell.gate for cell in plan.cells}


def test_missing_cells_are_measured_and_found_again(opened: OpenRun, tmp_path: Path) -> None:
    found = matrix(opened, tmp_path)
    plan = found.plan()
    outcome = found.run(plan, jobs=2)
    assert (outcome.done, outcome.total, outcome.is_cancelled) == (len(plan.cells),) * 2 + (False,)
    assert found.plan().cells == ()
    again = matrix(opened, tmp_path)
    assert again.plan().cells == ()
    cell = again.view().table.cell(plan.cells[0].gate, plan.cells[0].state)
    assert cell.source is Source.RERUN
    assert cell.standing in (Standing.VERIFIED, Standing.BEFORE, Standing.REFERENCE)
    assert again.results(cell)[-1].verdict is cell.verdict


def test_every_control_comes_before_the_cells_of_its_gate(opened: OpenRun, tmp_path: Path) -> None:
    events: list[MatrixEvent] = []
    found = matrix(opened, tmp_path)
    plan = found.plan()
    found.run(plan, on_event=events.append)
    assert {event.gate for event in events} == {cell.gate for cell in plan.cells}
    for gate in {event.gate for event in events}:
        phases = [event.phase for event in events if event.gate == gate]
        assert phases[:2] == [MatrixPhase.CONTROL, MatrixPhase.CONTROL_HOLDS]


def test_a_failing_control_leaves_the_cells_of_its_gate_unmeasured_with_the_reason(
    opened: OpenRun, tmp_path: Path
) -> None:
    def answer(gate: str, label: str) -> Mapping[str, str] | None:
        if gate == "1" and label == "S1":
            return dict.fromkeys(recorded(opened, "1", "S1"), "failed")
        return None

    found = matrix(opened, tmp_path, answer)
    plan = found.plan(gates=["1", "2"])
    outcome = found.run(plan)
    assert list(outcome.failed_controls) == ["1"]
    assert "does not say on S1 what was recorded" in outcome.failed_controls["1"]
    labels = {(job.gate, job.label) for job in engine_of(found).jobs}
    assert {label for gate, label in labels if gate == "1"} <= {"R1", "S1"}
    view = found.view()
    assert view.controls.keys() == {"1"}
    # It stays so in a later sitting, and the recorded cell keeps its recorded result.
    later = matrix(opened, tmp_path, answer).view()
    assert later.controls.keys() == {"1"}
    assert later.table.cell("1", "S1").source is Source.RECORDED
    assert not later.table.cell("1", "S1").is_flaky
    assert later.table.cell("2", "S1").verdict is not None


def test_a_control_that_only_flaky_tests_contradict_holds(opened: OpenRun, tmp_path: Path) -> None:
    flaky = sorted(recorded(opened, "1", "S1"))[0]
    turns = iter([True, False])

    def answer(gate: str, label: str) -> Mapping[str, str] | None:
        if gate == "1" and label == "S1":
            fails = {flaky: "failed"} if next(turns) else {}
            return recorded(opened, "1", "S1") | fails
        return None

    found = matrix(opened, tmp_path, answer)
    outcome = found.run(found.plan(gates=["1"], states=["S0"]))
    assert (outcome.failed_controls, outcome.done) == ({}, 1)
    cell = found.view().table.cell("1", "S1")
    assert (cell.passed, cell.runs, cell.is_flaky) == (2, 3, True)
    assert cell.tests[flaky].ok is None
    later = matrix(opened, tmp_path, answer).view()
    assert later.controls == {}


def test_a_cancelled_run_goes_on_where_it_ended(opened: OpenRun, tmp_path: Path) -> None:
    stop = threading.Event()

    def on_event(event: MatrixEvent) -> None:
        if event.phase is MatrixPhase.DONE:
            stop.set()

    found = matrix(opened, tmp_path)
    plan = found.plan(gates=["2"])
    outcome = found.run(plan, on_event=on_event, cancelled=stop.is_set)
    assert (outcome.is_cancelled, outcome.done) == (True, 1)
    rest = matrix(opened, tmp_path)
    # The control measured the gate on its own reference state.
    left = {cell.state for cell in rest.plan(gates=["2"]).cells}
    assert left == {cell.state for cell in plan.cells} - {plan.cells[0].state, "R2"}
    assert not rest.run(rest.plan(gates=["2"])).is_cancelled
    assert rest.plan(gates=["2"]).cells == ()


def test_a_run_that_is_cancelled_as_a_control_begins_ends_without_a_result(
    opened: OpenRun, tmp_path: Path
) -> None:
    found = matrix(opened, tmp_path)
    begun: list[MatrixEvent] = []
    outcome = found.run(found.plan(), on_event=begun.append, cancelled=lambda: bool(begun))
    assert [event.phase for event in begun] == [MatrixPhase.CONTROL]
    assert (outcome.done, outcome.probed, outcome.is_cancelled) == (0, (), True)


def test_so_many_gates_run_at_once_as_asked_for(opened: OpenRun, tmp_path: Path) -> None:
    together = threading.Barrier(2, timeout=20)
    found = matrix(opened, tmp_path)
    found.run(found.plan(gates=["2"], states=["S0"]))
    engine = engine_of(found)
    plain = engine.script

    def script(gate: str, label: str, tree: str) -> Play | Mapping[str, str]:
        together.wait()
        return plain(gate, label, tree)

    engine.script = script
    plan = found.plan(gates=["2"])
    even = len(plan.cells) - len(plan.cells) % 2
    from dataclasses import replace

    outcome = found.run(replace(plan, cells=plan.cells[:even]), jobs=2)
    assert outcome.done == even > 0


def test_what_breaks_in_a_thread_ends_the_run_with_its_one_line(
    opened: OpenRun, tmp_path: Path
) -> None:
    found = matrix(opened, tmp_path)

    def gone(gate: str, label: str, tree: str) -> Mapping[str, str]:
        raise EngineUnavailableError("the engine is gone")

    engine_of(found).script = gone
    with pytest.raises(EngineUnavailableError, match="gone"):
        found.run(found.plan(), jobs=2)


def test_an_unmeasured_rerun_leaves_its_cell_to_be_measured(
    opened: OpenRun, tmp_path: Path
) -> None:
    broken = {"on": True}

    def answer(gate: str, label: str) -> Play | None:
        return Play(oom=True, report=b"", exit_code=137) if broken["on"] and label == "S0" else None

    found = matrix(opened, tmp_path, answer)
    outcome = found.run(found.plan(gates=["2"], states=["S0"]))
    cell = found.view().table.cell("2", "S0")
    assert cell.verdict in (Verdict.UNMEASURED, Verdict.FAILED)
    assert outcome.unmeasured == (cell.verdict is Verdict.UNMEASURED)


def test_a_run_of_another_layout_has_recorded_cells_and_says_why_no_other(
    scb: Callable[[str], Path], cases: Path
) -> None:
    name = sorted(path.name.removesuffix(".tar.xz") for path in (cases / "scb").glob("*.tar.xz"))[0]
    found = Matrix(OpenRun.open(scb(name)))
    view = found.view()
    assert any(cell.source is Source.RECORDED for cell in view.table.cells.values())
    plan = found.plan()
    assert plan.cells == ()
    assert all("cannot be rerun" in why for _, _, why in plan.impossible)
    assert plan.impossible
    with pytest.raises(ArcviewError):
        found.reruns.definition("1")
