"""Trajectory → every time the agent ran tests or tried its own work, and what it saw.

Pure: reads tool calls and their results, runs nothing. The command line is parsed, never searched
for words: `git commit -m 'pytest'` is no test run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from arcview.analysis.edits import edits_of
from arcview.analysis.self_tests_execution import Execution
from arcview.analysis.self_tests_files import (
    Scripts,
    is_check_name,
    is_strict_test_name,
    is_test_path,
    language_of,
)
from arcview.analysis.self_tests_outcome import CallOutput, Judged, Planned, judge_call
from arcview.analysis.self_tests_programs import purpose_of
from arcview.analysis.self_tests_runners import classify
from arcview.analysis.shell import ShellCommand, parse_shell, runs_nothing, written_files
from arcview.analysis.shell_wrappers import program_name
from arcview.analysis.test_output import RunOutcome, read_suite_output
from arcview.analysis.test_output_ids import ReportedTest
from arcview.analysis.test_output_summaries import summaries
from arcview.model.trajectory import Step, ToolCall, ToolKind, Trajectory


class SelfTestKind(StrEnum):
    """What kind of check an execution is. Only the first two count as tests."""

    SUITE = "suite"
    """A test runner: pytest, `npm test`, `cargo test`, `make check` …"""
    ASSERTION = "assertion"
    """An ad-hoc program that asserts: inline, a script, or a comparison by the shell itself."""
    PROBE = "probe"
    """An ad-hoc program that only prints, or the program under development tried by hand."""


@dataclass(frozen=True, slots=True)
class SelfTest:
    """One execution. Text is as it came from the run: hostile, untruncated."""

    step_number: int | None
    step_key: str
    call_key: str
    ordinal: int
    """0-based among the executions of the same call."""
    command: str
    """The simple command as written, without pipes, redirects and heredoc bodies."""
    runner: str
    """The test runner, or `inline`, `script`, `module`, `program`, `http`."""
    kind: SelfTestKind
    outcome: RunOutcome
    """For a probe `failed` means that it crashed, and `none` that it has no verdict."""
    passed: int | None = None
    failed: int | None = None
    """Failures and errors together."""
    skipped: int | None = None
    exit_code: int | None = None
    """Its own; null when masked or not recorded."""
    masked: str | None = None
    """Why the exit code of the call is not this execution's."""
    evidence: str = ""
    """The line, or the fact, that decided the outcome."""
    targets: tuple[str, ...] = ()
    """Files, test ids and patterns on the command line, and the script that ran."""
    tests: tuple[ReportedTest, ...] = ()
    """The single tests that the output names; often only the failing ones."""
    cwd: str | None = None
    """Where `cd` had led within the command line."""
    program: str | None = None
    """The text of an inline program."""
    timeout: str | None = None
    """The limit that `timeout` was given, as written."""
    repeated: bool = False
    """In a loop: one entry stands for any number of runs."""
    agent: str | None = None
    """The sub-agent that ran it; null for the main agent."""
    at: str | None = None
    """ISO 8601, when the step began, as recorded."""

    @property
    def is_test(self) -> bool:
        """Whether it counts as a test: probes do not."""
        return self.kind is not SelfTestKind.PROBE


def find_self_tests(trajectory: Trajectory) -> tuple[SelfTest, ...]:
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
        return replace(execution, runner=_own_runner(execution.program)), SelfTestKind.SUITE
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
) -> _Kind:
    path = execution.script or ""
    language = execution.language or language_of(path)
    text, whole = scripts.find(path, command.cwd)
    if text is not None and language == "shell":
        inner = _suite_within(text)
        if inner is not None:
            return replace(execution, runner=inner), SelfTestKind.SUITE
    purpose = None
    if text is not None:
        purpose = purpose_of(text, language, is_test_file=is_check_name(path))
        if purpose == "suite":
            return replace(execution, runner=_own_runner(text)), SelfTestKind.SUITE
        if purpose != "asserts" and not whole:
            purpose = None
    if purpose is None and is_check_name(path):
        closing = summaries(output)
        if closing:
            return replace(execution, runner=closing[-1].family), SelfTestKind.SUITE
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


# --- what the tests are about --------------------------------------------------------------------


def written_test_files(trajectory: Trajectory) -> tuple[str, ...]:
    """Test files that visible edits or heredocs created or changed, as the agent named them.

    By name alone (`test_x.py`, `tests/…`, `x.test.ts`), in the order of their first edit.
    """
    paths: dict[str, None] = {}
    for step in trajectory.steps:
        for call in step.calls:
            for edit in edits_of(call):
                paths.setdefault(edit.path)
            if call.kind is ToolKind.SHELL and call.command and "<" in call.command:
                for write in written_files(parse_shell(call.command)):
                    paths.setdefault(write.path)
    return tuple(path for path in paths if is_test_path(path))


def touches_earlier(
    self_test: SelfTest, base_files: Collection[str], changed_files: Collection[str]
) -> bool | None:
    """Whether an execution runs tests of an earlier stage.

    True when the output or the command line names a test file that was there when the stage began
    (for a single test of a file that this stage changed it cannot be told). False when nothing was
    there, or every file that it names is new. Null for everything else: a whole suite that names no
    test, and probes and inline programs, which run whatever the program does.

    Args:
        self_test: The execution.
        base_files: Paths in the stage's base state, relative to the workspace.
        changed_files: Paths that the stage created or changed, relative to the workspace.
    """
    if not base_files:
        return False
    earlier = [path for path in base_files if is_test_path(path)]
    if self_test.kind is SelfTestKind.PROBE or (not earlier and not self_test.targets):
        return None
    names = [test.id for test in self_test.tests] or list(self_test.targets)
    answers = [_is_earlier(name, earlier, changed_files) for name in names]
    if True in answers:
        return True
    return False if answers and all(answer is False for answer in answers) else None


def _is_earlier(name: str, earlier: Sequence[str], changed: Collection[str]) -> bool | None:
    file, single = name.partition("::")[0].partition(" > ")[0], "::" in name or " > " in name
    matching = [path for path in earlier if _same_file(path, file)]
    if not matching:
        new = any(_same_file(path, file) for path in changed)
        return False if new and is_test_path(file) else None
    if single and all(path in changed for path in matching):
        return None
    return True


def _same_file(path: str, named: str) -> bool:
    """Whether a path of the workspace is the file or the folder that a command names."""
    named = named.removeprefix("./").rstrip("/")
    return bool(named) and (
        path == named
        or path.endswith(f"/{named}")
        or named.endswith(f"/{path}")
        or path.startswith(f"{named}/")
    )
