"""What self-tests were worth, on the sample run and on the real ones, as the twin prints it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arcview.session import twin
from arcview.session.evidence import EvidenceFinder
from arcview.session.opened import OpenRun
from arcview.session.plain_text_parts import Glyphs
from arcview.session.plain_text_trail import depth_lines
from arcview.session.self_test_depth import SelfTestDepth, self_test_depth

Json = dict[str, Any]
Scb = Callable[[str], Path]


@pytest.fixture(scope="module")
def shown(scb: Scb, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Json]:
    cache = tmp_path_factory.mktemp("cache")
    found: dict[str, Json] = {}

    def show(name: str) -> Json:
        if name not in found:
            run = OpenRun.open(scb(name), cache_root=cache)
            found[name] = json.loads(twin.dumps(twin.show(run)))
        return found[name]

    return show


def depths(path: Path) -> list[SelfTestDepth]:
    run = OpenRun.open(path)
    finder = EvidenceFinder(run)
    return [self_test_depth(run, finder, stage.index) for stage in run.run.stages]


def text(depth: SelfTestDepth) -> str:
    return "\n".join(depth_lines(depth, Glyphs()))


def test_planted_claims_are_gaps_where_the_gate_failed(demo_run: Path) -> None:
    found = depths(demo_run)
    for planted in json.loads((demo_run / "truth.json").read_text())["claims"]:
        depth = found[planted["stage"] - 1]
        assert depth.claim is not None
        assert (depth.claim.text, depth.claim_gap) == (planted["text"], True)
    assert found[0].claim_gap is False


def test_what_changed_after_the_last_green_run_is_listed(demo_run: Path) -> None:
    depth = depths(demo_run)[2]

    assert depth.edits_basis == "recorded"
    assert depth.edits_after_green is not None
    assert [(e.step, e.path) for e in depth.edits_after_green] == [(6, "tests/test_search.py")]
    assert "last green run: #5; changed after it: tests/test_search.py (#6)" in text(depth)


def test_the_earlier_stages_whose_tests_ran_are_known_where_the_output_names_them(
    demo_run: Path,
) -> None:
    show = json.loads(twin.dumps(twin.show(OpenRun.open(demo_run))))
    stages = {test["command"]: test["earlier_stages"] for test in show["stages"][2]["self_tests"]}
    assert stages == {
        "python -m notes export --help": None,
        "python -m pytest -q tests/test_export.py": [],
        "python -m pytest -q": [1],
    }
    assert show["stages"][2]["self_test_depth"]["revisits_earlier"] is True


def test_a_claim_beside_a_red_gate_is_a_gap(shown: Callable[[str], Json]) -> None:
    third = shown("circuit-eval")["stages"][2]["self_test_depth"]

    assert third["claim"]["text"] == "All spec examples pass correctly:"
    assert (third["claim"]["kind"], third["claim"]["step"]) == ("tests_pass", 77)
    assert third["claim_gap"] is True


def test_a_pass_that_claims_to_change_nothing_is_held_to_it(shown: Callable[[str], Json]) -> None:
    (between,) = shown("circuit-eval")["stages"][3]["between"]

    assert between["state"] == "S4.refactor"
    assert between["self_test_depth"]["claim"]["text"] == "All tests pass."
    assert between["self_test_depth"]["claim_gap"] is True


def test_a_stage_that_was_cut_off_claims_nothing(shown: Callable[[str], Json]) -> None:
    third = shown("code-search-collapse")["stages"][2]["self_test_depth"]
    assert (third["claim"], third["claim_gap"]) == (None, False)


def test_an_unmeasured_gate_makes_no_gap(shown: Callable[[str], Json]) -> None:
    first = shown("file-backup-infra")["stages"][0]["self_test_depth"]
    assert first["claim"] is not None
    assert first["claim_gap"] is None


def test_what_a_stage_that_ran_nothing_did_not_exercise(shown: Callable[[str], Json]) -> None:
    failures = shown("circuit-eval")["stages"][5]["failures"]
    assert {failure["exercised"]["answer"] for failure in failures} == {"unlikely"}


def test_a_guess_is_made_for_every_hidden_failure(shown: Callable[[str], Json]) -> None:
    for name in ("circuit-eval", "database-migration-rising", "mvvault-interrupted"):
        for stage in shown(name)["stages"]:
            for failure in stage["failures"]:
                assert failure["exercised"]["reason"]


def test_without_a_green_run_nothing_is_late(shown: Callable[[str], Json]) -> None:
    third = shown("circuit-eval")["stages"][2]["self_test_depth"]
    assert (third["last_green_step"], third["edits_after_green"]) == (None, None)


def test_a_self_test_names_symbols_and_the_stages_that_wrote_them(demo_run: Path) -> None:
    show = json.loads(twin.dumps(twin.show(OpenRun.open(demo_run))))
    suite = show["stages"][2]["self_tests"][1]

    assert suite["targets"] == ["tests/test_export.py"]
    stages = {symbol["name"]: symbol["stage"] for symbol in suite["symbols"]}
    assert stages["to_markdown"] == 3
    assert stages["Note"] == 0


def test_a_failing_self_test_names_what_failed(demo_run: Path) -> None:
    show = json.loads(twin.dumps(twin.show(OpenRun.open(demo_run))))
    suite = show["stages"][2]["self_tests"][2]
    assert [test["outcome"] for test in suite["tests"]] == ["failed"]
