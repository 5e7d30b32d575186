"""Text logs: what counts as a result, what a test only printed, and how a run ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arcview.errors import ArcviewError
from arcview.model.results import UNFINISHED, Outcome, Report
from arcview.readers.registry import report_reader
from arcview.readers.reports.logs.families import FAMILIES
from arcview.readers.reports.text_log import read_log
from tests.readers.report_files import outcomes, the

HEAD = "===== test session starts =====\nplatform linux -- Python 3.11\ncollected {} items\n\n"


def log(*lines: str) -> Report:
    return read_log(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"), "log.txt")


def pytest_run(count: int, *lines: str) -> Report:
    return log(HEAD.format(count) + "\n".join(lines))


# -- pytest ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "test_id",
    [
        "a.py::t[a b]", "a.py::t[x[0]]", "a.py::t[]", "a.py::t[[]", "a.py::t[a/b::c]",
        "a.py::t[PASSED x]", "a.py::t[ lead]", "a.py::t[a - b]", "a.py::t[a] - b]",
        "a.py::t[\\xe9]", "a.py::C::D::t", "readme.rst::readme.rst",
        "a.py::t[é✓日本]", "a.py::t[(x)]", "a.py::t[ - ]",
    ],
)  # fmt: skip
@pytest.mark.parametrize("line", ["{} PASSED", "{} PASSED      [ 50%]", "[gw0] [ 50%] PASSED {}"])
def test_pytest_ids_are_kept_whole_in_progress_lines(test_id: str, line: str) -> None:
    assert outcomes(log(line.format(test_id))) == {test_id: "passed"}


def test_a_folder_with_a_blank_is_believed_where_pytest_says_how_far_it_is() -> None:
    assert outcomes(log("my tests/a.py::t PASSED  [ 50%]")) == {"my tests/a.py::t": "passed"}
    assert outcomes(log("see my tests/a.py::t PASSED", "b.py::t PASSED")) == {"b.py::t": "passed"}


@pytest.mark.parametrize(
    ("line", "test_id", "message"),
    [
        ("FAILED a.py::t[a - b] - assert 1", "a.py::t[a - b]", "assert 1"),
        ("FAILED a.py::t[a b] - assert [1] == [2]", "a.py::t[a b]", "assert [1] == [2]"),
        ("FAILED a.py::t - assert 'x - y'", "a.py::t", "assert 'x - y'"),
        ("FAILED a.py::t", "a.py::t", None),
        ("FAILED a.py::t[x[0]] - KeyError: '[y] - z'", "a.py::t[x[0]]", "KeyError: '[y] - z'"),
    ],
)
def test_pytest_summary_lines_are_split_where_the_id_ends(
    line: str, test_id: str, message: str | None
) -> None:
    (test,) = log(line).tests
    assert (test.id, test.outcome, test.message) == (test_id, Outcome.FAILED, message)


def test_an_id_that_the_progress_names_settles_where_it_ends() -> None:
    report = pytest_run(
        1,
        "a.py::t[x] - y] FAILED [100%]",
        "===== short test summary info =====",
        "FAILED a.py::t[x] - y] - why",
        "===== 1 failed in 0.10s =====",
    )
    assert outcomes(report) == {"a.py::t[x] - y]": "failed"}


def test_a_line_inside_of_the_output_of_a_running_test_is_printed() -> None:
    report = pytest_run(
        3,
        "a.py::one ",
        "a.py::never PASSED [ 33%]",
        "PASSED [ 33%]",
        "a.py::two FAILED [ 66%]",
        "a.py::three PASSED [100%]",
        "===== 1 failed, 2 passed in 0.10s =====",
    )
    assert outcomes(report) == {
        "a.py::one": "passed",
        "a.py::two": "failed",
        "a.py::three": "passed",
    }
    assert any("a.py::never" in note for note in report.notes)


def test_a_percentage_that_goes_back_is_printed() -> None:
    report = pytest_run(
        2,
        "a.py::one FAILED [ 50%]",
        "a.py::one PASSED [ 10%]",
        "a.py::two PASSED [100%]",
        "===== 1 failed, 1 passed in 0.10s =====",
    )
    assert the(report, "a.py::one").outcome is Outcome.FAILED
    assert "line 6" in (the(report, "a.py::one").conflict or "")


def test_more_passes_than_pytest_counts_are_in_doubt() -> None:
    report = pytest_run(
        2,
        "a.py::one PASSED",
        "a.py::never PASSED",
        "a.py::two PASSED",
        "===== 2 passed in 0.10s =====",
    )
    assert all("a test may have printed one" in (test.conflict or "") for test in report.tests)


def test_only_the_last_short_summary_is_one() -> None:
    report = pytest_run(
        1,
        "a.py F [100%]",
        "===== FAILURES =====",
        "----- Captured stdout call -----",
        "===== short test summary info =====",
        "PASSED a.py::t",
        "PASSED a.py::never",
        "===== 2 passed in 0.10s =====",
        "===== short test summary info =====",
        "FAILED a.py::t - why",
        "===== 1 failed in 0.10s =====",
    )
    assert outcomes(report) == {"a.py::t": "failed"}
    assert "says passed" in (the(report, "a.py::t").conflict or "")


def test_a_message_that_imitates_the_summary_is_in_doubt() -> None:
    report = pytest_run(
        3,
        "a.py .F. [100%]",
        "===== short test summary info =====",
        "PASSED a.py::one",
        "FAILED a.py::two - ValueError: first line",
        "PASSED a.py::never",
        "===== 1 failed, 2 passed in 0.10s =====",
    )
    assert "outside of the list of its kind" in (the(report, "a.py::never").conflict or "")


def test_a_printed_heading_begins_no_second_run() -> None:
    report = pytest_run(
        1,
        "===== test session starts =====",
        "a.py::t PASSED [100%]",
        "===== 1 passed in 0.10s =====",
    )
    assert outcomes(report) == {"a.py::t": "passed"}


def test_two_runs_in_one_log_are_both_read() -> None:
    one = HEAD.format(1) + "a.py::t PASSED [100%]\n===== 1 passed in 0.10s =====\n"
    two = HEAD.format(2) + "a.py::t FAILED [ 50%]\nb.py::t PASSED [100%]\n"
    report = log(one + two + "===== 1 failed, 1 passed in 0.10s =====")
    assert outcomes(report) == {"a.py::t": "failed", "b.py::t": "passed"}
    assert the(report, "a.py::t").copies == 2
    assert (report.announced, report.unreported) == (3, 0)


def test_deselected_tests_are_not_announced() -> None:
    text = HEAD.replace("{} items", "10 items / 8 deselected / 2 selected")
    assert log(text + "a.py::t PASSED [ 50%]").announced == 2


@pytest.mark.parametrize(
    ("line", "why", "own"),
    [
        ("!!!!! stopping after 1 failures !!!!!", "stopping after 1 failures", True),
        ("!!!!! KeyboardInterrupt !!!!!", "KeyboardInterrupt", False),
        ("INTERNALERROR> ValueError: x", "internal error of pytest: ValueError: x", False),
        ("ERROR: file or directory not found: x.py", "not found: x.py", False),
        ("ImportError while loading conftest '/r/conftest.py'.", "conftest", True),
        ("/bin/sh: line 1:  7 Killed   pytest", "killed, cause unknown", False),
        ("Segmentation fault (core dumped)", "crashed", True),
        (">>>>> Tests Timed Out", "timed out", True),
        ("", "there is no closing line", False),
    ],
)
def test_why_a_run_of_pytest_ended_early_is_told(line: str, why: str, own: bool) -> None:
    report = pytest_run(3, "a.py::t PASSED [ 33%]", line)
    assert report.stopped is not None
    assert why in report.stopped.why
    assert report.stopped.own_doing is own


def test_a_closing_line_that_a_test_prints_is_none() -> None:
    report = pytest_run(2, "a.py::t PASSED [ 50%]", "=== 99 passed in 0.01s ===", "a.py::u ", "x")
    report_after = pytest_run(2, "=== 99 passed in 0.01s ===", "a.py::t PASSED [ 50%]", "a.py::u ")
    assert the(report, "a.py::u").reported == UNFINISHED
    assert report_after.stopped is not None


def test_a_patch_that_the_harness_could_not_apply_is_told() -> None:
    report = log(">>>>> Patch Apply Failed:", "error: patch failed: a.py:1")
    assert report.stopped is not None
    assert report.stopped.why == "the harness says: Patch Apply Failed"
    assert report.stopped.own_doing


def test_only_what_stands_between_the_marks_of_a_harness_counts() -> None:
    report = log(
        "ERROR setup.py - pip's own",
        "+ : '>>>>> Start Test Output'",
        "PASSED a.py::t",
        "+ : '>>>>> End Test Output'",
        "FAILED a.py::t",
        ">>>>> Test Exit Code: 1",
    )
    assert outcomes(report) == {"a.py::t": "passed"}
    assert report.exit_code == 1


# -- unittest --------------------------------------------------------------------------------------


def test_what_a_test_prints_before_its_word_is_no_result() -> None:
    report = log(
        "test_a (m.C) ... ok",
        "test_b (m.C) ... printing",
        "ok",
        "FAIL",
        "",
        "=" * 70,
        "Ran 2 tests in 0.1s",
        "",
        "FAILED (failures=1)",
    )
    assert outcomes(report) == {"m.C.test_a": "passed", "m.C.test_b": "failed"}
    assert "says passed" in (the(report, "m.C.test_b").conflict or "")


def test_a_whole_line_that_a_running_test_prints_is_printed() -> None:
    report = log("test_a (m.C) ... ", "test_never (m.C) ... ok", "FAIL", "test_b (m.C) ... ok")
    assert outcomes(report) == {"m.C.test_a": "failed", "m.C.test_b": "passed"}


def test_a_word_behind_printed_text_counts_where_another_test_follows() -> None:
    report = log("test_a (m.C) ... text without an end", "x ok", "test_b (m.C) ... ok")
    assert outcomes(report) == {"m.C.test_a": "passed", "m.C.test_b": "passed"}


def test_a_test_of_unittest_that_did_not_end_is_told_apart() -> None:
    report = log("test_a (m.C) ... ok", "test_b (m.C) ... all is ok", "Killed")
    assert the(report, "m.C.test_b").reported == UNFINISHED
    assert report.stopped is not None


def test_quiet_unittest_names_what_failed() -> None:
    report = log(
        ".F.",
        "=" * 70,
        "FAIL: test_a (m.C.test_a)",
        "-" * 70,
        "Traceback (most recent call last):",
        '  File "m.py", line 3, in test_a',
        "    self.assertEqual(1, 2)",
        "AssertionError: 1 != 2",
        "",
        "-" * 70,
        "Ran 3 tests in 0.1s",
        "",
        "FAILED (failures=1)",
    )
    assert outcomes(report) == {"m.C.test_a": "failed"}
    assert the(report, "m.C.test_a").message == "AssertionError: 1 != 2"
    assert report.totals is not None
    assert report.totals.passed == 2


# -- go --------------------------------------------------------------------------------------------


def test_a_pass_of_go_without_a_start_is_printed() -> None:
    report = log(
        "=== RUN   TestA",
        "--- PASS: TestNever (0.00s)",
        "--- FAIL: TestA (0.00s)",
        "FAIL",
        "FAIL\tex.com/p\t0.01s",
    )
    assert outcomes(report) == {"ex.com/p TestA": "failed"}


def test_a_package_line_that_a_test_prints_ends_no_package() -> None:
    report = log(
        "=== RUN   TestA",
        "ok  \tother.com/q\t0.01s",
        "--- PASS: TestA (0.00s)",
        "PASS",
        "ok  \tex.com/p\t0.01s",
    )
    assert outcomes(report) == {"ex.com/p TestA": "passed"}


def test_a_result_behind_printed_text_is_found() -> None:
    report = log("=== RUN   TestA", "no end--- PASS: TestA (0.00s)", "PASS", "ok  \tex.com/p\t1s")
    assert outcomes(report) == {"ex.com/p TestA": "passed"}


def test_a_time_out_of_go_belongs_to_the_test_that_was_running() -> None:
    report = log(
        "=== RUN   TestA",
        "=== RUN   TestA/b",
        "panic: test timed out after 3s",
        "\trunning tests:",
        "\t\tTestA/b (3s)",
        "",
        "goroutine 1 [running]:",
        "FAIL\tex.com/p\t3.01s",
    )
    assert the(report, "ex.com/p TestA/b").outcome is Outcome.TIMEOUT
    assert report.unnamed("ex.com/p TestZ")[0] is Outcome.NOT_RUN


# -- rust ------------------------------------------------------------------------------------------


def test_one_name_in_two_binaries_is_told_apart_where_they_are_named() -> None:
    body = ["", "running 1 test", "test passes ... {}", ""]
    end = "test result: {}. {} passed; {} failed; 0 ignored; 0 measured; 0 filtered out"
    report = log(
        "     Running tests/it.rs (target/debug/deps/it-981a473ba256acac)",
        *[line.format("ok") for line in body],
        end.format("ok", 1, 0),
        "     Running tests/it2.rs (target/debug/deps/it2-6b5431344ba13bc0)",
        *[line.format("FAILED") for line in body],
        end.format("FAILED", 0, 1),
    )
    assert outcomes(report) == {"it$passes": "passed", "it2$passes": "failed"}


def test_a_binary_without_a_result_was_cut_off() -> None:
    report = log("", "running 3 tests", "test a ... ok", "test b ... ")
    assert outcomes(report) == {"a": "passed", "b": "not_run"}
    assert (report.unreported, report.stopped is not None) == (2, True)


def test_a_line_of_nextest_that_a_test_prints_is_printed() -> None:
    report = log(
        " Nextest run ID 1 with nextest profile: ci",
        "    Starting 1 test across 1 binary",
        "        FAIL [   0.01s] (1/1) p a::b",
        "  stdout ───",
        "",
        "            PASS [   0.01s] (1/1) p a::b",
        "            PASS [   0.01s] (1/1) p never",
        "────────────",
        "     Summary [   0.01s] 1 test run: 0 passed, 1 failed, 0 skipped",
        "        FAIL [   0.01s] (1/1) p a::b",
    )
    assert outcomes(report) == {"p a::b": "failed"}
    assert the(report, "p a::b").copies == 1
    assert "says passed" in (the(report, "p a::b").conflict or "")


# -- javascript ------------------------------------------------------------------------------------


def test_a_mark_outside_of_a_list_of_jest_is_printed() -> None:
    report = log(
        "  console.log",
        "    ✓ never (1 ms)",
        "FAIL ./a.test.js",
        "  s",
        "    ✕ t (2 ms)",
        "",
        "  ✓ never either",
        "Test Suites: 1 failed, 1 total",
        "Tests:       1 failed, 1 total",
    )
    assert outcomes(report) == {"a.test.js > s > t": "failed"}


def test_a_title_of_two_lines_is_one_title() -> None:
    report = log("PASS ./a.test.js", "  s", "    ✓ new", "line <&> (5 ms)", "    ✓ next", "")
    assert outcomes(report) == {
        "a.test.js > s > new\nline <&>": "passed",
        "a.test.js > s > next": "passed",
    }


def test_mocha_counts_tell_of_a_printed_pass() -> None:
    report = log("  s", "    ✔ one", "    ✔ never", "", "  1 passing (2ms)")
    assert all(test.conflict for test in report.tests)


def test_a_hook_of_mocha_is_an_error_and_its_suite_a_gap() -> None:
    report = log(
        "  s", '    1) "before all" hook for "one"', "", "  0 passing (2ms)", "  1 failing"
    )
    (test,) = report.tests
    assert (test.outcome, test.reported) == (Outcome.ERROR, "hook failed")
    assert report.unnamed("s > one")[0] is Outcome.NOT_RUN


TREE = """\
 ❯ src/a.test.ts (4) 20ms
   ❯ outer (3)
     ✓ inner (2)
       ✓ adds
       ✓ takes 5ms
     × fails
   ✓ top 3ms
"""


def test_suites_of_the_tree_reporter_of_vitest_are_no_tests() -> None:
    assert outcomes(log(TREE)) == {
        "src/a.test.ts > outer > inner > adds": "passed",
        "src/a.test.ts > outer > inner > takes": "passed",
        "src/a.test.ts > outer > fails": "failed",
        "src/a.test.ts > top": "passed",
    }


def test_a_project_of_jest_is_no_part_of_its_file() -> None:
    report = log("FAIL  web  src/b.spec.tsx", "  ● s › two", "", "    boom", "", "Tests: 1 failed")
    assert outcomes(report) == {"src/b.spec.tsx > s > two": "failed"}
    assert the(report, "src/b.spec.tsx > s > two").message == "boom"


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        ("   Passed    0.01 sec", "passed"),
        ("***Failed  Required regular expression not found", "failed"),
        ("***Exception: SegFault  0.02 sec", "error"),
        ("Subprocess aborted***Exception:   0.11 sec", "error"),
        ("***Timeout 300.01 sec", "timeout"),
        ("***Skipped   0.00 sec", "skipped"),
        ("***Not Run   0.00 sec", "not_run"),
        ("***Not Run (Disabled)   0.00 sec", "skipped"),
    ],
)
def test_every_word_of_ctest_is_an_outcome(end: str, outcome: str) -> None:
    assert outcomes(log(f"1/1 Test #1: alpha one ....{end}")) == {"alpha one": outcome}


def test_a_result_of_ctest_that_a_test_prints_is_printed() -> None:
    report = log(
        "1/2 Test #1: a ....***Failed    0.01 sec",
        "1/2 Test #1: a ....   Passed    0.01 sec",
        "2/2 Test #2: b ....   Passed    0.01 sec",
    )
    assert outcomes(report) == {"a": "failed", "b": "passed"}
    assert "says passed" in (the(report, "a").conflict or "")


# -- whatever comes --------------------------------------------------------------------------------


def test_a_runner_inside_of_the_output_of_another_is_in_doubt() -> None:
    report = log(
        HEAD.format(1) + "a.py::t FAILED [100%]",
        "===== FAILURES =====",
        "----- Captured stdout call -----",
        "TAP version 13",
        "ok 1 - never",
        "1..1",
        "===== short test summary info =====",
        "FAILED a.py::t - why",
        "===== 1 failed in 0.10s =====",
    )
    assert the(report, "a.py::t").conflict is None
    assert "stands inside of the output of pytest" in (the(report, "never").conflict or "")


def test_runners_one_after_the_other_are_both_read() -> None:
    report = log(
        HEAD.format(1) + "a.py::t PASSED [100%]",
        "===== 1 passed in 0.10s =====",
        "",
        "running 1 test",
        "test b ... ok",
        "",
        "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
    )
    assert outcomes(report) == {"a.py::t": "passed", "b": "passed"}
    assert not any(test.conflict for test in report.tests)


@pytest.mark.parametrize(
    "text", ["", "hello\nworld\n", "a: b\nPASS\n", "# ok\n", "1) one\n2) two\n"]
)
def test_text_without_results_is_no_report(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(ArcviewError):
        report_reader("text_log").read(path)
    assert report_reader("text_log").detect(text.encode(), "notes.txt") is None


@pytest.mark.parametrize(
    "piece", ["PASSED [", "] - ", "a::b[", " ... ", "=", "(a) ", "✓ a (1 ms) ", "--- PASS: "]
)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.id)
def test_very_long_lines_are_data(family: object, piece: str) -> None:
    lines = [piece * (1_000_000 // len(piece)), (piece * 4_000)[:3_999]]
    assert family.read(lines).is_scraped or family.id == "tap"  # type: ignore[attr-defined]


PIECES = st.sampled_from(
    [
        "PASSED a.py::t", "a.py::t FAILED", "a.py::u ", "PASSED", "FAILED [ 50%]", "=" * 70, "",
        "===== FAILURES =====", "===== short test summary info =====", "1 passed in 0.1s",
        "===== test session starts =====", "collected 3 items", "_____ t _____", "E   x",
        "test_a (m.C) ... ok", "test_b (m.C) ... ", "ok", "FAIL: test_a (m.C)", "Ran 2 tests in 1s",
        "=== RUN   TestA", "--- FAIL: TestA (0.00s)", "ok  \tp\t1s", "FAIL\tp\t1s", "panic: x",
        "running 2 tests", "test a ... ok", "test b ... ", "failures:", "---- a stdout ----",
        "test result: ok. 1 passed; 0 failed; 0 ignored", "PASS a.js", "  ✓ t (1 ms)", "  ● t",
        " ✓ a.ts > t 1ms", " FAIL  a.ts > t", "stdout | a.ts > t", "  1) t", "  2 passing (1ms)",
        "▶ s", "✔ t (1ms)", "ℹ tests 1", "1/2 Test #1: a ... Passed 1 sec", "ok 1 - t", "not ok 2",
        "1..2", "  ---", "  ...", "# Subtest: s", "    ok 1 - u", "[gw0] PASSED a.py::v",
        "SUBFAILED[m] (i=1) a.py::t - x", "a.py::t SUBFAILED[m] (i=1)", "INTERNALERROR> x",
        "        PASS [  0.1s] p t", "     Summary [ 0.1s] 1 test run: 1 passed", "Killed",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES | st.text(max_size=20), max_size=25))
def test_no_mixture_of_lines_breaks_a_reader(lines: list[str]) -> None:
    report = log(*lines)
    assert len({test.id for test in report.tests}) == len(report.tests)
    assert all(test.evidence for test in report.tests)
    for family in FAMILIES:
        family.read("\n".join(lines).split("\n"))
