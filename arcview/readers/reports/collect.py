"""What all report readers share: one test per id, and small typed access to parsed JSON.

Must not import pydantic. Record-like files use `readers.fields`; files with a record a line, which
may hold a million of them, use the functions below.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.results import Gap, GateTest, Group, GroupCounts, Outcome, Report
from arcview.readers.fields import Fields, parse_json
from arcview.readers.packed import read_unpacked

_SEVERITY = {
    outcome: rank
    for rank, outcome in enumerate(
        (
            Outcome.ERROR,
            Outcome.FAILED,
            Outcome.TIMEOUT,
            Outcome.NOT_RUN,
            Outcome.MISSING,
            Outcome.XPASSED,
            Outcome.SKIPPED,
            Outcome.XFAILED,
            Outcome.PASSED,
        )
    )
}
COLLECTION_ERROR = "collection error"
INTERNAL_ERROR = "internal error"
FILE_FAILED = "file failed"
BUILD_FAILED = "build failed"
PACKAGE_FAILED = "package failed"
HOOK_FAILED = "hook failed"
"""What `GateTest.reported` says of files none of whose tests ran, and of errors of the runner."""

_MAX_LISTED = 6
"""Outcomes of one id that a conflict lists one by one."""


def severity(outcome: Outcome) -> int:
    """The rank of an outcome; the lowest is the worst."""
    return _SEVERITY[outcome]


def merged(entries: Iterable[GateTest]) -> tuple[GateTest, ...]:
    """One test per group and id: of repeated ones the worst outcome, with their number.

    Where the outcomes differ, `conflict` says so.
    """
    tests: dict[tuple[Group, str], GateTest] = {}
    repeated: dict[tuple[Group, str], list[GateTest]] = {}
    for entry in entries:
        key = (entry.group, entry.id)
        if key not in tests:
            tests[key] = entry
            continue
        repeated.setdefault(key, [tests[key]]).append(entry)
    for key, copies in repeated.items():
        worst = min(copies, key=lambda test: _SEVERITY[test.outcome])
        tests[key] = replace(
            worst,
            copies=sum(test.copies for test in copies),
            conflict=joined([worst.conflict, differing([test.outcome for test in copies])], "; "),
        )
    return tuple(tests.values())


def beside(
    tests: tuple[GateTest, ...], *, before: Sequence[GateTest] = (), after: Sequence[GateTest] = ()
) -> tuple[GateTest, ...]:
    """Tests with one entry an id, and a few other entries before or behind them."""
    return merged((*before, *tests, *after)) if before or after else tests


def differing(outcomes: list[Outcome]) -> str | None:
    """`reported 3 times with different outcomes: passed, failed, passed`; null where they agree."""
    if len(set(outcomes)) < 2:
        return None
    words = ", ".join(outcome.value for outcome in outcomes[:_MAX_LISTED])
    more = "" if len(outcomes) <= _MAX_LISTED else " …"
    return f"reported {len(outcomes)} times with different outcomes: {words}{more}"


def joined(texts: Iterable[str | None], separator: str = "\n\n") -> str | None:
    """The texts one after the other; null where there are none."""
    return separator.join(text for text in texts if text and text.strip()) or None


def last_line(text: str | None) -> str | None:
    """The last line that says something, without pytest's `E` mark."""
    lines = (text or "").strip().splitlines()
    return lines[-1].removeprefix("E   ").strip() if lines else None


def broken(
    name: str, kind: str, message: str | None = None, traceback: str | None = None
) -> GateTest:
    """The entry of something that could not be loaded or built; its tests are a gap.

    Args:
        name: Its file, package or class.
        kind: `collection error`, `build failed` …
        message: One line of why.
        traceback: All of why.
    """
    return GateTest(
        id=name,
        group=Group.OTHER,
        outcome=Outcome.ERROR,
        message=message or kind,
        traceback=traceback,
        reported=kind,
    )


def added(counts: Sequence[GroupCounts | None]) -> GroupCounts | None:
    """The sum of several counts; null where one of them, or all, are unknown."""
    known = [count for count in counts if count is not None]
    if not known or len(known) < len(counts):
        return None
    names = GroupCounts.__dataclass_fields__
    return GroupCounts(**{name: sum(getattr(c, name) for c in known) for name in names})


def combined(format_id: str, reports: Sequence[Report]) -> Report:
    """Several runs of tests in one file as one report; a test of two of them is there twice."""
    if not reports:
        return Report(format_id)
    if len(reports) == 1:
        return replace(reports[0], format=format_id)
    announced = [report.announced for report in reports]
    known = [count for count in announced if count is not None]
    return Report(
        format=format_id,
        tests=merged(test for report in reports for test in report.tests),
        announced=sum(known) if known and len(known) == len(announced) else None,
        totals=added([report.totals for report in reports]),
        gaps=tuple(dict.fromkeys(gap for report in reports for gap in report.gaps)),
        is_scraped=any(report.is_scraped for report in reports),
        notes=tuple(dict.fromkeys(note for report in reports for note in report.notes)),
        problems=tuple(problem for report in reports for problem in report.problems),
    )


NODE_FILE = re.compile(r"^/\S+\.[cm]?[jt]s$")
"""What node:test calls a file that it reports as one test."""


def whole_files(tests: Iterable[GateTest]) -> list[str]:
    """Notes on files that node reports as one test: none of their own tests was run to its end."""
    return [
        f"{test.id} is reported as a whole: it holds no tests, or ended the process by itself"
        for test in tests
        if test.outcome is Outcome.PASSED and NODE_FILE.match(test.id)
    ]


def doubts(tests: Iterable[GateTest]) -> str | None:
    """How many outcomes are in doubt, in words; null where none is."""
    count = sum(test.conflict is not None for test in tests)
    return (
        ("1 outcome is" if count == 1 else f"{count} outcomes are") + " in doubt" if count else None
    )


def facts(report: Report) -> list[str]:
    """What a report says of the whole run, in words."""
    facts = []
    if report.stopped is not None:
        facts.append(f"ended early: {report.stopped.why}")
    if report.unreported:
        facts.append(f"{report.unreported} of {report.announced} announced tests are unreported")
    if doubted := doubts(report.tests):
        facts.append(doubted)
    return facts


_PYTEST_EXITS = {2: "interrupted", 3: "internal error of pytest", 4: "usage error"}


def pytest_gaps(collectors: Sequence[GateTest], exit_code: int | None) -> tuple[Gap, ...]:
    """What pytest did not run, from the modules it could not collect and its exit code."""
    gaps = [Gap(test.id, COLLECTION_ERROR) for test in collectors]
    if exit_code == 2 and collectors:
        errors = "1 error" if len(collectors) == 1 else f"{len(collectors)} errors"
        gaps.append(Gap("", f"Interrupted: {errors} during collection"))
    elif exit_code in _PYTEST_EXITS:
        why = f"{_PYTEST_EXITS[exit_code]} (exit code {exit_code})"
        gaps.append(Gap("", why, own_doing=False))
    return tuple(gaps)


def cut_short(what: str) -> Gap:
    """The gap of a run whose report just ends."""
    return Gap("", f"{what}: the run was cut off, or its report was", own_doing=False)


def text_of(record: Mapping[str, object], key: str) -> str | None:
    """A text field; null where it is missing or something else."""
    value = record.get(key)
    return value if isinstance(value, str) else None


def count_of(record: Mapping[str, object], key: str) -> int | None:
    """A whole number that is not negative; null where it is missing or something else."""
    value = record.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def seconds_of(record: Mapping[str, object], key: str) -> float | None:
    """A duration; null where it is missing, negative or not finite."""
    value = record.get(key)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if 0 <= value < math.inf else None
    return None


_DECODER = json.JSONDecoder(parse_constant=str)


@dataclass(slots=True)
class JsonLines:
    """The JSON records of a file with one a line, other text between and beside them allowed."""

    data: bytes
    shown: str
    """The file, as the user would name it."""
    openers: tuple[str, ...] = ("{",)
    """What a record begins with; behind other text on its line only if longer than one bracket."""
    others: int = 0
    """Lines with text that is no record: output that got between them."""
    damaged: int = 0
    """Lines that begin like a record and are none."""
    first_damaged: int = 0

    def records(self) -> Iterator[tuple[int, object]]:
        """Yields (line number, record)."""
        # Only "\n" ends a line: the other line ends of Unicode are text here.
        lines = self.data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        for number, line in enumerate(lines, start=1):
            text = line.decode("utf-8", "replace").strip("\0 \t\r")
            if not text:
                continue
            start = self._start(text)
            if start < 0:
                self.others += 1
                continue
            try:
                record, end = _DECODER.raw_decode(text, start)
            except (ValueError, RecursionError):
                if start:
                    self.others += 1
                else:
                    self.damaged += 1
                    self.first_damaged = self.first_damaged or number
                continue
            self.others += start > 0 or end < len(text)
            yield number, record

    def _start(self, text: str) -> int:
        if text.startswith(self.openers):
            return 0
        return max(text.rfind(opener) if len(opener) > 1 else -1 for opener in self.openers)

    def problems(self) -> tuple[Problem, ...]:
        """What was wrong with the lines."""
        if not self.damaged:
            return ()
        lines = "a damaged line is" if self.damaged == 1 else f"{self.damaged} damaged lines are"
        what = f"{lines} left out (cut short?)"
        return (Problem(f"{self.shown}: line {self.first_damaged}", what),)


_LINE_OBJECT = re.compile(r"^\s*\{", re.MULTILINE)
_MAX_TRIES = 50


def embedded_object(path: Path, problems: list[Problem], key: str) -> Fields:
    """The JSON object of a file, which other output may stand before and after.

    Programs that print their report to standard output share it with what tests print.

    Args:
        path: The file.
        problems: Takes what is wrong inside of the object.
        key: What the object must hold; of several the longest counts.

    Raises:
        BadInputError: there is no object; names the line if it is damaged JSON.
    """
    data = read_unpacked(path, path.name).removeprefix(b"\xef\xbb\xbf")
    if data.lstrip().startswith(b"{"):
        try:
            return Fields.of(parse_json(data, path.name), path.name, problems)
        except BadInputError as error:
            failure = error
    else:
        failure = BadInputError(path.name, "expected a JSON object")
    best = _longest_object(data.decode("utf-8", "replace"), key)
    if best is None:
        raise failure
    return Fields.of(best, path.name, problems)


def _longest_object(text: str, key: str) -> dict[str, object] | None:
    best: dict[str, object] | None = None
    longest = end = tries = 0
    for match in _LINE_OBJECT.finditer(text):
        start = match.end() - 1
        if start < end:
            continue  # inside of the object before it
        tries += 1
        if tries > _MAX_TRIES:
            break
        try:
            value, stop = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        end = stop
        if isinstance(value, dict) and key in value and stop - start > longest:
            best, longest = value, stop - start
    return best
