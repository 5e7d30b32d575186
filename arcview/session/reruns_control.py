"""The control probe: before reruns of a gate are believed, it is run where the answer is known.

On the reference state it has to pass, on the recorded state to say what was recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcview.errors import ArcviewError
from arcview.gates.results import RerunResult
from arcview.model.results import Verdict
from arcview.session.reruns_model import Cancelled, Control, OnEvent

if TYPE_CHECKING:
    from arcview.session.reruns import Reruns


def probe(reruns: Reruns, gate: str, on_event: OnEvent, cancelled: Cancelled) -> Control:
    """Runs both halves that the run makes possible; what is stored already is not run again.

    Raises:
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
    if not comparison.reproduces:
        was = comparison.recorded_verdict
        why = f"recorded {was.value if was else 'nothing'}, now {recorded.verdict.value}"
        moved = next((t for t in comparison.tests if t.change.value != "same"), None)
        example = f", such as {moved.id}: {moved.change.value}" if moved is not None else ""
        return Control(
            False,
            f"gate {gate} does not say on {recorded.label} what was recorded: {why}{example}",
            known,
            recorded,
        )
    half = f"passes on {known.label}, " if known is not None else f"{reference}; "
    return Control(True, f"{half}reproduces {recorded.label}", known, recorded)


def _on_reference(
    reruns: Reruns, gate: str, on_event: OnEvent, cancelled: Cancelled
) -> RerunResult | str:
    """The gate on the reference after its stage; why not, where there is none."""
    last = max((stage.index for stage in reruns.opened.run.stages), default=0)
    try:
        target = reruns.target(f"R{last if gate == 'chain' else gate}")
    except ArcviewError as error:
        return f"no reference ({error})"
    return reruns.run(gate, target, on_event=on_event, cancelled=cancelled)[-1]


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
    return reruns.run(gate, target, on_event=on_event, cancelled=cancelled)[-1]
