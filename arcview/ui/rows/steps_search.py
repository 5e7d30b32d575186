"""Where a text stands in a step: in one of its parts, or only in what its one row says. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from arcview.model.trajectory import Step
from arcview.ui.rows import steps_lines
from arcview.ui.rows.lines import Needle
from arcview.ui.rows.steps_layout import FOLD, BodyRow
from arcview.ui.rows.steps_parts import StepPart, texts_of


class Hit(NamedTuple):
    """A match in a step."""

    part: int
    """Which part; -1 for the row that stands for the step."""
    line: int = 0
    character: int = 0


HEADER = Hit(-1)
ABOVE_ALL = BodyRow(HEADER.part, 0, 0, 0)
"""Stands for the header of an open step, where a search upwards begins there."""


def first_hit(
    needle: Needle,
    step: Step,
    parts: Callable[[], Sequence[StepPart]],
    told: Callable[[], Iterator[str]],
    *,
    is_open: bool,
    direction: int,
    here: BodyRow | None,
) -> Hit | None:
    """The first match in a step, or the last one for a search backwards.

    Args:
        needle: What is looked for.
        step: Where; cheap texts of it are asked first.
        parts: Gives its parts.
        told: Gives what its row says besides their gist. A match there counts where the parts hold
            none: those are read in full once the step is open.
        is_open: The parts are on the screen, with what only they say (time, model, images).
        direction: 1 or -1.
        here: The row of the step from which on it is looked for; null for all of it.
    """
    may_hold = is_open or any(map(needle.within, texts_of(step)))
    hits = _hits(needle, parts()) if may_hold else []
    if not hits:
        reaches_header = here is None or direction < 0
        return HEADER if reaches_header and any(map(needle.within, told())) else None
    if here is None:
        return hits[0 if direction > 0 else -1]
    line = here.start if here.line == FOLD else here.line
    if direction > 0:
        begin = (here.part, line, 0 if here.line == FOLD else here.start)
        return next((hit for hit in hits if hit >= begin), None)
    end = (here.part, here.end, 0) if here.line == FOLD else (here.part, line, here.end)
    return next((hit for hit in reversed(hits) if hit < end), None)


def _hits(needle: Needle, parts: Sequence[StepPart]) -> list[Hit]:
    return [
        Hit(number, line, span[0])
        for number, part in enumerate(parts)
        for line, text in enumerate(part.lines)
        # Cleaning is dear: first the line as it came.
        if needle.within(text)
        for span in needle.spans(steps_lines.cleaned(part, text))
    ]
