"""What a gate run says: its tests against the gate's lists, and passed, failed or unmeasured.

Exit codes, reports and output have to agree; where they do not, the gate is unmeasured and says
why. The rules are those of the run format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arcview.analysis.verdicts import DEFAULT_POLICY, is_ok, judge
from arcview.gates.definition import GateDefinition
from arcview.gates.engine import End, Execution, StepEnd
from arcview.gates.read_reports import ReadReports, broken_build, read_reports
from arcview.model.results import (
    UNFINISHED,
    WITHOUT_RESULT,
    Gap,
    GateRecord,
    GateTest,
    Group,
    GroupCounts,
    Outcome,
    Report,
    Verdict,
)
from arcview.readers.reports.collect import facts
from arcview.readers.reports.identity import match
from arcview.readers.runs.native_gates import Expected
from arcview.readers.runs.native_tests import Reported, settled

_NOT_FOUND = {126: "command not executable", 127: "command not found"}
_NO_SPACE = (b"No space left on device", b"ENOSPC", b"Disk quota exceeded")
_TAIL_BYTES = 1 << 20
_BAD = (Outcome.FAILED, Outcome.ERROR, Outcome.TIMEOUT)


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run of a gate says."""

    verdict: Verdict
    reason: str | None
    tests: tuple[GateTest, ...]
    f2p: GroupCounts | None
    p2p: GroupCounts | None
    other: GroupCounts | None
    notes: tuple[str, ...] = ()


def measure(definition: GateDefinition, execution: Execution, log: Path) -> Measured:
    """Judges one run of a gate.

    Args:
        definition: The gate.
        execution: What the engine did and saw.
        log: What the gate printed.
    """
    declared = [report.path for report in definition.reports]
    read = read_reports(declared, execution.reports, log, execution.large)
    why = _broken(definition, execution, read, log)
    report = read.report
    if why is not None and not (report and report.tests):
        report = Report("none", gaps=(Gap("", why, own_doing=True),))
    tests, notes = _settle(definition, report)
    record = _record(definition, execution, tests)
    verdict, reason = _verdict(definition, execution, read, record, tests, why, log)
    return Measured(
        verdict,
        reason,
        tests,
        record.f2p,
        record.p2p,
        record.other,
        tuple(dict.fromkeys((*execution.notes, *read.notes, *notes, *_stream_notes(execution)))),
    )


def _settle(
    definition: GateDefinition, report: Report | None
) -> tuple[tuple[GateTest, ...], tuple[str, ...]]:
    expected = Expected(definition.f2p, definition.p2p)
    if report is None:
        report = Report("none")
    matching = match(report, definition.expected_ids)
    named = [*matching.found.values(), *matching.rest]
    lines = [Reported(test, None, "") for test in named]
    tests = settled(lines, expected, lambda _place, _what: None, report)
    return tests, (*report.notes, *facts(report), *matching.notes)


def _record(
    definition: GateDefinition, execution: Execution, tests: Sequence[GateTest]
) -> GateRecord:
    split = Expected(definition.f2p, definition.p2p)
    counts = {
        group: GroupCounts.of(test for test in tests if test.group is group) for group in Group
    }
    has_other = not split.is_known and bool(tests)
    return GateRecord(
        gate=definition.gate,
        state=None,
        f2p=counts[Group.F2P] if definition.f2p is not None else None,
        p2p=counts[Group.P2P] if definition.p2p is not None else None,
        other=counts[Group.OTHER] if has_other else None,
        exit_codes=tuple(s.exit_code for s in execution.steps if s.exit_code is not None),
    )


def _verdict(
    definition: GateDefinition,
    execution: Execution,
    read: ReadReports,
    record: GateRecord,
    tests: Sequence[GateTest],
    why_broken: str | None,
    log: Path,
) -> tuple[Verdict, str | None]:
    ended = _not_ended(execution)
    if ended is not None:
        return Verdict.UNMEASURED, ended
    abort = _abort(definition, execution)
    if abort is not None:
        judged = judge(replace(record, timed_out=True))
        reason = (judged.reason or abort).replace("timed out", abort, 1)
        return judged.verdict, reason
    missing_command = _command_not_found(execution)
    if missing_command is not None and (read.missing or not read.report):
        return Verdict.UNMEASURED, missing_command
    if why_broken is not None:
        judged = judge(replace(record, exit_codes=()))
        is_failed = judged.verdict is Verdict.FAILED
        return judged.verdict, why_broken if is_failed else f"{why_broken}: {judged.reason}"
    judged = judge(record)
    if judged.reason is not None and judged.verdict is not Verdict.PASSED and read.report is None:
        signalled = judged.reason.startswith(("killed", "crashed"))
        return judged.verdict, judged.reason if signalled else _no_report(execution, read, log)
    if read.report is None:
        return Verdict.UNMEASURED, _no_report(execution, read, log)
    return _agreed(execution, read, tests, (judged.verdict, judged.reason), log)


def _not_ended(execution: Execution) -> str | None:
    """Why nothing can be said, whatever the reports hold."""
    detail = f": {execution.detail}" if execution.detail else ""
    if execution.end is End.CANCELLED:
        return "cancelled"
    if execution.end is End.LOST:
        return f"lost during the run{detail}"
    if execution.end is End.NOT_STARTED:
        return execution.detail or "the container could not be started"
    return None


def _abort(definition: GateDefinition, execution: Execution) -> str | None:
    """What of the tested code's own doing ended the run before its time."""
    if execution.end is End.TIMED_OUT:
        return f"timed out after {definition.timeout_s:g} s"
    if execution.end is End.OUTPUT_LIMIT:
        return f"wrote more than {definition.limits.output_bytes >> 20:,} MB of output"
    for step, declared in zip(execution.steps, definition.steps, strict=False):
        if step.timed_out:
            return f"timed out: {step.name} took more than {declared.timeout_s:g} s"
    if execution.oom and any(step.exit_code != 0 for step in execution.steps):
        return f"out of memory (limit {definition.limits.memory_mb:,} MB)"
    if execution.oom and not execution.steps:
        return f"out of memory (limit {definition.limits.memory_mb:,} MB)"
    return None


def _broken(
    definition: GateDefinition, execution: Execution, read: ReadReports, log: Path
) -> str | None:
    """Why the tree does not build, if that can be told; the agent's own failure."""
    for step in execution.steps:
        if step.is_build and step.exit_code not in (0, None) and not step.timed_out:
            if step.exit_code in _NOT_FOUND:
                return None
            return f"build failed ({step.name}, exit {step.exit_code})"
    if execution.end is not End.EXITED or _command_not_found(execution):
        return None
    if read.report is not None and read.report.tests:
        return None
    if read.report is not None and read.report.gaps:
        return next((f"nothing ran: {g.why}" for g in read.report.gaps if g.own_doing), None)
    if all(step.exit_code == 0 for step in execution.steps):
        return None
    said = broken_build(log)
    return f"nothing ran: {said}" if said is not None else None


def _command_not_found(execution: Execution) -> str | None:
    for step in execution.steps:
        if step.exit_code in _NOT_FOUND:
            return f"{_NOT_FOUND[step.exit_code]} ({step.name}, exit {step.exit_code})"
    return None


def _no_report(execution: Execution, read: ReadReports, log: Path) -> str:
    codes = _codes(execution.steps)
    if _is_full(log):
        return f"disk full: no space left on device{codes}"
    if not execution.stream_complete and not read.damaged:
        return f"the output ended early and there is no report{codes}"
    if read.damaged:
        return f"no usable report: {read.damaged[0]}{codes}"
    names = ", ".join(path.rpartition("/")[2] for path in read.missing)
    return f"no report: {names} was not written{codes}"


def _agreed(
    execution: Execution,
    read: ReadReports,
    tests: Sequence[GateTest],
    judged: tuple[Verdict, str | None],
    log: Path,
) -> tuple[Verdict, str | None]:
    """The verdict where exit codes and reports agree; unmeasured where they do not."""
    verdict, reason = judged
    if verdict is Verdict.UNMEASURED:
        return verdict, f"disk full: {reason}" if _is_full(log) else reason
    expected = [test for test in tests if not test.extra]
    failing = [test for test in expected if not is_ok(test.outcome, DEFAULT_POLICY)]
    running = next((test for test in expected if test.reported == UNFINISHED), None)
    codes = _codes(execution.steps)
    if running is not None and verdict is Verdict.FAILED:
        return verdict, reason or f"ended while {running.id} was running{codes}"
    only_unfinished = all(test.outcome in WITHOUT_RESULT for test in failing)
    if failing and only_unfinished and (read.missing or read.damaged):
        gap = (*read.damaged, *(f"{path} was not written" for path in read.missing))[0]
        full = "disk full: " if _is_full(log) else ""
        return Verdict.UNMEASURED, f"{full}report not whole: {gap}{codes}"
    stop = read.report.stopped if read.report is not None else None
    if failing and only_unfinished and stop is not None and not stop.own_doing:
        return Verdict.UNMEASURED, f"ended early: {stop.why}{codes}"
    is_bad = any(step.exit_code != 0 for step in execution.steps)
    bad_tests = [test for test in tests if test.outcome in _BAD]
    if verdict is Verdict.PASSED and is_bad and not bad_tests:
        return Verdict.UNMEASURED, f"contradictory: every reported test is ok{codes}"
    if bad_tests and not is_bad and execution.steps:
        count = f"{len(bad_tests)} reported tests" if len(bad_tests) > 1 else "a reported test"
        return Verdict.UNMEASURED, f"contradictory: {count} failed{codes}"
    return verdict, reason


def _codes(steps: Sequence[StepEnd]) -> str:
    codes = [str(step.exit_code) for step in steps if step.exit_code is not None]
    return f" (exit {', '.join(codes)})" if codes else ""


def _is_full(log: Path) -> bool:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            tail = file.read()
    except OSError:
        return False
    return any(word in tail for word in _NO_SPACE)


def _stream_notes(execution: Execution) -> tuple[str, ...]:
    notes = []
    if not execution.stream_complete:
        notes.append("the output ended early: its end is lost")
    if execution.oom and all(step.exit_code == 0 for step in execution.steps):
        notes.append("a child process was killed for want of memory")
    return tuple(notes)
