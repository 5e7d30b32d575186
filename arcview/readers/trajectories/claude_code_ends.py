"""What a Claude Code log says about whole sessions: the client's version, their ends and totals.

A closing record counts what its session sent once more: its tokens are totals, not a step's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.claude_code_blocks import usage_of
from arcview.readers.trajectories.records import Record, count_or_none, text_or_none
from arcview.readers.trajectories.usages import added

_SUCCESS = "success"
_ERROR = "error"


@dataclass(frozen=True, slots=True)
class _Counter:
    """What a client counted from its start to the end of a turn: all its models, sub-agents too.

    `total_cost_usd` and `modelUsage` grow from turn to turn; the `usage` beside them is the turn's.
    """

    cost_usd: float = 0.0
    input_tokens: int = 0
    """All that was sent, as in `Usage`."""
    cached_tokens: int = 0
    output_tokens: int = 0

    @property
    def tokens(self) -> int:
        """All that was sent and produced."""
        return self.input_tokens + self.output_tokens


_ZERO = _Counter()


def _counter(record: Record, cost_usd: float) -> _Counter:
    models = record.get("modelUsage")
    every = models.values() if isinstance(models, dict) else ()
    known = [model for model in every if isinstance(model, dict)]

    def sum_of(name: str) -> int:
        return sum(count_or_none(model.get(name)) or 0 for model in known)

    cached, stored = sum_of("cacheReadInputTokens"), sum_of("cacheCreationInputTokens")
    sent = sum_of("inputTokens") + cached + stored
    return _Counter(cost_usd, sent, cached, sum_of("outputTokens"))


def _is_anew(now: _Counter, before: _Counter, turn: Usage) -> bool:
    """Whether a session was resumed by a client that was started for it, which counts from zero.

    Then its counts shrink, or they gained less than the turn itself spent.
    """
    if now.cost_usd < before.cost_usd or now.tokens < before.tokens:
        return True
    sent, produced = turn.input_tokens or 0, turn.output_tokens or 0
    gained = now.input_tokens - before.input_tokens, now.output_tokens - before.output_tokens
    return now.tokens > 0 and (gained[0] < sent or gained[1] < produced)


def spent_in_all(record: Record) -> Usage | None:
    """What a closing record says of everything: all models, sub-agents included.

    Its `usage` leaves out what sub-agents used, which its cost does not; clients that count by
    model say it there.
    """
    return _in_all(usage_of(record.get("usage"), record.get("total_cost_usd")), record, _ZERO)


def _in_all(turn: Usage | None, record: Record, before: _Counter) -> Usage | None:
    """The same of what came since an earlier record of the same client."""
    if turn is None:
        return None
    now = _counter(record, turn.cost_usd or 0.0)
    if now.tokens:
        turn = replace(
            turn,
            input_tokens=now.input_tokens - before.input_tokens,
            cached_tokens=max(now.cached_tokens - before.cached_tokens, 0),
            output_tokens=now.output_tokens - before.output_tokens,
        )
    if turn.cost_usd is not None and before.cost_usd:
        turn = replace(turn, cost_usd=round(now.cost_usd - before.cost_usd, 10))
    return turn


def main_loop_note(record: Record) -> str | None:
    """What to say where the main agent's own tokens are fewer than those of everything."""
    own, whole = usage_of(record.get("usage")), spent_in_all(record)
    if own is None or whole is None:
        return None
    sent, produced = own.input_tokens or 0, own.output_tokens or 0
    if (sent, produced) == (whole.input_tokens or 0, whole.output_tokens or 0):
        return None
    return f"tokens are those of all models; the main agent's: {sent:,} sent, {produced:,} produced"


@dataclass(slots=True)
class Ends:
    """Collects it record by record."""

    version: str | None = None
    exit_status: str | None = None
    """The word of the last closing record; a success that is marked as an error is none."""
    _totals: list[tuple[str | None, Usage]] = field(default_factory=list)
    _counters: dict[str | None, _Counter] = field(default_factory=dict)
    """What was counted up to the last turn of each session."""

    def see(self, record: Record) -> None:
        """Takes the version from a record, while none is known."""
        told = record.get("version" if "sessionId" in record else "claude_code_version")
        self.version = text_or_none(told)

    def close(self, record: Record, session: str | None, turn: Usage | None) -> Usage | None:
        """Takes a closing record; what of its usage no message tells: the cost of the turn."""
        word = text_or_none(record.get("subtype"))
        is_error = record.get("is_error") is True
        self.exit_status = _ERROR if is_error and word in (_SUCCESS, None) else word
        if turn is None:
            return None
        now, before = _counter(record, turn.cost_usd or 0.0), self._counters.get(session, _ZERO)
        self._counters[session] = now
        spent = _in_all(turn, record, _ZERO if _is_anew(now, before, turn) else before) or turn
        self._totals.append((session, spent))
        return None if spent.cost_usd is None else Usage(cost_usd=spent.cost_usd)

    def total(self, messages: Iterable[tuple[str | None, Usage | None]]) -> Usage | None:
        """Totals as they are recorded, with the messages of sessions that record none.

        Args:
            messages: Session and usage of every message of the model.
        """
        if not self._totals:
            return None
        told: dict[str | None, list[Usage | None]] = {}
        for session, usage in messages:
            told.setdefault(session, []).append(usage)
        closed: dict[str | None, list[Usage]] = {}
        for session, usage in self._totals:
            closed.setdefault(session, []).append(usage)
        found = added(
            _at_least(added(closed.get(session, ())), added(told.get(session, ())))
            for session in dict.fromkeys([*closed, *told])
        )
        return None if found is None else replace(found, cost_usd=found.cost_usd or None)


def _at_least(closing: Usage | None, messages: Usage | None) -> Usage | None:
    """What closing records tell; the messages' sum where it is more.

    The records of an attempt that was started again are lost with it, its messages may not be.
    """
    if closing is None or messages is None:
        return closing or messages
    if (messages.input_tokens or 0) <= (closing.input_tokens or 0):
        return closing
    return replace(messages, cost_usd=closing.cost_usd)
