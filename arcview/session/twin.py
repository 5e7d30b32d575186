"""The JSON twin: everything that a screen shows of a run, as `arcview show --json` prints it.

The names are a contract (see the run format, section "The JSON twin"); a field may be added, none
changes its meaning. Unknown is null. Knows nothing of how the run was read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from itertools import zip_longest
from typing import TYPE_CHECKING

from arcview.analysis.gate_view import FailingTest
from arcview.analysis.overview import GateCell, Overview, StageRow
from arcview.model.results import GroupCounts
from arcview.model.run import Run
from arcview.model.states import State
from arcview.model.trajectory_refs import Usage
from arcview.session.change_summary import change_of
from arcview.session.evidence import Evidence, EvidenceFinder, Place
from arcview.session.self_test_depth import NamedSymbol, SelfTestDepth, self_test_depth
from arcview.session.stage_trace import StageTrace, stage_trace

if TYPE_CHECKING:
    from arcview.analysis.self_test_depth import Exercise
    from arcview.analysis.self_tests import SelfTest
    from arcview.session.change_summary import ChangeSummary
    from arcview.session.opened import OpenRun

SCHEMA = "arcview/show/1"

Json = dict[str, object]


def show(run: OpenRun, stage: int | None = None) -> Json:
    """The twin of a run with its failing tests and self-tests.

    Reads every trajectory and ingests the states where that was not done before.

    Args:
        run: The open run.
        stage: Leaves the other stages out; all by default.
    """
    overview = run.complete_overview()
    rows = [row for row in overview.stages if stage is None or row.index == stage]
    evidence = EvidenceFinder(run)
    stages = [_full_stage(run, evidence, row) for row in rows]
    chain = overview.chain_gate
    chain_gate = None
    if chain is not None:
        chain_gate = gate_json(chain) | _failing(run, evidence, "chain", chain.state)
    return _header(run.run, overview, stages, chain_gate, _problems(run))


def _full_stage(run: OpenRun, evidence: EvidenceFinder, row: StageRow) -> Json:
    depth = self_test_depth(run, evidence, row.index)
    tests = run.self_tests(row.index)
    between = []
    for cell in row.between:
        of_pass = self_test_depth(run, evidence, row.index, cell.state)
        gate = gate_json(cell) | _failing(run, evidence, cell.gate, cell.state, of_pass)
        trace = stage_trace(run, evidence, cell.state)
        between.append(gate | {"self_test_depth": _depth(of_pass), "trace": _trace(trace)})
    return (
        _stage(row, change_of(run, row.index))
        | _failing(run, evidence, str(row.index), None, depth)
        | {
            "self_tests": [
                _self_test(test, earlier, symbols)
                for test, earlier, symbols in zip(
                    tests, depth.earlier_stages, depth.symbols, strict=True
                )
            ],
            "self_test_depth": _depth(depth),
            "trace": _trace(stage_trace(run, evidence, row.end)),
            "between": between,
        }
    )


def list_row(run: OpenRun) -> Json:
    """The same object without failures, healed and self-tests.

    Reads as much as `show`: what is wrong with the details belongs to the problems of the run.
    """
    overview = run.complete_overview()
    for row in overview.stages:
        for cell in (row.gate, *row.between):
            run.gate_view(cell.gate, cell.state)
    stages = [
        _stage(row, change_of(run, row.index))
        | {"between": [gate_json(cell) for cell in row.between]}
        for row in overview.stages
    ]
    chain = overview.chain_gate
    chain_gate = None if chain is None else gate_json(chain)
    return _header(run.run, overview, stages, chain_gate, _problems(run))


def broken_row(path: str, error: str) -> Json:
    """A line for a folder that looks like a run and cannot be read; everything else is null."""
    header = dict.fromkeys(
        ("run_id", "layout", "agent", "model", "task_id", "attempt", "status"), None
    )
    return {
        "schema": SCHEMA,
        **header,
        "path": path,
        "states": [],
        "stages": [],
        "chain_gate": None,
        "first_bad_stage": None,
        "first_bad_state": None,
        "first_failing_gate": None,
        "problems": [{"where": path, "what": error}],
    }


def dumps(value: object, *, indent: int | None = None) -> str:
    """JSON in ASCII: whatever a run holds, nothing in it can reach a terminal as a control."""
    return json.dumps(_finite(value), ensure_ascii=True, allow_nan=False, indent=indent)


def _finite(value: object) -> object:
    """NaN and infinities are no JSON and no measurements: null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _header(
    run: Run, overview: Overview, stages: list[Json], chain_gate: Json | None, problems: list[Json]
) -> Json:
    return {
        "schema": SCHEMA,
        "run_id": overview.run_id,
        "layout": overview.layout,
        "path": overview.path,
        "agent": overview.agent,
        "agent_version": overview.agent_version,
        "model": overview.model,
        "task_id": overview.task_id,
        "title": overview.title,
        "attempt": overview.attempt,
        "status": overview.status.value,
        "status_detail": overview.status_detail,
        "started": overview.started,
        "ended": overview.ended,
        "states": [_state(state) for state in run.agent_states()],
        "stages": stages,
        "chain_gate": chain_gate,
        "first_bad_stage": overview.first_bad_stage,
        "first_bad_state": overview.first_bad_state,
        "first_failing_gate": overview.first_failing_gate,
        "problems": problems,
    }


def _state(state: State) -> Json:
    return {
        "id": state.id,
        "stage": state.stage,
        "kind": state.kind.value,
        "provenance": state.provenance.value,
        "tree": state.tree,
        "unchanged": state.unchanged,
        "missing": state.missing,
    }


def _stage(row: StageRow, change: ChangeSummary) -> Json:
    return {
        "index": row.index,
        "title": row.title,
        "status": row.status.value,
        "status_detail": row.status_detail,
        **_verdict(row.gate),
        "debt": row.debt,
        "steps": row.steps,
        "tool_calls": row.tool_calls,
        "tokens": _tokens(row.tokens),
        "cost_usd": row.cost_usd,
        "duration_s": row.duration_s,
        "base": row.base,
        "end": row.end,
        "change": change_json(change),
        "passes": [
            {"state": p.state, "tokens": _tokens(p.usage), "cost_usd": p.usage and p.usage.cost_usd}
            for p in row.passes
        ],
        "notes": list(row.notes),
    }


def gate_json(cell: GateCell) -> Json:
    """One gate on one state, without its single tests."""
    return {"gate": cell.gate, "state": cell.state, **_verdict(cell), "notes": list(cell.notes)}


def _verdict(cell: GateCell) -> Json:
    judgement = cell.judgement
    recorded = judgement.recorded
    return {
        "verdict": judgement.verdict.value,
        "reason": judgement.reason,
        "recorded_verdict": recorded.value if recorded is not None else None,
        "conflict": judgement.conflict,
        "f2p": _counts(cell.f2p),
        "p2p": _counts(cell.p2p),
        "other": _counts(cell.other),
    }


_COUNTS = tuple(part.name for part in fields(GroupCounts))


def _counts(counts: GroupCounts | None) -> Json | None:
    return None if counts is None else {name: getattr(counts, name) for name in _COUNTS}


def _tokens(usage: Usage | None) -> Json:
    found = usage or Usage()
    return {
        "input": found.input_tokens,
        "cached": found.cached_tokens,
        "output": found.output_tokens,
        "reasoning": found.reasoning_tokens,
    }


def change_json(change: ChangeSummary) -> Json:
    """What a stage changed, in numbers."""
    return {
        "files": change.files,
        "added": change.added,
        "removed": change.removed,
        "unchanged": change.unchanged,
        "folded_files": change.folded_files,
        "missing": change.missing,
    }


def _failing(
    run: OpenRun,
    finder: EvidenceFinder,
    gate: str,
    state: str | None,
    depth: SelfTestDepth | None = None,
) -> Json:
    view = run.gate_view(gate, state)
    found = finder.of_gate(gate, state)
    exercised = depth.exercised if depth is not None else ()
    return {
        "failures": [
            _failure(failing, evidence, exercise)
            for failing, evidence, exercise in zip_longest(view.failing, found, exercised)
        ],
        "healed": [test.id for test in view.healed],
        "signatures": [
            {"title": group.title, "tests": [test.id for test in group.tests]}
            for group in view.groups
        ],
    }


def _failure(failing: FailingTest, evidence: Evidence, exercise: Exercise | None) -> Json:
    test = failing.test
    return {
        "id": test.id,
        "group": test.group.value,
        "outcome": test.outcome.value,
        "history": failing.history.value,
        "since": failing.since,
        "message": test.message,
        "traceback": test.traceback,
        "evidence": test.evidence,
        "conflict": test.conflict,
        "frames": [_frame(place) for place in evidence.places],
        "trail": _trail(evidence),
        "exercised": _exercised(exercise) if exercise is not None else None,
    }


def _trail(evidence: Evidence) -> Json:
    return {
        "began": evidence.began,
        "suspect_change": list(evidence.suspect_change),
        "suspect_steps": [
            {"step": share.step, "step_key": share.step_key, "lines": share.lines}
            for share in evidence.suspect_steps
        ],
        "symptoms": [
            {
                "stage": seen.stage,
                "state": seen.state,
                "step": seen.step,
                "step_key": seen.step_key,
                "text": seen.text,
            }
            for seen in evidence.symptoms
        ],
        "nothing": evidence.nothing,
    }


def _exercised(exercise: Exercise) -> Json:
    return {
        "answer": exercise.answer,
        "reason": exercise.reason,
        "step": exercise.step,
        "step_key": exercise.step_key,
    }


def _frame(place: Place) -> Json:
    return {
        "path": place.path,
        "line": place.line,
        "function": place.function,
        "stage": place.stage,
        "step": place.step,
        "certainty": place.certainty,
        "basis": place.basis,
        "state": place.state,
        "step_key": place.step_key,
        "reason": place.reason,
    }


def _self_test(
    test: SelfTest, earlier: tuple[int, ...] | None, symbols: tuple[NamedSymbol, ...]
) -> Json:
    return {
        "step": test.step_number,
        "step_key": test.step_key,
        "command": test.command,
        "runner": test.runner,
        "kind": test.kind.value,
        "outcome": test.outcome,
        "passed": test.passed,
        "failed": test.failed,
        "skipped": test.skipped,
        "exit_code": test.exit_code,
        "masked": test.masked,
        "earlier_stages": None if earlier is None else list(earlier),
        "targets": list(test.targets),
        "tests": [{"id": ran.id, "outcome": ran.outcome.value} for ran in test.tests],
        "symbols": [{"name": symbol.name, "stage": symbol.stage} for symbol in symbols],
    }


def _depth(depth: SelfTestDepth) -> Json:
    late, claim = depth.edits_after_green, depth.claim
    return {
        "revisits_earlier": depth.revisits_earlier,
        "last_green_step": depth.last_green_step,
        "last_green_step_key": depth.last_green_key,
        "edits_after_green": None
        if late is None
        else [{"step": e.step, "step_key": e.step_key, "path": e.path} for e in late],
        "edits_basis": depth.edits_basis,
        "claim": None
        if claim is None
        else {
            "kind": claim.kind.value,
            "text": claim.text,
            "start": claim.start,
            "end": claim.end,
            "step": depth.claim_step,
            "step_key": depth.claim_key,
        },
        "claim_gap": depth.claim_gap,
    }


def _trace(trace: StageTrace | None) -> Json | None:
    if trace is None:
        return None
    return {
        "recorded": trace.recorded,
        "lines": trace.lines,
        "exact": trace.exact,
        "candidate": trace.candidate,
        "files": trace.files,
        "equal": trace.equal,
        "unlike": list(trace.unlike),
    }


def _problems(run: OpenRun) -> list[Json]:
    return [{"where": problem.where, "what": problem.what} for problem in run.all_problems()]
