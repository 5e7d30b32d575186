"""Matrix and what-if against the chains whose faults were planted and measured in containers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arcview.analysis.matrix import MatrixTable, Observation, Source, build_matrix
from arcview.analysis.matrix_patterns import Pattern, find_patterns, stage_regressions
from arcview.analysis.verdicts import is_ok
from arcview.model.results import GateTest, Outcome, Verdict
from arcview.session.matrix import Matrix
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns
from arcview.session.what_if_transplant import Transplanter

RUNS = Path(__file__).parents[2] / "fixtures" / "runs" / "scripted-demo"
PLANTED = sorted(path.parent.name for path in RUNS.glob("*-*/truth.json"))
CONTAINERS = [
    name for name in PLANTED if "matrix" in json.loads((RUNS / name / "truth.json").read_text())
]


class Case:
    """One planted run with its truth."""

    def __init__(self, name: str, sidecar: Path) -> None:
        self.truth: dict[str, Any] = json.loads((RUNS / name / "truth.json").read_text())
        self.opened = OpenRun.open(RUNS / name)
        self.reruns = Reruns(self.opened, sidecar=sidecar)
        self.matrix = Matrix(self.opened, self.reruns)
        self.flaky = {one["test"] for one in self.truth["flaky"]}

    def outcomes(self, gate: str, state: str) -> dict[str, Outcome]:
        """What the truth has of a cell."""
        found = self.truth["matrix"].get(gate, {}).get(state, {})
        return {test: Outcome(word) for test, word in found.items()}

    def table(self) -> MatrixTable:
        """The matrix as the truth has it."""
        seen = []
        for gate in self.matrix.gates:
            groups = {test: group for group, test in gate.tests or ()}
            for state in self.matrix.states:
                outcomes = self.outcomes(gate.gate, state.id)
                tests = tuple(GateTest(t, groups[t], o) for t, o in outcomes.items() if t in groups)
                ok = all(is_ok(test.outcome) for test in tests)
                verdict = Verdict.PASSED if ok else Verdict.FAILED
                if tests:
                    seen.append(
                        Observation(gate.gate, state.id, Source.RERUN, verdict, None, tests)
                    )
        return build_matrix(self.matrix.gates, self.matrix.states, seen)


@pytest.fixture(params=CONTAINERS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return Case(request.param, tmp_path / "sidecar")


def test_there_are_planted_runs() -> None:
    assert len(CONTAINERS) >= 6


def test_what_is_known_without_reruns_is_what_was_measured(case: Case) -> None:
    table = case.matrix.view().table
    known = 0
    for cell in table.cells.values():
        truth = case.outcomes(cell.gate, cell.state)
        for test_id, test in cell.tests.items():
            if test_id not in case.flaky and test_id in truth:
                assert test.ok is is_ok(truth[test_id]), (cell.gate, cell.state, test_id)
                known += 1
        measured = {test: is_ok(outcome) for test, outcome in truth.items()}
        if cell.verdict is not None and measured and not case.flaky & measured.keys():
            assert (cell.verdict is Verdict.PASSED) is all(measured.values())
    assert known > 0


def test_a_test_that_two_gates_recorded_otherwise_is_no_birth(tmp_path: Path) -> None:
    case = Case("measure-rs", tmp_path / "sidecar")
    (test,) = case.flaky
    view = case.matrix.view()
    for gate in ("3", "chain"):
        known = view.table.cell(gate, "S3").tests[test]
        assert (known.ok, known.passed, known.runs) == (None, 1, 2)
        assert view.table.cell(gate, "S3").is_flaky
    found = next(pattern for pattern in view.patterns if pattern.id == test)
    assert (found.line[-1], found.birth, found.flaky) == (None, None, ("S3",))
    others = [p for p in view.patterns if p.id != test]
    assert not [p.id for p in others if p.flaky]


Check = Callable[[Case, dict[str, Any], dict[str, Pattern]], None]


def _weak(case: Case, fault: dict[str, Any], patterns: dict[str, Pattern]) -> None:
    for test in fault["tests"]:
        assert fault["early"] in patterns[test].premature, test


def _healed(case: Case, fault: dict[str, Any], patterns: dict[str, Pattern]) -> None:
    for test in fault["tests"]:
        assert fault["state"] in patterns[test].healed, test


def _regression(case: Case, fault: dict[str, Any], patterns: dict[str, Pattern]) -> None:
    stages = stage_regressions(case.table(), case.opened.run.stages, patterns.values())
    found = next(one for one in stages if one.stage == fault["origin_stage"])
    assert set(fault["tests"]) <= set(found.regressed)


def _inherited(case: Case, fault: dict[str, Any], patterns: dict[str, Pattern]) -> None:
    stages = stage_regressions(case.table(), case.opened.run.stages, patterns.values())
    found = next((one for one in stages if str(one.stage) == fault["gate"]), None)
    if found is not None:
        older = {test for test in fault["tests"] if patterns[test].stage < found.stage}
        assert not older & set(found.regressed)
        assert older <= set(found.inherited)


CHECKS: dict[str, Check] = {
    "weak_gate": _weak,
    "healed": _healed,
    "regression": _regression,
    "inherited": _inherited,
}


def test_patterns_show_what_was_planted(case: Case) -> None:
    patterns = {pattern.id: pattern for pattern in find_patterns(case.table())}
    checked = 0
    for fault in case.truth["faults"]:
        check = CHECKS.get(fault["kind"])
        if check is not None:
            check(case, fault, patterns)
            checked += 1
    assert checked or {f["kind"] for f in case.truth["faults"]} <= {"local", "build_broken"}


def test_nothing_is_broken_that_was_not_planted(case: Case) -> None:
    """Every regression and every weak test of the truth's own matrix has a fault that names it.

    A regression that no gate of its time looks at shows in the matrix only, and cannot be planted.
    """
    table = case.table()
    named = {test for fault in case.truth["faults"] for test in fault["tests"]} | case.flaky
    broken_builds = {f["origin_stage"] for f in case.truth["faults"] if f["kind"] == "build_broken"}
    patterns = find_patterns(table)
    for one in stage_regressions(table, case.opened.run.stages, patterns):
        if one.stage not in broken_builds:
            seen = {t for g in table.gates if g.stage <= one.stage for _, t in g.tests or ()}
            assert set(one.regressed) & seen <= named
    for pattern in patterns:
        if pattern.premature and not pattern.weak_on:
            assert pattern.id in named


def test_changes_are_put_on_other_states_as_in_the_truth(case: Case) -> None:
    for gate, truth in case.truth["what_if"].items():
        stage = case.opened.run.stage(int(gate))
        assert stage is not None
        names = (stage.base or "", stage.end or "", f"R{int(gate) - 1}", f"R{gate}")
        base, end, reference_base, reference = (
            case.reruns.target("S0" if name == "R0" else name).tree for name in names
        )
        definition = case.reruns.definition(gate)
        put = Transplanter(case.opened.store, definition, lambda: False).put
        made = {"x": put(base, end, reference_base), "y": put(reference_base, reference, base)}
        for arm, found in made.items():
            if truth[arm]["merge"] == "clean":
                assert found.tree is not None, (gate, arm, found.reason)
            if found.mode == "lines":
                assert found.tree == truth[arm]["tree"], (gate, arm)
        if truth["label"] == "undetermined":
            assert any(found.tree is None for found in made.values())
