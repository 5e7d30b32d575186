"""Contract items over the states of the sample run and of the real ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arcview import cli
from arcview.analysis.contract import Presence
from arcview.schema.faults import find_faults
from arcview.schema.reports import ContractReport
from arcview.session.coverage import (
    ContractCoverage,
    CoveredItem,
    Drift,
    contract_of,
    contract_text,
    cover,
)
from arcview.session.opened import OpenRun
from tests.states.workspaces import commit_all, git, write_files

Scb = Callable[[str], Path]


def covered(path: Path, stage: int) -> ContractCoverage:
    run = OpenRun.open(path)
    run.ensure_states()
    return cover(run, stage)


def presence(item: CoveredItem) -> list[str]:
    return [finding.presence.value if finding else "-" for finding in item.findings]


def test_every_item_of_the_sample_s_contracts_is_there_at_the_end_of_its_stage(
    demo_run: Path,
) -> None:
    for stage in (1, 2, 3, 4):
        coverage = covered(demo_run, stage)
        assert coverage.origin == "contract.json"
        assert coverage.end == f"S{stage}"
        assert coverage.count(f"S{stage}")[Presence.PRESENT] == len(coverage.items) > 0


def test_an_item_is_missing_before_its_stage(demo_run: Path) -> None:
    coverage = covered(demo_run, 2)
    assert coverage.states == ("S0", "S1", "S2", "S2.refactor", "S3", "S4")
    by_text = {item.item.text: presence(item) for item in coverage.items}
    assert by_text["empty query"] == ["missing", "missing", *["present"] * 4]


def test_a_signature_that_a_stage_extends_was_different_before(demo_run: Path) -> None:
    added = next(i for i in covered(demo_run, 1).items if i.item.text.startswith("add("))
    assert presence(added)[:2] == ["different", "present"]
    assert added.findings[0] is not None
    assert added.findings[0].found == "path, title, body=''"


def test_a_run_without_a_contract_gives_items_of_the_specification(scb: Scb) -> None:
    items, origin = contract_of(OpenRun.open(scb("circuit-eval")), 2)
    assert origin == "spec"
    assert [item.text for item in items] == [
        "MissingInputError",
        "UnknownInputError",
        "InputValueParseError",
    ]
    assert all(item.extracted for item in items)


def test_error_types_of_a_specification_stay_present_when_they_become_values(scb: Scb) -> None:
    coverage = covered(scb("circuit-eval"), 1)
    named = next(item for item in coverage.items if item.item.text == "UndefinedNameError")
    assert presence(named) == ["missing", *["present"] * 11]
    assert named.drift == ()


def test_a_stage_without_any_text_has_no_items(scb: Scb) -> None:
    coverage = covered(scb("circuit-eval"), 7)
    assert (coverage.origin, coverage.items) == (None, ())


@pytest.fixture
def drifting(tmp_path: Path) -> Path:
    """A run whose second stage renames what the first promised."""
    repository = tmp_path / "repository"
    for name, code in {
        "S0": b"",
        "S1": b"LIMIT = 3\ndef load(path): ...\n",
        "S2": b"LIMIT = 4\ndef read(path): ...\n",
        "S3": b"LIMIT = 3\ndef load(path): ...\n",
    }.items():
        commit_all(write_files(repository, {"a.py": code}), name)
        git(repository, "update-ref", f"refs/arcview/{name}", "HEAD")
    run = tmp_path / "run"
    run.mkdir()
    refs = [f"refs/arcview/S{n}" for n in range(4)]
    git(repository, "bundle", "create", "-q", str(run / "workspace.bundle"), *refs)
    items = [
        {"kind": "signature", "literal": "load(path)"},
        {"kind": "constant", "literal": "LIMIT = 3"},
    ]
    write_files(
        run / "chain",
        {
            "chain.json": json.dumps({
                "schema": "arcview/chain/1",
                "task_id": "t",
                "stages": [{"index": n} for n in (1, 2, 3)],
                "gates": [],
            }).encode(),
            "stages/1/contract.json": json.dumps({"items": items}).encode(),
            "stages/1/spec.md": b"",
        },
    )  # fmt: skip
    stages = [
        {"index": n, "status": "completed", "base": f"S{n - 1}", "end": f"S{n}"} for n in (1, 2, 3)
    ]
    document = {"schema": "arcview/run/1", "run_id": "r", "task_id": "t", "stages": stages}
    (run / "run.json").write_text(json.dumps(document))
    return run


def test_a_contract_is_read_by_kinds_and_as_it_is_written(demo_run: Path) -> None:
    opened = OpenRun.open(demo_run)
    written = opened.contract(2)
    text = contract_text(opened, 2)
    assert text is not None
    assert written is not None
    assert text.startswith("Signatures\n  search(notes: list[Note], query: str)")
    assert text.endswith(f"As it is written\n\n{written}")


def test_a_contract_in_prose_is_shown_as_it_is(scb: Scb) -> None:
    opened = OpenRun.open(scb("circuit-eval"))
    assert contract_text(opened, 1) == opened.contract(1)


def test_drift_says_where_an_item_was_last_and_where_it_is_gone(drifting: Path) -> None:
    load, limit = covered(drifting, 1).items
    assert presence(load) == ["missing", "present", "missing", "present"]
    assert load.drift == (Drift("S1", "S2", Presence.MISSING),)
    assert limit.drift == (Drift("S1", "S2", Presence.DIFFERENT),)


def test_the_command_prints_a_table(drifting: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["contract", str(drifting), "--stage", "1"]) == 0
    out = capsys.readouterr().out
    assert "Stage 1: 2 items (contract)" in out
    assert "missing since S2" in out
    assert "✗" in out


def test_the_command_prints_json_of_its_schema(
    drifting: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["contract", str(drifting), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert find_faults(ContractReport, report) == ()
    first, second, _ = report["stages"]
    assert first["items"][0]["findings"]["S2"]["presence"] == "missing"
    assert (second["origin"], second["items"]) == (None, [])
    assert report["problems"][0].startswith("stage 2: neither a contract")


def test_a_run_without_a_workspace_has_items_and_no_findings(scb: Scb) -> None:
    coverage = covered(scb("recli-nothing-built"), 1)
    assert coverage.items
    assert all(f is None for item in coverage.items for f in item.findings[1:])
