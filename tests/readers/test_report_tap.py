"""TAP as node, vitest, mocha and others write it: blocks, hooks, directives, printed points."""

from __future__ import annotations

from arcview.model.results import Outcome, Report
from arcview.readers.reports.tap import read_tap
from tests.readers.report_files import outcomes, the
from tests.readers.test_report_logs import log


def tap(*lines: str) -> Report:
    return read_tap(["TAP version 13", *lines])


def test_subtests_may_stand_in_a_block_behind_their_parent() -> None:
    report = tap(
        "1..2", "not ok 1 - a.test.js # time=9.2ms {", "    1..3", "    ok 1 - plain # time=1.5ms",
        "    not ok 2 - outer # time=3ms {", "        1..1", "        not ok 1 - deep # time=2ms",
        "            ---", "            error:", '                message: "x"', "            ...",
        "    }", "    ok 3 - left # SKIP {", "        1..1", "        ok 1 - in left # SKIP",
        "    }",
        "}", "ok 2 - b.test.js # time=1ms {", "    1..1", "    ok 1 - plain # time=1ms", "}",
    )  # fmt: skip
    assert outcomes(report) == {
        "a.test.js > plain": "passed", "a.test.js > outer > deep": "failed",
        "a.test.js > left > in left": "skipped", "b.test.js > plain": "passed",
    }  # fmt: skip
    assert all(test.conflict is None for test in report.tests)
    assert report.stopped is None


def test_a_block_that_failed_by_itself_is_told() -> None:
    report = tap(
        "1..2", "not ok 1 - bad.test.js # time=9ms", "not ok 2 - a.test.js # time=9ms {",
        "    1..1", "    ok 1 - h1 # SKIP", "}",
    )  # fmt: skip
    assert outcomes(report) == {
        "bad.test.js": "failed", "a.test.js": "failed", "a.test.js > h1": "skipped"
    }  # fmt: skip


def test_a_hook_of_mocha_uses_up_no_number() -> None:
    report = tap(
        "ok 1 outer one", 'not ok 2 outer in "before all" hook: named for "h1"',
        'not ok 2 outer each "before each" hook for "e1"', "ok 2 outer two # SKIP -",
        "# tests 3", "# pass 1", "# fail 2", "1..4",
    )  # fmt: skip
    found = outcomes(report)
    assert found["outer one"] == "passed"
    assert found["outer two"] == "skipped"
    hooks = [test for test in report.tests if test.reported == "hook failed"]
    assert [test.outcome for test in hooks] == [Outcome.ERROR, Outcome.ERROR]
    assert all(test.conflict is None for test in report.tests)
    assert report.stopped is None
    assert report.unnamed("outer each e2")[0] is Outcome.NOT_RUN


def test_a_point_without_the_duration_that_all_others_have_is_in_doubt() -> None:
    timed = ("  ---", "  duration_ms: 0.5", "  ...")
    report = tap(
        "# Subtest: one", "ok 1 - one", *timed, "    ok 1 - printed", "# Subtest: two",
        "not ok 2 - two", *timed, "1..2",
    )  # fmt: skip
    assert the(report, "one").conflict is None
    assert "no duration" in str(the(report, "printed").conflict)


def test_a_reason_has_its_escapes_taken_back() -> None:
    report = tap("ok 1 - one # SKIP why \\#1", "1..1")
    assert the(report, "one").message == "why #1"


def test_a_reason_of_node_stands_behind_the_duration() -> None:
    report = log(
        "﹣ left (0.1ms) # why #1", "✖ later (0.2ms) # not yet", "  Error: x", "",
        "✔ done (0.3ms) # soon", "✔ hash # 1 (0.4ms)", "ℹ tests 4", "ℹ pass 1", "ℹ fail 0",
        "ℹ skipped 1", "ℹ todo 2",
    )  # fmt: skip
    assert outcomes(report) == {
        "left": "skipped", "later": "skipped", "done": "skipped", "hash # 1": "passed"
    }  # fmt: skip
    assert the(report, "later").reported == "not ok # TODO"
