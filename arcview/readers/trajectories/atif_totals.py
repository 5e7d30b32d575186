"""What a trajectory of several ATIF documents spent, counted once. Pure: no files."""

from __future__ import annotations

from collections.abc import Sequence

from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.atif_steps import Record, usage_of
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.usages import added


def total_of_chain(documents: Sequence[Record]) -> Usage | None:
    """The totals of a document and its continuations.

    Some writers go on counting from one document to the next: a total that is more than the steps
    of its document spent has all before it in it.

    Args:
        documents: In order.
    """
    counted: list[Usage | None] = []
    for document in documents:
        metrics = document.get("final_metrics")
        total = usage_of(metrics, "total_") if isinstance(metrics, dict) else None
        spent = _spent(document) if len(documents) > 1 else None
        if total is not None and counted and _is_more(total, spent):
            counted.clear()
        counted.append(total or spent)
    return added(counted)


def _spent(document: Record) -> Usage | None:
    """What the steps of a document spent; what is copied from an earlier one did it there."""
    steps = map(mapping, listed(document.get("steps")))
    own = (step for step in steps if step.get("is_copied_context") is not True)
    return added(usage_of(mapping(step.get("metrics"))) for step in own)


def _is_more(total: Usage, spent: Usage | None) -> bool:
    if spent is None:
        return False
    pairs = (
        (total.input_tokens, spent.input_tokens),
        (total.output_tokens, spent.output_tokens),
    )
    return any(one is not None and other is not None and one > other for one, other in pairs)
