"""Single files as runs: what is in them is shown, what they do not hold is said to be missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arcview.errors import ArcviewError, UnknownLayoutError
from arcview.model.run import Status
from arcview.model.states import PatchSource
from arcview.readers.protocols import Given
from arcview.readers.registry import find_run_reader, iter_runs, open_run
from arcview.session import twin
from arcview.session.opened import OpenRun
from tests.readers.scb_run import entry, report, session_file, write

PATCH = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
AT = "2026-01-01T10:00:00Z"


def turns(*told: str) -> str:
    """A Claude session in which the user spoke several times, each time answered once."""
    lines = []
    for number, text in enumerate(told):
        lines += session_file(text, f"answer {number}", session="s", at=AT).splitlines()
    records = [json.loads(line) for line in lines]
    for number, record in enumerate(records):
        record["uuid"] = f"u{number}"
        record["message"]["id"] = f"m{number}"
    return "".join(json.dumps(record) + "\n" for record in records)


def mini(**info: object) -> dict[str, Any]:
    messages = [
        {"role": "system", "content": "You are"},
        {"role": "user", "content": "Fix it"},
        {"role": "assistant", "content": "```bash\nls\n```"},
    ]
    return {"trajectory_format": "mini-swe-agent-1", "info": info, "messages": messages}


# -- sessions


def test_a_session_is_a_run_of_one_stage(tmp_path: Path) -> None:
    opened = open_run(write(tmp_path / "task-7.jsonl", turns("# Do it\nnow")))
    run = opened.run
    (stage,) = run.stages
    assert (run.layout, run.chain.task_id, run.agent) == ("lone_file", "task-7", "claude_code")
    assert (stage.title, opened.text(stage.spec_path or "")) == ("Do it", "# Do it\nnow")
    assert opened.trajectory(stage.trajectories).step_count == 1


def test_what_a_session_does_not_hold_is_missing_and_said(tmp_path: Path) -> None:
    run = open_run(write(tmp_path / "x.jsonl", turns("go"))).run
    assert run.states == ()
    assert [gate.unmeasured for gate in run.gates] == ["no gate result is recorded"]
    assert (run.stages[0].base, run.stages[0].end) == (None, None)


def test_later_user_turns_are_further_stages(tmp_path: Path) -> None:
    opened = open_run(write(tmp_path / "x.jsonl", turns("first", "second", "third")))
    stages = opened.run.stages
    assert [stage.title for stage in stages] == ["first", "second", "third"]
    texts = [[s.text for s in opened.trajectory(stage.trajectories).steps] for stage in stages]
    assert texts == [["first", "answer 0"], ["second", "answer 1"], ["third", "answer 2"]]


def test_all_turns_are_one_stage_when_asked_for(tmp_path: Path) -> None:
    opened = open_run(write(tmp_path / "x.jsonl", turns("a", "b")), layout="single_stage")
    (stage,) = opened.run.stages
    assert opened.trajectory(stage.trajectories).step_count == 2


def test_steps_are_numbered_from_one_in_every_stage(tmp_path: Path) -> None:
    opened = open_run(write(tmp_path / "x.jsonl", turns("a", "b")))
    numbers = [
        [step.number for step in opened.trajectory(s.trajectories).steps if step.number]
        for s in opened.run.stages
    ]
    assert numbers == [[1], [1]]


def test_the_sub_agents_of_a_session_come_along(tmp_path: Path) -> None:
    write(tmp_path / "s.jsonl", turns("go"))
    other = session_file("part", "done", session="s", at=AT).replace('"s-', '"agent-')
    lines = [
        json.loads(line) | {"isSidechain": True, "agentId": "a1"}
        for line in other.split("\n")
        if line
    ]
    write(tmp_path / "agent-a1.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    (ref,) = open_run(tmp_path / "s.jsonl").run.stages[0].trajectories
    assert ref.companions == ("agent-a1.jsonl",)


def test_a_sub_agent_of_another_session_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "s.jsonl", turns("go"))
    write(tmp_path / "agent-a1.jsonl", session_file("part", "x", session="another", at=AT))
    assert open_run(tmp_path / "s.jsonl").run.stages[0].trajectories[0].companions == ()


def test_a_patch_in_a_session_is_the_state_after_it(tmp_path: Path) -> None:
    file = write(tmp_path / "t.traj.json", mini(exit_status="Submitted", submission=PATCH))
    run = open_run(file).run
    assert run.status is Status.COMPLETED
    assert run.states[1].source == PatchSource("t.traj.json", "S0", PATCH)
    changes = OpenRun.open(file)
    shown = json.loads(twin.dumps(twin.show(changes)))
    assert shown["stages"][0]["change"]["files"] == 1


def test_a_word_that_nobody_knows_is_shown_beside_an_unknown_status(tmp_path: Path) -> None:
    run = open_run(write(tmp_path / "t.traj.json", mini(exit_status="GaveUpForLunch"))).run
    assert (run.status, run.status_detail) == (Status.UNKNOWN, "GaveUpForLunch")


def test_a_large_session_is_glanced_at_until_its_steps_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcview.readers.runs.lone_file.WHOLE_BYTES", 10)
    opened = open_run(write(tmp_path / "x.jsonl", turns("a", "b")))
    (stage,) = opened.run.stages
    assert opened.trajectory(stage.trajectories).step_count == 2


def test_a_stage_lasts_from_its_first_time_to_its_last_result(tmp_path: Path) -> None:
    def at(second: int, record: dict[str, Any]) -> dict[str, Any]:
        where = {"sessionId": "s", "uuid": f"u{second}"}
        return {**where, "timestamp": f"2026-01-01T10:00:{second:02}.000Z", **record}

    use = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "ok"}
    records = [
        at(2, {"type": "user", "message": {"role": "user", "content": "go"}}),
        at(1, {"type": "system", "subtype": "informational", "content": "late"}),
        at(3, {"type": "assistant", "message": {"id": "a", "content": [use]}}),
        at(9, {"type": "user", "message": {"role": "user", "content": [result]}}),
        at(40, {"type": "system", "subtype": "informational", "content": "resumed"}),
        at(41, {"type": "user", "message": {"role": "user", "content": "go on"}}),
        at(43, {"type": "assistant", "message": {"id": "b", "content": "done"}}),
    ]
    log = "".join(json.dumps(record) + "\n" for record in records)
    run = open_run(write(tmp_path / "x.jsonl", log)).run
    assert [stage.duration_s for stage in run.stages] == [8, 2]
    assert (run.started, run.ended) == ("2026-01-01T10:00:01.000Z", "2026-01-01T10:00:43.000Z")


def test_a_file_in_utf_16_says_so(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(turns("a"), encoding="utf-16")
    with pytest.raises(ArcviewError, match="UTF-16 text"):
        open_run(file)


def test_a_summary_of_a_large_session_knows_how_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcview.readers.runs.lone_file._SMALL_BYTES", 10)
    file = write(tmp_path / "t.traj.json", mini(exit_status="LimitsExceeded"))
    run = find_run_reader(file)[0].summarise(file)
    assert (run.agent, run.status) == ("mini-swe-agent", Status.INTERRUPTED)


def test_the_id_of_a_large_file_comes_from_its_ends_and_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcview.readers.runs.assembled._WHOLE_BYTES", 10)
    monkeypatch.setattr("arcview.readers.runs.assembled._END_BYTES", 40)
    texts = [PATCH, PATCH.replace("+b\n", "+c\n"), PATCH + " x\n", PATCH]
    files = [write(tmp_path / f"{number}" / "x.patch", text) for number, text in enumerate(texts)]
    ids = [open_run(file).run.run_id for file in files]
    assert len(set(ids)) == 3
    assert ids[0] == ids[3]


# -- patches


@pytest.mark.parametrize("name", ["x.patch", "x.diff", "x.txt"])
def test_a_patch_is_a_run_of_one_stage(tmp_path: Path, name: str) -> None:
    file = write(tmp_path / name, PATCH)
    run = OpenRun.open(file)
    shown = json.loads(twin.dumps(twin.show(run)))
    (stage,) = shown["stages"]
    assert stage["change"]["files"] == 1
    assert (stage["verdict"], stage["reason"]) == ("unmeasured", "no gate result is recorded")


def test_a_base_turns_a_patch_into_states(tmp_path: Path) -> None:
    write(tmp_path / "base" / "x.py", "a\n")
    file = write(tmp_path / "x.patch", PATCH)
    run = OpenRun.open(file, given=Given(base=str(tmp_path / "base")))
    run.ensure_states()
    assert run.store.file("S1", "x.py") == b"b\n"


def test_an_empty_patch_file_has_no_changes_and_is_not_called_unchanged(tmp_path: Path) -> None:
    run = open_run(write(tmp_path / "x.patch", "")).run
    assert run.states[1].unchanged is None
    shown = json.loads(twin.dumps(twin.show(OpenRun.open(tmp_path / "x.patch"))))
    change = shown["stages"][0]["change"]
    assert (change["files"], change["unchanged"]) == (0, None)


def test_text_about_a_patch_is_no_patch(tmp_path: Path) -> None:
    with pytest.raises(UnknownLayoutError):
        open_run(write(tmp_path / "x.md", "Use `diff --git` to see it\n--- a\nsomething\n"))


# -- reports and logs


def test_a_report_is_a_gate_without_states(tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", report(entry("t.py::a"), entry("t.py::b", "failed", "boom")))
    opened = open_run(file)
    (gate,) = opened.run.gates
    assert gate.other is not None
    assert (gate.other.passed, gate.other.failed) == (1, 1)
    assert [test.message for test in opened.gate_tests("1", None)] == [None, "boom"]
    assert opened.run.states == ()


def test_a_log_is_a_gate(tmp_path: Path) -> None:
    log = "============ test session starts ============\nt.py::a PASSED\nt.py::b FAILED\n"
    log += "==== 1 failed, 1 passed in 0.10s ====\n"
    (gate,) = open_run(write(tmp_path / "out.txt", log)).run.gates
    assert gate.other is not None
    assert (gate.other.passed, gate.other.failed) == (1, 1)


def test_a_log_without_results_is_said_with_its_path(tmp_path: Path) -> None:
    file = write(tmp_path / "out.txt", "   Compiling demo v0.1.0\n    Finished test\n")
    with pytest.raises(ArcviewError) as caught:
        open_run(file)
    assert str(caught.value).startswith(f"{file}: ")


# -- asked for


def test_a_format_can_be_asked_for(tmp_path: Path) -> None:
    file = write(tmp_path / "x", turns("go"))
    assert (
        open_run(file, layout="claude_code").run.stages[0].trajectories[0].format == "claude_code"
    )


def test_anything_can_be_read_as_a_patch(tmp_path: Path) -> None:
    run = open_run(write(tmp_path / "notes", "no patch\n"), layout="patch").run
    assert isinstance(run.states[1].source, PatchSource)


def test_a_format_is_not_asked_of_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UnknownLayoutError, match="claude_code is the format of a single file"):
        open_run(tmp_path, layout="claude_code")


# -- hostile files


def test_an_empty_file_is_called_empty_with_its_path(cases: Path) -> None:
    file = cases / "hostile" / "traj" / "t21_zero_bytes.traj.json"
    with pytest.raises(ArcviewError) as caught:
        open_run(file)
    assert str(caught.value) == f"{file}: the file is empty"


def test_a_file_that_is_no_trajectory_is_said_with_its_path(cases: Path) -> None:
    file = cases / "hostile" / "traj" / "t22_root_is_string.traj.json"
    with pytest.raises(ArcviewError) as caught:
        open_run(file)
    assert str(caught.value).startswith(f"{file}: not a trajectory")


def test_runs_of_one_name_are_listed_with_their_own_words(cases: Path) -> None:
    folder = cases / "hostile" / "traj" / "dup_stem"
    files = list(iter_runs(folder))
    assert [file.relative_to(folder).as_posix() for file in files] == [
        "a/task-1.traj.json",
        "b/task-1.traj.json",
    ]
    runs = [open_run(file).run for file in files]
    assert [(run.status, run.status_detail) for run in runs] == [
        (Status.COMPLETED, None),
        (Status.UNKNOWN, "limits"),
    ]
    assert runs[0].run_id != runs[1].run_id


def test_a_name_with_markup_is_a_name(cases: Path) -> None:
    file = cases / "hostile" / "traj" / "[draft] run[" / "].traj.json"
    run = open_run(file).run
    assert run.chain.task_id == "]"


def test_every_hostile_session_and_patch_opens_or_is_said(cases: Path) -> None:
    for folder in ("traj", "diff"):
        for file in sorted((cases / "hostile" / folder).rglob("*")):
            if not file.is_file() or file.name.startswith(("t21", "t22")):
                continue
            run = OpenRun.open(file)
            twin.dumps(twin.show(run))


def test_what_is_wrong_with_a_file_that_was_asked_for_is_said(tmp_path: Path) -> None:
    opened = open_run(write(tmp_path / "x.json", '"text"'), layout="mini_swe_agent")
    trajectory = opened.trajectory(opened.run.stages[0].trajectories)
    assert trajectory.steps == ()
    assert trajectory.problems


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ('{"trial_name": "t__abcdefg", "task_checksum": "c"}', "the result of a Harbor trial"),
        ('{"checkpoint_name": "checkpoint_1", "pass_counts": {}}', "SlopCodeBench checkpoint"),
        ('{"instance_id": "i", "n_attempt": 1, "model_patch": ""}\n{}\n', "a FeatureBench run"),
        ('{"i": {"instance_id": "i", "model_patch": null}}', "predictions"),
        ('[{"instance_id": "i", "model_patch": "x"}]', "predictions"),
        ('{"is_resolved": true, "failure_mode": "unset"}', "classic Terminal-Bench trial"),
        ('{"results": [], "n_resolved": 0}', "the summary of a classic Terminal-Bench run"),
        ('{"job_name": "x", "jobs_dir": "jobs"}', "the settings of a Harbor job"),
    ],
)
def test_a_file_that_belongs_to_a_run_says_to_what(tmp_path: Path, content: str, what: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(ArcviewError, match=what):
        open_run(path)
