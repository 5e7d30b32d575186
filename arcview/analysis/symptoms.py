"""Where the agent already had a failure on its screen: tool outputs that showed the same symptom.

Pure: searches the results in trajectories for the clues of a failure.
"""

from __future__ import annotations

import re
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
            if call.result is not None and call.command and not _only_shows(call.command)
        )
        self._hits: dict[Clue, tuple[tuple[int, str], ...]] = {}

    def symptoms(self, clues: Sequence[Clue]) -> tuple[Symptom, ...]:
        """The outputs that hold one of the clues, in order, each for its most telling one.

        Args:
            clues: The most telling first.
        """
        found: dict[int, tuple[Clue, str]] = {}
        for clue in clues:
            hits = self._holding(clue)
            if len(hits) <= max(3, _MAX_SHARE * len(self._outputs)):
                for place, line in hits:
                    found.setdefault(place, (clue, line))
        return tuple(self._symptom(place, *found[place]) for place in sorted(found))

    def _holding(self, clue: Clue) -> tuple[tuple[int, str], ...]:
        """The outputs that hold a clue, each with its line."""
        # Tests that fail alike share their clues.
        if clue not in self._hits:
            lines = ((n, _line_with(clue, each.text)) for n, each in enumerate(self._outputs))
            self._hits[clue] = tuple((n, line) for n, line in lines if line is not None)
        return self._hits[clue]

    def _symptom(self, place: int, clue: Clue, line: str) -> Symptom:
        step, number, call, _ = self._outputs[place]
        return Symptom(step, number, call, clue, line, self.stage, self.state)


def telling_clues(test_id: str, clues: Sequence[Clue]) -> tuple[Clue, ...]:
    """The clues that make an output a symptom: messages, error types and the test's own name."""
    name = test_id.rpartition("::")[2].partition("[")[0]
    own = (Clue(ClueKind.NAME, name),) if len(name) > 8 else ()
    return (*(clue for clue in clues if clue.kind in _TELLING), *own)


_QUOTED = re.compile(r"""'[^']*'|"[^"$`]*\"""")
_BETWEEN = re.compile(r"&&|\|\||[;|\n]")
_CODE = re.compile(
    r"^\s*(?:\d+\s*[:|-]\s*)?(?:class|from|import|catch)\b|\b(?:raise|except) [A-Z(]|\bthrow new\b"
    r"|^\s*\d+→"
)
"""Lines of code that name an error type do not say that it came up."""


def _only_shows(command: str) -> bool:
    """Whether a line only changes folders and shows files: no program of the task is run."""
    parts = _BETWEEN.split(_QUOTED.sub("", command))
    return all(
        runs_nothing(part) or part.lstrip().startswith("cd ") for part in parts if part.strip()
    )


def _line_with(clue: Clue, text: str) -> str | None:
    """The first line that shows the clue; null where none does."""
    start = text.find(clue.text)
    while start >= 0:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[text.rfind("\n", 0, start) + 1 : end]
        if clue.kind is not ClueKind.ERROR_TYPE or not _CODE.search(line):
            return line
        start = text.find(clue.text, end)
    return None
