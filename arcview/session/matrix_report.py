"""The gate × state matrix as plain text and as JSON (`arcview/matrix/1`). Pure.

What comes from a run passes `arcview.text.clean` before it is a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from arcview.analysis.matrix import Cell, MatrixTable, Source, Standing
from arcview.analysis.matrix_patterns import Pattern, StageRegressions
from arcview.analysis.matrix_plan import MatrixPlan
from arcview.session.matrix import MatrixView
from arcview.session.matrix_run import MatrixOutcome
from arcview.session.plain_text_parts import Glyphs, aligned, clipped, duration, one_line

SCHEMA = "arcview/matrix/1"

_MOST_NAMED = 5
"""Tests of one kind that are named; the rest is counted."""

Json = dict[str, object]


def matrix_json(
    view: MatrixView, plan: MatrixPlan, outcome: MatrixOutcome | None, run_id: str, path: str
) -> Json:
    """The matrix as one JSON object; unknown is null.

    Args:
        view: What is known.
        plan: What is missing.
        outcome: What was measured just now; null where nothing was to be.
        run_id: Id of the run.
        path: Its folder, as the user gave it.
    """
    table = view.table
    return {
        "schema": SCHEMA,
        "run_id": run_id,
        "path": path,
        "gates": [
            {
                "gate": gate.gate,
                "stage": gate.stage,
                "expected": len({t for _, t in gate.tests}) if gate.tests is not None else None,
                "control": view.controls.get(gate.gate),
                "probed": gate.gate not in view.unprobed,
            }
            for gate in table.gates
        ],
        "states": [
            {"id": s.id, "stage": s.stage, "kind": s.kind.value, "tree": s.tree}
            for s in table.states
        ],
        "cells": [_cell(table.cell(g.gate, s.id)) for g in table.gates for s in table.states],
        "tests": [_pattern(pattern) for pattern in view.patterns],
        "regressions": [_regressions(one) for one in view.regressions],
        "missing": _plan(plan),
        "measured_now": _outcome(outcome) if outcome is not None else None,
        "host_results_left_out": view.host,
    }


def _cell(cell: Cell) -> Json:
    return {
        "gate": cell.gate,
        "state": cell.state,
        "verdict": cell.verdict.value if cell.verdict is not None else None,
        "reason": cell.reason,
        "source": cell.source.value if cell.source is not None else None,
        "standing": cell.standing.value,
        "standing_reason": cell.standing_reason,
        "expected": cell.expected,
        "known": len(cell.tests),
        "runs": cell.runs,
        "passed_runs": cell.passed,
        "flaky": cell.is_flaky,
        "tests": [
            {
                "id": test_id,
                "group": test.group.value,
                "outcome": test.outcome.value,
                "ok": test.ok,
                "source": test.source.value,
                "via": test.via,
                "runs": test.runs,
                "passed_runs": test.passed,
            }
            for test_id, test in cell.tests.items()
        ],
    }


def _pattern(pattern: Pattern) -> Json:
    return {
        "id": pattern.id,
        "gate": pattern.gate,
        "group": pattern.group.value,
        "stage": pattern.stage,
        "line": list(pattern.line),
        "birth": pattern.birth,
        "birth_certain": pattern.is_birth_certain,
        "premature": list(pattern.premature),
        "weak_on": list(pattern.weak_on),
        "late": pattern.late,
        "healed": list(pattern.healed),
        "broken_again": list(pattern.broken_again),
        "never": pattern.never,
        "flaky": list(pattern.flaky),
        "not_applicable": list(pattern.not_applicable),
    }


def _regressions(one: StageRegressions) -> Json:
    return {
        "stage": one.stage,
        "base": one.base,
        "end": one.end,
        "regressed": list(one.regressed),
        "inherited": list(one.inherited),
        "unclear": list(one.unclear),
    }


def _plan(plan: MatrixPlan) -> Json:
    return {
        "cells": [
            {
                "gate": cell.gate,
                "state": cell.state,
                "also": list(cell.also),
                "estimate_s": cell.estimate_s,
            }
            for cell in plan.cells
        ],
        "controls": dict(plan.controls or {}),
        "estimate_s": plan.estimate_s,
        "unknown_times": plan.unknown,
        "impossible": [
            {"gate": gate, "state": state or None, "why": why}
            for gate, state, why in plan.impossible
        ],
    }


def _outcome(outcome: MatrixOutcome) -> Json:
    return {
        "measured": outcome.done,
        "planned": outcome.total,
        "unmeasured": outcome.unmeasured,
        "failed_controls": outcome.failed_controls,
        "cancelled": outcome.is_cancelled,
    }


def matrix_lines(view: MatrixView, plan: MatrixPlan, path: str, glyphs: Glyphs) -> Iterator[str]:
    """The matrix as text: the table, what the tests do over the states, what is missing."""
    table = view.table
    yield f"{one_line(path)}: gates over states"
    yield ""
    yield from _table(table, glyphs)
    yield ""
    yield from _legend(glyphs)
    yield ""
    yield from _tests(view, glyphs)
    yield from _stages(view, glyphs)
    yield from _believed(view, glyphs)
    yield from missing_lines(plan, glyphs)


def _table(table: MatrixTable, glyphs: Glyphs) -> Iterator[str]:
    rows = [("gate", *(one_line(state.id) for state in table.states))]
    for gate in table.gates:
        cells = (table.cell(gate.gate, state.id) for state in table.states)
        words = [cell_word(cell, glyphs) for cell in cells]
        own = {f"S{gate.stage}", f"R{gate.stage}"}
        marked = (
            f"[{word}]" if state.id in own else word
            for word, state in zip(words, table.states, strict=True)
        )
        rows.append((gate.gate, *marked))
    yield from aligned(rows, right=frozenset())


def cell_word(cell: Cell, glyphs: Glyphs) -> str:
    """A cell in a few characters: `✓`, `✗r`, `3/9`, `1 of 3`, `n/a`."""
    if cell.standing is Standing.NOT_APPLICABLE and cell.verdict is not None:
        return "n/a"
    if cell.runs > 1 and 0 < cell.passed < cell.runs:
        return f"{cell.passed} of {cell.runs}"
    if cell.verdict is None:
        return f"{len(cell.tests)}/{cell.expected}" if cell.is_partial else glyphs.nothing
    marks = {Source.RERUN: "r", Source.SAME_TREE: "=", Source.REPEATED: glyphs.derived}
    mark = marks.get(cell.source, "") if cell.source is not None else ""
    return f"{glyphs.verdict(cell.verdict)}{mark}{'~' if cell.is_flaky else ''}"


def _legend(glyphs: Glyphs) -> Iterator[str]:
    yield (
        f"{glyphs.passed} passed  {glyphs.failed} failed  {glyphs.unmeasured} unmeasured  "
        f"{glyphs.nothing} not known  3/9 so many tests known, all ok  [ ] the gate's own stage"
    )
    yield (
        f"r rerun  = same files as a recorded state  {glyphs.derived} derived from tests that "
        "other gates repeat  ~ flaky tests"
    )
    yield "2 of 3: passed so often  n/a: the reference fails it too  left of [ ]: expected to fail"


_KINDS: tuple[tuple[str, Callable[[Pattern], Sequence[str] | bool | None]], ...] = (
    ("pass before their stage (weak, early, or leaked)", lambda p: p.premature),
    ("pass on an earlier reference (weak tests)", lambda p: p.weak_on),
    ("pass late", lambda p: p.late),
    ("healed", lambda p: p.healed),
    ("broken again", lambda p: p.broken_again),
    ("never pass", lambda p: p.never),
    ("flaky", lambda p: p.flaky),
    ("not applicable", lambda p: p.not_applicable),
)


def _tests(view: MatrixView, glyphs: Glyphs) -> Iterator[str]:
    yield f"tests ({len(view.patterns)})"
    for title, of in _KINDS:
        found = [(pattern, of(pattern)) for pattern in view.patterns if of(pattern)]
        if not found:
            continue
        yield f"  {title}: {len(found)}"
        for pattern, value in found[:_MOST_NAMED]:
            where = ", ".join(value) if isinstance(value, tuple) else _birth(pattern)
            yield f"    gate {pattern.gate}  {_name(pattern.id, glyphs)}{where and f'  {where}'}"
        yield from _more(len(found), glyphs)
    yield ""


def _birth(pattern: Pattern) -> str:
    return f"first on {pattern.birth}" if pattern.birth is not None else ""


def _stages(view: MatrixView, glyphs: Glyphs) -> Iterator[str]:
    found = [one for one in view.regressions if one.regressed or one.inherited or one.unclear]
    if not found:
        return
    yield "earlier behaviour that fails at the end of a stage"
    for one in found:
        base = one.base or "an unknown state"
        yield (
            f"  stage {one.stage}: {len(one.regressed)} broken by it, {len(one.inherited)} failed "
            f"on {one_line(base)} already, {len(one.unclear)} not known there"
        )
        for test in one.regressed[:_MOST_NAMED]:
            yield f"    {glyphs.failed} {_name(test, glyphs)}"
        yield from _more(len(one.regressed), glyphs)
    yield ""


def _believed(view: MatrixView, glyphs: Glyphs) -> Iterator[str]:
    for gate, why in view.controls.items():
        yield f"gate {gate}: reruns are not believed: {clipped(one_line(why), glyphs)}"
    if view.unprobed:
        yield f"no control was made for gate {', '.join(view.unprobed)}: its reruns are unproven"
    if view.host:
        yield f"{view.host} reruns without a container are left out"


def missing_lines(plan: MatrixPlan, glyphs: Glyphs, jobs: int = 1) -> Iterator[str]:
    """What is missing, how long it takes, and what cannot be measured."""
    if plan.cells:
        yield f"missing: {plan_words(plan, jobs)}"
    reasons: dict[str, list[str]] = {}
    for gate, state, why in plan.impossible:
        if state:
            yield f"gate {gate} on {state}: {clipped(one_line(why), glyphs)}"
        else:
            reasons.setdefault(why.removeprefix(f"gate {gate} cannot be rerun: "), []).append(gate)
    for why, gates in reasons.items():
        rows = f"gate{'' if len(gates) == 1 else 's'} {', '.join(gates)}"
        yield f"{rows} cannot be rerun: {clipped(one_line(why), glyphs)}"


def plan_words(plan: MatrixPlan, jobs: int = 1) -> str:
    """`14 cells and 3 controls, about 2m05`."""
    count = len(plan.cells)
    words = f"{count} cell{'' if count == 1 else 's'}"
    controls = len(plan.controls or {})
    if controls:
        words += f" and {controls} control{'' if controls == 1 else 's'} before them"
    time = plan.estimate(jobs)
    if time is not None:
        return f"{words}, about {duration(max(1.0, time))}{f' with {jobs} at once' * (jobs > 1)}"
    return f"{words}, of unknown duration"


def _name(test: str, glyphs: Glyphs) -> str:
    return clipped(one_line(test), glyphs)


def _more(count: int, glyphs: Glyphs) -> Iterator[str]:
    if count > _MOST_NAMED:
        yield f"    {glyphs.more} and {count - _MOST_NAMED} more"
