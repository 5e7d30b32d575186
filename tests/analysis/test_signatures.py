from __future__ import annotations

import pytest

from arcview.analysis.signatures import group, normalise, signature
from arcview.model.results import GateTest, Group, Outcome


def a_test(
    message: str | None,
    traceback: str | None = None,
    outcome: Outcome = Outcome.FAILED,
    name: str = "t",
) -> GateTest:
    return GateTest(name, Group.F2P, outcome, message=message, traceback=traceback)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Expected exit code 0, got 1", "Expected exit code 1, got 2"),
        ("no such file /tmp/pytest-of-a/pytest-0/x0/a.json", "no such file /var/run/b/c.json"),
        ("<Foo object at 0x7f00aa10>", "<Foo object at 0x7f99bb20>"),
        ("took 0.31s", "took 12 s"),
        ("at 2026-06-04T23:47:33.617 it broke", "at 2026-06-05 01:00:00Z it broke"),
        ("commit 3f2a1bc9d0 is gone", "commit 77aa01b is gone"),
        ("run 0b3c9b6e-4a52-4d7e-9d5a-0a1b2c3d4e5f", "run 1c3c9b6e-4a52-4d7e-9d5a-0a1b2c3d4e5f"),
        ("cannot reach http://127.0.0.1:8080/x", "cannot reach https://host/y?z=1"),
        ("in src/a.py:12", "in lib/deep/b.py:9"),
        ("dir tmpab12cd3x", "dir tmp_9x81_aa"),
    ],
)
def test_what_differs_from_run_to_run_is_stripped(left: str, right: str) -> None:
    assert normalise(left) == normalise(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("name 'col_defs' is not defined", "name 'rollback' is not defined"),
        ("no such table: users", "no such table: posts"),
        ("KeyError", "ValueError"),
        ("utf8 is bad", "utf16 is bad"),
    ],
)
def test_names_are_kept(left: str, right: str) -> None:
    assert normalise(left) != normalise(right)


PYTEST_LONG = """    def test_it(tmp_path):
>       check(run(), 1)

tests/test_a.py:4:
_ _ _ _ _ _ _ _ _ _ _
    def check(actual, expected):
>       assert sorter(actual) == sorter(expected)
E       AssertionError

tests/helpers.py:9: AssertionError"""

NATIVE = """Traceback (most recent call last):
  File "/w/tests/test_a.py", line 4, in test_it
    self.assertEqual(total(), 3)
AssertionError: 2 != 3"""


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (a_test("AssertionError", PYTEST_LONG), "assert sorter(actual) == sorter(expected)"),
        (
            a_test("AssertionError: assert [{'a': 1}] == []", PYTEST_LONG),
            "assert sorter(actual) == sorter(expected)",
        ),
        (a_test(None, PYTEST_LONG), "assert sorter(actual) == sorter(expected)"),
        (a_test("2 != 3", NATIVE), "self.assertEqual(total(), 3)"),
        (
            a_test("AssertionError: 2 != 3", NATIVE),
            "AssertionError at self.assertEqual(total(), 3)",
        ),
        (a_test("assert [{'a': 1}] == ['b', (1, 2)]"), "assert <value> == <value>"),
        (a_test("ValueError: bad age 41"), "ValueError: bad age <n>"),
        (
            a_test("AssertionError: Error: name 'x' is not defined", PYTEST_LONG),
            "AssertionError: Error: name 'x' is not defined",
        ),
        (
            a_test('Command failed:   File "/w/a.py", line 4\n  x = }\n  SyntaxError: unmatched'),
            "SyntaxError: unmatched",
        ),
        (
            a_test("thread 'tests::add' panicked at src/lib.rs:12:5:\nattempt to divide by zero"),
            "attempt to divide by zero",
        ),
        (a_test("\x1b[31mTypeError: boom\x1b[0m"), "TypeError: boom"),
        (a_test(None, outcome=Outcome.MISSING), "expected, but not in the report"),
        (a_test("", outcome=Outcome.ERROR), "error, without a message"),
    ],
)
def test_the_signature_is_the_wording_else_the_failing_statement(
    test: GateTest, expected: str
) -> None:
    assert signature(test) == expected


def test_groups_come_with_the_largest_first_and_keep_the_order_of_the_gate() -> None:
    tests = [
        a_test("KeyError: 'x'", name="a"),
        a_test("exit 1", name="b"),
        a_test("exit 2", name="c"),
    ]
    found = group(tests)
    assert [[test.id for test in one.tests] for one in found] == [["b", "c"], ["a"]]
    assert [one.title for one in found] == ["exit <n>", "KeyError: 'x'"]


def test_a_huge_message_costs_no_time() -> None:
    assert len(signature(a_test("assert " + "[" * 200_000))) <= 300
    assert len(signature(a_test("x" * 3_000_000))) <= 300
