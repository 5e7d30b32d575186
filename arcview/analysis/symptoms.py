"""Where the agent already had a failure on its screen: tool outputs that showed the same symptom.

Pure: searches the results in a trajectory for the clues of a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arcview.analysis.clues import Clue, ClueKind
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


_TELLING = (ClueKind.MESSAGE, ClueKind.ERROR_TYPE)
_MAX_SHARE = 0.5
"""A clue in more than this share of the outputs is part of the task, not a symptom."""


def find_symptoms(
    test_id: str, clues: Sequence[Clue], trajectory: Trajectory
) -> tuple[Symptom, ...]:
    """Lists the outputs that showed the failure's message, error type or test, in step order.

    A call is listed once, for its most telling clue.
    """
    name = test_id.rpartition("::")[2].partition("[")[0]
    wanted = [clue for clue in clues if clue.kind in _TELLING]
    if len(name) > 8:
        wanted.append(Clue(ClueKind.NAME, name))
    outputs = list(_outputs(trajectory))
    found: dict[str, Symptom] = {}
    for clue in wanted:
        hits = [
            (step, number, call, text) for step, number, call, text in outputs if clue.text in text
        ]
        if len(hits) > max(3, _MAX_SHARE * len(outputs)):
            continue
        for step, number, call, text in hits:
            found.setdefault(call, Symptom(step, number, call, clue, _line_with(clue.text, text)))
    order = {call: position for position, (_, _, call, _) in enumerate(outputs)}
    return tuple(sorted(found.values(), key=lambda symptom: order[symptom.call]))


def _outputs(trajectory: Trajectory) -> Iterator[tuple[str, int | None, str, str]]:
    for step in trajectory.steps:
        for call in step.calls:
            # A file that the agent reads or writes shows code, not the behaviour of code.
            if call.result is not None and call.command is not None:
                yield step.key, step.number, call.key, call.result.text


def _line_with(needle: str, text: str) -> str:
    start = text.index(needle)
    end = text.find("\n", start)
    return text[text.rfind("\n", 0, start) + 1 : end if end >= 0 else len(text)]
