"""What a Claude Code log says about whole sessions: the client's version, their ends and totals.

A closing record counts what its session sent once more: its tokens are totals, not a step's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from arcview.model.trajectory import Usage
from arcview.readers.trajectories.records import Record, text_or_none
from arcview.readers.trajectories.usages import added

_SUCCESS = "success"
_ERROR = "error"


@dataclass(slots=True)
class Ends:
    """Collects it record by record."""

    version: str | None = None
    exit_status: str | None = None
    """The word of the last closing record; a success that is marked as an error is none."""
    _totals: list[tuple[str | None, Usage]] = field(default_factory=list)

    def see(self, record: Record) -> None:
        """Takes the version from a record, while none is known."""
        told = record.get("version" if "sessionId" in record else "claude_code_version")
        self.version = text_or_none(told)

    def close(self, record: Record, session: str | None, total: Usage | None) -> Usage | None:
        """Takes a closing record; what of its usage no message tells: the cost."""
        word = text_or_none(record.get("subtype"))
        is_error = record.get("is_error") is True
        self.exit_status = _ERROR if is_error and word in (_SUCCESS, None) else word
        if total is None:
            return None
        self._totals.append((session, total))
        return None if total.cost_usd is None else Usage(cost_usd=total.cost_usd)

    def total(self, messages: Iterable[tuple[str | None, Usage | None]]) -> Usage | None:
        """Totals as they are recorded, with the messages of sessions that record none.

        Args:
            messages: Session and usage of every message of the model.
        """
        if not self._totals:
            return None
        closed = {session for session, _ in self._totals}
        others = [usage for session, usage in messages if session not in closed]
        found = added([*(usage for _, usage in self._totals), *others])
        return None if found is None else replace(found, cost_usd=found.cost_usd or None)
