"""JUnit XML of every writer, and what writers and attackers get wrong in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview.errors import BadInputError
from arcview.model.results import Outcome, Report
from arcview.readers.reports.junit import JunitReader
from tests.readers.report_files import outcomes, read_as, the


def junit(tmp_path: Path, text: str | bytes) -> Report:
    return read_as(tmp_path / "report.xml", text)


def pytest_suite(*cases: str) -> str:
    return (
        f'<testsuites><testsuite name="pytest" tests="9">{"".join(cases)}</testsuite></testsuites>'
    )


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('classname="tests.test_a" name="test_x"', "tests/test_a.py::test_x"),
        (
            'classname="tests.test_a.TestC" name="test_x[a.b]"',
            "tests/test_a.py::TestC::test_x[a.b]",
        ),
        (
            'classname="a.b.test_m.TestC.TestInner" name="t"',
            "a/b/test_m.py::TestC::TestInner::t",
        ),
        ('classname="Tests.Unit.test_m.TestC" name="t"', "Tests/Unit/test_m.py::TestC::t"),
        ('classname="TestEverything" name="t"', "TestEverything.py::t"),
        ('classname="" name="tests.test_a"', "tests/test_a.py"),
    ],
)
def test_node_ids_are_put_together_where_no_file_is_named(
    tmp_path: Path, attributes: str, expected: str
) -> None:
    assert [t.id for t in junit(tmp_path, pytest_suite(f"<testcase {attributes}/>")).tests] == [
        expected
    ]


@pytest.mark.parametrize(
    ("file", "classname", "expected"),
    [
        ("tests/test_a.py", "tests.test_a", "tests/test_a.py::t"),
        ("tests/test_a.py", "tests.test_a.lower_class", "tests/test_a.py::lower_class::t"),
        ("tests\\test_a.py", "tests.test_a.C", "tests/test_a.py::C::t"),
        ("elsewhere.py", "tests.test_a.C", "tests/test_a.py::C::t"),
    ],
)
def test_xunit1_names_the_file(tmp_path: Path, file: str, classname: str, expected: str) -> None:
    case = f'<testcase classname="{classname}" name="t" file="{file}"/>'
    assert [t.id for t in junit(tmp_path, pytest_suite(case)).tests] == [expected]


def test_a_failed_teardown_joins_its_test(tmp_path: Path) -> None:
    case = '<testcase classname="test_a" name="t">{}</testcase>'
    failure = '<failure message="assert 0">body</failure>'
    error = '<error message="failed on teardown with &quot;Boom: x&quot;">tear</error>'
    (test,) = junit(tmp_path, pytest_suite(case.format(failure), case.format(error))).tests
    assert (test.outcome, test.copies, test.conflict) == (Outcome.ERROR, 1, None)
    assert (test.message, test.traceback) == ("assert 0\n\nBoom: x", "body\n\ntear")


def test_one_id_with_two_outcomes_is_flagged_and_the_worst_counts(tmp_path: Path) -> None:
    case = '<testcase classname="test_a" name="t">{}</testcase>'
    report = junit(tmp_path, pytest_suite(case.format(""), case.format("<failure/>")))
    (test,) = report.tests
    assert (test.outcome, test.copies) == (Outcome.FAILED, 2)
    assert test.conflict == "reported 2 times with different outcomes: passed, failed"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '<testsuites name="vitest tests"><testsuite name="a.test.ts">'
            '<testcase classname="a.test.ts" name="outer &gt; x"/></testsuite></testsuites>',
            "a.test.ts > outer > x",
        ),
        (
            '<testsuites name="jest tests"><testsuite name="undefined">'
            '<testcase classname=" x" name=" x"/></testsuite></testsuites>',
            "x",
        ),
        (
            '<testsuite name="Mocha Tests"><testcase classname="outer" name="x"/></testsuite>',
            "outer > x",
        ),
        (
            '<testsuites name="nextest-run"><testsuite name="p::it">'
            '<testcase classname="p::it" name="a::b"/></testsuite></testsuites>',
            "p::it a::b",
        ),
        (
            '<testsuites><testsuite name="a &amp;amp; b"><testsuite name="in">'
            '<testcase classname="test" name="x"/></testsuite></testsuite></testsuites>',
            "a & b > in > x",
        ),
        (
            '<testsuites><testcase classname="test" name="at the root"/></testsuites>',
            "at the root",
        ),
        (
            '<testsuites><testsuite name="ex.com/p"><testcase classname="ex.com/p" '
            'name="TestA/b"/></testsuite></testsuites>',
            "ex.com/p TestA/b",
        ),
        (
            '<testsuite name="s"><testcase classname="com.x.FooTest" name="bar"/></testsuite>',
            "com.x.FooTest.bar",
        ),
        (
            '<testsuite name="s"><testcase classname="alpha" name="alpha"/></testsuite>',
            "alpha",
        ),
        (
            '<testsuite name="s"><testcase name="alone"/></testsuite>',
            "alone",
        ),
        (
            '<x:testsuite xmlns:x="u" name="s"><x:testcase name="spaced"/></x:testsuite>',
            "spaced",
        ),
    ],
)
def test_ids_are_those_of_the_writer(tmp_path: Path, text: str, expected: str) -> None:
    assert [test.id for test in junit(tmp_path, text).tests] == [expected]


@pytest.mark.parametrize(
    ("inside", "outcome", "reported"),
    [
        ("", "passed", None),
        ("<failure/>", "failed", None),
        ("<error/>", "error", None),
        ("<failure/><error/>", "error", None),
        ("<skipped/>", "skipped", None),
        ('<skipped type="pytest.xfail"/>', "xfailed", None),
        ('<skipped type="todo"/><failure/>', "skipped", "todo"),
        ('<failure type="test timeout"/>', "timeout", "test timeout"),
        ('<failure type="testTimeoutFailure"/>', "timeout", "testTimeoutFailure"),
    ],
)
def test_elements_decide_the_outcome(
    tmp_path: Path, inside: str, outcome: str, reported: str | None
) -> None:
    text = f'<testsuite name="s"><testcase name="t">{inside}</testcase></testsuite>'
    (test,) = junit(tmp_path, text).tests
    assert (test.outcome.value, test.reported) == (outcome, reported)


@pytest.mark.parametrize(
    ("status", "inside", "outcome"),
    [
        ("run", "", "passed"),
        ("notrun", "", "skipped"),  # googletest leaves disabled tests out
        ("notrun", '<skipped message="Unable to find executable"/>', "not_run"),  # ctest
        ("notrun", '<skipped message="Disabled"/>', "skipped"),
        ("disabled", "", "skipped"),
    ],
)
def test_a_status_tells_what_was_not_run(
    tmp_path: Path, status: str, inside: str, outcome: str
) -> None:
    text = (
        f'<testsuite name="s"><testcase name="t" status="{status}">{inside}</testcase></testsuite>'
    )
    assert outcomes(junit(tmp_path, text)) == {"t": outcome}


@pytest.mark.parametrize("element", ["flakyFailure", "rerunError"])
def test_a_pass_after_failed_attempts_is_in_doubt(tmp_path: Path, element: str) -> None:
    text = f'<testsuite name="s"><testcase name="t"><{element}>x</{element}></testcase></testsuite>'
    (test,) = junit(tmp_path, text).tests
    assert test.outcome is Outcome.PASSED
    assert test.conflict == "flaky: passed after 1 failed attempts"


def test_texts_and_times_are_kept(tmp_path: Path) -> None:
    (test,) = junit(
        tmp_path,
        '<testsuite name="s"><testcase name="t" time="1,234.5"><failure message="why">\nall\n'
        "</failure><system-out>out</system-out><system-out>more</system-out>"
        "<system-err>err</system-err></testcase></testsuite>",
    ).tests
    assert (test.message, test.traceback, test.duration_s) == ("why", "all", 1234.5)
    assert (test.stdout, test.stderr) == ("out\nmore", "err")


@pytest.mark.parametrize("time", ["", "-1", "inf", "nan", "soon"])
def test_a_time_that_is_none_is_unknown(tmp_path: Path, time: str) -> None:
    text = f'<testsuite name="s"><testcase name="t" time="{time}"/></testsuite>'
    assert junit(tmp_path, text).tests[0].duration_s is None


def test_a_file_that_is_cut_short_keeps_what_came_before(tmp_path: Path) -> None:
    cases = "".join(f'<testcase name="t{number}"/>' for number in range(20))
    whole = f'<testsuites><testsuite name="s" tests="20">{cases}</testsuite></testsuites>'
    cut = whole[: whole.index('<testcase name="t8"') + 12]
    report = junit(tmp_path, cut)
    assert [test.id for test in report.tests] == [f"t{number}" for number in range(8)]
    assert report.is_damaged
    assert report.unreported == 12
    assert "the 8 tests before it are kept" in report.problems[0].what
    assert report.unnamed("t9")[0] is Outcome.MISSING


def test_a_case_that_is_cut_off_has_no_outcome(tmp_path: Path) -> None:
    report = junit(tmp_path, '<testsuite name="s"><testcase name="a"/><testcase name="b"><failure')
    assert outcomes(report) == {"a": "passed"}
    assert "inside the test b" in report.problems[0].what


@pytest.mark.parametrize(
    "prolog",
    [
        '<!DOCTYPE testsuite [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE testsuite [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE testsuite [<!ENTITY % p SYSTEM "http://example.invalid/x.dtd"> %p;]>',
    ],
)
def test_entities_are_refused(tmp_path: Path, prolog: str) -> None:
    with pytest.raises(BadInputError, match="declares XML entities"):
        junit(tmp_path, f'{prolog}<testsuite name="s"><testcase name="&b;&x;"/></testsuite>')


def test_an_external_doctype_is_never_fetched(tmp_path: Path) -> None:
    dtd = '<!DOCTYPE testsuite SYSTEM "http://example.invalid/junit.dtd">'
    assert outcomes(
        junit(tmp_path, f'{dtd}<testsuite name="s"><testcase name="t"/></testsuite>')
    ) == {"t": "passed"}


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("&#27;[31mred", "␛[31mred"),
        ("&#x1B;[31mred", "␛[31mred"),
        ("nul \x00", "nul ␀"),
        ("&#xD800;", "\N{REPLACEMENT CHARACTER}"),
        ("&#99999999;", "\N{REPLACEMENT CHARACTER}"),
        ("\uffff", "\N{REPLACEMENT CHARACTER}"),
        ("a & b", "a & b"),
        ("&amp;&lt;&#10;", "&<\n"),
    ],
)
def test_what_xml_forbids_is_replaced_and_all_else_stays(
    tmp_path: Path, raw: str, shown: str
) -> None:
    text = (
        f'<testsuite name="s"><testcase name="t"><failure message="{raw}"/></testcase></testsuite>'
    )
    assert junit(tmp_path, text).tests[0].message == shown


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_a_declared_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    name = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{name}"?>\n<testsuite><testcase name="é"/></testsuite>'
    assert [t.id for t in junit(tmp_path, text.encode(encoding)).tests] == ["é"]


def test_bytes_of_no_encoding_are_replaced(tmp_path: Path) -> None:
    report = junit(tmp_path, b'<testsuite><testcase name="a\xff"/></testsuite>')
    assert [test.id for test in report.tests] == ["a\N{REPLACEMENT CHARACTER}"]


def test_an_unknown_encoding_is_read_as_utf_8_and_said(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="klingon"?><testsuite><testcase name="t"/></testsuite>'
    report = junit(tmp_path, text)
    assert outcomes(report) == {"t": "passed"}
    assert "unknown encoding klingon" in report.problems[0].what


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the file is empty"),
        ("  \n", "the file is empty"),
        ("<html><testsuite/></html>", "expected testsuites or testsuite, found html"),
        ("<testsuite", "expected XML"),
        ("not xml", "expected XML"),
    ],
)
def test_what_is_no_report_is_bad_input_in_one_line(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "r.xml"
    path.write_text(text, "utf-8")
    with pytest.raises(BadInputError, match=why) as raised:
        JunitReader().read(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("head", [b"<html>", b"{}", b"", b"testsuite", b"<!-- <other> -->"])
def test_other_files_are_not_taken_for_it(head: bytes) -> None:
    assert JunitReader().detect(head, "junit.xml") is None


def test_deep_nesting_is_no_trouble(tmp_path: Path) -> None:
    depth = 5_000
    text = '<testsuite name="s">' * depth + '<testcase name="t"/>' + "</testsuite>" * depth
    assert len(junit(tmp_path, text).tests) == 1


def test_a_file_of_vitest_that_failed_is_a_gap(tmp_path: Path) -> None:
    report = junit(
        tmp_path,
        '<testsuites name="vitest tests"><testsuite name="a.test.ts" tests="1">'
        '<testcase classname="a.test.ts" name="a.test.ts"><failure message="no"/></testcase>'
        "</testsuite></testsuites>",
    )
    assert the(report, "a.test.ts").reported == "file failed"
    assert report.unnamed("a.test.ts > x") == (Outcome.NOT_RUN, "file failed")
    assert report.unreported == 0


LIBTEST = (
    '<?xml version="1.0" encoding="UTF-8"?><testsuites><testsuite name="test" package="test" '
    'id="0" tests="{}">{}</testsuite></testsuites>'
)


def test_libtest_names_modules_doctests_and_tests_outside_of_modules(tmp_path: Path) -> None:
    cases = [("tests::inner", "deep"), ("integration", "top"), ("src/lib.rs", "add (line 2)")]
    text = "".join(f'<testcase classname="{c}" name="{n}" time="0"/>' for c, n in cases)
    report = read_as(tmp_path / "j.xml", LIBTEST.format(3, text))
    assert set(outcomes(report)) == {"tests::inner::deep", "top", "src/lib.rs - add (line 2)"}


def test_several_documents_in_one_file_are_all_read(tmp_path: Path) -> None:
    first = LIBTEST.format(1, '<testcase classname="a" name="x" time="0"/>')
    second = LIBTEST.format(
        1, '<testcase classname="b" name="y"><failure type="assert"/></testcase>'
    )
    text = f"{first}\n\nall tests ran in 0.3s\n{second}\nbye\n"
    report = read_as(tmp_path / "j.xml", text)
    assert outcomes(report) == {"a::x": "passed", "b::y": "failed"}
    assert report.announced == 2
    assert not report.is_damaged
    assert report.problems == ()


def test_a_second_document_that_is_cut_is_damaged(tmp_path: Path) -> None:
    first = LIBTEST.format(1, '<testcase classname="a" name="x" time="0"/>')
    cut = '<testsuites><testsuite name="test" package="test"><testcase n'
    report = read_as(tmp_path / "j.xml", f"{first}\n{cut}")
    assert outcomes(report) == {"a::x": "passed"}
    assert report.is_damaged


@pytest.mark.parametrize(
    ("root", "case", "expected"),
    [
        ("", 'classname="Inst/PTest" name="Does/0" status="run"', "Inst/PTest.Does/0"),
        ("", 'classname="a.bats" name="does a thing"', "a.bats > does a thing"),
        ("", 'classname="a.spec.ts" name="outer › does"', "a.spec.ts > outer › does"),
        ("", 'classname="Foo" name="handles Foo"', "Foo.handles Foo"),
        ('name="Mocha Tests"', 'classname="does" name="outer does"', "outer > does"),
        ('name="Mocha Tests"', 'classname="outer does" name="does"', "outer > does"),
        ('name="jest tests"', 'classname="outer inner" name="deep"', "outer inner > deep"),
        ('name="jest tests"', 'classname="a.test.js" name="deep"', "a.test.js > deep"),
        ('name="pytest tests"', 'classname="t.test_a.TestC" name="t"', "t/test_a.py::TestC::t"),
    ],
)
def test_ids_of_further_writers(tmp_path: Path, root: str, case: str, expected: str) -> None:
    text = f'<testsuites {root}><testsuite name="s"><testcase {case}/></testsuite></testsuites>'
    assert set(outcomes(junit(tmp_path, text))) == {expected}


def test_a_word_of_pytest_tells_it_whatever_its_suite_is_called(tmp_path: Path) -> None:
    skipped = '<testcase classname="test_a" name="s"><skipped type="pytest.skip"/></testcase>'
    text = f'<testsuites><testsuite name="mine">{skipped}</testsuite></testsuites>'
    assert set(outcomes(junit(tmp_path, text))) == {"test_a.py::s"}


def test_a_package_of_go_that_failed_is_no_test(tmp_path: Path) -> None:
    property_ = '<properties><property name="go.version" value="go1.21"/></properties>'
    report = junit(
        tmp_path,
        f'<testsuites><testsuite name="mod" tests="1">{property_}'
        '<testcase classname="mod" name="TestA"/></testsuite><testsuite name="m/c" tests="1">'
        '<testcase classname="" name="TestMain"><failure message="Failed">build failed</failure>'
        "</testcase></testsuite></testsuites>",
    )
    assert outcomes(report) == {"mod TestA": "passed", "m/c": "error"}
    assert the(report, "m/c").reported == "package failed"
    assert report.unnamed("m/c TestX") == (Outcome.NOT_RUN, "package failed")


def test_what_a_failed_attempt_printed_hides_no_attempt(tmp_path: Path) -> None:
    report = junit(
        tmp_path,
        '<testsuite name="T" tests="1"><testcase classname="T" name="t"><flakyFailure message="x">'
        "<stackTrace>st</stackTrace><system-out>printed</system-out></flakyFailure>"
        "<system-out>own</system-out></testcase></testsuite>",
    )
    assert the(report, "T.t").conflict == "flaky: passed after 1 failed attempts"
    assert the(report, "T.t").stdout == "own"
