"""Where the agent already had a failure on its screen: tool outputs that showed the same symptom.

Pure: searches the results in trajectories for the clues of a failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arcview.analysis.clues import Clue, ClueKind
from arcview.analysis.shell import runs_nothing
from arcview.model.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Symptom:
    """One tool output that held a clue of the failure."""

    step: str
    """Key of the step whose call printed it."""
    number: int | None
    call: str
    clue: Clue
    line: str
    """The line of the output that holds it, untruncated."""
    stage: int
    state: str | None = None
    """The between-state that the pass of the step ended in; null for the stage's own steps."""


_TELLING = (ClueKind.MESSAGE, ClueKind.ERROR_TYPE)
_MAX_SHARE = 0.5
"""A clue in more than this share of the outputs is part of the task, not a symptom."""


class _Output(NamedTuple):
    step: str
    number: int | None
    call: str
    text: str


class ToolOutputs:
    """What the commands of one stage or pass printed; keeps where a text was found in it.

    Args:
        trajectory: The steps.
        stage: Whose they are.
        state: The between-state, for those of a pass.
    """

    def __init__(self, trajectory: Trajectory, stage: int, state: str | None = None) -> None:
        self.stage = stage
        self.state = state
        self._outputs = tuple(
            # A file that the agent reads or writes shows code, not the behaviour of code.
            _Output(step.key, step.number, call.key, call.result.text)
            for step in trajectory.steps
            for call in step.calls
            if call.result is not None and call.command and not runs_nothing(call.command)
        )
        self._hits: dict[str, tuple[int, ...]] = {}

    def symptoms(self, clues: Sequence[Clue]) -> tuple[Symptom, ...]:
        """The outputs that hold one of the clues, in order, each for its most telling one.

        Args:
            clues: The most telling first.
        """
        found: dict[int, Clue] = {}
        for clue in clues:
            hits = self._holding(clue.text)
            if len(hits) <= max(3, _MAX_SHARE * len(self._outputs)):
                for place in hits:
                    found.setdefault(place, clue)
        return tuple(self._symptom(place, clue) for place, clue in sorted(found.items()))

    def _holding(self, text: str) -> tuple[int, ...]:
        # Tests that fail alike share their clues.
        if text not in self._hits:
            outputs = enumerate(self._outputs)
            self._hits[text] = tuple(place for place, each in outputs if text in each.text)
        return self._hits[text]

    def _symptom(self, place: int, clue: Clue) -> Symptom:
        step, number, call, text = self._outputs[place]
        line = _line_with(clue.text, text)
        return Symptom(step, number, call, clue, line, self.stage, self.state)


def telling_clues(test_id: str, clues: Sequence[Clue]) -> tuple[Clue, ...]:
    """The clues that make an output a symptom: messages, error types and the test's own name."""
    name = test_id.rpartition("::")[2].partition("[")[0]
    own = (Clue(ClueKind.NAME, name),) if len(name) > 8 else ()
    return (*(clue for clue in clues if clue.kind in _TELLING), *own)


def _line_with(needle: str, text: str) -> str:
    start = text.index(needle)
    end = text.find("\n", start)
    return text[text.rfind("\n", 0, start) + 1 : end if end >= 0 else len(text)]
