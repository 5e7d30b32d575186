"""mini-swe-agent trajectories: real files against a few lines of counting, every message."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolKind, Trajectory
from arcview.model.trajectory_refs import Usage
from arcview.readers.registry import find_trajectory_reader
from arcview.readers.trajectories.mini_swe_agent import MiniSweAgentReader
from tests.readers.golden import expected, summary
from tests.readers.odd_values import with_odd_values

GOLDEN = expected("mini_swe_agent")
FORMATS = "formats/mini-swe-agent"
FIRST = [
    f"{FORMATS}/v1-batch/django__django-11138/django__django-11138.traj.json",
    f"{FORMATS}/v1-batch/psf__requests-1142/psf__requests-1142.traj.json",
]
SECOND = [f"{FORMATS}/generated/v2-{kind}.traj.json" for kind in ("toolcall", "text", "responses")]
TASK = {"role": "user", "content": "do it"}


def read(folder: Path, content: object, name: str = "run.traj.json") -> Trajectory:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return MiniSweAgentReader().read(path)


def messages(folder: Path, *found: object, **root: object) -> Trajectory:
    return read(folder, {"messages": list(found), **root})


def first_version(folder: Path, *found: object, **info: object) -> Trajectory:
    return messages(folder, TASK, *found, info=info, trajectory_format="mini-swe-agent-1")


def said(text: str, **fields: object) -> dict[str, object]:
    return {"role": "assistant", "content": text, **fields}


def calling(*calls: tuple[str, object], **fields: object) -> dict[str, object]:
    entries = [
        {"id": call_id, "type": "function", "function": {"name": "bash", "arguments": arguments}}
        for call_id, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": entries, **fields}


def observed(call_id: str | None, **extra: object) -> dict[str, object]:
    role = {"role": "user"} if call_id is None else {"role": "tool", "tool_call_id": call_id}
    return {**role, "content": "as the model saw it", "extra": extra}


def only_call(trajectory: Trajectory) -> ToolCall:
    (call,) = [call for step in trajectory.steps for call in step.calls]
    return call


def model_steps(trajectory: Trajectory) -> list[Step]:
    return [step for step in trajectory.steps if step.number is not None]


def notes(trajectory: Trajectory) -> list[str]:
    return [step.text for step in trajectory.steps if step.kind is StepKind.NOTE]


# Real files


@pytest.mark.parametrize("sample", GOLDEN)
def test_a_real_file_reads_as_reviewed(cases: Path, sample: str) -> None:
    assert summary(cases / "formats" / sample) == GOLDEN[sample]


@pytest.mark.parametrize("sample", FIRST)
def test_counts_of_version_1_agree_with_its_file(cases: Path, sample: str) -> None:
    document = json.loads((cases / sample).read_text())
    found = MiniSweAgentReader().read(cases / sample)
    answers = [m for m in document["messages"] if m["role"] == "assistant"]
    actions = [re.findall(r"```bash\n(.*?)\n```", m["content"], re.DOTALL) for m in answers]
    assert found.step_count == document["info"]["model_stats"]["api_calls"] == len(answers)
    assert [call.command for step in found.steps for call in step.calls] == [
        action[0].strip() for action in actions if len(action) == 1
    ]
    codes = [
        re.match(r"<returncode>(\d+)<", m["content"])
        for m in document["messages"]
        if m["role"] == "user"
    ]
    results = [call.result for step in found.steps for call in step.calls]
    assert [r.exit_code for r in results if r and r.exit_code is not None] == [
        int(code[1]) for code in codes if code
    ]
    assert None not in results


@pytest.mark.parametrize("sample", FIRST)
def test_tokens_and_cost_of_version_1_add_up(cases: Path, sample: str) -> None:
    document = json.loads((cases / sample).read_text())
    found = MiniSweAgentReader().read(cases / sample)
    told = [m["extra"]["response"]["usage"] for m in document["messages"] if "extra" in m]
    usages = [step.usage for step in found.steps if step.usage]
    assert sum(u.input_tokens or 0 for u in usages) == sum(u["prompt_tokens"] for u in told)
    assert sum(u.output_tokens or 0 for u in usages) == sum(u["completion_tokens"] for u in told)
    total = document["info"]["model_stats"]["instance_cost"]
    assert sum(u.cost_usd or 0 for u in usages) == pytest.approx(total)
    assert found.usage is not None
    assert (found.usage.cost_usd, found.usage.output_tokens) == (
        total,
        sum(u["completion_tokens"] for u in told),
    )


@pytest.mark.parametrize("sample", FIRST)
def test_the_patch_and_the_end_of_version_1_are_kept(cases: Path, sample: str) -> None:
    info = json.loads((cases / sample).read_text())["info"]
    found = MiniSweAgentReader().read(cases / sample)
    assert (found.exit_status, found.patch) == ("Submitted", info["submission"])
    assert (found.agent, found.agent_version) == ("mini-swe-agent", "1.15.0")
    assert found.model == info["config"]["model"]["model_name"]


@pytest.mark.parametrize("sample", SECOND)
def test_rejected_answers_count_as_calls_of_the_model(cases: Path, sample: str) -> None:
    document = json.loads((cases / sample).read_text())
    found = MiniSweAgentReader().read(cases / sample)
    rejected = [m for m in document["messages"] if "interrupt_type" in m.get("extra", {})]
    assert len(rejected) == 2
    assert found.step_count == document["info"]["model_stats"]["api_calls"] == 9
    assert [step.text for step in model_steps(found)][2] == "I forgot to call a tool here."


@pytest.mark.parametrize("sample", SECOND)
def test_every_command_of_version_2_has_what_came_back(cases: Path, sample: str) -> None:
    document = json.loads((cases / sample).read_text())
    found = MiniSweAgentReader().read(cases / sample)
    actions = [a for m in document["messages"] for a in m.get("extra", {}).get("actions", [])]
    outputs = [m["extra"] for m in document["messages"] if "raw_output" in m.get("extra", {})]
    calls = [call for step in found.steps for call in step.calls if not call.raw_arguments]
    assert [call.command for call in calls] == [action["command"] for action in actions]
    codes = [call.result.exit_code for call in calls if call.result]
    assert codes == [o["returncode"] if not o["exception_info"] else None for o in outputs]
    texts = [call.result.text for call in calls if call.result]
    assert all(output["raw_output"] in text for text, output in zip(texts, outputs, strict=True))


def test_the_responses_interface_pairs_and_thinks(cases: Path) -> None:
    first = model_steps(MiniSweAgentReader().read(cases / SECOND[2]))[0]
    assert first.thinking == "The task is about wordcount; list files and read the module."
    assert first.text == "Let me look at the repository first."
    assert [call.key for call in first.calls] == ["call_1_0", "call_1_1"]
    assert first.usage == Usage(769, 384, 25, 0)
    assert (first.at, first.duration_s) == ("2026-11-29T18:11:19.041857Z", 0.075294)


def test_a_file_that_was_being_written_keeps_its_whole_messages(cases: Path) -> None:
    path = cases / f"{FORMATS}/derived/truncated.traj.json"
    found = MiniSweAgentReader().read(path)
    whole = path.read_text().count('\n      "role": "assistant"') - 1
    assert [len(step.calls) for step in model_steps(found)] == [1] * whole + [0]
    assert [problem.what for problem in found.problems] == [
        "cut off inside a text: 0 bytes left out"
    ]


# Version 1


def test_an_output_in_a_template_is_text_with_an_exit_code(tmp_path: Path) -> None:
    output = "<returncode>2</returncode>\n<output>\nfirst\n\nlast\n</output>"
    found = first_version(tmp_path, said("THOUGHT: x\n\n```bash\nls\n```"), said_by_user(output))
    result = only_call(found).result
    assert result is not None
    assert (result.text, result.exit_code, result.is_error) == ("first\n\nlast", 2, None)


def said_by_user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def test_an_output_without_a_template_has_an_exit_code(tmp_path: Path) -> None:
    text = "Observation: {'output': \"it's\\n\", 'returncode': 4, 'action': 'ls'}"
    found = first_version(tmp_path, said("```bash\nls\n```"), said_by_user(text))
    result = only_call(found).result
    assert result is not None
    assert (result.text, result.exit_code) == (text, 4)


def test_a_long_output_keeps_its_elision(tmp_path: Path) -> None:
    body = "<output_head>\na\n</output_head>\n<elided_chars>\n9 characters elided\n</elided_chars>"
    text = f"<returncode>0</returncode>\n<warning>\ntoo long\n</warning>{body}"
    found = first_version(tmp_path, said("```bash\nls\n```"), said_by_user(text))
    result = only_call(found).result
    assert result is not None
    assert "9 characters elided" in result.text
    assert result.exit_code == 0


def test_a_command_that_timed_out_is_an_error_without_exit_code(tmp_path: Path) -> None:
    text = "The last command <command>sleep 99</command> timed out and has been killed."
    found = first_version(tmp_path, said("```bash\nsleep 99\n```"), said_by_user(text))
    result = only_call(found).result
    assert result is not None
    assert (result.is_error, result.exit_code) == (True, None)


def test_an_answer_with_two_actions_ran_none(tmp_path: Path) -> None:
    answer = said("```bash\nls\n```\n\n```bash\npwd\n```")
    found = first_version(tmp_path, answer, said_by_user("Please give EXACTLY ONE action."))
    assert (found.step_count, found.tool_call_count) == (1, 0)
    (note,) = [step for step in found.steps if step.kind is StepKind.NOTE]
    assert (note.role, note.text) == (Role.USER, "Please give EXACTLY ONE action.")


def test_what_a_person_typed_is_a_user_turn(tmp_path: Path) -> None:
    rejected = "Command not executed. The user rejected your command with the following message: no"
    found = first_version(
        tmp_path,
        said("```bash\nrm -rf x\n```"),
        said_by_user(rejected),
        said("\n```bash\nls\n```"),
        said_by_user("<returncode>0</returncode>\n<output>\n</output>"),
        said_by_user("The user added a new task: now the other"),
    )
    turns = [s.text for s in found.steps if (s.role, s.kind) == (Role.USER, StepKind.MESSAGE)]
    assert turns == [
        "do it",
        rejected,
        "\n```bash\nls\n```",
        "The user added a new task: now the other",
    ]
    assert [step.text for step in model_steps(found)] == ["```bash\nrm -rf x\n```"]


def test_a_submission_is_the_result_of_its_command_and_said_once(tmp_path: Path) -> None:
    patch = "diff --git a/a b/a\n"
    found = first_version(
        tmp_path,
        said("```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff\n```"),
        said_by_user(patch),
        exit_status="Submitted",
        submission=patch,
    )
    result = only_call(found).result
    assert result is not None
    assert result.text == patch
    assert notes(found) == ["session ended: Submitted"]


def test_a_limit_ends_the_session_in_an_error(tmp_path: Path) -> None:
    found = first_version(
        tmp_path,
        said("```bash\nls\n```"),
        said_by_user("<returncode>0</returncode>\n<output>\n</output>"),
        said_by_user(""),
        exit_status="LimitsExceeded",
        submission="",
    )
    assert found.exit_status == "LimitsExceeded"
    assert [(s.text, s.is_error) for s in found.steps[-1:]] == [
        ("session ended: LimitsExceeded", True)
    ]
    assert found.steps[-2].number == 1


def test_a_crash_keeps_its_traceback(tmp_path: Path) -> None:
    found = first_version(tmp_path, exit_status="ValueError", traceback="Traceback: boom")
    assert notes(found) == ["session ended: ValueError\nTraceback: boom"]


def test_a_plain_list_without_actions_has_none(tmp_path: Path) -> None:
    found = read(tmp_path, [TASK, said("use ```bash\nls\n``` like this"), said_by_user("thanks")])
    assert found.tool_call_count == 0
    assert [s.role for s in found.steps] == [Role.USER, Role.ASSISTANT, Role.USER]


def test_an_answer_that_is_sent_back_starts_no_turn_in_a_plain_list(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        [
            TASK,
            said("```bash\nls\n```"),
            said_by_user("<returncode>0</returncode>\n<output>\na</output>"),
            said("I am lost"),
            said_by_user("Please always provide EXACTLY ONE action."),
            said("```bash\npwd\n```"),
        ],
    )
    turns = [step for step in found.steps if step.role is Role.USER]
    assert [step.kind for step in turns] == [StepKind.MESSAGE, StepKind.NOTE]


def test_times_of_late_version_1_are_kept_in_utc(tmp_path: Path) -> None:
    found = first_version(tmp_path, said("hi", timestamp=1767261600.5))
    assert model_steps(found)[0].at == "2026-01-01T10:00:00.500000Z"


# Version 2


def test_parallel_calls_get_their_results_by_id(tmp_path: Path) -> None:
    found = messages(
        tmp_path,
        TASK,
        calling(("a", '{"command": "ls"}'), ("b", '{"command": "pwd"}'), extra={"timestamp": 10.0}),
        observed("b", raw_output="here", returncode=0, timestamp=12.0),
        observed("a", raw_output="files", returncode=1, timestamp=13.5),
    )
    (step,) = model_steps(found)
    outcomes = [(c.key, c.result.text, c.result.exit_code) for c in step.calls if c.result]
    assert outcomes == [("a", "files", 1), ("b", "here", 0)]
    assert step.duration_s == 2.0


def test_a_command_that_never_ran_has_no_exit_code(tmp_path: Path) -> None:
    failure = "An error occurred while executing the command: timed out"
    found = messages(
        tmp_path,
        TASK,
        calling(("a", '{"command": "sleep 9"}')),
        observed("a", raw_output="so far", returncode=-1, exception_info=failure),
    )
    result = only_call(found).result
    assert result is not None
    assert (result.text, result.is_error, result.exit_code) == (f"so far\n{failure}", True, None)


def test_a_submitting_call_was_not_executed(tmp_path: Path) -> None:
    found = messages(
        tmp_path,
        TASK,
        calling(("a", '{"command": "echo COMPLETE"}')),
        observed("a", raw_output="", returncode=-1, exception_info="action was not executed"),
        {"role": "exit", "content": "", "extra": {"exit_status": "Submitted", "submission": ""}},
    )
    call = only_call(found)
    assert call.result is not None
    assert (call.note, call.result.is_error, call.result.exit_code) == ("not executed", None, None)
    assert found.exit_status == "Submitted"
    assert notes(found) == ["session ended: Submitted"]


@pytest.mark.parametrize(
    "content",
    [
        '{"returncode": 3, "output": "text"}',
        "<returncode>3</returncode>\n<output>\ntext</output>",
    ],
)
def test_an_observation_without_its_raw_form_is_read_from_the_template(
    tmp_path: Path, content: str
) -> None:
    found = messages(
        tmp_path,
        TASK,
        calling(("a", '{"command": "ls"}')),
        {"role": "tool", "tool_call_id": "a", "content": content},
    )
    result = only_call(found).result
    assert result is not None
    assert (result.text, result.exit_code) == ("text", 3)


def test_an_image_in_an_observation_is_kept(tmp_path: Path) -> None:
    url = "data:image/png;base64,iVBORw0KGgo="
    content = [{"type": "text", "text": "seen"}, {"type": "image_url", "image_url": {"url": url}}]
    found = messages(
        tmp_path,
        TASK,
        calling(("a", '{"command": "view x.png"}')),
        {"role": "tool", "tool_call_id": "a", "content": content, "extra": {"raw_output": "<b64>"}},
    )
    result = only_call(found).result
    assert result is not None
    (image,) = result.images
    assert (result.text, image.media_type, image.size_bytes) == ("seen", "image/png", 8)


def test_sound_in_a_message_is_a_placeholder_that_opens(tmp_path: Path) -> None:
    sound = {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}}
    found = messages(tmp_path, {"role": "user", "content": [sound]})
    images = [one for step in found.steps for one in step.images]
    assert [(one.media_type, one.path, one.size_bytes) for one in images] == [("audio", None, 3)]


@pytest.mark.parametrize("kind", ["UserInterruption", "UserRejection", "UserNewTask"])
def test_an_interruption_is_a_turn_of_the_person(tmp_path: Path, kind: str) -> None:
    turn = {"role": "user", "content": "stop", "extra": {"interrupt_type": kind}}
    found = messages(tmp_path, TASK, turn)
    assert [(s.role, s.kind) for s in found.steps] == [(Role.USER, StepKind.MESSAGE)] * 2


def test_a_command_of_a_person_has_its_output(tmp_path: Path) -> None:
    typed = {"role": "user", "content": "User command", "extra": {"actions": [{"command": "ls"}]}}
    found = messages(tmp_path, TASK, typed, observed(None, raw_output="files", returncode=0))
    call = only_call(found)
    assert found.step_count == 0
    assert (call.command, call.result and call.result.text) == ("ls", "files")


@pytest.mark.parametrize(
    ("fields", "thinking"),
    [
        ({"reasoning_content": "because"}, "because"),
        ({"thinking_blocks": [{"type": "thinking", "thinking": "because"}]}, "because"),
        ({"content": [{"type": "thinking", "thinking": "because"}]}, "because"),
        ({"extra": {"response": {"choices": [{"message": {"reasoning": "because"}}]}}}, "because"),
        (
            {"thinking_blocks": [{"type": "redacted_thinking", "data": "x"}]},
            "(thinking that the provider encrypted)",
        ),
    ],
)
def test_reasoning_is_kept_however_it_is_told(
    tmp_path: Path, fields: dict[str, Any], thinking: str
) -> None:
    (step,) = model_steps(messages(tmp_path, TASK, {**said("hi"), **fields}))
    assert step.thinking == thinking


@pytest.mark.parametrize(
    ("usage", "cost", "told"),
    [
        (
            {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": None},
            0.0,
            Usage(9, None, 4),
        ),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 5},
                "completion_tokens_details": {"reasoning_tokens": 2},
                "cost": 0.25,
            },
            None,
            Usage(9, 5, 4, 2, 0.25),
        ),
        (
            {"input_tokens": 2, "cache_read_input_tokens": 5, "output_tokens": 4},
            0.5,
            Usage(7, 5, 4, None, 0.5),
        ),
        ({"prompt_tokens": 0, "completion_tokens": 0}, 0, None),
        ({}, 0.5, Usage(cost_usd=0.5)),
    ],
)
def test_tokens_are_read_in_the_spelling_of_each_provider(
    tmp_path: Path, usage: dict[str, Any], cost: float | None, told: Usage | None
) -> None:
    answer = said("hi", extra={"response": {"usage": usage}, "cost": cost})
    (step,) = model_steps(messages(tmp_path, TASK, answer))
    assert step.usage == told


def test_what_no_rule_knows_is_raw_and_counted(tmp_path: Path) -> None:
    narrator = {"role": "narrator", "content": "x"}
    found = messages(tmp_path, TASK, narrator, "text", {"type": "odd"}, narrator)
    assert found.unknown_records == (
        ("not an object", 1),
        ("role 'narrator'", 2),
        ("type 'odd'", 1),
    )
    assert [step.raw for step in found.steps if step.kind is StepKind.RAW] == [
        '{"role": "narrator", "content": "x"}',
        '"text"',
        '{"type": "odd"}',
        '{"role": "narrator", "content": "x"}',
    ]


def test_kinds_of_tools_are_known_by_name(tmp_path: Path) -> None:
    call = only_call(messages(tmp_path, TASK, calling(("a", '{"command": "ls"}'))))
    assert (call.kind, call.command) == (ToolKind.SHELL, "ls")


def test_several_files_are_one_trajectory(tmp_path: Path) -> None:
    paths = []
    for name in ("one", "two"):
        paths.append(tmp_path / f"{name}.traj.json")
        info = {"exit_status": name, "model_stats": {"instance_cost": 0.5}}
        paths[-1].write_text(json.dumps({"messages": [TASK, said(name)], "info": info}))
    found = MiniSweAgentReader().read(paths[0], paths[1:])
    assert [(step.number, step.text) for step in model_steps(found)] == [(1, "one"), (2, "two")]
    assert [(session.id, session.steps) for session in found.sessions] == [("one", 1), ("two", 1)]
    assert (found.usage, found.exit_status) == (Usage(cost_usd=1.0), "two")


# Recognition


@pytest.mark.parametrize(
    "content",
    [
        '{"trajectory_format": "mini-swe-agent-1.1", "messages": []}',
        '{"messages": [{"role": "user", "content": "x"}]}',
        '{"messages": []}',
        '{"info": {"exit_status": "Subm',
        '[{"role": "system", "content": "x"}, {"role": "user", "cont',
        '{"messages": [{"object": "response", "output": []}]}',
    ],
)
def test_it_is_recognised_by_content(content: str) -> None:
    assert MiniSweAgentReader().detect(content.encode(), "x") is not None


@pytest.mark.parametrize(
    "content",
    [
        "",
        '"a text"',
        "[]",
        '{"role": "user", "content": "ok"}\n{"role": "assistant", "content": "x"}\n',
        '{"sessionId": "s", "messages": [{"role": "user"}]}',
        '{"trajectory": [], "history": [], "info": {"exit_status": "x"}}',
        '[{"type": "system", "subtype": "init"}, {"type": "result"}]',
        '[{"source": "agent", "action": "run"}]',
        '{"messages": [{"type": "user", "uuid": "x"}]}',
    ],
)
def test_other_formats_are_left_to_their_readers(content: str) -> None:
    assert MiniSweAgentReader().detect(content.encode(), "x.traj.json") is None


def test_a_submission_longer_than_the_head_does_not_hide_it(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    info = {"exit_status": "Submitted", "submission": "+" * 100_000}
    path.write_text(json.dumps({"info": info, "messages": [TASK]}, indent=2))
    assert find_trajectory_reader(path)[0].id == "mini_swe_agent"


# Whatever stands in its place

ODD_CALL = {"id": "c1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
ODD_EXTRA = {
    "actions": [{"command": "ls", "tool_call_id": "c1"}],
    "response": {"model": "m", "usage": {"prompt_tokens": 1, "prompt_tokens_details": {}}},
    "cost": 0.5,
    "timestamp": 1767261600.0,
}
ODD_MESSAGES = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": [{"type": "text", "text": "t"}]},
    {"role": "assistant", "content": "a", "tool_calls": [ODD_CALL], "extra": ODD_EXTRA},
    {"role": "tool", "tool_call_id": "c1", "content": "c", "extra": {"returncode": 0}},
    {"role": "user", "content": "e", "extra": {"interrupt_type": "FormatError", "response": {}}},
    {
        "object": "response",
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "c2"},
        ],
    },
    {"type": "function_call_output", "call_id": "c2", "output": "o"},
    {"role": "exit", "content": "x", "extra": {"exit_status": "Submitted", "submission": "p"}},
]


@pytest.mark.parametrize("message", range(len(ODD_MESSAGES)))
def test_odd_values_never_raise(tmp_path: Path, message: int) -> None:
    for changed in with_odd_values(ODD_MESSAGES[message]):
        made = [*ODD_MESSAGES[:message], changed, *ODD_MESSAGES[message + 1 :]]
        found = messages(tmp_path, *made)
        keys = [call.key for step in found.steps for call in step.calls]
        assert len(keys) == len(set(keys))


def test_odd_values_around_the_messages_never_raise(tmp_path: Path) -> None:
    model = {"model": {"model_name": "m"}, "environment": {"cwd": "x"}, "environment_type": "a.B"}
    info = {"exit_status": "x", "submission": "y", "model_stats": {}, "config": model}
    document = {"info": info, "messages": [], "trajectory_format": "x", "instance_id": "i"}
    for changed in with_odd_values(document):
        path = tmp_path / "odd.json"
        path.write_text(json.dumps(changed))
        MiniSweAgentReader().detect(path.read_bytes(), path.name)
        MiniSweAgentReader().read(path)


# The log of the agent inside SlopCodeBench


def log_line(role: str, content: str, **fields: object) -> str:
    line = {"role": role, "content": content, "wall_clock_time": 0.5, "cost": 0.0, **fields}
    return json.dumps(line) + "\n"


def test_a_message_a_line_reads_as_the_agents_own_file(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.jsonl"
    tokens = {"input": 100, "output": 10, "cache_read": 40, "cache_write": 0, "reasoning": 3}
    ran = {"output": "no such file", "returncode": 2}
    path.write_text(
        log_line("system", "rules")
        + log_line("user", "do it")
        + log_line("assistant", "THOUGHT: x\n\n```bash\nls y\n```", cost=0.25, tokens=tokens)
        + log_line("environment", "<returncode>2</returncode>", meta=ran)
        + '{"role": "assis'
    )
    reader, _ = find_trajectory_reader(path)
    found = reader.read(path)
    assert reader.id == "mini_swe_agent"
    (step,) = (step for step in found.steps if step.number is not None)
    assert step.usage == Usage(100, 40, 10, 3, 0.25)
    (call,) = step.calls
    assert call.result is not None
    assert (call.command, call.result.exit_code, call.result.text) == ("ls y", 2, "no such file")
    assert any("cut off" in problem.what for problem in found.problems)
