"""Reports and logs of the same test project say the same of every test, or the reason is known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

from arcview.model.results import Outcome, Report
from arcview.readers.registry import find_report_reader
from arcview.readers.reports.identity import match

BAD = {Outcome.FAILED, Outcome.ERROR, Outcome.TIMEOUT}


NOTHING: Mapping[str, str] = MappingProxyType({})


class Pair(NamedTuple):
    """Two files of one project."""

    first: str
    second: str
    only_first: Mapping[str, str] = NOTHING
    """Id → why the second does not name it."""
    only_second: Mapping[str, str] = NOTHING
    differ: Mapping[str, str] = NOTHING
    """Id → why the outcomes differ."""


NO_ID = "skips have a place and no id in the short summary"
XPASS = "JUnit and CTRF have no word for it"
SUITE = "node writes a test with subtests as a suite into JUnit and spec"
LINE_END = "node drops the line end of a title in JUnit"
QUIET = "without -v go prints only what failed"
FILE_PASSED = "the default reporter folds files without failures"
SIGNAL = "pytest-timeout ends the process after it printed that; the log has the start only"

SKIPS = {
    f"test_mixed.py::{name}": NO_ID
    for name in ("test_skip", "test_skip_inside", "TestU::test_skipped")
}
GO_PASSED = {
    f"ex.com/p/{name}": QUIET
    for name in (
        "a TestPass", "a TestSkip", "a TestSub/a_b", "a TestSub/é✓", "a TestSub/#hash",
        "a TestSub/#00", "a TestSub/dup", "a TestSub/dup#01",
        "a TestSub/---_PASS:_TestForged_(0.00s)", "a TestParallel1", "a TestParallel2",
        "a TestNoNewline", "a TestForge", "a FuzzX", "a FuzzX/seed#0", "a Example_good",
        "b TestPass",
    )
}  # fmt: skip
NOT_IN_QUIET_JEST = (
    'outer > a > inner "q" é✓ > passes', "outer > a > skipped", "outer > a > todo later",
    "outer > a > expected to fail", "outer > a > each 1 a b", "outer > a >   lead trail  ",
    "outer > a > new\nline <&>", "outer > a > \x1b[31mred\x1b[0m", "retry me",
)  # fmt: skip

PAIRS = [
    Pair("python/mixed/reportlog.jsonl", "python/mixed/jsonreport.json"),
    Pair(
        "python/mixed/reportlog.jsonl",
        "python/mixed/junit.xml",
        differ={"test_mixed.py::test_xpass": XPASS},
    ),
    Pair(
        "python/mixed/reportlog.jsonl",
        "python/mixed/ctrf.json",
        differ={"test_mixed.py::test_xpass": XPASS},
    ),
    Pair("python/mixed/reportlog.jsonl", "python/mixed/stdout.txt", only_first=SKIPS),
    Pair("python/mixed/reportlog.jsonl", "python/mixed-color/stdout.txt"),
    Pair("python/mixed/reportlog.jsonl", "python/mixed-xunit1/stdout.txt"),
    Pair(
        "python/mixed/reportlog.jsonl",
        "python/mixed-xunit1/junit.xml",
        differ={"test_mixed.py::test_xpass": XPASS},
    ),
    Pair("python/collection-error/reportlog.jsonl", "python/collection-error/junit.xml"),
    Pair("python/collection-error/reportlog.jsonl", "python/collection-error/stdout.txt"),
    Pair(
        "python/collection-error-continue/reportlog.jsonl",
        "python/collection-error-continue/junit.xml",
    ),
    Pair(
        "python/collection-error-continue/reportlog.jsonl",
        "python/collection-error-continue/stdout.txt",
    ),
    Pair("python/crash-segv/reportlog.jsonl", "python/crash-segv/stdout.txt"),
    Pair("python/crash-segv-xdist/reportlog.jsonl", "python/crash-segv-xdist/junit.xml"),
    Pair("python/crash-segv-xdist/reportlog.jsonl", "python/crash-segv-xdist/stdout.txt"),
    Pair("python/flaky-reruns/reportlog.jsonl", "python/flaky-reruns/junit.xml"),
    Pair("python/flaky-reruns/reportlog.jsonl", "python/flaky-reruns/stdout.txt"),
    Pair(
        "python/internalerror/reportlog.jsonl",
        "python/internalerror/junit.xml",
        only_second={"pytest internal": "JUnit has an entry for the error of pytest itself"},
    ),
    Pair(
        "python/internalerror/reportlog.jsonl",
        "python/internalerror/stdout.txt",
        only_first={
            "test_i.py::test_a": "dots have no names",
            "test_i.py::test_boom": "dots have no names",
        },
    ),
    Pair("python/no-tests/reportlog.jsonl", "python/no-tests/junit.xml"),
    Pair("python/no-tests/reportlog.jsonl", "python/no-tests/stdout.txt"),
    Pair("python/pytest-timeout-signal/reportlog.jsonl", "python/pytest-timeout-signal/junit.xml"),
    Pair("python/pytest-timeout-signal/reportlog.jsonl", "python/pytest-timeout-signal/stdout.txt"),
    Pair(
        "python/pytest-timeout-thread/reportlog.jsonl",
        "python/pytest-timeout-thread/stdout.txt",
        differ={"test_hang.py::test_hang": SIGNAL},
    ),
    Pair("python/select-param-ids/reportlog.jsonl", "python/select-param-ids/junit.xml"),
    Pair("python/select-param-ids/reportlog.jsonl", "python/select-param-ids/stdout.txt"),
    Pair("python/timeout-kill/reportlog.jsonl", "python/timeout-kill/stdout.txt"),
    Pair("python/timeout-sigterm/reportlog.jsonl", "python/timeout-sigterm/stdout.txt"),
    Pair("go/build-fail-json/report.jsonl", "go/build-fail-v/stdout.txt"),
    Pair("go/exit-json/report.jsonl", "go/exit-v/stdout.txt"),
    Pair("go/mixed-json/report.jsonl", "go/mixed-plain/stdout.txt", only_first=GO_PASSED),
    Pair("go/panic-json/report.jsonl", "go/panic-v/stdout.txt"),
    Pair("rust/mixed-json/report.jsonl", "rust/mixed-text/stdout.txt"),
    Pair("rust/mixed-json/report.jsonl", "rust/mixed-color/stdout.txt"),
    Pair("rust/mixed-json/report.jsonl", "rust/mixed-1thread/stdout.txt"),
    Pair("rust/mixed-nextest/junit.xml", "rust/mixed-nextest/stderr.txt"),
    Pair(
        "rust/mixed-nextest-libtestjson/report.jsonl",
        "rust/mixed-nextest-libtestjson/stderr.txt",
        only_first={"p::p$tests::ignored": "nextest only counts what it leaves out"},
    ),
    Pair(
        "rust/mixed-nextest-libtestjson/report.jsonl",
        "rust/mixed-nextest/junit.xml",
        only_first={"p::p$tests::ignored": "nextest only counts what it leaves out"},
    ),
    Pair("rust/abort-nextest/junit.xml", "rust/abort-nextest/stderr.txt"),
    Pair("rust/hang-nextest-sigterm/junit.xml", "rust/hang-nextest-sigterm/stderr.txt"),
    Pair("rust/hang-nextest-slowtimeout/junit.xml", "rust/hang-nextest-slowtimeout/stderr.txt"),
    Pair("jest/mixed/report.json", "jest/mixed/stderr.txt"),
    Pair(
        "jest/mixed/report.json",
        "jest/noverbose/stderr.txt",
        only_first={
            **{
                f"/repo/m.test.js > {title}": "quiet jest names what failed"
                for title in NOT_IN_QUIET_JEST
            },
            "/repo/ok.test.js > passes": "quiet jest names what failed",
        },
    ),
    Pair("jest/collect/report.json", "jest/collect/stderr.txt"),
    Pair("vitest/collect/report.json", "vitest/collect/junit.xml"),
    Pair(
        "vitest/color/stdout.txt",
        "vitest/default-reporter/stdout.txt",
        only_first={"ok.test.ts > passes": FILE_PASSED},
    ),
    Pair("vitest/tap/stdout.txt", "vitest/color/stdout.txt"),
    Pair(
        "mocha/mixed-json/report.json",
        "mocha/mixed-jsonstream/stdout.txt",
        only_first={
            f"outer > a > {name}": "the stream has no event for pending tests"
            for name in ("skipped", "pending", "skip inside")
        },
    ),
    Pair("mocha/mixed-json/report.json", "mocha/mixed-xunit/junit.xml"),
    Pair(
        "nodetest/mixed/report.tap",
        "nodetest/mixed/junit.xml",
        only_first={"sub": SUITE, r"outer > a > new\nline <&>": LINE_END},
        only_second={"outer > a > newline <&>": LINE_END},
    ),
    Pair(
        "nodetest/mixed/report.tap",
        "nodetest/mixed/stdout.txt",
        only_first={"sub": SUITE},
    ),
    Pair("nodetest/collect/report.tap", "nodetest/collect/junit.xml"),
    Pair("nodetest/collect/report.tap", "nodetest/collect/stdout.txt"),
    Pair("nodetest/crash/report.tap", "nodetest/crash/junit.xml"),
    Pair("nodetest/crash/report.tap", "nodetest/crash/stdout.txt"),
]


def read(path: Path) -> Report:
    reader, _ = find_report_reader(path)
    return reader.read(path)


def kind(outcome: Outcome) -> str:
    return "bad" if outcome in BAD else outcome.value


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.first}~{pair.second}")
def test_two_files_of_one_run_agree_on_every_test(cases: Path, pair: Pair) -> None:
    first, second = (read(cases / "logs" / name) for name in (pair.first, pair.second))
    matching = match(second, [test.id for test in first.tests])
    missing = {test.id for test in first.tests} - matching.found.keys()
    assert missing == pair.only_first.keys()
    assert {test.id for test in matching.rest} == pair.only_second.keys()
    differing = {
        test.id
        for test in first.tests
        if test.id in matching.found and kind(matching.found[test.id].outcome) != kind(test.outcome)
    }
    assert differing == pair.differ.keys()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.first}~{pair.second}")
def test_no_difference_makes_a_failure_a_pass(cases: Path, pair: Pair) -> None:
    first, second = (read(cases / "logs" / name) for name in (pair.first, pair.second))
    found = match(second, [test.id for test in first.tests]).found
    bad = {test.id for test in first.tests if test.outcome in BAD}
    assert not {name for name, test in found.items() if test.outcome is Outcome.PASSED} & bad


def test_the_logs_of_a_harness_agree_with_its_reports(cases: Path) -> None:
    folder = cases / "formats" / "swe-bench-harness"
    logs = sorted(folder.glob("**/test_output.txt"))
    assert len(logs) == 3
    for log in logs:
        report = read(log.parent / "report.json")
        found = match(read(log), [test.id for test in report.tests]).found
        assert {test.id: test.outcome for test in report.tests} == {
            test_id: test.outcome for test_id, test in found.items()
        }
