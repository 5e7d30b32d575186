"""What stored reruns say about the control of a gate, without running anything."""

from __future__ import annotations

from collections.abc import Sequence

from arcview.analysis.matrix import MatrixState
from arcview.gates.results import RerunResult
from arcview.model.results import Verdict
from arcview.session.reruns import Reruns
from arcview.session.reruns_control import flaky_moves


def stored_control(
    reruns: Reruns,
    gate: str,
    states: Sequence[MatrixState],
    results: Sequence[RerunResult],
) -> bool | str | None:
    """Whether the reruns of a gate can be believed.

    Args:
        reruns: The reruns of the run.
        gate: The gate.
        states: The columns of the matrix.
        results: The stored reruns of the gate.

    Returns:
        True where a control holds, why it does not, or null where none was made.
    """
    measured = [result for result in results if result.is_measured]
    trees = {state.id: state.tree for state in states}
    reference = reruns.reference_state(gate)
    on_reference = [r for r in measured if r.tree == trees.get(reference)]
    if on_reference and all(r.verdict is not Verdict.PASSED for r in on_reference):
        return f"gate {gate} does not pass on the reference state {reference}"
    state = reruns.recorded_state(gate)
    on_recorded = [r for r in measured if r.tree == trees.get(state or "") and r.label == state]
    compared = [r for r in on_recorded if _is_comparable(reruns, r)]
    if compared and flaky_moves(reruns, compared) is None:
        return f"gate {gate} does not say on {state} what was recorded"
    return True if on_reference or compared else None


def _is_comparable(reruns: Reruns, result: RerunResult) -> bool:
    comparison = reruns.comparison(result)
    return comparison is not None and comparison.reproduces is not None
