"""Cutting a session into the parts of stages, and adding sessions up."""

from __future__ import annotations

from typing import Any

import pytest

from arcview.model.trajectory import Role, Session, Step, StepKind, Trajectory
from arcview.model.trajectory_refs import SessionRole, TrajectoryRef, Usage
from arcview.readers.parts import (
    join,
    model_of,
    take_part,
    turn_starts,
    usage_of,
)


def step(key: str, role: Role = Role.ASSISTANT, **more: Any) -> Step:
    number = 1 if role is Role.ASSISTANT else None
    fields = {"number": number, "kind": StepKind.MESSAGE, "text": key, "session": "s"} | more
    return Step(key=key, role=role, **fields)


def user(key: str, **more: Any) -> Step:
    return step(key, Role.USER, **more)


def numbered(*steps: Step) -> Trajectory:
    return Trajectory("x", steps, sessions=(Session("s", SessionRole.MAIN, len(steps)),))


def keys(trajectory: Trajectory) -> list[str]:
    return [each.key for each in trajectory.steps]


SESSION = numbered(
    user("u1", at="2026-01-01T10:00:00Z"),
    step("a1", at="2026-01-01T10:01:00Z"),
    step("a2", at="2026-01-01T10:02:00Z"),
    user("u2", at="2026-01-01T10:03:00Z"),
    step("a3", at="2026-01-01T10:04:00Z"),
)


# -- turns


def test_a_turn_begins_with_what_the_user_says_after_an_answer() -> None:
    assert turn_starts(SESSION.steps) == [0, 3]


def test_several_messages_of_the_user_in_a_row_are_one_turn() -> None:
    steps = (user("u1"), user("u2"), step("a1"), user("u3"), user("u4"), step("a2"))
    assert turn_starts(steps) == [0, 3]


@pytest.mark.parametrize(
    "other",
    [
        user("summary", kind=StepKind.COMPACTION),
        user("to a sub-agent", agent="helper"),
        user("of another session", session="t"),
        user("   "),
    ],
)
def test_what_a_person_did_not_say_to_the_agent_is_no_turn(other: Step) -> None:
    assert turn_starts((user("u1"), step("a1"), other, step("a2"))) == [0]


def test_nothing_has_no_turns() -> None:
    assert turn_starts(()) == []


# -- parts


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        (TrajectoryRef("x"), ["u1", "a1", "a2", "u2", "a3"]),
        (TrajectoryRef("x", turns=(1, 1)), ["u1", "a1", "a2"]),
        (TrajectoryRef("x", turns=(2, 2)), ["u2", "a3"]),
        (TrajectoryRef("x", turns=(1, 2)), ["u1", "a1", "a2", "u2", "a3"]),
        (TrajectoryRef("x", turns=(3, 3)), []),
        (TrajectoryRef("x", since="2026-01-01T10:02:00Z"), ["a2", "u2", "a3"]),
        (TrajectoryRef("x", until="2026-01-01T10:02:00Z"), ["u1", "a1"]),
        (
            TrajectoryRef("x", since="2026-01-01T10:01:30Z", until="2026-01-01T10:03:30Z"),
            ["a2", "u2"],
        ),
        (TrajectoryRef("x", since="2026-01-01T11:00:00Z"), []),
        (TrajectoryRef("x", until="2026-01-01T09:00:00Z"), []),
    ],
)
def test_a_part_is_what_its_reference_names(ref: TrajectoryRef, expected: list[str]) -> None:
    assert keys(take_part(SESSION, ref)) == expected


def test_times_that_cannot_be_compared_cut_nothing_off() -> None:
    ref = TrajectoryRef("x", since="2026-01-01T10:02:00")
    assert keys(take_part(SESSION, ref)) == keys(SESSION)


def test_a_step_without_a_time_goes_with_the_one_before_it() -> None:
    session = numbered(
        step("a1", at="2026-01-01T10:00:00Z"), step("a2"), step("a3", at="2026-01-01T10:02:00Z")
    )
    part = take_part(session, TrajectoryRef("x", until="2026-01-01T10:01:00Z"))
    assert keys(part) == ["a1"]
    rest = take_part(session, TrajectoryRef("x", since="2026-01-01T10:01:00Z"))
    assert keys(rest) == ["a2", "a3"]


def test_a_part_is_numbered_from_one() -> None:
    part = take_part(SESSION, TrajectoryRef("x", turns=(2, 2)))
    assert [each.number for each in part.steps] == [None, 1]


def test_what_a_session_says_of_its_whole_is_not_the_parts() -> None:
    whole = Trajectory(
        "x", SESSION.steps, usage=Usage(1), exit_status="submitted", patch="diff", model="m"
    )
    first = take_part(whole, TrajectoryRef("x", turns=(1, 1)))
    assert (first.usage, first.exit_status, first.patch, first.model) == (None, None, None, "m")
    last = take_part(whole, TrajectoryRef("x", turns=(2, 2)))
    assert (last.usage, last.exit_status, last.patch) == (None, "submitted", "diff")


def test_a_session_counts_only_the_steps_of_the_part() -> None:
    part = take_part(SESSION, TrajectoryRef("x", turns=(1, 1)))
    assert [(session.id, session.steps) for session in part.sessions] == [("s", 2)]


# -- sums


def test_joined_sessions_are_numbered_through() -> None:
    joined = join([numbered(step("a1")), numbered(user("u"), step("a2"))])
    assert [each.number for each in joined.steps] == [1, None, 2]


def test_one_session_is_joined_as_it_is() -> None:
    assert join([SESSION]) is SESSION


def test_nothing_joined_is_empty() -> None:
    assert join([]).format == "none"


def test_totals_are_added_only_where_every_part_has_them() -> None:
    first, second = Trajectory("x", usage=Usage(1, cost_usd=0.5)), Trajectory("x", usage=Usage(2))
    assert join([first, second]).usage == Usage(3, cost_usd=0.5)
    assert join([first, Trajectory("x")]).usage is None


def test_usage_is_the_sum_over_the_messages_where_there_is_no_total() -> None:
    steps = (step("a1", usage=Usage(1, output_tokens=2)), step("a2", usage=Usage(3)))
    assert usage_of(Trajectory("x", steps)) == Usage(4, output_tokens=2)


def test_a_recorded_total_counts_more_than_the_sum() -> None:
    steps = (step("a1", usage=Usage(1, output_tokens=2)),)
    assert usage_of(Trajectory("x", steps, usage=Usage(9))) == Usage(9, output_tokens=2)


def test_a_cost_of_nothing_beside_tokens_is_unknown() -> None:
    steps = (step("a1", usage=Usage(1, cost_usd=0.0)),)
    assert usage_of(Trajectory("x", steps)) == Usage(1)


def test_usage_of_nothing_is_unknown() -> None:
    assert usage_of(Trajectory("x", (step("a1", usage=Usage(0, cost_usd=0.0)),))) is None
    assert usage_of(Trajectory("x")) is None


def test_the_model_is_the_one_that_most_messages_name() -> None:
    steps = (step("a", model="m"), step("b", model="m"), step("c", model="n"))
    assert model_of(Trajectory("x", steps)) == "m"
    assert model_of(Trajectory("x", (step("a", model="n", agent="helper"),))) is None
