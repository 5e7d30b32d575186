"""Matrix and what-if of the planted chains in real containers.

By default the first run of each chain; `ARCVIEW_TRUTH=all` takes every run, which is minutes more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arcview.analysis.verdicts import is_ok
from arcview.analysis.what_if import WhatIfLabel
from arcview.model.results import Outcome
from arcview.session import reruns_control
from arcview.session.matrix import Matrix
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns
from arcview.session.reruns_model import RerunOptions
from arcview.session.what_if import WhatIfs

RUNS = Path(__file__).parents[2] / "fixtures" / "runs" / "scripted-demo"
LANGUAGES = {"py": "python", "ts": "node", "rs": "rust", "go": "go"}


def planted() -> list[str]:
    """The runs of chains in containers, by name."""
    names = sorted(path.parent.name for path in RUNS.glob("*-*/truth.json"))
    names = [name for name in names if "matrix" in truth_of(name)]
    is_all = os.environ.get("ARCVIEW_TRUTH") == "all"
    return [name for name in names if is_all or name.rpartition("-")[2] in LANGUAGES]


def truth_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RUNS / name / "truth.json").read_text())
    return found


class Case:
    """One planted run with an engine."""

    def __init__(self, name: str, host: str, sidecar: Path) -> None:
        self.truth = truth_of(name)
        self.opened = OpenRun.open(RUNS / name)
        self.reruns = Reruns(self.opened, sidecar=sidecar, options=RerunOptions(host))
        self.flaky = {one["test"] for one in self.truth["flaky"]}


@pytest.fixture(params=planted())
def case(
    request: pytest.FixtureRequest,
    engine_host: str,
    gate_image: Callable[[str], str],
    tmp_path: Path,
) -> Case:
    gate_image(LANGUAGES[request.param.split("-")[1]])
    return Case(request.param, engine_host, tmp_path / "sidecar")


def test_what_if_gives_every_label_of_the_truth(case: Case) -> None:
    asked = WhatIfs(case.opened, case.reruns)
    for gate, truth in case.truth["what_if"].items():
        answer = asked.ask(gate, times=3)
        expected = set(case.reruns.definition(gate).expected_ids)
        allowed = {truth["label"]}
        if case.flaky & expected:  # by chance a flaky test may say the same three times
            allowed.add("undetermined")
        assert answer.label.value in allowed, (gate, truth["label"], answer.reason)
        if answer.label is not WhatIfLabel.UNDETERMINED:
            assert answer.is_steady


def test_the_whole_matrix_is_that_of_the_truth(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    # A test that passes three times in four says the same five times in a row one time in four.
    monkeypatch.setattr(reruns_control, "MOST_ATTEMPTS", 30)
    matrix = Matrix(case.opened, case.reruns)
    outcome = matrix.run(matrix.plan(), jobs=2)
    assert (outcome.failed_controls, outcome.unmeasured) == ({}, 0)
    table = matrix.view().table
    for gate, states in case.truth["matrix"].items():
        for state, tests in states.items():
            cell = table.cell(gate, state)
            assert cell.verdict is not None, (gate, state)
            for test, word in tests.items():
                if test not in case.flaky and test in cell.tests:
                    found = cell.tests[test].ok
                    assert found is is_ok(Outcome(word)), (gate, state, test)
