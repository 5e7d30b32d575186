"""Stored answers as evidence: suggestions for labels, and figures of statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arcview.analysis.statistics import StatsPolicy
from arcview.analysis.suggest_executed import Executed, suggest_executed
from arcview.analysis.what_if import WhatIfLabel
from arcview.annotations.scheme import default_scheme
from arcview.config import Settings
from arcview.gates.engine import EngineInfo
from arcview.model.results import Outcome
from arcview.session.annotate_suggestions import SuggestionFinder
from arcview.session.matrix import Matrix
from arcview.session.opened import OpenRun
from arcview.session.plain_text_parts import Glyphs
from arcview.session.reruns import Reruns
from arcview.session.stats import collect
from arcview.session.stats_executed import executed_facts
from arcview.session.stats_json import stats_json
from arcview.session.stats_text import stats_lines
from arcview.session.what_if import WhatIfs
from tests.gates.fake_engine import FakeEngine

DOCKER = EngineInfo("docker", "Docker", "1", "unix:///x")


@pytest.fixture
def opened(demo_run: Path) -> OpenRun:
    return OpenRun.open(demo_run)


def reruns(opened: OpenRun, sidecar: Path, info: EngineInfo = DOCKER) -> Reruns:
    """Recorded states say what is recorded, Y2 fails as S2 does, the rest passes."""

    def recorded(gate: str, state: str) -> dict[str, str]:
        tests = opened.reader().gate_tests(gate, state)
        return {t.id: t.outcome.value for t in tests if t.outcome is not Outcome.MISSING}

    def script(gate: str, label: str, tree: str) -> Mapping[str, str]:
        if label == "Y2":
            return recorded("2", "S2")
        if opened.run.gate(gate, label) is not None:
            return recorded(gate, label)
        return dict.fromkeys(found.definition(gate).expected_ids, "passed")

    found = Reruns(opened, sidecar=sidecar, engine=FakeEngine(script, info))
    return found


def test_a_steady_answer_is_evidence_of_grade_a(opened: OpenRun, tmp_path: Path) -> None:
    finder = SuggestionFinder(opened, sidecar=tmp_path)
    before = finder.about("gate:2")
    WhatIfs(opened, reruns(opened, tmp_path)).ask("2")
    new = [s for s in finder.about("gate:2") if s not in before]
    assert [(s.field, s.code, s.exact) for s in new] == [
        ("grade", "A", True), ("mechanism", "M2", True),
    ]  # fmt: skip
    assert "the same in 3 runs of each tree" in new[0].reason


def test_an_answer_without_containers_is_no_evidence(opened: OpenRun, tmp_path: Path) -> None:
    host = EngineInfo("host", "host", "1", "host")
    before = SuggestionFinder(opened, sidecar=tmp_path).about("gate:2")
    WhatIfs(opened, reruns(opened, tmp_path, host)).ask("2")
    assert SuggestionFinder(opened, sidecar=tmp_path).about("gate:2") == before
    assert executed_facts(opened, tmp_path) == ()


ANSWER = Executed("3", 3, "gate:3", WhatIfLabel.CHANGE, "why", True, 3, False)


@pytest.mark.parametrize(
    ("label", "codes"),
    [
        (WhatIfLabel.BASE, ["A", "M2"]),
        (WhatIfLabel.CHANGE, ["A", "M0"]),
        (WhatIfLabel.INTERACTION, ["A", "M8"]),
        (WhatIfLabel.BOTH, ["A", "M0", "M2"]),
        (WhatIfLabel.UNDETERMINED, []),
    ],
)
def test_each_label_stands_for_codes_of_the_scheme(label: WhatIfLabel, codes: list[str]) -> None:
    found = list(suggest_executed(replace(ANSWER, label=label)))
    assert [one.code for one in found] == codes
    scheme = default_scheme()
    for one in found:
        field = scheme.field(one.field)
        assert field is not None
        assert one.code in {code.code for code in field.codes}


def test_one_run_is_no_grade_a_and_failures_from_before_persist() -> None:
    found = list(suggest_executed(replace(ANSWER, is_steady=False)))
    assert [(one.code, one.exact) for one in found] == [("M0", False)]
    old = replace(ANSWER, label=WhatIfLabel.BASE, is_inherited=True)
    assert [one.code for one in suggest_executed(old)] == ["A", "M1"]


def figures(demo_run: Path, sidecar: Path) -> tuple[Any, str]:
    settings = Settings(sidecar=sidecar)
    found = collect(demo_run.parent, settings=settings).statistics(StatsPolicy())
    text = "\n".join(stats_lines(found, "runs", Glyphs()))
    return stats_json(found, "runs")["all"], text


def test_statistics_have_an_executed_layer_where_gates_were_run_again(
    opened: OpenRun, demo_run: Path, tmp_path: Path
) -> None:
    before, text = figures(demo_run, tmp_path)
    assert before["executed"] is None
    assert "no gate was run again on another state" in text
    again = reruns(opened, tmp_path)
    WhatIfs(opened, again).ask("2")
    matrix = Matrix(opened, again)
    matrix.run(matrix.plan(gates=["1"], states=["S4"]))
    after, text = figures(demo_run, tmp_path)
    shares = {name: (one["k"], one["n"]) for name, one in after["executed"].items()}
    assert shares["asked"] == (1, 3)
    assert shares["base"] == (1, 1)
    assert shares["clean_base_passes"] == (1, 1)
    assert "inherited from the state before" in text
    del after["executed"], before["executed"]
    assert after == before
