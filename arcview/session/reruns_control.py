"""The control probe: before reruns of a gate are believed, it is run where the answer is known.

On the reference state it has to pass, on the recorded state to say what was recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arcview.errors import ArcviewError, CancelledError
from arcview.gates.results import Change, Comparison, RerunResult
from arcview.model.results import Verdict
from arcview.session.reruns_model import Cancelled, Control, OnEvent, Target

if TYPE_CHECKING:
    from arcview.session.reruns import Reruns

MOST_ATTEMPTS = 5
"""Runs on the recorded state, where the first does not say what was recorded."""


def probe(reruns: Reruns, gate: str, on_event: OnEvent, cancelled: Cancelled) -> Control:
    """Runs both halves that the run makes possible; what is stored already is not run again.

    Raises:
        CancelledError: `cancelled` said so before a half began.
        ArcviewError: no engine answers, the image is refused, or nothing can be stored.
    """
    reference = _on_reference(reruns, gate, on_event, cancelled)
    if isinstance(reference, RerunResult) and reference.verdict is not Verdict.PASSED:
        said = f"{reference.verdict.value}{f' ({reference.reason})' if reference.reason else ''}"
        why = f"gate {gate} does not pass on the reference state {reference.label}: {said}"
        return Control(False, why, reference)
    known = reference if isinstance(reference, RerunResult) else None
    recorded = _on_recorded(reruns, gate, on_event, cancelled)
    if isinstance(recorded, str):
        if known is None:
            return Control(False, f"nothing to hold gate {gate} to: {reference}; {recorded}")
        return Control(True, f"passes on {known.label}; {recorded}", known)
    comparison = reruns.comparison(recorded)
    if comparison is None or comparison.reproduces is None:
        why = recorded.reason or "the recorded verdict is unmeasured"
        if known is not None and recorded.is_measured:
            return Control(True, f"passes on {known.label}; {why}", known, recorded)
        return Control(False, f"gate {gate} on {recorded.label}: {why}", known, recorded)
    half = f"passes on {known.label}, " if known is not None else f"{reference}; "
    if not comparison.reproduces:
        flaky = _flaky_only(reruns, gate, recorded, on_event, cancelled)
        if not flaky:
            why = f"gate {gate} does not say on {recorded.label} what was recorded"
            return Control(False, f"{why}: {_moved(comparison, recorded)}", known, recorded)
        tests = "1 flaky test" if flaky == 1 else f"{flaky} flaky tests"
        why = f"{half}reproduces {recorded.label} but for {tests}"
        return Control(True, why, known, recorded)
    return Control(True, f"{half}reproduces {recorded.label}", known, recorded)


def _moved(comparison: Comparison, now: RerunResult) -> str:
    was = comparison.recorded_verdict
    why = f"recorded {was.value if was else 'nothing'}, now {now.verdict.value}"
    moved = next((test for test in comparison.tests if test.change is not Change.SAME), None)
    return f"{why}, such as {moved.id}: {moved.change.value}" if moved is not None else why


def _flaky_only(
    reruns: Reruns, gate: str, first: RerunResult, on_event: OnEvent, cancelled: Cancelled
) -> int:
    """How many flaky tests explain that the recorded result is not reproduced; 0 where none do."""
    target = reruns.target(first.label)
    for times in range(2, MOST_ATTEMPTS + 1):
        results = reruns.run(gate, target, times=times, on_event=on_event, cancelled=cancelled)
        flaky = flaky_moves(reruns, results)
        if flaky is not None or cancelled():
            return len(flaky or ())
    return 0


def flaky_moves(reruns: Reruns, results: Sequence[RerunResult]) -> tuple[str, ...] | None:
    """The tests that keep results from being the recorded one, if all of them are flaky.

    Args:
        reruns: The reruns of the run.
        results: Results of one gate on the state it was recorded on.

    Returns:
        Those tests, none where a result reproduces the recorded one; null where a test always says
        something else than was recorded.
    """
    measured = [result for result in results if result.is_measured]
    compared = [(result, reruns.comparison(result)) for result in measured]
    moved = [
        {test.id for test in found.tests if test.change is not Change.SAME and test.recorded}
        for _, found in compared
        if found is not None
    ]
    if not moved:
        return None
    always = set.intersection(*moved)
    flaky = set(reruns.flakiness(tuple(measured)).flaky)
    return None if always else tuple(sorted(set.union(*moved) & flaky))


def _on_reference(
    reruns: Reruns, gate: str, on_event: OnEvent, cancelled: Cancelled
) -> RerunResult | str:
    """The gate on the reference after its stage; why not, where there is none."""
    try:
        target = reruns.target(reruns.reference_state(gate))
    except ArcviewError as error:
        return f"no reference ({error})"
    return _run(reruns, gate, target, on_event, cancelled)


def _on_recorded(
    reruns: Reruns, gate: str, on_event: OnEvent, cancelled: Cancelled
) -> RerunResult | str:
    """The gate on the state it was recorded on; why not, where nothing is recorded."""
    state = reruns.recorded_state(gate)
    record = reruns.opened.run.gate(gate, state)
    if record is None or record.unmeasured is not None:
        return "nothing measured is recorded"
    try:
        target = reruns.target(state or "")
    except ArcviewError as error:
        return str(error)
    return _run(reruns, gate, target, on_event, cancelled)


def _run(
    reruns: Reruns, gate: str, target: Target, on_event: OnEvent, cancelled: Cancelled
) -> RerunResult:
    results = reruns.run(gate, target, on_event=on_event, cancelled=cancelled)
    if not results:  # cancelled before it began
        raise CancelledError("cancelled")
    return results[-1]
