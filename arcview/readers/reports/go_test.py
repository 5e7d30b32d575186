"""Reads `go test -json`: one event a line, as the run goes on.

Format: https://pkg.go.dev/cmd/test2json. What tests print stands inside of events, so that it
cannot pass for one. Must not import pydantic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.results import UNFINISHED, Gap, GateTest, Group, Outcome, Report
from arcview.readers.packed import read_unpacked
from arcview.readers.registry import Detection
from arcview.readers.reports.collect import (
    BUILD_FAILED,
    PACKAGE_FAILED,
    JsonLines,
    broken,
    cut_short,
    joined,
    merged,
    seconds_of,
    text_of,
)

_ENDS = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED}
_FRAME = re.compile(r"^\s*(?:=== (?:RUN|PAUSE|CONT|NAME)\b|--- (?:PASS|FAIL|SKIP): )")
_GLUED = re.compile(r".--- (?P<word>PASS|FAIL|SKIP): (?P<name>\S+) \([\d.]+s\)\s*$")
"""Before Go 1.20 a result behind text without a line end made no event."""
_ACTION = re.compile(rb'"Action"\s*:\s*"')
_PACKAGE = re.compile(rb'"(?:Package|ImportPath)"\s*:\s*"')
GOEXIT = "runtime.Goexit"
"""What the message of a subtest holds that ended its parent."""
PARENT_ENDED = "a subtest ended it: its other subtests may not have run"


class GoTestReader:
    """Reads `go test -json`."""

    id = "go_test"
    title = "go test -json"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the keys of an event."""
        if _ACTION.search(head) and _PACKAGE.search(head):
            return Detection(self.id, "records with Action and Package")
        return None

    def read(self, path: Path) -> Report:
        """Reads the tests in the order in which they started, as `package TestName`.

        Raises:
            BadInputError: the file cannot be read, or holds no event.
        """
        return read_events(read_unpacked(path, path.name), path.name)


def read_events(data: bytes, shown: str) -> Report:
    """Reads events, which other output may stand between.

    Args:
        data: The bytes of a file.
        shown: The file, as the user would name it.

    Raises:
        BadInputError: there is no event.
    """
    lines = JsonLines(data, shown, ('{"',))
    run = _Run()
    for _, event in lines.records():
        if isinstance(event, dict) and isinstance(event.get("Action"), str):
            run.add(event)
    if not run.events:
        raise BadInputError(shown, "expected records with Action")
    return Report(
        format=GoTestReader.id,
        tests=merged(run.results()),
        gaps=tuple(run.gaps()),
        is_damaged=lines.damaged > 0,
        problems=lines.problems(),
    )


@dataclass(slots=True)
class _Test:
    name: str
    end: Outcome | None = None
    has_start: bool = False
    doubt: str | None = None
    elapsed_s: float | None = None
    output: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """Of the output what go marks as an error."""
    earlier: list[GateTest] = field(default_factory=list)
    """Runs of the same test before this one (`-count=2`)."""


@dataclass(slots=True)
class _Package:
    name: str
    tests: dict[str, _Test] = field(default_factory=dict)
    end: str | None = None
    failed_build: str | None = None
    output: list[str] = field(default_factory=list)

    def test(self, name: str) -> _Test:
        return self.tests.setdefault(name, _Test(name))

    @property
    def unfinished(self) -> list[_Test]:
        return [test for test in self.tests.values() if test.end is None]

    @property
    def has_failed_test(self) -> bool:
        return any(test.end is Outcome.FAILED for test in self.tests.values())


@dataclass(slots=True)
class _Run:
    events: int = 0
    packages: dict[str, _Package] = field(default_factory=dict)
    builds: dict[str, list[str]] = field(default_factory=dict)
    """What the compiler said, by import path."""

    def add(self, event: Mapping[str, object]) -> None:
        self.events += 1
        action, name = text_of(event, "Action"), text_of(event, "Package")
        output = text_of(event, "Output")
        if action == "build-output":
            self.builds.setdefault(text_of(event, "ImportPath") or "", []).append(output or "")
            return
        if name is None:
            return
        package = self.packages.setdefault(name, _Package(name))
        test_name = text_of(event, "Test")
        if not test_name:
            self._of_package(package, action, output, event)
            return
        test = package.test(test_name)
        if action == "run" and test.end is not None:
            again = _Test(
                test_name, has_start=True, earlier=[*test.earlier, _result(package, test)]
            )
            package.tests[test_name] = again
        elif action == "run":
            test.has_start = True
        elif action == "output" and output is not None:
            if event.get("OutputType") != "frame" and not _FRAME.match(output):
                test.output.append(output)
                if str(event.get("OutputType", "")).startswith("error"):
                    test.errors.append(output)
        elif action in _ENDS:
            test.doubt = test.doubt or _doubt(test, _ENDS[action])
            if test.end is not Outcome.FAILED:
                test.end = _ENDS[action]
            test.elapsed_s = seconds_of(event, "Elapsed")

    @staticmethod
    def _of_package(
        package: _Package, action: str | None, output: str | None, event: Mapping[str, object]
    ) -> None:
        if action in _ENDS:
            package.end = action
            package.failed_build = text_of(event, "FailedBuild")
        elif output is not None:
            package.output.append(output)

    def results(self) -> Iterator[GateTest]:
        for package in self.packages.values():
            for test in package.tests.values():
                yield from test.earlier
                yield _result(package, test)
            if package.end == "fail" and (kind := _broken_kind(package)):
                said = "".join(self.builds.get(package.failed_build or "", package.output))
                yield broken(package.name, kind, _why(said), said.strip() or None)

    def gaps(self) -> Iterator[Gap]:
        is_cut = False
        for package in self.packages.values():
            if package.end is None:
                is_cut = True
            elif package.end == "fail":
                kind = _broken_kind(package)
                if kind or package.unfinished or "panic: " in _panic(package):
                    yield Gap(package.name, kind or "the package's tests ended with a crash")
            yield from (
                Gap(f"{package.name} {parent}", "may not have run: a subtest ended its parent test")
                for parent in _ended_parents(package)
            )
        if is_cut:
            yield cut_short("a package has no end")


def _doubt(test: _Test, end: Outcome) -> str | None:
    """Before Go 1.20 a line that a test prints could become an event."""
    if test.end is not None and test.end is not end:
        return f"ended twice, {test.end.value} and {end.value}: a test may have printed one of them"
    if test.end is None and not test.has_start:
        return "its result has no start: a test may have printed it"
    return None


def _broken_kind(package: _Package) -> str | None:
    """What to call a failed package none of whose tests accounts for that."""
    text = "".join(package.output)
    if package.failed_build is not None or "[build failed]" in text or "[setup failed]" in text:
        return BUILD_FAILED
    if package.has_failed_test or package.unfinished:
        return None
    return PACKAGE_FAILED


def _panic(package: _Package) -> str:
    failed = [t for t in package.tests.values() if t.end is Outcome.FAILED]
    return "".join(line for test in failed for line in test.output)


def _ended_parents(package: _Package) -> Iterator[str]:
    for test in package.tests.values():
        if "/" in test.name and any(GOEXIT in line for line in test.output):
            yield test.name.rpartition("/")[0]


def _result(package: _Package, test: _Test) -> GateTest:
    text = "".join(test.output)
    outcome, reported = test.end, None
    if outcome is None and (glued := _GLUED.search(text)) and glued["name"] == test.name:
        outcome, test.doubt = _ENDS[glued["word"].lower()], "its result stands behind printed text"
    elif outcome is None:
        outcome, reported = _unfinished(package, test, text)
    bad = outcome not in (Outcome.PASSED, Outcome.SKIPPED)
    return GateTest(
        id=f"{package.name} {test.name}",
        group=Group.OTHER,
        outcome=outcome,
        duration_s=test.elapsed_s,
        message=_message(package, test, text) if outcome is not Outcome.PASSED else None,
        traceback=text.rstrip() or None if bad else None,
        stdout=text or None,
        reported=reported,
        conflict=joined(
            [test.doubt, PARENT_ENDED if test.name in _ended_parents(package) else None], "; "
        ),
    )


def _message(package: _Package, test: _Test, text: str) -> str | None:
    """What the test reported as its error, else what it printed, else its failed subtests."""
    if test.errors and test.end is Outcome.FAILED and "panic: " not in text:
        return "".join(test.errors).strip()
    if text.startswith("got:\n"):  # an example
        return text.strip()
    below = [
        other.name
        for other in package.tests.values()
        if other.name.startswith(f"{test.name}/") and other.end is Outcome.FAILED
    ]
    return _why(text) or (f"failed subtests: {', '.join(below[:5])}" if below else None)


def _unfinished(package: _Package, test: _Test, text: str) -> tuple[Outcome, str]:
    """A test without an end: its package's end says whether it crashed, or the run was cut off."""
    if package.end != "fail":
        return Outcome.NOT_RUN, UNFINISHED
    panicked = "".join(line for other in package.unfinished for line in other.output)
    if "panic: test timed out" in panicked:
        return Outcome.TIMEOUT, UNFINISHED
    if text.strip():
        return Outcome.ERROR, UNFINISHED
    return (Outcome.NOT_RUN if panicked.strip() else Outcome.ERROR), UNFINISHED


def _why(text: str) -> str | None:
    """The first line that says something; of a panic its own line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    panic = next((line for line in lines if line.startswith("panic: ")), None)
    said = [line for line in lines if not line.startswith(("# ", "FAIL"))]
    return panic or next(iter(said), None) or next(iter(lines), None)
