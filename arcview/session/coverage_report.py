"""Contract coverage as `arcview contract` prints it: JSON, and a table of states. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arcview.analysis.contract import Finding, Presence
from arcview.session.coverage import ContractCoverage, CoveredItem
from arcview.session.plain_text_parts import Glyphs, aligned, clipped, one_line

SCHEMA = "arcview/contract/1"

Json = dict[str, object]


def as_json(
    run_id: str, path: str, states: Sequence[str], stages: Sequence[ContractCoverage]
) -> Json:
    """What `arcview contract --json` prints.

    Args:
        run_id: Of the run.
        path: As it was given.
        states: Ids of the agent's line, in order.
        stages: The coverage of each stage that was asked for.
    """
    return {
        "schema": SCHEMA,
        "run_id": run_id,
        "path": path,
        "states": list(states),
        "stages": [_stage(coverage) for coverage in stages],
        "problems": [
            f"stage {coverage.stage}: neither a contract nor a specification is recorded"
            for coverage in stages
            if coverage.origin is None
        ],
    }


def _stage(coverage: ContractCoverage) -> Json:
    return {
        "stage": coverage.stage,
        "origin": coverage.origin,
        "end": coverage.end,
        "items": [
            {
                "kind": covered.item.kind.value,
                "text": covered.item.text,
                "path": covered.item.path,
                "extracted": covered.item.extracted,
                "findings": {
                    state: _finding(finding)
                    for state, finding in zip(coverage.states, covered.findings, strict=True)
                },
                "drift": [
                    {"before": d.before, "after": d.after, "presence": d.presence.value}
                    for d in covered.drift
                ],
            }
            for covered in coverage.items
        ],
    }


def _finding(finding: Finding | None) -> Json | None:
    if finding is None:
        return None
    return {
        "presence": finding.presence.value,
        "path": finding.path,
        "line": finding.line,
        "found": finding.found,
        "method": finding.method,
    }


_FROM = {
    "contract.json": "contract",
    "contract": "contract, taken from prose by its looks",
    "spec": "no contract recorded; taken from the specification by its looks",
}


def coverage_lines(coverage: ContractCoverage, glyphs: Glyphs) -> Iterator[str]:
    """One stage as text: a column per state, then where the items stand."""
    origin = _FROM.get(coverage.origin or "", "neither contract nor specification is recorded")
    yield f"Stage {coverage.stage}: {len(coverage.items)} items ({origin})"
    if not coverage.items:
        return
    head = ("  item", "kind", *(one_line(state) for state in coverage.states), "")
    table = [head]
    for covered in coverage.items:
        marks = (_mark(finding, glyphs) for finding in covered.findings)
        text = clipped(one_line(covered.item.text), glyphs, 60)
        table.append(
            (f"  {text}", covered.item.kind.value.replace("_", " "), *marks, _remark(covered))
        )
    yield from aligned(table, right=frozenset())


def legend(glyphs: Glyphs) -> str:
    """What the marks mean."""
    return (
        f"{glyphs.passed} present, > moved to another file, ~ different, {glyphs.failed} missing, "
        f"{glyphs.nothing} files not recorded"
    )


def _mark(finding: Finding | None, glyphs: Glyphs) -> str:
    if finding is None:
        return glyphs.nothing
    return {
        Presence.PRESENT: glyphs.passed,
        Presence.MOVED: ">",
        Presence.DIFFERENT: "~",
        Presence.MISSING: glyphs.failed,
    }[finding.presence]


def _remark(covered: CoveredItem) -> str:
    parts = [f"{d.presence.value} since {one_line(d.after)}" for d in covered.drift]
    last = next((f for f in reversed(covered.findings) if f is not None), None)
    if last is not None and last.path is not None and last.line is not None:
        parts.append(f"{one_line(last.path)}:{last.line}")
        if last.method == "text":
            parts.append("by name only")
        if last.presence is Presence.DIFFERENT and last.found:
            parts.append(f"there: {one_line(last.found)[:60]}")
    return "; ".join(parts)
