from __future__ import annotations

from dataclasses import replace

import pytest

from arcview.analysis.clues import Clue, ClueKind
from arcview.analysis.symptoms import Symptom, ToolOutputs, telling_clues
from arcview.model.trajectory import (
    Role,
    Step,
    StepKind,
    ToolCall,
    ToolKind,
    ToolResult,
    Trajectory,
)

MESSAGE = Clue(ClueKind.MESSAGE, "Undefined signal: X")


def step(number: int, output: str, kind: ToolKind = ToolKind.SHELL) -> Step:
    command = "run" if kind is ToolKind.SHELL else None
    call = ToolCall(f"c{number}", "tool", kind, command=command, result=ToolResult(output))
    return Step(f"s{number}", number, Role.ASSISTANT, StepKind.MESSAGE, calls=(call,))


def trajectory(*outputs: str) -> Trajectory:
    return Trajectory("t", tuple(step(n, text) for n, text in enumerate(outputs, 1)))


def find_symptoms(test_id: str, clues: list[Clue], steps: Trajectory) -> tuple[Symptom, ...]:
    return ToolOutputs(steps, 1).symptoms(telling_clues(test_id, clues))


def test_an_output_that_showed_the_message_is_found_with_its_line() -> None:
    found = find_symptoms("t::x", [MESSAGE], trajectory("ok", "a\nError: Undefined signal: X!\nb"))

    assert [(s.number, s.line) for s in found] == [(2, "Error: Undefined signal: X!")]


def test_the_failing_test_s_own_name_is_a_symptom() -> None:
    found = find_symptoms(
        "checkpoint_1::test_parse_errors[a-b]",
        [],
        trajectory("FAILED t.py::test_parse_errors[a-b]"),
    )

    assert [s.clue.text for s in found] == ["test_parse_errors"]


def test_a_file_that_was_read_is_not_a_symptom() -> None:
    read = Trajectory("t", (step(1, "print('Undefined signal: X')", ToolKind.READ),))

    assert find_symptoms("t::x", [MESSAGE], read) == ()


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("grep -n signal circopt.py", 0),
        ("cd src && cat a.py | head -20; grep -n 'def \\|add' b.py", 0),
        ("cat a.py && python a.py", 1),
        ('echo "$(python a.py)"', 1),
    ],
)
def test_code_that_a_command_only_shows_is_not_a_symptom(command: str, count: int) -> None:
    shown = step(1, "print('Undefined signal: X')")
    call = replace(shown.calls[0], command=command)
    steps = Trajectory("t", (replace(shown, calls=(call,)),))

    assert len(find_symptoms("t::x", [MESSAGE], steps)) == count


def test_an_error_type_in_a_line_of_code_did_not_come_up() -> None:
    clue = Clue(ClueKind.ERROR_TYPE, "ParseError")
    code = "    raise ParseError('x')\nexcept ParseError:\n17\u2192    \"ParseError\","
    found = find_symptoms("t::x", [clue], trajectory(code, f"{code}\nParseError: bad line 3"))

    assert [(s.number, s.line) for s in found] == [(2, "ParseError: bad line 3")]


@pytest.mark.parametrize(
    "line",
    ["ImportError: cannot import name 'x' from 'y'", '  "type": "ImportError",', "ImportError"],
)
def test_an_error_type_in_what_a_program_said_is_a_symptom(line: str) -> None:
    found = find_symptoms("t::x", [Clue(ClueKind.ERROR_TYPE, "ImportError")], trajectory(line))

    assert [symptom.line for symptom in found] == [line]


def test_a_clue_that_most_outputs_hold_is_no_symptom() -> None:
    assert find_symptoms("t::x", [MESSAGE], trajectory(*["Undefined signal: X"] * 9)) == ()


def test_names_and_commands_alone_are_no_symptom() -> None:
    clues = [Clue(ClueKind.COMMAND, "check"), Clue(ClueKind.NAME, "--json")]

    assert find_symptoms("t::x", clues, trajectory("check --json")) == ()
