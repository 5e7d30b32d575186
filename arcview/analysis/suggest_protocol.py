"""Suggested validity and cause of a case, from what a protocol audit found. Pure.

Nothing here is proof: each suggestion points at the step to look at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arcview.analysis.audit import Check, Finding
from arcview.analysis.suggestions import Span, Suggestion, inputs_hash

RULE = "protocol"
VERSION = 1

_LABELS = {
    Check.LEAK: ("validity", "V6", "the agent may have seen hidden tests"),
    Check.LOOKUP: ("validity", "V6", "the agent may have looked the solution up"),
    Check.STATE: ("validity", "V5", "the stage did not begin where the one before ended"),
    Check.REVERTED: ("validity", "V5", "files went back without a step of the agent"),
    Check.COMPACTION: ("cause", "C4", "the context was compacted in this stage"),
}
_MOST_SPANS = 5


def suggest_from_audit(
    stage: int, findings: Sequence[tuple[str | None, Finding]]
) -> Iterator[Suggestion]:
    """What an audit's findings speak for, in the case of a gate of that stage.

    What the agent saw or looked up at any time up to the stage counts; what happened to its
    workspace or its memory counts in the stage itself.

    Args:
        stage: The stage whose gate failed.
        findings: (Address or null, finding) of the run.
    """
    for check, (field, code, what) in _LABELS.items():
        is_early = check in (Check.LEAK, Check.LOOKUP)
        found = [
            (address, one)
            for address, one in findings
            if one.check is check and (one.stage <= stage if is_early else one.stage == stage)
        ]
        if not found:
            continue
        first = found[0][1]
        where = f"stage {first.stage}" + (f" #{first.step}" if first.step is not None else "")
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        spans = tuple(
            _span(address, one) for address, one in found[:_MOST_SPANS] if address is not None
        )
        yield Suggestion(
            field, code, f"{code}? {what}", f"{first.what} ({where}{more})", RULE, VERSION,
            inputs_hash([[o.check, o.stage, o.step_key, o.what] for _, o in found]), spans=spans,
        )  # fmt: skip


def _span(address: str, finding: Finding) -> Span:
    quote = finding.quote or finding.what
    return Span(address, quote, 0, len(quote) if finding.quote else 0)
