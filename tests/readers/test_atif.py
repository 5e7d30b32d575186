"""ATIF trajectories: the real samples against a few lines of counting, and damaged ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arcview.model.trajectory import Role, Step, StepKind, ToolKind, Trajectory
from arcview.model.trajectory_refs import SessionRole, Usage
from arcview.readers.registry import find_trajectory_reader
from arcview.readers.trajectories.atif import AtifReader
from tests.readers.golden import expected, summary
from tests.readers.odd_values import with_odd_values

GOLDEN = expected("atif")

SAMPLES = [
    "atif/converted-by-harbor-0.26/claude-eve-checkpoint_1.trajectory.json",
    "atif/converted-by-harbor-0.26/gemini-scrubbed-jsonl_v040.trajectory.json",
    "atif/openagents-login-trace.trajectory.json",
    *(
        f"harbor-job/generated-multi-step/demo-chain/{trial}/steps/{step}/agent/trajectory.json"
        for trial, step in [
            ("chain-ok__GqYs6JZ", "stage-1"),
            ("chain-ok__GqYs6JZ", "stage-2"),
            ("chain-regress__dpZ7mVG", "stage-2"),
            ("chain-crash__Nkmj3Cy", "stage-3"),
        ]
    ),
]


def agent_step(number: int, **fields: Any) -> dict[str, Any]:
    return {"step_id": number, "source": "agent", "message": f"m{number}", **fields}


def call(call_id: str | None, name: str = "bash", arguments: object = None) -> dict[str, Any]:
    return {"tool_call_id": call_id, "function_name": name, "arguments": arguments}


def result(call_id: str | None, content: object, **fields: Any) -> dict[str, Any]:
    return {"source_call_id": call_id, "content": content, **fields}


def observed(*results: dict[str, Any]) -> dict[str, Any]:
    return {"results": list(results)}


def document(*steps: Any, **fields: Any) -> dict[str, Any]:
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": "main",
        "agent": {"name": "scripted-demo", "version": "1", "model_name": "none"},
        "steps": list(steps),
        **fields,
    }


def read(tmp_path: Path, content: dict[str, Any], *companions: Path) -> Trajectory:
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps(content))
    return AtifReader().read(path, companions)


def only_step(tmp_path: Path, **fields: Any) -> Step:
    (step,) = read(tmp_path, document(agent_step(1, **fields))).steps
    return step


def exit_code(tmp_path: Path, content: object, **fields: Any) -> int | None:
    step = only_step(
        tmp_path, tool_calls=[call("c")], observation=observed(result("c", content, **fields))
    )
    assert step.calls[0].result is not None
    return step.calls[0].result.exit_code


# The real samples


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_real_sample_is_recognised_by_content(cases: Path, sample: str) -> None:
    with (cases / "formats" / sample).open("rb") as file:
        assert AtifReader().detect(file.read(65536), "x") is not None


@pytest.mark.parametrize("sample", GOLDEN)
def test_a_real_sample_reads_as_reviewed(cases: Path, sample: str) -> None:
    assert summary(cases / "formats" / sample) == GOLDEN[sample]


@pytest.mark.parametrize("sample", SAMPLES)
def test_counts_of_a_real_sample_agree_with_its_file(cases: Path, sample: str) -> None:
    path = cases / "formats" / sample
    steps = json.loads(path.read_text())["steps"]
    found = AtifReader().read(path)
    assert found.step_count == sum(s["source"] == "agent" for s in steps)
    assert found.tool_call_count == sum(len(s.get("tool_calls") or []) for s in steps)
    results = [r for s in steps for r in (s.get("observation") or {}).get("results", [])]
    assert sum(c.result is not None for s in found.steps for c in s.calls) == len(results)
    assert (found.problems, found.unknown_records) == ((), ())


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_text_of_a_real_sample_is_there(cases: Path, sample: str) -> None:
    path = cases / "formats" / sample
    found = AtifReader().read(path)
    shown = "\n".join(
        text
        for step in found.steps
        for text in (step.text, step.thinking, *(c.result.text for c in step.calls if c.result))
    )
    for step in json.loads(path.read_text())["steps"]:
        assert step["message"] in shown
        assert step.get("reasoning_content", "") in shown


def test_tokens_of_a_real_sample_add_up_to_its_totals(cases: Path) -> None:
    found = AtifReader().read(cases / "formats" / SAMPLES[1])
    inputs = [step.usage.input_tokens for step in found.steps if step.usage]
    assert found.usage is not None
    assert sum(filter(None, inputs)) == found.usage.input_tokens == 23924


def test_sub_agents_that_a_converter_flattened_keep_their_id(cases: Path) -> None:
    found = AtifReader().read(cases / "formats" / SAMPLES[0])
    assert [step.agent for step in found.steps if step.agent] == ["7c029df7", "3273545a"]


def test_the_output_of_a_converted_mini_run_is_text_with_an_exit_code(cases: Path) -> None:
    found = AtifReader().read(cases / "formats" / SAMPLES[5])
    results = [c.result for s in found.steps for c in s.calls if c.result]
    assert [r.exit_code for r in results] == [0, 0, None]
    assert results[1].text == "3157bbe wip\n0285faa wip\n4bbe197 init\n"


def test_our_own_sample_run_is_read_by_the_registry(demo_run: Path) -> None:
    path = demo_run / "stages" / "1" / "trajectory.json"
    reader, _ = find_trajectory_reader(path)
    found = reader.read(path)
    assert found.problems == ()
    assert found.step_count > 0


# Steps


def test_agent_steps_are_numbered_and_others_are_not(tmp_path: Path) -> None:
    steps = [
        {"step_id": 1, "source": "system", "message": "be good"},
        {"step_id": 2, "source": "user", "message": "do it"},
        agent_step(3),
        agent_step(4, llm_call_count=0),
    ]
    found = read(tmp_path, document(*steps))
    assert [(s.role, s.number) for s in found.steps] == [
        (Role.SYSTEM, None),
        (Role.USER, None),
        (Role.ASSISTANT, 1),
        (Role.ASSISTANT, 2),
    ]


def test_a_step_is_addressed_by_its_first_call_or_its_place_in_the_file(tmp_path: Path) -> None:
    found = read(tmp_path, document(agent_step(7), agent_step(8, tool_calls=[call("c-1")])))
    assert [step.key for step in found.steps] == ["trajectory.json#1", "c-1"]


@pytest.mark.parametrize("change", ["compaction", "pruning"])
def test_a_change_of_what_is_remembered_is_shown_with_its_summary(
    tmp_path: Path, change: str
) -> None:
    step = {
        "step_id": 1,
        "source": "system",
        "message": "compacted",
        "observation": observed(result(None, "so far")),
        "extra": {"context_management": {"type": change, "boundary": "replace"}},
    }
    (shown,) = read(tmp_path, document(step)).steps
    assert (shown.kind, shown.text) == (StepKind.COMPACTION, "compacted\nso far")


def test_knowledge_that_is_added_is_no_compaction(tmp_path: Path) -> None:
    extra = {"context_management": {"type": "injection"}}
    step = {"step_id": 1, "source": "system", "message": "know", "extra": extra}
    assert read(tmp_path, document(step)).steps[0].kind is StepKind.MESSAGE


def test_a_handover_to_the_next_agent_is_no_turn_of_the_user(tmp_path: Path) -> None:
    def said(number: int, source: str, message: str) -> dict[str, Any]:
        return {"step_id": number, "source": source, "message": message}

    handover = "Here are the answers the other agent provided.\n\nx"
    trajectory = read(
        tmp_path,
        document(
            said(1, "user", "go"),
            said(2, "system", "Performed context summarization and handoff to continue task."),
            said(3, "user", handover),
            said(4, "user", "and now?"),
        ),
    )
    kinds = [step.kind for step in trajectory.steps]
    message, compaction = StepKind.MESSAGE, StepKind.COMPACTION
    assert kinds == [message, compaction, compaction, message]


def test_a_call_may_be_named_as_model_interfaces_do(tmp_path: Path) -> None:
    step = only_step(tmp_path, tool_calls=[{"name": "Bash", "arguments": '{"command": "ls"}'}])
    assert (step.calls[0].name, step.calls[0].command) == ("Bash", "ls")


def test_steps_may_stand_before_all_that_names_the_format(tmp_path: Path) -> None:
    content = document({"step_id": 1, "source": "user", "message": "x" * 100_000}, agent_step(2))
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"steps": content.pop("steps"), **content}))
    assert find_trajectory_reader(path)[0].id == "atif"
    assert AtifReader().read(path).step_count == 1


def test_copied_context_is_shown_and_counted_nowhere(tmp_path: Path) -> None:
    copied = agent_step(1, is_copied_context=True, tool_calls=[call("c")], metrics={"cost_usd": 1})
    found = read(tmp_path, document(copied, agent_step(2)))
    assert (found.step_count, found.tool_call_count) == (1, 0)
    assert found.steps[0].kind is StepKind.NOTE
    assert "m1" in found.steps[0].text
    assert found.steps[0].usage is None


def test_a_thought_that_repeats_the_message_is_shown_once(tmp_path: Path) -> None:
    assert only_step(tmp_path, reasoning_content="m1").thinking == ""


def test_metrics_become_usage(tmp_path: Path) -> None:
    metrics = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "cached_tokens": 0,
        "cost_usd": 0.25,
        "extra": {"reasoning_tokens": 7},
    }
    assert only_step(tmp_path, metrics=metrics).usage == Usage(100, 0, 20, 7, 0.25)


def test_a_cost_of_0_beside_tokens_is_unknown(tmp_path: Path) -> None:
    usage = only_step(tmp_path, metrics={"prompt_tokens": 9, "cost_usd": 0}).usage
    assert usage == Usage(input_tokens=9)


def test_no_metrics_are_unknown_and_not_0(tmp_path: Path) -> None:
    assert only_step(tmp_path, metrics={}).usage is None


def test_parts_of_a_message_are_text_and_images(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"media_type": "image/png", "path": "images/1.png"}}
    step = only_step(tmp_path, message=[{"type": "text", "text": "look"}, image])
    assert step.text == "look"
    assert [(i.media_type, i.path) for i in step.images] == [("image/png", "images/1.png")]


def test_a_step_of_an_unknown_source_is_kept_as_it_is_and_counted(tmp_path: Path) -> None:
    found = read(tmp_path, document(agent_step(1), {"source": "judge", "message": "hm"}, "text"))
    assert [step.kind for step in found.steps[1:]] == [StepKind.RAW, StepKind.RAW]
    assert found.steps[1].raw is not None
    assert "hm" in found.steps[1].raw
    assert found.unknown_records == (("not an object", 1), ("source 'judge'", 1))


# Calls and results


def test_results_are_paired_by_id_even_out_of_order(tmp_path: Path) -> None:
    step = only_step(
        tmp_path,
        tool_calls=[call("a"), call("b")],
        observation=observed(result("b", "B"), result("a", "A")),
    )
    assert [c.result.text if c.result else None for c in step.calls] == ["A", "B"]


def test_results_without_an_id_are_paired_by_position(tmp_path: Path) -> None:
    step = only_step(
        tmp_path,
        tool_calls=[call("a"), call(None)],
        observation=observed(result(None, "A"), result(None, "B")),
    )
    assert [c.result.text if c.result else None for c in step.calls] == ["A", "B"]


@pytest.mark.parametrize(
    "observation",
    ["done", ["done"], [{"content": "done"}], {"content": "done"}, {"results": ["done"]}],
)
def test_an_observation_may_lack_what_stands_around_its_results(
    tmp_path: Path, observation: object
) -> None:
    step = only_step(tmp_path, tool_calls=call("c"), observation=observation)
    assert [one.result and one.result.text for one in step.calls] == ["done"]


@pytest.mark.parametrize("observation", [None, {}, [], "", {"results": None}, {"results": []}])
def test_an_empty_observation_is_no_result(tmp_path: Path, observation: object) -> None:
    step = only_step(tmp_path, tool_calls=[call("c")], observation=observation)
    assert step.calls[0].result is None


def test_an_observation_of_another_shape_is_kept_as_it_is(tmp_path: Path) -> None:
    step = only_step(tmp_path, tool_calls=[call("c")], observation={"stdout": "done"})
    assert step.calls[0].result is not None
    assert step.calls[0].result.text == '{"stdout": "done"}'


def test_a_result_may_come_with_a_later_step(tmp_path: Path) -> None:
    later = agent_step(2, observation=observed(result("a", "A")))
    found = read(tmp_path, document(agent_step(1, tool_calls=[call("a")]), later))
    first = found.steps[0].calls[0].result
    assert first is not None
    assert first.text == "A"


def test_a_call_without_a_result_has_none(tmp_path: Path) -> None:
    assert only_step(tmp_path, tool_calls=[call("a")]).calls[0].result is None


def test_a_result_without_a_call_is_an_orphan_of_its_own(tmp_path: Path) -> None:
    found = read(tmp_path, document(agent_step(1, observation=observed(result("x", "lost")))))
    assert found.steps[1].kind is StepKind.NOTE
    assert found.steps[1].text == "result for a call that is not here (x)\nlost"
    assert found.tool_call_count == 0


def test_calls_of_one_id_are_paired_in_order_and_flagged(tmp_path: Path) -> None:
    step = only_step(
        tmp_path,
        tool_calls=[call("a"), call("a")],
        observation=observed(result("a", "1"), result("a", "2")),
    )
    assert [c.result.text if c.result else None for c in step.calls] == ["1", "2"]
    assert step.calls[0].key != step.calls[1].key
    assert step.calls[1].note == "another call has the id a too"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("", ""),
        ({"stdout": "x"}, '{"stdout": "x"}'),
        (["a", {"type": "text", "text": "b"}, {"odd": 1}], 'a\nb\n{"odd": 1}'),
    ],
)
def test_content_of_every_shape_is_kept(tmp_path: Path, content: object, text: str) -> None:
    step = only_step(tmp_path, tool_calls=[call("a")], observation=observed(result("a", content)))
    kept = step.calls[0].result
    assert kept is not None
    assert kept.text == text


@pytest.mark.parametrize(
    ("given", "raw"), [("not json", "not json"), ("[1]", "[1]"), ([1], "[\n 1\n]")]
)
def test_arguments_that_are_no_object_are_shown_raw_with_a_note(
    tmp_path: Path, given: object, raw: str
) -> None:
    made = only_step(tmp_path, tool_calls=[call("a", "bash", given)]).calls[0]
    assert (made.raw_arguments, made.note) == (raw, "the arguments are not a JSON object")


def test_arguments_as_json_text_are_read(tmp_path: Path) -> None:
    made = only_step(tmp_path, tool_calls=[call("a", "bash", '{"command": "ls"}')]).calls[0]
    assert made.command == "ls"


def test_a_call_without_name_and_arguments_is_kept(tmp_path: Path) -> None:
    made = only_step(tmp_path, tool_calls=[{"tool_call_id": "a"}]).calls[0]
    assert (made.name, made.kind, dict(made.arguments)) == ("(no name)", ToolKind.OTHER, {})


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "command", "path"),
    [
        ("bash", {"command": "ls -l"}, ToolKind.SHELL, "ls -l", None),
        ("Bash", {"command": "ls"}, ToolKind.SHELL, "ls", None),
        ("execute_bash", {"command": "ls"}, ToolKind.SHELL, "ls", None),
        ("run_shell_command", {"command": "ls"}, ToolKind.SHELL, "ls", None),
        ("bash_command", {"keystrokes": "ls\n"}, ToolKind.SHELL, "ls\n", None),
        ("shell", {"command": ["bash", "-lc", "ls | wc"]}, ToolKind.SHELL, "ls | wc", None),
        ("shell", {"cmd": ["ls", "a b"]}, ToolKind.SHELL, "ls 'a b'", None),
        ("Read", {"file_path": "a.py"}, ToolKind.READ, None, "a.py"),
        ("write_file", {"file_path": "a.py"}, ToolKind.WRITE, None, "a.py"),
        ("edit", {"path": "a.py"}, ToolKind.EDIT, None, "a.py"),
        ("str_replace_editor", {"command": "view", "path": "a"}, ToolKind.READ, None, "a"),
        ("str_replace_editor", {"command": "create", "path": "a"}, ToolKind.WRITE, None, "a"),
        ("str_replace_editor", {"command": "insert", "path": "a"}, ToolKind.EDIT, None, "a"),
        ("Grep", {"pattern": "x", "path": "src"}, ToolKind.SEARCH, None, None),
        ("Task", {"prompt": "x"}, ToolKind.TASK, None, None),
        ("bash_session", {"action": "type", "input": "ls"}, ToolKind.SHELL, "ls", None),
        ("run_in_terminal", {"command": "ls"}, ToolKind.SHELL, "ls", None),
        ("read", {"filePath": "a.py"}, ToolKind.READ, None, "a.py"),
        ("list_directory", {"dir_path": "src"}, ToolKind.READ, None, "src"),
        ("replace_string_in_file", {"filePath": "a"}, ToolKind.EDIT, None, "a"),
        ("write_to_file", {"path": "a"}, ToolKind.WRITE, None, "a"),
        ("navigate", {"path": "/login"}, ToolKind.OTHER, None, None),
    ],
)
def test_tools_are_known_by_their_usual_names(
    tmp_path: Path, name: str, arguments: object, kind: ToolKind, command: str, path: str
) -> None:
    made = only_step(tmp_path, tool_calls=[call("a", name, arguments)]).calls[0]
    assert (made.kind, made.command, made.path) == (kind, command, path)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("Exit code 1\nboom", 1),
        ("[exit code: 0]", 0),
        ("boom\n[exit code: 2]\n", 2),
        ("ok\n[The command completed with exit code 0.]", 0),
        ('{"returncode": 3, "output": "x"}', 3),
        ("it said: Exit code 1 somewhere", None),
        ("line\n[exit code: 2]\nmore output", None),
        ("", None),
    ],
)
def test_an_exit_code_is_read_from_a_fixed_phrase_at_either_end_only(
    tmp_path: Path, content: str, code: int | None
) -> None:
    assert exit_code(tmp_path, content) == code


def test_a_recorded_exit_code_counts_more_than_a_phrase(tmp_path: Path) -> None:
    assert exit_code(tmp_path, "Exit code 1", extra={"exit_code": 0}) == 0


def test_a_tool_error_is_marked_where_it_is_recorded(tmp_path: Path) -> None:
    step = only_step(
        tmp_path,
        tool_calls=[call("a")],
        observation=observed(result("a", "no", extra={"is_error": True})),
    )
    assert step.calls[0].result is not None
    assert step.calls[0].result.is_error is True


# Several documents


def test_an_embedded_sub_agent_stands_after_the_call_that_started_it(tmp_path: Path) -> None:
    ref = {"trajectory_id": "sub-1", "session_id": "main"}
    task = result("t", "done", subagent_trajectory_ref=[ref])
    main = document(
        agent_step(1, tool_calls=[call("t", "Task")], observation=observed(task)),
        agent_step(2),
        subagent_trajectories=[document(agent_step(1), session_id="s", trajectory_id="sub-1")],
    )
    found = read(tmp_path, main)
    assert [(s.number, s.parent_call, s.agent is None) for s in found.steps] == [
        (1, None, True),
        (2, "t", False),
        (3, None, True),
    ]
    assert [(s.role, s.steps) for s in found.sessions] == [
        (SessionRole.MAIN, 2),
        (SessionRole.SUBAGENT, 1),
    ]


def test_a_sub_agent_in_a_file_beside_is_joined_once(tmp_path: Path) -> None:
    beside = tmp_path / "trajectory.summary.json"
    beside.write_text(json.dumps(document(agent_step(1), session_id="sub")))
    task = result("t", "", subagent_trajectory_ref=[{"trajectory_path": beside.name}])
    main = document(agent_step(1, tool_calls=[call("t")], observation=observed(task)))
    assert read(tmp_path, main).step_count == 2
    assert read(tmp_path, main, beside).step_count == 2


@pytest.mark.parametrize("named", ["../secret.json", "/etc/hostname", "sub/../../secret.json"])
def test_a_reference_that_leaves_the_folder_is_not_followed(tmp_path: Path, named: str) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (tmp_path / "secret.json").write_text(json.dumps(document(agent_step(1))))
    task = result("t", "", subagent_trajectory_ref=[{"trajectory_path": named}])
    main = document(agent_step(1, tool_calls=[call("t")], observation=observed(task)))
    found = read(folder, main)
    assert found.step_count == 1
    assert "the sub-agent of t is not there" in found.problems[0].what


def test_a_continuation_follows_and_its_copied_steps_do_not_count(tmp_path: Path) -> None:
    following = tmp_path / "trajectory.cont-1.json"
    steps = [agent_step(1, is_copied_context=True), agent_step(2)]
    following.write_text(json.dumps(document(*steps)))
    main = document(agent_step(1), continued_trajectory_ref=following.name)
    found = read(tmp_path, main, following)
    assert [step.number for step in found.steps] == [1, None, 2]


@pytest.mark.parametrize(("second", "total"), [(30, 30), (20, 30), (None, 30)])
def test_what_several_documents_spent_is_counted_once(
    tmp_path: Path, second: int | None, total: int
) -> None:
    def spent(step: int, tokens: int) -> dict[str, Any]:
        return agent_step(step, metrics={"prompt_tokens": tokens, "completion_tokens": 1})

    following = tmp_path / "trajectory.cont-1.json"
    copied = agent_step(1, is_copied_context=True, metrics={"prompt_tokens": 10})
    metrics = {"total_prompt_tokens": second} if second else None
    following.write_text(json.dumps(document(copied, spent(2, 20), final_metrics=metrics)))
    main = document(
        spent(1, 10),
        continued_trajectory_ref=following.name,
        final_metrics={"total_prompt_tokens": 10},
    )
    found = read(tmp_path, main)
    assert found.usage is not None
    assert found.usage.input_tokens == total


def test_what_a_companion_spent_counts_too(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document(final_metrics={"total_prompt_tokens": 5})))
    found = read(tmp_path, document(final_metrics={"total_prompt_tokens": 10}), other)
    assert found.usage is not None
    assert found.usage.input_tokens == 15


def test_sub_agents_that_share_the_session_are_told_apart(tmp_path: Path) -> None:
    named = [document(agent_step(1), trajectory_id=name) for name in ("a", "b")]
    ref = result("t", "done", subagent_trajectory_ref=[{"trajectory_id": "a"}])
    first = agent_step(1, tool_calls=[call("t", "Task")], observation=observed(ref))
    found = read(tmp_path, document(first, subagent_trajectories=named))
    assert [(step.agent, step.parent_call) for step in found.steps] == [
        (None, None),
        ("a", "t"),
        ("b", None),
    ]
    assert [(one.id, one.role, one.steps) for one in found.sessions] == [
        ("main", SessionRole.MAIN, 1),
        ("a", SessionRole.SUBAGENT, 1),
        ("b", SessionRole.SUBAGENT, 1),
    ]


def test_a_continuation_of_itself_ends(tmp_path: Path) -> None:
    found = read(tmp_path, document(agent_step(1), continued_trajectory_ref="trajectory.json"))
    assert found.step_count == 1
    assert "its continuation is not there" in found.problems[0].what


def test_a_companion_that_nothing_names_is_shown_at_the_end(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document(agent_step(1), session_id="second")))
    found = read(tmp_path, document(agent_step(1)), other)
    assert [step.session for step in found.steps] == ["main", "second"]


# Damage


@pytest.mark.parametrize("content", [b"", b"\0\0", b'"text"', b"[]", b"{}", b'{"steps": {}}'])
def test_a_file_that_is_no_trajectory_is_a_problem_with_its_path(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(content)
    found = AtifReader().read(path)
    assert found.steps == ()
    assert found.problems[0].where.startswith(str(path))


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    assert "missing" in AtifReader().read(tmp_path / "no.json").problems[0].what


def test_of_a_file_that_is_cut_short_the_whole_steps_are_kept(tmp_path: Path) -> None:
    text = json.dumps(document(agent_step(1), agent_step(2), agent_step(3)))
    path = tmp_path / "trajectory.json"
    path.write_text(text[: text.index('"m3"')])
    found = AtifReader().read(path)
    assert found.step_count == 2
    assert "2 whole steps are kept" in found.problems[0].what
    assert found.sessions[0].id == "main"


def test_an_empty_list_of_steps_is_no_damage(tmp_path: Path) -> None:
    found = read(tmp_path, document())
    assert (found.steps, found.problems) == ((), ())


def test_a_byte_order_mark_and_bad_bytes_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.json"
    data = json.dumps(document(agent_step(1))).encode().replace(b"m1", b"m\xff")
    path.write_bytes(b"\xef\xbb\xbf" + data)
    assert AtifReader().detect(path.read_bytes(), path.name) is not None
    assert AtifReader().read(path).steps[0].text == "m�"


def test_a_count_that_contradicts_the_steps_is_a_problem(tmp_path: Path) -> None:
    found = read(tmp_path, document(agent_step(1), final_metrics={"total_steps": 9}))
    assert found.problems[0].what == "final_metrics counts 9 steps, 1 are there"


def test_a_version_of_the_future_is_read_and_named(tmp_path: Path) -> None:
    found = read(tmp_path, document(agent_step(1), schema_version="ATIF-v2.0"))
    assert found.step_count == 1
    assert "ATIF-v2.0" in found.problems[0].what


@pytest.mark.parametrize("version", [f"ATIF-v1.{minor}" for minor in range(9)])
def test_every_published_version_is_known(tmp_path: Path, version: str) -> None:
    found = read(tmp_path, document(agent_step(1), schema_version=version))
    assert found.problems == ()


# The marks of our own export


@pytest.mark.parametrize("value", [None, 3, "text", [], ["x"], {"a": 1}, True])
def test_marks_of_the_wrong_type_count_as_absent(tmp_path: Path, value: object) -> None:
    step_marks = ("key", "kind", "role", "at", "model", "thinking", "usage", "calls", "images")
    names = (*step_marks, "duration_s", "is_error", "session", "raw", "parent_call")
    root = ("usage", "sessions", "problems", "unknown_records", "patch", "sessionless")
    marks = {"arcview": dict.fromkeys(names, value)}
    whole = {"arcview": dict.fromkeys(root, value)}
    marked_call = {**call("c"), "extra": {"arcview": dict.fromkeys(("kind", "path"), value)}}
    step = agent_step(1, tool_calls=[marked_call], extra=marks)
    found = read(tmp_path, document(step, extra=whole))
    assert found.step_count + found.tool_call_count >= 1


def test_marks_that_are_no_object_are_ignored(tmp_path: Path) -> None:
    (step,) = read(tmp_path, document(agent_step(1, extra={"arcview": "x"}), extra=3)).steps
    assert (step.text, step.number) == ("m1", 1)


def test_odd_values_never_raise(tmp_path: Path) -> None:
    step = agent_step(
        1,
        reasoning_content="r",
        tool_calls=[call("c", arguments={"command": "ls"})],
        observation=observed(result("c", "x", subagent_trajectory_ref=[{"trajectory_id": "s"}])),
        metrics={"prompt_tokens": 1, "extra": {"reasoning_tokens": 1}},
        extra={"context_management": {"type": "compaction"}},
    )
    inner = {**document(agent_step(1)), "trajectory_id": "s"}
    system = {"step_id": 2, "source": "system", "message": "m", "extra": step["extra"]}
    content = document(step, system, subagent_trajectories=[inner], final_metrics={})
    for changed in with_odd_values(content):
        path = tmp_path / "x.json"
        path.write_bytes(json.dumps(changed).encode())
        AtifReader().read(path)
        AtifReader().detect(path.read_bytes(), path.name)
