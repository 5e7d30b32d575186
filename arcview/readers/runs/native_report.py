"""The single tests of a native gate that has no tests.jsonl, from a report or at last from its log.

Ids are matched across spellings; what a run did not come to is not run, not missing. Outcomes from
a log keep their line and are marked as scraped.
"""

from __future__ import annotations

from dataclasses import replace

from arcview.errors import ArcviewError, BadInputError
from arcview.model.problem import Problem
from arcview.model.results import WITHOUT_RESULT, GateTest, Group, Report
from arcview.readers.fields import read_bytes
from arcview.readers.registry import find_report_reader
from arcview.readers.reports.collect import facts
from arcview.readers.reports.identity import match
from arcview.readers.runs.native_fields import as_problem
from arcview.readers.runs.native_folder import Folder
from arcview.readers.runs.native_gates import LOG_FILE, Expected, GateSpot
from arcview.readers.runs.native_tests import SPLIT, GateDetails, Reading, Reported, settled


def from_report(run: Folder, spot: GateSpot) -> GateDetails:
    """Reads the first known report of a gate run; damage is reported, never raised."""
    problems: list[Problem] = []
    for file in spot.files:
        name = f"{spot.folder}/{file}"
        path = run.file(name) if file.startswith("report.") else None
        if path is None:
            continue
        try:
            reader, _ = find_report_reader(path)
            report = reader.read(path)
        except BadInputError as error:
            problems.append(replace(as_problem(error), where=name))
        except ArcviewError:
            problems.append(Problem(name, "not a known test report; shown as text only"))
        else:
            return _match_report(report, name, spot.expected, problems)
    if problems or spot.is_imported or LOG_FILE not in spot.files:
        return GateDetails(problems=tuple(problems))
    return _from_log(run, spot)


def _from_log(run: Folder, spot: GateSpot) -> GateDetails:
    """What a log names; counts that are recorded stay, for logs seldom name every test."""
    from arcview.readers.reports.text_log import read_log  # last resort, and long to load

    name = f"{spot.folder}/{LOG_FILE}"
    path = run.file(name)
    if path is None:
        return GateDetails()
    try:
        report = read_log(read_bytes(path, name), LOG_FILE)
    except BadInputError as error:
        return GateDetails(problems=(as_problem(error),))
    if not spot.has_counts:
        if not (report.tests or report.gaps):
            return GateDetails(source=name, notes=report.notes)
        return _match_report(report, name, spot.expected, [])
    if not report.tests:
        return GateDetails()
    found = _match_report(report, name, spot.expected, [])
    named = tuple(t for t in found.tests if t.outcome not in WITHOUT_RESULT)
    return replace(found, tests=named, is_damaged=True)


def _match_report(
    report: Report, name: str, expected: Expected, problems: list[Problem]
) -> GateDetails:
    problems += (
        replace(problem, where=_within(problem.where, name)) for problem in report.problems
    )
    wanted = [test_id for group in SPLIT for test_id in expected.of(group) or ()]
    matching = match(report, wanted)
    notes = (*report.notes, *facts(report), *matching.notes)
    if wanted and report.tests and not matching.found and report.stopped is None:
        what = "not one of its ids is on the lists of chain.json: are they spelled another way?"
        problems.append(Problem(name, what))
        return GateDetails(
            report.tests, len(report.tests), name, False, False, None, notes, tuple(problems)
        )
    reading = Reading(name, problems=problems)
    named = [*matching.found.values(), *matching.rest]
    tests = settled(
        [Reported(test, _own_group(test, expected), name) for test in named],
        expected,
        reading.note,
        report,
    )
    return GateDetails(
        tests,
        len(report.tests),
        name,
        report.is_damaged,
        True,
        report.stopped,
        notes,
        tuple(problems),
    )


def _within(where: str, name: str) -> str:
    """The place of a report's problem, with the report's path in the run."""
    file = name.rpartition("/")[2]
    return f"{name}{where[len(file) :]}" if where.startswith(file) else name


def _own_group(test: GateTest, expected: Expected) -> Group | None:
    """The group that a report itself puts a test into, where chain.json has no lists."""
    return None if test.group is Group.OTHER or expected.is_known else test.group
