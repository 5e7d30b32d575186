"""Which step of one run stands beside which of the other: those with one number in the stage.

Agents do different things at one number; no likeness of what they do is claimed. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from arcview.model.trajectory import Step, Trajectory

Side = Literal[0, 1]
"""Run A or run B."""


class StepPairs:
    """The steps of one stage in both runs, by number.

    Args:
        a: The steps of run A; null where none are recorded.
        b: The steps of run B.
    """

    def __init__(self, a: Trajectory | None, b: Trajectory | None) -> None:
        sides = [found.heads if found is not None else () for found in (a, b)]
        self._numbers = tuple(tuple(_numbers(heads)) for heads in sides)
        self._places = tuple(
            {0: 0} | {step.number: n for n, step in enumerate(heads) if step.number is not None}
            for heads in sides
        )

    def number(self, side: Side, place: int) -> int:
        """The number of a step; of a note, that of the step before it, 0 before the first."""
        numbers = self._numbers[side]
        return numbers[place] if place < len(numbers) else 0

    def place(self, side: Side, number: int) -> int | None:
        """Which of a side's steps has that number, 0 being its beginning; null where none has."""
        return self._places[side].get(number)


def _numbers(heads: Sequence[Step]) -> Iterator[int]:
    last = 0
    for step in heads:
        last = last if step.number is None else step.number
        yield last
