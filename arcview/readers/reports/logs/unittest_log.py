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
from arcview.readers.reports.collect import COLLECTION_ERROR, beside, broken, last_line, severity
from arcview.readers.reports.logs import unittest_lines as grammar
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
    found: Found = field(default_factory=lambda: Found(natural=grammar.NATURAL))
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
    red: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Headings of failures: word and id."""
    repeated_skips: int = 0
    """Skipped subtests beyond the first of a test, which unittest counts, too."""
    has_captured: bool = False
    """`Stdout:` or `Stderr:` stands above: with `--buffer` a failed test's output follows it."""
    after_captured: list[Sighting] = field(default_factory=list)
    unsettled: list[tuple[list[Sighting], Sighting]] = field(default_factory=list)
    """Tests whose result the headings tell: what was said on their lines, or that nothing was."""

    def read(self) -> None:
        block: tuple[str, int] | None = None
        for index, line in enumerate(self.lines):
            if len(line) > MAX_LINE:
                continue
            is_heading = line == grammar.SEPARATOR or self._is_closing(line)
            if is_heading and block is not None:
                self.blocks.append((*block, index))
                block = None
            if line == grammar.SEPARATOR:
                self._settle()
                self.in_red = True
            elif self.in_red:
                if self.lines[index - 1] == grammar.SEPARATOR and (
                    test_id := self._red(line, index)
                ):
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
        told = {test_id for _, test_id in self.red}
        for said, missing in self.unsettled:
            if said or missing.id not in told:
                self._settle_by_headings(said, missing)
            if not self.found.sightings[missing.id]:
                del self.found.sightings[missing.id]  # a module, which is no test
        if self.after_captured:
            self._drop_captured()

    def _drop_captured(self) -> None:
        """What the details of a failure hold, too, is output of that test."""
        told = {line for _, start, end in self.blocks for line in self.lines[start:end]}
        for sighting in self.after_captured:
            if sighting.text in told:
                self.found.take_back(sighting)

    def _is_closing(self, line: str) -> bool:
        if match := grammar.RAN.match(line):
            self.ran = int(match["count"])
            self._settle()
            return True
        if self.ran is not None and (match := grammar.VERDICT.match(line)):
            self.counts = match["counts"] or ""
            return True
        return False

    def _live_in_red(self, line: str) -> None:
        if match := grammar.FOUND.match(line):  # another run of Django begins
            self.announced = (self.announced or 0) + int(match["count"])
            self.in_red = False

    def _live(self, line: str, index: int) -> None:
        if match := grammar.FOUND.match(line):
            self.announced = (self.announced or 0) + int(match["count"])
            return
        self.has_captured = self.has_captured or line in ("Stdout:", "Stderr:")
        match = grammar.START.match(line) if "(" in line else None
        if match is not None and (match["rest"] or self._is_docstring(index + 1)):
            self._start(match, line, index)
            return
        if self.open is None:
            return
        if len(self.open.texts) < 50:
            self.open.texts.append(line)
        self.open.tail = None
        if end := grammar.END.match(line.rpartition(" ... ")[2]):
            self._word(end["word"], end["why"], line, index)
        elif end := grammar.AT_END.search(line):
            # Text that was printed without a line end may stand before the word.
            self.open.tail = self._sighting(self.open.id, end["word"], end["why"], line, index)

    def _is_docstring(self, index: int) -> bool:
        """Whether a line ends like the docstring below the name of a test."""
        if index >= len(self.lines):
            return False
        line = self.lines[index]
        return " ... " in line or line.endswith(" ...")

    def _start(self, match: re.Match[str], line: str, index: int) -> None:
        test_id = grammar.id_of(match["test"], match["where"])
        rest = match["rest"].removeprefix(" ...").strip()
        end = (grammar.END.match(rest) or grammar.OWN_END.match(rest)) if rest else None
        if match["indent"] and match["sub"]:
            self._subtest(test_id, match["sub"].strip(), end, line, index)
            return
        if (
            self.open is not None
            and not self.open.said
            and end
            and self._has_word_later(end, index)
        ):
            self.open.held.append(self._sighting(test_id, end["word"], end["why"], line, index))
            return
        self._settle()
        self.open = _Open(test_id, index, [line])
        if end is not None:
            self._word(end["word"], end["why"], line, index)
        elif nested := grammar.START.match(rest):
            self._nested(nested, line, index)

    def _nested(self, match: re.Match[str], line: str, index: int) -> None:
        """The line of another test behind that of a test whose subtests failed, or printed by it.

        Before 3.11 Python printed neither a word nor a line end after failed subtests.
        """
        assert self.open is not None
        rest = match["rest"].removeprefix(" ...").strip()
        if end := grammar.END.match(rest):
            test_id = grammar.id_of(match["test"], match["where"])
            self.open.held.append(self._sighting(test_id, end["word"], end["why"], line, index))
        elif match["rest"] or self._is_docstring(index + 1):
            self._start(match, line, index)

    def _has_word_later(self, end: re.Match[str], index: int) -> bool:
        """Whether a bare word follows: the test that is open has its result still to come."""
        following = self.lines[index + 1] if index + 1 < len(self.lines) else ""
        word = grammar.END.match(following)
        # Of several subtests that are skipped each has such a word.
        return word is not None and not word["word"] == end["word"] == "skipped"

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
        is_quoted = why is not None and len(why) > 1 and why[0] == why[-1] and why[0] in "'\""
        message = why[1:-1] if why and is_quoted else why
        return Sighting(test_id, grammar.WORDS[word], index + 1, text, message=message)

    def _settle(self) -> None:
        """The open test is over: its last word is its result, what looks like one is not."""
        test, self.open = self.open, None
        if test is None:
            return
        if test.tail is not None:
            test.said.append(test.tail)
        for sighting in test.held:
            if test.said:
                self.found.imitated(sighting)
        if test.subfailed:
            self.repeated_skips += sum(s.outcome is Outcome.SKIPPED for s in test.said[1:])
            test.said = [min(test.said, key=lambda sighting: severity(sighting.outcome))]
        ends = [sighting for sighting in test.said[1:] if self._is_bare_error(sighting)]
        if test.said and not ends:
            self._said(test.said)
        else:
            # The place among the others is kept until the headings tell.
            self.found.sightings.setdefault(test.id, [])
            text = test.texts[0]
            missing = Sighting(test.id, Outcome.NOT_RUN, test.line + 1, text, reported=UNFINISHED)
            self.unsettled.append((test.said, missing))
        if not test.said:
            for sighting in test.held:
                self._saw(sighting)

    def _is_bare_error(self, sighting: Sighting) -> bool:
        return self.lines[sighting.line - 1] == "ERROR"

    def _said(self, said: Sequence[Sighting]) -> None:
        """The last word is the result."""
        *before, last = said
        for sighting in before:
            if sighting.outcome is not last.outcome:
                self.found.imitated(sighting)
        if last.outcome is Outcome.SKIPPED:
            self.repeated_skips += sum(s.outcome is Outcome.SKIPPED for s in before)
        self._saw(last)

    def _settle_by_headings(self, said: list[Sighting], missing: Sighting) -> None:
        """Settles a test behind which `ERROR` stands, or nothing at all.

        Before 3.11 Python printed a bare `ERROR` for a fixture of a class or module as well as for
        an error in a test's tearDown; only the headings below tell which it is.
        """
        test_id = missing.id
        if not said:
            self.found.sightings[test_id].append(missing)
            return
        own = [sighting for sighting in said if not self._is_bare_error(sighting)]
        if ("ERROR", test_id) in self.red and own:
            for sighting in own[-1:] + [s for s in said if s not in own][:1]:
                self.found.sightings[test_id].append(sighting)
        else:
            self._said(own if self.fixtures and own else said)

    def _saw(self, sighting: Sighting) -> None:
        test = sighting.id.rpartition(".")[2]
        if grammar.is_unloaded(sighting.text):
            self.loading.setdefault(sighting.id, sighting.text)
            return
        if test in grammar.FIXTURES and sighting.outcome is Outcome.ERROR:
            self.fixtures.setdefault(sighting.id.rpartition(".")[0], test)
        if self.has_captured and sighting.channel is Channel.LIVE:
            self.after_captured.append(sighting)
        self.found.saw(sighting)

    def is_test(self, name: str) -> bool:
        """Whether a heading is over a test, and not over a fixture or a module."""
        return name not in self.loading and name.rpartition(".")[2] not in grammar.FIXTURES

    def _red(self, line: str, index: int) -> str | None:
        match = grammar.RED.match(line)
        if match is None:
            return None
        test_id = grammar.id_of(match["test"], match["where"])
        word = match["word"]
        self.red[word, test_id] += 1
        outcome = Outcome.XPASSED if word.startswith("UNEXPECTED") else grammar.WORDS[word]
        sub = match["sub"].strip() or None
        self._saw(Sighting(test_id, outcome, index + 1, line, Channel.SUMMARY, message=sub))
        return test_id


def _totals(reader: _Reader) -> GroupCounts | None:
    """The runner's counts of tests: fixtures that failed are none, subtests are no further ones."""
    if reader.ran is None or reader.counts is None:
        return None
    counts: Counter[str] = Counter()
    for part in reader.counts.split(", "):
        name, _, number = part.partition("=")
        if name in grammar.COUNTS and number.isdigit():
            counts[grammar.COUNTS[name]] += int(number)
    _once_a_test(counts, reader)
    ran = max(0, reader.ran - len(reader.loading))
    passed = max(0, ran - sum(counts.values()))
    if passed < reader.found.passes() <= ran:
        return None  # Python 3.12.0 and 3.12.1 leave skipped tests out of what they ran
    return GroupCounts(expected=ran, passed=passed, **counts)


def _once_a_test(counts: Counter[str], reader: _Reader) -> None:
    """Makes numbers of tests of those of the runner, which counts subtests and tearDowns, too."""
    failed = {name for word, name in reader.red if word == "FAIL"}
    broken_ids = {name for word, name in reader.red if word == "ERROR"}
    errors = {name for name in broken_ids if reader.is_test(name)}
    told = Counter(word for word, _ in reader.red.elements())
    if told["FAIL"] == counts["failed"] and told["ERROR"] == counts["error"]:
        counts["failed"] = len(failed - errors)
        counts["error"] = len(errors)
    else:
        counts["error"] = max(0, counts["error"] - len(reader.fixtures) - len(reader.loading))
    counts["skipped"] = max(0, counts["skipped"] - reader.repeated_skips)
    for name in errors:  # an error in the tearDown of a test that is counted elsewhere, too
        others = {sighting.outcome for sighting in reader.found.sightings.get(name, ())}
        if Outcome.SKIPPED in others:
            counts["skipped"] = max(0, counts["skipped"] - 1)


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
        tests=beside(found.tests(), before=files),
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
        rules = (grammar.LINE, grammar.SEPARATOR)
        lines = [line for line in reader.lines[start:end] if line not in rules]
        told.setdefault(test_id, []).append("\n".join(lines).strip("\n"))
    return {
        test_id: Details(
            message="\n".join(dict.fromkeys(filter(None, map(grammar.last_message, texts))))
            or None,
            traceback="\n\n".join(texts) or None,
        )
        for test_id, texts in told.items()
    }


def _odd(reader: _Reader) -> list[str]:
    """Says where more passes are named than tests ran."""
    named = reader.found.passes()
    if reader.ran is None or named <= reader.ran:
        return []
    return [f"{named} lines say ok, {reader.ran} tests ran: a test may have printed one of them"]
