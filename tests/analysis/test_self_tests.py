"""Self-tests of whole trajectories: outcomes, masks, several runs in a call, scripts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest

from arcview.analysis.self_tests import (
    SelfTest,
    SelfTestKind,
    find_self_tests,
    runs_file,
    touches_earlier,
)
from arcview.model.trajectory import (
    Role,
    Step,
    StepKind,
    ToolCall,
    ToolKind,
    ToolResult,
    Trajectory,
)

RED = "=== 1 failed, 2 passed in 0.1s ==="
GREEN = "=== 3 passed in 0.1s ==="


def shell(
    command: str,
    output: str | None = "",
    *,
    exit_code: int | None = None,
    is_error: bool | None = None,
) -> ToolCall:
    result = None if output is None else ToolResult(output, is_error=is_error, exit_code=exit_code)
    return ToolCall(key="", name="Bash", kind=ToolKind.SHELL, command=command, result=result)


def edit(kind: ToolKind, path: str, **arguments: str) -> ToolCall:
    values: Mapping[str, object] = {"file_path": path, **arguments}
    return ToolCall(
        key="", name=kind.value, kind=kind, arguments=values, path=path, result=ToolResult("ok")
    )


def trajectory(*calls: ToolCall, agent: str | None = None) -> Trajectory:
    steps = []
    for number, call in enumerate(calls, 1):
        key = f"call-{number}"
        keyed = ToolCall(
            key=key,
            name=call.name,
            kind=call.kind,
            arguments=call.arguments,
            command=call.command,
            path=call.path,
            result=call.result,
        )
        steps.append(
            Step(
                key=f"step-{number}",
                number=number,
                role=Role.ASSISTANT,
                kind=StepKind.MESSAGE,
                calls=(keyed,),
                agent=agent,
            )
        )
    return Trajectory("test", tuple(steps))


def found(*calls: ToolCall) -> tuple[SelfTest, ...]:
    return find_self_tests(trajectory(*calls))


def only(*calls: ToolCall) -> SelfTest:
    tests = found(*calls)
    assert len(tests) == 1, [test.command for test in tests]
    return tests[0]


def test_a_run_knows_where_it_stands() -> None:
    test = only(shell("cd app && timeout 60 pytest -q tests/test_a.py", GREEN, exit_code=0))
    assert (test.step_number, test.step_key, test.call_key) == (1, "step-1", "call-1")
    assert (test.command, test.cwd, test.timeout) == (
        "timeout 60 pytest -q tests/test_a.py",
        "app",
        "60",
    )
    assert (test.kind, test.runner, test.targets) == (
        SelfTestKind.SUITE,
        "pytest",
        ("tests/test_a.py",),
    )
    assert (test.outcome, test.passed, test.failed, test.exit_code) == ("passed", 3, 0, 0)
    assert test.evidence == "3 passed in 0.1s"


def test_a_sub_agents_run_is_marked() -> None:
    tests = find_self_tests(trajectory(shell("pytest", GREEN), agent="a1"))
    assert [test.agent for test in tests] == ["a1"]


def test_options_and_their_values_are_no_targets() -> None:
    test = only(shell("pytest -q -k 'a or b' --maxfail 2 -p no:x tests/a.py::t tests/b", GREEN))
    assert test.targets == ("tests/a.py::t", "tests/b")


@pytest.mark.parametrize(
    ("command", "masked"),
    [
        ("pytest | tail -3", "pipe into tail"),
        ("pytest || true", "|| true"),
        ("pytest; echo done", "; after it"),
        ("out=$(pytest)", "inside $( )"),
        ("pytest &", "& (in the background)"),
    ],
)
def test_a_masked_exit_code_is_not_used(command: str, masked: str) -> None:
    test = only(shell(command, "nothing to see", exit_code=0))
    assert (test.masked, test.exit_code, test.outcome) == (masked, None, "unknown")


def test_the_text_of_a_masked_run_still_counts() -> None:
    test = only(shell("pytest 2>&1 | tail -3 || true", RED, exit_code=0))
    assert (test.outcome, test.passed, test.failed) == ("failed", 2, 1)


def test_an_exit_code_that_the_line_prints_is_used() -> None:
    test = only(shell('make test; echo "exit: $?"', "running\nexit: 2", exit_code=0))
    assert (test.exit_code, test.masked, test.outcome) == (2, None, "failed")


def test_printed_exit_codes_belong_to_their_own_commands() -> None:
    tests = found(
        shell(
            'python a.py; echo "a: $?"\npython b.py; echo "a: $?"\npython c.py; echo done',
            "x\na: 0\ny\na: 3\ndone",
            exit_code=0,
        )
    )
    assert [test.exit_code for test in tests] == [0, 3, None]


def test_a_failed_chain_does_not_say_which_part_failed() -> None:
    test = only(shell("npm run build && make test", "x", exit_code=1))
    assert (test.exit_code, test.masked, test.outcome) == (None, "&& npm", "none")
    assert test.evidence == "not run: npm && stopped before it"


def test_changing_the_folder_explains_no_failure() -> None:
    test = only(shell("cd app && make test && echo ok", "x", exit_code=2))
    assert (test.exit_code, test.outcome) == (2, "failed")


def test_a_build_error_before_a_run_is_not_the_runs_own() -> None:
    text = "error[E0425]: cannot find function `x`\nerror: could not compile `p`"
    assert only(shell("cargo build && cargo test", text, exit_code=101)).outcome == "none"


def test_a_run_under_a_condition_uses_no_exit_code() -> None:
    test = only(shell("[ -f x ] || make test", "", exit_code=0))
    assert (test.exit_code, test.outcome) == (None, "unknown")


def test_no_result_is_unknown() -> None:
    assert only(shell("pytest", None)).outcome == "unknown"


def test_a_tool_that_reports_no_error_is_weak_evidence_and_says_so() -> None:
    test = only(shell("python -c 'from a import f; assert f()'", "", is_error=False))
    assert (test.outcome, test.exit_code) == ("passed", None)
    assert test.evidence == "no exit code recorded, no error reported"


def test_a_call_that_was_refused_ran_nothing() -> None:
    assert found(shell("pytest", "The user doesn't want to proceed with this tool use.")) == ()


def test_two_runs_in_a_call_have_their_own_counts() -> None:
    text = f"{GREEN}\n=== 1 failed in 0.2s ==="
    tests = found(shell("pytest a; pytest b", text, exit_code=1))
    assert [(test.ordinal, test.outcome, test.passed, test.failed) for test in tests] == [
        (0, "passed", 3, 0),
        (1, "failed", 0, 1),
    ]


def test_a_red_run_stops_the_chain_behind_it() -> None:
    tests = found(shell("pytest a && pytest b", RED, exit_code=1))
    assert [test.outcome for test in tests] == ["failed", "none"]


def test_runs_that_cannot_be_told_apart_are_unknown() -> None:
    tests = found(shell("pytest a; pytest b; pytest c", GREEN, exit_code=0))
    assert [test.outcome for test in tests] == ["unknown"] * 3


def test_a_loop_is_one_entry() -> None:
    text = "=== 1 passed in 0.1s ===\n=== 1 failed in 0.1s ==="
    test = only(shell("for i in 1 2; do pytest -q; done", text))
    assert (test.repeated, test.outcome, test.passed, test.failed) == (True, "failed", 1, 1)


def test_failing_tests_are_named() -> None:
    text = f"=== short test summary info ===\nFAILED a.py::t[x y] - assert 0\n{RED}"
    assert [(test.id, test.outcome.value) for test in only(shell("pytest", text)).tests] == [
        ("a.py::t[x y]", "failed")
    ]


def test_output_in_a_file_is_unknown_until_it_is_read() -> None:
    run = shell("pytest > out.txt 2>&1 &", "")
    assert only(run).outcome == "unknown"
    later = only(run, shell("ls"), shell("tail -5 out.txt", RED))
    assert (later.outcome, later.failed) == ("failed", 1)
    assert later.evidence == "1 failed, 2 passed in 0.1s (read from out.txt in step 3)"


def test_output_in_a_file_can_be_read_with_a_tool() -> None:
    read = ToolCall(
        key="r", name="Read", kind=ToolKind.READ, path="out.txt", result=ToolResult(GREEN)
    )
    assert only(shell("pytest > out.txt", ""), read).outcome == "passed"


@pytest.mark.parametrize("command", ["app/x a | diff - want", "app/x a > o && diff o want"])
def test_a_comparison_by_the_line_is_judged_by_its_exit_code(command: str) -> None:
    passed = only(shell(f"./{command}", "", exit_code=0))
    failed = only(shell(f"./{command}", "1c1\n< a\n---\n> b", exit_code=1))
    assert (passed.kind, passed.outcome, failed.outcome) == (
        SelfTestKind.ASSERTION,
        "passed",
        "failed",
    )


def test_a_probe_has_no_verdict_but_may_have_crashed() -> None:
    probe = only(shell("python app.py x", "Error: no such x", exit_code=1))
    assert (probe.kind, probe.outcome, probe.exit_code) == (SelfTestKind.PROBE, "none", 1)
    assert not probe.is_test
    crash = "Traceback (most recent call last):\n  File x\nKeyError: 'a'"
    crashed = only(shell("python app.py x", crash, exit_code=1))
    assert (crashed.outcome, crashed.evidence) == ("failed", "KeyError: 'a'")


def test_a_traceback_among_several_programs_is_nobodys() -> None:
    crash = "Traceback (most recent call last):\n  File x\nKeyError: 'a'"
    assert [test.outcome for test in found(shell("python a.py; python b.py", crash))] == [
        "none",
        "none",
    ]


def test_an_inline_program_is_kept() -> None:
    test = only(shell("python - <<'E'\nfrom a import f\nassert f()\nE", ""))
    assert test.program == "from a import f\nassert f()\n"


# --- scripts that the agent wrote ----------------------------------------------------------------


def test_a_script_that_asserts_is_an_assertion() -> None:
    write = edit(ToolKind.WRITE, "/w/verify.py", content="from a import f\nassert f() == 1\n")
    test = only(write, shell("cd /w && python verify.py", "", exit_code=0))
    assert (test.kind, test.outcome) == (SelfTestKind.ASSERTION, "passed")


def test_a_script_that_only_prints_is_a_probe_whatever_its_name() -> None:
    write = edit(ToolKind.WRITE, "/w/test_server.py", content="import http.server\nprint('up')\n")
    assert only(write, shell("python test_server.py &", "")).kind is SelfTestKind.PROBE


def test_a_test_script_that_was_not_seen_is_an_assertion() -> None:
    assert only(shell("python tests/test_a.py", "")).kind is SelfTestKind.ASSERTION


def test_a_script_with_its_own_runner_is_a_suite() -> None:
    write = edit(ToolKind.WRITE, "t.py", content="import unittest\nunittest.main()\n")
    test = only(write, shell("python t.py", "Ran 2 tests in 0.1s\n\nOK"))
    assert (test.kind, test.runner, test.passed) == (SelfTestKind.SUITE, "unittest", 2)


def test_a_shell_script_runs_what_stands_in_it() -> None:
    write = shell("cat > run.sh <<'E'\ncd app\npytest -q\nE\nchmod +x run.sh", "")
    test = only(write, shell("./run.sh", GREEN))
    assert (test.kind, test.runner, test.passed) == (SelfTestKind.SUITE, "pytest", 3)


def test_a_script_that_was_edited_is_read_as_it_stands() -> None:
    write = edit(ToolKind.WRITE, "check.py", content="from a import f\nprint(f())\n")
    change = edit(ToolKind.EDIT, "check.py", old_string="print(f())", new_string="assert f() == 1")
    assert only(write, shell("python check.py", "")).kind is SelfTestKind.PROBE
    assert only(write, change, shell("python check.py", "")).kind is SelfTestKind.ASSERTION


def test_a_script_that_a_patch_added_is_read() -> None:
    patch = (
        "apply_patch <<'E'\n*** Begin Patch\n*** Add File: tests/check_a.py\n+assert f()\n"
        "*** End Patch\nE"
    )
    test = only(shell(patch), shell("python tests/check_a.py", "", exit_code=0))
    assert test.kind is SelfTestKind.ASSERTION


def test_the_program_under_development_may_assert_and_exit() -> None:
    program = "import sys\ndef main():\n    assert sys.argv\n    sys.exit(1)\nmain()\n"
    write = edit(ToolKind.WRITE, "app.py", content=program)
    assert only(write, shell("python app.py x", "", exit_code=1)).kind is SelfTestKind.PROBE


def test_a_script_that_rewrites_source_is_no_self_test() -> None:
    fix = "s = open('a.py').read()\nassert 'x' in s\nopen('a.py', 'w').write(s.replace('x', 'y'))\n"
    assert found(edit(ToolKind.WRITE, "fix.py", content=fix), shell("python fix.py", "")) == ()


def test_a_build_counts_only_if_it_ran_tests() -> None:
    assert found(shell("mvn package", "BUILD SUCCESS")) == ()
    assert found(shell("npm run check", "no type errors")) == ()
    text = "[INFO] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\n"
    assert only(shell("mvn package", text)).failed == 1


# --- earlier stages ------------------------------------------------------------------------------


BASE = frozenset({"app.py", "tests/test_old.py", "tests/test_both.py"})
CHANGED = frozenset({"app.py", "tests/test_new.py", "tests/test_both.py"})


@pytest.mark.parametrize(
    ("command", "output", "earlier"),
    [
        ("pytest tests/test_old.py", GREEN, True),
        ("cd tests && pytest test_old.py", GREEN, True),
        ("pytest tests", GREEN, True),
        ("pytest tests/test_new.py", GREEN, False),
        ("pytest tests/test_both.py", GREEN, True),
        # Which of its tests are old is not recorded.
        ("pytest tests/test_both.py::test_x", GREEN, None),
        ("pytest tests/test_old.py::test_x", GREEN, True),
        # A whole suite counts only where it names what ran.
        ("pytest", GREEN, None),
        ("pytest -v", f"tests/test_old.py::t PASSED [100%]\n{GREEN}", True),
        ("pytest -v", "tests/test_new.py::t PASSED [100%]\n=== 1 passed in 0.1s ===", False),
        # Others ran too, and which is not said.
        ("pytest -v", f"tests/test_new.py::t PASSED [100%]\n{GREEN}", None),
        ("pytest -q", f"FAILED tests/test_new.py::t - assert 1\n{RED}", None),
        ("pytest tests/test_old.py tests/test_new.py", f"FAILED tests/test_new.py::t\n{RED}", True),
        ("python tests/test_old.py", "", True),
        ("python app.py", "", None),
        ("python -c 'from app import f; assert f()'", "", None),
    ],
)
def test_whether_a_run_touches_an_earlier_stage(
    command: str, output: str, earlier: bool | None
) -> None:
    assert touches_earlier(only(shell(command, output)), BASE, CHANGED) is earlier


@pytest.mark.parametrize(
    ("command", "output", "ran"),
    [
        ("pytest tests/test_old.py", GREEN, True),
        ("pytest tests/test_other.py", GREEN, False),
        ("pytest tests", GREEN, True),
        ("pytest", GREEN, None),
        ("pytest -q", f"FAILED tests/test_other.py::t - assert 1\n{RED}", None),
        ("pytest -v", "tests/test_other.py::t PASSED [100%]\n=== 1 passed in 0.1s ===", False),
        ("pytest tests/test_old.py::test_x", GREEN, True),
    ],
)
def test_whether_a_run_runs_one_file(command: str, output: str, ran: bool | None) -> None:
    assert runs_file(only(shell(command, output)), "tests/test_old.py", CHANGED) is ran


def test_a_single_test_of_a_file_that_changed_may_be_new() -> None:
    one = only(shell("pytest tests/test_both.py::test_x", GREEN))
    assert runs_file(one, "tests/test_both.py", CHANGED) is None


def test_nothing_is_earlier_than_the_first_stage() -> None:
    assert touches_earlier(only(shell("pytest", GREEN)), frozenset(), CHANGED) is False


def test_importing_the_types_loads_no_parser() -> None:
    code = (
        "import sys, arcview.analysis.self_tests;"
        "sys.exit(any(name in sys.modules for name in ("
        "'tree_sitter', 'arcview.analysis.shell', 'arcview.analysis.test_output')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
