"""Finds the self-tests of a trajectory for `self_tests.find_self_tests`.

Pure: follows the tool calls in order, remembers the scripts that the agent wrote, and asks the
other `self_tests` modules what each command is and what became of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from arcview.analysis.edits import edits_of
from arcview.analysis.self_tests import SelfTest, SelfTestKind
from arcview.analysis.self_tests_execution import Execution
from arcview.analysis.self_tests_files import (
    Scripts,
    is_check_name,
    is_strict_test_name,
    language_of,
)
from arcview.analysis.self_tests_outcome import CallOutput, Judged, Planned, judge_call
from arcview.analysis.self_tests_programs import purpose_of
from arcview.analysis.self_tests_runners import classify
from arcview.analysis.shell import ShellCommand, parse_shell, runs_nothing, written_files
from arcview.analysis.shell_edits import patch_edits
from arcview.analysis.shell_wrappers import program_name
from arcview.analysis.test_output import read_suite_output
from arcview.analysis.test_output_summaries import summaries
from arcview.model.trajectory import Step, ToolCall, ToolKind, Trajectory


def find(trajectory: Trajectory) -> tuple[SelfTest, ...]:
    """Every execution of tests, checks and of the program under development, in order.

    Sub-agents' calls count too. One call can hold several executions. What neither tests nor runs
    the work (`pip install pytest`, `pytest --collect-only`, `cargo build`, linters) is left out.
    """
    scripts = Scripts()
    found: list[SelfTest] = []
    waiting: dict[str, int] = {}
    for step in trajectory.steps:
        for call in step.calls:
            scripts.apply(edits_of(call))
            if call.kind is ToolKind.READ and call.path is not None:
                _read_later(found, waiting, {call.path}, step, call)
            elif call.kind is ToolKind.SHELL and call.command and not runs_nothing(call.command):
                commands = parse_shell(call.command)
                scripts.write(written_files(commands))
                scripts.apply(edit for one in commands for edit in patch_edits(one))
                tests = list(_in_call(step, call, commands, scripts))
                _read_later(found, waiting, _shown(commands), step, call)
                for test, command in tests:
                    if test.outcome == "unknown" and command.output:
                        waiting[command.output] = len(found)
                    found.append(test)
            elif call.kind is ToolKind.SHELL and call.command and waiting:
                _read_later(found, waiting, set(call.command.split()), step, call)
    return tuple(found)


def _in_call(
    step: Step, call: ToolCall, commands: Sequence[ShellCommand], scripts: Scripts
) -> Iterator[tuple[SelfTest, ShellCommand]]:
    result = call.result
    if result is not None and result.text.startswith(_REFUSED):
        return
    text = result.text if result is not None else ""
    executions = [
        (command, *kind)
        for command in commands
        if (plain := classify(command)) is not None
        and (kind := _kind(command, plain, scripts, text)) is not None
    ]
    planned = [
        Planned(command, execution.runner, kind.value) for command, execution, kind in executions
    ]
    output = CallOutput(
        text,
        result.exit_code if result is not None else None,
        result.is_error if result is not None else None,
    )
    judged = judge_call(commands, planned, output)
    for ordinal, (found, one) in enumerate(zip(executions, judged, strict=True)):
        yield _made(step, call, ordinal, *found, one), found[0]


_REFUSED = (
    "The user doesn't want to proceed",
    "Permission to use",
    "Claude requested permissions",
    "<tool_use_error>",
    "This command requires approval",
)


def _made(
    step: Step,
    call: ToolCall,
    ordinal: int,
    command: ShellCommand,
    execution: Execution,
    kind: SelfTestKind,
    judged: Judged,
) -> SelfTest:
    report = judged.report
    return SelfTest(
        step_number=step.number,
        step_key=step.key,
        call_key=call.key,
        ordinal=ordinal,
        command=command.text,
        runner=execution.runner,
        kind=kind,
        outcome=report.outcome,
        passed=report.passed,
        failed=report.failed,
        skipped=report.skipped,
        exit_code=judged.exit_code,
        masked=judged.masked,
        evidence=report.evidence,
        targets=execution.targets,
        tests=report.tests,
        cwd=command.cwd,
        program=execution.program,
        timeout=command.timeout,
        repeated=command.repeated,
        agent=step.agent,
        at=step.at,
    )


_Kind = tuple[Execution, SelfTestKind]


def _kind(command: ShellCommand, execution: Execution, scripts: Scripts, text: str) -> _Kind | None:
    """What kind an execution is; null for a filter in a pipe, an edit, a build without tests."""
    if execution.suite:
        if execution.needs_summary and not summaries(text):
            return None
        return execution, SelfTestKind.SUITE
    if execution.runner == "inline":
        return _inline_kind(command, execution)
    if execution.script is not None and execution.runner in ("script", "program"):
        return _script_kind(command, execution, scripts, text)
    return execution, _probe_or_compared(command)


def _probe_or_compared(command: ShellCommand) -> SelfTestKind:
    return SelfTestKind.ASSERTION if command.compared else SelfTestKind.PROBE


def _inline_kind(command: ShellCommand, execution: Execution) -> _Kind | None:
    if execution.program is None:
        return execution, _probe_or_compared(command)
    purpose = purpose_of(execution.program, execution.language)
    if purpose == "edits":
        return None
    if purpose == "suite":
        return execution._replace(runner=_own_runner(execution.program)), SelfTestKind.SUITE
    if purpose == "asserts":
        return execution, SelfTestKind.ASSERTION
    if command.piped_from and "stdin" in execution.program:
        return None  # reads what another program prints; that one is listed already
    return execution, _probe_or_compared(command)


def _own_runner(program: str) -> str:
    if "pytest.main" in program:
        return "pytest"
    return "node" if "node:test" in program else "unittest"


def _script_kind(
    command: ShellCommand, execution: Execution, scripts: Scripts, output: str
) -> _Kind | None:
    path = execution.script or ""
    language = execution.language or language_of(path)
    text, whole = scripts.find(path, command.cwd)
    if text is not None and language == "shell":
        inner = _suite_within(text)
        if inner is not None:
            return execution._replace(runner=inner), SelfTestKind.SUITE
    purpose = None
    if text is not None:
        purpose = purpose_of(text, language, is_test_file=is_check_name(path))
        if purpose == "suite":
            return execution._replace(runner=_own_runner(text)), SelfTestKind.SUITE
        if purpose == "edits" and whole and not is_check_name(path):
            return None
        if purpose != "asserts" and not whole:
            purpose = None
    if purpose is None and is_check_name(path):
        closing = summaries(output)
        if closing:
            return execution._replace(runner=closing[-1].family), SelfTestKind.SUITE
        if language == "shell" and is_strict_test_name(path):
            return execution, SelfTestKind.SUITE
        if is_strict_test_name(path):
            return execution, SelfTestKind.ASSERTION
    if purpose == "asserts":
        return execution, SelfTestKind.ASSERTION
    return execution, _probe_or_compared(command)


def _suite_within(script: str) -> str | None:
    """The first test runner that a shell script starts."""
    for command in parse_shell(script):
        execution = classify(command)
        if execution is not None and execution.suite:
            return execution.runner
    return None


# --- output that was read later ------------------------------------------------------------------

_SHOWS = frozenset({"cat", "tail", "head", "less", "more", "grep", "sed", "rg", "nl"})


def _shown(commands: Sequence[ShellCommand]) -> set[str]:
    """The files that a command line prints."""
    return {
        word
        for command in commands
        if program_name(command.argv[0]) in _SHOWS
        for word in command.argv[1:]
    }


def _read_later(
    found: list[SelfTest], waiting: dict[str, int], paths: set[str], step: Step, call: ToolCall
) -> None:
    """Completes a run whose output went to a file when a later call prints that file."""
    if not waiting or call.result is None:
        return
    for path in [path for path in waiting if path in paths]:
        index = waiting[path]
        report = read_suite_output(call.result.text, runner=found[index].runner)
        if report.family is None:
            continue
        del waiting[path]
        where = f"step {step.number}" if step.number is not None else "a later call"
        found[index] = replace(
            found[index],
            outcome=report.outcome,
            passed=report.passed,
            failed=report.failed,
            skipped=report.skipped,
            evidence=f"{report.evidence} (read from {path} in {where})",
            tests=report.tests,
        )
