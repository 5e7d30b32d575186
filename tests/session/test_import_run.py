"""A run of any layout as a run folder of ours: the twin of both agrees, nothing is overwritten."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arcview.errors import ArcviewError
from arcview.readers.check import check
from arcview.readers.protocols import Given
from arcview.readers.registry import iter_runs, open_run
from arcview.session import import_run, twin
from arcview.session.import_run import write_run
from arcview.session.opened import OpenRun
from tests.readers import layout_summary
from tests.readers.git_run import commit
from tests.readers.harbor_trial import session, step, write_trial
from tests.readers.scb_run import evaluation, session_file, stream, write
from tests.readers.scb_run import write_run as write_scb
from tests.readers.test_evo_claw import write_trial as write_evo_claw
from tests.readers.test_feature_bench import SECRET, graded, write_attempt
from tests.readers.test_lone_file import PATCH, turns
from tests.session.test_twin_real_runs import RUNS
from tests.states.workspaces import git

OWN = frozenset({"layout", "path", "problems"})
"""What a folder says of itself; the problems are compared by what they say."""

SESSIONS = (
    "atif/openagents-login-trace.trajectory.json",
    "claude-code-session/compaction-long/951e45e1-28c2-4bf5-89eb-ca93576c88f5.jsonl",
    "claude-code-session/derived/truncated-last-line.jsonl",
    "claude-code-session/nested-subagent/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f.jsonl",
    "codex-exec-json/generated-0.171/exec-stage2.jsonl",
    "codex-rollout/codex_052_raw.jsonl",
    "gemini-cli/generated-0.61/session-2026-11-29T18-35-52e8e099.jsonl",
    "inspect-eval/generated/zstd-killed-no-header.eval",
    "mini-swe-agent/generated/v2-toolcall.traj.json",
    "openhands-v0/multi_swe_bench.output.jsonl",
    "swe-agent/v1.0-messages.traj",
)
"""Of each format one that has something of its own."""

Json = dict[str, Any]


def shown(run: OpenRun) -> Json:
    found: Json = json.loads(twin.dumps(twin.show(run)))
    return found


def differences(path: Path, out: Path, given: Given | None = None) -> tuple[list[str], Json]:
    """Imports a run; what its twin and that of the new folder say differently."""
    run = OpenRun.open(path, given=given)
    before = shown(run)
    write_run(run, out)
    after = shown(OpenRun.open(out))
    return list(_differences(before, after)), after


def _differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after} - (OWN if not place else frozenset())):
            yield from _differences(before.get(key), after.get(key), f"{place}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences(one, other, f"{place}[{number}]")
    elif before != after:
        yield f"{place}: {before!r} became {after!r}"


def faults(out: Path) -> list[str]:
    return [f"{fault.where}: {fault.what}" for fault in check(out).faults]


# -- recorded runs


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_run_is_the_same_after_the_import(
    scb: Callable[[str], Path], name: str, tmp_path: Path
) -> None:
    found, _ = differences(scb(name), tmp_path / "out")
    assert found == []
    assert faults(tmp_path / "out") == []


@pytest.mark.parametrize("path", layout_summary.expected())
def test_a_run_of_every_layout_is_the_same_after_the_import(
    cases: Path, path: str, tmp_path: Path
) -> None:
    found, _ = differences(cases / "formats" / path, tmp_path / "out")
    assert found == []
    assert faults(tmp_path / "out") == []


@pytest.mark.parametrize("path", SESSIONS)
def test_a_single_session_is_the_same_after_the_import(
    cases: Path, path: str, tmp_path: Path
) -> None:
    found, _ = differences(cases / "formats" / path, tmp_path / "out")
    assert found == []
    assert faults(tmp_path / "out") == []


def test_patches_and_logs_are_the_same_after_the_import(cases: Path, tmp_path: Path) -> None:
    differ = []
    for folder in ("diff", "log"):
        for file in sorted((cases / "hostile" / folder).iterdir()):
            found, _ = differences(file, tmp_path / file.name)
            differ += [f"{file.name}: {each}" for each in [*found, *faults(tmp_path / file.name)]]
    assert differ == []


def test_a_run_of_ours_is_the_same_after_the_import(demo_run: Path, tmp_path: Path) -> None:
    found, after = differences(demo_run, tmp_path / "out")
    assert found == []
    assert after["run_id"] == shown(OpenRun.open(demo_run))["run_id"]
    assert faults(tmp_path / "out") == []


def test_the_workspace_after_each_step_is_kept(demo_run: Path, tmp_path: Path) -> None:
    runs = [OpenRun.open(demo_run)]
    write_run(runs[0], tmp_path / "out")
    runs.append(OpenRun.open(tmp_path / "out"))
    for run in runs:
        run.ensure_states()
    before, after = (
        [(s.id, s.key, s.tree) for state in run.run.states for s in run.store.step_states(state.id)]
        for run in runs
    )
    assert before
    assert before == after


# -- runs that no recorded one is like


def repository(root: Path) -> Path:
    folder = root / "chain"
    folder.mkdir()
    git(folder, "init", "-q")
    for minute in range(3):
        commit(folder, f"part {minute}", minute, **{"x.py": f"{minute}\n"})
    return folder


def retried(root: Path) -> Path:
    trial = write_evo_claw(root, ["M1", "M2"], {"M1-retry1": {"error": "no docker"}})
    at = "2026-01-01T10:00:00Z"
    write(trial / "log" / "session_history.jsonl", session_file("go", "one", session="s", at=at))
    return trial


def resumed(root: Path) -> Path:
    entries = [step("one"), step("two")]
    times = {"started_at": "2026-01-01T10:01:00Z", "finished_at": "2026-01-01T10:02:00Z"}
    entries[1]["agent_execution"] = times
    trial = write_trial(root, entries)
    config = json.loads((trial / "result.json").read_text()) | {
        "config": {"trial_name": "x", "agent": {"resume_trajectory": True}}
    }
    write(trial / "result.json", config)
    write(trial / "steps" / "two" / "agent" / "trajectory.json", session("step 1", "step 2"))
    return trial


def damaged(root: Path) -> Path:
    run = write_scb(root / "demo", stages=2, declared=3)
    (run / "checkpoint_2" / "agent" / "stdout.jsonl").write_text(stream("one") + '{"type": "as')
    (run / "checkpoint_2" / "diff.json").write_text("{")
    (run / "run_info.yaml").unlink()
    return run


def lost(root: Path) -> Path:
    run = write_scb(root / "demo", stages=1)
    results = evaluation({}, pytest_exit_code=126, infrastructure_failure=True)
    write(run / "checkpoint_1" / "evaluation.json", results)
    shutil.rmtree(run / "checkpoint_1" / "snapshot")
    return run


def misnamed(root: Path) -> Path:
    """A group of tests that is none of the checkpoint's beside those that are."""
    run = write_scb(root / "demo", stages=1)
    groups = {
        "checkpoint_1-Core": {"passed": ["test_a"], "failed": []},
        "checkpoint_7-Core": {"passed": ["test_b"], "failed": ["test_c"]},
    }
    write(run / "checkpoint_1" / "evaluation.json", evaluation(groups))
    shutil.rmtree(run / "checkpoint_1" / "evaluation")
    return run


def patches(root: Path) -> Path:
    write(root / "patches" / "1.patch", PATCH)
    write(root / "patches" / "2.patch", PATCH.replace("x.py", "y.py"))
    return root / "patches"


@pytest.mark.parametrize("make", [repository, retried, resumed, damaged, lost, misnamed, patches])
def test_a_written_run_is_the_same_after_the_import(
    make: Callable[[Path], Path], tmp_path: Path
) -> None:
    found, _ = differences(make(tmp_path), tmp_path / "out")
    assert found == []
    assert faults(tmp_path / "out") == []


def test_what_the_user_added_is_part_of_the_new_folder(tmp_path: Path) -> None:
    write(tmp_path / "base" / "x.py", "a\n")
    write(tmp_path / "base" / "y.py", "a\n")
    told = write(tmp_path / "session.jsonl", turns("one", "two"))
    given = Given(trajectory=told, base=str(tmp_path / "base"))
    found, after = differences(patches(tmp_path), tmp_path / "out", given)
    assert found == []
    assert [stage["change"]["files"] for stage in after["stages"]] == [1, 1]
    assert [stage["steps"] for stage in after["stages"]] == [1, 1]
    assert faults(tmp_path / "out") == []


def test_an_import_of_an_import_is_the_same(tmp_path: Path) -> None:
    write_run(OpenRun.open(damaged(tmp_path)), tmp_path / "one")
    found, _ = differences(tmp_path / "one", tmp_path / "two")
    assert found == []
    assert faults(tmp_path / "two") == []


# -- what the new folder is


def test_the_states_are_one_bundle_that_git_reads(tmp_path: Path) -> None:
    write_run(OpenRun.open(repository(tmp_path)), tmp_path / "out")
    listed = git(tmp_path, "bundle", "list-heads", str(tmp_path / "out" / "workspace.bundle"))
    names = [line.split()[1] for line in listed.decode().splitlines()]
    assert names == ["refs/arcview/S0", "refs/arcview/S1", "refs/arcview/S2"]
    clone = tmp_path / "clone"
    clone.mkdir()
    git(clone, "init", "-q")
    git(clone, "fetch", "-q", str(tmp_path / "out" / "workspace.bundle"), "refs/arcview/S2")
    assert git(clone, "show", "FETCH_HEAD:x.py") == b"2\n"


def test_where_it_came_from_is_kept(tmp_path: Path) -> None:
    write_run(OpenRun.open(damaged(tmp_path)), tmp_path / "out")
    origin = json.loads((tmp_path / "out" / "run.json").read_text())["origin"]
    assert origin["layout"] == "slop_code_bench"
    assert "run_info.yaml" in {problem["where"] for problem in origin["problems"]}


def test_what_was_wrong_before_is_still_shown(tmp_path: Path) -> None:
    run = OpenRun.open(damaged(tmp_path))
    write_run(run, tmp_path / "out")
    said = {problem["what"] for problem in shown(OpenRun.open(tmp_path / "out"))["problems"]}
    assert {problem.what for problem in run.run.problems} <= said


def test_a_fault_of_the_new_folder_is_a_fault(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_run(OpenRun.open(write_scb(tmp_path / "demo")), out)
    (out / "stages" / "1" / "trajectory" / "stdout.jsonl").unlink()
    assert any("there is no file" in fault for fault in faults(out))


def test_secrets_in_logs_are_not_carried_over(tmp_path: Path) -> None:
    write_run(OpenRun.open(write_attempt(tmp_path / "run", graded())), tmp_path / "out")
    logs = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert any(file.name == "run_instance.log" for file in logs)
    assert [file for file in logs if SECRET.encode() in file.read_bytes()] == []


def test_what_was_not_measured_stays_so(tmp_path: Path) -> None:
    write_run(OpenRun.open(lost(tmp_path)), tmp_path / "out")
    gate = open_run(tmp_path / "out").run.gates[0]
    result = json.loads((tmp_path / "out" / "stages" / "1" / "gate" / "result.json").read_text())
    assert gate.unmeasured is not None
    assert (result["verdict"], result.get("f2p")) == ("unmeasured", None)


def test_a_listing_knows_it_as_one_run(tmp_path: Path) -> None:
    write_run(OpenRun.open(resumed(tmp_path / "job")), tmp_path / "runs" / "agent" / "task")
    assert list(iter_runs(tmp_path / "runs")) == [tmp_path / "runs" / "agent" / "task"]


def test_the_run_is_only_read(tmp_path: Path) -> None:
    path = damaged(tmp_path)
    before = {file: file.lstat().st_mtime_ns for file in path.rglob("*")}
    write_run(OpenRun.open(path), tmp_path / "out")
    assert {file: file.lstat().st_mtime_ns for file in path.rglob("*")} == before


# -- all or nothing


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_nothing_is_ever_overwritten(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "runs"
    out = place / "out"
    place.mkdir()
    if kind == "folder":
        out.mkdir()
    elif kind == "file":
        out.write_text("mine")
    else:
        out.symlink_to(tmp_path / "nowhere")
    run = OpenRun.open(write(tmp_path / "x.patch", PATCH))
    with pytest.raises(ArcviewError, match="is there already; an import never overwrites"):
        write_run(run, out)
    assert list(place.rglob("*")) == [out]


def test_a_run_is_not_written_into_itself(tmp_path: Path) -> None:
    path = write_scb(tmp_path / "demo")
    with pytest.raises(ArcviewError, match="inside the run that is imported"):
        write_run(OpenRun.open(path), path / "out")


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(import_run, "copy_logs", fail)
    path = write_scb(tmp_path / "demo")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ArcviewError, match="out: cannot be written: No space left on device"):
        write_run(OpenRun.open(path), tmp_path / "out")
    assert [entry for entry in sorted(tmp_path.iterdir()) if entry not in before] == [
        tmp_path / "cache"
    ]


def test_a_place_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    write(tmp_path / "file", "x")
    with pytest.raises(ArcviewError, match="cannot be written"):
        write_run(OpenRun.open(write_scb(tmp_path / "demo")), tmp_path / "file" / "out")


def test_missing_folders_above_are_made(tmp_path: Path) -> None:
    write_run(OpenRun.open(write_scb(tmp_path / "demo")), tmp_path / "a" / "b" / "c")
    assert (tmp_path / "a" / "b" / "c" / "run.json").is_file()


def test_a_place_that_somebody_takes_meanwhile_is_left_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"

    def take(*_: object) -> None:
        write(out / "mine", "x")

    monkeypatch.setattr(import_run, "copy_logs", take)
    with pytest.raises(ArcviewError, match="cannot be written"):
        write_run(OpenRun.open(write_scb(tmp_path / "demo")), out)
    assert [entry.name for entry in out.iterdir()] == ["mine"]


def test_what_the_format_has_no_place_for_is_said(tmp_path: Path) -> None:
    file = write(
        tmp_path / "t.traj.json",
        {
            "trajectory_format": "mini-swe-agent-1.1",
            "info": {},
            "messages": [
                {"role": "user", "content": "x", "extra": {"timestamp": 1.0}},
                {"role": "assistant", "content": "y", "extra": {"timestamp": 2.0}},
            ],
        },
    )
    written = write_run(OpenRun.open(file), tmp_path / "out")
    assert written.left_out == ()
    assert "run.json" in written.files


def test_git_is_needed_only_where_there_are_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("git was started")

    file = write(tmp_path / "x.jsonl", turns("go"))
    run = OpenRun.open(file)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    write_run(run, tmp_path / "out")
    assert (tmp_path / "out" / "run.json").is_file()
