"""Suggestions for a case from an experiment that was executed: evidence of grade A. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from arcview.analysis.suggestions import Span, Suggestion, inputs_hash
from arcview.analysis.what_if import WhatIfLabel

RULE = "what-if"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Executed:
    """What a what-if answer says of one gate, as far as evidence goes."""

    gate: str
    stage: int
    address: str
    """Of the gate."""
    label: WhatIfLabel
    reason: str
    is_steady: bool
    """Every tree was run more than once and always had one verdict."""
    times: int
    is_inherited: bool
    """Every failing test failed before the stage already."""


_MECHANISMS = {
    WhatIfLabel.CHANGE: ("M0",),
    WhatIfLabel.INTERACTION: ("M8",),
    WhatIfLabel.BOTH: ("M0", "M2"),
}


def suggest_executed(found: Executed) -> Iterator[Suggestion]:
    """The evidence grade and the mechanisms that an answer stands for; nothing if undetermined."""
    if found.label is WhatIfLabel.UNDETERMINED:
        return
    title = f"what if: {found.label.value}"
    span = Span(found.address, title)
    seen = inputs_hash(found.gate, found.label.value, found.is_steady, found.times)
    if found.is_steady:
        reason = f"executed, the same in {found.times} runs of each tree: {found.reason}"
        yield Suggestion(
            "grade", "A", f"grade A ({title})", reason, RULE, VERSION, seen,
            spans=(span,), exact=True,
        )  # fmt: skip
    inherited = ("M1",) if found.is_inherited else ("M2",)
    for code in _MECHANISMS.get(found.label, inherited):
        where = f"{code} in gate {found.gate} ({title})"
        yield Suggestion(
            "mechanism", code, where, found.reason, RULE, VERSION, seen, spans=(span,),
            gate=found.gate, stage=found.stage, exact=found.is_steady,
        )  # fmt: skip
