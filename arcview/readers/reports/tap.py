"""Reads the Test Anything Protocol, versions 12 to 14, with nested subtests and their YAML.

Format: https://testanything.org/tap-version-14-specification.html. Must not import pydantic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.results import Gap, GateTest, Group, Outcome, Report
from arcview.readers.packed import read_unpacked
from arcview.readers.registry import Detection
from arcview.readers.reports.collect import (
    FILE_FAILED,
    HOOK_FAILED,
    NODE_FILE,
    cut_short,
    joined,
    merged,
    whole_files,
)

POINT = re.compile(r"^(?P<indent> *)(?P<not>not )?ok\b(?: (?P<number>\d+))?(?P<rest>.*)$")
_PLAN = re.compile(r"^(?P<indent> *)1\.\.(?P<count>\d+)(?:\s*#\s*(?P<note>.*))?\s*$")
_SUBTEST = re.compile(r"^(?P<indent> *)# Subtest(?:: (?P<name>.*))?$")
_BAIL = re.compile(r"^ *Bail out!\s*(?P<why>.*)$", re.IGNORECASE)
_NOTE = re.compile(r"(?<!\\)#\s*(?P<word>skip\S*|todo)\b:?\s*(?P<why>.*)$", re.IGNORECASE)
_TIME = re.compile(r"(?<!\\)#\s*time=(?P<value>[\d.]+)(?P<unit>ms|s)\s*$")
_KEY = re.compile(r"^\s*(?P<key>\w+): ?(?P<value>.*)$")
_FIRST_LINES = re.compile(rb"^(?:TAP version \d+|(?: *)(?:not )?ok \d+\b|1\.\.\d+)", re.MULTILINE)
_BLOCK = " {"
"""What a point ends with whose subtests stand behind it, up to a closing brace."""
_HOOK = re.compile(r'"(?:before|after) (?:all|each)" hook\b')
_MAX_LINE = 10_000
_TIMEOUT = "testTimeoutFailure"


class TapReader:
    """Reads TAP."""

    id = "tap"
    title = "TAP (Test Anything Protocol)"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the version line, or a stream that begins with a plan or a test point."""
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        match = _FIRST_LINES.match(start)
        if match is None:
            return None
        if match[0].startswith(b"TAP") or re.search(rb"^ *(?:not )?ok \d+", start, re.MULTILINE):
            return Detection(self.id, f"begins with {match[0].decode()}")
        return None

    def read(self, path: Path) -> Report:
        """Reads the test points; those of subtests as `parent > child`.

        Raises:
            BadInputError: the file cannot be read, or has neither a plan nor a test point.
        """
        text = read_unpacked(path, path.name).decode("utf-8-sig", "replace")
        report = read_tap(text.replace("\r\n", "\n").split("\n"))
        if not report.tests and report.announced is None:
            raise BadInputError(path.name, "expected TAP: there is no plan and no test point")
        return report


@dataclass(slots=True)
class _Point:
    id: str
    line: str
    is_ok: bool
    note: re.Match[str] | None
    doubt: str | None
    duration_s: float | None
    is_parent: bool
    subtests: int = 0
    """Of a block."""
    failed_subtests: int = 0
    yaml: list[str] = field(default_factory=list)

    def value(self, key: str) -> str | None:
        """A value of the YAML block: a plain one, or the lines of a block."""
        for number, line in enumerate(self.yaml):
            match = _KEY.match(line)
            if match is None or match["key"] != key:
                continue
            value = match["value"].strip()
            if value not in ("|-", "|", ">-", ">"):
                return value.strip("'\"")
            indent = len(line) - len(line.lstrip())
            block = []
            for more in self.yaml[number + 1 :]:
                if more.strip() and len(more) - len(more.lstrip()) <= indent:
                    break
                block.append(more[indent + 2 :])
            return "\n".join(block).strip("\n")
        return None


def read_tap(lines: list[str]) -> Report:
    """Reads TAP from lines without terminal escapes."""
    stream = _Stream()
    for line in lines:
        stream.add(line[:_MAX_LINE])
    _doubt_bare(stream.points)
    entries = [_test(point) for point in stream.points if not _is_suite(point, stream)]
    hooks = [test.id for test in entries if test.reported == HOOK_FAILED]
    files = [test for test in entries if test.reported == FILE_FAILED]
    gaps = [Gap(test.id, FILE_FAILED) for test in files]
    gaps += [Gap(suite, f"{HOOK_FAILED}: {hook}") for hook in hooks if (suite := _suite_of(hook))]
    if stream.bailed is not None:
        gaps.append(Gap("", f"Bail out! {stream.bailed}".strip(), own_doing=False))
    elif stream.planned is None and stream.has_version:
        gaps.append(cut_short("there is no plan"))
    elif stream.planned is not None and stream.planned > stream.top_level:
        gaps.append(cut_short(f"{stream.top_level} of {stream.planned} planned points are there"))
    return Report(
        format=TapReader.id,
        tests=merged(entries),
        announced=_announced(stream, len(files)),
        gaps=tuple(gaps),
        notes=(*stream.notes, *whole_files(entries)),
    )


def _announced(stream: _Stream, failed_files: int) -> int | None:
    """The plan, where every point is a test of its own."""
    if stream.planned is None or stream.has_subtests:
        return None
    return max(0, stream.planned - failed_files)


@dataclass(slots=True)
class _Stream:
    points: list[_Point] = field(default_factory=list)
    has_subtests: bool = False
    """A plan counts the parents of subtests, not the subtests."""
    has_headings: bool = False
    """Subtests have a `# Subtest` line: their parents are tests, too."""
    blocks: list[_Point] = field(default_factory=list)
    """Open blocks."""
    planned: int | None = None
    top_level: int = 0
    bailed: str | None = None
    has_version: bool = False
    notes: list[str] = field(default_factory=list)
    path: list[tuple[int, str]] = field(default_factory=list)
    """Open subtests: their indentation and name."""
    numbers: dict[int, int] = field(default_factory=dict)
    """The last number by indentation."""
    yaml: list[str] | None = None
    yaml_indent: int = 0

    def add(self, line: str) -> None:
        if self.yaml is not None:
            self._in_yaml(line)
        elif line.startswith("TAP version"):
            self.has_version = True
        elif match := _SUBTEST.match(line):
            self.has_headings = True
            self._subtest(len(match["indent"]), match["name"] or "")
        elif match := POINT.match(line):
            self._point(match)
        elif match := _PLAN.match(line):
            self._plan(match)
        elif match := _BAIL.match(line):
            self.bailed = match["why"]
        elif line.strip() == "}" and self.blocks:
            self.blocks.pop()
        elif line.strip() == "---" and self.points:
            self.yaml = self.points[-1].yaml
            self.yaml_indent = len(line) - len(line.lstrip())

    def _in_yaml(self, line: str) -> None:
        if line.strip() == "...":
            self.yaml = None
        elif POINT.match(line) and len(line) - len(line.lstrip()) < self.yaml_indent:
            self.yaml = None  # the block was never closed
            self.add(line)
        elif self.yaml is not None:
            self.yaml.append(line)

    def _subtest(self, indent: int, name: str) -> None:
        self._leave(indent)
        self.path.append((indent, _unescaped(name)))
        # What stands below begins to count anew.
        self.numbers = {at: n for at, n in self.numbers.items() if at <= indent}

    def _leave(self, indent: int) -> None:
        while self.path and self.path[-1][0] >= indent:
            self.path.pop()

    def _plan(self, match: re.Match[str]) -> None:
        if match["indent"]:
            return
        self.planned = int(match["count"])
        if self.planned == 0 and match["note"]:
            self.notes.append(f"all skipped: {match['note']}")

    def _point(self, match: re.Match[str]) -> None:
        indent = len(match["indent"])
        is_parent = any(at > indent for at in self.numbers)
        rest = match["rest"]
        is_block = rest.endswith(_BLOCK)
        rest = rest.removesuffix(_BLOCK)
        note = _NOTE.search(rest)
        time = _TIME.search(rest)
        end = note.start() if note else time.start() if time else len(rest)
        name = _unescaped(rest[:end].removeprefix(" ").removeprefix("- "))
        name = name.removesuffix(" ") if note or time else name
        self._leave(indent)
        parents = [parent for at, parent in self.path if at < indent]
        last = self.numbers.get(indent, 0)
        number = int(match["number"]) if match["number"] else last + 1
        doubt = None
        if number != last + 1:
            doubt = f"numbered {number} where {last + 1} was due: a test may have printed it"
        elif not _HOOK.search(name):  # mocha gives a hook's number to the next test, too
            self.numbers[indent] = number
        self.numbers = {at: n for at, n in self.numbers.items() if at <= indent}
        self.top_level += indent == 0 and doubt is None
        self.has_subtests = self.has_subtests or indent > 0
        point = _Point(
            id=" > ".join([*parents, name or f"#{number}"]),
            line=match[0].strip(),
            is_ok=match["not"] is None,
            note=note,
            doubt=doubt,
            duration_s=_duration(time),
            is_parent=is_parent,
        )
        self.points.append(point)
        if self.blocks:
            self.blocks[-1].subtests += 1
            self.blocks[-1].failed_subtests += not point.is_ok
        if is_block:
            self.blocks.append(point)
            self._subtest(indent, name)


def _unescaped(text: str) -> str:
    return text.replace("\\#", "#").replace("\\\\", "\\") if "\\" in text else text


def _duration(match: re.Match[str] | None) -> float | None:
    if match is None:
        return None
    try:
        value = float(match["value"])
    except ValueError:
        return None
    return value / 1000 if match["unit"] == "ms" else value


def _is_suite(point: _Point, stream: _Stream) -> bool:
    """Whether a point stands for others; vitest's blocks do, unless a hook of theirs failed."""
    if point.subtests and not stream.has_headings:
        return point.is_ok or point.failed_subtests > 0
    return point.value("type") == "suite"


def _doubt_bare(points: list[_Point]) -> None:
    """Node tells the duration of each of its tests: points without were printed by one."""
    timed = [point.value("duration_ms") is not None for point in points]
    doubt = "has no duration as all others: a test may have printed it"
    if sum(timed) * 2 > len(points):
        for point, is_timed in zip(points, timed, strict=True):
            if not is_timed:
                point.doubt = point.doubt or doubt


def _suite_of(hook: str) -> str:
    """The full title of the suite whose hook failed, as mocha prints both."""
    match = _HOOK.search(hook)
    return hook[: match.start()].rstrip() if match else ""


def _test(point: _Point) -> GateTest:
    outcome = Outcome.PASSED if point.is_ok else Outcome.FAILED
    reported = None
    message = joined(_messages(point), "\n")
    if point.note is not None:
        # A `todo` that fails is no failure of the suite, and no pass either.
        is_todo = point.note["word"].lower() == "todo"
        outcome = Outcome.SKIPPED
        reported = f"{'ok' if point.is_ok else 'not ok'} # TODO" if is_todo else None
        message = _unescaped(point.note["why"]) or message
    elif not point.is_ok and _HOOK.search(point.id):
        outcome, reported = Outcome.ERROR, HOOK_FAILED
    elif not point.is_ok and point.value("failureType") == _TIMEOUT:
        outcome, reported = Outcome.TIMEOUT, _TIMEOUT
    elif not point.is_ok and NODE_FILE.match(point.id):
        outcome, reported = Outcome.ERROR, FILE_FAILED
    milliseconds = point.value("duration_ms")
    duration = point.duration_s
    if milliseconds is not None and re.fullmatch(r"[\d.]{1,20}", milliseconds):
        duration = _seconds(milliseconds)
    return GateTest(
        id=point.id,
        group=Group.OTHER,
        outcome=outcome,
        duration_s=duration,
        message=message,
        traceback="\n".join(point.yaml) or None if not point.is_ok else None,
        reported=reported,
        evidence=point.line,
        conflict=point.doubt,
    )


def _seconds(milliseconds: str) -> float | None:
    try:
        return float(milliseconds) / 1000
    except ValueError:
        return None


def _messages(point: _Point) -> Iterator[str | None]:
    if not point.is_ok:
        error = point.value("error")
        yield error if error else point.value("message")
