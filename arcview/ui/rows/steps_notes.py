"""Notes of the client or the harness that follow one another: one row until they are opened.

Pure: which steps they are, which of them are open, and what the row says.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from textual.content import Content

from arcview.model.trajectory import Role, Step, StepKind
from arcview.ui import theme
from arcview.ui.safe import one_line

_FEWEST = 3
_LABEL_CHARACTERS = 40
_LABEL = re.compile(r"\s*(?:<([\w-]+)>|([\w][\w .-]{0,38}):(?!\S))")
"""What a note begins with: a tag, or a few words before a colon."""


class NoteRuns:
    """Which notes are folded.

    Args:
        steps: All steps; long texts may be cut.
        depths: How deep each is among sub-agents: only notes beside each other are folded.
    """

    def __init__(self, steps: Sequence[Step], depths: Sequence[int]) -> None:
        self._runs = tuple(_runs(steps, depths))
        self._firsts = [run.start for run in self._runs]
        self._opened: set[int] = set()

    def folded(self, index: int) -> range | None:
        """The notes that a step is folded with; null where it has a row of its own."""
        at = bisect_right(self._firsts, index) - 1
        run = self._runs[at] if at >= 0 else range(0)
        return run if index in run and run.start not in self._opened else None

    def all_folded(self) -> Iterator[range]:
        """The notes of every row that stands for several."""
        return (run for run in self._runs if run.start not in self._opened)

    def open(self, indexes: Iterable[int]) -> None:
        """Gives notes, and those that they are folded with, rows of their own."""
        if len(self._opened) < len(self._runs):
            found = (self.folded(index) for index in indexes)
            self._opened.update(run.start for run in found if run is not None)

    def opened(self) -> Iterator[int]:
        """The first one of every run that is open."""
        return iter(self._opened)

    def fold(self) -> None:
        """Folds all of them again."""
        self._opened.clear()


def _runs(steps: Sequence[Step], depths: Sequence[int]) -> Iterator[range]:
    start = 0
    for index in range(len(steps) + 1):
        if index < len(steps) and _is_noise(steps[index]) and depths[index] == depths[start]:
            continue
        if index - start >= _FEWEST:
            yield range(start, index)
        is_first = index < len(steps) and _is_noise(steps[index])
        start = index if is_first else index + 1


def _is_noise(step: Step) -> bool:
    """Whether a step is nothing that anybody has to read: no failure, no bill, no call."""
    return (
        step.kind is StepKind.NOTE
        and step.role is not Role.ASSISTANT
        and not (step.calls or step.is_error)
        and (step.usage is None or step.usage.cost_usd is None)
    )


def gist(notes: Sequence[Step]) -> Content:
    """`file-history-snapshot ×5, session started`: what they begin with, in order."""
    counted = Counter(map(_label, notes))
    said = [f"{label} ×{count}" if count > 1 else label for label, count in counted.items()]
    return Content.assemble((", ".join(said), theme.MUTED))


def _label(note: Step) -> str:
    match = _LABEL.match(note.text)
    words = (match[1] or match[2]) if match is not None else note.text.lstrip().split("\n", 1)[0]
    shown = words if len(words) <= _LABEL_CHARACTERS else f"{words[: _LABEL_CHARACTERS - 1]}…"
    return one_line(shown) or "(empty)"
