"""Reads the text of `go test`, verbose or not.

A package's line ends its output, so tests are given their package when it comes. Without `-v` go
prints neither passes nor anything of packages that pass: such lines were printed by tests. Pure;
must not read files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from arcview.model.results import UNFINISHED, Gap, GateTest, Outcome, Report
from arcview.readers.reports.collect import BUILD_FAILED, PACKAGE_FAILED, beside, broken, joined
from arcview.readers.reports.go_test import GOEXIT, PARENT_ENDED
from arcview.readers.reports.logs.log import MAX_LINE, Details, Found, Sighting, cut_off, ending

FAMILY = "go"

_RESULT = re.compile(
    r"^(?P<indent> *)--- (?P<word>PASS|FAIL|SKIP): (?P<name>\S+) \((?P<time>[\d.]+)s\)$"
)
_GLUED = re.compile(r"--- (?P<word>PASS|FAIL|SKIP): (?P<name>\S+) \((?P<time>[\d.]+)s\)$")
_FRAME = re.compile(r"^=== (?P<word>RUN|PAUSE|CONT|NAME) +(?P<name>\S+)$")
_PACKAGE = re.compile(
    r"^(?P<word>ok|FAIL|\?) *\t(?P<name>\S+)(?:\t(?P<time>\S+)| \[(?P<note>[^\]]+)\])?.*$"
)
_PACKAGE_BLANKS = re.compile(
    r"^(?P<word>ok|FAIL) {2,}(?P<name>\S+) +"
    r"(?:(?P<time>\(cached\)|[\d.]+s)|\[(?P<note>[^\]]+)\]).*$"
)
_WORDS = {"PASS": Outcome.PASSED, "FAIL": Outcome.FAILED, "SKIP": Outcome.SKIPPED}
_TIMED_OUT = "panic: test timed out after"
_BUILD = frozenset({"build failed", "setup failed"})
_MAX_OUTPUT = 400


@dataclass(slots=True)
class _Chunk:
    """The output of one package so far."""

    first: int
    started: dict[str, int] = field(default_factory=dict)
    """Tests with a `=== RUN` line → its line."""
    results: list[Sighting] = field(default_factory=list)
    output: dict[str, list[str]] = field(default_factory=dict)
    current: str | None = None
    """The test that the last frame names."""
    panic: list[str] = field(default_factory=list)
    is_verbose: bool = False
    has_text: bool = False
    """There is output besides frames and results."""
    last: str = ""
    """The last line that is not blank."""


@dataclass(slots=True)
class _Reader:
    lines: Sequence[str]
    found: Found = field(default_factory=Found)
    packages: list[GateTest] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    builds: dict[str, list[str]] = field(default_factory=dict)
    building: str | None = None
    chunk: _Chunk = field(default_factory=lambda: _Chunk(0))
    unnamed: int = 0
    """Packages that passed without naming a test."""

    def read(self) -> None:
        for index, line in enumerate(self.lines):
            if len(line) > MAX_LINE or not line.strip():
                continue
            if line.startswith("=== ") and (frame := _FRAME.match(line)):
                self._frame(frame, index)
            elif "--- " in line and (result := _RESULT.match(line)):
                self._result(result, line, index)
            elif (
                line.startswith(("ok", "FAIL", "?"))
                and (package := _PACKAGE.match(line) or _PACKAGE_BLANKS.match(line))
                and self._is_package_end(package)
            ):
                self._package(package, line, index)
            else:
                self._text(line, index)
            self.chunk.last = line

    # -- single lines ---------------------------------------------------------------------------

    def _frame(self, frame: re.Match[str], index: int) -> None:
        if self.chunk.results and not self.chunk.is_verbose:
            self._text(self.lines[index], index)  # go prints frames from the start, or never
            return
        self.chunk.is_verbose = True
        self.chunk.current = frame["name"]
        self.building = None
        if frame["word"] == "RUN":
            self.chunk.started.setdefault(frame["name"], index)

    def _result(self, result: re.Match[str], line: str, index: int) -> None:
        chunk = self.chunk
        name = result["name"]
        sighting = Sighting(
            name, _WORDS[result["word"]], index + 1, line, duration_s=float(result["time"])
        )
        self.building = None
        if chunk.is_verbose and name not in chunk.started:
            # Every test has its start: a test printed this.
            chunk.results.append(sighting._replace(doubt="printed"))
        elif not chunk.is_verbose and result["word"] == "PASS":
            chunk.results.append(sighting._replace(doubt="printed"))
            chunk.has_text = True
        else:
            chunk.results.append(sighting)
            chunk.current = name

    def _text(self, line: str, index: int) -> None:
        chunk = self.chunk
        if line.startswith("# "):
            self.building = line[2:].partition(" ")[0].strip("[]")
            self.builds.setdefault(self.building, [])
            return
        if self.building is not None and not line.startswith(("panic: ", "goroutine ")):
            self.builds[self.building].append(line)
            return
        glued = _GLUED.search(line) if "--- " in line else None
        if glued is not None:
            self._glued(glued, line, index)
        if line.startswith("panic: ") or chunk.panic:
            if len(chunk.panic) < _MAX_OUTPUT:
                chunk.panic.append(line)
            return
        if line not in ("PASS", "FAIL") and not line.startswith(("coverage: ", "exit status ")):
            chunk.has_text = True
            if chunk.current is not None and self._is_told(line):
                output = chunk.output.setdefault(chunk.current, [])
                if len(output) < _MAX_OUTPUT:
                    output.append(line)

    def _is_told(self, line: str) -> bool:
        """Whether a line belongs to the test above it: without `-v` go indents what tests log."""
        chunk = self.chunk
        is_example = (chunk.current or "").startswith("Example")
        return chunk.is_verbose or is_example or line.startswith((" ", "\t"))

    def _glued(self, glued: re.Match[str], line: str, index: int) -> None:
        """A result behind text that a test printed without a line end."""
        chunk, name = self.chunk, glued["name"]
        sighting = Sighting(
            name, _WORDS[glued["word"]], index + 1, line, duration_s=float(glued["time"])
        )
        is_own = chunk.is_verbose and name == chunk.current and name in chunk.started
        chunk.results.append(sighting if is_own else sighting._replace(doubt="printed"))

    # -- the end of a package -------------------------------------------------------------------

    def _is_package_end(self, package: re.Match[str]) -> bool:
        """Whether such a line can be go's own: output before it must end as go ends it."""
        chunk = self.chunk
        if package["word"] == "?" or package["note"] is not None:
            return True
        if package["word"] == "ok":
            if chunk.is_verbose:
                return chunk.last.startswith(("PASS", "coverage: "))
            return not chunk.has_text or chunk.last.startswith(("PASS", "coverage: "))
        return not chunk.is_verbose or bool(
            chunk.panic or chunk.last.startswith(("FAIL", "exit status ", "coverage: ", "---", " "))
        )

    def _package(self, package: re.Match[str], line: str, index: int) -> None:
        name, note = package["name"], package["note"]
        chunk, self.chunk = self.chunk, _Chunk(index + 1)
        self.building = None
        failed = self._take(chunk, name)
        if package["word"] != "FAIL":
            is_named = bool(chunk.results or chunk.started)
            self.unnamed += package["word"] == "ok" and not is_named
            return
        if note in _BUILD:
            said = "\n".join(self._build_of(name))
            entry = broken(name, BUILD_FAILED, said.partition("\n")[0] or None, said or None)
            self.packages.append(replace(entry, evidence=line))
            self.gaps.append(Gap(name, BUILD_FAILED))
        elif not failed:
            exited = chunk.last if chunk.last.startswith("exit status ") else None
            why = chunk.panic[0] if chunk.panic else exited
            entry = broken(name, PACKAGE_FAILED, why, "\n".join(chunk.panic) or None)
            self.packages.append(replace(entry, evidence=line))
            self.gaps.append(Gap(name, PACKAGE_FAILED))
        elif chunk.panic:
            self.gaps.append(Gap(name, "the package's tests ended with a crash"))

    def _build_of(self, package: str) -> list[str]:
        """What the compiler said; of a setup failure it names what it could not import."""
        for name in (package, f"{package}.test", f"{package}_test"):
            if self.builds.get(name):
                return self.builds[name]
        return []

    def _take(self, chunk: _Chunk, package: str | None) -> bool:
        """Takes the results of a chunk; returns whether one of them accounts for a failure."""
        prefix = f"{package} " if package else ""
        failed = False
        ended = set()
        for sighting in chunk.results:
            named = sighting._replace(id=f"{prefix}{sighting.id}", doubt=None)
            if sighting.doubt is not None:
                self.found.imitated(named)
                continue
            ended.add(sighting.id)
            failed = failed or sighting.outcome is Outcome.FAILED
            self.found.saw(named)
            if sighting.outcome is not Outcome.PASSED:
                self._details(chunk, sighting.id, named.id)
            if sighting.outcome is Outcome.FAILED and "/" in sighting.id:
                self._goexit(chunk, sighting.id, prefix)
        for name, index in chunk.started.items():
            if name not in ended:
                failed = True
                self._unfinished(chunk, name, prefix, index, package is not None)
        return failed

    def _goexit(self, chunk: _Chunk, name: str, prefix: str) -> None:
        if any(GOEXIT in line for line in chunk.output.get(name, ())):
            parent = prefix + name.rpartition("/")[0]
            self.gaps.append(Gap(parent, "may not have run: a subtest ended its parent test"))

    def _unfinished(self, chunk: _Chunk, name: str, prefix: str, index: int, has_end: bool) -> None:
        outcome, message = Outcome.NOT_RUN, None
        if chunk.panic:
            is_timeout = chunk.panic[0].startswith(_TIMED_OUT)
            running = any(line.strip().startswith(f"{name} (") for line in chunk.panic[:50])
            is_last = name == next(reversed(chunk.started))
            if is_timeout and (running or is_last):
                outcome = Outcome.TIMEOUT
            elif not is_timeout and (is_last or f".{name}" in "\n".join(chunk.panic)):
                outcome = Outcome.ERROR
            message = chunk.panic[0]
        elif has_end:
            outcome = Outcome.ERROR
        self.found.saw(
            Sighting(
                f"{prefix}{name}",
                outcome,
                index + 1,
                self.lines[index],
                message=message if outcome is not Outcome.NOT_RUN else None,
                reported=UNFINISHED,
            )
        )

    def _details(self, chunk: _Chunk, name: str, test_id: str) -> None:
        output = chunk.output.get(name, [])
        is_last = bool(chunk.results) and chunk.results[-1].id == name
        told = [*output, *chunk.panic] if is_last and chunk.panic else output
        if told:
            text = "\n".join(told)
            panic = chunk.panic[0] if is_last and chunk.panic else None
            self.found.details[test_id] = Details(
                message=panic or _message(output), traceback=text, stdout=text
            )


def _message(output: Sequence[str]) -> str | None:
    lines = [line.strip() for line in output if line.strip()]
    if lines and lines[0] == "got:":
        return "\n".join(lines[:12])
    return next(iter(lines), None)


def read_go(lines: Sequence[str]) -> Report:
    """Reads the output of `go test`.

    Args:
        lines: The log, without terminal escapes.
    """
    reader = _Reader(lines)
    reader.read()
    rest = reader.chunk
    reader._take(rest, None)
    gaps = list(dict.fromkeys(reader.gaps))
    if rest.started or rest.results:
        gaps.append(cut_off("a package has no end", lines))
    elif stop := ending(lines):
        gaps.append(stop)
    return Report(
        format=FAMILY,
        tests=beside(tuple(_tests(reader)), after=reader.packages),
        gaps=tuple(gaps),
        is_scraped=True,
        notes=(*_unnamed(reader.unnamed), *reader.found.notes()),
    )


def _unnamed(count: int) -> list[str]:
    if not count:
        return []
    what = "1 package passes" if count == 1 else f"{count} packages pass"
    return [f"{what} without naming a test"]


def _tests(reader: _Reader) -> Iterator[GateTest]:
    parents = {gap.prefix: gap.why for gap in reader.gaps}
    for test in reader.found.tests():
        if test.id in parents and test.outcome is Outcome.FAILED:
            test = replace(test, conflict=joined([test.conflict, PARENT_ENDED], "; "))
        yield test
