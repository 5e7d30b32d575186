"""The closing lines of test runners: one table, one pattern a runner.

Pure text rules, private to `test_output`. Sources: the runners' own output (real logs of pytest,
unittest, cargo, nextest, go, jest, vitest, mocha, node:test) and, for the others, their manuals.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Summary(NamedTuple):
    """One closing line, read. Counts are null where the runner does not print them."""

    family: str
    start: int
    end: int
    line: str
    passed: int | None = None
    failed: int | None = None
    """Failures and errors together."""
    skipped: int | None = None
    bad: bool = False
    """Something did not pass, whatever the counts say."""
    empty: bool = False
    """No test ran."""


class _Rule(NamedTuple):
    family: str
    needle: str
    """A piece of text without which the pattern cannot match; saves most of the time."""
    pattern: str


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when it is first needed: fifty patterns cost 10 ms, a run needs two or three."""
    return re.compile(pattern, re.MULTILINE)


_PYTEST_WORD = (
    r"\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun"
    r"|subtests? (?:passed|failed|skipped))"
)
_RULES = (
    _Rule(
        "pytest", " in ", rf"^(?:=+ )?(?P<words>{_PYTEST_WORD}(?:, {_PYTEST_WORD})*) in [\d.]+ ?s"
    ),
    _Rule(
        "pytest",
        "tests",
        r"^(?:=+ )?(?P<empty>no tests (?:ran|collected)|\d+(?:/\d+)? tests? collected)\b.* in ",
    ),
    _Rule(
        "unittest",
        "Ran ",
        r"^Ran (?P<total>\d+) tests? in [\d.]+s\n+(?P<word>OK|FAILED|NO TESTS RAN)"
        r"(?: \((?P<details>[^)\n]*)\))?",
    ),
    _Rule(
        "cargo",
        "test result:",
        r"^test result: (?P<word>ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed;"
        r" (?P<skipped>\d+) ignored",
    ),
    _Rule(
        "nextest",
        "run:",
        r"^ *Summary \[[^\]\n]+\] +(?P<total>\d+)(?:/\d+)? tests? run: (?P<words>[^\n]+)",
    ),
    _Rule("go", "\t", r"^(?P<go>ok|FAIL|\?) *\t\S+(?:\t[^\n]*| \[[^\n]*)?$"),
    _Rule("go", "ok  ", r"^(?P<go>ok) {2,}\S+ +(?:\(cached\)|[\d.]+s)[^\n]*$"),
    _Rule("go", "FAIL ", r"^(?P<go>FAIL) {2,}\S+ +(?:[\d.]+s|\[[a-z ]+\])$"),
    _Rule("vitest", "Tests", r"^ *Tests {2,}(?P<words>\d+ \w+(?: \| \d+ \w+)*)"),
    _Rule("vitest", "Tests", r"^ *Tests {2,}(?P<empty>no tests)"),
    _Rule("jest", "Tests:", r"^Tests: +(?P<words>\d+ \w+(?:, \d+ \w+)*, \d+ total)"),
    _Rule("jest", "Tests:", r"^Tests: +(?P<empty>0 total)"),
    _Rule(
        "mocha",
        " passing",
        r"^ +(?P<passed>\d+) passing(?: \([^)\n]*\))?(?:\n+ +(?P<skipped>\d+) pending)?"
        r"(?:\n+ +(?P<failed>\d+) failing)?",
    ),
    _Rule(
        "mocha",
        '"passes"',
        r'"passes": ?(?P<passed>\d+),\s*"pending": ?(?P<skipped>\d+),\s*'
        r'"failures": ?(?P<failed>\d+)',
    ),
    _Rule(
        "node",
        " pass ",
        r"^(?:#|ℹ) pass (?P<passed>\d+)\n(?:#|ℹ) fail (?P<failed>\d+)"
        r"(?:\n(?:#|ℹ) cancelled (?P<errors>\d+))?(?:\n(?:#|ℹ) skipped (?P<skipped>\d+))?",
    ),
    _Rule(
        "tape", "# tests", r"^# tests +\d+\n# pass +(?P<passed>\d+)(?:\n# fail +(?P<failed>\d+))?"
    ),
    _Rule(
        "deno",
        " passed",
        r"^(?P<word>ok|FAILED) \| (?P<passed>\d+) passed(?: \([^)\n]*\))? \| (?P<failed>\d+) failed"
        r"(?: \([^)\n]*\))?(?: \| (?P<skipped>\d+) ignored)?",
    ),
    _Rule(
        "bun",
        " pass",
        r"^ *(?P<passed>\d+) pass\n(?: *(?P<skipped>\d+) skip\n)?(?: *\d+ todo\n)?"
        r" *(?P<failed>\d+) fail",
    ),
    _Rule(
        "playwright",
        " passed",
        r"(?:^ +(?P<failed>\d+) failed\n(?:.*\n){0,40}?)?^ +(?P<passed>\d+) passed \([\d.]+m?s\)",
    ),
    _Rule(
        "ctest",
        "% tests passed",
        r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)",
    ),
    _Rule(
        "surefire",
        "Tests run:",
        r"^(?:\[[A-Z]+\] )?Tests run: (?P<total>\d+), Failures: (?P<failed>\d+),"
        r" Errors: (?P<errors>\d+), Skipped: (?P<skipped>\d+) *$",
    ),
    _Rule(
        "gradle",
        "completed",
        r"^(?P<total>\d+) tests? completed(?:, (?P<failed>\d+) failed)?"
        r"(?:, (?P<skipped>\d+) skipped)?",
    ),
    _Rule(
        "dotnet",
        "Passed:",
        r"^(?:Passed|Failed|Skipped)! +- Failed: +(?P<failed>\d+), Passed: +(?P<passed>\d+),"
        r" Skipped: +(?P<skipped>\d+), Total: +\d+",
    ),
    _Rule(
        "rspec",
        " example",
        r"^(?P<total>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?",
    ),
    _Rule(
        "minitest",
        " assertions",
        r"^(?P<total>\d+) (?:runs|tests)?, \d+ assertions?, (?P<failed>\d+) failures?,"
        r" (?P<errors>\d+) errors?, (?P<skipped>\d+) (?:skips|pendings)",
    ),
    _Rule("phpunit", "OK (", r"^OK \((?P<total>\d+) tests?, \d+ assertions?\)"),
    _Rule(
        "phpunit",
        "Assertions:",
        r"^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?"
        r"(?:, Failures: (?P<failed>\d+))?(?:, Warnings: \d+)?(?:, Skipped: (?P<skipped>\d+))?",
    ),
    _Rule("pest", "assertions)", r"^ +Tests: +(?P<words>[^\n(]+) \(\d+ assertions\)"),
    _Rule(
        "exunit",
        " failure",
        r"^(?:\d+ (?:doctests?|propert(?:y|ies)), )*(?P<total>\d+) tests?,"
        r" (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) (?:skipped|excluded))?",
    ),
    _Rule(
        "xctest",
        "Executed ",
        r"^ *Executed (?P<total>\d+) tests?, with (?:(?P<skipped>\d+) tests? skipped and )?"
        r"(?P<failed>\d+) failures?",
    ),
    _Rule(
        "swift-testing",
        "Test run with",
        r"Test run with (?P<total>\d+) tests? (?:in \d+ suites? )?(?P<word>passed|failed)",
    ),
    _Rule(
        "karma",
        "Executed ",
        r"Executed (?P<total>\d+) of \d+(?: \((?P<failed>\d+) FAILED\))?",
    ),
    _Rule(
        "jasmine",
        " spec",
        r"^(?P<total>\d+) specs?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?",
    ),
    _Rule(
        "gtest",
        "[  PASSED  ]",
        r"^\[  PASSED  \] (?P<passed>\d+) tests?\."
        r"(?:\n\[  SKIPPED \] (?P<skipped>\d+) tests?[^\n]*)?"
        r"(?:\n\[  FAILED  \] (?P<failed>\d+) tests?)?",
    ),
    _Rule("sympy", "tests finished:", r"tests finished: (?P<words>[^\n]*?),\s+in [\d.]+ seconds"),
    _Rule(
        "prove",
        "Result: ",
        r"^(?:Files=\d+, Tests=(?P<total>\d+),[^\n]*\n)?Result: (?P<word>PASS|FAIL)",
    ),
    _Rule(
        "behave",
        " scenario",
        r"^(?P<passed>\d+) scenarios? passed, (?P<failed>\d+) failed, (?P<skipped>\d+) skipped",
    ),
    _Rule(
        "robot",
        " passed, ",
        r"^(?P<total>\d+) tests?, (?P<passed>\d+) passed, (?P<failed>\d+) failed",
    ),
    _Rule("flutter", " tests ", r"(?P<word>All tests passed!|Some tests failed\.)"),
    _Rule(
        "forge",
        "Suite result:",
        r"^Suite result: (?P<word>ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed;"
        r" (?P<skipped>\d+) skipped",
    ),
    _Rule("zig", "tests passed.", r"^All (?P<passed>\d+) tests passed\."),
    _Rule(
        "ginkgo",
        " Passed | ",
        r"(?P<passed>\d+) Passed \| (?P<failed>\d+) Failed \| \d+ Pending"
        r" \| (?P<skipped>\d+) Skipped",
    ),
    _Rule(
        "catch2",
        "test cases",
        r"^(?:All tests passed \(\d+ assertions? in (?P<passed>\d+) test cases?\)"
        r"|test cases: +(?P<total>\d+)(?: \| +\d+ passed)? \| +(?P<failed>\d+) failed)",
    ),
    _Rule(
        "sbt",
        ": Total ",
        r"(?:Passed|Failed): Total (?P<total>\d+), Failed (?P<failed>\d+), Errors (?P<errors>\d+)",
    ),
    _Rule(
        "busted",
        " successes / ",
        r"^(?P<passed>\d+) successes / (?P<failed>\d+) failures / (?P<errors>\d+) errors"
        r" / (?P<skipped>\d+) pending",
    ),
    _Rule("tox", ":", r"^ *(?P<word>congratulations :\)|evaluation failed :\()"),
    _Rule("gradle", "BUILD ", r"^BUILD (?P<word>SUCCESSFUL|FAILED) in "),
)

# Lines that make a run red whatever its closing line counts.
_RED = {
    "pytest": r"^INTERNALERROR> ",
    "vitest": r"^ *(?:Test Files +\d+ failed|Errors +\d+ errors?)",
    "jest": r"^Test Suites: +\d+ failed",
    "cargo": r"^error: (?:(?:doc)?test failed|\d+ targets? failed|could not compile)",
}
ADDITIVE = frozenset({"cargo", "go", "dotnet", "forge", "xctest"})
"""Runners that print one closing line for each part of one run; the parts are added up."""
_BUCKETS = {
    "passed": "passed",
    "failed": "failed",
    "error": "failed",
    "errors": "failed",
    "exceptions": "failed",
    "timed out": "failed",
    "exec failed": "failed",
    "skipped": "skipped",
    "todo": "skipped",
    "pending": "skipped",
    "ignored": "skipped",
    "failures": "failed",
    "expected failures": "expected",
    "unexpected successes": "unexpected",
    "xfailed": "expected",
}
_BAD_WORDS = ("FAILED", "FAIL", "failed", "Some tests failed.", "evaluation failed :(")


def summaries(text: str) -> list[Summary]:
    """Every closing line in a text without terminal escapes, in order."""
    found = [
        _read(rule.family, match, text)
        for rule in _RULES
        if rule.needle in text
        for match in compiled(rule.pattern).finditer(text)
    ]
    found.sort(key=lambda summary: (summary.end, summary.start))
    return found


def is_red(family: str, text: str) -> str | None:
    """The line that says that a run failed although its closing line does not, if there is one."""
    pattern = _RED.get(family)
    match = compiled(pattern).search(text) if pattern else None
    return _whole_line(text, match.start()) if match else None


def _whole_line(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text[start : end if end >= 0 else len(text)].strip()


def _read(family: str, match: re.Match[str], text: str) -> Summary:
    groups = match.groupdict()
    line = " ".join(match.group(0).strip("= ").split()) if family != "go" else match.group(0)
    base = Summary(family, match.start(), match.end(), line)
    if groups.get("go"):
        quiet = "[no test" in match.group(0)
        return Summary(family, base.start, base.end, line, bad=groups["go"] == "FAIL", empty=quiet)
    if groups.get("empty"):
        return Summary(family, base.start, base.end, line, 0, 0, empty=True)
    counts = _tally(groups.get("words") or "") | _details(groups.get("details") or "")
    for name, bucket in (("passed",) * 2, ("failed",) * 2, ("skipped",) * 2, ("errors", "failed")):
        if groups.get(name):
            counts[bucket] = counts.get(bucket, 0) + int(groups[name])
    return _judged(base, counts, groups)


def _judged(base: Summary, counts: dict[str, int], groups: dict[str, str | None]) -> Summary:
    total, word = groups.get("total"), groups.get("word")
    if total is not None and "passed" not in counts:
        others = sum(counts.get(key, 0) for key in ("failed", "skipped", "expected", "unexpected"))
        counts["passed"] = max(0, int(total) - others)
    failed = counts.get("failed", 0) + counts.get("unexpected", 0)
    known = bool(counts) or groups.get("words") is not None
    ran = failed + sum(counts.get(key, 0) for key in ("passed", "skipped", "expected"))
    return Summary(
        base.family,
        base.start,
        base.end,
        base.line,
        counts.get("passed", 0) if known else None,
        failed if known else None,
        counts.get("skipped", 0) if known else None,
        bad=failed > 0 or word in _BAD_WORDS,
        empty=word == "NO TESTS RAN" or (known and ran == 0 and word not in _BAD_WORDS),
    )


def _tally(words: str) -> dict[str, int]:
    """`12 failed, 29 passed (1 slow) | 3 errors` → counts by bucket; unknown words are left out."""
    counts: dict[str, int] = {}
    for part in re.split(r", | \| ", re.sub(r" \([^)]*\)", "", words)):
        number, _, word = part.strip().partition(" ")
        bucket = _BUCKETS.get(word.strip())
        if bucket and number.isdigit():
            counts[bucket] = counts.get(bucket, 0) + int(number)
    return counts


def _details(words: str) -> dict[str, int]:
    """`failures=2, errors=3, expected failures=1` → counts by bucket."""
    counts: dict[str, int] = {}
    for part in words.split(", "):
        word, _, number = part.partition("=")
        bucket = _BUCKETS.get(word)
        if bucket and number.isdigit():
            counts[bucket] = counts.get(bucket, 0) + int(number)
    return counts
