"""The recorded output of every runner: what each report and each log of it says.

The numbers were read off the files; `test_report_agreement` holds the formats against each other.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from arcview.errors import ArcviewError
from arcview.model.results import UNFINISHED, Outcome, Report
from arcview.readers.registry import find_report_reader

SUMMARIES = {
    "go/build-fail-json/report.jsonl": "go_test error=3 passed=1",
    "go/build-fail-v/stdout.txt": "text_log error=3 passed=1",
    "go/exit-json/report.jsonl": "go_test error=1 failed=1 passed=1",
    "go/exit-v/stdout.txt": "text_log error=1 failed=1 passed=1",
    "go/mixed-json/report.jsonl": "go_test failed=8 passed=16 skipped=1",
    "go/mixed-plain/stdout.txt": "text_log failed=8 doubted=1",
    "go/panic-json/report.jsonl": "go_test error=1 failed=1 passed=3",
    "go/panic-v/stdout.txt": "text_log error=1 failed=1 passed=3",
    "go/timeout-flag-json/report.jsonl": "go_test passed=2 timeout=1",
    "go/timeout-kill-json/report.jsonl": "go_test not_run=1 passed=2 stopped=unknown",
    "jest/collect/junit.xml": "junit passed=1",
    "jest/collect/report.json": "jest_json error=3 passed=1",
    "jest/collect/stderr.txt": "text_log error=3 passed=1",
    "jest/crash/stderr.txt": "text_log stopped=own",
    "jest/mixed/junit.xml": "junit failed=6 passed=9 skipped=1 doubted=1",
    "jest/mixed/report.json": "jest_json failed=6 passed=8 skipped=2 doubted=2",
    "jest/mixed/stderr.txt": "text_log failed=6 passed=8 skipped=2 doubted=1",
    "jest/noverbose/stderr.txt": "text_log failed=6",
    "mocha/collect-json/stderr.txt": "text_log stopped=own",
    "mocha/collect-jsonstream/stderr.txt": "text_log stopped=own",
    "mocha/collect-xunit/stderr.txt": "text_log stopped=own",
    "mocha/crash-spec/stdout.txt": "text_log passed=1 stopped=unknown",
    "mocha/hang-jsonstream/stdout.txt": "mocha_json passed=1 unreported=2 stopped=unknown",
    "mocha/hang-spec/stdout.txt": "text_log passed=1 stopped=unknown",
    "mocha/mixed-json/report.json": "mocha_json error=2 failed=3 passed=6 skipped=3 doubted=2",
    "mocha/mixed-jsonstream/stdout.txt": (
        "mocha_json error=2 failed=3 passed=6 unreported=3 doubted=2"
    ),
    "mocha/mixed-xunit/junit.xml": "junit failed=5 passed=6 skipped=3 doubted=1",
    "nodetest/collect/junit.xml": "junit error=1 passed=1",
    "nodetest/collect/report.tap": "tap error=1 passed=1",
    "nodetest/collect/stdout.txt": "text_log error=1 passed=1",
    "nodetest/crash/junit.xml": "junit passed=1",
    "nodetest/crash/report.tap": "tap passed=1",
    "nodetest/crash/stdout.txt": "text_log passed=1",
    "nodetest/mixed/junit.xml": "junit failed=5 passed=5 skipped=2 timeout=1 doubted=1",
    "nodetest/mixed/report.tap": "tap failed=6 passed=5 skipped=2 timeout=1 doubted=1",
    "nodetest/mixed/stdout.txt": "text_log failed=5 passed=5 skipped=2 timeout=1 doubted=1",
    "python/collection-error/junit.xml": "junit error=2",
    "python/collection-error/reportlog.jsonl": "pytest_reportlog error=2 stopped=own",
    "python/collection-error/stdout.txt": "text_log error=2 unreported=1 stopped=own",
    "python/collection-error-continue/junit.xml": "junit error=2 passed=1",
    "python/collection-error-continue/reportlog.jsonl": "pytest_reportlog error=2 passed=1",
    "python/collection-error-continue/stdout.txt": "text_log error=2 passed=1",
    "python/crash-segv/reportlog.jsonl": (
        "pytest_reportlog failed=1 not_run=1 passed=1 stopped=unknown"
    ),
    "python/crash-segv/stdout.txt": (
        "text_log failed=1 not_run=1 passed=1 unreported=2 stopped=unknown"
    ),
    "python/crash-segv-xdist/junit.xml": "junit failed=2 passed=2",
    "python/crash-segv-xdist/reportlog.jsonl": "pytest_reportlog failed=2 passed=2",
    "python/crash-segv-xdist/stdout.txt": "text_log failed=2 passed=2",
    "python/flaky-reruns/junit.xml": "junit failed=1 passed=2 doubted=1",
    "python/flaky-reruns/reportlog.jsonl": "pytest_reportlog failed=1 passed=2 doubted=1",
    "python/flaky-reruns/stdout.txt": "text_log failed=1 passed=2 doubted=1",
    "python/internalerror/junit.xml": "junit error=1 passed=2 stopped=unknown",
    "python/internalerror/reportlog.jsonl": "pytest_reportlog passed=2 stopped=unknown",
    "python/internalerror/stdout.txt": "text_log unreported=1 stopped=unknown",
    "python/mixed/ctrf.json": "ctrf error=2 failed=10 passed=28 skipped=3 xfailed=2",
    "python/mixed/jsonreport.json": (
        "pytest_json error=3 failed=9 passed=27 skipped=3 xfailed=2 xpassed=1"
    ),
    "python/mixed/junit.xml": "junit error=3 failed=9 passed=28 skipped=3 xfailed=2",
    "python/mixed/reportlog.jsonl": (
        "pytest_reportlog error=3 failed=9 passed=27 skipped=3 xfailed=2 xpassed=1"
    ),
    "python/mixed/stdout.txt": "text_log error=3 failed=9 passed=27 xfailed=2 xpassed=1 doubted=1",
    "python/mixed-color/stdout.txt": (
        "text_log error=3 failed=9 passed=27 skipped=3 xfailed=2 xpassed=1 doubted=1"
    ),
    "python/mixed-xunit1/junit.xml": "junit error=3 failed=9 passed=28 skipped=3 xfailed=2",
    "python/mixed-xunit1/stdout.txt": (
        "text_log error=3 failed=9 passed=27 skipped=3 xfailed=2 xpassed=1 doubted=1"
    ),
    "python/no-tests/junit.xml": "junit",
    "python/no-tests/reportlog.jsonl": "pytest_reportlog",
    "python/no-tests/stdout.txt": "text_log",
    "python/pytest-timeout-signal/junit.xml": "junit failed=2 passed=2",
    "python/pytest-timeout-signal/reportlog.jsonl": "pytest_reportlog failed=2 passed=2",
    "python/pytest-timeout-signal/stdout.txt": "text_log failed=2 passed=2",
    "python/pytest-timeout-thread/reportlog.jsonl": (
        "pytest_reportlog failed=1 not_run=1 passed=1 stopped=unknown"
    ),
    "python/pytest-timeout-thread/stdout.txt": (
        "text_log failed=1 passed=1 timeout=1 unreported=2 stopped=own"
    ),
    "python/select-param-ids/junit.xml": "junit passed=3",
    "python/select-param-ids/reportlog.jsonl": "pytest_reportlog passed=3",
    "python/select-param-ids/stdout.txt": "text_log passed=3",
    "python/timeout-kill/reportlog.jsonl": (
        "pytest_reportlog failed=1 not_run=1 passed=1 stopped=unknown"
    ),
    "python/timeout-kill/stdout.txt": (
        "text_log failed=1 not_run=1 passed=1 unreported=2 stopped=unknown"
    ),
    "python/timeout-sigterm/reportlog.jsonl": (
        "pytest_reportlog failed=1 not_run=1 passed=1 stopped=unknown"
    ),
    "python/timeout-sigterm/stdout.txt": (
        "text_log failed=1 not_run=1 passed=1 unreported=2 stopped=unknown"
    ),
    "python/unittest-runner/stderr.txt": (
        "text_log error=3 failed=2 passed=2 skipped=1 xfailed=1 xpassed=1"
    ),
    "rust/abort-json/report.jsonl": "libtest not_run=5 passed=1 unreported=7 stopped=own",
    "rust/abort-json/stderr.txt": "text_log stopped=own",
    "rust/abort-nextest/junit.xml": "junit failed=2 passed=6",
    "rust/abort-nextest/stderr.txt": "text_log failed=2 passed=6",
    "rust/compile-json/stderr.txt": "text_log stopped=own",
    "rust/compile-nextest/stderr.txt": "text_log stopped=own",
    "rust/hang-json/report.jsonl": "libtest not_run=1 passed=2 unreported=1 stopped=unknown",
    "rust/hang-nextest/stderr.txt": "text_log passed=2 unreported=1 stopped=unknown",
    "rust/hang-nextest-sigterm/junit.xml": "junit failed=1 passed=2",
    "rust/hang-nextest-sigterm/stderr.txt": "text_log failed=1 passed=2 stopped=unknown",
    "rust/hang-nextest-slowtimeout/junit.xml": "junit passed=2 timeout=1",
    "rust/hang-nextest-slowtimeout/stderr.txt": "text_log passed=2 timeout=1",
    "rust/mixed-1thread/stdout.txt": "text_log failed=5 passed=12 skipped=1 doubted=1",
    "rust/mixed-color/stdout.txt": "text_log failed=5 passed=12 skipped=1",
    "rust/mixed-failfast/stderr.txt": "text_log stopped=own",
    "rust/mixed-failfast/stdout.txt": "text_log failed=3 passed=8 skipped=1",
    "rust/mixed-json/report.jsonl": "libtest failed=5 passed=12 skipped=1",
    "rust/mixed-nextest/junit.xml": "junit failed=4 passed=10",
    "rust/mixed-nextest/stderr.txt": "text_log failed=4 passed=10",
    "rust/mixed-nextest-libtestjson/report.jsonl": "libtest failed=4 passed=10 skipped=1",
    "rust/mixed-nextest-libtestjson/stderr.txt": "text_log failed=4 passed=10",
    "rust/mixed-text/stdout.txt": "text_log failed=5 passed=12 skipped=1",
    "vitest/collect/junit.xml": "junit error=2 passed=2",
    "vitest/collect/report.json": "jest_json error=2 passed=2",
    "vitest/collect/stderr.txt": "text_log error=2",
    "vitest/collect/stdout.txt": "text_log passed=2",
    "vitest/color/stderr.txt": "text_log failed=4",
    "vitest/color/stdout.txt": "text_log failed=4 passed=10 skipped=4 doubted=1",
    "vitest/default-reporter/stderr.txt": "text_log failed=4",
    "vitest/default-reporter/stdout.txt": "text_log failed=4 passed=9 skipped=4 doubted=2",
    "vitest/hang/stdout.txt": "text_log stopped=unknown",
    "vitest/tap/stdout.txt": "tap failed=4 passed=10 skipped=4 doubted=1",
}
"""File → format, tests by outcome, announced tests without a result, outcomes in doubt, and whether
the run ended early, by the tests' own doing or for unknown reasons."""

NO_RESULTS = {
    "go/build-fail-json/stderr.txt",
    "go/build-fail-v/stderr.txt",
    "mocha/mixed-json/stdout.txt",
    "mocha/mixed-xunit/stdout.txt",
    "nodetest/collect/stderr.txt",
    "nodetest/crash/stderr.txt",
    "nodetest/mixed/stderr.txt",
    "python/collection-error/stderr.txt",
    "python/collection-error-continue/stderr.txt",
    "python/crash-segv/stderr.txt",
    "python/crash-segv-xdist/stderr.txt",
    "python/flaky-reruns/stderr.txt",
    "python/internalerror/stderr.txt",
    "python/mixed/stderr.txt",
    "python/mixed-color/stderr.txt",
    "python/mixed-xunit1/stderr.txt",
    "python/no-tests/stderr.txt",
    "python/pytest-timeout-signal/stderr.txt",
    "python/pytest-timeout-thread/stderr.txt",
    "python/select-param-ids/stderr.txt",
    "python/timeout-kill/stderr.txt",
    "python/timeout-sigterm/stderr.txt",
    "python/unittest-runner/stdout.txt",
    "rust/hang-json/stderr.txt",
    "rust/mixed-1thread/stderr.txt",
    "rust/mixed-color/stderr.txt",
    "rust/mixed-json/stderr.txt",
    "rust/mixed-text/stderr.txt",
}
"""Warnings, compiler output and prints: nothing in them comes from a test."""


def read(path: Path) -> Report:
    reader, _ = find_report_reader(path)
    return reader.read(path)


def summary(report: Report) -> str:
    counts = Counter(test.outcome.value for test in report.tests)
    parts = [report.format, *(f"{name}={count}" for name, count in sorted(counts.items()))]
    if report.unreported:
        parts.append(f"unreported={report.unreported}")
    if doubted := sum(test.conflict is not None for test in report.tests):
        parts.append(f"doubted={doubted}")
    if report.stopped is not None:
        parts.append(f"stopped={'own' if report.stopped.own_doing else 'unknown'}")
    return " ".join(parts)


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_recorded_file_says_what_happened(cases: Path, name: str) -> None:
    assert summary(read(cases / "logs" / name)) == SUMMARIES[name]


@pytest.mark.parametrize("name", sorted(NO_RESULTS))
def test_a_file_without_results_is_no_report(cases: Path, name: str) -> None:
    with pytest.raises(ArcviewError):
        read(cases / "logs" / name)


def test_no_recorded_file_is_left_out(cases: Path) -> None:
    folder = cases / "logs"
    files = {
        path.relative_to(folder).as_posix()
        for path in folder.glob("*/*/*")
        if path.name != "meta.json" and path.stat().st_size
    }
    assert files == SUMMARIES.keys() | NO_RESULTS


@pytest.mark.parametrize("name", ["mocha/crash-xunit/junit.xml", "vitest/hang/junit.xml"])
def test_an_empty_report_is_bad_input(cases: Path, name: str) -> None:
    with pytest.raises(ArcviewError, match="the file is empty"):
        read(cases / "logs" / name)


@pytest.mark.parametrize("name", [n for n, text in SUMMARIES.items() if "text_log" in text])
def test_every_scraped_outcome_has_a_line_of_the_log(cases: Path, name: str) -> None:
    report = read(cases / "logs" / name)
    assert report.is_scraped
    assert all(test.evidence for test in report.tests)


@pytest.mark.parametrize(
    ("name", "test_id", "outcome"),
    [
        ("python/crash-segv/reportlog.jsonl", "test_crash.py::test_segv", Outcome.NOT_RUN),
        ("python/crash-segv/stdout.txt", "test_crash.py::test_segv", Outcome.NOT_RUN),
        ("python/timeout-kill/stdout.txt", "test_hang.py::test_hang", Outcome.NOT_RUN),
        ("python/pytest-timeout-thread/stdout.txt", "test_hang.py::test_hang", Outcome.TIMEOUT),
        ("go/panic-json/report.jsonl", "ex.com/p/g TestGoroutinePanic", Outcome.ERROR),
        ("go/panic-v/stdout.txt", "ex.com/p/g TestGoroutinePanic", Outcome.ERROR),
        ("go/timeout-flag-json/report.jsonl", "ex.com/p/a TestHang", Outcome.TIMEOUT),
        ("go/timeout-kill-json/report.jsonl", "ex.com/p/a TestHang", Outcome.NOT_RUN),
        ("rust/hang-json/report.jsonl", "t::b_hang", Outcome.NOT_RUN),
        ("rust/abort-json/report.jsonl", "so", Outcome.NOT_RUN),
    ],
)
def test_a_test_that_started_and_did_not_end_is_told_apart(
    cases: Path, name: str, test_id: str, outcome: Outcome
) -> None:
    test = next(test for test in read(cases / "logs" / name).tests if test.id == test_id)
    assert (test.outcome, test.reported) == (outcome, UNFINISHED)


def test_a_crash_that_the_same_log_tells_is_the_fault_of_the_running_test(
    cases: Path, tmp_path: Path
) -> None:
    folder = cases / "logs/python/crash-segv"
    log = tmp_path / "log.txt"
    log.write_bytes((folder / "stdout.txt").read_bytes() + (folder / "stderr.txt").read_bytes())
    report = read(log)
    assert report.stopped is not None
    assert report.stopped.own_doing
    test = report.tests[-1]
    assert (test.id, test.outcome) == ("test_crash.py::test_segv", Outcome.ERROR)
    assert test.message == "crashed: Fatal Python error: Segmentation fault"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("python/collection-error/reportlog.jsonl", "test_imp.py::test_a"),
        ("python/collection-error/reportlog.jsonl", "test_fine.py::test_a"),
        ("python/collection-error-continue/junit.xml", "test_imp.py::test_a"),
        ("python/collection-error-continue/stdout.txt", "test_syn.py::test_x"),
        ("jest/collect/report.json", "/repo/bad.test.js > a"),
        ("vitest/collect/junit.xml", "syn.test.ts > a"),
        ("go/build-fail-json/report.jsonl", "ex.com/p/a TestA"),
        ("go/build-fail-v/stdout.txt", "ex.com/p/v TestV"),
        ("python/unittest-runner/stderr.txt", "test_u.S.test_never"),
        ("rust/compile-json/stderr.txt", "tests::a"),
        ("mocha/mixed-json/report.json", "hook > h2"),
    ],
)
def test_tests_of_what_could_not_be_loaded_were_not_run(
    cases: Path, name: str, expected: str
) -> None:
    outcome, why = read(cases / "logs" / name).unnamed(expected)
    assert outcome is Outcome.NOT_RUN
    assert why


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("python/collection-error-continue/junit.xml", "test_fine.py::test_gone"),
        ("python/mixed/reportlog.jsonl", "test_mixed.py::test_gone"),
        ("go/build-fail-json/report.jsonl", "ex.com/p/b TestGone"),
        ("go/build-fail-json/report.jsonl", "ex.com/p/apart TestGone"),
        ("jest/collect/report.json", "/repo/fine.test.js > gone"),
    ],
)
def test_a_test_that_a_whole_run_does_not_name_is_missing(
    cases: Path, name: str, expected: str
) -> None:
    assert read(cases / "logs" / name).unnamed(expected) == (Outcome.MISSING, None)


@pytest.mark.parametrize(
    ("name", "test_id", "told"),
    [
        ("python/mixed/stdout.txt", "test_mixed.py::test_fail", "line 9"),
        ("python/mixed-xunit1/stdout.txt", "test_mixed.py::test_fail", "line 56"),
        ("go/mixed-plain/stdout.txt", "ex.com/p/a TestFail", "no newline at end--- PASS"),
        ("rust/mixed-1thread/stdout.txt", "tests::fails", "test tests::fails ... ok"),
    ],
)
def test_a_printed_pass_of_a_failed_test_is_told_as_a_conflict(
    cases: Path, name: str, test_id: str, told: str
) -> None:
    test = next(test for test in read(cases / "logs" / name).tests if test.id == test_id)
    assert test.outcome is Outcome.FAILED
    assert told in (test.conflict or "")


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("jest/mixed/stderr.txt", "✓ forged"),
        ("jest/noverbose/stderr.txt", "✓ forged"),
        ("vitest/color/stdout.txt", "m.test.ts > forged"),
        ("vitest/default-reporter/stdout.txt", "m.test.ts > forged"),
    ],
)
def test_a_printed_test_is_no_test(cases: Path, name: str, printed: str) -> None:
    report = read(cases / "logs" / name)
    assert not any("forged" in test.id for test in report.tests)
    assert any(printed in note for note in report.notes)


def test_an_error_outside_of_tests_is_told(cases: Path) -> None:
    report = read(cases / "logs/vitest/default-reporter/stdout.txt")
    assert any(note.startswith("1 error outside of tests") for note in report.notes)


def test_a_file_that_node_reports_as_a_whole_is_told(cases: Path) -> None:
    for name in ("junit.xml", "report.tap", "stdout.txt"):
        notes = read(cases / "logs/nodetest/crash" / name).notes
        assert any("/repo/c.test.js is reported as a whole" in note for note in notes)


def test_messages_are_those_of_the_failures(cases: Path) -> None:
    told = {
        "python/mixed/stdout.txt": ("test_mixed.py::test_setup_error", "RuntimeError: setup boom"),
        "go/mixed-json/report.jsonl": ("ex.com/p/a TestSub/x/y", "a_test.go:8: sub fail"),
        "rust/mixed-text/stdout.txt": (
            "tests::fails",
            "assertion `left == right` failed: bad - sum\n  left: 3\n right: 4",
        ),
        "jest/mixed/stderr.txt": (
            'm.test.js > outer > a > inner "q" é✓ > dup',
            "second dup fails",
        ),
        "vitest/default-reporter/stderr.txt": (
            "m.test.ts > outer > a > each 2 [x]",
            "AssertionError: expected 2 to be 1 // Object.is equality\n\n"
            "- Expected\n+ Received\n\n- 1\n+ 2",
        ),
    }
    for name, (test_id, message) in told.items():
        test = next(test for test in read(cases / "logs" / name).tests if test.id == test_id)
        assert test.message == message
