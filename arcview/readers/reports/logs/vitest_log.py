"""Reads what vitest prints for people, by its default, verbose and tree reporters.

What a test prints stands between a `stdout | file > test` line and an empty one. Pure; must not
read files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from arcview.model.results import Gap, GroupCounts, Outcome, Report
from arcview.readers.reports.collect import FILE_FAILED, HOOK_FAILED, beside, broken
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
_PROJECT = r"(?:\|[^|]+\| | (?=\S)[^|]*?\S  )?"
"""The name of a project, which without colours stands between bars, else on a coloured ground."""

_FILE = re.compile(
    rf"^ *[❯✓×↓✗] {_PROJECT}(?P<file>{_SCRIPT}) \((?P<count>\d+)(?: tests?[^)]*)?\)"
    r"(?: [\d.]+ ?m?s)?$"
)
_NAMED = re.compile(rf"^{_PROJECT}(?P<file>{_SCRIPT}) > (?P<rest>.+)$")
_RED = re.compile(rf"^ FAIL  {_PROJECT}(?:(?P<test>{_SCRIPT} > .+)|(?P<file>\S+) \[ .* \])$")
_PRINTED = re.compile(rf"^(?:stdout|stderr) \| (?:{_SCRIPT}|unknown test)(?: > .*)?$")
_TOTALS = re.compile(
    r"^ *Tests  +(?P<words>\d+ [a-z ]+(?: \| \d+ [a-z ]+)*)(?: \((?P<all>\d+)\))?$"
)
_FILES = re.compile(r"^ *Test Files  +(?P<words>\d+ \w+(?: \| \d+ \w+)*) \((?P<all>\d+)\)$")
_NO_FILES = re.compile(r"^No test files found\b.*$")
_NO_TESTS = re.compile(r"^ *Tests  +no tests$")
_ERRORS = re.compile(r"^ *Errors  +(?P<words>\d+ errors?)$")
_RULE = re.compile(r"^⎯")
_COUNTED = {
    "failed": "failed",
    "passed": "passed",
    "expected fail": "passed",
    "skipped": "skipped",
    "todo": "skipped",
}
_MARKED = re.compile(r"^(?P<indent> +)[❯✓×↓□·] ")
_SUITE = re.compile(
    r"^(?P<indent> +)[❯✓×↓·] (?P<title>.+?) \(\d+(?: tests?[^)]*)?\)(?: [\d.]+ ?m?s)?$"
)
_SECTION = re.compile(r"^⎯+ (?P<title>Failed [A-Z]\w+) \d+ ⎯+$")
_TOP = 3
"""The indentation of tests that stand in no suite."""
_UNNAMED = "…"
"""A suite whose name is not printed: vitest 4 does so without its tree reporter."""
_SLOW_S = 0.3
"""From here on (unless configured otherwise) two blanks stand before a duration in a list."""
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
    """File → the number of tests that the line over its list says."""
    named: list[str] = field(default_factory=list)
    """Ids of lines with a file in front, which only the verbose reporter prints."""
    totals: GroupCounts | None = None
    errors: str | None = None
    red: list[tuple[str, str, int]] = field(default_factory=list)
    """Id, line, index of each failure told below the lists."""
    failed_files: dict[str, str] = field(default_factory=dict)
    hooks: list[str] = field(default_factory=list)
    """Suites that failed themselves."""
    section: str = ""
    files: str | None = None
    """What the closing lines say of the files, where they leave some out."""
    no_files: str | None = None
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
        below = _MARKED.match(self.lines[index + 1])
        is_suite = below is not None and len(below["indent"]) > len(suite["indent"])
        return suite if is_suite else None

    def _other(self, line: str) -> None:
        self.last = None
        if line.startswith((" RUN  v", " DEV  v")):
            self.has_run = True
        elif match := _TOTALS.match(line):
            counts: dict[str, int] = {}
            for number, word in _parts(match["words"]):
                if word in _COUNTED:
                    key = _COUNTED[word]
                    counts[key] = counts.get(key, 0) + number
            total = int(match["all"]) if match["all"] else sum(counts.values())
            self.totals = GroupCounts(expected=total, **counts)
        elif _NO_TESTS.match(line):
            self.totals = GroupCounts()
        elif match := _FILES.match(line):
            is_short = sum(number for number, _ in _parts(match["words"])) < int(match["all"])
            self.files = line.strip() if is_short else None
        elif match := _ERRORS.match(line):
            self.errors = match["words"]
        elif match := _SECTION.match(line):
            self.section = match["title"]
        elif _NO_FILES.match(line):
            self.no_files = line

    def _marked(self, mark: Mark, line: str, index: int) -> None:
        title = mark.title
        for suffix in _SUFFIXES:
            title = title.removesuffix(suffix)
        if named := _NAMED.match(title):
            test_id = _id(named)
            self.named.append(test_id)
        elif self.file is not None and mark.indent:
            path = self.tree.path(mark.indent)
            if not path and mark.indent > _TOP:
                path = [_UNNAMED]
            if (mark.duration_s or 0) >= _SLOW_S and mark.outcome is Outcome.PASSED:
                title = title.removesuffix(" ")
            test_id = " > ".join([self.file, *path, title])
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
        elif self.section == "Failed Suites":
            self.hooks.append(red["test"])
            self.red.append((red["test"], line, index))
        else:
            named = _NAMED.match(red["test"])
            self.red.append((red["test"] if named is None else _id(named), line, index))


def _parts(words: str) -> list[tuple[int, str]]:
    """The numbers and words of `7 failed | 1 expected fail`."""
    parts = [part.partition(" ") for part in words.split(" | ")]
    return [(int(number), word) for number, _, word in parts]


def _id(named: re.Match[str]) -> str:
    return f"{named['file']} > {named['rest']}"


def read_vitest(lines: Sequence[str]) -> Report:
    """Reads the output of vitest; ids are `file > describe > test`.

    Args:
        lines: The log, without terminal escapes.
    """
    reader = _Reader(lines)
    reader.read()
    if reader.announced:
        _doubt_named(reader)
    notes = _failures(reader)
    files = []
    for name, line in reader.failed_files.items():
        told = reader.found.details.get(name, Details())
        entry = broken(name, FILE_FAILED, told.message, told.traceback)
        files.append(replace(entry, evidence=line))
    gaps = [Gap(name, FILE_FAILED) for name in reader.failed_files]
    gaps += [Gap(name, HOOK_FAILED) for name in dict.fromkeys(reader.hooks)]
    if stop := _stop(reader):
        gaps.append(stop)
    announced = reader.totals.expected if reader.totals else sum(reader.announced.values())
    if reader.errors is not None:
        notes.append(f"{reader.errors} outside of tests: the run failed whatever the tests say")
    return Report(
        format=FAMILY,
        tests=beside(reader.found.tests(reader.totals), before=files),
        announced=announced or (0 if reader.totals else None),
        totals=reader.totals,
        gaps=tuple(gaps),
        is_scraped=True,
        notes=(*reader.found.notes(), *notes),
    )


def _failures(reader: _Reader) -> list[str]:
    """Gives failures their messages; of those that no list names, says what they are."""
    notes = []
    for title, line, index in reader.red:
        test_id = _whole_title(title, reader, index)
        told = _told(reader.lines, index + 1)
        known = reader.found.details.setdefault(test_id, told)
        if known is not told and told.traceback:
            joined = f"{known.traceback}\n\n{told.traceback}"
            reader.found.details[test_id] = replace(known, traceback=joined)
        is_known = test_id in reader.failed_files or test_id in reader.found.sightings
        if is_known or _named_by_heading(test_id, reader):
            continue
        if test_id in reader.hooks:
            notes.append(f"hook failed: {test_id}: {told.message}")
        else:
            sighting = Sighting(test_id, Outcome.FAILED, index + 1, line, Channel.SUMMARY)
            reader.found.saw(sighting)
    return notes


def _doubt_named(reader: _Reader) -> None:
    """The reporters that print lists print no lines with a file in front."""
    for test_id in reader.named:
        sightings = reader.found.sightings.get(test_id, [])
        doubt = "stands outside of the lists: a test may have printed it"
        sightings[:] = [s._replace(doubt=doubt) if s.doubt is None else s for s in sightings]


def _named_by_heading(test_id: str, reader: _Reader) -> bool:
    """Whether a heading names the suites of a failure that a list shows without them."""
    file, *parts = test_id.split(" > ")
    for start in range(1, len(parts)):
        short = " > ".join([file, _UNNAMED, *parts[start:]])
        sightings = reader.found.sightings.get(short, [])
        failed = next((s for s in sightings if s.outcome is Outcome.FAILED), None)
        if failed is not None:
            sightings.remove(failed)
            if not sightings:
                del reader.found.sightings[short]
            reader.found.saw(failed._replace(id=test_id))
            return True
    return False


def _whole_title(title: str, reader: _Reader, index: int) -> str:
    """The id of a heading, whose title may have a second line."""
    following = reader.lines[index + 1] if index + 1 < len(reader.lines) else ""
    longer = f"{title}\n{following}"
    is_longer = title not in reader.found.sightings and longer in reader.found.sightings
    return longer if is_longer else title


def _told(lines: Sequence[str], start: int) -> Details:
    block: list[str] = []
    for line in lines[start : start + _MAX_BLOCK]:
        if _RULE.match(line) or _RED.match(line):
            break
        block.append(line)
    text = "\n".join(block).strip("\n")
    return Details(message=until_code(text), traceback=text or None)


def _stop(reader: _Reader) -> Gap | None:
    if reader.no_files is not None:
        return Gap("", reader.no_files, own_doing=False)
    if reader.files is not None:
        return Gap("", f"ended early: {' '.join(reader.files.split())}", own_doing=False)
    if reader.totals is not None:
        return None
    if reader.has_run:
        return cut_off('there is no "Tests" line', reader.lines)
    return ending(reader.lines)
