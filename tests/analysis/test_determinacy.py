"""Whether anything told the agent what a failing assertion expects."""

from __future__ import annotations

import pytest

from arcview.analysis.determinacy import Source, Sources, demand_of, suggest_unspecified
from arcview.model.results import GateTest, Group, Outcome

SPEC = Source("specification 3", "A note without a title is refused with `title required`.")
CODE = Source("code of S2", 'raise NoteError(f"no such note: {number}")')


def failing(message: str, traceback: str | None = None) -> GateTest:
    return GateTest("t", Group.F2P, Outcome.FAILED, message=message, traceback=traceback)


def demanded(message: str, *sources: Source) -> tuple[tuple[str, ...], list[str]] | None:
    found = demand_of(failing(message), Sources(sources))
    return None if found is None else (found.missing, [title for _, title in found.found])


def test_a_text_that_stands_nowhere_is_missing() -> None:
    assert demanded("assert 'ok' == 'conflict: rule twice'", SPEC, CODE) == (
        ("conflict: rule twice",),
        [],
    )


def test_a_text_of_the_specification_is_found_whatever_its_case_and_blanks() -> None:
    assert demanded("assert '' == 'Title  required'", SPEC) == ((), ["specification 3"])


def test_the_words_of_a_message_with_values_are_enough() -> None:
    assert demanded("assert '' == 'no such note: 17'", SPEC, CODE) == ((), ["code of S2"])


@pytest.mark.parametrize(
    "message",
    [
        "assert 3 == 2",
        "assert [] == [1]",
        "assert 'long text' == 'long'",
        "assert 'a' != 'something else'",
        "KeyError: 'tags'",
        "",
    ],
)
def test_an_assertion_without_a_new_text_says_nothing(message: str) -> None:
    assert demanded(message, SPEC) is None


def test_what_the_test_put_in_itself_is_no_demand() -> None:
    test = failing("assert '' == 'buy milk'", "args = ['add', 'buy milk']\nassert '' == 'buy milk'")
    assert demand_of(test, Sources([SPEC])) is None


def test_texts_inside_of_structures_are_looked_up() -> None:
    assert demanded("assert {} == {'severity': ['title required']}", SPEC) == (
        ("severity",),
        ["specification 3"],
    )


def test_v1_is_proposed_where_half_of_the_assertions_expect_the_untold() -> None:
    tests = [
        ("gate:3/f2p/a", failing("assert '' == 'never told anywhere'")),
        ("gate:3/f2p/b", failing("assert '' == 'title required'")),
        ("gate:3/f2p/c", failing("assert 1 == 2")),
    ]
    (found,) = suggest_unspecified(tests, Sources([SPEC, CODE]))
    assert (found.field, found.code, found.exact) == ("validity", "V1", False)
    assert found.reason == (
        "what 1 of 2 assertions expect stands in none of: specification 3, code of S2; "
        "1 more failures do not show what they expect"
    )
    assert [(span.address, span.text) for span in found.spans] == [
        ("gate:3/f2p/a", "never told anywhere")
    ]


def test_a_few_untold_among_many_are_no_reason() -> None:
    told = ("gate:3/f2p/b", failing("assert '' == 'title required'"))
    tests = [("gate:3/f2p/a", failing("assert '' == 'never told anywhere'")), told, told, told]
    assert list(suggest_unspecified(tests, Sources([SPEC]))) == []


def test_where_nothing_is_recorded_that_could_tell_nothing_is_proposed() -> None:
    tests = [("gate:3/f2p/a", failing("assert '' == 'never told anywhere'"))]
    assert list(suggest_unspecified(tests, Sources([]))) == []
