"""Structured reports in one JSON document, and TAP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arcview.errors import BadInputError
from arcview.model.results import Group, Outcome, Report, Verdict
from arcview.readers.registry import report_reader
from arcview.readers.reports.swe_bench import read_instances
from tests.readers.report_files import outcomes, read_as, the


def ctrf(tmp_path: Path, *tests: dict[str, object]) -> Report:
    summary = {"tests": len(tests), "passed": 0, "failed": 0}
    results = {"tool": {"name": "x"}, "summary": summary, "tests": list(tests)}
    return read_as(tmp_path / "ctrf.json", json.dumps({"reportFormat": "CTRF", "results": results}))


@pytest.mark.parametrize(
    ("entry", "outcome", "reported"),
    [
        ({"status": "passed"}, "passed", None),
        ({"status": "failed"}, "failed", None),
        ({"status": "pending"}, "skipped", "pending"),
        ({"status": "other"}, "error", "other"),
        ({"status": "other", "rawStatus": "timedOut"}, "timeout", "timedOut"),
        ({"status": "skipped", "rawStatus": "xfailed"}, "xfailed", None),
        ({"status": "failed", "rawStatus": "setup_failed"}, "error", "setup_failed"),
        ({"status": "failed", "rawStatus": "xpassed"}, "failed", "xpassed"),
        ({}, "error", "no status"),
    ],
)
def test_ctrf_statuses(
    tmp_path: Path, entry: dict[str, object], outcome: str, reported: str | None
) -> None:
    (test,) = ctrf(tmp_path, {"name": "t", "duration": 1500, **entry}).tests
    assert (test.outcome.value, test.reported, test.duration_s) == (outcome, reported, 1.5)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"name": "a.py::t[x y]", "suite": ["a.py"]}, "a.py::t[x y]"),
        ({"name": "adds", "suite": ["a.ts", "math"]}, "a.ts > math > adds"),
        ({"name": "adds", "suite": "math"}, "math > adds"),
        ({"name": "math adds", "suite": "math"}, "math adds"),
        ({"name": "adds"}, "adds"),
    ],
)
def test_ctrf_ids(tmp_path: Path, entry: dict[str, object], expected: str) -> None:
    assert [t.id for t in ctrf(tmp_path, {"status": "passed", **entry}).tests] == [expected]


def test_a_flaky_pass_of_ctrf_is_in_doubt(tmp_path: Path) -> None:
    (test,) = ctrf(tmp_path, {"name": "t", "status": "passed", "retries": 2, "flaky": True}).tests
    assert test.conflict == "flaky: passed after 2 retries"


JEST = {
    "numTotalTests": 3,
    "numPassedTests": 2,
    "numFailedTests": 1,
    "numPendingTests": 0,
    "success": False,
    "testResults": [
        {
            "name": "/repo/a.test.js",
            "status": "failed",
            "message": "",
            "assertionResults": [
                {"ancestorTitles": ["s"], "title": " x ", "status": "passed", "duration": 5},
                {
                    "ancestorTitles": ["s"],
                    "title": "y",
                    "status": "failed",
                    "failureMessages": ["Error: no\n    at Object (/repo/a.test.js:1:1)"],
                },
                {"ancestorTitles": [], "title": "z", "status": "passed", "invocations": 3},
            ],
        }
    ],
}


def test_jest_keeps_blanks_and_tells_retries(tmp_path: Path) -> None:
    report = read_as(tmp_path / "jest.json", json.dumps(JEST))
    assert outcomes(report) == {
        "/repo/a.test.js > s >  x ": "passed",
        "/repo/a.test.js > s > y": "failed",
        "/repo/a.test.js > z": "passed",
    }
    assert the(report, "/repo/a.test.js > s > y").message == "Error: no"
    assert "2 failed attempts" in (the(report, "/repo/a.test.js > z").conflict or "")


def test_a_report_that_was_printed_among_other_output_is_found(tmp_path: Path) -> None:
    text = '> test\n> jest --json\n{"not": "it"}\n' + json.dumps(JEST, indent=1) + "\nDone.\n"
    assert len(read_as(tmp_path / "out.txt", text).tests) == 3


def test_a_run_of_jest_that_failed_though_no_test_did_is_told(tmp_path: Path) -> None:
    text = json.dumps(
        {"numTotalTests": 0, "numFailedTests": 0, "success": False, "testResults": []}
    )
    assert any("the run failed" in note for note in read_as(tmp_path / "j.json", text).notes)


def test_one_title_of_mocha_in_two_files_is_told_apart(tmp_path: Path) -> None:
    def entry(file: str) -> dict[str, object]:
        return {"title": "t", "fullTitle": "s t", "file": file, "err": {}}

    text = json.dumps(
        {
            "stats": {"suites": 1, "tests": 2, "passes": 1, "failures": 1, "pending": 0},
            "tests": [entry("/a.js"), entry("/b.js")],
            "passes": [entry("/a.js")],
            "failures": [entry("/b.js")],
            "pending": [],
        }
    )
    assert outcomes(read_as(tmp_path / "m.json", text)) == {
        "/a.js > s > t": "passed",
        "/b.js > s > t": "failed",
    }


def test_swe_bench_lists_are_groups_with_outcomes(tmp_path: Path) -> None:
    status = {
        "FAIL_TO_PASS": {"success": ["a"], "failure": ["b [x"]},
        "PASS_TO_PASS": {"success": ["c"], "failure": []},
        "FAIL_TO_FAIL": {"success": [], "failure": ["d"]},
    }
    entry = {"patch_successfully_applied": True, "resolved": False, "tests_status": status}
    report = read_as(tmp_path / "report.json", json.dumps({"inst-1": entry}))
    assert {(t.id, t.group, t.outcome.value, t.extra) for t in report.tests} == {
        ("a", Group.F2P, "passed", False),
        ("b [x", Group.F2P, "failed", False),
        ("c", Group.P2P, "passed", False),
        ("d", Group.OTHER, "failed", True),
    }
    assert report.recorded_verdict is Verdict.FAILED
    assert "not reported" in (the(report, "b [x").reported or "")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"patch_is_None": True}, "there is no patch"),
        ({"patch_exists": False}, "the patch is empty"),
        ({"patch_successfully_applied": False}, "the patch could not be applied"),
        ({"error": "boom"}, "error of the harness: boom"),
        ({}, "the harness could read no results from its log"),
    ],
)
def test_why_swe_bench_has_no_tests_is_told(
    tmp_path: Path, more: dict[str, object], why: str
) -> None:
    entry = {"patch_successfully_applied": True, "resolved": False, **more}
    report = read_as(tmp_path / "report.json", json.dumps(entry))
    assert report.stopped is not None
    assert report.stopped.why == why


def test_a_report_of_several_instances_is_read_by_instance(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"a": {"resolved": True}, "b": {"resolved": False}}), "utf-8")
    assert {name: r.recorded_verdict for name, r in read_instances(path).items()} == {
        "a": Verdict.PASSED,
        "b": Verdict.FAILED,
    }
    with pytest.raises(BadInputError, match="holds 2 instances"):
        report_reader("swe_bench").read(path)


def tap(tmp_path: Path, text: str) -> Report:
    return read_as(tmp_path / "x.tap", text)


def test_tap_subtests_have_their_path_and_suites_are_no_tests(tmp_path: Path) -> None:
    report = tap(
        tmp_path,
        "TAP version 14\n# Subtest: outer\n    ok 1 - a \\# b\n    not ok 2\n    1..2\n"
        "not ok 1 - outer\n  ---\n  type: 'suite'\n  ...\nok 2 - last\n1..2\n",
    )
    assert outcomes(report) == {"outer > a # b": "passed", "outer > #2": "failed", "last": "passed"}


@pytest.mark.parametrize(
    ("line", "outcome", "reported"),
    [
        ("ok 1 - t", "passed", None),
        ("not ok 1 - t", "failed", None),
        ("ok 1 - t # SKIP why", "skipped", None),
        ("not ok 1 - t # TODO why", "skipped", "not ok # TODO"),
        ("ok 1 - t # TODO why", "skipped", "ok # TODO"),
    ],
)
def test_tap_directives(tmp_path: Path, line: str, outcome: str, reported: str | None) -> None:
    (test,) = tap(tmp_path, f"TAP version 13\n1..1\n{line}\n").tests
    assert (test.id, test.outcome.value, test.reported) == ("t", outcome, reported)
    assert test.evidence == line


def test_a_point_out_of_turn_is_in_doubt(tmp_path: Path) -> None:
    report = tap(tmp_path, "TAP version 13\nok 1 - a\nok 99 - forged\nok 2 - b\n1..2\n")
    assert "where 2 was due" in (the(report, "forged").conflict or "")
    assert the(report, "b").conflict is None


def test_yaml_below_a_point_is_no_result(tmp_path: Path) -> None:
    report = tap(
        tmp_path,
        "TAP version 13\nnot ok 1 - a\n  ---\n  error: |-\n    first\n    ok 2 - inside\n"
        "  code: x\n  ...\n1..1\n",
    )
    assert outcomes(report) == {"a": "failed"}
    assert the(report, "a").message == "first\nok 2 - inside"


def test_a_plan_that_is_not_fulfilled_was_cut_off(tmp_path: Path) -> None:
    report = tap(tmp_path, "1..3\nok 1 - a\n")
    assert (report.announced, report.unreported) == (3, 2)
    assert report.unnamed("b")[0] is Outcome.NOT_RUN


def test_a_bail_out_is_told(tmp_path: Path) -> None:
    report = tap(tmp_path, "TAP version 13\nok 1 - a\nBail out! no database\n")
    assert report.stopped is not None
    assert report.stopped.why == "Bail out! no database"


@pytest.mark.parametrize(
    "format_id", ["ctrf", "jest_json", "mocha_json", "swe_bench", "pytest_json"]
)
@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"tests": 1}', "{" * 3000, '{"a": NaN}'])
def test_what_is_no_such_document_is_bad_input(tmp_path: Path, format_id: str, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, "utf-8")
    with pytest.raises(BadInputError) as raised:
        report_reader(format_id).read(path)
    assert "\n" not in str(raised.value)


def test_a_report_among_output_is_found_though_its_parts_have_more_keys(tmp_path: Path) -> None:
    test = {"title": "t", "fullTitle": "s t", "file": "a.js", "duration": 1, "currentRetry": 0,
            "speed": "fast", "err": {}}  # fmt: skip
    report = {"stats": {"suites": 1, "tests": 1, "passes": 1, "failures": 0, "pending": 0},
              "tests": [test], "pending": [], "failures": [], "passes": [test]}  # fmt: skip
    path = tmp_path / "out.json"
    printed = '  printed\n{"passes": [], "a": 1}\n'
    path.write_text(printed + json.dumps(report, indent=2) + "\ntail\n")
    assert outcomes(report_reader("mocha_json").read(path)) == {"s > t": "passed"}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            {"name": "outer inner deep", "suite": "a.js > outer > inner"},
            "a.js > outer > inner > deep",
        ),
        ({"name": "top", "suite": "a.js"}, "a.js > top"),
        ({"name": "deep", "suite": ["a.js", "outer"]}, "a.js > outer > deep"),
        ({"name": "a.js > outer > deep", "suite": "a.js"}, "a.js > outer > deep"),
        ({"name": "t.py::test_a", "suite": ["t.py"]}, "t.py::test_a"),
        ({"name": "alone"}, "alone"),
    ],
)
def test_ctrf_names_may_hold_the_titles_of_their_suites(
    tmp_path: Path, entry: dict[str, object], expected: str
) -> None:
    (test,) = ctrf(tmp_path, {"status": "passed", "duration": 1, **entry}).tests
    assert test.id == expected


def test_ctrf_tests_that_are_planned_are_not_run(tmp_path: Path) -> None:
    planned = {"name": "t", "status": "other", "rawStatus": "todo", "duration": 0}
    (test,) = ctrf(tmp_path, planned).tests
    assert (test.outcome, test.reported) == (Outcome.SKIPPED, "todo")


def test_a_failure_beside_a_list_of_missing_tests_is_one(tmp_path: Path) -> None:
    lists = {"success": ["a"], "failure": ["b"], "missing": ["c"]}
    status = {"FAIL_TO_PASS": lists, "PASS_TO_PASS": {"success": [], "failure": ["d"]}}
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"resolved": False, "tests_status": status}))
    report = read_instances(path)[""]
    assert outcomes(report) == {"a": "passed", "b": "failed", "c": "missing", "d": "failed"}
    assert the(report, "b").reported is None
    assert the(report, "d").reported == "failure (failed, or not reported)"
