"""Reads JUnit XML of pytest, vitest, jest-junit, mocha, node:test, nextest and others.

How ids are made is `junit_ids`. Must not import pydantic.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.results import Gap, GateTest, Group, Outcome, Report
from arcview.readers.packed import read_unpacked
from arcview.readers.registry import Detection
from arcview.readers.reports.collect import (
    COLLECTION_ERROR,
    FILE_FAILED,
    INTERNAL_ERROR,
    PACKAGE_FAILED,
    joined,
    last_line,
    merged,
    whole_files,
)
from arcview.readers.reports.junit_ids import Flavour, flavour_of, id_of
from arcview.readers.reports.junit_xml import Case, Document, Result, parse

_ROOT = re.compile(rb"<(?:\w+:)?testsuites?[\s>/]")
_TIMEOUTS = frozenset({"test timeout", "testTimeoutFailure"})
_BAD = {"failure": Outcome.FAILED, "error": Outcome.ERROR}
_PHASE = re.compile(r'failed on (setup|teardown) with "(.*)"', re.DOTALL)
_TEARDOWN = 'failed on teardown with "'
_CRASHED = re.compile(r"worker '\w+' crashed while running")


class JunitReader:
    """Reads JUnit XML of any flavour."""

    id = "junit"
    title = "JUnit XML"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the root element."""
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            head = head.decode("utf-16", "replace").encode()
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if start.startswith(b"<") and (match := _ROOT.search(start)):
            return Detection(self.id, f"XML with {match[0][:-1].decode()}>")
        return None

    def read(self, path: Path) -> Report:
        """Reads the cases in the file's order, each id once.

        Raises:
            BadInputError: the file is not JUnit XML, or declares entities.
        """
        data = read_unpacked(path, path.name)
        if not data.strip():
            raise BadInputError(path.name, "expected JUnit XML, the file is empty")
        document = parse(data, path.name)
        flavour = flavour_of(document)
        entries = _tests(document, flavour)
        return Report(
            format=self.id,
            tests=merged(entries),
            announced=_announced(document, flavour, entries),
            gaps=_gaps(entries),
            is_damaged=document.is_damaged,
            notes=_notes(entries, flavour),
            problems=tuple(document.problems),
        )


def _announced(document: Document, flavour: Flavour, entries: list[GateTest]) -> int | None:
    """The sum of the suites' own numbers.

    Pytest counts subtests among them, node leaves out the tests outside of suites.
    """
    if flavour in (Flavour.PYTEST, Flavour.NODE):
        return None
    counts = [suite.get("tests", "") for suite in document.suites]
    known = [int(count) for count in counts if count.isdecimal()]
    if not known or len(known) < len(counts):
        return None
    return max(
        0, sum(known) - sum(test.reported in (FILE_FAILED, PACKAGE_FAILED) for test in entries)
    )


def _gaps(entries: list[GateTest]) -> tuple[Gap, ...]:
    kinds = (COLLECTION_ERROR, FILE_FAILED, PACKAGE_FAILED)
    gaps = [Gap(test.id, test.reported) for test in entries if test.reported in kinds]
    internal = next((test for test in entries if test.reported == INTERNAL_ERROR), None)
    if internal is not None:
        gaps.append(Gap("", f"internal error of pytest: {internal.message}", own_doing=False))
    return tuple(gaps)


def _notes(entries: list[GateTest], flavour: Flavour) -> tuple[str, ...]:
    if flavour is Flavour.NODE:
        return tuple(whole_files(entries))
    return tuple(test.message for test in entries if test.message and _CRASHED.match(test.message))


def _tests(document: Document, flavour: Flavour) -> list[GateTest]:
    """One entry a case; a failed teardown, of which pytest makes a second case, joins the first."""
    entries: list[GateTest] = []
    for case in document.cases:
        entry = _test(case, flavour)
        before = entries[-1] if entries else None
        if before is not None and before.id == entry.id and _is_teardown(case, flavour):
            entries[-1] = replace(
                before,
                outcome=entry.outcome,
                message=joined([before.message, entry.message]),
                traceback=joined([before.traceback, entry.traceback]),
            )
        else:
            entries.append(entry)
    return entries


def _is_teardown(case: Case, flavour: Flavour) -> bool:
    message = case.results[0].message if case.results else None
    return flavour is Flavour.PYTEST and bool(message) and str(message).startswith(_TEARDOWN)


def _test(case: Case, flavour: Flavour) -> GateTest:
    told, outcome, reported = _outcome(case, flavour)
    return GateTest(
        id=id_of(case, flavour),
        group=Group.OTHER,
        outcome=outcome,
        duration_s=_seconds(case.get("time")),
        message=joined([_message(result, reported) for result in told]),
        traceback=joined([result.text.strip("\n") for result in told]),
        stdout=case.printed.get("system-out"),
        stderr=case.printed.get("system-err"),
        reported=reported,
        conflict=_flaky(case, outcome),
    )


def _outcome(case: Case, flavour: Flavour) -> tuple[list[Result], Outcome, str | None]:
    """The elements that tell why, the outcome, and the report's word where it differs."""
    bad = [result for result in case.results if result.kind in _BAD]
    skipped = [result for result in case.results if result.kind == "skipped"]
    if bad and not any(result.type == "todo" for result in skipped):
        return (bad, *_bad_outcome(case, bad, flavour))
    if skipped:
        first = skipped[0]
        if first.type == "pytest.xfail":
            return skipped, Outcome.XFAILED, None
        is_meant = first.message == "Disabled" or (first.message or "").startswith("SKIP_")
        if case.get("status") == "notrun" and not is_meant:
            return skipped, Outcome.NOT_RUN, "notrun"
        return [*skipped, *bad], Outcome.SKIPPED, "todo" if first.type == "todo" else None
    if case.get("status") in ("notrun", "disabled"):
        return [], Outcome.SKIPPED, case.get("status")
    return [], Outcome.PASSED, None


def _bad_outcome(case: Case, bad: list[Result], flavour: Flavour) -> tuple[Outcome, str | None]:
    first = bad[0]
    if flavour is Flavour.PYTEST:
        if first.message == "collection failure":
            return Outcome.ERROR, COLLECTION_ERROR
        if first.message == "internal error":
            return Outcome.ERROR, INTERNAL_ERROR
        phase = _PHASE.fullmatch(first.message or "")
        if phase and _CRASHED.match(phase[2]):
            return Outcome.FAILED, "error"
    if _is_file(case, flavour):
        return Outcome.ERROR, FILE_FAILED
    if flavour is Flavour.GO and not case.get("classname"):
        return Outcome.ERROR, PACKAGE_FAILED
    if any(result.type in _TIMEOUTS for result in bad):
        return Outcome.TIMEOUT, first.type
    is_error = any(result.kind == "error" for result in bad)
    return (Outcome.ERROR if is_error else Outcome.FAILED), None


def _is_file(case: Case, flavour: Flavour) -> bool:
    """Whether a case stands for a file none of whose tests ran."""
    name = case.get("name")
    if flavour is Flavour.VITEST:
        return name == case.get("classname")
    return flavour is Flavour.NODE and name.startswith("/") and not case.suites


def _message(result: Result, reported: str | None) -> str | None:
    """The message, or where there is none the first line of the text that says something."""
    if reported in (COLLECTION_ERROR, INTERNAL_ERROR):
        return last_line(result.text)
    message = result.message or ""
    if result.kind == "skipped" and message in ("true", ""):
        return result.text.strip() or None
    if match := _PHASE.fullmatch(message):
        return match[2]
    if message.strip():
        return message
    lines = (line.strip() for line in result.text.splitlines())
    return next((line for line in lines if line), result.type)


def _flaky(case: Case, outcome: Outcome) -> str | None:
    failed = sum(result.kind.startswith(("flaky", "rerun")) for result in case.results)
    if failed and outcome is Outcome.PASSED:
        return f"flaky: passed after {failed} failed attempts"
    return None


def _seconds(text: str) -> float | None:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value if 0 <= value < 1e9 else None
