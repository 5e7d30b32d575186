"""Reads what jest prints for people: the lists below `PASS` and `FAIL` lines, and its `●` blocks.

A list is written at once and ends at the first empty line: marks anywhere else were printed by
tests. Pure; must not read files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from arcview.model.results import Gap, GroupCounts, Outcome, Report
from arcview.readers.reports.collect import FILE_FAILED, beside, broken
from arcview.readers.reports.logs.log import (
    MAX_LINE,
    Channel,
    Details,
    Found,
    Sighting,
    cut_off,
    ending,
)
from arcview.readers.reports.logs.marks import Tree, marked, until_code

FAMILY = "jest"

_HEAD = re.compile(
    r"^ ?(?P<word>PASS|FAIL) +(?:\S+ +)?(?P<file>\S+\.[cm]?[jt]sx?)"
    r"(?: \((?:[\d.]+ m?s)?(?:, )?(?:\d+ \w+ heap size)?\))?$"
)
_BLOCK = re.compile(r"^  ● (?P<name>.+)$")
_TOTALS = re.compile(r"^Tests: +(?P<words>\d+ \w+(?:, \d+ \w+)*)$")
_SUITES = re.compile(r"^Test Suites: +(?P<words>.*)$")
_NONE = re.compile(r"^No tests found, exiting with code \d+$")
_EXIT = re.compile(r"^ *● +process\.exit called with .*$")
_FAILED_SUITE = "Test suite failed to run"
_OTHER_BLOCKS = ("Console", "Cannot log after tests are done")
_COUNTED = {
    "failed": "failed",
    "passed": "passed",
    "skipped": "skipped",
    "todo": "skipped",
    "total": "expected",
}
_MAX_BLOCK = 400


@dataclass(slots=True)
class _Reader:
    lines: Sequence[str]
    found: Found = field(default_factory=Found)
    file: str | None = None
    is_listing: bool = False
    tree: Tree = field(default_factory=Tree)
    listed: set[str] = field(default_factory=set)
    """Files with a list, whose `●` blocks name nothing new."""
    heads: dict[str, int] = field(default_factory=dict)
    last: str | None = None
    """The test of the line above, whose title may go on."""
    block: tuple[str, int] | None = None
    blocks: list[tuple[str, int, int]] = field(default_factory=list)
    failed_files: dict[str, str] = field(default_factory=dict)
    totals: GroupCounts | None = None
    suites: str | None = None
    exited: str | None = None
    none_found: str | None = None

    def read(self) -> None:
        for index, line in enumerate(self.lines):
            if len(line) > MAX_LINE:
                continue
            if ("S" in line[:4] or "F" in line[:2]) and (head := _HEAD.match(line)):
                self._head(head, index)
            elif self.is_listing:
                self._list(line, index)
            elif line.startswith("  ●"):
                self._block(line, index)
            elif line.startswith("Test"):
                self._closing(line, index)
            elif line.startswith("No tests") and _NONE.match(line):
                self.none_found = line
            elif line[:4].strip() == "" and (mark := marked(line)):
                self._printed(mark.title, mark.outcome, line, index)
        self._end_block(len(self.lines))

    def _head(self, head: re.Match[str], index: int) -> None:
        self._end_block(index)
        self.file = head["file"].removeprefix("./")
        self.heads[self.file] = self.heads.get(self.file, 0) + 1
        self.is_listing = True
        self.tree = Tree()
        self.last = None

    def _list(self, line: str, index: int) -> None:
        if not line.strip():
            self.is_listing = False
            return
        if line.startswith("  ● "):
            self.is_listing = False
            self._block(line, index)
            return
        if not line.startswith(" "):
            self._continued(line)
            return
        mark = marked(line)
        if mark is None:
            self.tree.enter(line)
            self.last = None
            return
        assert self.file is not None
        self.listed.add(self.file)
        path = self.tree.path(mark.indent)
        test_id = " > ".join([self.file, *path, mark.title])
        self.last = test_id
        self.found.saw(
            Sighting(
                test_id,
                mark.outcome,
                index + 1,
                line,
                duration_s=mark.duration_s,
                reported=mark.word,
            )
        )

    def _continued(self, line: str) -> None:
        """The second line of a title."""
        if self.last is None:
            return
        *before, sighting = self.found.sightings.pop(self.last)
        if before:
            self.found.sightings[self.last] = before
        title, duration_s = marked_end(line)
        test_id = f"{self.last}\n{title}"
        self.last = test_id
        text = f"{sighting.text}\n{line}"
        self.found.saw(sighting._replace(id=test_id, text=text, duration_s=duration_s))

    def _block(self, line: str, index: int) -> None:
        self._end_block(index)
        if _EXIT.match(line):
            self.exited = line.strip("● ")
            return
        match = _BLOCK.match(line)
        if match is None or self.file is None:
            return
        name = match["name"].strip()
        following = self.lines[index + 1] if index + 1 < len(self.lines) else ""
        start = index + 1
        if following and not following.startswith(" "):
            name = f"{name}\n{following}"  # a title with two lines: below a whole one is none
            start += 1
        if name == _FAILED_SUITE:
            self.failed_files.setdefault(self.file, line)
            self.block = (self.file, index + 1)
        elif name not in _OTHER_BLOCKS:
            test_id = " > ".join([self.file, *name.split(" › ")])
            self.block = (test_id, start)
            if self.file not in self.listed:
                self.found.saw(Sighting(test_id, Outcome.FAILED, index + 1, line, Channel.SUMMARY))

    def _end_block(self, end: int) -> None:
        if self.block is not None:
            self.blocks.append((*self.block, end))
            self.block = None

    def _closing(self, line: str, index: int) -> None:
        if match := _TOTALS.match(line):
            self._end_block(index)
            counts: dict[str, int] = {}
            for part in match["words"].split(", "):
                number, _, word = part.partition(" ")
                if word in _COUNTED:
                    key = _COUNTED[word]
                    counts[key] = counts.get(key, 0) + int(number)
            self.totals = GroupCounts(**counts)
        elif match := _SUITES.match(line):
            self._end_block(index)
            self.suites = match["words"]

    def _printed(self, title: str, outcome: Outcome, line: str, index: int) -> None:
        """A mark outside of a list; which file it would belong to is not known."""
        same = [name for name in self.found.sightings if name.endswith(f" > {title}")]
        test_id = same[0] if len(same) == 1 else title
        self.found.imitated(Sighting(test_id, outcome, index + 1, line))


def marked_end(line: str) -> tuple[str, float | None]:
    """A title's last line without the duration behind it."""
    mark = marked(f"  ✓ {line}")
    return (line, None) if mark is None else (mark.title, mark.duration_s)


def read_jest(lines: Sequence[str]) -> Report:
    """Reads the output of jest; ids are `file > describe > test`.

    Args:
        lines: The log, without terminal escapes.
    """
    reader = _Reader(lines)
    reader.read()
    _tell(reader)
    files = []
    for name, line in reader.failed_files.items():
        told = reader.found.details.get(name, Details())
        message = (told.message or "").partition("\n")[0]
        entry = broken(name, FILE_FAILED, message or None, told.traceback)
        files.append(replace(entry, evidence=line))
    gaps = [Gap(name, FILE_FAILED) for name in reader.failed_files]
    if stop := _stop(reader):
        gaps.append(stop)
    return Report(
        format=FAMILY,
        tests=beside(reader.found.tests(reader.totals), before=files),
        announced=reader.totals.expected if reader.totals else None,
        totals=reader.totals,
        gaps=tuple(gaps),
        is_scraped=True,
        notes=(*reader.found.notes(), *_twice(reader)),
    )


def _tell(reader: _Reader) -> None:
    for test_id, start, end in reader.blocks:
        lines = [line.removeprefix("    ") for line in reader.lines[start : start + _MAX_BLOCK]]
        text = "\n".join(lines[: end - start]).strip("\n")
        told = Details(until_code(text), text or None)
        reader.found.details.setdefault(test_id, told)


def _twice(reader: _Reader) -> list[str]:
    return [
        f"{name} has {count} lists: a test may have printed one of them"
        for name, count in reader.heads.items()
        if count > 1 and name in reader.listed
    ]


def _left_out(suites: str) -> bool:
    """Whether files have no result: `1 failed, 1 of 5 total`, of which skipped ones are none."""
    total = re.search(r"(\d+) of (\d+) total", suites)
    skipped = re.search(r"(\d+) skipped", suites)
    if total is None:
        return False
    return int(total[1]) + (int(skipped[1]) if skipped else 0) < int(total[2])


def _stop(reader: _Reader) -> Gap | None:
    if reader.exited is not None:
        return Gap("", reader.exited)
    if reader.none_found is not None:
        return Gap("", reader.none_found, own_doing=False)
    if reader.suites is not None and _left_out(reader.suites):
        return Gap("", f"interrupted: test suites {reader.suites}", own_doing=False)
    if reader.totals is None and len(reader.lines) > 40:
        return cut_off('there is no "Tests:" line', reader.lines)
    return ending(reader.lines) if reader.totals is None else None
