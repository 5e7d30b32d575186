"""Metrics of OpenHands, V0 and V1 alike → tokens per response and in all. Pure.

The totals grow over a conversation; the list of single responses is kept beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.records import count_or_none, text_or_none
from arcview.readers.trajectories.usages import added


@dataclass(slots=True)
class Spending:
    """What a conversation spent."""

    total: Usage | None = None
    model: str | None = None
    is_zero_cost: bool = False
    """The cost is recorded as 0, which says nothing beside real work."""
    _by_response: dict[str, list[Usage]] = field(default_factory=dict)

    def of(self, response: str | None) -> Usage | None:
        """What a response spent; a response id that comes again takes the next entry."""
        found = self._by_response.get(response or "")
        return found.pop(0) if found else None

    def add(self, metrics: Mapping[str, object]) -> None:
        """Takes the metrics of one use of a model."""
        total = usage_of(mapping(metrics.get("accumulated_token_usage")))
        cost = metrics.get("accumulated_cost")
        if _is_amount(cost):
            self.is_zero_cost = self.is_zero_cost or cost == 0
            if cost:
                total = replace(total or Usage(), cost_usd=float(str(cost)))
        self.total = added([self.total, total])
        self.model = self.model or text_or_none(metrics.get("model_name"))
        usages = [mapping(entry) for entry in listed(metrics.get("token_usages"))]
        costs = [mapping(entry).get("cost") for entry in listed(metrics.get("costs"))]
        for index, entry in enumerate(usages):
            usage = usage_of(entry)
            amount = costs[index] if len(costs) == len(usages) else None
            if usage is not None and _is_amount(amount) and amount:
                usage = replace(usage, cost_usd=float(str(amount)))
            name = text_or_none(entry.get("response_id"))
            if usage is not None and name is not None:
                self._by_response.setdefault(name, []).append(usage)


def spending_of(metrics: Iterable[object]) -> Spending:
    """The spending of a conversation, over all uses that it made of models."""
    spending = Spending()
    for entry in metrics:
        spending.add(mapping(entry))
    return spending


def metrics_in(stats: object) -> list[object]:
    """The metrics in the `stats` of a conversation, one for each use."""
    return [*mapping(mapping(stats).get("usage_to_metrics")).values()]


def usage_of(counts: Mapping[str, object]) -> Usage | None:
    """Token counts as metrics or a model's response write them."""
    details = mapping(counts.get("prompt_tokens_details"))
    spent = mapping(counts.get("completion_tokens_details"))
    usage = Usage(
        input_tokens=count_or_none(counts.get("prompt_tokens")),
        cached_tokens=_first(
            counts.get("cache_read_tokens"),
            details.get("cached_tokens"),
            counts.get("cache_read_input_tokens"),
        ),
        output_tokens=count_or_none(counts.get("completion_tokens")),
        reasoning_tokens=_first(counts.get("reasoning_tokens"), spent.get("reasoning_tokens")),
    )
    return usage if usage.input_tokens or usage.output_tokens else None


def _first(*values: object) -> int | None:
    counts = (count_or_none(value) for value in values)
    return next((count for count in counts if count is not None), None)


def _is_amount(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9
