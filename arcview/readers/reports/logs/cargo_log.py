"""Reads the text of `cargo test`: libtest's lines, binary by binary.

Results stand between `running N tests` and the first heading below; what the sections under
`failures:` and `successes:` hold was printed by tests. Pure; must not read files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from arcview.model.results import UNFINISHED, Gap, GateTest, GroupCounts, Outcome, Report
from arcview.readers.reports.collect import added
from arcview.readers.reports.libtest import panic_message
from arcview.readers.reports.logs.log import (
    MAX_LINE,
    Channel,
    Details,
    Found,
    Sighting,
    cut_off,
    ending,
)

FAMILY = "cargo"

_RUNNING = re.compile(r"^running (?P<count>\d+) tests?$")
_TEST = re.compile(r"^(?P<before>.*?)\btest (?P<name>\S+(?: - .*?)?) \.\.\. (?P<rest>.*)$")
_WORD = re.compile(r"^(?P<word>ok|FAILED|ignored)(?:, (?P<why>.*))?(?: <[\d.]+ ?m?s>)?$")
_LAST_WORD = re.compile(r"(?P<word>ok|FAILED)$")
_BENCH = re.compile(r"^bench: ")
_KIND = re.compile(r" - (?:should panic|compile fail|compile)$")
_RESULT = re.compile(
    r"^test result: (?P<word>ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed;"
    r" (?P<ignored>\d+) ignored"
)
_BLOCK = re.compile(r"^---- (?P<name>.+) stdout ----$")
_BINARY = re.compile(
    r"^ *Running (?:unittests )?(?P<path>\S+)(?: \((?P<file>.*?)\))?$|^ *Doc-tests (?P<doc>\S+)$"
)
_HASH = re.compile(r"-[0-9a-f]{16}$")
_COMPILE = re.compile(r"^error: could not compile .*")
_STOPPED = "error: test failed, to rerun pass "
_TARGETS = re.compile(r"^error: \d+ targets? failed:$")
_DIED = re.compile(r"^ *process didn't exit successfully: .*\(signal: .*\)$")
_FAILURES = "failures:"
_SECTIONS = (_FAILURES, "successes:")
_WORDS = {"ok": Outcome.PASSED, "FAILED": Outcome.FAILED, "ignored": Outcome.SKIPPED}


@dataclass(slots=True)
class _Binary:
    """What one test binary printed."""

    name: str | None
    announced: int
    found: Found = field(default_factory=Found)
    is_live: bool = True
    totals: GroupCounts | None = None
    open: tuple[str, int, str] | None = None
    """A test whose name is printed and whose result is not: id, line, text."""
    block: str | None = None
    texts: dict[str, list[str]] = field(default_factory=dict)
    listed: list[Sighting] = field(default_factory=list)
    """What the last list of failures names."""
    is_listing: bool = False


@dataclass(slots=True)
class _Reader:
    lines: Sequence[str]
    binaries: list[_Binary] = field(default_factory=list)
    next_name: str | None = None
    compile_error: str | None = None
    stopped: str | None = None
    has_targets: bool = False
    died: str | None = None

    def read(self) -> None:
        for index, line in enumerate(self.lines):
            if not line or len(line) > MAX_LINE:
                continue
            if line.startswith("running ") and (match := _RUNNING.match(line)):
                if self._begins(index):
                    self._begin(int(match["count"]), index)
            elif "Running" in line or "Doc-tests" in line:
                self._maybe_binary(line, index)
            elif line.startswith("error: ") and not self._is_in_binary():
                self._error(line)
            elif "process didn't exit" in line and _DIED.match(line):
                self.died = line.strip()
            elif self.binaries:
                self._of_binary(self.binaries[-1], line, index)
            elif "test " in line and (match := _TEST.match(line)):
                self._begin(0, index)  # a piece of a log
                self._of_binary(self.binaries[-1], line, index)
        if self.binaries:
            self._leave(self.binaries[-1])

    def _begins(self, index: int) -> bool:
        """Whether the heading is libtest's: an empty line stands before it, no block is open."""
        if index > 0 and self.lines[index - 1].strip():
            return not self.binaries or self.binaries[-1].totals is not None
        return not self.binaries or self.binaries[-1].block is None

    def _is_in_binary(self) -> bool:
        return bool(self.binaries) and self.binaries[-1].totals is None

    def _begin(self, count: int, index: int) -> None:
        if self.binaries:
            self._leave(self.binaries[-1])
        self.binaries.append(_Binary(self.next_name, count))
        self.next_name = None

    def _maybe_binary(self, line: str, index: int) -> None:
        match = _BINARY.match(line)
        if match is None:
            if self.binaries:
                self._of_binary(self.binaries[-1], line, index)
            return
        file = (match["file"] or "").replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
        self.next_name = match["doc"] or _HASH.sub("", file) or match["path"]

    def _error(self, line: str) -> None:
        if _COMPILE.match(line):
            self.compile_error = self.compile_error or line
        elif line.startswith(_STOPPED):
            self.stopped = line
        elif _TARGETS.match(line):
            self.has_targets = True

    # -- one binary -----------------------------------------------------------------------------

    def _of_binary(self, binary: _Binary, line: str, index: int) -> None:
        if line.startswith("test result: ") and (match := _RESULT.match(line)):
            # Tests may print such a line, too: the last one counts.
            binary.is_listing = binary.is_listing and binary.block is not None
            passed, failed, skipped = (int(match[key]) for key in ("passed", "failed", "ignored"))
            total = passed + failed + skipped
            binary.totals = GroupCounts(
                expected=total, passed=passed, failed=failed, skipped=skipped
            )
            binary.is_live = binary.is_live and total != max(binary.announced, total)
            return
        if line in _SECTIONS:
            binary.is_live = False
            binary.block = None
            binary.is_listing = line == _FAILURES
            binary.listed = [] if binary.is_listing else binary.listed
            return
        if not binary.is_live:
            self._section(binary, line, index)
            return
        if "test " in line and (match := _TEST.match(line)):
            self._test(binary, match, line, index)
        elif binary.open is not None and (word := _WORD.match(line) or _LAST_WORD.search(line)):
            test_id, at, text = binary.open
            binary.open = None
            self._saw(binary, test_id, word["word"], None, at, f"{text}\n{line}")

    def _section(self, binary: _Binary, line: str, index: int) -> None:
        if line.startswith("---- ") and (match := _BLOCK.match(line)):
            binary.block = _KIND.sub("", match["name"])
            binary.texts.setdefault(binary.block, [])
            return
        if binary.block is None:
            if binary.is_listing and line.startswith("    "):
                name = _id(line.strip())
                binary.listed.append(
                    Sighting(name, Outcome.FAILED, index + 1, line, Channel.SUMMARY)
                )
            return
        texts = binary.texts[binary.block]
        if len(texts) < 400:
            texts.append(line)
        if line.startswith("test ") and (match := _TEST.match(line)):
            word = _WORD.match(match["rest"])
            if word is not None:
                binary.found.imitated(
                    Sighting(_id(match["name"]), _WORDS[word["word"]], index + 1, line)
                )

    def _test(self, binary: _Binary, match: re.Match[str], line: str, index: int) -> None:
        test_id, rest = _id(match["name"]), match["rest"]
        if _BENCH.match(rest):
            rest = "ok"
        word = _WORD.match(rest)
        if word is not None:
            why = word["why"]
            self._saw(binary, test_id, word["word"], why, index, line)
            return
        last = _LAST_WORD.search(rest)
        if last is not None and rest:  # `test x ... printed text ok`
            self._saw(binary, test_id, last["word"], None, index, line)
            return
        if binary.open is not None:
            self._unfinished(binary)
        binary.open = (test_id, index, line)

    def _saw(
        self, binary: _Binary, test_id: str, word: str, why: str | None, index: int, text: str
    ) -> None:
        binary.found.saw(Sighting(test_id, _WORDS[word], index + 1, text, message=why))

    def _unfinished(self, binary: _Binary) -> None:
        if binary.open is not None:
            test_id, at, text = binary.open
            binary.found.saw(Sighting(test_id, Outcome.NOT_RUN, at + 1, text, reported=UNFINISHED))
            binary.open = None

    def _leave(self, binary: _Binary) -> None:
        self._unfinished(binary)
        for sighting in binary.listed:
            # With `--quiet` or `--nocapture` no line says so, or none that can be read.
            if binary.found.says(sighting.id, Outcome.NOT_RUN):
                del binary.found.sightings[sighting.id]
            binary.found.saw(sighting)
        for name, texts in binary.texts.items():
            text = "\n".join(texts).strip("\n")
            binary.found.details[name] = Details(panic_message(text), text or None, text or None)


def _id(name: str) -> str:
    return _KIND.sub("", name)


def read_cargo(lines: Sequence[str]) -> Report:
    """Reads the output of `cargo test`.

    Args:
        lines: The log, without terminal escapes. The names of binaries stand in standard error;
            they come before the ids of tests that several binaries have.
    """
    reader = _Reader(lines)
    reader.read()
    shared = _shared(reader.binaries)
    whole = Found()
    for binary in reader.binaries:
        _join(whole, binary, shared)
    announced = sum(binary.announced for binary in reader.binaries)
    totals = added([binary.totals for binary in reader.binaries])
    tests = [_without_output(test) for test in whole.tests(totals)]
    return Report(
        format=FAMILY,
        tests=tuple(tests),
        announced=announced or None,
        totals=totals,
        gaps=tuple(_gaps(reader)),
        is_scraped=True,
        notes=tuple(whole.notes()),
    )


def _without_output(test: GateTest) -> GateTest:
    """What a test that did not fail printed is no message."""
    if test.outcome is Outcome.FAILED or test.traceback is None:
        return test
    return replace(test, traceback=None, message=None)


def _shared(binaries: Sequence[_Binary]) -> set[str]:
    names = Counter(name for binary in binaries for name in binary.found.sightings)
    return {name for name, count in names.items() if count > 1}


def _join(whole: Found, binary: _Binary, shared: set[str]) -> None:
    """Adds a binary's tests to the whole; ids that several binaries have are told apart."""

    def named(test_id: str) -> str:
        return f"{binary.name}${test_id}" if test_id in shared and binary.name else test_id

    for test_id, sightings in binary.found.sightings.items():
        name = named(test_id)
        if name == test_id and name not in whole.sightings:
            whole.sightings[name] = sightings
            continue
        for sighting in sightings:
            whole.saw(sighting._replace(id=name))
    for sighting in binary.found.printed:
        whole.imitated(sighting._replace(id=named(sighting.id)))
    for test_id, told in binary.found.details.items():
        whole.details[named(test_id)] = told


def _gaps(reader: _Reader) -> list[Gap]:
    if reader.compile_error is not None:
        return [Gap("", reader.compile_error)]
    if reader.died is not None:
        return [Gap("", f"a test binary crashed: {reader.died}")]
    unended = [binary for binary in reader.binaries if binary.totals is None]
    if unended and (len(unended) > 1 or unended[0].announced):
        if unended[0] is not reader.binaries[-1]:
            return [Gap("", "a test binary ended without a result (crashed, or exited by itself)")]
        return [cut_off("a test binary has no result", reader.lines)]
    if reader.stopped is not None and not reader.has_targets:
        return [Gap("", f"cargo stopped at the first binary that failed: {reader.stopped}")]
    stop = ending(reader.lines)
    return [stop] if stop else []
