"""A rerun as plain text and as JSON: the plan, the result, and how it stands to the recorded one.

Pure; must not import the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arcview.analysis.verdicts import is_ok
from arcview.gates.results import Change, Comparison, Flakiness, RerunResult
from arcview.model.results import GroupCounts
from arcview.session.plain_text_parts import Glyphs, clipped, one_line, shown
from arcview.session.reruns_model import RerunPlan

RERUN_VERSION = "arcview/rerun/1"

_MOVES = (Change.FLIPPED_UP, Change.FLIPPED_DOWN, Change.MISSING_NOW, Change.NEW)
_WORDS = {
    Change.FLIPPED_UP: "ok now",
    Change.FLIPPED_DOWN: "not ok now",
    Change.MISSING_NOW: "missing now",
    Change.NEW: "new",
    Change.SAME: "same",
}


def plan_lines(plan: RerunPlan) -> Iterator[str]:
    """How a gate would be run, for whoever is asked whether to."""
    definition, limits = plan.definition, plan.definition.limits
    for line in plan.command.splitlines():
        yield f"  command  {one_line(line)}"
    if plan.engine is not None and plan.engine.kind == "host":
        yield "  engine   none: on this machine, in a temporary copy, without any isolation"
        yield f"  limits   {definition.timeout_s:g} s"
    else:
        image = plan.image.ref if plan.image is not None else definition.image_ref
        first = ", fetched first" if plan.image is None and plan.unavailable is None else ""
        yield f"  image    {one_line(image or 'not recorded')}{first}"
        for note in plan.image.notes if plan.image is not None else ():
            yield f"           {one_line(note)}"
        yield (
            f"  limits   {limits.cpus:g} cpus, {limits.memory_mb:,} MB, {limits.pids:,} processes, "
            f"{definition.timeout_s:g} s, no network"
        )
        if plan.engine is not None:
            yield f"  engine   {one_line(engine_words(plan))}"
    took = plan.recorded_duration_s
    yield f"  recorded {f'{took:.1f} s' if took is not None else 'duration unknown'}"


def engine_words(plan: RerunPlan) -> str:
    """Which engine, and what of the limits it ignores."""
    engine = plan.engine
    if engine is None:
        return plan.unavailable or "none"
    ignored = ", ".join(engine.limits_ignored)
    notes = "; ".join((*((f"does not enforce: {ignored}",) if ignored else ()), *engine.notes))
    return f"{engine.name} {engine.version} at {engine.endpoint}{f' ({notes})' if notes else ''}"


def result_lines(
    results: Sequence[RerunResult],
    comparison: Comparison | None,
    flakiness: Flakiness,
    glyphs: Glyphs,
) -> Iterator[str]:
    """What came of it: a line each run, what moved, what is flaky."""
    for result in results:
        yield _head(result, glyphs)
        for note in result.notes:
            yield f"  {one_line(note)}"
    last = results[-1]
    if last.is_silent:
        yield f"  no expected test has a result ({_expected(last)} missing)"
    else:
        yield from _failing(last, glyphs)
    if comparison is not None:
        yield from _compared(comparison, glyphs, with_tests=not last.is_silent)
    for test_id in flakiness.flaky:
        words = flakiness.words(test_id)
        yield f"  flaky: {clipped(one_line(test_id), glyphs)} {glyphs.dot} {words}"
    if flakiness.attempts > 1 and not flakiness.flaky:
        yield f"  no test changed in {flakiness.attempts} runs"


def _head(result: RerunResult, glyphs: Glyphs) -> str:
    reason = f" ({one_line(result.reason)})" if result.reason else ""
    counts = [
        f"{name} {counts.passed} of {counts.expected}"
        for name, counts in (("F2P", result.f2p), ("P2P", result.p2p), ("tests", result.other))
        if counts is not None
    ]
    host = [f"{glyphs.dot} graded on the host"] if result.graded_on_host else []
    facts = ", ".join(counts) if not result.is_silent else "no results"
    return (
        f"{glyphs.verdict(result.verdict)} gate {one_line(result.gate)} on "
        f"{one_line(result.label)}: {result.verdict.value}{reason} "
        f"{glyphs.dot} {facts or 'no tests'} {glyphs.dot} "
        f"{result.duration_s:.1f} s {glyphs.dot} attempt {result.attempt}{' '.join(['', *host])}"
    )


def _expected(result: RerunResult) -> int:
    return len({test.id for test in result.tests if not test.extra})


def _failing(result: RerunResult, glyphs: Glyphs) -> Iterator[str]:
    for test in result.tests:
        if not test.extra and not is_ok(test.outcome):
            why = one_line((test.message or "").strip().partition("\n")[0])
            said = f" {glyphs.dot} {why}" if why else ""
            line = f"{one_line(test.id)} {glyphs.dot} {test.outcome.value}{said}"
            yield f"  {glyphs.failed} {clipped(line, glyphs)}"


def _compared(comparison: Comparison, glyphs: Glyphs, *, with_tests: bool) -> Iterator[str]:
    was = comparison.recorded_verdict.value if comparison.recorded_verdict else "nothing"
    if comparison.has_same_verdict and not comparison.reproduces:
        yield f"  gives the recorded verdict ({was}), but not test for test"
    else:
        words = {True: "reproduces", False: "does not reproduce", None: "cannot be held to"}
        yield f"  {words[comparison.reproduces]} the recorded verdict ({was})"
    for test in comparison.tests if with_tests else ():
        if test.change in _MOVES:
            old = test.recorded.value if test.recorded else "not recorded"
            new = test.now.value if test.now else "not reported"
            line = f"{_WORDS[test.change]}: {one_line(test.id)} {glyphs.dot} {old} to {new}"
            yield f"  {clipped(line, glyphs)}"


def stored_line(result: RerunResult, glyphs: Glyphs) -> str:
    """One stored result, for a list of them."""
    return shown(f"{result.started}  {_head(result, glyphs)}")


def rerun_json(
    run_id: str,
    results: Sequence[RerunResult],
    comparison: Comparison | None,
    flakiness: Flakiness,
) -> dict[str, object]:
    """`arcview rerun --json`."""
    last = results[-1]
    return {
        "schema": RERUN_VERSION,
        "run_id": run_id,
        "gate": last.gate,
        "state": last.label,
        "tree": last.tree,
        "image_ref": last.image_ref,
        "image_digest": last.image_digest,
        "verdict": last.verdict.value,
        "reason": last.reason,
        "reproduces": comparison.reproduces if comparison is not None else None,
        "recorded_verdict": comparison.recorded_verdict.value
        if comparison is not None and comparison.recorded_verdict is not None
        else None,
        "changes": _changes(comparison),
        "flaky": [
            {"id": test_id, "ok": flakiness.ok[test_id], "of": flakiness.attempts}
            for test_id in flakiness.flaky
        ],
        "results": [_result(result) for result in results],
    }


def _changes(comparison: Comparison | None) -> dict[str, list[str]] | None:
    if comparison is None:
        return None
    return {
        move.value: [test.id for test in comparison.tests if test.change is move] for move in _MOVES
    }


def _result(result: RerunResult) -> dict[str, object]:
    return {
        "attempt": result.attempt,
        "verdict": result.verdict.value,
        "reason": result.reason,
        "f2p": _counts(result.f2p),
        "p2p": _counts(result.p2p),
        "other": _counts(result.other),
        "exit_codes": list(result.exit_codes),
        "timed_out": result.timed_out,
        "started": result.started,
        "duration_s": result.duration_s,
        "overhead_s": result.overhead_s,
        "graded_on_host": result.graded_on_host,
        "engine": {
            "name": result.engine.name,
            "version": result.engine.version,
            "limits_enforced": list(result.engine.limits_enforced),
            "limits_ignored": list(result.engine.limits_ignored),
        },
        "notes": list(result.notes),
        "failures": [
            {"id": test.id, "group": test.group.value, "outcome": test.outcome.value}
            for test in result.tests
            if not test.extra and not is_ok(test.outcome)
        ],
        "logs": [str(path) for path in result.logs],
    }


def _counts(counts: GroupCounts | None) -> dict[str, int] | None:
    if counts is None:
        return None
    names = counts.__dataclass_fields__
    return {name: getattr(counts, name) for name in names}
