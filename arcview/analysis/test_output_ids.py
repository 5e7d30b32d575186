"""Names of single tests in the text that a runner printed, with what became of each.

The grammars are those of the report readers (`readers.reports.logs`); only runners that no report
reader knows have their patterns here. Pure text rules, private to `test_output`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from arcview.analysis.test_output_model import ReportedTest
from arcview.model.results import UNFINISHED, GateTest, Outcome
from arcview.readers.reports.collect import BUILD_FAILED, PACKAGE_FAILED
from arcview.readers.reports.logs.families import family_of

MAX_TESTS = 5000
"""Names kept of one run; the counts do not depend on them."""
MAX_LINE = 1000
"""Characters of a line that is read for a name."""

_NO_TESTS = frozenset({UNFINISHED, BUILD_FAILED, PACKAGE_FAILED})
_TAP = frozenset({"tap", "tape", "prove"})
_WORDS = {
    "ok": Outcome.PASSED,
    "OK": Outcome.PASSED,
    "PASSED": Outcome.PASSED,
    "Passed": Outcome.PASSED,
    "FAILED": Outcome.FAILED,
    "Failed": Outcome.FAILED,
    "ignored": Outcome.SKIPPED,
    "SKIPPED": Outcome.SKIPPED,
    "Skipped": Outcome.SKIPPED,
}
_WORST_LAST = (Outcome.SKIPPED, Outcome.PASSED, Outcome.FAILED)
_PATTERNS = {
    "deno": r"^(?P<name>\S[^\n]*?) \.\.\. (?P<word>ok|FAILED|ignored) \([^)\n]*\)$",
    "gtest": r"^\[ +(?P<word>OK|FAILED|SKIPPED) +\] (?P<name>\w[\w/]*\.[\w/]+)",
    "gradle": r"^(?P<name>\S+ > [^\n]+) (?P<word>PASSED|FAILED|SKIPPED)$",
    "dotnet": r"^ +(?P<word>Passed|Failed|Skipped) (?P<name>\S+) \[[^\]\n]+\]$",
}


def reported_tests(family: str, text: str) -> tuple[ReportedTest, ...]:
    """The tests that a text names, in the order of their first mention.

    A name with two outcomes keeps the worse one, so that a line which a test prints itself cannot
    turn a failure into a pass.

    Args:
        family: The runner whose output it is; of a runner without a rule nothing is read.
        text: Its output without terminal escapes.
    """
    found = list(_entries(family, text))
    return tuple(ReportedTest(*entry) for entry in found[:MAX_TESTS])


def _entries(family: str, text: str) -> Iterable[tuple[str, Outcome]]:
    if family in _PATTERNS:
        return _by_pattern(_PATTERNS[family], text)
    known = family_of("tap" if family in _TAP else family)
    if known is None:
        return ()
    tests = _of_events(family, text)
    if tests is None:
        tests = known.read(text.split("\n")).tests
    return [(test.id, test.outcome) for test in tests if test.reported not in _NO_TESTS]


def _of_events(family: str, text: str) -> tuple[GateTest, ...] | None:
    """The tests of runners that were told to print an event a line."""
    data = text.encode("utf-8", "surrogatepass")
    if family == "go" and '"Action":"' in text:
        from arcview.readers.reports.go_test import read_events

        return read_events(data, "output").tests
    if family == "mocha" and '["start",' in text:
        from arcview.readers.reports.mocha_json import read_stream

        return read_stream(data, "output").tests
    return None


def _by_pattern(pattern: str, text: str) -> Iterator[tuple[str, Outcome]]:
    compiled = re.compile(pattern)
    worst: dict[str, Outcome] = {}
    for line in text.split("\n"):
        match = compiled.search(line) if len(line) <= MAX_LINE else None
        if match is None:
            continue
        name, outcome = match["name"].strip(), _WORDS[match["word"]]
        known = worst.get(name)
        if known is None or _WORST_LAST.index(outcome) > _WORST_LAST.index(known):
            worst[name] = outcome
    yield from worst.items()
