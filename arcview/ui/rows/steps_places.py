"""The row of a step that an address names: a part of it, and a character of that. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from arcview.ui.rows.steps import BodyRow, StepRows
from arcview.ui.rows.steps_parts import PartKind, StepPart

_KINDS = {
    "text": (PartKind.TEXT,),
    "thinking": (PartKind.THINKING,),
    "record": (PartKind.RAW,),
    "result": (PartKind.RESULT,),
    "call": (PartKind.CALL, PartKind.CHANGE, PartKind.CONTENT),
}


def row_of_part(rows: StepRows, index: int, names: Sequence[str], offset: int) -> int | None:
    """The row that shows a part of an open step, or null where there is none such.

    Args:
        rows: The steps.
        index: The step.
        names: What an address calls the part: `text`, `thinking`, `record`, or the key of a call
            and `call` or `result`.
        offset: A character of the part, 0-based.
    """
    kinds = _KINDS.get(names[-1], ()) if names else ()
    key = names[0] if len(names) > 1 else None
    for number, part in enumerate(rows.parts(index)):
        if part.kind in kinds and (key is None or (part.call is not None and part.call.key == key)):
            line, start = _line_of(part, offset)
            return rows.locate((index, BodyRow(number, line, start, start)))
    return None


def _line_of(part: StepPart, offset: int) -> tuple[int, int]:
    """The line (0-based) and the character in it; the last line for what lies behind it."""
    for line, text in enumerate(part.lines):
        if offset <= len(text):
            return line, offset
        offset -= len(text) + 1
    return len(part.lines) - 1, 0
