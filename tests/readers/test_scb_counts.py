"""Every count that the reader gives equals the files, counted again here straight from JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arcview.model.results import GateTest, Group, GroupCounts, Outcome
from arcview.model.trajectory import Trajectory
from arcview.readers.registry import OpenedRun, find_run_reader, open_run

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
Scb = Callable[[str], Path]


@pytest.fixture(params=RUNS)
def opened(request: pytest.FixtureRequest, scb: Scb) -> tuple[Path, OpenedRun]:
    path = scb(request.param)
    return path, open_run(path)


def load(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def evaluations(path: Path) -> dict[tuple[str, str], Path]:
    """Folders with an evaluation, by gate and kind of state."""
    found = {}
    for folder in path.glob("checkpoint_*"):
        number = folder.name.removeprefix("checkpoint_")
        for kind, place in (("end", folder), ("between", folder / "after_skill")):
            if (place / "evaluation.json").exists():
                found[number, kind] = place
    return found


def state_of(gate: str, kind: str) -> str:
    return f"S{gate}" if kind == "end" else f"S{gate}.refactor"


def listed(evaluation: Any, *, regression: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    for key, lists in evaluation["tests"].items():
        if key.endswith("-Regression") == regression:
            counts.update({word: len(names) for word, names in lists.items()})
    return counts


def as_counter(counts: GroupCounts | None) -> Counter[str]:
    assert counts is not None
    words = {"passed": counts.passed, "failed": counts.failed, "skipped": counts.skipped}
    others = counts.error + counts.xfailed + counts.xpassed + counts.timeout + counts.missing
    assert others == counts.not_run == counts.extra == 0
    assert counts.expected == sum(words.values())
    return +Counter(words)


def test_every_evaluation_is_a_gate_and_every_gate_an_evaluation(
    opened: tuple[Path, OpenedRun],
) -> None:
    path, run = opened
    files = {(gate, state_of(gate, kind)) for gate, kind in evaluations(path)}
    measured_or_not = {
        (g.gate, g.state) for g in run.run.gates if "no eval" not in str(g.unmeasured)
    }
    assert measured_or_not == files


def test_counts_of_both_groups_equal_evaluation_json(opened: tuple[Path, OpenedRun]) -> None:
    path, run = opened
    for (gate, kind), folder in evaluations(path).items():
        evaluation = load(folder / "evaluation.json")
        record = run.run.gate(gate, state_of(gate, kind))
        assert record is not None
        if evaluation["infrastructure_failure"]:
            assert (record.f2p, record.p2p) == (None, None)
            assert "infrastructure failure" in str(record.unmeasured)
            continue
        assert as_counter(record.f2p) == +listed(evaluation, regression=False)
        assert as_counter(record.p2p) == +listed(evaluation, regression=True)
        assert record.unmeasured is None
        assert record.exit_codes == (evaluation["pytest_exit_code"],)


def test_outcomes_name_every_listed_test_once(opened: tuple[Path, OpenedRun]) -> None:
    path, run = opened
    for (gate, kind), folder in evaluations(path).items():
        expected = Counter(
            (key.rsplit("-", 1)[0] + "::" + name, word)
            for key, lists in load(folder / "evaluation.json")["tests"].items()
            for word, names in lists.items()
            for name in names
        )
        outcomes = run.gate_outcomes(gate, state_of(gate, kind))
        assert Counter((test.id, test.outcome.value) for test in outcomes) == expected


def test_each_failing_test_has_the_message_and_traceback_of_the_report(
    opened: tuple[Path, OpenedRun],
) -> None:
    path, run = opened
    for (gate, kind), folder in evaluations(path).items():
        if not (folder / "evaluation" / "report.json").exists():
            continue
        crashes: dict[str, tuple[str, str]] = {}
        for entry in load(folder / "evaluation" / "report.json")["tests"]:
            file, _, name = entry["nodeid"].partition("::")
            checkpoint = file.rsplit("/", 1)[-1].removeprefix("test_").removesuffix(".py")
            if entry["outcome"] == "failed":
                call = entry["call"]
                crashes[f"{checkpoint}::{name}"] = call["crash"]["message"], call["longrepr"]
        tests = run.gate_tests(gate, state_of(gate, kind))
        failing = {t.id: (t.message, t.traceback) for t in tests if t.outcome is Outcome.FAILED}
        assert failing == crashes
        assert all(test.duration_s is not None for test in tests)


def test_no_real_run_has_tests_that_only_one_of_the_two_files_knows(
    opened: tuple[Path, OpenedRun],
) -> None:
    _, run = opened
    for gate in run.run.gates:
        tests = run.gate_tests(gate.gate, gate.state)
        assert not [test.id for test in tests if test.extra or test.copies > 1 or test.reported]
    assert [problem.where for problem in run.problems() if "report.json" in problem.where] == []


def test_the_summary_agrees_with_the_opened_run(opened: tuple[Path, OpenedRun]) -> None:
    path, run = opened
    reader, _ = find_run_reader(path)
    summary = reader.summarise(path)
    assert summary.gates == run.run.gates
    assert [(s.status, s.usage, s.base, s.end) for s in summary.stages] == [
        (s.status, s.usage, s.base, s.end) for s in run.run.stages
    ]
    assert summary.run_id == run.run.run_id


def test_cost_and_tokens_equal_inference_result_or_are_unknown(
    opened: tuple[Path, OpenedRun],
) -> None:
    path, run = opened
    for stage in run.run.stages:
        file = path / f"checkpoint_{stage.index}" / "inference_result.json"
        if not file.exists():
            assert stage.usage is None
            continue
        recorded = load(file)
        tokens = recorded["usage"]["net_tokens"]
        assert stage.duration_s == recorded["elapsed"]
        assert stage.reported_steps == (recorded["usage"]["steps"] or None)
        if recorded["had_error"]:
            assert stage.usage is None
            continue
        assert stage.usage is not None
        # The client's input is what was not read from the cache.
        assert stage.usage.input_tokens == tokens["input"] + tokens["cache_read"]
        assert stage.usage.cached_tokens == tokens["cache_read"]
        assert stage.usage.output_tokens == tokens["output"]
        assert stage.usage.cost_usd == recorded["usage"]["cost"]
        assert stage.usage.reasoning_tokens is None


def message_ids(files: list[Path]) -> set[str]:
    ids = set()
    for file in files:
        for line in file.read_text("utf-8").splitlines():
            record = json.loads(line)
            if record["type"] == "assistant":
                ids.add(record["message"]["id"])
    return ids


def own_files(folder: Path) -> list[Path]:
    """Files of the stage itself: its stream, its session, and the sub-agents that it started."""
    stream = folder / "agent" / "stdout.jsonl"
    session = json.loads(stream.read_text("utf-8").splitlines()[0])["session_id"]
    files = [stream]
    main = next((folder / "agent").rglob(f"{session}.jsonl"))
    started = main.read_text("utf-8")
    for file in (folder / "agent").rglob("*.jsonl"):
        if file == main:
            files.append(file)
        if file.name.startswith("agent-"):
            agent = file.stem.removeprefix("agent-")
            if f'"agentId":"{agent}"' in started.replace(": ", ":"):
                files.append(file)
    return files


def test_steps_are_the_distinct_message_ids_of_stream_session_and_subagents(
    opened: tuple[Path, OpenedRun],
) -> None:
    path, run = opened
    for stage in run.run.stages:
        folder = path / f"checkpoint_{stage.index}"
        if not (folder / "agent").is_dir():
            continue
        trajectory = run.trajectory(stage.trajectories)
        ids = message_ids(own_files(folder))
        assert trajectory.step_count == len(ids), stage.index
        assert trajectory.problems == ()
        assert trajectory.unknown_records == ()


def subagents_started(trajectory: Trajectory) -> int:
    return sum(1 for s in trajectory.sessions if s.note and s.note.startswith("started by"))


def test_the_harness_counts_all_steps_but_the_last_message_of_each_subagent(
    opened: tuple[Path, OpenedRun],
) -> None:
    _, run = opened
    for stage in run.run.stages:
        if stage.reported_steps is None:
            continue
        trajectory = run.trajectory(stage.trajectories)
        lost = subagents_started(trajectory)
        assert trajectory.step_count - lost == stage.reported_steps, stage.index


def test_every_tool_call_of_the_files_is_there_once(opened: tuple[Path, OpenedRun]) -> None:
    path, run = opened
    for stage in run.run.stages:
        folder = path / f"checkpoint_{stage.index}"
        if not (folder / "agent").is_dir():
            continue
        ids: set[str] = set()
        for file in own_files(folder):
            for line in file.read_text("utf-8").splitlines():
                content = json.loads(line).get("message", {}).get("content")
                blocks = content if isinstance(content, list) else []
                ids.update(b["id"] for b in blocks if b["type"] == "tool_use")
        calls = [c for step in run.trajectory(stage.trajectories).steps for c in step.calls]
        assert Counter(call.key for call in calls) == Counter(ids), stage.index


def test_opening_changes_nothing_in_the_run(opened: tuple[Path, OpenedRun]) -> None:
    path, _ = opened

    def listing() -> list[tuple[str, int, int]]:
        found = [(p, p.stat()) for p in sorted(path.rglob("*"))]
        return [(str(p), stat.st_size, stat.st_mtime_ns) for p, stat in found]

    before = listing()
    run = open_run(path)
    for gate in run.run.gates:
        run.gate_tests(gate.gate, gate.state)
    for stage in run.run.stages:
        run.trajectory(stage.trajectories)
        for between in stage.passes:
            run.trajectory(between.trajectories)
    run.inputs()
    assert listing() == before


def test_groups_of_other_kinds_do_not_occur(opened: tuple[Path, OpenedRun]) -> None:
    _, run = opened
    tests: list[GateTest] = []
    for gate in run.run.gates:
        tests += run.gate_outcomes(gate.gate, gate.state)
    assert {test.group for test in tests} <= {Group.F2P, Group.P2P}


def test_inputs_leave_the_workspaces_out(opened: tuple[Path, OpenedRun]) -> None:
    path, run = opened
    inputs = {file.relative_to(path).as_posix() for file in run.inputs()}
    assert "problem.yaml" in inputs
    assert "checkpoint_1/agent/stdout.jsonl" in inputs
    assert not [name for name in inputs if "/snapshot" in name]
