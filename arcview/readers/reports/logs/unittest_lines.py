"""The grammar of single lines of unittest and Django. Pure; private to `unittest_log`."""

from __future__ import annotations

import re

from arcview.model.results import Outcome
from arcview.readers.reports.collect import last_line

WORDS = {
    "ok": Outcome.PASSED,
    "FAIL": Outcome.FAILED,
    "ERROR": Outcome.ERROR,
    "skipped": Outcome.SKIPPED,
    "SKIP": Outcome.SKIPPED,
    "expected failure": Outcome.XFAILED,
    "unexpected success": Outcome.XPASSED,
}
WORD = r"(?P<word>ok|FAIL|ERROR|skipped|expected failure|unexpected success)"
END = re.compile(rf"^{WORD}(?: (?P<why>['\"].*['\"]))?(?: \([\d.]+ ?s\))?$")
OWN_END = re.compile(r"^(?P<word>skipped|SKIP):? (?P<why>.+)$")
"""nose and nose2 put no quotes around the reason; that counts on the line of the test only."""
AT_END = re.compile(rf"(?:^|(?<= )){WORD}(?: (?P<why>['\"][^'\"]*['\"]))?$")
_LOADER = r"unittest\.loader\.(?:_FailedTest|ModuleImportFailure|LoadTestsFailure)"
"""The class of what stands for a module that could not be loaded."""
_TEST = rf"(?P<test>\w+|[\w.]+(?= \({_LOADER}))"
START = re.compile(
    rf"^(?P<indent> *){_TEST} \((?P<where>[\w.<>]+)\)(?P<sub>(?: \[.*\])?(?: \(.*\))?)"
    r"(?P<rest> \.\.\. .*| \.\.\.|)$"
)
RED = re.compile(
    rf"^(?P<word>FAIL|ERROR|UNEXPECTED SUCCESS): {_TEST} \((?P<where>[\w.<>]+)\)"
    r"(?P<sub>.*)$"
)
RAN = re.compile(r"^Ran (?P<count>\d+) tests? in [\d.]+s$")
VERDICT = re.compile(r"^(?P<word>OK|FAILED|NO TESTS RAN)(?: \((?P<counts>[^)]*)\))?$")
FOUND = re.compile(r"^Found (?P<count>\d+) test\(?s?\)?\.$")
_UNLOADED = re.compile(rf" \({_LOADER}[.)]")
NATURAL = frozenset(
    frozenset({outcome, Outcome.ERROR})
    for outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.XFAILED)
)
"""What one test has together: any of these, and then an error in its tearDown."""
FIXTURES = ("setUpClass", "tearDownClass", "setUpModule", "tearDownModule")
SEPARATOR = "=" * 70
LINE = "-" * 70
COUNTS = {
    "failures": "failed",
    "errors": "error",
    "skipped": "skipped",
    "expected failures": "xfailed",
    "unexpected successes": "xpassed",
}


def id_of(test: str, where: str) -> str:
    """The dotted name of a test, which Python 3.11 prints whole and older ones in two parts."""
    if re.match(_LOADER, where):
        return test
    return where if where.endswith(f".{test}") or where == test else f"{where}.{test}"


def is_unloaded(line: str) -> bool:
    """Whether a line is about a module that could not be loaded."""
    return "unittest.loader." in line and _UNLOADED.search(line) is not None


def last_message(text: str) -> str | None:
    """The exception at the end of a Python traceback, with the lines of its message."""
    lines = text.splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith("  ")]
    tail = lines[frames[-1] + 1 :] if frames else lines
    said = [line for line in tail if line.strip()]
    if not said:
        return last_line(text)
    return "\n".join(said[:12])
