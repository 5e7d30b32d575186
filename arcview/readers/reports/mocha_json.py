"""Reads mocha's `json` report and its `json-stream`, an event a line that survives a crash.

Formats: https://mochajs.org/#reporters. Hooks that fail are no tests there; here they are entries
of outcome `error`. Must not import pydantic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.results import Gap, GateTest, Group, GroupCounts, Outcome, Report
from arcview.readers.fields import Fields
from arcview.readers.packed import read_unpacked
from arcview.readers.registry import Detection
from arcview.readers.reports.collect import (
    HOOK_FAILED,
    JsonLines,
    count_of,
    cut_short,
    embedded_object,
    merged,
    seconds_of,
    text_of,
)

_HOOK = '" hook'
_LISTS = {
    "passes": Outcome.PASSED,
    "failures": Outcome.FAILED,
    "pending": Outcome.SKIPPED,
}
_EVENTS = {"pass": Outcome.PASSED, "fail": Outcome.FAILED}
_KEYS = frozenset({"title", "fullTitle", "duration"})
"""What every event of a test has; one without it was printed by something else."""


class MochaJsonReader:
    """Reads mocha's two JSON reporters."""

    id = "mocha_json"
    title = "mocha JSON or json-stream"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the counts of the one and the first event of the other."""
        if b'["start",{"total":' in head:
            return Detection(self.id, 'lines that begin with ["start", …]')
        if b'"stats"' in head and b'"suites"' in head and b'"passes"' in head:
            return Detection(self.id, "an object with stats and passes")
        return None

    def read(self, path: Path) -> Report:
        """Reads the tests in the report's order, as `suites > test`.

        Raises:
            BadInputError: the file is neither of the two.
        """
        data = read_unpacked(path, path.name)
        if b'["start",' in data and not data.lstrip().startswith(b"{"):
            return read_stream(data, path.name)
        problems: list[Problem] = []
        report = embedded_object(path, problems, "passes")
        if not isinstance(report.values.get("passes"), list):
            raise BadInputError(path.name, "expected a list of tests", "passes")
        entries = _ordered(report)
        stats = report.sub("stats").values
        return Report(
            format=self.id,
            tests=merged(_qualified(entries)),
            announced=_announced(stats),
            totals=_totals(stats, entries),
            gaps=tuple(_hook_gaps(test for test, _ in entries)),
            problems=tuple(problems),
        )


def _announced(stats: Mapping[str, object]) -> int | None:
    return count_of(stats, "tests")


def _totals(
    stats: Mapping[str, object], entries: Iterable[tuple[GateTest, str]]
) -> GroupCounts | None:
    """Mocha's own numbers; it counts hooks that failed among the failures."""
    passed, failed = count_of(stats, "passes"), count_of(stats, "failures")
    if passed is None or failed is None:
        return None
    hooks = sum(test.reported == HOOK_FAILED for test, _ in entries)
    failed = max(0, failed - hooks)
    skipped = count_of(stats, "pending") or 0
    return GroupCounts(
        expected=passed + failed + skipped, passed=passed, failed=failed, skipped=skipped
    )


def _ordered(report: Fields) -> list[tuple[GateTest, str]]:
    """The tests of the three lists in the order of `tests`, hooks last; each with its file."""
    found: dict[str, list[tuple[GateTest, str]]] = {}
    for key, outcome in _LISTS.items():
        for entry in report.records(key) if key in report.values else ():
            test = _test(entry.values, outcome)
            found.setdefault(_key(entry.values), []).append((test, _file(entry.values)))
    ordered: list[tuple[GateTest, str]] = []
    for entry in report.records("tests") if "tests" in report.values else ():
        same = found.get(_key(entry.values))
        if same:
            failed = bool(entry.sub("err").values)
            matching = (t for t in same if (t[0].outcome is Outcome.FAILED) == failed)
            chosen = next(matching, same[0])
            same.remove(chosen)
            ordered.append(chosen)
    return [*ordered, *(rest for same in found.values() for rest in same)]


def _key(entry: Mapping[str, object]) -> str:
    return f"{_file(entry)}\0{text_of(entry, 'fullTitle')}"


def _file(entry: Mapping[str, object]) -> str:
    return text_of(entry, "file") or ""


def _qualified(entries: list[tuple[GateTest, str]]) -> list[GateTest]:
    """Puts the file before ids that several files share."""
    files: dict[str, set[str]] = {}
    for test, file in entries:
        files.setdefault(test.id, set()).add(file)
    return [
        replace(test, id=f"{file} > {test.id}") if len(files[test.id]) > 1 and file else test
        for test, file in entries
    ]


def _test(entry: Mapping[str, object], outcome: Outcome) -> GateTest:
    error = entry.get("err")
    details = error if isinstance(error, dict) else {}
    message = text_of(details, "message") or (error if isinstance(error, str) else None)
    stack = text_of(details, "stack") or text_of(entry, "stack")
    duration = seconds_of(entry, "duration")
    retries = count_of(entry, "currentRetry") or 0
    title = text_of(entry, "title") or ""
    is_hook = outcome is Outcome.FAILED and _HOOK in title and title.startswith('"')
    late = retries and outcome is Outcome.PASSED
    return GateTest(
        id=_id(entry, title),
        group=Group.OTHER,
        outcome=Outcome.ERROR if is_hook else outcome,
        duration_s=None if duration is None else duration / 1000,
        message=message,
        traceback=stack,
        reported=HOOK_FAILED if is_hook else "pending" if outcome is Outcome.SKIPPED else None,
        conflict=f"flaky: passed after {retries} failed attempts" if late else None,
    )


def _id(entry: Mapping[str, object], title: str) -> str:
    """`suites > title`: the full title joins them with a blank, so the suites stay one part."""
    full = text_of(entry, "fullTitle") or title
    suites = full.removesuffix(title).removesuffix(" ") if title else ""
    return f"{suites} > {title}" if suites else full


def _hook_gaps(tests: Iterable[GateTest]) -> list[Gap]:
    """A suite's tests after a hook that failed did not run."""
    return [
        Gap(test.id.rpartition(" > ")[0], f"{HOOK_FAILED}: {test.id}")
        for test in tests
        if test.reported == HOOK_FAILED and " > " in test.id
    ]


def read_stream(data: bytes, shown: str) -> Report:
    """Reads the events of `json-stream`, which other output may stand between.

    Args:
        data: The bytes of a file.
        shown: The file, as the user would name it.
    """
    lines = JsonLines(data, shown, ('["start",', '["pass",', '["fail",', '["end",'))
    entries: list[tuple[GateTest, str]] = []
    announced, stats = None, None
    for _, record in lines.records():
        if not (isinstance(record, list) and len(record) == 2 and isinstance(record[1], dict)):
            continue
        kind, entry = record
        if kind == "start":
            announced = count_of(entry, "total")
        elif kind == "end":
            stats = entry
        elif kind in _EVENTS:
            test = _test(entry, _EVENTS[kind])
            if not entry.keys() >= _KEYS:
                test = replace(test, conflict="not an event of mocha: a test may have printed it")
            entries.append((test, _file(entry)))
    totals = None if stats is None else _totals(stats, entries)
    gaps = _hook_gaps(test for test, _ in entries)
    if stats is None:
        gaps.append(cut_short('there is no ["end", …]'))
    return Report(
        format=MochaJsonReader.id,
        tests=merged(_qualified(entries)),
        announced=announced,
        totals=totals,
        gaps=tuple(gaps),
        is_damaged=lines.damaged > 0,
        notes=tuple(_odd_counts(totals, entries)),
        problems=lines.problems(),
    )


def _odd_counts(totals: GroupCounts | None, entries: list[tuple[GateTest, str]]) -> list[str]:
    if totals is None:
        return []
    named = Counter(test.outcome for test, _ in entries)[Outcome.PASSED]
    if named <= totals.passed:
        return []
    return [f"{named} passes are reported, mocha counts {totals.passed}: tests may print events"]
