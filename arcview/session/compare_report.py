"""A comparison of two runs as `arcview compare` prints it: JSON, and a table of stages. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from arcview.analysis.compare import Divergence, GateComparison
from arcview.analysis.overview import GateCell, Overview, StageRow
from arcview.analysis.verdicts import ok_count
from arcview.model.results import GroupCounts, Verdict
from arcview.session.change_summary import ChangeSummary
from arcview.session.compare import ComparedStage, RunComparison
from arcview.session.plain_text_parts import Glyphs, aligned, cost, duration, one_line
from arcview.session.twin import change_json, gate_json

SCHEMA = "arcview/compare/1"
_TESTS = 10

Json = dict[str, object]


def as_json(found: RunComparison) -> Json:
    """What `arcview compare --json` prints."""
    return {
        "schema": SCHEMA,
        "a": _header(found.a),
        "b": _header(found.b),
        "same_task": found.same_task,
        "first_divergence": _divergence(found.first_divergence),
        "first_test_divergence": _divergence(found.first_test_divergence),
        "stages": [_stage(stage) for stage in found.stages],
        "chain_gate": None if found.chain is None else _gate(found.chain),
        "problems": list(found.problems),
    }


def _header(run: Overview) -> Json:
    return {
        "run_id": run.run_id,
        "path": run.path,
        "agent": run.agent,
        "agent_version": run.agent_version,
        "model": run.model,
        "task_id": run.task_id,
        "attempt": run.attempt,
        "status": run.status.value,
        "first_bad_stage": run.first_bad_stage,
        "first_failing_gate": run.first_failing_gate,
    }


def _divergence(found: Divergence | None) -> Json | None:
    if found is None:
        return None
    return {
        "gate": found.gate,
        "stage": found.stage,
        "a": found.a.value,
        "b": found.b.value,
    }


def _stage(stage: ComparedStage) -> Json:
    pair, files = stage.gates, stage.files
    return {
        "index": pair.index,
        "a": _side(pair.a, stage.change_a),
        "b": _side(pair.b, stage.change_b),
        "gate": _gate(pair.gate),
        "files": None
        if files is None
        else {
            "both": list(files.both),
            "renamed": [
                {"a": pair.old, "b": pair.new, "similarity": pair.similarity}
                for pair in files.renamed
            ],
            "only_a": list(files.only_a),
            "only_b": list(files.only_b),
        },
    }


def _side(row: StageRow | None, change: ChangeSummary | None) -> Json | None:
    if row is None or change is None:
        return None
    return {
        "title": row.title,
        "status": row.status.value,
        "debt": row.debt,
        "steps": row.steps,
        "tool_calls": row.tool_calls,
        "cost_usd": row.cost_usd,
        "duration_s": row.duration_s,
        "base": row.base,
        "end": row.end,
        "change": change_json(change),
    }


def _gate(gate: GateComparison) -> Json:
    return {
        "gate": gate.gate,
        "a": None if gate.a is None else gate_json(gate.a),
        "b": None if gate.b is None else gate_json(gate.b),
        "compared": gate.compared,
        "verdicts_differ": gate.verdicts_differ,
        "both_ok": gate.both_ok,
        "both_not_ok": gate.both_not_ok,
        "differences": [
            {"id": d.id, "group": d.group, "a": d.a.value, "b": d.b.value, "better": d.better}
            for d in gate.differences
        ],
        "only_in_a": list(gate.only_in_a),
        "only_in_b": list(gate.only_in_b),
        "shared_causes": list(gate.shared_causes),
    }


def comparison_lines(found: RunComparison, glyphs: Glyphs) -> Iterator[str]:
    """Both runs as text: who they are, where they part, a table, then the tests that differ."""
    for name, run in (("A", found.a), ("B", found.b)):
        parts = (run.agent, run.agent_version, run.model, f"attempt {run.attempt or '?'}", run.path)
        yield f"{name}  {one_line(run.task_id)}  " + " ".join(one_line(p) for p in parts if p)
    for problem in found.problems:
        yield f"note: {one_line(problem)}"
    if found.is_measured:
        yield f"verdicts part at: {_place(found.first_divergence)}"
        yield f"single tests part at: {_place(found.first_test_divergence)}"
    else:
        yield "no gate was measured in both runs: no verdict and no test can be compared"
    yield ""
    yield from _table(found, glyphs)
    gates = [stage.gates.gate for stage in found.stages]
    for gate in (*gates, *([found.chain] if found.chain is not None else [])):
        yield from _differences(gate)


def _place(found: Divergence | None) -> str:
    if found is None:
        return "nowhere, as far as both were measured"
    return f"gate {one_line(found.gate)} (A {found.a.value}, B {found.b.value})"


def _table(found: RunComparison, glyphs: Glyphs) -> Iterator[str]:
    head = ("stage", "A", "F2P", "P2P", "steps", "cost", "time", "change",
            "B", "F2P", "P2P", "steps", "cost", "time", "change", "tests that differ")  # fmt: skip
    table: list[tuple[str, ...]] = [head]
    for stage in found.stages:
        pair = stage.gates
        table.append(
            (
                str(pair.index),
                *_cells(pair.a, stage.change_a, glyphs),
                *_cells(pair.b, stage.change_b, glyphs),
                _count(pair.gate, glyphs),
            )
        )
    if found.chain is not None:
        sides = (_chain(found.chain.a, glyphs), _chain(found.chain.b, glyphs))
        table.append(("chain", *sides[0], *sides[1], _count(found.chain, glyphs)))
    yield from aligned(table, right=frozenset({2, 3, 4, 5, 6, 9, 10, 11, 12, 13}))


def _cells(row: StageRow | None, change: ChangeSummary | None, glyphs: Glyphs) -> tuple[str, ...]:
    if row is None or change is None:
        return (glyphs.nothing,) * 7
    f2p, p2p = _fractions(row.gate)
    changed = glyphs.nothing
    if change.unchanged:
        changed = "unchanged"
    elif change.files is not None:
        files = f"{change.files} file{'' if change.files == 1 else 's'}"
        changed = f"{files} +{change.added} {glyphs.minus}{change.removed}"
    return (
        glyphs.verdict(row.judgement.verdict),
        f2p,
        p2p,
        glyphs.nothing if row.steps is None else str(row.steps),
        cost(row.cost_usd) or glyphs.nothing,
        duration(row.duration_s) or glyphs.nothing,
        changed,
    )


def _chain(cell: GateCell | None, glyphs: Glyphs) -> tuple[str, ...]:
    if cell is None:
        return (glyphs.nothing,) * 7
    return (glyphs.verdict(cell.judgement.verdict), *_fractions(cell), "", "", "", "")


def _fractions(cell: GateCell) -> tuple[str, str]:
    if cell.judgement.verdict is Verdict.UNMEASURED:
        return "?", "?"
    return _fraction(cell.f2p or cell.other), _fraction(cell.p2p)


def _fraction(counts: GroupCounts | None) -> str:
    return "" if counts is None else f"{ok_count(counts)}/{counts.expected}"


def _count(gate: GateComparison, glyphs: Glyphs) -> str:
    if not gate.compared:
        return f"{glyphs.nothing} not measured in both"
    better = [difference.better for difference in gate.differences]
    return f"{better.count('a')} ok in A only, {better.count('b')} ok in B only"


def _differences(gate: GateComparison) -> Iterator[str]:
    for side in ("a", "b"):
        ids = [difference.id for difference in gate.differences if difference.better == side]
        if ids:
            yield ""
            yield f"Gate {one_line(gate.gate)}, ok in {side.upper()} only:"
            yield from (f"  {one_line(test)}" for test in ids[:_TESTS])
        if len(ids) > _TESTS:
            yield f"  and {len(ids) - _TESTS} more; --json has all"
