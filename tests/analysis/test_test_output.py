"""What a runner's output says, line by line; the recorded logs are in `test_test_output_cases`."""

from __future__ import annotations

import pytest

from arcview.analysis.test_output import (
    crash_line,
    plain_text,
    read_assertion_output,
    read_suite_output,
)
from arcview.analysis.test_output_ids import reported_tests

Counts = tuple[int | None, int | None, int | None]


def closing(text: str, runner: str | None = None) -> tuple[str, Counts]:
    found = read_suite_output(text, runner=runner)
    return found.outcome, (found.passed, found.failed, found.skipped)


@pytest.mark.parametrize(
    ("text", "outcome", "counts"),
    [
        ("====== 3 passed in 0.12s ======", "passed", (3, 0, 0)),
        ("3 passed, 1 warning in 5.89 seconds", "passed", (3, 0, 0)),
        ("== 1 failed, 2 passed, 1 skipped in 61.2s (0:01:01) ==", "failed", (2, 1, 1)),
        ("=== 2 passed, 1 error in 0.1s ===", "failed", (2, 1, 0)),
        ("=== 1 xfailed in 0.1s ===", "passed", (0, 0, 0)),
        ("=== 3 skipped in 0.1s ===", "passed", (0, 0, 3)),
        ("=== 5 deselected in 0.1s ===", "none", (0, 0, 0)),
        ("=== no tests ran in 0.01s ===", "none", (0, 0, None)),
        ("Ran 3 tests in 0.001s\n\nOK", "passed", (3, 0, 0)),
        ("Ran 3 tests in 0.001s\n\nOK (skipped=1)", "passed", (2, 0, 1)),
        ("Ran 3 tests in 0.001s\n\nFAILED (failures=1, errors=1)", "failed", (1, 2, 0)),
        ("Ran 0 tests in 0.000s\n\nOK", "none", (0, 0, 0)),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", "none", (0, 0, 0)),
        ("test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured", "passed", (2, 0, 1)),
        ("test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured", "none", (0, 0, 0)),
        ("ok  \tex.com/p\t0.01s", "passed", (None, None, None)),
        ("ok      ex.com/p        0.01s", "passed", (None, None, None)),
        ("ok  \tex.com/p\t0.01s [no tests to run]", "none", (None, None, None)),
        ("?   \tex.com/p\t[no test files]", "none", (None, None, None)),
        ("FAIL\tex.com/p [build failed]\nFAIL", "failed", (None, None, None)),
        (" Tests  2 failed | 3 passed (5)", "failed", (3, 2, 0)),
        (" Test Files  1 failed (1)\n      Tests  no tests", "failed", (0, 0, None)),
        ("Tests:       1 failed, 4 passed, 5 total", "failed", (4, 1, 0)),
        ("  4 passing (12ms)\n  1 pending", "passed", (4, 0, 1)),
        ("  4 passing (12ms)\n  2 failing", "failed", (4, 2, 0)),
        (
            "# tests 3\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 0",
            "failed",
            (2, 1, 0),
        ),
        ("ok | 3 passed | 0 failed (12ms)", "passed", (3, 0, 0)),
        (" 3 pass\n 1 skip\n 2 fail\nRan 6 tests across 1 files.", "failed", (3, 2, 1)),
        ("  1 failed\n    a.spec.ts:3:1 › x\n  3 passed (2.5s)", "failed", (3, 1, 0)),
        ("50% tests passed, 1 tests failed out of 2", "failed", (1, 1, 0)),
        ("[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1", "passed", (4, 0, 1)),
        ("5 tests completed, 1 failed", "failed", (4, 1, 0)),
        ("BUILD SUCCESSFUL in 3s", "passed", (None, None, None)),
        (
            "Passed!  - Failed:     0, Passed:     5, Skipped:     1, Total:     6",
            "passed",
            (5, 0, 1),
        ),
        ("3 examples, 1 failure, 1 pending", "failed", (1, 1, 1)),
        ("5 runs, 7 assertions, 0 failures, 0 errors, 0 skips", "passed", (5, 0, 0)),
        ("OK (3 tests, 5 assertions)", "passed", (3, 0, 0)),
        ("Tests: 3, Assertions: 5, Failures: 1.", "failed", (2, 1, 0)),
        ("1 doctest, 5 tests, 1 failure", "failed", (4, 1, 0)),
        ("Executed 5 tests, with 1 failure (0 unexpected)", "failed", (4, 1, 0)),
        ("[  PASSED  ] 5 tests.\n[  FAILED  ] 1 test, listed below:", "failed", (5, 1, 0)),
        ("tests finished: 4 passed, 1 exceptions, in 0.2 seconds", "failed", (4, 1, 0)),
        ("Files=1, Tests=3,  0 wallclock secs\nResult: PASS", "passed", (3, 0, 0)),
        ("Some tests failed.", "failed", (None, None, None)),
        ("1..2\nok 1 - a\nnot ok 2 - b", "failed", (1, 1, 0)),
        ("1..3\nok 1 - a\nok 2 - b", "unknown", (2, 0, 0)),
    ],
)
def test_closing_lines(text: str, outcome: str, counts: Counts) -> None:
    assert closing(text) == (outcome, counts)


def test_the_last_closing_line_of_one_run_counts() -> None:
    text = "=== 99 passed in 0.01s ===\n=== 1 failed in 0.02s ==="
    assert closing(text, "pytest") == ("failed", (0, 1, 0))


def test_the_closing_lines_of_several_runs_add_up() -> None:
    text = "=== 2 passed in 0.01s ===\n=== 3 passed in 0.02s ==="
    assert closing(text, "tox") == ("passed", (5, 0, 0))


def test_one_closing_line_a_binary_adds_up() -> None:
    text = (
        "test result: ok. 2 passed; 0 failed; 0 ignored\n"
        "test result: FAILED. 1 passed; 1 failed; 0 ignored"
    )
    assert closing(text, "cargo") == ("failed", (3, 1, 0))


def test_a_crashed_test_binary_is_red_whatever_the_others_say() -> None:
    text = (
        "test result: ok. 2 passed; 0 failed; 0 ignored\nerror: test failed, to rerun pass `--lib`"
    )
    assert read_suite_output(text, runner="cargo").outcome == "failed"


def test_the_runners_own_line_goes_before_anothers() -> None:
    text = "=== 1 failed in 0.1s ===\nTests:       4 passed, 4 total"
    assert closing(text, "pytest") == ("failed", (0, 1, 0))


def test_colours_do_not_hide_a_closing_line() -> None:
    text = "\x1b[31m=== \x1b[1m1 failed\x1b[0m, \x1b[32m2 passed\x1b[0m in 0.1s ===\x1b[0m"
    assert closing(text) == ("failed", (2, 1, 0))


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("tests/test_a.py ..F.", "failed"),
        ("....F..E", "failed"),
        ("tests/test_a.py ......                 [100%]", "passed"),
        ("tests/test_a.py ......                 [ 40%]", "unknown"),
        ("......", "unknown"),
        ("tests/test_a.py::test_x FAILED", "failed"),
        ("--- FAIL: TestX (0.00s)", "failed"),
    ],
)
def test_progress_marks_decide_where_the_closing_line_is_cut_away(text: str, outcome: str) -> None:
    assert read_suite_output(text, runner="pytest").outcome == outcome


@pytest.mark.parametrize(
    "text",
    [
        "bash: line 1: pytest: command not found",
        "sh: 1: vitest: not found",
        "/usr/bin/python3: No module named pytest",
        "python: can't open file '/w/test_x.py': [Errno 2] No such file or directory",
        "make: *** No rule to make target 'test'.  Stop.",
        'npm ERR! Missing script: "test"',
        "No tests found, exiting with code 1",
        "No test files found, exiting with code 1",
        "error: no such command: `nextest`",
        "ERROR: file or directory not found: tests/nope.py",
    ],
)
def test_no_test_ran_where_there_was_nothing_to_run(text: str) -> None:
    found = read_suite_output(text, runner="pytest", exit_code=1)
    assert (found.outcome, found.evidence) == ("none", text)


@pytest.mark.parametrize(
    "text",
    [
        "ImportError while loading conftest '/w/conftest.py'.",
        "error[E0425]: cannot find function `x` in this scope",
        'error: could not compile `p` (test "bad") due to 2 previous errors',
        "panic: runtime error: index out of range",
        "Fatal Python error: Segmentation fault",
        "make: *** [Makefile:3: test] Error 1",
    ],
)
def test_a_broken_build_or_a_crash_is_red(text: str) -> None:
    assert read_suite_output(text, runner="make").outcome == "failed"


def test_the_evidence_of_a_traceback_is_its_last_line() -> None:
    text = 'Traceback (most recent call last):\n  File "x", line 1\n    y\nNameError: y\n'
    assert read_suite_output(text, runner="django").evidence == "NameError: y"


def test_the_exit_code_comes_last() -> None:
    assert read_suite_output("=== 1 passed in 0.1s ===", exit_code=1).outcome == "passed"
    assert read_suite_output("hello", runner="make", exit_code=2).outcome == "failed"
    assert read_suite_output("hello", runner="make", exit_code=0).outcome == "passed"
    assert read_suite_output("hello", runner="make").outcome == "unknown"


def test_exit_code_0_without_a_closing_line_proves_nothing() -> None:
    assert read_suite_output("hello", runner="pytest", exit_code=0).outcome == "unknown"
    assert read_suite_output("", runner="pytest", exit_code=0).outcome == "unknown"


def test_exit_code_0_counts_where_the_output_went_to_a_file() -> None:
    found = read_suite_output("", runner="pytest", exit_code=0, redirected=True)
    assert found.outcome == "passed"


def test_a_killed_run_is_red_and_says_why() -> None:
    found = read_suite_output("", runner="pytest", exit_code=137)
    assert (found.outcome, found.evidence) == ("failed", "exit code 137 (killed)")


def test_unittest_counts_are_not_made_up_where_a_fixture_failed() -> None:
    text = "ERROR: setUpClass (t.T)\n----\nRan 1 test in 0.001s\n\nFAILED (failures=1, errors=1)"
    assert closing(text) == ("failed", (None, 2, 0))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Traceback (most recent call last):\n  File x\nKeyError: 'a'\nmore", "KeyError: 'a'"),
        (
            '  File "a.py", line 3\n    def (\n        ^\nSyntaxError: invalid',
            "SyntaxError: invalid",
        ),
        (
            "TypeError: x is not a function\n    at f (/w/a.js:1:2)",
            "TypeError: x is not a function",
        ),
        (
            "thread 'main' panicked at src/main.rs:1:1:",
            "thread 'main' panicked at src/main.rs:1:1:",
        ),
        ("Error: Unknown input: x", None),
        ("caught SyntaxError: bad", None),
        ("SyntaxError: printed by the program itself", None),
        ("", None),
    ],
)
def test_a_crash_is_told_from_an_error_that_a_program_prints(text: str, line: str | None) -> None:
    assert crash_line(text) == line


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("test 1 PASS\ntest 2 FAIL", "failed"),
        ("✓ a\n✗ b", "failed"),
        ("All tests passed", "passed"),
        ("5 tests passed, 0 failed", "passed"),
        ("AssertionError: 1 != 2", "failed"),
        ("done", "unknown"),
    ],
)
def test_a_checking_program_is_judged_by_the_verdicts_it_prints(text: str, outcome: str) -> None:
    assert read_assertion_output(text).outcome == outcome


def test_a_checking_program_has_no_counts() -> None:
    found = read_assertion_output("all good", exit_code=0)
    assert (found.outcome, found.passed, found.failed) == ("passed", None, None)


def test_text_of_several_programs_decides_nothing_about_one() -> None:
    text = "FAIL of the other one"
    assert read_assertion_output(text, alone=False).outcome == "unknown"
    assert read_assertion_output(text, exit_code=0, alone=False).outcome == "passed"


def test_a_name_with_two_outcomes_keeps_the_worse_one() -> None:
    text = "a.py::t FAILED [ 50%]\na.py::t PASSED [100%]\n"
    assert [test.outcome.value for test in reported_tests("pytest", text)] == ["failed"]


def test_ids_may_hold_blanks_brackets_and_dashes() -> None:
    text = (
        "=== short test summary info ===\n"
        "FAILED a.py::t[a - b] - assert 1\nFAILED a.py::t[x[0]] - boom - bang\nERROR a.py\n"
    )
    assert [test.id for test in reported_tests("pytest", text)] == [
        "a.py::t[a - b]",
        "a.py::t[x[0]]",
        "a.py",
    ]


@pytest.mark.parametrize(
    ("family", "text", "names"),
    [
        (
            "mocha",
            "  outer\n    ✔ passes\n    1) fails\n    - waits\n\n  1 passing (5ms)\n\n  1) outer\n",
            {"outer > passes": "passed", "outer > fails": "failed", "outer > waits": "skipped"},
        ),
        (
            "unittest",
            "test_a (t.T.test_a) ... ok\ntest_b (t.T)\nWhat it does. ... FAIL\n"
            "test_c (t.T.test_c) ... skipped 'why'\n",
            {"t.T.test_a": "passed", "t.T.test_b": "failed", "t.T.test_c": "skipped"},
        ),
        (
            "gtest",
            "[       OK ] A.b (0 ms)\n[  FAILED  ] A.c (0 ms)",
            {"A.b": "passed", "A.c": "failed"},
        ),
        (
            "deno",
            "adds ... ok (2ms)\nfails ... FAILED (3ms)",
            {"adds": "passed", "fails": "failed"},
        ),
        (
            "gradle",
            "AppTest > adds PASSED\nAppTest > fails FAILED",
            {"AppTest > adds": "passed", "AppTest > fails": "failed"},
        ),
        (
            "dotnet",
            "  Passed N.T.A [3 ms]\n  Failed N.T.B [1 ms]",
            {"N.T.A": "passed", "N.T.B": "failed"},
        ),
        (
            "ctest",
            "1/2 Test #1: a ......   Passed    0.01 sec\n2/2 Test #2: b ......***Failed",
            {"a": "passed", "b": "failed"},
        ),
        ("go", '{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}', {"p TestA": "passed"}),
        ("somebody", "a ✓", {}),
    ],
)
def test_names_of_single_tests(family: str, text: str, names: dict[str, str]) -> None:
    assert {test.id: test.outcome.value for test in reported_tests(family, text)} == names


def test_very_long_output_keeps_its_head_and_its_tail() -> None:
    text = "first\n" + "x\n" * 400_000 + "=== 1 passed in 0.1s ==="
    assert len(plain_text(text)) < 500_000
    assert read_suite_output(text).outcome == "passed"
