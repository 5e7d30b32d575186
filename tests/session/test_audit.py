"""The protocol audit on the sample run, on real runs, and on a copy with planted breaks."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arcview.analysis.audit import Check
from arcview.cli import main
from arcview.schema.audit import AuditFile
from arcview.schema.faults import find_faults
from arcview.session import twin
from arcview.session.address import parse_address
from arcview.session.audit_report import audit_json
from arcview.session.audit_run import Audit, audit
from arcview.session.opened import OpenRun


def look(path: Path) -> Audit:
    return audit(OpenRun.open(path))


def checks(found: Audit) -> list[tuple[str, int]]:
    return [(finding.check.value, finding.stage) for finding in found.findings]


def test_the_sample_run_keeps_its_protocol(demo_run: Path) -> None:
    found = look(demo_run)
    assert found.findings == ()
    assert (found.declared, found.observed, found.contradicts) == ("L4", "none", False)
    assert [(one.check, one.stage) for one in found.unchecked] == [(Check.LOOKUP, None)]


def test_a_run_of_another_harness_begins_a_session_with_every_stage(
    scb: Callable[[str], Path],
) -> None:
    found = look(scb("circuit-eval"))
    # Counted by hand in its logs: six sessions, two compactions, two nudges after API errors.
    assert checks(found) == [
        ("session", 2),
        ("session", 3), ("compaction", 3),
        ("session", 4),
        ("session", 5), ("compaction", 5),
        ("session", 6), ("feedback", 6), ("feedback", 6),
    ]  # fmt: skip
    nudges = [finding for finding in found.findings if finding.check is Check.FEEDBACK]
    assert {finding.quote for finding in nudges} == {"Continue from where you left off."}
    assert (found.declared, found.observed, found.contradicts) == (None, "other", False)


def test_what_cannot_be_looked_at_is_said(scb: Callable[[str], Path]) -> None:
    found = look(scb("file-backup-infra"))
    reasons = {(one.check, one.why) for one in found.unchecked}
    assert (Check.LEAK, "no ids of hidden tests are recorded") in reasons
    interrupted = look(scb("mvvault-interrupted"))
    assert (None, 3) in {(one.check, one.stage) for one in interrupted.unchecked}


@pytest.fixture
def broken_run(demo_run: Path, tmp_path: Path) -> Path:
    """The sample run with breaks of the protocol planted into the trajectory of stage 3."""
    fixtures = demo_run.parents[2]
    run = tmp_path / "runs" / "scripted-demo" / "notes-cli"
    shutil.copytree(demo_run, run)
    shutil.copytree(fixtures / "chains" / "notes-cli", tmp_path / "chains" / "notes-cli")
    chain = tmp_path / "chains" / "notes-cli" / "chain.json"
    chain.write_text(json.dumps({**load(chain), "repository": "https://example.invalid/x/notes"}))
    file = run / "stages" / "3" / "trajectory.json"
    trajectory = load(file)
    trajectory["session_id"] = "another"
    steps = trajectory["steps"]
    steps[0]["message"] += "\n\nTwo tests of search failed after stage 2. Please fix them."
    # The agent reads a store that is not the one the pass before it left.
    results = steps[1]["observation"]["results"]
    results[0]["content"] = "gate_tests/test_export.py::test_command_exports_what_a_phrase_finds"
    steps[3]["tool_calls"][0]["arguments"] = {"command": "git log --all && pip download notes"}
    file.write_text(json.dumps(trajectory))
    return run


def load(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def test_planted_breaks_are_found_at_their_steps(broken_run: Path) -> None:
    found = look(broken_run)
    at = {(f.check.value, f.step): f for f in found.findings}
    assert ("session", 1) in at
    feedback = at["feedback", None]
    assert feedback.detail == "fix_explained"
    assert found.observed == "fix_explained"
    assert found.contradicts
    leak = at["leak", 1]
    assert "test_command_exports_what_a_phrase_finds" in leak.what
    lookups = [f.what for f in found.findings if f.check is Check.LOOKUP]
    assert lookups == [
        "looks at history beyond its own branch",
        "asks a registry for the project itself",
    ]


def test_a_stage_that_does_not_begin_where_the_last_one_ended_is_found(broken_run: Path) -> None:
    file = broken_run / "run.json"
    run = load(file)
    run["stages"][2]["base"] = "S2"
    file.write_text(json.dumps(run))
    found = [finding for finding in look(broken_run).findings if finding.check is Check.STATE]
    assert [finding.what for finding in found] == [
        "is recorded to begin with S2, and the last state before it is S2.refactor"
    ]
    assert found[0].step_key is not None


def test_every_finding_has_an_address_that_leads_to_its_step(broken_run: Path) -> None:
    opened = OpenRun.open(broken_run)
    found = json.loads(twin.dumps(audit_json(audit(opened), opened.run, "run")))
    assert find_faults(AuditFile, found) == ()
    assert found["findings"]
    for finding in found["findings"]:
        address = parse_address(finding["address"])
        steps = {step.key: step for step in opened.trajectory(int(address.where)).steps}
        assert address.parts[0] in steps
        if address.span is not None:
            call = next(c for c in steps[address.parts[0]].calls if c.key == address.parts[1])
            assert call.result is not None
            assert call.result.text[slice(*address.span)] in finding["what"]


def test_the_command_prints_findings_and_exits_0(
    broken_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", str(broken_run)]) == 0
    text = capsys.readouterr().out
    assert "delegation declared L4; feedback between stages: perhaps a failure and its rep" in text
    assert "None of them is a proof." in text
    assert "context compactions: nothing found" in text
    assert "step:3/" in text
    assert main(["audit", str(broken_run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "arcview/audit/1"


def test_text_from_a_run_reaches_no_terminal_unclean(
    broken_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = broken_run / "stages" / "3" / "trajectory.json"
    trajectory = load(file)
    trajectory["steps"][0]["message"] += "\nIt failed.\x1b]0;x\x07[bold]"
    file.write_text(json.dumps(trajectory))
    assert main(["audit", str(broken_run)]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[bold]" in text


def test_a_folder_that_is_no_run_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
