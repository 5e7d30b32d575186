"""The recorded output of every runner, read; the right answers are those of its own reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arcview.analysis.test_output import RunReport, read_suite_output
from arcview.model.results import Outcome

# (case, outcome, passed, failed, skipped); failed holds errors, cancelled and timed-out tests too.
# Counts are null where the runner printed no closing line (it crashed, was killed, or wrote its
# report to a file).
CASES: list[tuple[str, str, int | None, int | None, int | None]] = [
    ("go/build-fail-json", "failed", None, None, None),
    ("go/build-fail-v", "failed", 1, 0, 0),
    ("go/exit-json", "failed", None, None, None),
    ("go/exit-v", "failed", 1, 1, 0),
    ("go/mixed-json", "failed", None, None, None),
    ("go/mixed-plain", "failed", None, 8, None),
    ("go/panic-json", "failed", None, None, None),
    ("go/panic-v", "failed", 3, 1, 0),
    ("go/timeout-flag-json", "failed", None, None, None),
    ("go/timeout-kill-json", "failed", None, None, None),
    ("jest/collect", "failed", 1, 0, 0),
    ("jest/crash", "failed", None, None, None),
    ("jest/mixed", "failed", 9, 6, 2),
    ("jest/noverbose", "failed", 9, 6, 2),
    ("mocha/collect-json", "failed", None, None, None),
    ("mocha/collect-jsonstream", "failed", None, None, None),
    ("mocha/collect-xunit", "failed", None, None, None),
    # A test called process.exit(0): exit code 0, and nothing says that all is well.
    ("mocha/crash-json", "unknown", None, None, None),
    ("mocha/crash-spec", "unknown", None, None, None),
    ("mocha/crash-xunit", "unknown", None, None, None),
    ("mocha/hang-jsonstream", "failed", None, None, None),
    ("mocha/hang-spec", "failed", None, None, None),
    ("mocha/mixed-json", "failed", None, None, None),
    ("mocha/mixed-jsonstream", "failed", 7, 5, 3),
    ("mocha/mixed-xunit", "failed", None, None, None),
    ("nodetest/collect", "failed", 1, 1, 0),
    ("nodetest/crash", "passed", 1, 0, 0),
    ("nodetest/mixed", "failed", 6, 7, 1),
    ("python/collection-error", "failed", 0, 2, 0),
    ("python/collection-error-continue", "failed", 1, 2, 0),
    ("python/crash-segv", "failed", None, None, None),
    ("python/crash-segv-xdist", "failed", 2, 2, 0),
    ("python/flaky-reruns", "failed", 2, 1, 0),
    ("python/internalerror", "failed", 2, 0, 0),
    ("python/mixed", "failed", 29, 15, 3),
    ("python/mixed-color", "failed", 29, 15, 3),
    ("python/mixed-xunit1", "failed", 29, 15, 3),
    ("python/no-tests", "none", 0, 0, None),
    ("python/pytest-timeout-signal", "failed", 2, 2, 0),
    ("python/pytest-timeout-thread", "failed", None, None, None),
    ("python/select-param-ids", "passed", 3, 0, 0),
    ("python/timeout-kill", "failed", None, None, None),
    ("python/timeout-sigterm", "failed", None, None, None),
    ("python/unittest-runner", "failed", 2, 6, 1),
    ("rust/abort-json", "failed", None, None, None),
    ("rust/abort-nextest", "failed", 6, 2, 0),
    ("rust/compile-json", "failed", None, None, None),
    ("rust/compile-nextest", "failed", None, None, None),
    ("rust/hang-json", "failed", None, None, None),
    ("rust/hang-nextest", "failed", None, None, None),
    ("rust/hang-nextest-sigterm", "failed", 2, 1, 0),
    ("rust/hang-nextest-slowtimeout", "failed", 2, 1, 0),
    ("rust/mixed-1thread", "failed", 13, 5, 1),
    ("rust/mixed-color", "failed", 13, 5, 1),
    ("rust/mixed-failfast", "failed", 8, 3, 1),
    ("rust/mixed-json", "failed", None, None, None),
    ("rust/mixed-nextest", "failed", 10, 4, 1),
    ("rust/mixed-nextest-libtestjson", "failed", 10, 4, 1),
    ("rust/mixed-text", "failed", 13, 5, 1),
    ("vitest/collect", "failed", 2, 0, 0),
    ("vitest/color", "failed", 11, 4, 4),
    ("vitest/default-reporter", "failed", 11, 4, 4),
    ("vitest/hang", "failed", None, None, None),
    ("vitest/tap", "failed", 11, 4, 4),
]
# What only the exit code tells: with a masked one these are unknown, never passed.
ONLY_BY_EXIT_CODE = {
    "go/build-fail-json",
    "go/exit-json",
    "go/mixed-json",
    "go/panic-json",
    "go/timeout-flag-json",
    "go/timeout-kill-json",
    "mocha/crash-json",
    "mocha/crash-spec",
    "mocha/crash-xunit",
    "mocha/hang-jsonstream",
    "mocha/hang-spec",
    "mocha/mixed-json",
    "mocha/mixed-xunit",
    "rust/hang-json",
    "rust/hang-nextest",
    "vitest/hang",
}
RUNNERS = {"python": "pytest", "rust": "cargo", "nodetest": "node"}


def text(cases: Path, case: str) -> str:
    folder = cases / "logs" / case
    return "\n".join(
        (folder / name).read_text("utf-8", "replace") for name in ("stdout.txt", "stderr.txt")
    )


def report(cases: Path, case: str, *, masked: bool = False) -> RunReport:
    meta = json.loads((cases / "logs" / case / "meta.json").read_text("utf-8"))
    runner = RUNNERS.get(meta["lang"], meta["lang"])
    if "nextest" in meta["cmd"]:
        runner = "nextest"
    if "unittest" in meta["cmd"]:
        runner = "unittest"
    exit_code = None if masked else meta["exit_code"]
    redirected = "> /out/" in meta["cmd"]
    return read_suite_output(
        text(cases, case), runner=runner, exit_code=exit_code, redirected=redirected
    )


@pytest.mark.parametrize(
    ("case", "outcome", "passed", "failed", "skipped"), CASES, ids=[case[0] for case in CASES]
)
def test_outcome_and_counts_are_those_of_the_run(
    cases: Path,
    case: str,
    outcome: str,
    passed: int | None,
    failed: int | None,
    skipped: int | None,
) -> None:
    found = report(cases, case)
    assert (found.outcome, found.passed, found.failed, found.skipped) == (
        outcome,
        passed,
        failed,
        skipped,
    )


@pytest.mark.parametrize(("case", "outcome"), [(case[0], case[1]) for case in CASES])
def test_a_masked_exit_code_is_never_needed_for_a_wrong_answer(
    cases: Path, case: str, outcome: str
) -> None:
    expected = "unknown" if case in ONLY_BY_EXIT_CODE else outcome
    assert report(cases, case, masked=True).outcome == expected


def test_every_recorded_log_is_in_the_table(cases: Path) -> None:
    recorded = {
        str(path.parent.relative_to(cases / "logs")) for path in cases.glob("logs/*/*/meta.json")
    }
    assert recorded == {case[0] for case in CASES}


@pytest.mark.parametrize("case", [case[0] for case in CASES if case[1] != "unknown"])
def test_every_outcome_has_its_evidence(cases: Path, case: str) -> None:
    assert report(cases, case).evidence


def reported_by_pytest(folder: Path) -> dict[str, str]:
    """The worst outcome of each test in a pytest-reportlog."""
    worst: dict[str, str] = {}
    ranks = ["rerun", "skipped", "passed", "xfailed", "xpassed", "failed", "error"]
    for line in (folder / "reportlog.jsonl").read_text("utf-8").splitlines():
        event = json.loads(line)
        kind = event.get("$report_type")
        if kind != "TestReport" and not (kind == "SubTestReport" and event["outcome"] == "failed"):
            continue
        outcome, name = event["outcome"], event["nodeid"]
        if "wasxfail" in event:
            outcome = {"skipped": "xfailed", "passed": "xpassed"}.get(outcome, outcome)
        if event["when"] != "call" and outcome == "failed":
            outcome = "error"
        if event["when"] != "call" and outcome == "passed":
            continue
        if name not in worst or ranks.index(outcome) > ranks.index(worst[name]):
            worst[name] = outcome
    return worst


@pytest.mark.parametrize(
    ("case", "log", "unnamed"),
    [
        # Skipped tests have no id in a summary; `-v` names everything.
        ("python/mixed", "python/mixed", 3),
        ("python/mixed-color", "python/mixed", 0),
        ("python/mixed-xunit1", "python/mixed", 0),
        ("python/crash-segv", "python/crash-segv", 0),
        ("python/flaky-reruns", "python/flaky-reruns", 0),
        ("python/pytest-timeout-signal", "python/pytest-timeout-signal", 0),
        ("python/select-param-ids", "python/select-param-ids", 0),
        ("python/timeout-kill", "python/timeout-kill", 0),
    ],
)
def test_pytest_ids_agree_with_its_report(cases: Path, case: str, log: str, unnamed: int) -> None:
    truth = reported_by_pytest(cases / "logs" / log)
    found = {test.id: test.outcome.value for test in report(cases, case).tests}
    assert {name: truth.get(name) for name in found} == found
    assert len(truth) - len(found) == unnamed


@pytest.mark.parametrize(
    ("case", "log", "unnamed"),
    [
        ("go/mixed-plain", "go/mixed-json", 17),  # without -v only the failing ones are named
        ("go/panic-v", "go/panic-json", 0),
        ("go/exit-v", "go/exit-json", 0),
        ("go/build-fail-v", "go/build-fail-json", 0),
    ],
)
def test_go_names_agree_with_its_report(cases: Path, case: str, log: str, unnamed: int) -> None:
    words = {"pass": "passed", "fail": "failed", "skip": "skipped"}
    truth = {}
    for line in (cases / "logs" / log / "report.jsonl").read_text("utf-8").splitlines():
        event = json.loads(line)
        if event["Action"] in words and event.get("Test"):
            truth[f"{event['Package']} {event['Test']}"] = words[event["Action"]]
    found = {test.id: test.outcome.value for test in report(cases, case).tests}
    assert {name: truth.get(name) for name in found} == found
    assert len(truth) - len(found) == unnamed


@pytest.mark.parametrize("case", ["rust/mixed-text", "rust/mixed-color", "rust/mixed-1thread"])
def test_cargo_names_agree_with_its_report(cases: Path, case: str) -> None:
    words = {"ok": "passed", "failed": "failed", "ignored": "skipped"}
    truth: dict[str, str] = {}
    log = (cases / "logs/rust/mixed-json/report.jsonl").read_text("utf-8", "replace")
    for line in log.splitlines():
        _, brace, rest = line.partition("{")
        try:
            event = json.loads(brace + rest)
        except ValueError:
            continue
        if event.get("type") == "test" and event["event"] in words:
            truth[event["name"]] = words[event["event"]]
    found = {test.id: test.outcome.value for test in report(cases, case).tests}
    assert found == truth


@pytest.mark.parametrize("case", ["jest/mixed", "jest/noverbose"])
def test_jest_names_agree_with_its_report(cases: Path, case: str) -> None:
    words = {"passed": "passed", "failed": "failed", "pending": "skipped", "todo": "skipped"}
    truth: dict[str, str] = {}
    for file in json.loads((cases / "logs/jest/mixed/report.json").read_text("utf-8"))[
        "testResults"
    ]:
        for test in file["assertionResults"]:
            title = test["title"].replace("\x1b[31m", "").replace("\x1b[0m", "")
            parts = [Path(file["name"]).name, *test["ancestorTitles"], title]
            name = " > ".join(parts)
            if truth.get(name) != "failed":  # a title that is used twice keeps the worse outcome
                truth[name] = words[test["status"]]
    found = {test.id: test.outcome.value for test in report(cases, case).tests}
    assert {name: truth.get(name) for name in found} == found
    red = {name for name, outcome in truth.items() if outcome == "failed"}
    assert red <= set(found)


def test_lines_that_a_test_prints_itself_turn_no_failure_into_a_pass(cases: Path) -> None:
    for case in ("python/mixed", "go/mixed-plain", "rust/mixed-1thread"):
        red = {
            test.id
            for test in report(cases, case).tests
            if test.outcome in (Outcome.FAILED, Outcome.ERROR)
        }
        assert any(name.endswith(("test_fail", "TestFail", "tests::fails")) for name in red)


@pytest.mark.parametrize("case", ["vitest/default-reporter", "vitest/color"])
def test_what_a_vitest_test_prints_is_no_test(cases: Path, case: str) -> None:
    names = {test.id for test in report(cases, case).tests}
    assert "m.test.ts > forged" not in names
    assert {"m.test.ts > slow timeout", "m.test.ts > outer > a > each 2 [x]"} <= names
