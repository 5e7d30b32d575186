"""`arcview check`: every fault with its file and field, and what is off without what."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.errors import UnknownLayoutError
from arcview.readers.check import CheckReport, check
from tests.readers.native_run import NativeRun, full_run, minimal_run, result_line, state


def checked(run: NativeRun) -> CheckReport:
    return check(run.write())


def faults(run: NativeRun) -> list[str]:
    return [f"{fault.where}: {fault.what}" for fault in checked(run).faults]


def off(run: NativeRun) -> list[str]:
    return [f"{part.where}: {part.what}" for part in checked(run).off]


def test_a_complete_run_has_no_fault(tmp_path: Path) -> None:
    assert faults(full_run(tmp_path)) == []


def test_our_own_sample_runs_have_no_fault(demo_run: Path) -> None:
    for run in sorted(demo_run.parent.iterdir()):
        assert check(run).faults == ()


def test_the_least_run_has_no_fault_and_says_what_is_off(tmp_path: Path) -> None:
    run = minimal_run(tmp_path)
    assert faults(run) == []
    assert [line.partition(", ")[0].partition(" (")[0] for line in off(run)] == [
        "reference: none: no comparison with the reference",
        "image digest: none: nothing proves that a rerun uses the same image",
        "chain gate: none: nothing is known of the whole feature on the last state",
        "stage 1: no specification: what the agent was told is not shown",
        "stage 1: no contract: its names",
        "stage 1: no trajectory: no steps",
        "stage 1: no end state: no diff",
        "stage 1: no cost: sums of cost leave the stage out",
        "stage 1: no duration: sums of time leave the stage out",
        "gate 1: unmeasured",
        off(run)[10].partition(", ")[0].partition(" (")[0],
        "run.json: states: none: inferred from the workspaces that are there",
        "workspace.bundle: none: the workspace between two steps of a stage is not recorded",
        "chain: none: no titles",
    ]
    assert off(run)[10].startswith("run.json: run_id: none: run-")


def test_all_faults_are_listed_and_not_only_the_first(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["agent"] = "opus"
    run.run["started"] = "yesterday"
    run.run["stages"][1]["base"] = "S9"
    run.chain["languages"] = "python"
    run.write_json("stages/1/gate/result.json", {"schema": "arcview/gate-result/1", "f2p": []})
    assert faults(run)[:5] == [
        'run.json: agent: expected an object, found "opus"',
        "run.json: started: expected an ISO 8601 time such as 2026-01-31T12:00:00Z, "
        'found "yesterday"',
        'chain/chain.json: languages: expected a list, found "python"',
        "stages/1/gate/result.json: f2p: expected an object, found a list of 0",
        'run.json: stages[1].base: "S9" is not among the states',
    ]


def test_one_wrong_field_is_one_fault(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["stages"][0]["usage"] = {"cost_usd": "free"}
    assert faults(run) == ['run.json: stages[0].usage.cost_usd: expected a number, found "free"']


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "run.json: line 1: expected JSON"),
        ("[]", "run.json: expected an object, found a list of 0"),
        ('{"stages": [{"index": 1}]}', "run.json: schema: required, and missing"),
        (
            '{"schema": "arcview/run/2", "stages": [{"index": 1}]}',
            'run.json: schema: expected "arcview/run/1", found "arcview/run/2"',
        ),
        (
            '{"schema": "arcview/run/1", "stages": []}',
            "run.json: stages: expected at least one entry, found a list of 0",
        ),
    ],
)
def test_a_run_json_that_cannot_be_opened_is_one_fault(
    tmp_path: Path, text: str, fault: str
) -> None:
    (tmp_path / "run.json").write_text(text)
    (found,) = check(tmp_path).faults
    assert f"{found.where}: {found.what}".startswith(fault)


def test_no_run_at_all_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnknownLayoutError):
        check(tmp_path)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            lambda run: run.run["states"].insert(1, state("S2")),
            'run.json: states[4].id: "S2" is there already',
        ),
        (
            lambda run: run.run["states"].reverse(),
            "run.json: states[1].id: S1.refactor stands after S2: not in order",
        ),
        (
            lambda run: run.run["states"][1].update(kind="between"),
            "run.json: states[1].kind: is between, the id S1 says stage_end",
        ),
        (
            lambda run: run.run["states"][1].update(stage=2),
            "run.json: states[1].stage: is 2, the id S1 says 1",
        ),
        (
            lambda run: run.run["stages"][0].update(base="S2"),
            "run.json: stages[0].base: S2 does not stand before S1 among the states",
        ),
        (
            lambda run: run.run["stages"][1].update(index=3),
            "run.json: stages: expected stages 1 to 3; no 2",
        ),
        (
            lambda run: run.run["stages"][1].update(index=1),
            'run.json: stages[1].index: "1" is there already',
        ),
        (
            lambda run: run.chain["stages"].pop(),
            "run.json: stages[1].index: chain.json declares no stage 2",
        ),
        (
            lambda run: run.chain["gates"][1].update(id="7"),
            "chain/chain.json: gates[1].id: there is no stage 7",
        ),
        (
            lambda run: run.chain["gates"][1].update(p2p=["t::a", "t::b", "t::c"]),
            'chain/chain.json: gates[1].p2p[2]: "t::c" is on the f2p list, too',
        ),
        (
            lambda run: run.chain["gates"][0].update(f2p=["t::a", "t::b", "t::a"]),
            'chain/chain.json: gates[0].f2p[2]: "t::a" is there already',
        ),
        (
            lambda run: run.chain["gates"][0].update(reports=[{"path": "r.xml", "step": "tests"}]),
            'chain/chain.json: gates[0].reports[0].step: there is no step "tests"',
        ),
        (
            lambda run: run.chain["stages"][0].update(depends_on=[2]),
            "chain/chain.json: stages[0].depends_on: 2 is no earlier stage",
        ),
        (
            lambda run: run.run.update(task_id="other"),
            'run.json: task_id: is "other", chain.json says "notes"',
        ),
    ],
)
def test_what_contradicts_another_part_is_a_fault(
    tmp_path: Path, change: Callable[[NativeRun], object], fault: str
) -> None:
    run = full_run(tmp_path)
    change(run)
    assert fault in faults(run)


@pytest.mark.parametrize(
    ("unchanged", "says"), [(True, "true, but the tree is not"), (False, "false, but the tree is")]
)
def test_unchanged_against_the_trees(tmp_path: Path, unchanged: bool, says: str) -> None:
    run = full_run(tmp_path)
    tree = "a" * 40
    run.run["states"][0]["tree"] = tree
    run.run["states"][1].update(unchanged=unchanged, tree="b" * 40 if unchanged else tree)
    assert f"run.json: states[1].unchanged: is {says} that of S0" in faults(run)


def test_a_recorded_tree_is_compared_with_the_files(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["states"][0]["tree"] = "a" * 40
    (fault,) = faults(run)
    assert fault.startswith(f"state S0: the run records the tree {'a' * 40} for it, its files give")


def test_a_patch_that_does_not_apply_is_a_fault(tmp_path: Path) -> None:
    run = minimal_run(tmp_path)
    run.write_text("stages/0/workspace/a.py", "one\n")
    patch = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-two\n+three\n"
    run.write_text("stages/1/stage.patch", patch)
    assert "does not apply to S0" in faults(run)[0]


def test_a_bundle_without_a_listed_state_is_a_fault(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["states"].append(state("S2.late"))
    run.write_bytes("workspace.bundle", b"# v2 git bundle\n" + b"a" * 40 + b" refs/arcview/S0\n\n")
    assert "run.json: states[4].id: workspace.bundle has no refs/arcview/S2.late" in faults(run)


def test_hidden_tests_are_compared_with_their_hashes(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    good = hashlib.sha256(b"x").hexdigest()
    for name in ("good.py", "changed.py", "unlisted.py"):
        run.write_bytes(f"chain/gates/1/overlay/tests/{name}", b"x")
    run.chain["gates"][0]["overlay"] = [
        {"path": "tests/good.py", "sha256": good},
        {"path": "tests/changed.py", "sha256": "0" * 64},
        {"path": "tests/gone.py", "sha256": good},
        {"path": "../../../../run.json", "sha256": good},
    ]
    lines = faults(run)
    place = "chain/chain.json: gates[0].overlay"
    assert f"{place}[1].sha256: the file has {good}" in lines
    assert f"{place}[2].path: there is no file gates/1/overlay/tests/gone.py" in lines
    assert any(line.startswith(f"{place}[3].path: there is no file") for line in lines)
    assert "chain/gates/1/overlay/tests/unlisted.py: is not on the overlay list of gate 1" in lines
    assert not any("[0]." in line.removeprefix(place) for line in lines)


def test_lines_of_single_tests_are_checked(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    lines = [
        result_line("t::a", "f2p", "passed"),
        result_line("t::b", "f2p", "green"),
        result_line("t::a", "f2p", "passed"),
    ]
    run.write_tests("stages/1/gate", lines)
    found = faults(run)
    assert 'stages/1/gate/tests.jsonl: line 3: id: "t::a" is there more than once' in found
    assert any(
        line.startswith('stages/1/gate/tests.jsonl: line 2: outcome: expected "passed"')
        for line in found
    )


def test_a_damaged_trajectory_is_a_fault(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_text("stages/1/trajectory.json", '{"schema_version": "ATIF-v1.7", "steps": [')
    assert faults(run)[0].startswith("stages/1/trajectory.json: line 1: expected JSON")


def test_a_path_that_leaves_the_run_is_a_fault(tmp_path: Path) -> None:
    run = full_run(tmp_path / "run")
    run.run["stages"][0]["trajectories"] = [{"path": "../../secret.json"}]
    assert "../../secret.json: the path leaves its folder" in faults(run)[0]


def test_what_looks_like_a_secret_is_named_without_its_value(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["harness"] = {"name": "h", "api_key": "sk-12345", "tokens": "none"}
    lines = off(run)
    assert any(line.startswith("run.json: harness.api_key: looks like a secret") for line in lines)
    assert not any("sk-12345" in line or "tokens" in line for line in lines)


def test_failing_tests_without_messages_switch_off_what_needs_them(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_gate(1, {"t::a": "failed"})
    assert any("gate 1 on S1: no messages (1 of 1 failing tests)" in line for line in off(run))


def test_counts_without_single_tests_switch_off_what_needs_them(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write()
    (tmp_path / "stages/1/gate/tests.jsonl").unlink()
    assert any("gate 1 on S1: only counts" in line for line in off(run))


def test_an_unmeasured_gate_is_no_fault(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_result("stages/2/gate", "2", "S2", verdict="unmeasured", reason="exit 126")
    run.write_tests("stages/2/gate", [])
    assert faults(run) == []
    assert "gate 2 on S2: unmeasured, so neither passed nor failed: exit 126" in off(run)


@pytest.mark.parametrize("name", ["code-search-collapse", "circuit-eval", "file-backup-infra"])
def test_a_run_of_a_foreign_layout_is_checked_too(scb: Callable[[str], Path], name: str) -> None:
    report = check(scb(name))
    assert any(part.where == "reference" for part in report.off)


def test_checking_writes_nothing_into_the_run(tmp_path: Path) -> None:
    run = full_run(tmp_path / "run")
    run.write()
    before = sorted((p, p.stat().st_mtime_ns) for p in run.root.rglob("*"))
    check(run.root)
    assert sorted((p, p.stat().st_mtime_ns) for p in run.root.rglob("*")) == before
