from __future__ import annotations

import pytest

from arcview.analysis.self_test_depth import (
    EarlierFiles,
    Exercises,
    closing_message,
    defined_names,
    earlier_files,
    earlier_stages,
    edits_after,
    introduced_in,
    last_green,
    named_symbols,
    revisits_earlier,
)
from arcview.analysis.self_tests import SelfTest, find_self_tests
from arcview.model.results import GateTest, Group, Outcome
from arcview.model.trajectory import (
    Role,
    Step,
    StepKind,
    ToolCall,
    ToolKind,
    ToolResult,
    Trajectory,
)

PASSED = "....\n4 passed in 0.10s\n"
FAILED = "F\n1 failed, 3 passed in 0.10s\n"


def shell(number: int, command: str, output: str = "") -> Step:
    key = f"c{number}"
    call = ToolCall(key, "Bash", ToolKind.SHELL, command=command, result=ToolResult(output))
    return Step(key, number, Role.ASSISTANT, StepKind.MESSAGE, calls=(call,))


def write(number: int, path: str) -> Step:
    key = f"c{number}"
    arguments = {"file_path": path, "content": "x\n"}
    call = ToolCall(key, "Write", ToolKind.WRITE, arguments, path=path)
    return Step(key, number, Role.ASSISTANT, StepKind.MESSAGE, calls=(call,))


def say(number: int, text: str) -> Step:
    return Step(f"m{number}", number, Role.ASSISTANT, StepKind.MESSAGE, text=text)


def runs_of(*steps: Step) -> tuple[SelfTest, ...]:
    return find_self_tests(Trajectory("t", steps))


def failing(test_id: str, message: str = "", traceback: str = "") -> GateTest:
    return GateTest(test_id, Group.F2P, Outcome.FAILED, message=message, traceback=traceback)


def test_the_last_green_run_is_the_last_that_passed() -> None:
    steps = (shell(1, "pytest", PASSED), shell(2, "pytest", FAILED), shell(3, "python app.py"))
    green = last_green(runs_of(*steps))
    assert green is not None
    assert green.step_key == "c1"


def test_edits_before_the_green_run_and_outside_are_not_late() -> None:
    steps = (write(1, "a.py"), shell(2, "pytest", PASSED), write(3, "a.py"), write(4, "/tmp/b.py"))
    late = edits_after(
        Trajectory("t", steps), "c2", {"a.py": "a.py"}.get, lambda path: path.endswith(".py")
    )
    assert [(edit.step, edit.path) for edit in late] == [(3, "a.py")]


def test_the_closing_message_is_the_last_one_without_calls() -> None:
    closing = closing_message(Trajectory("t", (shell(1, "ls"), say(2, "Done."))))
    assert closing is not None
    assert closing.text == "Done."


@pytest.mark.parametrize(
    "steps",
    [
        (say(1, "All tests pass."), shell(2, "ls")),
        (shell(1, "ls"),),
        (say(1, "(no content)"),),
        (),
    ],
)
def test_a_stage_that_stops_in_the_middle_has_no_closing_message(steps: tuple[Step, ...]) -> None:
    assert closing_message(Trajectory("t", steps)) is None


BASE = ("app.py", "tests/test_old.py", "tests/test_first.py")
INTRODUCED = introduced_in(
    [(0, ("app.py", "tests/test_first.py")), (1, BASE), (2, (*BASE, "tests/test_late.py"))]
)


def test_test_files_belong_to_the_stage_that_has_them_first() -> None:
    assert INTRODUCED == {"tests/test_first.py": 0, "tests/test_old.py": 1, "tests/test_late.py": 2}


@pytest.mark.parametrize(
    ("command", "output", "stages"),
    [
        ("pytest tests/test_old.py", PASSED, (1,)),
        ("pytest tests", PASSED, (1, 2)),
        ("pytest tests/test_new.py", PASSED, ()),
        ("pytest tests/test_first.py", PASSED, ()),
        ("pytest -q", PASSED, None),
        ("pytest -q", "tests/test_old.py::test_a PASSED\n" + PASSED, (1,)),
        ("python app.py", "", None),
    ],
)
def test_earlier_stages_are_those_whose_test_files_ran(
    command: str, output: str, stages: tuple[int, ...] | None
) -> None:
    (test,) = runs_of(shell(1, command, output))
    found = earlier_stages(test, (*BASE, "tests/test_late.py"), INTRODUCED, {"tests/test_new.py"})
    assert found == stages


@pytest.mark.parametrize(
    ("stages", "expected"),
    [([(1,), None], True), ([(), None], None), ([(), ()], False), ([], False)],
)
def test_a_stage_revisits_when_one_of_its_tests_does(
    stages: list[tuple[int, ...] | None], expected: bool | None
) -> None:
    tests = runs_of(*(shell(n, "pytest", PASSED) for n, _ in enumerate(stages)))
    assert revisits_earlier(tests, stages) is expected


def test_probes_do_not_revisit() -> None:
    assert revisits_earlier(runs_of(shell(1, "python app.py")), [None]) is False


CODE = ["def normalise(tags): ...\ndef main():\n    add_command('eval')\n    add('--radix')\n"]
CALLS = "E   assert 1\n> assert normalise([' a ']) == ['a']\nE   AssertionError"
RUNS = "where 3 = CompletedProcess(args=['python', 'app.py', 'eval', '/tmp/x', '--radix'])"


def guess(test: GateTest, *steps: Step, code: str | None = None) -> tuple[str, str]:
    found = Exercises(runs_of(*steps), lambda _: code, CODE).of(test)
    return found.answer, found.reason


def test_a_self_test_of_the_same_name_likely_exercised_it() -> None:
    step = shell(4, "pytest -v", "tests/test_a.py::test_trim PASSED\n" + PASSED)
    answer, reason = guess(failing("gate/test_tags.py::test_trim[x]"), step)
    assert answer == "likely"
    assert reason == "step 4 ran a test that is called test_trim too"


def test_a_self_test_that_names_what_the_failing_statement_calls_likely_exercised_it() -> None:
    step = shell(4, "pytest tests/test_a.py", PASSED)
    code = "assert normalise(['x'])"
    assert guess(failing("g::test_trim", traceback=CALLS), step, code=code)[0] == "likely"


def test_a_self_test_that_names_the_case_likely_exercised_it() -> None:
    step = shell(4, "python app.py eval /tmp/literal_x.circ")
    found = guess(failing("g::test_eval[literal_x-in]"), step)
    assert found == ("likely", "step 4 names the case literal_x")


def test_the_same_command_with_other_input_may_not_have_exercised_it() -> None:
    answer, reason = guess(failing("g::t", RUNS), shell(4, "python app.py eval y --radix hex"))
    assert answer == "unknown"
    assert reason == "step 4 ran `eval --radix` too, with which input is not known"


def test_what_no_self_test_names_was_hardly_exercised() -> None:
    found = guess(failing("g::t", RUNS), shell(4, "python app.py check y"))
    assert found == ("unlikely", "no self-test names eval and --radix")


def test_a_suite_of_which_nothing_is_known_leaves_it_open() -> None:
    found = guess(failing("g::t", RUNS), shell(4, "pytest", PASSED))
    assert found == ("unknown", "what the agent's suites ran is not known")


def test_helpers_of_the_hidden_test_say_nothing() -> None:
    traceback = CALLS.replace("normalise", "helper_of_the_test")
    found = guess(failing("g::t", traceback=traceback), shell(4, "python app.py"))
    assert found == ("unknown", "the failure names nothing to look for")


def test_an_agent_that_ran_nothing_exercised_nothing() -> None:
    assert guess(failing("g::t"))[0] == "unlikely"


def test_definitions_are_found_where_they_stand() -> None:
    code = {
        "a.py": "import os\n\nclass Engine:\n    async def apply(self): ...\n",
        "b.ts": "export default function render(x) {}\nexport type Row = {}\n",
        "c.rs": "pub(crate) fn parse(x: u8) {}\n",
        "d.go": "func (e *Engine) Run() {}\n",
    }
    assert defined_names(code) == {
        "Engine": ("a.py", 3),
        "apply": ("a.py", 4),
        "render": ("b.ts", 1),
        "Row": ("b.ts", 2),
        "parse": ("c.rs", 1),
        "Run": ("d.go", 1),
    }


def test_the_symbols_of_a_self_test_are_names_of_the_project() -> None:
    (test,) = runs_of(shell(1, "python -c 'from a import apply; print(apply(os))'"))
    assert named_symbols(test, None, {"apply", "load"}) == ("apply",)
    assert named_symbols(test, "load()", {"apply", "load"}) == ("apply", "load")


def test_the_test_files_of_earlier_stages_that_a_stage_ran_again_are_counted() -> None:
    introduced = {"tests/test_a.py": 1, "tests/test_b.py": 2, "tests/test_start.py": 0}
    named = runs_of(shell(1, "pytest tests/test_a.py tests/test_start.py", PASSED))
    assert earlier_files(named, introduced, ()) == EarlierFiles(2, 1, 0)
    unnamed = runs_of(shell(1, "pytest tests/test_a.py", PASSED), shell(2, "pytest", PASSED))
    assert earlier_files(unnamed, introduced, ()) == EarlierFiles(2, 1, 1)
    ad_hoc = runs_of(shell(1, "python -c 'from app import f; assert f()'"))
    assert earlier_files(ad_hoc, introduced, ()) == EarlierFiles(2, 0, 0)
    assert earlier_files((), introduced, ()) == EarlierFiles(2, 0, 0)
