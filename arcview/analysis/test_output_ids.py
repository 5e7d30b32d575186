"""Names of single tests in the text that a runner printed, with what became of each.

Pure text rules, private to `test_output`. A name that appears with two outcomes keeps the worse
one, so that a line which a test prints itself cannot turn a failure into a pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from arcview.analysis.test_output_model import ReportedTest
from arcview.model.results import Outcome

MAX_TESTS = 5000
"""Names kept of one run; the counts do not depend on them."""
MAX_LINE = 1000
"""Characters of a line that is read for a name."""


_Found = Iterator[tuple[str, str]]
_WORDS = {
    "PASSED": Outcome.PASSED,
    "PASS": Outcome.PASSED,
    "pass": Outcome.PASSED,
    "OK": Outcome.PASSED,
    "ok": Outcome.PASSED,
    "Passed": Outcome.PASSED,
    "✓": Outcome.PASSED,
    "✔": Outcome.PASSED,
    "√": Outcome.PASSED,
    "LEAK": Outcome.PASSED,
    "FAILED": Outcome.FAILED,
    "FAIL": Outcome.FAILED,
    "Failed": Outcome.FAILED,
    "fail": Outcome.FAILED,
    "not ok": Outcome.FAILED,
    "✕": Outcome.FAILED,
    "×": Outcome.FAILED,
    "✖": Outcome.FAILED,
    "✗": Outcome.FAILED,
    "SIGABRT": Outcome.FAILED,
    "SIGSEGV": Outcome.FAILED,
    "SIGTERM": Outcome.FAILED,
    "SIGKILL": Outcome.FAILED,
    "ABORT": Outcome.FAILED,
    "ERROR": Outcome.ERROR,
    "TIMEOUT": Outcome.TIMEOUT,
    "SKIPPED": Outcome.SKIPPED,
    "SKIP": Outcome.SKIPPED,
    "skip": Outcome.SKIPPED,
    "skipped": Outcome.SKIPPED,
    "ignored": Outcome.SKIPPED,
    "↓": Outcome.SKIPPED,
    "○": Outcome.SKIPPED,
    "✎": Outcome.SKIPPED,
    "﹣": Outcome.SKIPPED,
    "-": Outcome.SKIPPED,
    "XFAIL": Outcome.XFAILED,
    "expected failure": Outcome.XFAILED,
    "XPASS": Outcome.XPASSED,
    "unexpected success": Outcome.XPASSED,
}
_WORST_LAST = (
    Outcome.SKIPPED,
    Outcome.PASSED,
    Outcome.XFAILED,
    Outcome.XPASSED,
    Outcome.TIMEOUT,
    Outcome.FAILED,
    Outcome.ERROR,
)


def reported_tests(family: str, text: str) -> tuple[ReportedTest, ...]:
    """The tests that a text names, in the order of their first mention.

    Args:
        family: The runner whose output it is; of a runner without a rule nothing is read.
        text: Its output without terminal escapes.
    """
    find = _FINDERS.get(family)
    worst: dict[str, Outcome] = {}
    for name, word in find(text) if find else ():
        outcome = _WORDS.get(word)
        if outcome is None or (name not in worst and len(worst) >= MAX_TESTS):
            continue
        known = worst.get(name)
        if known is None or _WORST_LAST.index(outcome) > _WORST_LAST.index(known):
            worst[name] = outcome
    return tuple(ReportedTest(name, outcome) for name, outcome in worst.items())


def _lines(text: str) -> Iterator[str]:
    """The lines in which a runner can have named a test: a very long one is data."""
    return (line for line in text.split("\n") if len(line) <= MAX_LINE)


def _by_pattern(pattern: str) -> Callable[[str], _Found]:
    def find(text: str) -> _Found:
        compiled = re.compile(pattern)
        for line in _lines(text):
            match = compiled.search(line)
            if match:
                yield match["name"].strip(), match["word"]

    return find


_PYTEST_WORD = r"(?P<word>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)"
_PYTEST_LIVE = re.compile(rf" {_PYTEST_WORD}(?: \([^)]*\))?(?: +\[ *\d+%\])? *$")
_PYTEST_XDIST = re.compile(rf"^\[gw\d+\] \[ *\d+%\] {_PYTEST_WORD} (?P<name>\S+::\S.*?) *$")
_PYTEST_SUMMARY = re.compile(
    rf"^{_PYTEST_WORD} (?P<name>[^\s\[]+(?:\[.*?\](?= - | *$))?)(?: - .*)? *$"
)


def _pytest(text: str) -> _Found:
    for line in _lines(text):
        if "::" not in line:
            continue
        match = _PYTEST_XDIST.match(line) or _PYTEST_LIVE.search(line)
        if match is None:
            continue
        name = match["name"] if match.re is _PYTEST_XDIST else line[: match.start()]
        if "::" in name and " " not in name.partition("::")[0]:
            yield name, match["word"]
    start = text.rfind("short test summary info")
    # `-q | tail` may have cut the heading away; the lines below it are what is left then.
    for line in _lines(text[start:] if start >= 0 else text):
        match = _PYTEST_SUMMARY.match(line)
        if match and ("::" in match["name"] or match["word"] == "ERROR"):
            yield match["name"], match["word"]


_UNITTEST = re.compile(
    r"^ *(?P<test>\w+) \((?P<where>[\w.]+)\)(?: [(\[][^\n]*[)\]])?(?:\n(?! *\w+ \()[^\n]*?)?"
    r" \.\.\. (?P<word>ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b",
    re.MULTILINE,
)
_UNITTEST_RED = re.compile(
    r"^(?P<word>FAIL|ERROR): (?P<test>\w+) \((?P<where>[\w.]+)\)", re.MULTILINE
)


def _unittest(text: str) -> _Found:
    for pattern in (_UNITTEST, _UNITTEST_RED):
        for match in pattern.finditer(text):
            where, test = match["where"], match["test"]
            name = where if where.endswith(f".{test}") else f"{where}.{test}"
            yield name, match["word"]


_GO_TEST = re.compile(
    r"^ *--- (PASS|FAIL|SKIP): (\S+) \([\d.]+s\)|^(?:ok|FAIL) {0,3}\s(\S+/?\S*)\s"
)
_GO_JSON = re.compile(r'^\{.*"Action":"(?:pass|fail|skip)".*"Test":.*\}$')


def _go(text: str) -> _Found:
    waiting: list[tuple[str, str]] = []
    for line in text.split("\n"):
        if line.startswith("{") and _GO_JSON.match(line):
            event = json.loads(line)
            yield f"{event.get('Package', '')} {event['Test']}", event["Action"]
            continue
        match = _GO_TEST.match(line)
        if match is None:
            continue
        if match[2]:
            waiting.append((match[2], match[1]))
        else:
            yield from ((f"{match[3]} {name}", word) for name, word in waiting)
            waiting = []
    yield from waiting


_JEST_FILE = re.compile(r"^(?:PASS|FAIL) +(\S+)")
_MARKED = re.compile(
    r"^( *)([✓✔√✕×✖✗○✎↓﹣]) +(?:(?:skipped|todo) )?(.+?)(?: \(?[\d.]+ ?m?s\)?)?"
    r"(?: \(retry x\d+\))?$"
)
_NUMBERED = re.compile(r"^( +)(?:\d+\)|(-)) (.+)$")
_VITEST_RED = re.compile(
    r"^ FAIL {1,2}(?:\|[^|\n]+\| )?(?:(\S+\.[cm]?[jt]sx? > .+)|(\S+) \[ [^\n]* \])$"
)
_VITEST_FILE = re.compile(r"^ *[❯✓×↓] (\S+) \(\d+ tests?[^)]*\)")


def _jest(text: str) -> _Found:
    """Names of `--verbose`, nested by indentation below their file, and the red ones' own lines."""
    file, listing = "", False
    path: list[tuple[int, str]] = []
    for line in _lines(text):
        head = _JEST_FILE.match(line)
        if head:
            file, listing, path = head[1].removeprefix("./"), True, []
        elif line.startswith("  ● "):
            # What follows is what the tests printed, and may look like a list of tests.
            listing = False
            name = line[4:].strip()
            if file and name not in ("Console", "Test suite failed to run"):
                yield " > ".join([file, *name.split(" › ")]), "✕"
        elif listing and line.strip():
            yield from _nested(line, file, path)


def _nested(line: str, file: str, path: list[tuple[int, str]]) -> _Found:
    match = _MARKED.match(line)
    indent = len(line) - len(line.lstrip())
    if not indent and match is None:
        return  # the second line of a title
    while path and path[-1][0] >= indent:
        path.pop()
    if match:
        yield (
            " > ".join([*([file] if file else []), *(name for _, name in path), match[3]]),
            match[2],
        )
    else:
        path.append((indent, line.strip()))


def _vitest(text: str) -> _Found:
    file, printed = "", False
    for line in _lines(text):
        # What a test printed stands between such a heading and an empty line.
        printed = bool(line) and (printed or line.startswith(("stdout | ", "stderr | ")))
        if printed:
            continue
        head = _VITEST_FILE.match(line)
        match = _MARKED.match(line)
        red = _VITEST_RED.match(line)
        if head:
            file = head[1]
        elif red:
            yield red[1] or red[2], "✕" if red[1] else "ERROR"
        elif match:
            name = match[3]
            named = re.match(r"\S+\.[cm]?[jt]sx? > ", name)
            if named or file:
                yield name if named else f"{file} > {name}", match[2]


def _mocha(text: str) -> _Found:
    if text.lstrip().startswith('["start"'):
        yield from _mocha_stream(text)
        return
    path: list[tuple[int, str]] = []
    for line in _lines(text):
        if re.match(r"^ +\d+ passing", line):
            return
        red = _NUMBERED.match(line)
        if red and (red[2] or path):
            line = f"{red[1]}{'↓' if red[2] else '✖'} {red[3]}"
        yield from _nested(line, "", path)


def _mocha_stream(text: str) -> _Found:
    for line in text.split("\n"):
        if line.startswith(('["pass",', '["fail",')):
            try:
                word, test = json.loads(line)
            except ValueError:  # cut in the middle of a line
                continue
            yield str(test.get("fullTitle", "")), word


_NODE_LINE = re.compile(r"^( *)(▶|✔|✖|﹣) (.+?)(?: \([\d.]+m?s\))?( # (?i:todo|skip).*)?$")


def _node(text: str) -> _Found:
    if "ℹ tests" not in text:
        yield from _tap(text)
        return
    # A suite's own line comes after its tests; its `▶` line before them says that it is one.
    path: list[tuple[int, str]] = []
    suites: set[tuple[int, str]] = set()
    for line in _lines(text):
        if line.startswith(("ℹ tests", "✖ failing tests:")):
            return
        match = _NODE_LINE.match(line)
        if match is None:
            continue
        here = (len(match[1]), match[3])
        while path and path[-1][0] >= here[0]:
            path.pop()
        if match[2] == "▶":
            path.append(here)
            suites.add(here)
        elif here not in suites:
            note = (match[4] or "").lower()
            left_out = "# todo" in note or ("# skip" in note and match[2] != "✖")
            word = "skip" if left_out else match[2]
            yield " > ".join([*(part for _, part in path), here[1]]), word


_TAP = re.compile(
    r"^(?P<word>not ok|ok) \d+(?: -)? (?P<name>.+?)(?P<note> # (?i:skip|todo|time).*)?$"
)


def _tap(text: str) -> _Found:
    for line in _lines(text):
        match = _TAP.match(line)
        if match:
            note = (match["note"] or "").lower()
            word = "skip" if "# skip" in note or "# todo" in note else match["word"]
            yield match["name"], word


_cargo_lines = _by_pattern(
    r"(?:^|[^\S\n])test (?P<name>\S+(?: - [^\n]+?)?) \.\.\. (?:[^\n]*[^\S\n])?"
    r"(?P<word>ok|FAILED|ignored)(?:,[^\n]*)?$"
)


def _cargo(text: str) -> _Found:
    for name, word in _cargo_lines(text):
        yield re.sub(r" - (?:should panic|compile(?: fail)?)$", "", name), word


_FINDERS: dict[str, Callable[[str], _Found]] = {
    "pytest": _pytest,
    "unittest": _unittest,
    "cargo": _cargo,
    "nextest": _by_pattern(
        r"^ *(?P<word>PASS|FAIL|LEAK|TIMEOUT|ABORT|SKIP|SIG[A-Z]+) \[ *>? *[\d.]+s\]"
        r"(?: \( *\d+/\d+\))? (?P<name>\S+ .+)$"
    ),
    "go": _go,
    "jest": _jest,
    "vitest": _vitest,
    "mocha": _mocha,
    "node": _node,
    "tap": _tap,
    "tape": _tap,
    "prove": _tap,
    "deno": _by_pattern(r"^(?P<name>\S[^\n]*?) \.\.\. (?P<word>ok|FAILED|ignored) \([^)\n]*\)$"),
    "gtest": _by_pattern(r"^\[ +(?P<word>OK|FAILED|SKIPPED) +\] (?P<name>\w[\w/]*\.[\w/]+)"),
    "ctest": _by_pattern(
        r"^ *\d+/\d+ Test +#\d+: (?P<name>\S+) \.+ *(?:\*+)?(?P<word>Passed|Failed|Timeout)"
    ),
    "gradle": _by_pattern(r"^(?P<name>\S+ > [^\n]+) (?P<word>PASSED|FAILED|SKIPPED)$"),
    "dotnet": _by_pattern(r"^ +(?P<word>Passed|Failed|Skipped) (?P<name>\S+) \[[^\]\n]+\]$"),
}
