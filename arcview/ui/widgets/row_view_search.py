"""Searches a row source in slices on the event loop, so that keys are answered between them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import monotonic

from arcview.ui.rows.lines import Needle, RowSource

_SLICE_S = 0.012


@dataclass(frozen=True, slots=True)
class Found:
    """How a search ended."""

    index: int | None = None
    """The row of the hit; null where there is none."""
    wrapped: bool = False
    """Whether the search went past one end of the rows and on from the other."""


async def look_for(source: RowSource, needle: Needle, start: int, step: int) -> Found:
    """Looks from a row to the end of the rows, and then from their other end on.

    Args:
        source: The rows; a hit may change them, where something folded opens.
        needle: What is looked for.
        start: Where to begin; beyond an end, only the second round is made.
        step: 1 for forwards, -1 for backwards.
    """
    last = len(source) - 1
    rounds = [(start, False)] if 0 <= start <= last else []
    rounds.append((0 if step > 0 else last, True))
    for first, wrapped in rounds:
        slice_end = monotonic() + _SLICE_S
        for hit in source.find(needle, first, step):
            if hit is not None:
                return Found(hit, wrapped)
            if monotonic() > slice_end:
                await asyncio.sleep(0)
                slice_end = monotonic() + _SLICE_S
    return Found()
