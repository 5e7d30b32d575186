"""Reads a trial of the classic Terminal-Bench: `<run>/<task>/<task>.<i>-of-<n>.<run>/`.

Layout: terminal_bench 0.2, `harness/harness.py` and `handlers/trial_handler.py`. One stage; the
workspace is not kept, and of what the agent did only what its terminal showed. Must not import
pydantic.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import is_dir, is_file, is_symlink
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest, Group, Outcome, Report, Verdict
from arcview.model.run import Chain, Run, Stage, Status
from arcview.model.trajectory_refs import Usage
from arcview.readers.fields import Fields
from arcview.readers.inside import inside
from arcview.readers.registry import Detection
from arcview.readers.runs.agent_logs import find_trajectories
from arcview.readers.runs.assembled import AssembledRun, Assembly, counted, derived_id
from arcview.readers.runs.log_details import with_details
from arcview.readers.runs.report_gate import find_report, gate_of
from arcview.readers.times import seconds_between

LAYOUT = "terminal_bench"
RESULT = "results.json"
METADATA = "run_metadata.json"
AGENT_LOGS = "agent-logs"
INSTRUCTION = "instruction.md"
_KEYS = frozenset({"is_resolved", "failure_mode"})
_ATTEMPT = re.compile(r"(.+)\.(\d+)-of-\d+\..+\Z")
_TEST_LOGS = ("panes/post-test.txt", "sessions/tests.log")
_LOGS = (*_TEST_LOGS, "panes/post-agent.txt", "sessions/agent.log", "commands.txt")
_STATUSES = {
    "unset": Status.COMPLETED,
    "none": Status.COMPLETED,
    "test_timeout": Status.COMPLETED,
    "parse_error": Status.COMPLETED,
    "agent_timeout": Status.AGENT_TIMEOUT,
    "agent_installation_failed": Status.INFRASTRUCTURE_ERROR,
    "unknown_agent_error": Status.AGENT_ERROR,
    "fatal_llm_parse_error": Status.AGENT_ERROR,
    "context_length_exceeded": Status.AGENT_ERROR,
    "output_length_exceeded": Status.AGENT_ERROR,
}
_OF_THE_TESTS = {
    "test_timeout": "the tests ran out of time",
    "parse_error": "the harness could not read what the tests printed",
}
_QUIET = ("unset", "none")
_OUTCOMES = {"passed": Outcome.PASSED, "failed": Outcome.FAILED}


class TerminalBenchReader:
    """Reads one trial; a run is a folder of them."""

    id = LAYOUT
    title = "Terminal-Bench trial (classic, 0.2)"
    sample = "made in the tests, as published trials are"

    def detect(self, path: Path) -> Detection | None:
        """Recognises the result of a trial or, while it has none, its place and its logs."""
        try:
            keys = frozenset(Fields.json_file(inside(path, RESULT), RESULT, []).values)
        except BadInputError:
            keys = frozenset()
        if keys >= _KEYS:
            return Detection(self.id, f"{RESULT} with {' and '.join(sorted(_KEYS))}")
        named = _ATTEMPT.match(path.absolute().name)
        if keys or named is None or named[1] != path.absolute().parent.name:
            return None
        there = next((name for name in ("sessions", "panes") if is_dir(path / name)), None)
        if there is None:
            return None
        return Detection(self.id, f"{there} in the folder of a trial that has no whole {RESULT}")

    def summarise(self, path: Path) -> Run:
        """The skeleton; trajectories are not looked for."""
        return AssembledRun(_read(path, with_trajectories=False)).run

    def read(self, path: Path) -> AssembledRun:
        """Opens the trial.

        Raises:
            BadInputError: nothing of a trial is there.
        """
        return AssembledRun(_read(path, with_trajectories=True))


def _read(path: Path, *, with_trajectories: bool) -> Assembly:
    problems: list[Problem] = []
    result = _json(path, RESULT, problems)
    logs = tuple(name for name in _LOGS if _is_own_file(path, name))
    if not result.values and not logs and not is_file(path / RESULT):
        raise BadInputError(str(path), f"expected {RESULT}, {' or '.join(_TEST_LOGS)}")
    metadata = _metadata(path)
    record, tests = _gate(path, result, logs, problems)
    task = _task(path, result)
    stage = _stage(result, task)
    texts = {}
    if instruction := result.text("instruction") or result.text("task_prompt"):
        texts[INSTRUCTION] = instruction
        stage = replace(stage, spec_path=INSTRUCTION)
    if with_trajectories:
        stage = replace(stage, trajectories=find_trajectories(path, AGENT_LOGS))
    named = _ATTEMPT.match(result.text("trial_name") or path.absolute().name)
    run = Run(
        run_id=_run_id(path, result, task),
        layout=LAYOUT,
        path=str(path),
        chain=Chain(task_id=task),
        agent=metadata.text("agent_name"),
        model=metadata.text("model_name"),
        attempt=named[2] if named else None,
        harness="terminal-bench",
        status=stage.status,
        status_detail=stage.status_detail,
        started=result.text("trial_started_at"),
        ended=result.text("trial_ended_at"),
        stages=(stage,),
        gates=(record,),
    )
    key = (record.gate, record.state)
    details = {key: partial(_details, path, tests)} if tests and result.values else {}
    read = [path, *(path / name for name in (RESULT, *_LOGS))]
    return Assembly(path.absolute(), run, {key: tests}, details, texts, read, problems)


def _json(path: Path, name: str, problems: list[Problem]) -> Fields:
    try:
        return Fields.json_file(inside(path, name), name, problems)
    except BadInputError as error:
        if is_file(path / name):
            problems.append(Problem(name, f"{error.expected}; what was recorded is unknown"))
        return Fields(name, {}, problems)


def _metadata(path: Path) -> Fields:
    """What the run says of all its trials, beside the tasks' folders."""
    for folder in list(path.absolute().parents)[:2]:
        if is_file(folder / METADATA) and not is_symlink(folder / METADATA):
            return _json(folder, METADATA, [])
    return Fields(METADATA, {}, [])


def _task(path: Path, result: Fields) -> str:
    named = _ATTEMPT.match(path.absolute().name)
    return result.text("task_id") or (named[1] if named else path.absolute().name)


def _is_own_file(path: Path, name: str) -> bool:
    try:
        file = inside(path, name)
    except BadInputError:
        return False
    return is_file(file) and not is_symlink(file)


def _stage(result: Fields, title: str) -> Stage:
    word = result.text("failure_mode")
    if word is None and isinstance(result.values.get("is_resolved"), bool):
        word = _QUIET[0]  # graded, and nothing went wrong
    status = _STATUSES.get(word or "", Status.UNKNOWN)
    detail = word if word not in (*_QUIET, *_OF_THE_TESTS) else None
    if not result.values:
        status = Status.INTERRUPTED
        detail = f"no whole {RESULT}: the trial was killed, or is running"
    started, ended = result.text("agent_started_at"), result.text("agent_ended_at")
    usage = Usage(result.count("total_input_tokens"), None, result.count("total_output_tokens"))
    return Stage(
        1,
        title,
        status,
        detail,
        started=started,
        ended=ended,
        duration_s=seconds_between(started, ended),
        # Agents that do not count write 0.
        usage=usage if usage.input_tokens or usage.output_tokens else None,
    )


def _gate(
    path: Path, result: Fields, logs: tuple[str, ...], problems: list[Problem]
) -> tuple[GateRecord, tuple[GateTest, ...]]:
    """The tests as the harness read them; else what their log says."""
    word = result.text("failure_mode") or ""
    resolved = result.values.get("is_resolved")
    started = result.text("test_started_at")
    record = GateRecord(
        "1",
        None,
        recorded_verdict=_verdict(resolved),
        timed_out=word == "test_timeout",
        started=started,
        duration_s=seconds_between(started, result.text("test_ended_at")),
        log_paths=logs,
    )
    tests = tuple(_tests(result.sub("parser_results"), problems))
    if tests:
        return counted(record, tests), tests
    if reason := _OF_THE_TESTS.get(word):
        return replace(record, unmeasured=reason), ()
    for name in (name for name in _TEST_LOGS if name in logs):
        report = find_report(path / name, name, problems)
        if report is not None and (report.tests or report.gaps):
            note = f"the harness names no test: read from {name}"
            return gate_of(replace(record, notes=(note,)), report, keep_verdict=False)
    return replace(record, unmeasured="no test has a result"), ()


def _verdict(resolved: object) -> Verdict | None:
    if not isinstance(resolved, bool):
        return None
    return Verdict.PASSED if resolved else Verdict.FAILED


def _tests(results: Fields, problems: list[Problem]) -> Iterator[GateTest]:
    for name in results.values:
        word = results.text(name)
        if word is None:
            continue
        if word not in _OUTCOMES:
            problems.append(Problem(f"{RESULT}: parser_results.{name}", f"unknown outcome {word}"))
        outcome = _OUTCOMES.get(word, Outcome.ERROR)
        yield GateTest(name, Group.OTHER, outcome, reported=word)


def _details(path: Path, tests: tuple[GateTest, ...]) -> tuple[GateTest, ...]:
    """The tests with what their log says; the harness keeps only the last part of each id."""
    for name in _TEST_LOGS:
        report = find_report(path / name, name, []) if _is_own_file(path, name) else None
        if report is not None and report.tests:
            return with_details(tests, _shortened(report))
    return tests


def _shortened(report: Report) -> list[GateTest]:
    short = [test.id.rpartition("::")[2] for test in report.tests]
    counts = Counter(short)
    return [
        replace(test, id=name) if counts[name] == 1 else test
        for test, name in zip(report.tests, short, strict=True)
    ]


def _run_id(path: Path, result: Fields, task: str) -> str:
    own = result.text("id")
    if own is not None:
        return f"{LAYOUT}-{own}"
    trial = result.text("trial_name") or path.absolute().name
    return derived_id(LAYOUT, [task, trial], [(name, path / name) for name in (RESULT, *_LOGS)])
