"""The grading of a FeatureBench attempt as a gate.

`report.json` lists what the harness found in its log: tests that were not collected are not on it.
Where the task's own lists are at hand, what is missing is added and both rates are noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from arcview.errors import ArcviewError, BadInputError
from arcview.files import is_file, is_symlink
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest, Group, Outcome
from arcview.readers.fields import Fields
from arcview.readers.inside import inside
from arcview.readers.reports.swe_bench import read_instances
from arcview.readers.runs.assembled import counted
from arcview.readers.runs.log_details import with_details
from arcview.readers.runs.report_gate import find_report, gate_of

REPORT = "report.json"
_OUTPUT = "test_output.txt"
_P2P_OUTPUT = "test_output_p2p_"
_GROUPS = {"FAIL_TO_PASS": Group.F2P, "PASS_TO_PASS": Group.P2P}
_OK = frozenset({Outcome.PASSED, Outcome.XFAILED})


def read_gate(
    root: Path,
    folder: str,
    instance: str,
    expected: Mapping[str, Sequence[str]],
    problems: list[Problem],
) -> tuple[GateRecord, tuple[GateTest, ...]]:
    """The gate of an attempt.

    Args:
        root: The folder of the whole run.
        folder: Where the grading lies, relative to it.
        instance: Id of the instance.
        expected: The task's own lists, by the harness's names; empty where they are not at hand.
        problems: Takes what is wrong.
    """
    logs = tuple(_logs(root, folder))
    record = GateRecord("1", "S1", log_paths=tuple(f"{folder}/{name}" for name in logs))
    if REPORT not in logs:
        reason = f"no {folder.split('/')[0]}/…/{REPORT}: not graded"
        return replace(record, unmeasured=reason), ()
    shown = f"{folder}/{REPORT}"
    try:
        reports = read_instances(inside(root, shown))
    except ArcviewError as error:
        what = str(error).removeprefix(f"{REPORT}: ")
        problems.append(Problem(shown, f"{what}; gate unmeasured"))
        return replace(record, unmeasured=f"{REPORT} is damaged: {what}"), ()
    report = reports.get(instance) or next(iter(reports.values()))
    found, reported = gate_of(record, report)
    tests = (*reported, *_unreported(reported, expected))
    notes = [*found.notes, *_rates(root, shown, instance, reported, tests, expected)]
    found = counted(found, tests)
    if found.p2p is None and found.unmeasured is None:
        why = "instances of level 2 have none" if instance.endswith(".lv2") else "none is reported"
        notes.append(f"P2P is not measured: {why}")
    return replace(found, notes=tuple(dict.fromkeys(notes))), tests


def read_details(root: Path, folder: str, tests: tuple[GateTest, ...]) -> tuple[GateTest, ...]:
    """The tests with what the outputs of the test runs say about each."""
    for name in _logs(root, folder):
        if name != _OUTPUT and not name.startswith(_P2P_OUTPUT):
            continue
        logged = find_report(root / folder / name, f"{folder}/{name}", [])
        if logged is not None:
            group = Group.F2P if name == _OUTPUT else Group.P2P
            own = [test for test in tests if test.group is group]
            detailed = dict(zip(own, with_details(own, logged.tests), strict=True))
            tests = tuple(detailed.get(test, test) for test in tests)
    return tests


def _logs(root: Path, folder: str) -> Iterator[str]:
    """The names of the files of the grading, the output of the tests first."""
    try:
        entries = [e for e in inside(root, folder).iterdir() if is_file(e) and not is_symlink(e)]
    except (OSError, BadInputError):
        return
    yield from sorted((e.name for e in entries), key=lambda name: (name != _OUTPUT, name))


def _unreported(
    reported: Sequence[GateTest], expected: Mapping[str, Sequence[str]]
) -> Iterator[GateTest]:
    """Expected tests that are not on the report; the task may list files, which say nothing."""
    for key, group in _GROUPS.items():
        named = {test.id for test in reported if test.group is group}
        for test_id in dict.fromkeys(expected.get(key, ())):
            if "::" in test_id and test_id not in named:
                yield GateTest(test_id, group, Outcome.MISSING)


def _rates(
    root: Path,
    shown: str,
    instance: str,
    reported: Sequence[GateTest],
    tests: Sequence[GateTest],
    expected: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    """The rate as the harness reports it, and that over the list of the task."""
    own = [test for test in reported if test.group is Group.F2P]
    passed = sum(test.outcome in _OK for test in own)
    said = _said(root, shown, instance)
    rate = f", pass_rate {said:g}" if said is not None else ""
    result = f"{passed} of {len(own)}" if own else "no test has a result"
    yield f"F2P as reported: {result}{rate}"
    wanted = [test for test in tests if test.group is Group.F2P]
    listed = list(dict.fromkeys(expected.get("FAIL_TO_PASS", ())))
    if any("::" in test_id for test_id in listed):
        yield f"F2P over the task's own list: {passed} of {len(wanted)}"
    elif listed:
        files = sum(any(test.id.startswith(f"{name}::") for test in own) for name in listed)
        yield f"the task lists {len(listed)} F2P files, {files} of them have results"
    else:
        yield "F2P over the task's own list: not known, the run does not hold the list"


def _said(root: Path, shown: str, instance: str) -> float | None:
    try:
        fields = Fields.json_file(inside(root, shown), shown, [])
    except BadInputError:
        return None
    return fields.sub(instance).number("pass_rate")
