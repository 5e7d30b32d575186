"""The verifier of a Harbor step as a gate: its test report, its rewards, what went wrong in it.

Harbor has no F2P/P2P split: all tests are in group `other`. Where there is no report, the rewards
stand for tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import is_file, is_symlink
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest, Group, Outcome, Report
from arcview.readers.fields import Fields, read_bytes
from arcview.readers.inside import inside
from arcview.readers.runs.assembled import counted
from arcview.readers.runs.report_gate import find_report, gate_of, reward_verdict
from arcview.readers.times import seconds_between

_REPORTS = ("ctrf.json", "report.json", "results.json", "junit.xml", "report.xml", "results.xml")
_LOGS = ("test-stdout.txt", "test-stderr.txt")
_REWARDS = ("reward.json", "reward.txt")
_TIMEOUT = "VerifierTimeoutError"


@dataclass(frozen=True, slots=True)
class Verifier:
    """What is recorded of the verifier of one step."""

    folder: str
    """Its folder relative to the trial; it may not be there."""
    result: Fields
    """`verifier_result`."""
    timing: Fields
    """`verifier`: when it ran."""
    error: str | None = None
    """The type of an exception in it."""
    error_detail: str | None = None
    min_reward: str | None = None


def read_gate(
    root: Path, gate: str, state: str | None, verifier: Verifier, problems: list[Problem]
) -> tuple[GateRecord, tuple[GateTest, ...]]:
    """The gate of one step.

    Args:
        root: The trial.
        gate: Id of the gate.
        state: The state that the step ended in.
        verifier: What is recorded.
        problems: Takes what is wrong.
    """
    files = list(_files(root, verifier.folder))
    names = [*_LOGS, *_REPORTS, *_REWARDS]
    rewards = _rewards(verifier.result.sub("rewards")) or _reward_files(
        root, verifier.folder, files
    )
    started = verifier.timing.text("started_at")
    record = GateRecord(
        gate=gate,
        state=state,
        recorded_verdict=reward_verdict(rewards),
        timed_out=verifier.error == _TIMEOUT,
        started=started,
        duration_s=seconds_between(started, verifier.timing.text("finished_at")),
        notes=tuple(_notes(rewards, verifier)),
        log_paths=tuple(
            f"{verifier.folder}/{name}"
            for name in sorted(files, key=lambda f: (names.index(f) if f in names else 99, f))
        ),
    )
    report = _report(root, verifier.folder, files, problems)
    if report is not None:
        return gate_of(record, report, keep_verdict=False)
    if rewards:
        tests = tuple(_as_test(name, value) for name, value in rewards.items())
        note = "no test report was found: the rewards stand for tests"
        return replace(counted(record, tests), notes=(*record.notes, note)), tests
    reason = verifier.error_detail or "the verifier left neither a reward nor a report"
    return replace(record, unmeasured=reason), ()


def _files(root: Path, folder: str) -> Iterator[str]:
    """The names of the regular files in the verifier's folder."""
    try:
        entries = sorted(inside(root, folder).iterdir())
    except (OSError, BadInputError):
        return
    yield from (entry.name for entry in entries if is_file(entry) and not is_symlink(entry))


def _report(root: Path, folder: str, files: list[str], problems: list[Problem]) -> Report | None:
    """The best report: a known name first, then any structured one, the text of the tests last."""
    others = [f for f in files if f.endswith((".json", ".jsonl", ".xml")) and f not in _REWARDS]
    structured = list(dict.fromkeys([*(n for n in _REPORTS if n in files), *others]))
    found: dict[str, Report] = {}
    for name in structured:
        report = find_report(root / folder / name, f"{folder}/{name}", problems)
        if report is not None and (report.tests or report.gaps):
            found[name] = report
    if found:
        return _together(found)
    for name in _LOGS:
        if name not in files:
            continue
        report = find_report(root / folder / name, f"{folder}/{name}", problems)
        if report is not None and (report.tests or report.gaps):
            return report
    return None


def _together(found: Mapping[str, Report]) -> Report:
    """One report of those of a verifier that ran its tests in parts; best first, by file name.

    A second report of the very tests that a known name has adds nothing; where no name is known,
    a test that several reports have is one for each.
    """
    best, first = next(iter(found.items()))
    parts = {name: each for name, each in found.items() if each.format == first.format}
    ids = [test.id for each in parts.values() for test in each.tests]
    is_disjoint = len(set(ids)) == len(ids)
    if len(parts) == 1 or (best in _REPORTS and not is_disjoint):
        return first
    tests = [
        test if is_disjoint else replace(test, id=f"{name}: {test.id}")
        for name, each in parts.items()
        for test in each.tests
    ]
    announced = [each.announced for each in parts.values() if each.announced is not None]
    return replace(
        first,
        tests=tuple(tests),
        announced=sum(announced) if len(announced) == len(parts) else None,
        totals=None,
        gaps=tuple(gap for each in parts.values() for gap in each.gaps),
        exit_code=None,
        is_damaged=any(each.is_damaged for each in parts.values()),
        notes=(
            *(note for each in parts.values() for note in each.notes),
            f"tests of {len(parts)} reports: {', '.join(parts)}",
        ),
        problems=tuple(problem for each in parts.values() for problem in each.problems),
    )


def _rewards(fields: Fields) -> dict[str, float]:
    found = {name: fields.number(name) for name in fields.values}
    return {name: value for name, value in found.items() if value is not None}


def _reward_files(root: Path, folder: str, files: list[str]) -> dict[str, float]:
    """The rewards as the tests wrote them, where the harness did not come to take them over."""
    for name in _REWARDS:
        if name not in files:
            continue
        shown = f"{folder}/{name}"
        with suppress(BadInputError, ValueError):
            if name.endswith(".json"):
                return _rewards(Fields.json_file(inside(root, shown), shown, []))
            value = float(read_bytes(inside(root, shown), shown))
            return {"reward": value} if isfinite(value) else {}
    return {}


def _notes(rewards: dict[str, float], verifier: Verifier) -> Iterator[str]:
    if rewards:
        listed = ", ".join(f"{name} {value:g}" for name, value in rewards.items())
        gate = f" (gate: {verifier.min_reward})" if verifier.min_reward is not None else ""
        yield f"rewards: {listed}{gate}"
    if verifier.error_detail is not None:
        yield verifier.error_detail


def _as_test(name: str, value: float) -> GateTest:
    """A reward as a test: it passes when it is full."""
    outcome = Outcome.PASSED if value >= 1 else Outcome.FAILED
    message = None if outcome is Outcome.PASSED else f"reward {value:g}, not 1"
    return GateTest(name, Group.OTHER, outcome, message=message, reported=f"{value:g}")
