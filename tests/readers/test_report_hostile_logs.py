"""Logs that have fooled other graders: each is read as the collection says is right."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from arcview.model.results import GateTest, Outcome, Report
from arcview.readers.registry import find_report_reader

PASSED, FAILED, ERROR, SKIPPED = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.SKIPPED
TIMEOUT = Outcome.TIMEOUT

OUTCOMES: dict[str, dict[str, Outcome]] = {
    "l01_pytest_spaces_in_param.txt": {
        "tests/test_t.py::test_err[file-AttributeError-'str' object has no attribute 'read'-A]": (
            PASSED
        ),
        "tests/test_t.py::test_err[file-AttributeError-'str' object has no attribute 'read'-B]": (
            FAILED
        ),
        "tests/test_t.py::test_dash[a - b]": PASSED,
    },
    "l02_pytest_status_split_over_lines.txt": {
        "tests/test_long.py::TestX::test_a_very_long_name_that_wraps": PASSED,
        "tests/test_b.py::test_b": FAILED,
    },
    "l04_jest_optional_duration.txt": {
        "src/a.test.js > sum > adds two numbers": PASSED,
        "src/a.test.js > sum > adds two numbers again": PASSED,
        "src/a.test.js > sum > adds zero": PASSED,
    },
    "l05_jest_two_files_nested.txt": {
        "test/one.test.ts > one > works": PASSED,
        "test/two.test.ts > two > .start > reloads": FAILED,
        "test/two.test.ts > two > later": SKIPPED,
        "test/two.test.ts > two > write me": SKIPPED,
    },
    "l07_ctest_right_aligned.txt": {
        "alpha": PASSED,
        "beta": FAILED,
        "gamma": TIMEOUT,
        "delta": SKIPPED,
    },
    "l08_vitest_coloured.txt": {
        "math.test.ts > math > adds": PASSED,
        "math.test.ts > math > divides": FAILED,
        "math.test.ts > math > later": SKIPPED,
    },
    "l10_django_docstring_two_lines.txt": {
        "app.tests.T.test_a": PASSED,
        "app.tests.T.test_b": PASSED,
        "app.tests.T.test_c": FAILED,
    },
    "l11_status_word_inside_name.txt": {
        "tests/test_PASSED_handler.py::test_fix": FAILED,
        "tests/test_FAILED_handler.py::test_ok": PASSED,
    },
    "l13_xdist_prefix.txt": {
        "tests/test_a.py::test_one": PASSED,
        "tests/test_a.py::test_two": FAILED,
    },
    "l14_carriage_return_progress.txt": {},
    "l16_collection_error.txt": {"tests/test_a.py": ERROR},
    "l17_same_id_twice_differs.txt": {"tests/test_a.py::test_one": FAILED},
    "l19_output_that_imitates_results.txt": {"tests/test_a.py::test_one": FAILED},
    "l20_invalid_utf8.txt": {
        "tests/test_a.py::test_one": PASSED,
        "tests/test_a.py::test_two": FAILED,
    },
    "l22_pytest_subtests.txt": {"t.py::test_many": FAILED},
    "l23_junit_bad_chars.xml": {"t.n": FAILED},
    "l25_unittest_subclass_names.txt": {
        "pkg.mod.Base.test_x": PASSED,
        "pkg.mod.Child.test_x": FAILED,
        "pkg.mod.Child.test_y": SKIPPED,
    },
    "l26_mocha_and_tap.txt": {
        "suite > passes": PASSED,
        "suite > fails here": FAILED,
        "suite > pending one": SKIPPED,
        "does a thing": SKIPPED,
        "breaks": SKIPPED,
    },
    "l28_django_line_between_name_and_status.txt": {
        "expr.tests.T.test_nested": PASSED,
        "expr.tests.T.test_plain": PASSED,
    },
    "l29_go_parent_goexit.txt": {
        "x.invalid/p TestTree": FAILED,
        "x.invalid/p TestTree/a": FAILED,
    },
    "l31_not_run_vs_killed.txt": {"tests/test_a.py::test_one": PASSED},
}


def read(cases: Path, name: str) -> Report:
    path = next((cases / "hostile" / "log").glob(f"{name}*"))
    reader, _ = find_report_reader(path)
    return reader.read(path)


def the(report: Report, test_id: str) -> GateTest:
    return next(test for test in report.tests if test.id == test_id)


@pytest.mark.parametrize("name", OUTCOMES)
def test_every_test_of_a_hostile_log_has_its_right_outcome(cases: Path, name: str) -> None:
    report = read(cases, name)
    assert {test.id: test.outcome for test in report.tests} == OUTCOMES[name]


def test_every_hostile_log_of_the_collection_has_its_answer_here(cases: Path) -> None:
    with (cases / "hostile" / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        names = {row[0].removeprefix("log/") for row in rows if row[0].startswith("log/")}
    assert names == set(OUTCOMES)


@pytest.mark.parametrize("name", [name for name in OUTCOMES if name.endswith(".txt")])
def test_every_scraped_outcome_has_its_line(cases: Path, name: str) -> None:
    path = cases / "hostile" / "log" / name
    lines = path.read_bytes().decode("utf-8", "replace")
    for test in read(cases, name).tests:
        assert test.evidence
        word = test.id.split("::")[-1].split(" > ")[-1].split(".")[-1].split(" ")[-1]
        assert word in test.evidence
        assert word in lines


def test_durations_and_retries_are_no_part_of_names(cases: Path) -> None:
    report = read(cases, "l08")
    assert [test.duration_s for test in report.tests] == [
        pytest.approx(0.001),
        pytest.approx(0.412),
        None,
    ]
    assert the(read(cases, "l04"), "src/a.test.js > sum > adds two numbers").duration_s == 0.012


def test_eight_of_twelve_tests_of_ctest_are_unreported(cases: Path) -> None:
    report = read(cases, "l07")
    assert (report.announced, report.unreported) == (12, 8)


def test_a_plain_not_run_of_ctest_is_not_run(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("1/2 Test #1: a ....***Not Run   0.00 sec\n", "utf-8")
    reader, _ = find_report_reader(log)
    assert reader.read(log).tests[0].outcome is Outcome.NOT_RUN


def test_skips_without_a_name_are_counted_with_their_place(cases: Path) -> None:
    notes = read(cases, "l11").notes
    assert "1 skipped test has no name: tests/test_s.py:3: ERROR in env" in notes


def test_a_crashed_worker_is_told_and_percentages_say_how_many_tests_there_are(
    cases: Path,
) -> None:
    report = read(cases, "l13")
    assert "[gw0] node down: Not properly terminated" in report.notes
    assert (report.announced, report.unreported) == (8, 6)


def test_what_a_carriage_return_overwrote_does_not_count(cases: Path) -> None:
    report = read(cases, "l14")
    assert report.totals is not None
    assert (report.totals.passed, report.announced, report.unreported) == (5, 5, 0)


def test_after_an_interrupted_collection_every_selected_test_was_not_run(cases: Path) -> None:
    report = read(cases, "l16")
    assert the(report, "tests/test_a.py").reported == "collection error"
    assert the(report, "tests/test_a.py").message == "ImportError: cannot import name 'x'"
    for test_id in ("tests/test_a.py::test_one", "tests/test_other.py::test_two"):
        assert report.unnamed(test_id)[0] is Outcome.NOT_RUN


def test_one_id_with_different_outcomes_is_flagged(cases: Path) -> None:
    (test,) = read(cases, "l17").tests
    assert test.copies == 3
    assert test.conflict is not None
    assert "reported 3 times with different outcomes" in test.conflict


def test_lines_that_a_test_printed_are_told_beside_the_result_and_never_become_one(
    cases: Path,
) -> None:
    report = read(cases, "l19")
    (test,) = report.tests
    assert test.evidence == "tests/test_a.py::test_one FAILED"
    assert test.conflict is not None
    assert "line 3: PASSED tests/test_a.py::test_one" in test.conflict
    assert any("test_never_ran" in note for note in report.notes)


def test_bytes_that_are_no_text_are_a_problem_of_the_file(cases: Path) -> None:
    (problem,) = read(cases, "l20").problems
    assert "not UTF-8" in problem.what


def test_a_failed_subtest_is_told(cases: Path) -> None:
    (test,) = read(cases, "l22").tests
    assert "(i=1): assert 1 == 0" in (test.message or "")


def test_characters_that_xml_forbids_are_replaced(cases: Path) -> None:
    (test,) = read(cases, "l23").tests
    assert test.message == "a < b"
    assert test.traceback == "esc ␛[31m nul-less ␈ end ]]>"


def test_the_reason_of_a_skip_is_kept(cases: Path) -> None:
    assert the(read(cases, "l25"), "pkg.mod.Child.test_y").message == "no db"


def test_a_todo_that_fails_is_reported_as_such(cases: Path) -> None:
    assert the(read(cases, "l26"), "breaks").reported == "not ok # TODO"


def test_siblings_of_a_subtest_that_ended_its_parent_may_not_have_run(cases: Path) -> None:
    report = read(cases, "l29")
    assert "may not have run" in (the(report, "x.invalid/p TestTree").conflict or "")
    outcome, why = report.unnamed("x.invalid/p TestTree/b")
    assert outcome is Outcome.NOT_RUN
    assert "may not have run" in (why or "")
    assert report.unnamed("x.invalid/p TestOther")[0] is Outcome.MISSING


def test_tests_behind_a_kill_were_not_run_and_nobody_knows_why(cases: Path) -> None:
    report = read(cases, "l31")
    assert report.unreported == 39
    assert report.stopped is not None
    assert not report.stopped.own_doing
    assert report.stopped.why.startswith("killed, cause unknown")
    assert report.unnamed("tests/test_a.py::test_two")[0] is Outcome.NOT_RUN
