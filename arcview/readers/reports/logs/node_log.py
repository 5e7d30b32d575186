"""Reads the `spec` reporter of node's own test runner.

A suite's line comes after its tests; the `▶` line before them says that it is one. Pure; must not
read files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from arcview.model.results import Gap, GroupCounts, Outcome, Report
from arcview.readers.reports.collect import FILE_FAILED, NODE_FILE, whole_files
from arcview.readers.reports.logs.log import MAX_LINE, Details, Found, Sighting, cut_off, ending
from arcview.readers.reports.logs.marks import until_code

FAMILY = "node"

_LINE = re.compile(r"^(?P<indent> *)(?P<mark>[▶✔✖﹣⚠]) (?P<rest>.*)$")
_TIME = re.compile(r" \((?P<time>[\d.]+)ms\)(?: # (?P<note>(?i:todo|skip)\b.*))?$")
_NOTE = re.compile(r" # (?P<note>(?i:todo|skip)\b.*)$")
_WHY = re.compile(r" \((?P<time>[\d.]+)ms\) # (?P<note>.+)$")
"""With a reason, the reason stands there alone."""
_COUNT = re.compile(r"^ℹ (?P<word>tests|suites|pass|fail|cancelled|skipped|todo) (?P<count>\d+)$")
_FAILING = "✖ failing tests:"
_TIMED_OUT = re.compile(r"^ *'test timed out after \d+ms'$")
_MAX_BLOCK = 200


class _Mark(NamedTuple):
    """A line with a mark."""

    indent: int
    sign: str
    title: str
    duration_s: float | None
    note: str


def _parsed(line: str) -> _Mark | None:
    """Reads `✖ title (1.2ms) # TODO`; a note before the duration is part of the title."""
    match = _LINE.match(line)
    if match is None:
        return None
    rest = match["rest"]
    end = _TIME.search(rest) or _NOTE.search(rest)
    end = end or _WHY.search(rest)
    title = rest if end is None else rest[: end.start()]
    seconds = _seconds(end["time"]) if end is not None and end.re is not _NOTE else None
    note = "" if end is None else (end["note"] or "").lower()
    if end is not None and end.re is _WHY:
        note = "skip" if match["mark"] == "﹣" else "todo"
    return _Mark(len(match["indent"]), match["mark"], title, seconds, note)


def _seconds(milliseconds: str) -> float | None:
    try:
        return float(milliseconds) / 1000
    except ValueError:
        return None


@dataclass(slots=True)
class _Reader:
    lines: Sequence[str]
    found: Found = field(default_factory=Found)
    path: list[tuple[int, str]] = field(default_factory=list)
    last: Sighting | None = None
    block: tuple[str, int] | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def read(self) -> None:
        for index, line in enumerate(self.lines):
            if len(line) > MAX_LINE:
                continue
            if line.startswith("ℹ ") and (count := _COUNT.match(line)):
                self._end_block(index)
                if count["word"] == "tests":
                    self.counts = {}
                self.counts[count["word"]] = int(count["count"])
            elif line.startswith(_FAILING):
                break  # the failures once more
            elif (mark := _parsed(line)) is not None:
                self._end_block(index)
                self._line(mark, line, index)
            elif self.last is not None and line and not line.startswith(" "):
                self._continued(line)
            else:
                self._told(line)
        self._end_block(len(self.lines))

    def _line(self, mark: _Mark, line: str, index: int) -> None:
        indent, title = mark.indent, mark.title
        self.last = None
        while self.path and self.path[-1][0] > indent:
            self.path.pop()
        is_suite = bool(self.path) and self.path[-1] == (indent, title)
        if mark.sign == "▶":
            if self.path and self.path[-1][0] == indent:
                self.path.pop()
            self.path.append((indent, title))
            return
        if self.path and self.path[-1][0] == indent:
            self.path.pop()
        if is_suite:
            return
        test_id = " > ".join([*(name for _, name in self.path), title])
        self._saw(test_id, mark, line, index)

    def _saw(self, test_id: str, mark: _Mark, line: str, index: int) -> None:
        outcome = Outcome.FAILED if mark.sign == "✖" else Outcome.PASSED
        reported = None
        if mark.note.startswith("todo"):
            reported = f"{'not ok' if outcome is Outcome.FAILED else 'ok'} # TODO"
            outcome = Outcome.SKIPPED
        elif mark.sign == "﹣" or (mark.note and outcome is Outcome.PASSED):
            outcome = Outcome.SKIPPED
        if outcome is Outcome.FAILED and NODE_FILE.match(test_id):
            outcome, reported = Outcome.ERROR, FILE_FAILED
        sighting = Sighting(
            test_id, outcome, index + 1, line, duration_s=mark.duration_s, reported=reported
        )
        self.found.saw(sighting)
        self.last = sighting
        self.block = (test_id, index + 1)

    def _continued(self, line: str) -> None:
        """The second line of a title: only with a duration behind it, which the first lacks."""
        last, self.last = self.last, None
        end = _TIME.search(line)
        if last is None or last.duration_s is not None or end is None:
            return
        *before, sighting = self.found.sightings.pop(last.id)
        if before:
            self.found.sightings[last.id] = before
        test_id = f"{last.id}\n{line[: end.start()]}"
        text = f"{sighting.text}\n{line}"
        seconds = _seconds(end["time"])
        self.found.saw(sighting._replace(id=test_id, text=text, duration_s=seconds))
        if self.block is not None:
            self.block = (test_id, self.block[1] + 1)

    def _told(self, line: str) -> None:
        """What stands below a failure."""
        last = self.last
        if last is not None and last.outcome is Outcome.FAILED and _TIMED_OUT.match(line):
            sightings = self.found.sightings[last.id]
            sightings[-1] = sightings[-1]._replace(outcome=Outcome.TIMEOUT, reported="failed")
            self.last = None

    def _end_block(self, end: int) -> None:
        if self.block is None:
            return
        test_id, start = self.block
        self.block = None
        sightings = self.found.sightings.get(test_id)
        if not sightings or sightings[-1].outcome is Outcome.PASSED:
            return
        text = "\n".join(self.lines[start : min(end, start + _MAX_BLOCK)])
        text = "\n".join(line.strip() for line in text.split("\n")).strip("\n")
        if text:
            self.found.details.setdefault(test_id, Details(until_code(text), text))


def read_node(lines: Sequence[str]) -> Report:
    """Reads the `spec` output of `node --test`; ids are `suite > test`.

    Args:
        lines: The log, without terminal escapes.
    """
    reader = _Reader(lines)
    reader.read()
    totals = _totals(reader.counts)
    tests = reader.found.tests(totals)
    gaps = [Gap(test.id, FILE_FAILED) for test in tests if test.reported == FILE_FAILED]
    if totals is None:
        stop = cut_off("there are no closing counts", lines) if tests else ending(lines)
        if stop:
            gaps.append(stop)
    return Report(
        format=FAMILY,
        tests=tests,
        announced=reader.counts.get("tests"),
        totals=totals,
        gaps=tuple(gaps),
        is_scraped=True,
        notes=(*reader.found.notes(), *whole_files(tests)),
    )


def _totals(counts: dict[str, int]) -> GroupCounts | None:
    if "pass" not in counts or "fail" not in counts:
        return None
    failed = counts["fail"] + counts.get("cancelled", 0)
    skipped = counts.get("skipped", 0) + counts.get("todo", 0)
    total = counts["pass"] + failed + skipped
    return GroupCounts(expected=total, passed=counts["pass"], failed=failed, skipped=skipped)
