"""Which origin and which mechanisms are proposed for a failing gate, and why."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from arcview.analysis.history import History
from arcview.analysis.suggest_effects import (
    ChangeAuthor,
    CodePlace,
    FailureFacts,
    GateFailures,
    blamed,
    suggest_mechanisms,
    suggest_origins,
)


def place(
    stage: int | None, *, step: int = 1, path: str = "a.py", line: int = 1, exact: bool = True
) -> CodePlace:
    key = f"s{stage}-{step}"
    return CodePlace(f"file:S/{path}#L{line}", path, line, f"S{stage}", stage, key, step, exact)


def failure(
    name: str,
    history: History = History.FIRST,
    places: Iterable[CodePlace] = (),
    since: int | None = None,
    authors: Iterable[ChangeAuthor] = (),
) -> FailureFacts:
    state = None if since is None else f"S{since}"
    return FailureFacts(
        f"gate:3/f2p/{name}", name, history, state, since, tuple(places), "boom", tuple(authors)
    )


def gate(
    *failures: FailureFacts,
    expected: int = 10,
    changed: Iterable[str] = (),
    healed: tuple[str, ...] = (),
) -> GateFailures:
    return GateFailures("3", 3, failures, expected, frozenset(changed), healed)


def codes(found: GateFailures, before: dict[str, int] | None = None) -> list[tuple[str, bool]]:
    return [(s.code, s.exact) for s in suggest_mechanisms(found, before)]


def origins(found: GateFailures) -> list[tuple[object, object]]:
    return [(s.values.get("stage"), s.values.get("step")) for s in suggest_origins(found)]


def test_the_place_that_most_tracebacks_lead_to_comes_first() -> None:
    one, two = place(1), place(2, path="b.py")
    found = gate(failure("a", places=[two]), failure("b", places=[one]), failure("c", places=[one]))
    assert origins(found) == [(1, "s1-1"), (2, "s2-1")]


def test_a_traceback_comes_before_likeness_of_texts() -> None:
    likely = place(2, path="b.py", exact=False)
    found = gate(
        failure("a", places=[likely]),
        failure("b", places=[likely]),
        failure("c", places=[place(1)]),
    )
    assert [s.exact for s in suggest_origins(found)] == [True, False]


def test_only_the_end_of_a_traceback_votes() -> None:
    found = gate(failure("a", places=[place(1), place(2, path="b.py")]))
    assert origins(found) == [(1, "s1-1")]


def test_code_from_before_the_agent_is_nobodys_origin() -> None:
    assert origins(gate(failure("a", places=[place(0), place(None)]))) == []


def test_without_a_place_the_steps_of_the_change_are_proposed() -> None:
    authors = [
        ChangeAuthor("step:2/x", "S2", 2, "x", 7, 20),
        ChangeAuthor("step:2/y", "S2", 2, "y", 8, 5),
    ]
    found = gate(failure("a", History.INHERITED, since=2, authors=authors))
    assert origins(found) == [(2, "x"), (2, "y")]


def test_without_anything_else_the_state_it_began_with_is_proposed() -> None:
    (only,) = suggest_origins(gate(failure("a", History.INHERITED, since=2)))
    assert dict(only.values) == {"stage": 2, "state": "S2"}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (gate(failure("a", History.INHERITED, [place(1)])), [("M1", True)]),
        (gate(failure("a", History.INHERITED, [place(1)]), changed=["a.py"]), []),
        (gate(failure("a", History.INHERITED)), [("M1", False)]),
        (gate(failure("a", History.INHERITED, [place(1, exact=False)])), [("M1", False)]),
        (gate(failure("a", places=[place(1)])), [("M2", True)]),
        (gate(failure("a", places=[place(3)])), [("M0", False)]),
        (gate(failure("a", History.NEW, [place(2, exact=False)])), [("M2", False)]),
        (gate(failure("a", History.UNKNOWN, [place(1)])), []),
        (gate(failure("a"), healed=("gate:3/p2p/x",)), [("M9", True)]),
    ],
)
def test_mechanisms_follow_history_and_author(
    found: GateFailures, expected: list[tuple[str, bool]]
) -> None:
    assert codes(found) == expected


def test_a_gate_that_dies_of_one_old_line_is_blocked() -> None:
    found = gate(*(failure(name, places=[place(1)]) for name in "abc"), expected=3)
    assert codes(found) == [("M5", True)]


def test_all_failing_for_several_reasons_is_not_blocked() -> None:
    found = gate(
        failure("a", places=[place(1)]), failure("b", places=[place(1, line=9)]), expected=2
    )
    assert codes(found) == [("M2", True)]


def test_more_failures_of_one_author_than_before_are_amplified() -> None:
    found = gate(*(failure(name, History.INHERITED, [place(1)]) for name in "abc"))
    assert blamed(found) == {"stage 1 #1": 3}
    assert [code for code, _ in codes(found, {"stage 1 #1": 2})] == ["M1", "M7"]
    assert [code for code, _ in codes(found, {"stage 1 #1": 3})] == ["M1"]


def test_every_suggestion_says_why_and_where() -> None:
    found = gate(failure("a", places=[place(1)]))
    for suggestion in (*suggest_origins(found), *suggest_mechanisms(found)):
        assert suggestion.reason
        assert "gate:3/f2p/a" in [span.address for span in suggestion.spans]
        assert (suggestion.rule, suggestion.version) in [("origin", 1), ("mechanism", 1)]


def test_other_inputs_have_another_hash() -> None:
    one, other = gate(failure("a", places=[place(1)])), gate(failure("b", places=[place(1)]))
    hashes = {next(suggest_origins(found)).inputs for found in (one, other, one)}
    assert len(hashes) == 2
