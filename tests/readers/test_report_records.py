"""Structured reports with a record a line: pytest-reportlog, go, libtest, mocha's stream."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arcview.errors import BadInputError
from arcview.model.results import UNFINISHED, Outcome, Report
from arcview.readers.registry import find_report_reader, report_reader
from tests.readers.report_files import outcomes, read_as, read_lines, the

Record = dict[str, object]

START: Record = {"$report_type": "SessionStart"}
FINISH: Record = {"$report_type": "SessionFinish", "exitstatus": 0}


def phase(test_id: str, when: str, outcome: str = "passed", **more: object) -> Record:
    return {
        "$report_type": "TestReport",
        "nodeid": test_id,
        "when": when,
        "outcome": outcome,
        "duration": 0.5,
        **more,
    }


def whole(test_id: str, outcome: str = "passed", **more: object) -> list[Record]:
    return [
        phase(test_id, "setup"),
        phase(test_id, "call", outcome, **more),
        phase(test_id, "teardown"),
    ]


def reportlog(tmp_path: Path, *records: Record) -> Report:
    return read_lines(tmp_path / "log.jsonl", [START, *records])


@pytest.mark.parametrize(
    ("records", "outcome", "reported"),
    [
        (whole("t"), "passed", None),
        (whole("t", "failed"), "failed", None),
        (whole("t", "skipped"), "skipped", None),
        (whole("t", "skipped", wasxfail="why"), "xfailed", None),
        (whole("t", wasxfail="why"), "xpassed", None),
        ([phase("t", "setup", "failed"), phase("t", "teardown")], "error", None),
        (
            [phase("t", "setup"), phase("t", "call"), phase("t", "teardown", "failed")],
            "error",
            None,
        ),
        ([phase("t", "setup")], "not_run", UNFINISHED),
        (whole("t", "odd"), "error", "odd"),
    ],
)
def test_the_phases_of_a_test_make_its_outcome(
    tmp_path: Path, records: list[Record], outcome: str, reported: str | None
) -> None:
    (test,) = reportlog(tmp_path, *records, FINISH).tests
    assert (test.outcome.value, test.reported) == (outcome, reported)


def test_the_last_attempt_counts_and_a_late_pass_is_in_doubt(tmp_path: Path) -> None:
    (test,) = reportlog(tmp_path, *whole("t", "rerun"), *whole("t"), FINISH).tests
    assert (test.outcome, test.copies) == (Outcome.PASSED, 1)
    assert test.conflict == "flaky: passed after 1 failed attempts"


def test_a_failed_subtest_fails_its_test(tmp_path: Path) -> None:
    sub = phase("t", "call", "failed", longrepr="E   boom")
    sub |= {"$report_type": "SubTestReport", "_subtest.context": {"msg": "m", "kwargs": {"i": "1"}}}
    (test,) = reportlog(tmp_path, phase("t", "setup"), sub, phase("t", "call"), FINISH).tests
    assert test.outcome is Outcome.FAILED
    assert test.message == "[m] (i=1): boom"
    assert test.reported == "passed, but subtests failed"


def test_a_log_without_its_end_was_cut_off_for_unknown_reasons(tmp_path: Path) -> None:
    report = reportlog(tmp_path, *whole("a"))
    assert report.stopped is not None
    assert not report.stopped.own_doing
    assert report.unnamed("b")[0] is Outcome.NOT_RUN


@pytest.mark.parametrize(("code", "why"), [(2, "interrupted"), (3, "internal error"), (4, "usage")])
def test_exit_codes_tell_what_stopped_pytest(tmp_path: Path, code: int, why: str) -> None:
    report = reportlog(tmp_path, FINISH | {"exitstatus": code})
    assert report.exit_code == code
    assert report.stopped is not None
    assert why in report.stopped.why


def test_a_torn_last_line_is_reported_and_the_rest_kept(tmp_path: Path) -> None:
    import json

    lines = [json.dumps(record) for record in whole("a")]
    report = read_as(tmp_path / "log.jsonl", "\n".join(lines) + '\n{"$report_type": "Te')
    assert outcomes(report) == {"a": "passed"}
    assert report.is_damaged
    assert report.problems[0].where == "log.jsonl: line 4"


def event(
    action: str, test: str | None = None, package: str = "ex.com/p", **more: object
) -> Record:
    return {"Action": action, "Package": package, **({"Test": test} if test else {}), **more}


def go(tmp_path: Path, *events: Record) -> Report:
    text = "".join(str_of(record) + "\n" for record in events)
    return read_as(tmp_path / "go.json", text)


def str_of(record: Record) -> str:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)


def test_go_records_are_known_however_they_are_spaced(tmp_path: Path) -> None:
    path = tmp_path / "events"
    ended = {"Action": "pass", "Package": "p", "Test": "TestA", "Elapsed": 0.1}
    path.write_text(json.dumps(ended) + "\n")
    reader, _ = find_report_reader(path)
    assert [test.id for test in reader.read(path).tests] == ["p TestA"]


def test_go_tests_keep_their_package_blanks_and_unicode(tmp_path: Path) -> None:
    report = go(
        tmp_path,
        event("run", "TestA/é✓_[x]"),
        event("pass", "TestA/é✓_[x]", Elapsed=0.25),
        event("pass"),
    )
    assert outcomes(report) == {"ex.com/p TestA/é✓_[x]": "passed"}
    assert report.tests[0].duration_s == 0.25


def test_output_that_looks_like_a_result_is_output(tmp_path: Path) -> None:
    report = go(
        tmp_path,
        event("run", "TestA"),
        event("output", "TestA", Output="--- PASS: TestNever (0.00s)\n"),
        event("output", "TestA", Output="    a_test.go:1: why\n", OutputType="error"),
        event("fail", "TestA", Elapsed=0),
        event("fail"),
    )
    assert outcomes(report) == {"ex.com/p TestA": "failed"}
    assert report.tests[0].message == "a_test.go:1: why"


def test_a_test_that_runs_twice_is_there_twice(tmp_path: Path) -> None:
    once = [event("run", "TestA"), event("pass", "TestA", Elapsed=0)]
    twice = [event("run", "TestA"), event("fail", "TestA", Elapsed=0)]
    (test,) = go(tmp_path, *once, *twice, event("fail")).tests
    assert (test.outcome, test.copies) == (Outcome.FAILED, 2)
    assert test.conflict is not None


def test_a_package_that_fails_without_a_test_is_an_entry_and_a_gap(tmp_path: Path) -> None:
    report = go(tmp_path, event("output", Output="exit status 3\n"), event("fail", Elapsed=0))
    assert the(report, "ex.com/p").reported == "package failed"
    assert report.unnamed("ex.com/p TestA")[0] is Outcome.NOT_RUN
    assert report.unnamed("ex.com/pq TestA")[0] is Outcome.MISSING


def test_lines_of_other_programs_between_events_do_no_harm(tmp_path: Path) -> None:
    text = "go: downloading x\n" + str_of(event("run", "TestA")) + "\nwarning\n"
    text += str_of(event("pass", "TestA")) + "\n" + str_of(event("pass")) + "\n"
    report = read_as(tmp_path / "go.json", text)
    assert outcomes(report) == {"ex.com/p TestA": "passed"}
    assert not report.is_damaged


LIBTEST = """\
{ "type": "suite", "event": "started", "test_count": 2 }
{ "type": "test", "event": "started", "name": "a" }
{ "type": "test", "event": "started", "name": "b" }
direct write { "type": "test", "name": "a", "event": "ok", "exec_time": 0.5 }
{ "type": "test", "name": "b", "event": "failed", "stdout": "Error: \\"x\\"\\n" }
{ "type": "suite", "event": "failed", "passed": 1, "failed": 1, "ignored": 0 }
"""


def test_a_line_of_libtest_behind_printed_text_is_found(tmp_path: Path) -> None:
    report = read_as(tmp_path / "libtest.json", LIBTEST)
    assert outcomes(report) == {"a": "passed", "b": "failed"}
    assert the(report, "b").message == 'Error: "x"'
    assert (report.announced, report.unreported, report.stopped) == (2, 0, None)


def test_a_result_of_libtest_without_a_start_is_in_doubt(tmp_path: Path) -> None:
    printed = '{ "type": "test", "name": "never", "event": "ok" }\n'
    test = the(read_as(tmp_path / "libtest.json", LIBTEST + printed), "never")
    assert "a test may have printed it" in (test.conflict or "")


def test_one_name_in_two_binaries_is_counted_twice(tmp_path: Path) -> None:
    report = read_as(tmp_path / "libtest.json", LIBTEST * 2)
    assert {test.id: test.copies for test in report.tests} == {"a": 2, "b": 2}
    assert report.totals is not None
    assert (report.totals.passed, report.totals.failed) == (2, 2)


def test_an_event_of_mocha_that_is_not_whole_is_in_doubt(tmp_path: Path) -> None:
    report = read_as(
        tmp_path / "mocha.txt",
        '["start",{"total":2}]\nprinted\n'
        '["pass",{"title":"a","fullTitle":"s a","file":"/m.js","duration":1,"currentRetry":0}]\n'
        '["pass",{"title":"b"}]\n'
        '["end",{"tests":1,"passes":1,"pending":0,"failures":0}]\n',
    )
    assert outcomes(report) == {"s > a": "passed", "b": "passed"}
    assert the(report, "b").conflict is not None
    assert any("2 passes are reported, mocha counts 1" in note for note in report.notes)


@pytest.mark.parametrize("format_id", ["pytest_reportlog", "go_test", "libtest"])
@pytest.mark.parametrize("text", ["", "{}\n", "[1]\nnull\n", "text\n", '{"a": NaN}\n', "{" * 2000])
def test_what_holds_no_record_is_bad_input(tmp_path: Path, format_id: str, text: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(BadInputError) as raised:
        report_reader(format_id).read(path)
    assert "\n" not in str(raised.value)
