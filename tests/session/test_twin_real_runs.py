"""Every count of the twin against a few lines of counting straight from the files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arcview.session import twin
from arcview.session.opened import OpenRun

RUNS = (
    "circuit-eval",
    "code-search-collapse",
    "code-search-refactor-pass",
    "database-migration-rising",
    "file-backup-infra",
    "mocked-http-no-evaluation",
    "mvvault-interrupted",
    "recli-nothing-built",
)

Json = dict[str, Any]
Scb = Callable[[str], Path]
Outcomes = dict[tuple[str, str], str]
"""(checkpoint of the group, name) → passed, failed or skipped."""


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


def gates_in_order(run: Path) -> Iterator[tuple[int, bool, Json]]:
    """(stage, is it the pass after it, evaluation.json)."""
    for number in range(1, 20):
        for below, is_pass in (("", False), ("after_skill", True)):
            file = run / f"checkpoint_{number}" / below / "evaluation.json"
            if file.is_file():
                yield number, is_pass, json.loads(file.read_text())


def outcomes(evaluation: Json, *, regression: bool) -> Outcomes:
    found: Outcomes = {}
    for group, by_outcome in evaluation["tests"].items():
        checkpoint, _, kind = group.partition("-")
        if (kind == "Regression") is regression:
            for outcome, names in by_outcome.items():
                found |= {(checkpoint, name): outcome for name in names}
    return found


def gate_of(show: Json, stage: int, is_pass: bool) -> Json:
    row: Json = next(row for row in show["stages"] if row["index"] == stage)
    return row["between"][0] if is_pass else row


def is_measured(evaluation: Json) -> bool:
    return not evaluation["infrastructure_failure"]


@pytest.mark.parametrize("name", RUNS)
def test_counts_and_verdicts_equal_the_files(
    name: str, scb: Scb, shown: Callable[[str], Json]
) -> None:
    gates = list(gates_in_order(scb(name)))
    for stage, is_pass, evaluation in gates:
        gate = gate_of(shown(name), stage, is_pass)
        not_ok = 0
        for field, regression in (("f2p", False), ("p2p", True)):
            counted = Counter(outcomes(evaluation, regression=regression).values())
            if not is_measured(evaluation):
                assert gate[field] is None
                continue
            not_ok += counted["failed"] + counted["skipped"]
            assert gate[field]["expected"] == counted.total()
            for outcome in ("passed", "failed", "skipped"):
                assert gate[field][outcome] == counted[outcome]
            assert gate[field]["missing"] == gate[field]["extra"] == 0
        assert len(gate["failures"]) == not_ok
        expected = "passed" if not_ok == 0 else "failed"
        assert gate["verdict"] == (expected if is_measured(evaluation) else "unmeasured")
    measured = {(stage, is_pass) for stage, is_pass, _ in gates}
    for row in shown(name)["stages"]:
        if (row["index"], False) not in measured:
            assert row["verdict"] == "unmeasured"
            assert row["reason"]
            assert row["f2p"] is row["p2p"] is row["other"] is None


@pytest.mark.parametrize("name", RUNS)
def test_histories_healed_and_debt_follow_from_the_files(
    name: str, scb: Scb, shown: Callable[[str], Json]
) -> None:
    last: dict[tuple[str, str], str] = {}
    ever_failed: set[tuple[str, str]] = set()
    first_bad: tuple[int, bool] | None = None
    for stage, is_pass, evaluation in gates_in_order(scb(name)):
        if not is_measured(evaluation):
            continue
        gate = gate_of(shown(name), stage, is_pass)
        if not is_pass:
            assert gate["debt"] == sum(outcome != "passed" for outcome in last.values())
        here = outcomes(evaluation, regression=False) | outcomes(evaluation, regression=True)
        healed = {key for key, o in here.items() if o == "passed" and last.get(key, o) != "passed"}
        histories = Counter(
            "first"
            if key not in last
            else "inherited"
            if last[key] != "passed"
            else "broken_again"
            if key in ever_failed
            else "new"
            for key, outcome in here.items()
            if outcome != "passed"
        )
        assert Counter(failure["history"] for failure in gate["failures"]) == histories
        assert len(gate["healed"]) == len(healed)
        if histories and first_bad is None:
            first_bad = stage, is_pass
        last |= here
        ever_failed |= {key for key, outcome in here.items() if outcome != "passed"}
    show = shown(name)
    assert show["first_bad_stage"] == (first_bad[0] if first_bad else None)
    state = show["first_bad_state"]
    assert (state is not None and "." in state) == (first_bad is not None and first_bad[1])


@pytest.mark.parametrize("name", RUNS)
def test_every_failed_test_has_its_message(
    name: str, scb: Scb, shown: Callable[[str], Json]
) -> None:
    for stage, is_pass, evaluation in gates_in_order(scb(name)):
        if is_measured(evaluation):
            for failure in gate_of(shown(name), stage, is_pass)["failures"]:
                if failure["outcome"] == "failed":
                    assert failure["message"]
                    assert failure["traceback"]


@pytest.mark.parametrize("name", RUNS)
def test_there_is_no_chain_gate_and_it_is_not_made_up(
    name: str, shown: Callable[[str], Json]
) -> None:
    assert shown(name)["chain_gate"] is None


def of_test(show: Json, part: str) -> dict[str, str]:
    """State → history of the failing test whose id has this part."""
    found: dict[str, str] = {}
    for row in show["stages"]:
        for gate, state in ((row, row["end"]), *((b, b["state"]) for b in row["between"])):
            for failure in gate["failures"]:
                if part in failure["id"]:
                    found[state] = failure["history"]
    return found


def test_a_test_that_stage_3_broke_is_new_there_and_inherited_after(
    shown: Callable[[str], Json],
) -> None:
    histories = of_test(shown("circuit-eval"), "[literal_x")
    assert histories.pop("S3") == "new"
    assert set(histories) == {"S3.refactor", "S4", "S4.refactor", "S5", "S5.refactor", "S6"}
    assert set(histories.values()) == {"inherited"}


def test_a_test_that_a_pass_broke_is_new_before_the_next_stage(
    shown: Callable[[str], Json],
) -> None:
    histories = of_test(shown("circuit-eval"), "test_eval_invalid_input_value[X]")
    assert histories["S4.refactor"] == "new"
    assert histories["S5"] == histories["S6"] == "inherited"
    assert "S4" not in histories


def test_a_stage_heals_what_the_pass_before_it_broke(shown: Callable[[str], Json]) -> None:
    show = shown("circuit-eval")
    assert len(show["stages"][1]["between"][0]["failures"]) == 18
    assert show["stages"][2]["debt"] == 18
    assert len(show["stages"][2]["healed"]) == 18
    assert (show["first_bad_stage"], show["first_bad_state"]) == (2, "S2.refactor")
    assert show["first_failing_gate"] == "3"


def test_failures_of_a_stage_whose_agent_never_ran_are_first(
    shown: Callable[[str], Json],
) -> None:
    stage = shown("circuit-eval")["stages"][5]
    f2p = [failure for failure in stage["failures"] if failure["group"] == "f2p"]
    assert [failure["history"] for failure in f2p] == ["first"] * 51
    assert (stage["status"], stage["verdict"], stage["cost_usd"]) == ("agent_error", "failed", None)


def test_sixty_six_failures_are_three_causes(shown: Callable[[str], Json]) -> None:
    stage = shown("code-search-collapse")["stages"][3]
    assert [len(group["tests"]) for group in stage["signatures"]] == [60, 5, 1]


def test_a_stage_that_did_nothing_changed_nothing_and_its_failures_were_healed(
    shown: Callable[[str], Json],
) -> None:
    second, third = shown("code-search-collapse")["stages"][1:3]
    assert second["change"]["unchanged"] is True
    assert {failure["history"] for failure in second["failures"]} == {"first"}
    assert (len(second["failures"]), len(third["healed"])) == (10, 9)


def test_steps_are_what_the_harness_counted(shown: Callable[[str], Json]) -> None:
    stages = shown("code-search-collapse")["stages"]
    assert sum(stage["steps"] for stage in stages) == 306


def test_a_skipped_test_is_a_failure_that_says_skipped(shown: Callable[[str], Json]) -> None:
    stages = shown("database-migration-rising")["stages"]
    skipped = [
        [failure["id"] for failure in stage["failures"] if failure["outcome"] == "skipped"]
        for stage in stages
    ]
    assert [len(ids) for ids in skipped] == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("name", RUNS)
def test_a_line_of_the_list_is_the_twin_without_single_tests(
    name: str, scb: Scb, shown: Callable[[str], Json], tmp_path: Path
) -> None:
    row = json.loads(twin.dumps(twin.list_row(OpenRun.open(scb(name), cache_root=tmp_path))))
    show = json.loads(json.dumps(shown(name)))
    single = ("failures", "healed", "self_tests", "self_test_depth", "signatures", "trace")
    for stage in show["stages"]:
        for gate in (stage, *stage["between"]):
            for field in single:
                gate.pop(field, None)
    assert row == show


@pytest.mark.parametrize("name", RUNS)
def test_the_twin_is_what_its_schema_promises(name: str, shown: Callable[[str], Json]) -> None:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    from arcview.schema import json_schemas

    Draft202012Validator(json_schemas()["show"]).validate(shown(name))
