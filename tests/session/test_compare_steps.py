from __future__ import annotations

from arcview.model.trajectory import Role, Step, StepKind, Trajectory
from arcview.session.compare_steps import StepPairs


def _steps(*numbers: int | None) -> Trajectory:
    return Trajectory(
        format="",
        steps=tuple(
            Step(key=f"k{place}", number=number, role=Role.ASSISTANT, kind=StepKind.MESSAGE)
            for place, number in enumerate(numbers)
        ),
    )


def test_steps_of_one_number_stand_beside_each_other() -> None:
    pairs = StepPairs(_steps(None, 1, 2), _steps(1, None, 2, 3))
    assert pairs.number(0, 2) == 2
    assert pairs.place(1, 2) == 2
    assert pairs.place(0, 3) is None


def test_a_note_belongs_to_the_step_before_it_or_to_the_beginning() -> None:
    pairs = StepPairs(_steps(None, 1, None), _steps(1))
    assert pairs.number(0, 0) == 0
    assert pairs.place(1, 0) == 0
    assert pairs.number(0, 2) == 1


def test_a_run_without_steps_has_none_to_stand_beside() -> None:
    pairs = StepPairs(None, _steps(1))
    assert pairs.place(0, 1) is None
    assert pairs.number(0, 0) == 0
