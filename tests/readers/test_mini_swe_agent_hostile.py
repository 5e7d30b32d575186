"""The hostile trajectories, each with the behaviour that its index row asks for."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from arcview.errors import BadInputError, UnknownLayoutError
from arcview.model.trajectory import Role, StepKind, Trajectory
from arcview.readers.registry import find_trajectory_reader

# What stands under each row of the index below: a new row without a test fails here.
TESTED = {
    "t01_empty_messages.traj.json",
    "t02_list_root.traj.json",
    "t04_content_parts.traj.json",
    "t05_tool_args_not_json.traj.json",
    "t07_jsonl_partial_last_line.jsonl",
    "t08_nul_and_controls.traj.json",
    "t10_invalid_utf8.traj.json",
    "t11_utf8_bom.traj.json",
    "t13_result_without_call.traj.json",
    "t14_starts_with_assistant.traj.json",
    "t16_markup_everywhere.traj.json",
    "t17_times_mixed.traj.json",
    "t19_clipboard_escape.traj.json",
    "[draft] run[/].traj.json",
    "t21_zero_bytes.traj.json",
    "t22_root_is_string.traj.json",
    "dup_stem/a/task-1.traj.json",
    "dup_stem/b/task-1.traj.json",
    "t25_nul_padded_rows.jsonl",
}


def read(cases: Path, name: str) -> Trajectory:
    path = cases / "hostile" / "traj" / name
    return find_trajectory_reader(path)[0].read(path)


def last_text(cases: Path, name: str) -> str:
    return read(cases, name).steps[-1].text


def test_every_row_of_the_index_has_its_test(cases: Path) -> None:
    with (cases / "hostile" / "INDEX.tsv").open() as file:
        rows = [row["file"] for row in csv.DictReader(file, delimiter="\t")]
    named = {row.removeprefix("traj/") for row in rows if row.startswith("traj/")}
    assert named == TESTED


def test_no_messages_are_no_steps(cases: Path) -> None:
    found = read(cases, "t01_empty_messages.traj.json")
    assert (found.steps, found.problems, found.step_count) == ((), (), 0)


def test_a_list_at_the_root_is_accepted(cases: Path) -> None:
    found = read(cases, "t02_list_root.traj.json")
    assert [step.role for step in found.steps] == [Role.SYSTEM, Role.USER, Role.ASSISTANT]


def test_parts_of_a_content_are_each_shown(cases: Path) -> None:
    step = read(cases, "t04_content_parts.traj.json").steps[-1]
    (call,) = step.calls
    assert (step.thinking, step.text, call.name, call.path) == (
        "look first",
        "Looking.",
        "view",
        "a.py",
    )
    assert call.result is not None
    assert (call.result.text, call.result.is_error) == ("no such file", True)
    assert [image.media_type for image in call.result.images] == ["image/png"]


def test_arguments_that_are_not_json_are_shown_as_written(cases: Path) -> None:
    broken, empty = read(cases, "t05_tool_args_not_json.traj.json").steps[-1].calls
    assert (broken.raw_arguments, broken.note) == (
        '{"command": "echo "hi""}',
        "the arguments are not a JSON object",
    )
    assert (empty.name, empty.arguments, empty.raw_arguments) == ("(no name)", {}, None)


def test_a_torn_last_row_is_said_and_the_good_ones_shown(cases: Path) -> None:
    found = read(cases, "t07_jsonl_partial_last_line.jsonl")
    assert [step.text.removeprefix("system: ") for step in found.steps] == [
        "You are an agent.",
        "Stage 1: add ping()",
    ]
    (problem,) = found.problems
    assert (problem.where.endswith("line 4"), problem.what) == (
        True,
        "cut off: 36 bytes left out",
    )


def test_control_characters_reach_the_model_untouched(cases: Path) -> None:
    text = last_text(cases, "t08_nul_and_controls.traj.json")
    assert text.endswith("a\0b\x07\x08\x1b[31mred\x1b[0m\x1b]0;title\x07 end")


def test_bytes_that_are_not_utf8_are_replaced_with_a_remark(cases: Path) -> None:
    found = read(cases, "t10_invalid_utf8.traj.json")
    assert "caf\ufffd" in found.steps[-1].text
    assert [problem.what for problem in found.problems] == [
        "byte 47 is not UTF-8; such bytes are replaced"
    ]


def test_a_byte_order_mark_is_skipped(cases: Path) -> None:
    found = read(cases, "t11_utf8_bom.traj.json")
    assert (len(found.steps), found.problems) == (2, ())


def test_an_orphan_is_shown_as_one_and_a_doubled_id_pairs_in_order(cases: Path) -> None:
    found = read(cases, "t13_result_without_call.traj.json")
    orphan, step = found.steps[-2:]
    assert (orphan.kind, orphan.text) == (
        StepKind.NOTE,
        "result for a call that is not here (nope)\norphan output",
    )
    assert [call.result.text for call in step.calls if call.result] == ["first", "second"]
    assert [call.note for call in step.calls] == [None, "another call has the id dup too"]
    assert len({call.key for call in step.calls}) == 2


def test_the_first_page_may_be_the_model(cases: Path) -> None:
    found = read(cases, "t14_starts_with_assistant.traj.json")
    assert [(step.number, step.text) for step in found.steps] == [(1, "I begin"), (None, "ok")]


def test_markup_is_text(cases: Path) -> None:
    found = read(cases, "t16_markup_everywhere.traj.json")
    assert found.steps[0].text.startswith("[/] [/dim] [bold] list[int]")
    assert found.steps[1].text.endswith("[$primary] $text :smile: :warning:")


def test_times_that_cannot_be_compared_give_no_duration(cases: Path) -> None:
    found = read(cases, "t17_times_mixed.traj.json")
    assert [step.at for step in found.steps] == [
        "2026-01-01T10:00:00",
        "2026-01-01T09:59:59+02:00",
        "2026-01-01T10:00:00Z",
        "2026-01-01T10:00:00.123000Z",
        None,
        "yesterday",
    ]
    assert [step.text for step in found.steps] == list("abcdef")
    assert {step.duration_s for step in found.steps} == {None}


def test_escape_sequences_reach_the_model_untouched(cases: Path) -> None:
    text = last_text(cases, "t19_clipboard_escape.traj.json")
    assert "\x1b]52;c;cm0gLXJmIH4=\x07\x1b[?1049h" in text
    assert text.endswith("\x1b]unterminated")


def test_brackets_in_a_name_are_a_name(cases: Path) -> None:
    found = read(cases, "[draft] run[/].traj.json")
    assert found.steps[-1].text == "file name with brackets"
    assert [session.id for session in found.sessions] == ["]"]


def test_an_empty_file_is_said_with_its_path(cases: Path) -> None:
    with pytest.raises(BadInputError, match=r"t21_zero_bytes\.traj\.json: the file is empty"):
        read(cases, "t21_zero_bytes.traj.json")


def test_a_text_is_no_trajectory(cases: Path) -> None:
    with pytest.raises(
        UnknownLayoutError, match=r"t22_root_is_string\.traj\.json: not a .*traject"
    ):
        read(cases, "t22_root_is_string.traj.json")


@pytest.mark.parametrize(("folder", "status"), [("a", "submitted"), ("b", "limits")])
def test_two_files_of_one_name_keep_their_own_status(cases: Path, folder: str, status: str) -> None:
    found = read(cases, f"dup_stem/{folder}/task-1.traj.json")
    assert found.exit_status == status
    assert found.steps[-1].text == f"session ended: {status}"


def test_nul_padding_between_rows_is_said(cases: Path) -> None:
    found = read(cases, "t25_nul_padded_rows.jsonl")
    assert [step.text for step in found.steps] == ["ok", "still here"]
    assert all("NUL padding" in problem.what for problem in found.problems)
    assert found.problems


def test_a_file_that_ends_within_a_role_is_recognised_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    message = '{"role": "user", "content": "go"}'
    info = '{"mini_version": "1.17.5"}'
    path.write_text(f'{{"info": {info}, "messages": [{message}, {{"role": "as')
    reader, _ = find_trajectory_reader(path)
    assert reader.id == "mini_swe_agent"
    assert "go" in [step.text for step in reader.read(path).steps]
