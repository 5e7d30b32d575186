"""ATIF export: valid documents, nothing lost that the format or its extras can carry."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from arcview.cli import main
from arcview.errors import ArcviewError
from arcview.model.problem import Problem
from arcview.model.trajectory import (
    Image,
    Role,
    Session,
    Step,
    StepKind,
    ToolCall,
    ToolKind,
    ToolResult,
    Trajectory,
)
from arcview.model.trajectory_refs import SessionRole, Usage
from arcview.readers.registry import find_trajectory_reader
from arcview.readers.trajectories.atif import AtifReader
from arcview.session.export_atif import export_atif, image_files

SCHEMA = json.loads(
    (Path(__file__).parent.parent / "data" / "atif-1.7.schema.json").read_text(encoding="utf-8")
)
SAMPLES = [
    "formats/mini-swe-agent/bare-list-github_issue.traj.json",
    "formats/mini-swe-agent/derived/truncated.traj.json",
    "formats/mini-swe-agent/generated/v2-responses.traj.json",
    "formats/mini-swe-agent/generated/v2-text.traj.json",
    "formats/mini-swe-agent/generated/v2-toolcall.traj.json",
    "formats/mini-swe-agent/v1-batch/django__django-11138/django__django-11138.traj.json",
    "formats/swe-agent/generated-1.1.0/demo-1/demo-1.traj",
    "formats/swe-agent/v0.7-function_calling.traj",
    "formats/swe-agent/v0.x-pydicom-1458.traj",
    "formats/inspect-eval/generated/zstd-two-samples.eval",
    "formats/inspect-eval/popularity.eval",
    "formats/atif/converted-by-harbor-0.26/claude-eve-checkpoint_1.trajectory.json",
    "formats/atif/openagents-login-trace.trajectory.json",
    "formats/claude-code-session/full-session-four.jsonl",
    "formats/claude-code-session/compaction-long/951e45e1-28c2-4bf5-89eb-ca93576c88f5.jsonl",
    "formats/claude-code-stream-json/subagent-parent_tool_use.stdout.jsonl",
    "hostile/traj/t05_tool_args_not_json.traj.json",
    "hostile/traj/t13_result_without_call.traj.json",
    "hostile/traj/t17_times_mixed.traj.json",
    "hostile/traj/t19_clipboard_escape.traj.json",
]


def check(document: dict[str, Any]) -> None:
    """What Harbor's models demand: the schema, and what no schema can say."""
    jsonschema.validate(document, SCHEMA)
    for one in documents(document):
        assert [step["step_id"] for step in one["steps"]] == [*range(1, len(one["steps"]) + 1)]
        for step in one["steps"]:
            if "timestamp" in step:
                datetime.fromisoformat(step["timestamp"].replace("Z", "+00:00"))
            calls = {call["tool_call_id"] for call in step.get("tool_calls", [])}
            results = step.get("observation", {}).get("results", [])
            assert {r["source_call_id"] for r in results if "source_call_id" in r} <= calls
        inner = [other["trajectory_id"] for other in one.get("subagent_trajectories", [])]
        assert len(inner) == len(set(inner))
    # As UTF-8 and by any JSON reader.
    json.dumps(document, allow_nan=False, ensure_ascii=False).encode()


def documents(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield document
    for other in document.get("subagent_trajectories", []):
        yield from documents(other)


def there_and_back(trajectory: Trajectory, folder: Path) -> Trajectory:
    document = export_atif(trajectory)
    check(document)
    path = folder / "trajectory.json"
    path.write_text(json.dumps(document))
    return AtifReader().read(path)


def of(*steps: Step, **fields: Any) -> Trajectory:
    return Trajectory("made", steps, **fields)


def step(key: str, text: str = "", **fields: Any) -> Step:
    return replace(Step(key, None, Role.ASSISTANT, StepKind.MESSAGE, text), **fields)


def calling(call_id: str, result: ToolResult | None = None, **fields: Any) -> ToolCall:
    call = ToolCall(call_id, "bash", ToolKind.SHELL, {"command": "ls"}, command="ls", result=result)
    return replace(call, **fields)


def read(path: Path) -> Trajectory:
    return find_trajectory_reader(path)[0].read(path)


# Real trajectories


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_real_trajectory_comes_back_as_it_was(cases: Path, tmp_path: Path, sample: str) -> None:
    trajectory = read(cases / sample)
    assert there_and_back(trajectory, tmp_path) == replace(trajectory, format="atif")


@pytest.mark.parametrize("stage", [1, 2, 3, 4])
def test_our_own_run_comes_back_as_it_was(demo_run: Path, tmp_path: Path, stage: int) -> None:
    trajectory = read(demo_run / "stages" / str(stage) / "trajectory.json")
    assert there_and_back(trajectory, tmp_path) == trajectory


def test_a_real_session_with_its_agents_comes_back_as_it_was(
    scb: Callable[[str], Path], tmp_path: Path
) -> None:
    path = scb("circuit-eval") / "checkpoint_1" / "agent" / "stdout.jsonl"
    trajectory = read(path)
    assert there_and_back(trajectory, tmp_path) == replace(trajectory, format="atif")


# What the format has fields for


def test_a_call_and_its_result_are_where_the_format_has_them() -> None:
    result = ToolResult("out", exit_code=2, is_error=True, at="2026-01-01T10:00:01Z")
    made = step(
        "c1",
        "hi",
        thinking="hm",
        calls=(calling("c1", result),),
        at="2026-01-01T10:00:00Z",
        usage=Usage(10, 4, 3, 1, 0.5),
        model="m",
    )
    document = export_atif(of(made, agent="a", agent_version="2", model="m"))
    assert document["agent"] == {"name": "a", "version": "2", "model_name": "m"}
    assert document["steps"] == [
        {
            "step_id": 1,
            "source": "agent",
            "message": "hi",
            "timestamp": "2026-01-01T10:00:00Z",
            "reasoning_content": "hm",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "ls"}}
            ],
            "metrics": {
                "prompt_tokens": 10,
                "completion_tokens": 3,
                "cached_tokens": 4,
                "cost_usd": 0.5,
                "extra": {"reasoning_tokens": 1},
            },
            "observation": {
                "results": [
                    {
                        "source_call_id": "c1",
                        "content": "out",
                        "extra": {
                            "exit_code": 2,
                            "is_error": True,
                            "timestamp": "2026-01-01T10:00:01Z",
                        },
                    }
                ]
            },
        }
    ]


def test_totals_that_are_not_recorded_are_sums_where_every_step_tells_them() -> None:
    whole = of(step("a", usage=Usage(10, None, 2)), step("b", usage=Usage(20, None, 3)))
    partly = of(step("a", number=1, usage=Usage(10)), step("b", number=2))
    assert export_atif(replace(whole, steps=_numbered(whole)))["final_metrics"] == {
        "total_prompt_tokens": 30,
        "total_completion_tokens": 5,
        "total_steps": 2,
    }
    assert export_atif(partly)["final_metrics"] == {"total_steps": 2}


def _numbered(trajectory: Trajectory) -> tuple[Step, ...]:
    return tuple(replace(s, number=n) for n, s in enumerate(trajectory.steps, start=1))


def test_a_sub_agent_is_a_document_of_its_own(tmp_path: Path) -> None:
    trajectory = of(
        step("c1", "go", number=1, calls=(calling("c1", ToolResult("done")),)),
        step("h1", "in", number=2, agent="helper", parent_call="c1", calls=(calling("h1"),)),
        step("d1", "deep", number=3, agent="deeper", parent_call="h1"),
        step("x", "back", number=4),
    )
    document: Any = export_atif(trajectory)
    (helper,) = document["subagent_trajectories"]
    assert [s["message"] for s in document["steps"]] == ["go", "back"]
    assert [s["message"] for s in helper["steps"]] == ["in"]
    assert [s["message"] for s in helper["subagent_trajectories"][0]["steps"]] == ["deep"]
    back = there_and_back(trajectory, tmp_path)
    assert back.steps == trajectory.steps


def test_a_sub_agent_that_nobody_started_stays_in_line(tmp_path: Path) -> None:
    lost = step("h", "in", number=1, agent="helper", parent_call="gone")
    trajectory = of(lost)
    document: Any = export_atif(trajectory)
    assert document["steps"][0]["extra"]["is_sidechain"] is True
    assert there_and_back(trajectory, tmp_path).steps == (lost,)


def test_images_are_files_beside_the_document(tmp_path: Path) -> None:
    data = b"\x89PNG\r\n\x1a\n"
    image = Image("image/png", base64.b64encode(data).decode(), size_bytes=len(data))
    odd = Image("image/svg+xml", base64.b64encode(b"<svg/>").decode(), size_bytes=6)
    remote = Image("image/webp", path="https://example.invalid/x.webp")
    result = ToolResult("seen", images=(image, odd))
    trajectory = of(
        step("c1", "look", number=1, calls=(calling("c1", result),), images=(remote, image))
    )
    ((name, written),) = image_files(trajectory)
    assert written == data
    (back,) = there_and_back(trajectory, tmp_path).steps
    assert back.images == (remote, Image("image/png", path=name))
    assert back.calls[0].result is not None
    assert back.calls[0].result.images == (Image("image/png", path=name), odd)


# What goes into the extras


@pytest.mark.parametrize(
    "made",
    [
        Step("k", None, Role.UNKNOWN, StepKind.NOTE, "started", at="yesterday"),
        Step("k", None, Role.USER, StepKind.NOTE, "format error"),
        Step("k", None, Role.USER, StepKind.COMPACTION, "so far"),
        Step("k", None, Role.UNKNOWN, StepKind.RAW, raw='{"type": "odd"}'),
        Step("k", None, Role.UNKNOWN, StepKind.NOTE, "grader", usage=Usage(0, 0, 0), model="g"),
        Step("k", None, Role.USER, StepKind.MESSAGE, "typed", calls=(calling("c"),)),
        Step("c", 1, Role.ASSISTANT, StepKind.MESSAGE, "x", thinking="x", calls=(calling("c"),)),
        Step("m", 1, Role.ASSISTANT, StepKind.MESSAGE, "x", is_error=True, duration_s=1.5),
    ],
)
def test_steps_that_the_format_does_not_know_come_back(tmp_path: Path, made: Step) -> None:
    assert there_and_back(of(made, model="m"), tmp_path).steps == (made,)


@pytest.mark.parametrize(
    "call",
    [
        calling("c", kind=ToolKind.OTHER, command=None, note="rejected"),
        calling("c", arguments={}, raw_arguments='{"command": "ls', command=None),
        calling("c", name="open", kind=ToolKind.READ, command=None, path="a.py"),
        calling("c", ToolResult("Exit code 1 is what it printed")),
        calling("c", ToolResult('{"returncode": 1, "output": "printed"}')),
        calling("c", ToolResult("", exit_code=0, is_error=False)),
    ],
)
def test_calls_keep_what_a_reader_would_guess_otherwise(tmp_path: Path, call: ToolCall) -> None:
    made = Step("c", 1, Role.ASSISTANT, StepKind.MESSAGE, "x", calls=(call,))
    assert there_and_back(of(made), tmp_path).steps == (made,)


def test_what_is_said_of_the_whole_comes_back(tmp_path: Path) -> None:
    trajectory = of(
        step("a", "x", number=1, session="one"),
        step("b", "y", number=2, session="two"),
        sessions=(Session("one", SessionRole.RETRY, 1, "n"), Session("two", SessionRole.MAIN, 1)),
        problems=(Problem("f: line 3", "cut off"),),
        unknown_records=(("odd", 2),),
        usage=Usage(cost_usd=0.5),
        agent="a",
        exit_status="Submitted",
        patch="diff --git a/a b/a\n",
    )
    assert there_and_back(trajectory, tmp_path) == replace(trajectory, format="atif")


# Text that no JSON reader would take


def test_half_characters_and_odd_numbers_are_replaced() -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    arguments = {"\ud83d": float("nan"), "deep": deep}
    made = step("c", "half \ud83d", calls=(calling("c", arguments=arguments, command=None),))
    document: Any = export_atif(of(made))
    check(document)
    assert document["steps"][0]["message"] == "half \ufffd\ufffd\ufffd"


def test_half_characters_anywhere_are_replaced() -> None:
    half = "\ud800"
    made = Step(half, None, Role.USER, StepKind.NOTE, half, half, model=half, raw=half, at=half)
    image = Image(half, data_base64=half, path=half)
    result = ToolResult(half, images=(image,), at=half)
    spoken = step(half, half, thinking=half, model=half, session=half, images=(image,))
    call = calling(half, result, name=half, note=half, raw_arguments=half, path=half)
    trajectory = of(
        made,
        replace(spoken, calls=(call,)),
        replace(spoken, agent=half, parent_call=half, key="in"),
        sessions=(Session(half, SessionRole.MAIN, 1, half),),
        problems=(Problem(half, half),),
        unknown_records=((half, 1),),
        agent=half,
        agent_version=half,
        model=half,
        exit_status=half,
        patch=half,
    )
    check(export_atif(trajectory))


def test_a_trajectory_without_steps_is_no_document() -> None:
    with pytest.raises(ArcviewError, match="the trajectory holds no steps"):
        export_atif(of())


# The command


def test_one_stage_is_printed(demo_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(demo_run), "--format", "atif", "--stage", "2"]) == 0
    document = json.loads(capsys.readouterr().out)
    check(document)
    marks = document["extra"]["arcview"]
    assert (marks["stage"], marks["run"]["run_id"]) == (2, "scripted-demo-notes-cli-1")


def test_all_stages_go_into_a_folder(demo_run: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    assert main(["export", str(demo_run), "--format", "atif", "-o", str(target)]) == 0
    names = sorted(path.name for path in target.iterdir())
    assert names == [
        "S2.refactor.trajectory.json",
        *(f"stage-{n}.trajectory.json" for n in range(1, 5)),
    ]
    for path in target.iterdir():
        check(json.loads(path.read_text()))


def test_several_stages_need_a_folder(demo_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(demo_run), "--format", "atif"]) == 2
    assert "give a folder for all of them with -o DIR" in capsys.readouterr().err
