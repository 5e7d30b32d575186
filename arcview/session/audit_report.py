"""The protocol audit as plain text and as JSON (`arcview/audit/1`).

What comes from a run passes `arcview.text.clean`. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from arcview.analysis.audit import Check, Finding
from arcview.model.run import Run
from arcview.session.audit_run import Audit, address_of
from arcview.session.plain_text_parts import Glyphs, clipped, one_line, ranges

SCHEMA = "arcview/audit/1"

TITLES = {
    Check.STATE: "state at the start of a stage",
    Check.SESSION: "sessions",
    Check.FEEDBACK: "feedback between stages",
    Check.LEAK: "hidden tests in sight",
    Check.LOOKUP: "look-ups of history, releases, network",
    Check.REVERTED: "files that went back",
    Check.COMPACTION: "context compactions",
}

_FEEDBACK = {
    None: "not known",
    "none": "none found",
    "other": "more than the specification",
    "failure_reported": "perhaps a failure",
    "fix_explained": "perhaps a failure and its repair",
}

Json = dict[str, object]


def audit_json(audit: Audit, run: Run, path: str) -> Json:
    """The audit as one JSON object.

    Args:
        audit: What was found.
        run: The run it was found in.
        path: Its folder, as the user gave it.
    """
    return {
        "schema": SCHEMA,
        "path": path,
        "run_id": run.run_id,
        "delegation": {"declared": audit.declared, "observed_feedback": audit.observed},
        "findings": [_finding(finding) for finding in audit.findings],
        "unchecked": [
            {"check": one.check.value if one.check else None, "stage": one.stage, "why": one.why}
            for one in audit.unchecked
        ],
    }


def _finding(finding: Finding) -> Json:
    address = address_of(finding)
    return {
        "check": finding.check.value,
        "stage": finding.stage,
        "state": finding.state,
        "step": finding.step,
        "step_key": finding.step_key,
        "address": str(address) if address is not None else None,
        "what": finding.what,
        "quote": finding.quote,
        "basis": finding.basis,
        "detail": finding.detail,
    }


def audit_lines(audit: Audit, path: str, glyphs: Glyphs) -> Iterator[str]:
    """The audit as text: findings by check, then what could not be looked at."""
    yield f"{one_line(path)}: protocol audit"
    declared = one_line(audit.declared) if audit.declared else "not recorded"
    yield f"delegation declared {declared}; feedback between stages: {_FEEDBACK[audit.observed]}"
    yield "Each finding is a place to look at. None of them is a proof."
    for check in Check:
        found = [finding for finding in audit.findings if finding.check is check]
        unchecked = [one for one in audit.unchecked if one.check in (check, None)]
        yield ""
        yield f"{TITLES[check]}: {_count(len(found))}"
        for finding in found:
            yield from _lines(finding, glyphs)
        reasons: dict[str, list[int]] = {}
        for one in unchecked:
            stages = reasons.setdefault(one.why, [])
            if one.stage is not None:
                stages.append(one.stage)
        for why, stages in reasons.items():
            where = f"stage {ranges([*map(str, stages)], glyphs)}: " if stages else ""
            yield f"  not looked at: {where}{one_line(why)}"


def _count(count: int) -> str:
    return "nothing found" if not count else f"{count} finding{'' if count == 1 else 's'}"


def _lines(finding: Finding, glyphs: Glyphs) -> Iterator[str]:
    where = one_line(finding.state) if finding.state else f"stage {finding.stage}"
    step = f" #{finding.step}" if finding.step is not None else ""
    guess = " (by its looks)" if finding.basis == "candidate" else ""
    yield f"  {where}{step}: {one_line(finding.what)}{guess}"
    if finding.quote:
        yield f"      {clipped(one_line(finding.quote), glyphs)}"
    address = address_of(finding)
    if address is not None:
        yield f"      {address}"
