"""Native run folders: complete, partial, damaged and hostile ones."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arcview.analysis.verdicts import judge
from arcview.errors import BadInputError
from arcview.model.results import GateRecord, Group, GroupCounts, Outcome, Verdict
from arcview.model.run import Run, Status
from arcview.model.states import FolderSource, PatchSource, Provenance, StateKind
from arcview.model.trajectory_refs import SessionRole
from arcview.readers.registry import open_run
from arcview.readers.runs import native
from arcview.readers.runs.native import NativeReader
from arcview.readers.runs.native import NativeRun as OpenNativeRun
from arcview.readers.runs.native_folder import Folder
from arcview.readers.runs.native_gates import GateSpot
from arcview.readers.runs.native_tests import GateDetails, read_details
from tests.readers.native_run import NativeRun, full_run, minimal_run, result_line, stage, state


def opened(run: NativeRun) -> OpenNativeRun:
    return NativeReader().read(run.write())


def what_is_wrong(run: Run) -> list[str]:
    return [f"{problem.where}: {problem.what}" for problem in run.problems]


def stage_gate(run: Run, index: int) -> GateRecord:
    gate = run.stage_gate(index)
    assert gate is not None
    return gate


# Complete runs


def test_a_complete_run_opens_without_a_problem(tmp_path: Path) -> None:
    assert what_is_wrong(opened(full_run(tmp_path)).run) == []


def test_the_registry_opens_a_native_run(tmp_path: Path) -> None:
    assert open_run(full_run(tmp_path).write()).run.layout == "native"


def test_header_fields_come_from_run_json(tmp_path: Path) -> None:
    run = opened(full_run(tmp_path)).run
    assert (run.run_id, run.agent, run.model, run.attempt) == (
        "demo-1",
        "scripted-demo",
        "none",
        "1",
    )
    assert run.status is Status.COMPLETED


def test_titles_and_specs_come_from_the_chain(tmp_path: Path) -> None:
    run = opened(full_run(tmp_path))
    first = run.run.stages[0]
    assert first.title == "add"
    assert first.spec_path is not None
    assert run.text(first.spec_path) == "Stage 1\n"


def test_a_text_is_had_without_reading_the_tests_of_any_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def counted(folder: Folder, spot: GateSpot) -> GateDetails:
        read.append(spot.folder)
        return read_details(folder, spot)

    monkeypatch.setattr(native, "read_details", counted)
    run = opened(full_run(tmp_path))
    assert run.text("run.json")
    assert read == []
    assert len(run.run.gates) == len(read) > 0


def test_a_stage_starts_from_the_between_state_before_it(tmp_path: Path) -> None:
    run = opened(full_run(tmp_path)).run
    assert [(s.base, s.end) for s in run.stages] == [("S0", "S1"), ("S1.refactor", "S2")]


def test_a_recorded_base_counts_more_than_the_order(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["stages"][1]["base"] = "S1"
    assert opened(run).run.stages[1].base == "S1"


def test_a_base_is_unknown_where_the_state_before_is_not_recorded(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["states"] = [state("S0"), state("S2")]
    assert opened(run).run.stages[1].base is None


def test_a_skipped_stage_does_not_hide_the_base_of_the_next(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["states"] = [state("S0"), state("S2")]
    run.run["stages"][0]["status"] = "skipped"
    assert opened(run).run.stages[1].base == "S0"


def test_the_duration_is_the_time_between_start_and_end(tmp_path: Path) -> None:
    assert opened(full_run(tmp_path)).run.stages[0].duration_s == 90


@pytest.mark.parametrize("ended", ["2026-01-31T12:01:30", "later", "2026-01-31T11:00:00Z"])
def test_times_that_cannot_be_compared_give_no_duration(tmp_path: Path, ended: str) -> None:
    run = full_run(tmp_path)
    run.run["stages"][0]["ended"] = ended
    read = opened(run).run
    assert read.stages[0].duration_s is None
    assert "the duration is unknown" in what_is_wrong(read)[0]


def test_a_chain_may_be_shared_between_runs(tmp_path: Path) -> None:
    run = full_run(tmp_path / "runs" / "opus" / "notes")
    run.run["chain"] = "../../../chains/notes"
    run.write()
    (tmp_path / "chains").mkdir()
    run.chain_root.rename(tmp_path / "chains" / "notes")
    read = NativeReader().read(run.root)
    assert what_is_wrong(read.run) == []
    assert read.text("chain/stages/2/spec.md") == "Stage 2\n"


def test_a_gate_of_a_between_state_lies_in_its_folder(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    counts = {"f2p": {"expected": 2, "passed": 2}, "p2p": {"expected": 0}}
    run.write_result("stages/1.refactor/gate", "1", "S1.refactor", **counts)
    gate = opened(run).run.gate("1", "S1.refactor")
    assert gate is not None
    assert gate.f2p == GroupCounts(expected=2, passed=2)


def test_the_chain_gate_stands_on_the_last_state(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_result("chain-gate", "chain", "S2", other={"expected": 1, "passed": 1})
    read = opened(run).run
    gate = read.chain_gate()
    assert read.chain.has_chain_gate
    assert gate is not None
    assert gate.state == "S2"


def test_a_run_without_a_chain_gate_has_none(tmp_path: Path) -> None:
    read = opened(full_run(tmp_path)).run
    assert not read.chain.has_chain_gate
    assert read.chain_gate() is None


def test_a_declared_chain_gate_without_a_result_is_unmeasured(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.chain["gates"].append({"id": "chain", "f2p": ["t::a"], "p2p": []})
    gate = opened(run).run.chain_gate()
    assert judge(gate).verdict is Verdict.UNMEASURED


def test_a_trajectory_in_the_folder_of_a_between_state_belongs_to_its_pass(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_trajectory("stages/1.refactor/trajectory.json")
    first = opened(run).run.stages[0]
    assert [ref.path for ref in first.trajectories] == ["stages/1/trajectory.json"]
    assert [ref.path for ref in first.passes[0].trajectories] == [
        "stages/1.refactor/trajectory.json"
    ]


def test_the_usage_of_a_pass_is_kept_apart_from_the_stage(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["states"][2]["usage"] = {"cost_usd": 0.5}
    first = opened(run).run.stages[0]
    assert first.usage is None
    assert first.passes[0].usage is not None
    assert first.passes[0].usage.cost_usd == 0.5


def test_a_figure_of_0_beside_real_work_is_unknown_and_noted(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["stages"][0]["usage"] = {"input_tokens": 100, "output_tokens": 5, "cost_usd": 0}
    first = opened(run).run.stages[0]
    assert first.usage is not None
    assert first.usage.cost_usd is None
    assert first.usage.input_tokens == 100
    assert "cost_usd" in first.notes[0]


def test_recorded_trajectories_keep_their_role_and_session(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_trajectory("stages/1/first-try.json")
    entry = {"path": "stages/1/first-try.json", "role": "retry", "session": "s-0", "format": "atif"}
    run.run["stages"][0]["trajectories"] = [entry]
    (ref,) = opened(run).run.stages[0].trajectories
    assert (ref.path, ref.role, ref.session) == (entry["path"], SessionRole.RETRY, "s-0")


# Where states come from


def test_states_are_found_in_folders_tarballs_and_patches(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write()
    (tmp_path / "stages/1/workspace/a.py").unlink()
    (tmp_path / "stages/1/workspace").rmdir()
    run.write_bytes("stages/1/workspace.tar.zst", b"")
    (tmp_path / "stages/2/workspace/a.py").unlink()
    (tmp_path / "stages/2/workspace").rmdir()
    run.write_text("stages/2/stage.patch", "")
    kinds = [type(s.source).__name__ for s in NativeReader().summarise(tmp_path).states]
    assert kinds == ["FolderSource", "ArchiveSource", "FolderSource", "PatchSource"]


def test_a_patch_applies_to_the_state_before_it(tmp_path: Path) -> None:
    run = minimal_run(tmp_path)
    run.run["stages"] = [stage(1), stage(2)]
    run.write_text("stages/0/workspace/a.py", "")
    run.write_text("stages/1/stage.patch", "")
    run.write_text("stages/2/stage.patch", "")
    sources = [s.source for s in opened(run).run.states]
    assert [s.base for s in sources if isinstance(s, PatchSource)] == ["S0", "S1"]


def test_a_patch_without_a_state_before_it_says_so(tmp_path: Path) -> None:
    run = minimal_run(tmp_path)
    run.write_text("stages/1/stage.patch", "")
    (first,) = opened(run).run.states
    assert first.source is None
    assert first.missing == "stages/1/stage.patch has no state before it to be applied to"


def test_states_are_inferred_from_folders_and_marked_where_run_json_lists_none(
    tmp_path: Path,
) -> None:
    run = full_run(tmp_path)
    del run.run["states"]
    states = opened(run).run.states
    assert [s.id for s in states] == ["S0", "S1", "S1.refactor", "S2"]
    assert {s.provenance for s in states} == {Provenance.INFERRED}


def test_a_listed_state_without_files_is_missing_with_a_reason(tmp_path: Path) -> None:
    run = minimal_run(tmp_path)
    run.run["states"] = [state("S0")]
    (start,) = opened(run).run.states
    assert start.source is None
    assert start.missing is not None
    assert "no stages/0/workspace" in start.missing


def test_an_unchanged_state_without_files_of_its_own_has_those_before_it(tmp_path: Path) -> None:
    run = minimal_run(tmp_path)
    run.run["states"] = [state("S0"), state("S1", unchanged=True)]
    run.write_text("stages/0/workspace/a.py", "")
    start, end = opened(run).run.states
    assert end.source == start.source
    assert end.unchanged is True


def test_unchanged_is_never_guessed(tmp_path: Path) -> None:
    assert all(s.unchanged is None for s in opened(full_run(tmp_path)).run.states)


def test_a_state_folder_that_run_json_does_not_list_is_a_problem(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_text("stages/2.reset/workspace/a.py", "")
    assert "holds S2.reset" in what_is_wrong(opened(run).run)[0]


def make_bundle(tmp_path: Path, *refs: str) -> bytes:
    git_dir = tmp_path / "repository"
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]

    def git(*words: str) -> str:
        command = ["git", "--git-dir", str(git_dir), *identity, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "--quiet", "--bare")
    tree = git("hash-object", "-t", "tree", "-w", os.devnull)
    commit = git("commit-tree", tree, "-m", "state")
    for ref in refs:
        git("update-ref", f"refs/arcview/{ref}", commit)
    git("bundle", "create", "--quiet", str(tmp_path / "made.bundle"), "--all")
    return (tmp_path / "made.bundle").read_bytes()


def test_states_are_found_in_a_bundle(tmp_path: Path) -> None:
    run = minimal_run(tmp_path / "run")
    run.write_bytes("workspace.bundle", make_bundle(tmp_path, "S0", "S1", "S1.refactor"))
    states = opened(run).run.states
    assert [(s.id, s.kind.value) for s in states] == [
        ("S0", "start"),
        ("S1", "stage_end"),
        ("S1.refactor", "between"),
    ]
    assert "ref='refs/arcview/S1'" in repr(states[1].source)


def test_a_damaged_bundle_is_a_problem_and_the_rest_opens(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_bytes("workspace.bundle", b"not a bundle\n")
    assert what_is_wrong(opened(run).run) == [
        "workspace.bundle: expected a git bundle (version 2 or 3)"
    ]


def test_reference_states_come_from_the_bundle_of_the_chain(tmp_path: Path) -> None:
    run = full_run(tmp_path / "run")
    run.write_bytes("chain/reference.bundle", make_bundle(tmp_path, "R0", "R1", "R2"))
    states = [s for s in opened(run).run.states if s.kind is StateKind.REFERENCE]
    assert [s.id for s in states] == ["R0", "R1", "R2"]


def test_reference_patches_stand_on_the_start_state(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_text("chain/reference/1.patch", "")
    run.write_text("chain/reference/2.patch", "")
    states = {s.id: s.source for s in opened(run).run.states}
    assert states["R0"] == states["S0"]
    assert isinstance(states["R2"], PatchSource)
    assert states["R2"].base == "R1"


# Partial runs


def test_run_json_with_one_stage_is_enough(tmp_path: Path) -> None:
    read = opened(minimal_run(tmp_path)).run
    assert [s.index for s in read.stages] == [1]
    assert (read.agent, read.states, read.stages[0].status) == (None, (), Status.UNKNOWN)


def test_a_run_without_an_id_gets_the_same_one_everywhere(tmp_path: Path) -> None:
    first = opened(minimal_run(tmp_path / "here")).run.run_id
    assert opened(minimal_run(tmp_path / "there")).run.run_id == first


def test_a_run_interrupted_after_stage_2_shows_the_declared_stages_as_not_started(
    tmp_path: Path,
) -> None:
    run = full_run(tmp_path)
    run.chain["stages"] += [{"index": 3, "title": "find"}, {"index": 4}]
    run.run["status"] = "interrupted"
    read = opened(run).run
    assert [s.status.value for s in read.stages[2:]] == ["not_started", "not_started"]
    assert read.stages[2].title == "find"
    assert judge(stage_gate(read, 3)).reason == "the stage was not started"


def test_a_stage_without_a_gate_is_unmeasured_and_says_why(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["stages"].append(stage(3))
    judgement = judge(stage_gate(opened(run).run, 3))
    assert judgement.verdict is Verdict.UNMEASURED
    assert judgement.reason == "no gate result is recorded (stages/3/gate is not there)"


def test_an_infrastructure_failure_is_unmeasured_with_its_reason(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    reason = "infrastructure failure: exit 126"
    run.write_result("stages/2/gate", "2", "S2", verdict="unmeasured", reason=reason)
    run.write_tests("stages/2/gate", [])
    read = opened(run)
    judgement = judge(stage_gate(read.run, 2))
    assert (judgement.verdict, judgement.reason) == (Verdict.UNMEASURED, reason)
    assert read.gate_tests("2", "S2") == ()


def test_an_unmeasured_gate_stays_unmeasured_beside_failing_tests(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_gate(2, {"t::c": "failed"})
    run.write_result("stages/2/gate", "2", "S2", verdict="unmeasured", reason="out of disk")
    assert judge(stage_gate(opened(run).run, 2)).verdict is Verdict.UNMEASURED


def test_which_tests_an_unmeasured_gate_contains_is_known(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write()
    for file in (tmp_path / "stages/2/gate").iterdir():
        file.unlink()
    read = NativeReader().read(tmp_path)
    assert [(t.id, t.outcome) for t in read.gate_outcomes("2", "S2")] == [
        ("t::c", Outcome.MISSING),
        ("t::a", Outcome.MISSING),
        ("t::b", Outcome.MISSING),
    ]
    assert stage_gate(read.run, 2).f2p is None


def test_a_stage_without_a_trajectory_has_none(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write()
    (tmp_path / "stages/1/trajectory.json").unlink()
    assert NativeReader().read(tmp_path).run.stages[0].trajectories == ()


def test_a_run_without_its_chain_still_opens(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.chain = {}
    read = opened(run).run
    assert read.chain.task_id == "notes"
    assert stage_gate(read, 1).f2p == GroupCounts(expected=2, passed=2)


def test_a_stage_folder_that_run_json_does_not_list_is_shown(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_trajectory("stages/3/trajectory.json")
    read = opened(run).run
    assert [s.index for s in read.stages] == [1, 2, 3]
    assert read.stages[2].status is Status.UNKNOWN
    assert what_is_wrong(read)[0].startswith("stages/3: is there, but run.json")


def test_a_status_that_is_no_word_of_the_format_is_unknown_and_shown(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["stages"][0]["status"] = "gave up"
    read = opened(run).run
    assert (read.stages[0].status, read.stages[0].status_detail) == (Status.UNKNOWN, "gave up")


# What cannot be opened


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "run.json: expected JSON, the file is empty"),
        (
            '{"schema": "arcview/run/1", "stages": [',
            "run.json: line 1: expected JSON: Expecting value",
        ),
        ("[1, 2]", "run.json: expected a mapping, found a list"),
        (
            '{"schema": "arcview/run/7", "stages": [{"index": 1}]}',
            'run.json: schema: expected "arcview/run/1", found "arcview/run/7"',
        ),
        (
            '{"stages": [{"index": 1}]}',
            'run.json: schema: expected "arcview/run/1", it is missing',
        ),
        (
            '{"schema": "arcview/run/1", "stages": []}',
            "run.json: stages: expected at least one stage",
        ),
    ],
)
def test_a_run_json_that_cannot_be_used_gives_one_line_with_its_place(
    tmp_path: Path, text: str, line: str
) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(BadInputError) as caught:
        NativeReader().read(tmp_path)
    assert str(caught.value).removeprefix(f"{tmp_path}/") == line


def test_another_version_and_a_cut_file_are_still_recognised(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"schema": "arcview/run/7", "sta')
    assert NativeReader().detect(tmp_path) is not None


def test_a_run_json_of_something_else_is_not_recognised(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"run": "arcview/run/1"}')
    assert NativeReader().detect(tmp_path) is None


def test_a_wrong_type_is_one_problem_and_hides_nothing_else(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["agent"] = "opus"
    run.run["stages"][1]["usage"] = {"cost_usd": "free", "input_tokens": 5}
    read = opened(run).run
    assert {problem.where for problem in read.problems} == {
        "run.json: agent",
        "run.json: stages[1].usage.cost_usd",
    }
    assert read.stages[1].usage is not None
    assert read.stages[1].usage.input_tokens == 5


# The tests of a gate


def test_single_tests_come_in_the_order_of_the_gates_lists(tmp_path: Path) -> None:
    read = opened(full_run(tmp_path))
    assert [(t.group, t.id) for t in read.gate_tests("2", "S2")] == [
        (Group.F2P, "t::c"),
        (Group.P2P, "t::a"),
        (Group.P2P, "t::b"),
    ]


def test_messages_are_kept_whole_and_left_out_of_the_outcomes(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    long = "x" * 100_000 + "\u2028\x1b[31m"
    run.write_gate(1, {"t::a": "failed"})
    lines = [
        result_line("t::a", "f2p", "failed", message=long, stdout="[bold]"),
        result_line("t::b", "f2p", "passed"),
    ]
    run.write_tests("stages/1/gate", lines)
    read = opened(run)
    assert read.gate_tests("1", "S1")[0].message == long
    assert read.gate_outcomes("1", "S1")[0].message is None


def test_an_expected_test_that_is_not_reported_is_missing(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_tests("stages/1/gate", [result_line("t::a", "f2p", "passed")])
    read = opened(run)
    assert stage_gate(read.run, 1).f2p == GroupCounts(expected=2, passed=1, missing=1)
    assert judge(stage_gate(read.run, 1)).verdict is Verdict.FAILED


def test_a_reported_test_that_is_not_expected_is_extra(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    lines = [result_line(i, "f2p", "passed") for i in ("t::a", "t::b")]
    lines.append(result_line("t::z", "f2p", "failed"))
    run.write_tests("stages/1/gate", lines)
    read = opened(run)
    assert stage_gate(read.run, 1).f2p == GroupCounts(expected=2, passed=2, extra=1)
    assert read.gate_tests("1", "S1")[-1].extra


def test_of_a_test_reported_twice_the_worse_outcome_counts(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    lines = [result_line("t::a", "f2p", o) for o in ("passed", "failed", "passed")]
    run.write_tests("stages/1/gate", [*lines, result_line("t::b", "f2p", "passed")])
    test = opened(run).gate_tests("1", "S1")[0]
    assert (test.outcome, test.copies) == (Outcome.FAILED, 3)


def test_the_chain_decides_in_which_group_a_test_is(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    lines = [result_line("t::a", "p2p", "passed"), result_line("t::b", None, "passed")]
    run.write_tests("stages/1/gate", lines)
    read = opened(run)
    assert {t.group for t in read.gate_tests("1", "S1")} == {Group.F2P}
    assert what_is_wrong(read.run) == [
        "stages/1/gate/tests.jsonl: line 1: group: says p2p, chain.json says f2p"
    ]


def test_without_lists_the_groups_are_those_of_the_lines(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.chain["gates"] = []
    read = opened(run)
    assert [t.group for t in read.gate_tests("2", "S2")] == [Group.F2P, Group.P2P, Group.P2P]
    assert stage_gate(read.run, 2).p2p == GroupCounts(expected=2, passed=2)


def test_torn_and_foreign_lines_are_reported_and_the_good_ones_kept(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    good = '{"id": "t::a", "group": "f2p", "outcome": "passed"}'
    text = f"\ufeff{good}\nwarning: disk\n\n[1]\n\0\0\0\n" + '{"id": "t::b", "group": "f2p", "outc'
    run.write_text("stages/1/gate/tests.jsonl", text)
    read = opened(run)
    assert [w.removeprefix("stages/1/gate/tests.jsonl: ") for w in what_is_wrong(read.run)] == [
        "line 2: expected a JSON object, not JSON (cut short?); left out",
        "line 4: expected a JSON object, found a list of 1; left out",
        "line 5: 3 NUL bytes and nothing else",
        "line 6: expected a JSON object, not JSON (cut short?); left out",
    ]
    assert read.gate_tests("1", "S1")[0].outcome is Outcome.PASSED


def test_lost_lines_do_not_overrule_the_counts_of_the_result(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_text(
        "stages/1/gate/tests.jsonl", '{"id": "t::a", "group": "f2p", "outcome": "passed"}\n{'
    )
    assert stage_gate(opened(run).run, 1).f2p == GroupCounts(expected=2, passed=2)


def test_an_outcome_that_nobody_knows_is_neither_passed_nor_failed(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_gate(1, {"t::a": "flaky"})
    test = opened(run).gate_tests("1", "S1")[0]
    assert (test.outcome, test.reported) == (Outcome.MISSING, '"flaky"')


def test_bytes_that_are_not_utf_8_are_replaced_and_reported(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    line = b'{"id": "t::a", "group": "f2p", "outcome": "passed", "message": "\xff"}\n'
    run.write_bytes("stages/1/gate/tests.jsonl", line)
    read = opened(run)
    assert read.gate_tests("1", "S1")[0].message == "�"
    assert "not UTF-8" in what_is_wrong(read.run)[0]


# Summaries against tests


def test_counts_that_contradict_the_tests_are_a_problem_and_the_tests_count(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_gate(2, {"t::c": "failed"})
    counts = {"f2p": {"expected": 1, "passed": 1}, "p2p": {"expected": 2, "passed": 2}}
    run.write_result("stages/2/gate", "2", "S2", verdict="passed", **counts)
    read = opened(run).run
    assert what_is_wrong(read) == [
        "stages/2/gate/result.json: f2p: contradicts stages/2/gate/tests.jsonl, "
        "which counts: 1 failed (shown)"
    ]
    judgement = judge(stage_gate(read, 2))
    assert (judgement.verdict, judgement.recorded) == (Verdict.FAILED, Verdict.PASSED)
    assert judgement.conflict


def test_tests_that_no_list_names_may_be_missing_from_the_lines_too(tmp_path: Path) -> None:
    run = minimal_run(tmp_path)
    counts = {"other": {"expected": 3, "passed": 1, "missing": 2}}
    run.write_result("stages/1/gate", "1", None, **counts)
    run.write_tests("stages/1/gate", [result_line("t::a", "other", "passed")])
    read = opened(run).run
    assert what_is_wrong(read) == []
    assert stage_gate(read, 1).other == GroupCounts(expected=3, passed=1, missing=2)


def test_a_counted_group_of_which_no_test_is_named_is_a_problem(tmp_path: Path) -> None:
    run = minimal_run(tmp_path)
    run.write_result("stages/1/gate", "1", None, f2p={"expected": 2, "passed": 2})
    run.write_tests("stages/1/gate", [result_line("t::a", "p2p", "passed")])
    assert what_is_wrong(opened(run).run)[0] == (
        "stages/1/gate/result.json: f2p: contradicts stages/1/gate/tests.jsonl, "
        "which counts: none of its tests"
    )


def test_a_recorded_verdict_is_kept_beside_the_counts(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    counts = {"f2p": {"expected": 2, "passed": 2}, "p2p": {"expected": 0}}
    run.write_result(
        "stages/1/gate", "1", "S1", verdict="passed", recorded_verdict="failed", **counts
    )
    assert stage_gate(opened(run).run, 1).recorded_verdict is Verdict.FAILED


def test_ids_that_a_result_leaves_out_of_its_count_are_missing(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.chain["gates"][0]["f2p"] = ["t::a", "t::b", "t::d"]
    summary = NativeReader().summarise(run.write())
    assert stage_gate(summary, 1).f2p == GroupCounts(expected=3, passed=2, missing=1)


def test_outcomes_that_do_not_add_up_leave_the_rest_missing(tmp_path: Path) -> None:
    run = minimal_run(tmp_path)
    run.write_result("stages/1/gate", "1", None, other={"expected": 5, "passed": 3})
    gate = stage_gate(NativeReader().summarise(run.write()), 1)
    assert gate.other == GroupCounts(expected=5, passed=3, missing=2)


def test_without_a_result_the_tests_are_counted(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_gate(2, {"t::a": "failed"})
    run.write()
    (tmp_path / "stages/2/gate/result.json").unlink()
    gate = stage_gate(NativeReader().read(tmp_path).run, 2)
    assert gate.p2p == GroupCounts(expected=2, passed=1, failed=1)
    assert judge(gate).verdict is Verdict.FAILED
    assert gate.notes == ("counted from stages/2/gate/tests.jsonl",)


def test_without_a_result_unreported_tests_alone_do_not_fail_a_gate(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_tests("stages/1/gate", [result_line("t::a", "f2p", "passed")])
    run.write()
    (tmp_path / "stages/1/gate/result.json").unlink()
    judgement = judge(stage_gate(NativeReader().read(tmp_path).run, 1))
    assert judgement.verdict is Verdict.UNMEASURED
    assert judgement.reason == "1 of 2 expected tests are not reported; no result.json says why"


def test_an_empty_list_of_tests_without_a_result_is_unmeasured(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_tests("stages/1/gate", [])
    run.write()
    (tmp_path / "stages/1/gate/result.json").unlink()
    assert judge(stage_gate(NativeReader().read(tmp_path).run, 1)).verdict is Verdict.UNMEASURED


def test_a_damaged_result_is_reported_and_the_tests_are_counted(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_text("stages/1/gate/result.json", '{"schema": "arcview/gate-res')
    read = opened(run).run
    assert what_is_wrong(read)[0].startswith("stages/1/gate/result.json: line 1: expected JSON")
    assert stage_gate(read, 1).f2p == GroupCounts(expected=2, passed=2)


def test_a_summary_reads_no_single_test(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_text("stages/1/gate/tests.jsonl", "torn")
    assert what_is_wrong(NativeReader().summarise(run.write())) == []


def test_a_result_that_lies_in_the_wrong_place_is_a_problem(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_result("stages/1/gate", "2", "S2", f2p={"expected": 2, "passed": 2})
    assert what_is_wrong(opened(run).run)[:2] == [
        'stages/1/gate/result.json: gate: says "2", lies where gate 1 belongs',
        'stages/1/gate/result.json: state: says "S2", lies where state S1 belongs',
    ]


def test_a_rerun_that_came_with_the_folder_is_called_one(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    counts = {"f2p": {"expected": 2, "passed": 2}, "p2p": {"expected": 0}}
    run.write_result("stages/1/gate", "1", "S1", arcview_version="9.9", **counts)
    assert "a rerun by arcview 9.9" in stage_gate(opened(run).run, 1).notes[0]


# Reports in place of tests.jsonl


def pytest_report(run: NativeRun, outcomes: dict[str, str]) -> None:
    tests = [
        {"nodeid": i, "outcome": o, "setup": {"outcome": "passed"}} for i, o in outcomes.items()
    ]
    summary = {"total": len(tests), "collected": len(tests)}
    run.write_json(
        "stages/1/gate/report.json",
        {"created": 1.0, "duration": 1.0, "exitcode": 0, "summary": summary, "tests": tests},
    )
    run.write()
    (run.root / "stages/1/gate/result.json").unlink()
    (run.root / "stages/1/gate/tests.jsonl").unlink()


def test_without_tests_and_result_a_report_is_counted(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    pytest_report(run, {"t::a": "passed", "t::b": "failed"})
    gate = stage_gate(NativeReader().read(tmp_path).run, 1)
    assert gate.f2p == GroupCounts(expected=2, passed=1, failed=1)


def test_a_report_in_another_spelling_leaves_the_gate_unmeasured(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    pytest_report(run, {"other.py::x": "passed", "other.py::y": "passed"})
    read = NativeReader().read(tmp_path)
    judgement = judge(stage_gate(read.run, 1))
    assert judgement.reason == "not one id of the report is on the lists of chain.json"
    assert len(read.gate_tests("1", "S1")) == 2


def test_a_report_that_nobody_knows_is_a_problem(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_text("stages/1/gate/report.xyz", "hello")
    run.write()
    (tmp_path / "stages/1/gate/result.json").unlink()
    (tmp_path / "stages/1/gate/tests.jsonl").unlink()
    read = NativeReader().read(tmp_path).run
    assert what_is_wrong(read) == [
        "stages/1/gate/report.xyz: not a known test report; shown as text only"
    ]
    assert judge(stage_gate(read, 1)).verdict is Verdict.UNMEASURED


# Trust


@pytest.mark.parametrize("path", ["../outside.md", "/etc/hostname", "a/../../outside.md"])
def test_a_path_that_leaves_the_run_is_reported_and_not_followed(tmp_path: Path, path: str) -> None:
    run = full_run(tmp_path / "run")
    (tmp_path / "outside.md").write_text("secret")
    run.run["stages"][0]["trajectories"] = [{"path": path}]
    run.chain["stages"][0]["spec"] = path
    read = opened(run)
    assert len(what_is_wrong(read.run)) == 4
    assert read.run.stages[0].spec_path is None
    assert [ref.path for ref in read.run.stages[0].trajectories] == ["stages/1/trajectory.json"]


@pytest.mark.parametrize("path", ["../outside.md", "/etc/hostname", "chain/../../outside.md"])
def test_no_text_outside_of_the_run_is_read(tmp_path: Path, path: str) -> None:
    read = opened(full_run(tmp_path / "run"))
    (tmp_path / "outside.md").write_text("secret")
    with pytest.raises(BadInputError, match="leaves its folder"):
        read.text(path)


def test_links_that_leave_the_run_are_not_followed(tmp_path: Path) -> None:
    run = full_run(tmp_path / "run")
    run.write()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "result.json").write_text('{"schema": "arcview/gate-result/1"}')
    (outside / "workspace").mkdir()
    for link, target in (("stages/3", outside), ("stages/2/gate/log.txt", outside / "result.json")):
        (run.root / link).unlink(missing_ok=True)
        (run.root / link).symlink_to(target)
    read = NativeReader().read(run.root)
    assert [s.index for s in read.run.stages] == [1, 2]
    assert what_is_wrong(read.run)[0].startswith("stages/3: a link leads out of its folder")
    with pytest.raises(BadInputError, match="a link leads out"):
        read.text("stages/2/gate/log.txt")


def test_a_loop_of_links_is_not_followed(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write()
    (tmp_path / "stages/3").symlink_to(tmp_path / "stages/3")
    assert [s.index for s in NativeReader().read(tmp_path).run.stages] == [1, 2]


def test_a_chain_pointer_to_a_place_without_a_chain_is_not_looked_into(tmp_path: Path) -> None:
    run = full_run(tmp_path / "run")
    run.run["chain"] = "../../.."
    read = opened(run).run
    assert what_is_wrong(read) == ['run.json: chain: there is no chain.json at "../../.."']


def test_an_absolute_chain_pointer_is_refused(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.run["chain"] = str(tmp_path / "chain")
    assert "is not a path relative to the run" in what_is_wrong(opened(run).run)[0]


def test_folder_and_file_names_with_markup_open_as_they_are(tmp_path: Path) -> None:
    run = full_run(tmp_path / "[bold] run[" / "*")
    assert what_is_wrong(opened(run).run) == []


def snapshot(root: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path.relative_to(root)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            path.stat().st_mtime_ns,
        )
        for path in sorted(root.rglob("*"))
    }


def test_reading_changes_nothing_in_the_run(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write()
    before = snapshot(tmp_path)
    read = NativeReader().read(tmp_path)
    for gate in read.run.gates:
        read.gate_tests(gate.gate, gate.state)
    for each in read.run.stages:
        read.trajectory(each.trajectories)
    assert snapshot(tmp_path) == before


def test_everything_that_was_read_is_among_the_inputs(tmp_path: Path) -> None:
    read = opened(full_run(tmp_path))
    inputs = {str(path.relative_to(tmp_path)) for path in read.inputs()}
    assert inputs >= {
        "run.json",
        "chain/chain.json",
        "stages",
        "stages/1/gate",
        "stages/1/gate/result.json",
        "stages/1/gate/tests.jsonl",
        "stages/1/trajectory.json",
    }


def test_states_lie_at_absolute_paths_even_for_a_relative_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_run(tmp_path / "run").write()
    monkeypatch.chdir(tmp_path)
    source = NativeReader().summarise(Path("run")).states[0].source
    assert isinstance(source, FolderSource)
    assert Path(source.path).is_absolute()


def test_reading_a_run_loads_no_pydantic(tmp_path: Path) -> None:
    root = full_run(tmp_path).write()
    code = (
        "import sys; from pathlib import Path; from arcview.readers.registry import open_run; "
        "open_run(Path(sys.argv[1])); sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(root)], check=False).returncode == 0


# Trajectories of one stage


def test_trajectories_of_one_format_are_joined_and_numbered_through(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    run.write_trajectory("stages/1/trajectory-2.json")
    read = opened(run)
    found = read.trajectory(read.run.stages[0].trajectories)
    assert [step.number for step in found.steps] == [None, 1, None, 2]
    assert found.format == "atif"


def test_trajectories_of_two_formats_stand_one_after_the_other(tmp_path: Path, cases: Path) -> None:
    run = full_run(tmp_path)
    stream = cases / "formats/claude-code-stream-json/thinking-code_search.stdout.jsonl"
    run.write_bytes("stages/1/trajectory.jsonl", stream.read_bytes())
    read = opened(run)
    found = read.trajectory(read.run.stages[0].trajectories)
    numbers = [step.number for step in found.steps if step.number is not None]
    assert found.format == "atif+claude_code"
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 1


def test_the_runs_word_on_a_session_counts_more_than_its_format(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    entry = {"path": "stages/1/trajectory.json", "role": "retry", "session": "s-1"}
    run.run["stages"][0]["trajectories"] = [entry]
    read = opened(run)
    found = read.trajectory(read.run.stages[0].trajectories)
    assert [session.role for session in found.sessions] == [SessionRole.RETRY]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "the file is empty; its steps are not shown"),
        (b'"a string"', "not a known trajectory format; its steps are not shown"),
    ],
)
def test_a_file_that_is_no_trajectory_is_a_problem_of_the_stage_alone(
    tmp_path: Path, content: bytes, what: str
) -> None:
    run = full_run(tmp_path)
    run.write_bytes("stages/1/trajectory.json", content)
    read = opened(run)
    found = read.trajectory(read.run.stages[0].trajectories)
    assert [(p.where, p.what) for p in found.problems] == [("stages/1/trajectory.json", what)]
    assert read.trajectory(read.run.stages[1].trajectories).step_count == 1


def test_a_format_that_no_reader_knows_is_a_problem(tmp_path: Path) -> None:
    run = full_run(tmp_path)
    entry = {"path": "stages/1/trajectory.json", "format": "morse"}
    run.run["stages"][0]["trajectories"] = [entry]
    read = opened(run)
    (problem,) = read.trajectory(read.run.stages[0].trajectories).problems
    assert problem.what.startswith("morse: no such reader")
