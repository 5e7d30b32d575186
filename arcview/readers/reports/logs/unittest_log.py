"""Reads the text of unittest and of Django's test runner, verbose or not, whole or in part.

`test_a (pkg.mod.Class)`, `test_a (pkg.mod.Class.test_a)` and both with a docstring below become
`pkg.mod.Class.test_a`. Pure; must not read files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from arcview.model.results import UNFINISHED, Gap, GateTest, GroupCounts, Outcome, Report
from arcview.readers.reports.collect import COLLECTION_ERROR, broken, last_line
from arcview.readers.reports.logs.log import (
    MAX_LINE,
    Channel,
    Details,
    Found,
    Sighting,
    cut_off,
    ending,
)

FAMILY = "unittest"

_WORDS = {
    "ok": Outcome.PASSED,
    "FAIL": Outcome.FAILED,
    "ERROR": Outcome.ERROR,
    "skipped": Outcome.SKIPPED,
    "expected failure": Outcome.XFAILED,
    "unexpected success": Outcome.XPASSED,
}
_WORD = r"(?P<word>ok|FAIL|ERROR|skipped|expected failure|unexpected success)"
_END = re.compile(rf"^{_WORD}(?: (?P<why>['\"].*['\"]))?(?: \([\d.]+ ?s\))?$")
_AT_END = re.compile(rf"(?:^|(?<= )){_WORD}(?: (?P<why>['\"][^'\"]*['\"]))?$")
_START = re.compile(
    r"^(?P<indent> *)(?P<test>\w+) \((?P<where>[\w.<>]+)\)(?P<sub>(?: \[.*\])?(?: \(.*\))?)"
    r"(?P<rest> \.\.\. .*| \.\.\.|)$"
)
_RED = re.compile(
    r"^(?P<word>FAIL|ERROR|UNEXPECTED SUCCESS): (?P<test>\w+) \((?P<where>[\w.<>]+)\)"
    r"(?P<sub>.*)$"
)
_RAN = re.compile(r"^Ran (?P<count>\d+) tests? in [\d.]+s$")
_VERDICT = re.compile(r"^(?P<word>OK|FAILED|NO TESTS RAN)(?: \((?P<counts>[^)]*)\))?$")
_FOUND = re.compile(r"^Found (?P<count>\d+) test\(?s?\)?\.$")
_FAILED_TEST = "_FailedTest"
_FIXTURES = ("setUpClass", "tearDownClass", "setUpModule", "tearDownModule")
_SEPARATOR = "=" * 70
_LINE = "-" * 70
_COUNTS = {
    "failures": "failed",
    "errors": "error",
    "skipped": "skipped",
    "expected failures": "xfailed",
    "unexpected successes": "xpassed",
}


@dataclass(slots=True)
class _Open:
    """A test that has begun, and what was printed since."""

    id: str
    line: int
    texts: list[str]
    said: list[Sighting] = field(default_factory=list)
    """Bare words: the last one is the result."""
    held: list[Sighting] = field(default_factory=list)
    """Complete lines of other tests: printed by this one if its own word follows."""
    subfailed: list[str] = field(default_factory=list)
    tail: Sighting | None = None
    """The last line so far, if it ends with a word."""


@dataclass(slots=True)
class _Reader:
    lines: Sequence[str]
    found: Found = field(default_factory=Found)
    open: _Open | None = None
    in_red: bool = False
    """Below the first heading of a failure."""
    blocks: list[tuple[str, int, int]] = field(default_factory=list)
    """Id, first line and end of what is told of a failure."""
    announced: int | None = None
    ran: int | None = None
    counts: str | None = None
    """What stands in brackets behind the verdict."""
    loading: dict[str, str] = field(default_factory=dict)
    """Modules that could not be loaded → their line."""
    fixtures: dict[str, str] = field(default_factory=dict)
    """Classes and modules whose fixture failed → which one."""

    def read(self) -> None:
        block: tuple[str, int] | None = None
        for index, line in enumerate(self.lines):
            if len(line) > MAX_LINE:
                continue
            is_heading = line == _SEPARATOR or self._is_closing(line)
            if is_heading and block is not None:
                self.blocks.append((*block, index))
                block = None
            if line == _SEPARATOR:
                self._settle()
                self.in_red = True
            elif self.in_red:
                if self.lines[index - 1] == _SEPARATOR and (test_id := self._red(line, index)):
                    block = (test_id, index + 1)
                elif not is_heading:
                    self._live_in_red(line)
            elif not is_heading:
                self._live(line, index)
        if block is not None:
            self.blocks.append((*block, len(self.lines)))
        if self.open is not None:
            self.open.tail = None  # nothing follows that would show that the test is over
        self._settle()

    def _is_closing(self, line: str) -> bool:
        if match := _RAN.match(line):
            self.ran = int(match["count"])
            self._settle()
            return True
        if self.ran is not None and (match := _VERDICT.match(line)):
            self.counts = match["counts"] or ""
            return True
        return False

    def _live_in_red(self, line: str) -> None:
        if match := _FOUND.match(line):  # another run of Django begins
            self.announced = (self.announced or 0) + int(match["count"])
            self.in_red = False

    def _live(self, line: str, index: int) -> None:
        if match := _FOUND.match(line):
            self.announced = (self.announced or 0) + int(match["count"])
            return
        match = _START.match(line) if "(" in line else None
        if match is not None and (match["rest"] or self._is_docstring(index + 1)):
            self._start(match, line, index)
            return
        if self.open is None:
            return
        if len(self.open.texts) < 50:
            self.open.texts.append(line)
        self.open.tail = None
        if end := _END.match(line.rpartition(" ... ")[2]):
            self._word(end["word"], end["why"], line, index)
        elif end := _AT_END.search(line):
            # Text that was printed without a line end may stand before the word.
            self.open.tail = self._sighting(self.open.id, end["word"], end["why"], line, index)

    def _is_docstring(self, index: int) -> bool:
        """Whether a line ends like the docstring below the name of a test."""
        if index >= len(self.lines):
            return False
        line = self.lines[index]
        return " ... " in line or line.endswith(" ...")

    def _start(self, match: re.Match[str], line: str, index: int) -> None:
        test_id = id_of(match["test"], match["where"])
        rest = match["rest"].removeprefix(" ...").strip()
        end = _END.match(rest) if rest else None
        if match["indent"] and match["sub"]:
            self._subtest(test_id, match["sub"].strip(), end, line, index)
            return
        if self.open is not None and not self.open.said and end and self._has_word_later(index):
            self.open.held.append(self._sighting(test_id, end["word"], end["why"], line, index))
            return
        self._settle()
        self.open = _Open(test_id, index, [line])
        if end is not None:
            self._word(end["word"], end["why"], line, index)

    def _has_word_later(self, index: int) -> bool:
        """Whether a bare word follows: the test that is open has its result still to come."""
        following = self.lines[index + 1] if index + 1 < len(self.lines) else ""
        return bool(_END.match(following))

    def _subtest(
        self, test_id: str, what: str, end: re.Match[str] | None, line: str, index: int
    ) -> None:
        if self.open is not None and self.open.id == test_id and end is not None:
            self.open.subfailed.append(what)
            self.open.said.append(self._sighting(test_id, end["word"], what, line, index))

    def _word(self, word: str, why: str | None, line: str, index: int) -> None:
        assert self.open is not None
        text = line if index == self.open.line else "\n".join([*self.open.texts[:1], line])
        self.open.said.append(self._sighting(self.open.id, word, why, text, index))

    def _sighting(
        self, test_id: str, word: str, why: str | None, text: str, index: int
    ) -> Sighting:
        message = why.strip("'\"") if why and not why.startswith(("[", "(")) else why
        return Sighting(test_id, _WORDS[word], index + 1, text, message=message)

    def _settle(self) -> None:
        """The open test is over: its last word is its result, what looks like one is not."""
        test, self.open = self.open, None
        if test is None:
            return
        for sighting in test.held:
            self.found.imitated(sighting)
        if test.tail is not None:
            test.said.append(test.tail)
        if not test.said:
            text = test.texts[0]
            missing = Sighting(test.id, Outcome.NOT_RUN, test.line + 1, text, reported=UNFINISHED)
            self._saw(missing)
            return
        *before, last = test.said
        if test.subfailed:
            before = []
        for sighting in before:
            self.found.imitated(sighting)
        self._saw(last)

    def _saw(self, sighting: Sighting) -> None:
        test = sighting.id.rpartition(".")[2]
        if _FAILED_TEST in sighting.text:
            self.loading.setdefault(test, sighting.text)
            return
        if test in _FIXTURES and sighting.outcome is Outcome.ERROR:
            self.fixtures.setdefault(sighting.id.rpartition(".")[0], test)
        self.found.saw(sighting)

    def _red(self, line: str, index: int) -> str | None:
        match = _RED.match(line)
        if match is None:
            return None
        test_id = id_of(match["test"], match["where"])
        word = match["word"]
        outcome = Outcome.XPASSED if word.startswith("UNEXPECTED") else _WORDS[word]
        sub = match["sub"].strip() or None
        self._saw(Sighting(test_id, outcome, index + 1, line, Channel.SUMMARY, message=sub))
        return test_id if _FAILED_TEST not in line else match["test"]


def id_of(test: str, where: str) -> str:
    """The dotted name of a test, which Python 3.11 prints whole and older ones in two parts."""
    where = where.removeprefix("unittest.loader._FailedTest.")
    return where if where.endswith(f".{test}") or where == test else f"{where}.{test}"


def _totals(reader: _Reader) -> GroupCounts | None:
    """The runner's counts of tests: fixtures that failed are none, subtests are no further ones."""
    if reader.ran is None or reader.counts is None:
        return None
    counts: Counter[str] = Counter()
    for part in reader.counts.split(", "):
        name, _, number = part.partition("=")
        if name in _COUNTS and number.isdigit():
            counts[_COUNTS[name]] += int(number)
    counts["error"] = max(0, counts["error"] - len(reader.fixtures) - len(reader.loading))
    ran = max(0, reader.ran - len(reader.loading))
    return GroupCounts(expected=ran, passed=max(0, ran - sum(counts.values())), **counts)


def read_unittest(lines: Sequence[str]) -> Report:
    """Reads the output of unittest or Django.

    Args:
        lines: The log, without terminal escapes.
    """
    reader = _Reader(lines)
    reader.read()
    found = reader.found
    found.details = _details(reader)
    files = [_unloaded(name, text, reader, found) for name, text in reader.loading.items()]
    gaps = [Gap(name, COLLECTION_ERROR) for name in reader.loading]
    gaps += [Gap(name, f"{fixture} failed") for name, fixture in reader.fixtures.items()]
    stop = _stop(reader)
    if stop is not None:
        gaps.append(stop)
    return Report(
        format=FAMILY,
        tests=(*files, *found.tests()),
        announced=reader.announced,
        totals=_totals(reader),
        gaps=tuple(gaps),
        is_scraped=True,
        notes=(*found.notes(), *_odd(reader)),
    )


def _stop(reader: _Reader) -> Gap | None:
    if reader.ran is not None:
        return None
    if reader.announced is not None or reader.in_red:
        return cut_off('there is no "Ran … tests" line', reader.lines)
    return ending(reader.lines)


def _unloaded(name: str, text: str, reader: _Reader, found: Found) -> GateTest:
    told = found.details.get(name, Details())
    why = last_line(told.traceback)
    return replace(broken(name, COLLECTION_ERROR, why, told.traceback), evidence=text)


def _details(reader: _Reader) -> dict[str, Details]:
    told: dict[str, list[str]] = {}
    for test_id, start, end in reader.blocks:
        lines = [line for line in reader.lines[start:end] if line not in (_LINE, _SEPARATOR)]
        told.setdefault(test_id, []).append("\n".join(lines).strip("\n"))
    return {
        test_id: Details(
            message="\n".join(dict.fromkeys(filter(None, map(last_message, texts)))) or None,
            traceback="\n\n".join(texts) or None,
        )
        for test_id, texts in told.items()
    }


def last_message(text: str) -> str | None:
    """The exception at the end of a Python traceback, with the lines of its message."""
    lines = text.splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith("  ")]
    tail = lines[frames[-1] + 1 :] if frames else lines
    said = [line for line in tail if line.strip()]
    if not said:
        return last_line(text)
    return "\n".join(said[:12])


def _odd(reader: _Reader) -> list[str]:
    """Says where more passes are named than tests ran."""
    named = reader.found.passes()
    if reader.ran is None or named <= reader.ran:
        return []
    return [f"{named} lines say ok, {reader.ran} tests ran: a test may have printed one of them"]
