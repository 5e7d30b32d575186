"""Expected ids are found among reported ones across spellings, and never by a guess."""

from __future__ import annotations

import pytest

from arcview.model.results import GateTest, Group, Outcome, Report
from arcview.readers.reports.identity import key_of, match


def reported(*tests: tuple[str, Outcome]) -> Report:
    entries = tuple(GateTest(name, Group.OTHER, outcome) for name, outcome in tests)
    return Report("x", entries)


def passed(*names: str) -> Report:
    return reported(*((name, Outcome.PASSED) for name in names))


@pytest.mark.parametrize(
    ("expected", "name"),
    [
        ("tests/test_a.py::TestC::t[x]", "tests/test_a/TestC.py::t[x]"),  # what JUnit cannot tell
        ("tests/test_a.py::t", "tests\\test_a.py::t"),
        ("test_a (app.tests.T)", "app.tests.T.test_a"),
        ("test_a (app.tests.T.test_a)", "app.tests.T.test_a"),
        ("app/tests.py::T::test_a", "app.tests.T.test_a"),
        ("p::it$a::b", "p::it a::b"),
        ("p::p$a::b", "p a::b"),
        ("a.test.js > s > t", "/repo/a.test.js > s > t"),
        ("src/a.test.js > s > t", "/repo/src/a.test.js > s > t"),
        ("s > inner > t", "s inner > t"),
        ("s › t", "s > t"),
        ("s >   t  ", "s > t"),
        ("t \x1b[31mred\x1b[0m", "t ␛[31mred␛[0m"),
        ("t \x1b[31mred\x1b[0m", "t red"),
        ("new\nline", "new line"),
        ("a.py::t[<obj at 0x7f00aa11>]", "a.py::t[<obj at 0x7fffbb22>]"),
        ("com.x.T.m[Foo@1a2b3c4d]", "com.x.T.m[Foo@5e6f7a8b]"),
        ("a.py::t", "[gw1] [ 12%] a.py::t"),
    ],
)
def test_another_spelling_of_one_test_is_found(expected: str, name: str) -> None:
    found = match(passed(name), [expected])
    assert found.found[expected].id == expected
    assert found.rest == ()
    assert any("matched by another spelling" in note for note in found.notes)


@pytest.mark.parametrize(
    ("expected", "names"),
    [
        ("a.test.js > t", ["/x/a.test.js > t", "/y/a.test.js > t"]),
        ("b.test.js > t", ["/x/ab.test.js > t"]),
        ("a.py::t[x]", ["a.py::t[y]"]),
        ("a.py::t", ["b.py::t"]),
    ],
)
def test_what_could_be_another_test_is_not_taken(expected: str, names: list[str]) -> None:
    found = match(passed(*names), [expected])
    assert expected not in found.found
    assert [test.id for test in found.rest] == names


def test_two_expected_ids_with_one_spelling_are_not_guessed() -> None:
    ids = ["t[<a at 0x7f00aa11>]", "t[<a at 0x7f00bb22>]"]
    assert match(passed("t[<a at 0x7f00cc33>]"), ids).found == {}


def test_an_exact_id_wins_over_another_spelling() -> None:
    report = reported(("s t", Outcome.FAILED), ("s > t", Outcome.PASSED))
    found = match(report, ["s > t"]).found
    assert found["s > t"].outcome is Outcome.PASSED


def test_a_file_stands_for_all_tests_in_it() -> None:
    report = reported(
        ("a.py::t", Outcome.PASSED), ("a.py::u", Outcome.FAILED), ("ab.py::v", Outcome.ERROR)
    )
    test = match(report, ["a.py"]).found["a.py"]
    assert (test.outcome, test.message) == (Outcome.FAILED, "1 of 2 tests failed")


def test_an_id_that_was_cut_at_a_blank_matches_where_all_agree() -> None:
    report = passed("a.py::t[a b]", "a.py::t[a c]", "a.py::t[d]")
    test = match(report, ["a.py::t[a"]).found["a.py::t[a"]
    assert test.outcome is Outcome.PASSED
    assert "2 tests begin so" in (test.conflict or "")


def test_an_id_that_was_cut_matches_nothing_where_they_differ() -> None:
    report = reported(("a.py::t[a b]", Outcome.PASSED), ("a.py::t[a c]", Outcome.FAILED))
    assert match(report, ["a.py::t[a"]).found == {}


def test_a_whole_id_is_no_prefix() -> None:
    assert match(passed("a.py::test_longer"), ["a.py::test"]).found == {}


def test_progress_that_was_taken_for_an_id_is_said_to_be_none() -> None:
    found = match(passed("a.py::t"), ["a.py::t", "[100%]"])
    assert "[100%]" not in found.found
    assert "1 expected ids are no ids of tests: [100%]" in found.notes


def test_collisions_are_counted() -> None:
    test = GateTest("a", Group.OTHER, Outcome.FAILED, copies=2, conflict="differ")
    notes = match(Report("x", (test,)), ["a"]).notes
    assert "1 expected id is reported more than once, 1 of them with different outcomes" in notes


def test_keys_keep_what_tells_tests_apart() -> None:
    names = ["a.py::t[x]", "a.py::t[x y]", "a.py::t[]", "a.py::t", "b.py::t", "s > t", "s > u"]
    assert len({key_of(name) for name in names}) == len(names)
