"""Reads the `spec` reporter of mocha, whole or in part.

What tests print stands between its lines and may look like them; its closing counts tell. Pure;
must not read files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from arcview.model.results import Gap, GroupCounts, Outcome, Report
from arcview.readers.reports.collect import HOOK_FAILED
from arcview.readers.reports.logs.log import MAX_LINE, Details, Found, Sighting, cut_off, ending
from arcview.readers.reports.logs.marks import Tree, marked, until_code

FAMILY = "mocha"

_FAILURE = re.compile(r"^(?P<indent> +)(?P<number>\d+)\) (?P<title>.+)$")
_PENDING = re.compile(r"^(?P<indent> +)- (?P<title>.+)$")
_PASSING = re.compile(r"^ +(?P<count>\d+) passing(?: \([^)]*\))?$")
_COUNT = re.compile(r"^ +(?P<count>\d+) (?P<word>pending|failing)$")
_EXCEPTION = re.compile(r"^ ?Exception during run: (?P<why>.*)$")
_NO_FILES = re.compile(r"^Error: (?P<why>No test files found\b.*)$")
_HOOK = re.compile(r'^"(?:before|after) (?:all|each)" hook\b')
_ROOT = 2
"""The indentation of tests outside of suites."""
_MAX_BLOCK = 400


@dataclass(slots=True)
class _Reader:
    lines: Sequence[str]
    found: Found = field(default_factory=Found)
    tree: Tree = field(default_factory=Tree)
    failures: list[str] = field(default_factory=list)
    """Ids in the order of their numbers."""
    hooks: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    is_listing: bool = True
    last_number: int = 0
    told: tuple[int, int] | None = None
    """Number and first line of the failure that is told."""
    exception: str | None = None

    def read(self) -> None:
        closing = _closing(self.lines)
        self.found.lines = self.lines
        for index, line in enumerate(self.lines):
            if not line or len(line) > MAX_LINE or line.isspace():
                continue
            if index == closing and (match := _PASSING.match(line)):
                self.counts = {"passed": int(match["count"])}
                self.is_listing = False
            elif line[0] != " " or line.startswith(" E"):
                if (match := _EXCEPTION.match(line)) or (match := _NO_FILES.match(line)):
                    self.exception = match["why"]
            elif self.is_listing:
                self._list(line, index)
            elif match := _COUNT.match(line):
                self.counts[match["word"]] = int(match["count"])
            elif match := _FAILURE.match(line):
                self._tell(match, index)
            elif (mark := marked(line)) is not None and mark.indent:
                self.found.imitated(Sighting(mark.title, mark.outcome, index + 1, line))
        self._end(len(self.lines))

    def _list(self, line: str, index: int) -> None:
        mark = marked(line)
        if mark is not None:
            if mark.indent and mark.outcome is Outcome.PASSED:
                test_id = self._id(mark.indent, mark.title)
                self.found.saw_pass(test_id, index + 1, mark.duration_s)
            elif mark.indent:
                self._saw(mark.indent, mark.title, mark.outcome, line, index, mark.duration_s)
        elif match := _FAILURE.match(line):
            self._failed(match, line, index)
        elif match := _PENDING.match(line):
            indent = len(match["indent"])
            self._saw(indent, match["title"].rstrip(), Outcome.SKIPPED, line, index, None)
        elif line.startswith("  ") and not _PASSING.match(line):
            self.tree.enter(line)

    def _failed(self, match: re.Match[str], line: str, index: int) -> None:
        title = match["title"].rstrip()
        indent = len(match["indent"])
        number = int(match["number"])
        test_id = self._id(indent, title)
        if number != self.last_number + 1:
            self.found.imitated(Sighting(test_id, Outcome.FAILED, index + 1, line))
            return
        self.last_number = number
        self.failures.append(test_id)
        is_hook = _HOOK.match(title) is not None
        if is_hook:
            self.hooks.append(test_id)
        outcome = Outcome.ERROR if is_hook else Outcome.FAILED
        self._saw(indent, title, outcome, line, index, None, HOOK_FAILED if is_hook else None)

    def _id(self, indent: int, title: str) -> str:
        # Tests outside of suites come first: within a suite such a line is printed, and ends none.
        return title if indent <= _ROOT else " > ".join([*self.tree.path(indent), title])

    def _saw(
        self,
        indent: int,
        title: str,
        outcome: Outcome,
        line: str,
        index: int,
        duration_s: float | None,
        reported: str | None = None,
    ) -> None:
        test_id = self._id(indent, title)
        if outcome is Outcome.SKIPPED:
            reported = "pending"
        self.found.saw(
            Sighting(test_id, outcome, index + 1, line, duration_s=duration_s, reported=reported)
        )

    def _tell(self, match: re.Match[str], index: int) -> None:
        """A failure is told again below the counts, under its number."""
        number = int(match["number"])
        expected = 1 if self.told is None else self.told[0] + 1
        if number == expected and number <= len(self.failures):
            self._end(index)
            self.told = (number, index + 1)

    def _end(self, end: int) -> None:
        if self.told is None:
            return
        number, start = self.told
        lines = list(_below_title(self.lines[start : min(end, start + _MAX_BLOCK)]))
        text = "\n".join(lines).strip("\n")
        self.found.details.setdefault(
            self.failures[number - 1], Details(until_code(text), text or None)
        )


def _closing(lines: Sequence[str]) -> int | None:
    """Where the closing counts begin: a test may print such a line, so the last one counts."""
    for index in range(len(lines) - 1, -1, -1):
        if " passing" in lines[index] and _PASSING.match(lines[index]):
            return index
    return None


def _below_title(lines: Sequence[str]) -> Iterator[str]:
    """The lines below a title, which ends with the first line that ends with a colon."""
    is_title = any(line.endswith(":") for line in lines[:8])
    for line in lines:
        if is_title:
            is_title = not line.endswith(":")
        else:
            yield line.removeprefix("     ")


def read_mocha(lines: Sequence[str]) -> Report:
    """Reads mocha's `spec` output; ids are `suite > test`.

    Args:
        lines: The log, without terminal escapes.
    """
    reader = _Reader(lines)
    reader.read()
    totals = _totals(reader)
    gaps = [
        Gap(hook.rpartition(" > ")[0], f"{HOOK_FAILED}: {hook}")
        for hook in reader.hooks
        if " > " in hook
    ]
    if stop := _stop(reader):
        gaps.append(stop)
    return Report(
        format=FAMILY,
        tests=reader.found.tests(totals),
        totals=totals,
        gaps=tuple(gaps),
        is_scraped=True,
        notes=tuple(reader.found.notes()),
    )


def _totals(reader: _Reader) -> GroupCounts | None:
    if "passed" not in reader.counts:
        return None
    passed = reader.counts["passed"]
    skipped = reader.counts.get("pending", 0)
    failed = max(0, reader.counts.get("failing", 0) - len(reader.hooks))
    return GroupCounts(
        expected=passed + skipped + failed, passed=passed, skipped=skipped, failed=failed
    )


def _stop(reader: _Reader) -> Gap | None:
    if reader.exception is not None:
        is_own = not reader.exception.startswith("No test files")
        why = f"exception before the first test: {reader.exception}"
        return Gap("", why if is_own else reader.exception, own_doing=is_own)
    if not reader.counts and not reader.found.is_empty:
        return cut_off("there are no closing counts", reader.lines)
    return ending(reader.lines) if not reader.counts else None
