"""Token counts of Codex: totals that grow over a whole thread, repeat, and go on after a resume."""

from __future__ import annotations

from dataclasses import dataclass, field

from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.records import count_or_none
from arcview.readers.trajectories.usages import added


def usage_of(counts: object) -> Usage | None:
    """Token counts of a response or a thread; input counts what was cached too."""
    if not isinstance(counts, dict):
        return None
    told = counts.get
    spent = count_or_none(told("input_tokens", told("prompt")))
    written = count_or_none(told("output_tokens", told("completion")))
    if not spent and not written:
        return None
    cached, reasoned = told("cached_input_tokens"), told("reasoning_output_tokens")
    return Usage(spent, count_or_none(cached), written, count_or_none(reasoned))


def without(usage: Usage, earlier: Usage | None) -> Usage:
    """What a growing total gained since an earlier one."""
    if earlier is None:
        return usage
    return Usage(
        _gain(usage.input_tokens, earlier.input_tokens),
        _gain(usage.cached_tokens, earlier.cached_tokens),
        _gain(usage.output_tokens, earlier.output_tokens),
        _gain(usage.reasoning_tokens, earlier.reasoning_tokens),
    )


def _is_less(total: Usage, earlier: Usage) -> bool:
    return (total.input_tokens or 0) < (earlier.input_tokens or 0)


def _gain(count: int | None, earlier: int | None) -> int | None:
    return None if count is None else max(count - (earlier or 0), 0)


@dataclass(slots=True)
class Tokens:
    """What one thread spends, each response counted once."""

    _total: Usage | None = None
    _base: Usage | None = None
    """What had been spent before the first count that is seen here."""
    _parts: list[Usage] = field(default_factory=list)

    def take(self, last: Usage | None, total: Usage | None) -> Usage | None:
        """What a response spent; null for a count that only repeats the one before it."""
        if total is None:
            if last is not None:
                self._parts.append(last)
            return last
        if total == self._total:
            return None
        spent = last or without(total, self._total)
        if self._total is not None and _is_less(total, self._total):
            # The client began to count anew, as it does when the context is full.
            self._parts += [without(self._total, self._base)]
            self._total, spent = None, last or total
        if self._total is None:
            self._base = without(total, spent)
        self._total = total
        return spent

    @property
    def spent(self) -> Usage | None:
        """All that was spent here: the growth of the total, which misses no response."""
        grown = without(self._total, self._base) if self._total is not None else None
        return added([grown, *self._parts])
