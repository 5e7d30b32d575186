"""Which part of a call's output and exit code belongs to which of its executions.

Pure, private to `self_tests`. What cannot be told apart stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from arcview.analysis.self_tests_tables import options
from arcview.analysis.shell import ShellCommand
from arcview.analysis.shell_context import judges
from arcview.analysis.shell_wrappers import program_name
from arcview.analysis.test_output import (
    RunReport,
    crash_line,
    plain_text,
    read_assertion_output,
    read_suite_output,
)
from arcview.analysis.test_output_summaries import ADDITIVE, Summary, summaries


class Planned(NamedTuple):
    """One execution of a call before its outcome is known."""

    command: ShellCommand
    runner: str
    kind: str
    """`suite`, `assertion`, `probe`."""


class CallOutput(NamedTuple):
    """What a call left behind."""

    text: str
    exit_code: int | None
    is_error: bool | None


class Judged(NamedTuple):
    """One execution's own part of it."""

    report: RunReport
    exit_code: int | None
    masked: str | None


# Programs that hardly ever fail, so that they neither explain a non-zero exit code nor keep what
# follows from running.
_HARMLESS = options(
    "cd echo printf true : export source . set mkdir pushd popd rm touch sleep clear date pwd ls"
    " cat unset local declare ulimit umask shopt alias chmod kill pkill tee head tail wc [ test"
    " exit"
)
_CONDITIONS = frozenset({"if", "||"})


def judge_call(
    commands: Sequence[ShellCommand], planned: Sequence[Planned], output: CallOutput
) -> list[Judged]:
    """Judges every execution of one call.

    Args:
        commands: All simple commands of the call, in order.
        planned: The executions among them, in the same order.
        output: What the whole call printed and returned.
    """
    text = plain_text(output.text)
    printed = _printed_statuses(commands, text, alone=len(planned) == 1)
    texts = _suite_texts([one for one in planned if one.kind == "suite"], text)
    judged, suite = [], 0
    for one in planned:
        code, masked, no_error = _own_status(one.command, output, printed.get(id(one.command)))
        if one.kind == "suite":
            report = _suite(one, texts[suite], code, no_error, output, alone=len(texts) == 1)
            suite += 1
        elif one.kind == "assertion":
            alone = len(planned) == 1
            judge = _judge_of(one.command, commands)
            if judge is not None:
                code, masked, no_error = _own_status(judge, output, None)
            report = read_assertion_output(text, exit_code=code, no_error=no_error, alone=alone)
        else:
            report = _probe(text, alone=len(planned) == 1)
        judged.append(Judged(report, code, masked))
    return judged


def _judge_of(command: ShellCommand, commands: Sequence[ShellCommand]) -> ShellCommand | None:
    """The `diff`, `cmp` or `grep -q` that the output of a compared command goes to.

    Whether it failed or the program before it, the check did not pass.
    """
    judge = next((one for one in reversed(commands) if judges(one.argv)), None)
    if not command.compared or judge is None:
        return None
    own = program_name(command.argv[0])
    return replace(judge, needs=tuple(name for name in judge.needs if name != own))


def _printed_statuses(
    commands: Sequence[ShellCommand], text: str, *, alone: bool
) -> dict[int, int]:
    """Exit codes that the line prints itself (`; echo "exit: $?"`), by the command's identity."""
    found: dict[int, int] = {}
    position = 0
    for command in commands:
        if command.status_line is None or command.repeated:
            continue
        if command.status_line == r"^(\d{1,3})[ \t]*$" and not alone:
            continue  # a bare number may be anything
        match = re.compile(command.status_line, re.MULTILINE).search(text, position)
        if match is None:
            return found  # what follows cannot be counted off any more
        found[id(command)] = int(match[1])
        position = match.end()
    return found


def _own_status(
    command: ShellCommand, output: CallOutput, printed: int | None
) -> tuple[int | None, str | None, bool]:
    """The execution's own exit code, why it has none, and whether the tool reported no error."""
    before = [name for name in command.needs if name not in _HARMLESS]
    if printed is not None and not (printed and before):
        return printed, None, False
    if command.masked:
        return None, command.masked, False
    if _CONDITIONS & set(command.needs):
        return None, "it may not have run (if, ||)", False
    code = output.exit_code
    after = [name for name in command.then if name not in _HARMLESS]
    failed = (code is not None and code != 0) or (code is None and output.is_error is True)
    if failed and (before or after):
        return None, f"&& {(before or after)[0]}", False
    return code, None, code is None and output.is_error is False


def _suite(
    one: Planned,
    text: str | None,
    code: int | None,
    no_error: bool,
    output: CallOutput,
    *,
    alone: bool,
) -> RunReport:
    if text is None:
        return RunReport("unknown", evidence="several test runs share one output")
    guarded = [name for name in one.command.needs if name not in _HARMLESS]
    call_failed = output.is_error is True or output.exit_code not in (None, 0)
    report = read_suite_output(
        text,
        runner=one.runner,
        exit_code=code,
        no_error=no_error,
        several=one.command.repeated,
        redirected=one.command.output is not None or one.command.captured is not None,
    )
    if guarded and call_failed and report.family is None and not report.tests:
        return RunReport("none", evidence=f"not run: {guarded[-1]} && stopped before it")
    if not text and not alone:
        return RunReport("none", evidence="not run: the run before && failed")
    return report


def _suite_texts(suites: Sequence[Planned], text: str) -> list[str | None]:
    """The part of the output that belongs to each test run; null where that cannot be told.

    One run has all of it. Several runs are told apart by their closing lines: there is one for
    each, or they hang together by `&&` and the last one that printed is red.
    """
    if len(suites) < 2:
        return [text] * len(suites)
    groups: list[Summary] = []
    for summary in summaries(text):
        if groups and summary.family in ADDITIVE and groups[-1].family == summary.family:
            groups[-1] = groups[-1]._replace(end=summary.end, bad=groups[-1].bad or summary.bad)
        else:
            groups.append(summary)
    ends = [group.end for group in groups]
    parts: list[str | None] = [
        text[start:end] for start, end in zip([0, *ends], ends, strict=False)
    ]
    missing = len(suites) - len(parts)
    if missing == 0:
        return parts
    chained = all(one.command.needs for one in suites[len(parts) :])
    if missing > 0 and parts and chained and groups[-1].bad:
        return [*parts, *([""] * missing)]
    return [None] * len(suites)


def _probe(text: str, *, alone: bool) -> RunReport:
    """A program that only prints has no verdict; that it crashed can be seen all the same."""
    crash = crash_line(text) if alone else None
    return RunReport("failed", evidence=crash) if crash else RunReport("none")
