"""Whose output a text log is: the signs of each runner, and the function that reads it.

Cheap on long logs: a sign is a piece of text that is looked for as such, and a pattern that the
line around it must match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple, cast

from arcview.model.results import Report

_MAX_TRIES = 3_000
_MAX_LINE = 2_000

Read = Callable[[Sequence[str]], Report]


class Sign(NamedTuple):
    """What shows that a runner wrote a line."""

    needle: str
    pattern: str

    def lines(
        self, text: str, low: int = 0, high: int | None = None, *, backwards: bool = False
    ) -> Iterator[int]:
        """Where in a text, or in a part of it, lines with this sign begin."""
        compiled = re.compile(self.pattern)
        find = text.rfind if backwards else text.find
        at = find(self.needle, low, high)
        for _ in range(_MAX_TRIES):
            if at < 0:
                return
            # The needle may hold the line end before its line.
            at += len(self.needle) - len(self.needle.lstrip("\n"))
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at)
            line = text[start : end if end >= 0 else len(text)]
            if len(line) <= _MAX_LINE and compiled.match(line):
                yield start
            if backwards:
                at = text.rfind(self.needle, low, start) if start else -1
            else:
                at = text.find(self.needle, end, high) if end >= 0 else -1


@dataclass(frozen=True, slots=True)
class Family:
    """One runner."""

    id: str
    module: str
    """Below `logs`, with the function that reads: `pytest_log:read_pytest`."""
    strong: tuple[Sign, ...]
    """Headings and closing lines, which a whole log has."""
    weak: tuple[Sign, ...]
    """Results, which are all that a piece of a log has."""

    def read(self, lines: Sequence[str]) -> Report:
        """Reads a log; the module is loaded when it is first needed."""
        module, _, name = self.module.partition(":")
        found = getattr(import_module(f"arcview.readers.reports.{module}"), name)
        return cast("Read", found)(lines)

    def span(self, text: str) -> tuple[int, int] | None:
        """Where its first and its last strong sign stand; null where there is none."""
        first: int | None = None
        for sign in self.strong:
            # Behind a sign that is found none can be the first.
            first = next(sign.lines(text, 0, first), first)
        if first is None:
            return None
        last = first
        for sign in self.strong:
            last = next(sign.lines(text, last, backwards=True), last)
        return first, last

    def is_weakly_in(self, text: str) -> bool:
        """Whether a result of it is there."""
        return any(next(sign.lines(text), None) is not None for sign in self.weak)


_PYTEST_CLOSING = r"(?:=+ )?(?:\d+ [a-z]+[^\n=]*|no tests ran) in [\d.]+ ?s"
_WORDS = r"(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)"
_UNITTEST_END = r"(?:ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$"
_SCRIPT = r"\S+\.[cm]?[jt]sx?"
_PROJECT = r"(?:\|[^|]+\| | (?=\S)[^|]*?\S  )?"
_JEST_TOOK = r"(?: \((?:[\d.]+ m?s)?(?:, )?(?:\d+ \w+ heap size)?\))?$"

FAMILIES = (
    Family(
        "pytest",
        "logs.pytest_log:read_pytest",
        (
            Sign("test session starts =", r"=+ test session starts =+$"),
            Sign("short test summary info =", r"=+ short test summary info =+$"),
            *(
                Sign(f" {word} in ", _PYTEST_CLOSING)
                for word in (
                    "passed",
                    "failed",
                    "error",
                    "errors",
                    "skipped",
                    "deselected",
                    "xfailed",
                    "xpassed",
                    "warning",
                    "warnings",
                    "rerun",
                )
            ),
            Sign("no tests ran in ", _PYTEST_CLOSING),
        ),
        (
            Sign("::", rf"(?:\[gw\d+\] .*{_WORDS}|{_WORDS} |SUBFAIL|\S+\.\w+::|.+\.py::.*%\]$)"),
            Sign("collected ", r"(?:collecting .*)?collected \d+ items?"),
            Sign("Interrupted: ", r"!+ .*Interrupted: .*!+$"),
            Sign(".py ", r"\S+\.py [.FEsxXu]+ +\[ *\d+%\]$"),
            Sign("ERROR: ", r"ERROR: (?:usage|not found|file or directory not found):? "),
            Sign("ImportError while ", r"ImportError while loading conftest "),
            Sign(" collected in ", r"(?:\d+(?:/\d+)?|no) tests? collected .*in [\d.]+ ?s"),
        ),
    ),
    Family(
        "unittest",
        "logs.unittest_log:read_unittest",
        (
            Sign("\nRan ", r"Ran \d+ tests? in [\d.]+s$"),
            Sign("\nFound ", r"Found \d+ test\(?s?\)?\.$"),
        ),
        (
            Sign(" ... ", rf"(?!test \S+ \.\.\. ).* \.\.\. {_UNITTEST_END}"),
            Sign(") ... ", r" *\w+ \([\w.]+\) \.\.\. "),
            Sign("FAIL: ", r"FAIL: \w+ \([\w.]+\)"),
            Sign("ERROR: ", r"ERROR: \w+ \([\w.]+\)"),
        ),
    ),
    Family(
        "go",
        "logs.go_log:read_go",
        (
            Sign("\n=== RUN ", r"=== RUN +\S+$"),
            Sign("\nFAIL\t", r"FAIL\t\S+"),
            Sign("\nok  \t", r"ok  \t\S+"),
            Sign("--- FAIL: ", r" *--- FAIL: \S+ \([\d.]+s\)$"),
            Sign("--- PASS: ", r" *--- PASS: \S+ \([\d.]+s\)$"),
        ),
        (Sign("--- SKIP: ", r" *--- SKIP: \S+ \([\d.]+s\)$"),),
    ),
    Family(
        "cargo",
        "logs.cargo_log:read_cargo",
        (
            Sign("\ntest result: ", r"test result: (?:ok|FAILED)\. \d+ passed"),
            Sign("\nrunning ", r"running \d+ tests?$"),
            Sign("error: could not compile ", r"error: could not compile "),
            Sign("error: test failed, to rerun", r"error: test failed, to rerun pass "),
        ),
        (Sign("test ", r"test \S.* \.\.\. (?:ok|FAILED|ignored)"),),
    ),
    Family(
        "nextest",
        "logs.nextest_log:read_nextest",
        (
            Sign("Nextest run ID ", r" *Nextest run ID "),
            Sign("     Summary [", r" {5}Summary \["),
        ),
        (Sign("s] ", r" {4,}(?:PASS|FAIL|TIMEOUT|SIG[A-Z]+) \[ *[\d.]+s\] "),),
    ),
    Family(
        "jest",
        "logs.jest_log:read_jest",
        (
            Sign("\nTest Suites: ", r"Test Suites: +\d"),
            Sign("PASS ", rf" ?PASS +(?:\S+ +)?{_SCRIPT}{_JEST_TOOK}"),
            Sign("FAIL ", rf" ?FAIL +(?:\S+ +)?{_SCRIPT}{_JEST_TOOK}"),
            Sign("process.exit called with", r" *● +process\.exit called with"),
        ),
        (Sign("No tests found, ", r"No tests found, exiting with code \d+$"),),
    ),
    Family(
        "vitest",
        "logs.vitest_log:read_vitest",
        (
            Sign(" Test Files  ", r" Test Files  +\S"),
            Sign(" RUN  v", r" RUN  v\d"),
            Sign("s (", rf" *[❯✓×↓] {_PROJECT}{_SCRIPT} \(\d+(?: tests?[^)]*)?\)"),
            Sign(" FAIL  ", rf" FAIL  {_PROJECT}{_SCRIPT} (?:> |\[ )"),
        ),
        (Sign("s > ", rf" *[✓×↓] {_PROJECT}{_SCRIPT} > "),),
    ),
    Family(
        "node",
        "logs.node_log:read_node",
        (Sign("\nℹ tests ", r"ℹ tests \d+$"),),
        (Sign("▶ ", r" *▶ \S"),),
    ),
    Family(
        "mocha",
        "logs.mocha_log:read_mocha",
        (
            Sign(" passing", r" +\d+ passing(?: \([^)]*\))?$"),
            Sign(" Exception during run: ", r" Exception during run: "),
        ),
        (
            Sign("Error: No test files", r"Error: No test files found\b"),
            Sign("✔ ", r" +✔ \S"),
            Sign("✓ ", r" +✓ \S"),
            Sign(") ", r" +\d+\) \S"),
        ),
    ),
    Family(
        "ctest",
        "logs.ctest_log:read_ctest",
        (
            Sign("% tests passed, ", r"\d+% tests passed, \d+ tests? failed out of \d+$"),
            Sign(" Test ", r" *\d+/\d+ Test +#\d+: "),
            Sign("No tests were found!!!", r"No tests were found!!!"),
        ),
        (),
    ),
    Family(
        "tap",
        "tap:read_tap",
        (Sign("TAP version ", r"TAP version \d+$"),),
        (Sign("ok ", r" *(?:not )?ok \d+\b"),),
    ),
)

_OVER_MOCHA = frozenset({"vitest", "node", "jest"})
"""Families whose pieces hold lines that look like mocha's."""


def family_of(family_id: str) -> Family | None:
    """The family with that id."""
    return next((family for family in FAMILIES if family.id == family_id), None)


class Part(NamedTuple):
    """A family that is in a log."""

    family: Family
    first: int
    """Where in the text its first strong sign stands."""
    last: int
    is_strong: bool


def parts_of(text: str) -> list[Part]:
    """The runners whose output a text holds, in order.

    Pieces without headings count only where no runner has any.

    Args:
        text: A log without terminal escapes.
    """
    framed = f"\n{text}"
    parts = [
        Part(family, *span, True)
        for family in FAMILIES
        if (span := family.span(framed)) is not None
    ]
    if parts:
        return sorted(parts, key=lambda part: part.first)
    weak = [family for family in FAMILIES if family.is_weakly_in(framed)]
    ids = {family.id for family in weak}
    if ids & _OVER_MOCHA:
        weak = [family for family in weak if family.id != "mocha"]
    return [Part(family, 0, len(text), False) for family in weak]
