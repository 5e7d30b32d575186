"""Reports in gates of native runs: matched with the lists, three kinds of absence kept apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arcview.analysis.verdicts import judge
from arcview.model.results import GateTest, GroupCounts, Outcome, Verdict
from arcview.readers.runs.native import NativeReader
from tests.readers.native_run import full_run

GATE = "stages/1/gate"
IDS = ["tests/test_a.py::TestC::test_x[a b]", "tests/test_a.py::test_y", "tests/test_b.py::test_z"]


def read(tmp_path: Path, name: str, report: str, ids: list[str] = IDS) -> Any:
    run = full_run(tmp_path)
    run.chain["gates"][0].update(f2p=ids[:1], p2p=ids[1:])
    run.write_text(f"{GATE}/{name}", report)
    run.write()
    for file in ("result.json", "tests.jsonl", "log.txt"):
        (tmp_path / GATE / file).unlink()
    return NativeReader().read(tmp_path)


def by_id(opened: Any) -> dict[str, GateTest]:
    return {test.id: test for test in opened.gate_tests("1", "S1")}


def junit(*cases: str) -> str:
    return f'<testsuites><testsuite name="pytest">{"".join(cases)}</testsuite></testsuites>'


CASE_X = '<testcase classname="tests.test_a.TestC" name="test_x[a b]">{}</testcase>'
CASE_Y = '<testcase classname="tests.test_a" name="test_y"/>'
CASE_Z = '<testcase classname="tests.test_b" name="test_z"/>'


def test_junit_is_matched_with_the_lists_of_the_chain(tmp_path: Path) -> None:
    report = junit(CASE_X.format('<failure message="no"/>'), CASE_Y, CASE_Z)
    opened = read(tmp_path, "report.xml", report)
    gate = opened.run.stage_gate(1)
    assert gate.f2p == GroupCounts(expected=1, failed=1)
    assert gate.p2p == GroupCounts(expected=2, passed=2)
    assert judge(gate).verdict is Verdict.FAILED
    assert by_id(opened)[IDS[0]].message == "no"


def test_a_test_that_a_whole_report_does_not_name_is_missing(tmp_path: Path) -> None:
    opened = read(tmp_path, "report.xml", junit(CASE_X.format(""), CASE_Y))
    assert by_id(opened)[IDS[2]].outcome is Outcome.MISSING


def test_tests_of_a_file_that_could_not_be_collected_were_not_run(tmp_path: Path) -> None:
    error = '<error message="collection failure">E</error>'
    failed = f'<testcase classname="" name="tests.test_a">{error}</testcase>'
    opened = read(tmp_path, "report.xml", junit(failed, CASE_Z))
    found = by_id(opened)
    assert [found[test_id].outcome for test_id in IDS] == [
        Outcome.NOT_RUN,
        Outcome.NOT_RUN,
        Outcome.PASSED,
    ]
    assert found[IDS[0]].message == "collection error"
    assert judge(opened.run.stage_gate(1)).verdict is Verdict.FAILED


KILLED = """\
collected 3 items
tests/test_a.py::TestC::test_x[a b] PASSED [ 33%]
/bin/sh: line 1:    17 Killed                  pytest -v
"""


def test_a_run_that_was_killed_for_unknown_reasons_is_unmeasured(tmp_path: Path) -> None:
    opened = read(tmp_path, "report.txt", KILLED)
    gate = opened.run.stage_gate(1)
    assert gate.p2p == GroupCounts(expected=2, not_run=2)
    judgement = judge(gate)
    assert judgement.verdict is Verdict.UNMEASURED
    assert "killed, cause unknown" in (judgement.reason or "")
    assert "2 of 3 announced tests are unreported" in gate.notes


def test_a_run_that_was_killed_after_a_failure_has_failed(tmp_path: Path) -> None:
    opened = read(tmp_path, "report.txt", KILLED.replace("PASSED", "FAILED"))
    assert judge(opened.run.stage_gate(1)).verdict is Verdict.FAILED


def test_outcomes_in_doubt_are_counted_and_keep_their_lines(tmp_path: Path) -> None:
    log = "PASSED tests/test_a.py::test_y\nFAILED tests/test_a.py::test_y - no\n"
    opened = read(tmp_path, "report.txt", log)
    assert "1 outcome is in doubt" in opened.run.stage_gate(1).notes
    test = by_id(opened)[IDS[1]]
    assert test.evidence == "FAILED tests/test_a.py::test_y - no"
    assert test.conflict is not None


@pytest.mark.parametrize("expected", ["tests/test_a.py", "test_y (tests.test_a)"])
def test_lists_in_another_dialect_are_matched_and_that_is_said(
    tmp_path: Path, expected: str
) -> None:
    opened = read(tmp_path, "report.xml", junit(CASE_X.format(""), CASE_Y), [expected])
    gate = opened.run.stage_gate(1)
    assert gate.f2p == GroupCounts(expected=1, passed=1)
    assert any("ids matched by" in note for note in gate.notes)


def test_the_own_groups_of_a_report_count_where_the_chain_has_no_lists(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.chain["gates"] = [{"id": "2"}]
    run.write_text(
        f"{GATE}/report.json",
        '{"resolved": false, "tests_status": {"FAIL_TO_PASS": {"success": [], "failure": ["a"]},'
        ' "PASS_TO_PASS": {"success": ["b"], "failure": []}}}',
    )
    run.write()
    for file in ("result.json", "tests.jsonl"):
        (tmp_path / GATE / file).unlink()
    gate = NativeReader().read(tmp_path).run.stage_gate(1)
    assert gate is not None
    assert gate.f2p == GroupCounts(expected=1, failed=1)
    assert gate.p2p == GroupCounts(expected=1, passed=1)


def test_what_is_wrong_with_a_report_names_its_place_in_the_run(tmp_path: Path) -> None:
    whole = junit(CASE_X.format(""), CASE_Y, CASE_Z)
    opened = read(tmp_path, "report.xml", whole[: whole.index("test_z")])
    (problem,) = opened.run.problems
    assert problem.where.startswith(f"{GATE}/report.xml: line 1")


def test_lines_of_tests_keep_their_evidence_and_conflict(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    line = {"id": "t::a", "group": "f2p", "outcome": "failed", "evidence": "line", "conflict": "c"}
    run.write_tests(GATE, [line])
    run.write()
    found = by_id(NativeReader().read(tmp_path))
    assert (found["t::a"].evidence, found["t::a"].conflict) == ("line", "c")


LOG = """============================= test session starts ==============================
collected 2 items

tests/test_a.py::test_y FAILED                                            [ 50%]
tests/test_b.py::test_z PASSED                                            [100%]

=========================== short test summary info ============================
FAILED tests/test_a.py::test_y - assert 0
========================= 1 failed, 1 passed in 0.10s ==========================
"""


def with_log(tmp_path: Path, log: str, **result: Any) -> Any:
    run = full_run(tmp_path)
    run.chain["gates"][0].update(f2p=IDS[1:2], p2p=IDS[2:])
    run.write()
    for file in ("result.json", "tests.jsonl"):
        (tmp_path / GATE / file).unlink()
    run.write_text(f"{GATE}/log.txt", log)
    if result:
        run.write_result(GATE, "1", "S1", **result)
    return NativeReader().read(tmp_path)


def test_without_tests_and_report_the_log_is_scraped_and_said_to_be(tmp_path: Path) -> None:
    opened = with_log(tmp_path, LOG)
    gate = opened.run.stage_gate(1)
    assert gate.f2p == GroupCounts(expected=1, failed=1)
    assert gate.p2p == GroupCounts(expected=1, passed=1)
    assert judge(gate).verdict is Verdict.FAILED
    assert "read from the text of pytest" in gate.notes
    assert f"counted from {GATE}/log.txt" in gate.notes
    assert "FAILED" in (by_id(opened)[IDS[1]].evidence or "")


def test_a_log_names_tests_beside_counts_that_are_recorded(tmp_path: Path) -> None:
    counts = {"expected": 1, "failed": 1}
    opened = with_log(tmp_path, LOG, verdict="failed", f2p=counts, p2p={"expected": 3, "passed": 3})
    gate = opened.run.stage_gate(1)
    assert (gate.f2p, gate.p2p) == (
        GroupCounts(expected=1, failed=1),
        GroupCounts(expected=3, passed=3),
    )
    assert set(by_id(opened)) == set(IDS[1:])


def test_a_log_that_no_runner_wrote_leaves_the_gate_unmeasured(tmp_path: Path) -> None:
    gate = with_log(tmp_path, "killed\n").run.stage_gate(1)
    assert judge(gate).verdict is Verdict.UNMEASURED
    assert judge(gate).reason == f"{GATE}/log.txt names no test"


def test_an_imported_gate_is_not_read_from_its_log_again(tmp_path: Path) -> None:
    opened = with_log(tmp_path, LOG, provenance="imported", verdict="unmeasured", reason="no list")
    assert opened.gate_tests("1", "S1") == ()
