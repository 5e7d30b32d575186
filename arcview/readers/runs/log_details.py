"""Adds what a log says about single tests to tests that a harness only lists by outcome.

The list decides what is expected and how it ended; where the log contradicts it, that is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from arcview.model.results import GateTest, Outcome

_OK = frozenset({Outcome.PASSED, Outcome.XFAILED})


def with_details(tests: Sequence[GateTest], logged: Iterable[GateTest]) -> tuple[GateTest, ...]:
    """The same tests, with messages, tracebacks and evidence where the log has them.

    Args:
        tests: As the harness lists them.
        logged: As a log or another report shows them, in whatever group.
    """
    by_id: dict[str, GateTest] = {}
    for entry in logged:
        by_id.setdefault(entry.id, entry)
    # Old graders cut an id at its first blank.
    cut = {test_id.split(" ")[0]: entry for test_id, entry in by_id.items() if " " in test_id}
    return tuple(_merged(test, by_id.get(test.id) or cut.get(test.id)) for test in tests)


def _merged(test: GateTest, entry: GateTest | None) -> GateTest:
    if entry is None:
        return test
    outcome, conflict = test.outcome, test.conflict or entry.conflict
    if (test.outcome in _OK) != (entry.outcome in _OK):
        said = entry.reported or entry.outcome.value
        conflict = conflict or f"the harness counts it as {test.outcome.value}, its log says {said}"
    elif entry.outcome in (Outcome.ERROR, Outcome.TIMEOUT, Outcome.XFAILED):
        outcome = entry.outcome
    return replace(
        test,
        outcome=outcome,
        duration_s=test.duration_s if test.duration_s is not None else entry.duration_s,
        message=test.message or entry.message,
        traceback=test.traceback or entry.traceback,
        stdout=test.stdout or entry.stdout,
        stderr=test.stderr or entry.stderr,
        evidence=test.evidence or entry.evidence,
        conflict=conflict,
    )
