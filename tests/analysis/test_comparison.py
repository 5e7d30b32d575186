from __future__ import annotations

import pytest

from arcview.analysis.comparison import Comparison, Sides
from arcview.analysis.signatures import split_actual_expected
from arcview.model.results import GateTest, Group, Outcome


def split(message: str | None, traceback: str | None = None) -> Comparison | None:
    return split_actual_expected(
        GateTest("t", Group.F2P, Outcome.FAILED, message=message, traceback=traceback)
    )


@pytest.mark.parametrize(
    ("message", "actual", "expected", "operator"),
    [
        ("assert 3 == 2", "3", "2", "=="),
        ("AssertionError: assert 'a == b' == 'c'\n  \n  - c", "'a == b'", "'c'", "=="),
        ("assert [1, {'a': (2,)}] == [1]", "[1, {'a': (2,)}]", "[1]", "=="),
        ("assert \"it's\" == 'x'", '"it\'s"', "'x'", "=="),
        ("assert 'x' in 'a b c'", "'a b c'", "'x'", "contains"),
        ("assert 'x' not in ['x']", "['x']", "'x'", "does not contain"),
        ("assert None is not None", "None", "None", "is not"),
        ("assert 5 < 3", "5", "3", "<"),
        ("AssertionError: 1 != 2 : totals", "1", "2", "=="),
        ("AssertionError: 'x' not found in 'abc'", "'abc'", "'x'", "contains"),
        ("AssertionError: 'x' unexpectedly found in 'x'", "'x'", "'x'", "does not contain"),
        ("AssertionError: Expected exit code 0, got 1", "1", "exit code 0", "=="),
        ("expected 4, but got 5.", "5", "4", "=="),
        ("got 5, want 4", "5", "4", "=="),
        (
            "expect(received).toBe(expected) // Object.is equality\n\nExpected: 2\nReceived: 1",
            "1",
            "2",
            "==",
        ),
        ("AssertionError: expected 1 to be 2 // Object.is equality", "1", "2", "=="),
        ("expected [ 1 ] to deeply equal [ 2 ]", "[ 1 ]", "[ 2 ]", "=="),
        ("AssertionError: expected 1 not to equal 1", "1", "1", "!="),
        ("AssertionError: expected 1 to not equal 1", "1", "1", "!="),
        ("expected [ 1 ] to include 2", "[ 1 ]", "2", "contains"),
        ("expected 'ab' not to include 'a'", "'ab'", "'a'", "does not contain"),
        ("expected 'ab' to match /c/", "'ab'", "/c/", "matches"),
        ("expected 'ab' not to match /a/", "'ab'", "/a/", "does not match"),
        ("assertion `left == right` failed\n  left: 1\n right: 2", "1", "2", "=="),
        ("assertion `left != right` failed\n  left: 1\n right: 1", "1", "1", "!="),
        ("assertion failed: `(left != right)`\n  left: `1`,\n right: `1`", "`1`,", "`1`", "!="),
        ('Expected substring: "x"\nReceived string: "y"', '"y"', '"x"', "contains"),
        ('Expected substring: not "x"\nReceived string: "x"', '"x"', '"x"', "does not contain"),
        ("Expected pattern: /x/\nReceived string: 'y'", "'y'", "/x/", "matches"),
        ("Expected value: 3\nReceived array: [1]", "[1]", "3", "contains"),
        ("Expected value: 3\nReceived value: 4", "4", "3", "=="),
        ("Not equal: \nexpected: 1\nactual  : 2", "2", "1", "=="),
        (
            "Expected values to be strictly equal:\n+ actual - expected\n\n+ 1\n- 2",
            "1",
            "2",
            "==",
        ),
        ("- Expected\n+ Received\n\n- a\n+ b", "b", "a", "=="),
    ],
)
def test_both_sides_are_found(message: str, actual: str, expected: str, operator: str) -> None:
    found = split(message)
    assert found is not None
    assert (found.actual, found.expected, found.operator) == (actual, expected, operator)


@pytest.mark.parametrize(
    "message",
    [
        None,
        "AssertionError",
        "KeyError: 'x'",
        "assert False",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "ValueError: a != b is what I wanted to say",
        "assert (",
        "==",
    ],
)
def test_a_message_with_one_side_gives_nothing(message: str | None) -> None:
    if message is not None and "!=" in message:
        found = split(message)
        assert found is None or found.sides is Sides.POSITION
    else:
        assert split(message) is None


def test_where_lines_say_what_a_value_is() -> None:
    found = split("assert 3 == 2\n +  where 3 = run(['x']).returncode\n +    and 2 = y()")
    assert found is not None
    assert found.where == ("3 = run(['x']).returncode", "2 = y()")


@pytest.mark.parametrize(
    ("statement", "actual", "sides"),
    [
        ("assert result == expected", "1", Sides.NAMES),
        ("assert expected == result", "2", Sides.NAMES),
        ('assert result.returncode == 0, f"failed: {x == y}"', "1", Sides.NAMES),
        ("assert 0 == result.returncode", "2", Sides.NAMES),
        ("assert left == right", "1", Sides.POSITION),
    ],
)
def test_the_words_of_the_source_tell_which_side_was_demanded(
    statement: str, actual: str, sides: Sides
) -> None:
    found = split("assert 1 == 2", f">       {statement}\nE       assert 1 == 2")
    assert found is not None
    assert (found.actual, found.sides) == (actual, sides)


def test_a_member_of_a_constant_list_is_the_observed_side() -> None:
    found = split("assert 2 in (0, 1)", ">   assert result.code in (0, 1)\nE   assert 2 in (0, 1)")
    assert found is not None
    assert (found.actual, found.demand) == ("2", "in (0, 1)")


@pytest.mark.parametrize(
    ("message", "source", "actual", "demand"),
    [
        ("assert 3 == 2", "n == 2", "3", "2"),
        ("assert 'a - b' != 'a - b'", 's != "a - b"', "'a - b'", "!= 'a - b'"),
        ("assert None is not None", "x is not None", "None", "is not None"),
        ("assert 5 < 3", "n < 3", "5", "< 3"),
        ("assert 3 < 2", "3 < n", "2", "> 3"),
        ("assert 10 >= 11", "10 >= n", "11", "<= 10"),
        (
            "assert 'err' not in 'an err or'",
            '"err" not in out',
            "'an err or'",
            "does not contain 'err'",
        ),
        ("assert 'x' in 'abc'", '"x" in out', "'abc'", "contains 'x'"),
        ("assert 'x' not in ['x']", "name not in [1, name]", "'x'", "not in ['x']"),
    ],
)
def test_what_was_demanded_of_the_actual_side_names_any_other_relation_than_equality(
    message: str, source: str, actual: str, demand: str
) -> None:
    found = split(message, f">       assert {source}\nE       {message}")
    assert found is not None
    assert (found.actual, found.demand) == (actual, demand)


ARGUMENTS = """argv = ['uv']

    def test_it(argv):
>       check(out, want)

tests/test_a.py:4:
_ _ _ _ _ _ _ _ _ _ _

actual_stdout = '{"a":1...}'
expected = [{'a': 2}]
sorter = <function f>

    def check(actual_stdout, expected, sorter):
        expected = sorter(expected)
>       assert sorter(actual) == expected
E       AssertionError
"""


def test_a_bare_assertion_shows_the_arguments_of_its_frame() -> None:
    found = split("AssertionError", ARGUMENTS)
    assert found == Comparison(
        "'{\"a\":1...}'", "[{'a': 2}]", "==", Sides.ARGUMENTS, (), shortened=True
    )
