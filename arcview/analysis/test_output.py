"""What a test run printed (perhaps cut) → outcome, counts, evidence and the tests that it names.

Pure. The text decides before the exit code: closing line, then progress marks, then error lines,
then the exit code, else unknown.
"""

from __future__ import annotations

import re

from arcview.analysis.test_output_model import ReportedTest, RunOutcome, RunReport
from arcview.analysis.test_output_summaries import ADDITIVE, Summary, compiled, is_red, summaries
from arcview.model.results import Outcome

__all__ = [
    "ReportedTest",
    "RunOutcome",
    "RunReport",
    "crash_line",
    "plain_text",
    "read_assertion_output",
    "read_suite_output",
]

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")


_KEPT_HEAD, _KEPT_TAIL, _TRACEBACK = 100_000, 300_000, 50_000


def plain_text(text: str) -> str:
    """A runner's output without terminal escapes, with plain line ends.

    Of very long output only the head and the tail are read: closing lines come last, and no program
    prints half a million characters for somebody to read them.
    """
    if len(text) > _KEPT_HEAD + _KEPT_TAIL:
        text = f"{text[:_KEPT_HEAD]}\n{text[-_KEPT_TAIL:]}"
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


# Runners that always print a closing line: without one, exit code 0 proves nothing (a test that
# calls `process.exit(0)` ends the whole run with it).
_ALWAYS_SUMS_UP = frozenset(
    {
        "pytest",
        "unittest",
        "jest",
        "vitest",
        "mocha",
        "node",
        "cargo",
        "nextest",
        "go",
        "deno",
        "bun",
    }
)
_NOT_RUN = (
    r"^(?:"
    r".*: (?:command )?not found$|.*: No module named '?\w+'?$(?<!Error: .)"
    r"|.*can't open file .*|.*No rule to make target.*|npm (?:ERR!|error) Missing script.*"
    r"|.*[Nn]o test files? found.*|No tests found, exiting.*|.*error: no such (?:sub)?command.*"
    r"|.*could not determine executable to run.*|ERROR: (?:file or directory )?not found: .*"
    r"|.*Command \"?\S+\"? not found.*|error: Script not found .*|.*command not found: .*"
    r")"
)
_BROKEN = (
    r"^(?:E {3}\S.*|(?:FAILED|ERROR) \S+::.*|ERROR collecting .*"
    r"|ImportError while loading conftest.*|INTERNALERROR> .*"
    r"|ERROR: .*|(?:FAIL|ERROR): \w+ \(.*| *--- FAIL: .*|FAIL[ \t]+\S+.*"
    r"|test \S.* \.\.\. FAILED|error\[E\d+\].*|error: (?:could not compile|(?:doc)?test failed).*"
    r"|panic: .*|thread '.*' (?:\(\d+\) )?panicked at.*|Traceback \(most recent call last\):.*"
    r"|\w*AssertionError.*|.*Segmentation fault.*|Fatal Python error: .*|not ok \d+ .*"
    r"|.*Exception during run: .*| *● +process\.exit called with.*| *● Test suite failed to run.*"
    r"|\+{5,} Timeout \+{5,}|make(?:\[\d+\])?: \*\*\* .*|.*\bFAILURES!.*|\[ERROR\] .*)"
)
_DOTS = r"^(?:\S+\.py:? )?(?P<marks>[.FEsxXRu]+)(?P<percent> +\[ *(?P<done>\d+)%\])? *$"


def read_suite_output(
    text: str,
    *,
    runner: str | None = None,
    exit_code: int | None = None,
    no_error: bool = False,
    several: bool = False,
    redirected: bool = False,
) -> RunReport:
    """Reads what a test runner printed.

    Args:
        text: Everything that the call printed, as far as it was kept.
        runner: The runner that was started, where the command line names it.
        exit_code: Its exit code; null where it is masked or not recorded.
        no_error: The tool reported no error for an unmasked run of which it records no exit code.
        several: The command may have started the runner more than once.
        redirected: Its output went to a file, so that its silence means nothing.
    """
    text = plain_text(text)
    found = _of_runner(summaries(text), runner)
    if found:
        return _from_summaries(text, found, several or runner not in _ALWAYS_SUMS_UP)
    return (
        _from_marks(text, runner)
        or _from_tap(text)
        or _from_error_lines(text)
        or _from_exit(None if redirected else runner, exit_code, no_error=no_error)
    )


def _named_tests(family: str, text: str) -> tuple[ReportedTest, ...]:
    # Its patterns cost 5 ms to compile, and most stages run no test suite.
    from arcview.analysis.test_output_ids import reported_tests

    return reported_tests(family, text)


def _of_runner(found: list[Summary], runner: str | None) -> list[Summary]:
    """The closing lines of the runner itself, else those of the one that spoke last."""
    family = runner if any(summary.family == runner for summary in found) else None
    if family is None and found:
        family = found[-1].family
    return [summary for summary in found if summary.family == family]


def _from_summaries(text: str, found: list[Summary], several: bool) -> RunReport:
    family = found[-1].family
    counted = found if several or family in ADDITIVE else found[-1:]
    red = is_red(family, text)
    worst = next((summary for summary in counted if summary.bad), counted[-1])
    tests = _named_tests(family, text)
    if red or any(summary.bad for summary in counted):
        outcome: RunOutcome = "failed"
    else:
        outcome = "none" if all(summary.empty for summary in counted) else "passed"
    passed, failed, skipped = _summed(counted)
    if family == "go":
        passed, failed, skipped = _go_counts(tests)
    elif family == "unittest" and worst.bad:
        passed = _unittest_passed(text, tests, passed)
    evidence = red if red and not worst.bad else worst.line
    return RunReport(outcome, passed, failed, skipped, evidence.strip(), family, tests)


def _summed(found: list[Summary]) -> tuple[int | None, int | None, int | None]:
    def add(values: list[int | None]) -> int | None:
        known = [value for value in values if value is not None]
        return sum(known) if known else None

    return (
        add([summary.passed for summary in found]),
        add([summary.failed for summary in found]),
        add([summary.skipped for summary in found]),
    )


def _go_counts(tests: tuple[ReportedTest, ...]) -> tuple[int | None, int | None, int | None]:
    """Go names every test only with `-v`; without it the passing ones are not known."""
    counts = {
        outcome: sum(test.outcome is outcome for test in tests)
        for outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED)
    }
    verbose = counts[Outcome.PASSED] > 0
    return (
        counts[Outcome.PASSED] if verbose else None,
        counts[Outcome.FAILED] if tests else None,
        counts[Outcome.SKIPPED] if verbose else None,
    )


def _unittest_passed(
    text: str, tests: tuple[ReportedTest, ...], computed: int | None
) -> int | None:
    """`Ran N` minus the rest is wrong where a fixture failed or a subtest failed twice."""
    named = sum(test.outcome is Outcome.PASSED for test in tests)
    if " ... ok" in text:
        return named
    if re.search(r"^(?:FAIL|ERROR): (?:setUp|tearDown|.*\) [(\[])", text, re.MULTILINE):
        return None
    return computed


def _from_marks(text: str, runner: str | None) -> RunReport | None:
    """Progress marks of a run whose closing line is not there."""
    if runner in ("cargo", "nextest", "go", "jest", "vitest", "mocha", "node"):
        tests = _named_tests(runner, text)
        bad = [test for test in tests if test.outcome in (Outcome.FAILED, Outcome.ERROR)]
        if bad:
            return RunReport("failed", None, None, None, bad[0].id, runner, tests)
        return None
    tests = _named_tests("pytest", text) or _named_tests("unittest", text)
    bad = [test for test in tests if test.outcome in (Outcome.FAILED, Outcome.ERROR)]
    if bad:
        return RunReport("failed", None, None, None, f"{bad[0].id} {bad[0].outcome}", None, tests)
    lines = [
        match
        for match in compiled(_DOTS).finditer(text)
        if match["percent"] or len(match["marks"]) > 2
    ]
    marks = "".join(match["marks"] for match in lines)
    if set(marks) & set("FE"):
        return RunReport("failed", evidence=lines[-1].group(0).strip(), tests=tests)
    if any(match["done"] == "100" for match in lines) and "." in marks:
        passed = marks.count(".")
        return RunReport("passed", passed, 0, None, lines[-1].group(0).strip(), None, tests)
    return None


def _from_tap(text: str) -> RunReport | None:
    """The Test Anything Protocol has no closing line: its plan and its lines decide."""
    plan = re.search(r"^1\.\.(\d+)\b.*$", text, re.MULTILINE)
    tests = _named_tests("tap", text)
    if plan is None or not tests:
        return None
    passed, failed, skipped = (
        sum(test.outcome is outcome for test in tests)
        for outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED)
    )
    lines = re.findall(r"^(not )?ok \d+", text, re.MULTILINE)
    if len(lines) != len(tests):  # names that are used twice
        failed = sum(bool(line) for line in lines)
        passed = len(lines) - failed - skipped
    complete = len(lines) >= int(plan[1])
    outcome: RunOutcome = "failed" if failed else ("passed" if complete else "unknown")
    evidence = f"{plan[0]}: {len(lines)} reported, {failed} not ok"
    return RunReport(outcome, passed, failed, skipped, evidence, "tap", tests)


def _from_error_lines(text: str) -> RunReport | None:
    missing = compiled(_NOT_RUN).search(text)
    broken = compiled(_BROKEN).search(text)
    if missing and (broken is None or missing.start() <= broken.start()):
        return RunReport("none", evidence=missing.group(0).strip())
    if broken:
        line = broken.group(0).strip()
        if line.startswith("Traceback"):
            line = _last_of_traceback(text[broken.start() :])
        return RunReport("failed", evidence=line)
    return None


def _from_exit(runner: str | None, exit_code: int | None, *, no_error: bool) -> RunReport:
    if exit_code is None and not no_error:
        return RunReport("unknown")
    if exit_code not in (None, 0):
        return RunReport("failed", evidence=f"exit code {exit_code}{_signal(exit_code)}")
    if runner in _ALWAYS_SUMS_UP:
        return RunReport("unknown", evidence="no error, but no closing line of the runner either")
    evidence = "exit code 0" if exit_code == 0 else "no exit code recorded, no error reported"
    return RunReport("passed", evidence=evidence)


def _signal(exit_code: int | None) -> str:
    known = {124: "timed out", 137: "killed", 139: "segmentation fault", 143: "terminated"}
    word = known.get(exit_code or 0)
    return f" ({word})" if word else ""


_CRASH = (
    r"^(?:Traceback \(most recent call last\):"
    r"|\w*AssertionError\b.*|(?:Uncaught )?\w*Error: .*(?=\n +at )"
    r"|panic: .*|thread '.*' (?:\(\d+\) )?panicked at.*|Exception in thread .*"
    r"|.*Segmentation fault.*|Fatal Python error: .*|.*\(core dumped\).*|Unhandled exception.*"
    r"|.*: command not found|\S{0,200}python\S{0,9}: (?:can't open file|No module named) .*)"
)
_VERDICT_BAD = (
    r"^.*(?:\b(?:FAIL(?:ED|URE)?|MISMATCH)\b(?!: 0\b|=0)|[✗✘❌✖]|\bNOT OK\b|\bTests? failed\b)"
    r".*$"
)
_NO_FAILURES = re.compile(
    r"\b0 (?:tests? )?fail(?:ed|ures?)\b|\bfail(?:ed|ures?)?[:=] ?0\b", re.IGNORECASE
)
_VERDICT_GOOD = (
    r"^.*(?:\b(?:PASS(?:ED)?|OK|SUCCESS)\b|[✓✔✅]|\b[Aa]ll .*(?:passed|pass|ok|successful)\b"
    r"|\btests? passed\b|\bAll good\b).*$"
)


_CRASH_WORDS = (
    "Traceback (", "Error", "panic: ", "panicked at", "Exception in thread", "Segmentation fault",
    "(core dumped)", "Unhandled exception", ": command not found", "can't open file",
    "No module named",
)  # fmt: skip
_SYNTAX = r"^(?:SyntaxError|IndentationError|TabError): .*"


def crash_line(text: str) -> str | None:
    """The line that shows that a program ended by an error of its own, if one is there."""
    text = plain_text(text)
    if not any(word in text for word in _CRASH_WORDS):  # ten times as fast as the pattern
        return None
    match = compiled(_CRASH).search(text)
    if match is None:
        return _syntax_error(text)
    if match.group(0).startswith("Traceback"):
        return _last_of_traceback(text[match.start() :])
    return match.group(0).strip()


def _syntax_error(text: str) -> str | None:
    """A syntax error of the script itself, for which Python prints no heading.

    The line alone may be what a program prints of an error that it has caught.
    """
    for match in compiled(_SYNTAX).finditer(text):
        if '  File "' in text[max(0, match.start() - 400) : match.start()]:
            return match.group(0).strip()
    return None


def _last_of_traceback(text: str) -> str:
    for line in text[:_TRACEBACK].split("\n")[1:]:
        if line and not line.startswith((" ", "\t")):
            return line.strip()
    return "Traceback (most recent call last):"


def read_assertion_output(
    text: str, *, exit_code: int | None = None, no_error: bool = False, alone: bool = True
) -> RunReport:
    """Reads what a program with assertions of its own printed; it has no counts.

    Args:
        text: Everything that the call printed.
        exit_code: As for `read_suite_output`.
        no_error: As for `read_suite_output`.
        alone: Nothing else ran in the call, so every line is the program's.
    """
    text = plain_text(text)
    if alone:
        crash = crash_line(text)
        if crash:
            return RunReport("failed", evidence=crash)
        for match in compiled(_VERDICT_BAD).finditer(text):
            if not _NO_FAILURES.search(match.group(0)):
                return RunReport("failed", evidence=match.group(0).strip())
    if exit_code is not None and exit_code != 0:
        return RunReport("failed", evidence=f"exit code {exit_code}{_signal(exit_code)}")
    if exit_code == 0:
        return RunReport("passed", evidence="exit code 0")
    if no_error:
        return RunReport("passed", evidence="no exit code recorded, no error reported")
    good = compiled(_VERDICT_GOOD).search(text) if alone else None
    return RunReport("passed", evidence=good.group(0).strip()) if good else RunReport("unknown")
