"""Reads what vitest prints for people, by its default, verbose and tree reporters.

What a test prints stands between a `stdout | file > test` line and an empty one. Pure; must not
read files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from arcview.model.results import Gap, GroupCounts, Outcome, Report
from arcview.readers.reports.collect import FILE_FAILED, broken
from arcview.readers.reports.logs.log import (
    MAX_LINE,
    Channel,
    Details,
    Found,
    Sighting,
    cut_off,
    ending,
)
from arcview.readers.reports.logs.marks import Mark, Tree, marked, until_code

FAMILY = "vitest"
_SCRIPT = r"\S+\.[cm]?[jt]sx?"

_FILE = re.compile(
    rf"^ *[❯✓×↓✗] (?:\|[^|]+\| )?(?P<file>{_SCRIPT}) \((?P<count>\d+)(?: tests?[^)]*)?\)"
    r"(?: [\d.]+ ?m?s)?$"
)
_NAMED = re.compile(rf"^(?:\|[^|]+\| )?(?P<file>{_SCRIPT}) > (?P<rest>.+)$")
_RED = re.compile(rf"^ FAIL  (?:\|[^|]+\| )?(?:(?P<test>{_SCRIPT} > .+)|(?P<file>\S+) \[ .* \])$")
_PRINTED = re.compile(rf"^(?:stdout|stderr) \| (?:{_SCRIPT}|unknown test)(?: > .*)?$")
_TOTALS = re.compile(r"^ *Tests  +(?P<words>\d+ \w+(?: \| \d+ \w+)*)(?: \((?P<all>\d+)\))?$")
_NO_TESTS = re.compile(r"^ *Tests  +no tests$")
_ERRORS = re.compile(r"^ *Errors  +(?P<words>\d+ errors?)$")
_RULE = re.compile(r"^⎯")
_COUNTED = {"failed": "failed", "passed": "passed", "skipped": "skipped", "todo": "skipped"}
_SUITE = re.compile(
    r"^(?P<indent> +)[❯✓×↓] (?P<title>.+?)(?: \(\d+(?: tests?[^)]*)?\))?(?: [\d.]+ ?m?s)?$"
)
_SUFFIXES = (" [skipped]", " [todo]")
_MAX_BLOCK = 400


@dataclass(slots=True)
class _Reader:
    lines: Sequence[str]
    found: Found = field(default_factory=Found)
    file: str | None = None
    tree: Tree = field(default_factory=Tree)
    is_printed: bool = False
    last: str | None = None
    announced: dict[str, int] = field(default_factory=dict)
    totals: GroupCounts | None = None
    errors: str | None = None
    red: list[tuple[str, str, int]] = field(default_factory=list)
    """Id, line, index of each failure told below the lists."""
    failed_files: dict[str, str] = field(default_factory=dict)
    has_run: bool = False

    def read(self) -> None:
        for index, line in enumerate(self.lines):
            if len(line) > MAX_LINE:
                continue
            if self.is_printed:
                self.is_printed = bool(line)
                self._imitation(line, index)
            elif line.startswith("std") and _PRINTED.match(line):
                self.is_printed = True
                self.last = None
            else:
                self._line(line, index)

    def _imitation(self, line: str, index: int) -> None:
        mark = marked(line, bare=True)
        if mark is not None and (named := _NAMED.match(mark.title)):
            self.found.imitated(Sighting(_id(named), mark.outcome, index + 1, line))

    def _line(self, line: str, index: int) -> None:
        if line.startswith(" FAIL ") and (red := _RED.match(line)):
            self._failure(red, line, index)
            return
        if file := _FILE.match(line):
            self.file = file["file"]
            self.announced[self.file] = int(file["count"])
            self.tree = Tree()
            self.last = None
            return
        if self.file is not None and (suite := self._suite(line, index)):
            self.tree.push(len(suite["indent"]), suite["title"])
            self.last = None
            return
        mark = marked(line, bare=True)
        if mark is not None:
            self._marked(mark, line, index)
        elif self.last is not None and line and not line.startswith(" "):
            self._continued(line)
        else:
            self._other(line)

    def _suite(self, line: str, index: int) -> re.Match[str] | None:
        """A suite of the tree reporter: a mark, with marks further in below it."""
        suite = _SUITE.match(line) if line.startswith("  ") else None
        if suite is None or index + 1 >= len(self.lines):
            return None
        below = _SUITE.match(self.lines[index + 1])
        is_suite = below is not None and len(below["indent"]) > len(suite["indent"])
        return suite if is_suite else None

    def _other(self, line: str) -> None:
        self.last = None
        if line.startswith((" RUN  v", " DEV  v")):
            self.has_run = True
        elif match := _TOTALS.match(line):
            counts: dict[str, int] = {}
            for part in match["words"].split(" | "):
                number, _, word = part.partition(" ")
                if word in _COUNTED:
                    key = _COUNTED[word]
                    counts[key] = counts.get(key, 0) + int(number)
            total = int(match["all"]) if match["all"] else sum(counts.values())
            self.totals = GroupCounts(expected=total, **counts)
        elif _NO_TESTS.match(line):
            self.totals = GroupCounts()
        elif match := _ERRORS.match(line):
            self.errors = match["words"]

    def _marked(self, mark: Mark, line: str, index: int) -> None:
        title = mark.title
        for suffix in _SUFFIXES:
            title = title.removesuffix(suffix)
        if named := _NAMED.match(title):
            test_id = _id(named)
        elif self.file is not None and mark.indent:
            test_id = " > ".join([self.file, *self.tree.path(mark.indent), title])
        else:
            return
        late = mark.retries and mark.outcome is Outcome.PASSED
        doubt = f"flaky: passed after {mark.retries} failed attempts" if late else None
        self.last = test_id
        self.found.saw(
            Sighting(
                test_id,
                mark.outcome,
                index + 1,
                line,
                duration_s=mark.duration_s,
                doubt=doubt,
            )
        )

    def _continued(self, line: str) -> None:
        """The second line of a title."""
        assert self.last is not None
        *before, sighting = self.found.sightings.pop(self.last)
        if before:
            self.found.sightings[self.last] = before
        end = marked(f"  ✓ {line}", bare=True)
        title = line if end is None else end.title
        test_id = f"{self.last}\n{title}"
        self.last = test_id
        seconds = None if end is None else end.duration_s
        text = f"{sighting.text}\n{line}"
        self.found.saw(sighting._replace(id=test_id, text=text, duration_s=seconds))

    def _failure(self, red: re.Match[str], line: str, index: int) -> None:
        self.last = None
        if red["file"] is not None:
            self.failed_files.setdefault(red["file"], line)
            self.red.append((red["file"], line, index))
        else:
            named = _NAMED.match(red["test"])
            self.red.append((red["test"] if named is None else _id(named), line, index))


def _id(named: re.Match[str]) -> str:
    return f"{named['file']} > {named['rest']}"


def read_vitest(lines: Sequence[str]) -> Report:
    """Reads the output of vitest; ids are `file > describe > test`.

    Args:
        lines: The log, without terminal escapes.
    """
    reader = _Reader(lines)
    reader.read()
    notes = _failures(reader)
    files = []
    for name, line in reader.failed_files.items():
        told = reader.found.details.get(name, Details())
        entry = broken(name, FILE_FAILED, told.message, told.traceback)
        files.append(replace(entry, evidence=line))
    gaps = [Gap(name, FILE_FAILED) for name in reader.failed_files]
    if stop := _stop(reader):
        gaps.append(stop)
    announced = reader.totals.expected if reader.totals else sum(reader.announced.values())
    if reader.errors is not None:
        notes.append(f"{reader.errors} outside of tests: the run failed whatever the tests say")
    return Report(
        format=FAMILY,
        tests=(*files, *reader.found.tests(reader.totals)),
        announced=announced or (0 if reader.totals else None),
        totals=reader.totals,
        gaps=tuple(gaps),
        is_scraped=True,
        notes=(*reader.found.notes(), *notes),
    )


def _failures(reader: _Reader) -> list[str]:
    """Gives failures their messages; of those that no list names, says what they are."""
    notes = []
    for test_id, line, index in reader.red:
        told = _told(reader.lines, index + 1)
        known = reader.found.details.setdefault(test_id, told)
        if known is not told and told.traceback:
            joined = f"{known.traceback}\n\n{told.traceback}"
            reader.found.details[test_id] = replace(known, traceback=joined)
        if test_id in reader.failed_files or test_id in reader.found.sightings:
            continue
        if any(name.startswith(f"{test_id} > ") for name in reader.found.sightings):
            notes.append(f"hook failed: {test_id}: {told.message}")
        else:
            sighting = Sighting(test_id, Outcome.FAILED, index + 1, line, Channel.SUMMARY)
            reader.found.saw(sighting)
    return notes


def _told(lines: Sequence[str], start: int) -> Details:
    block: list[str] = []
    for line in lines[start : start + _MAX_BLOCK]:
        if _RULE.match(line) or _RED.match(line):
            break
        block.append(line)
    text = "\n".join(block).strip("\n")
    return Details(message=until_code(text), traceback=text or None)


def _stop(reader: _Reader) -> Gap | None:
    if reader.totals is not None:
        return None
    if reader.has_run:
        return cut_off('there is no "Tests" line', reader.lines)
    return ending(reader.lines)
