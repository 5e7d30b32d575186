"""Where the trajectories of a run lie, and what was used: all that its skeleton knows of them.

Apart from `trajectory`, so that a run opens without the classes of its steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost, the same in every format. Null is unknown; it is never written as 0."""

    input_tokens: int | None = None
    """All that was sent: fresh, read from a cache and written to one."""
    cached_tokens: int | None = None
    """Those of `input_tokens` that were read from a cache."""
    output_tokens: int | None = None
    """All that was produced, reasoning included."""
    reasoning_tokens: int | None = None
    """Those of `output_tokens` that were reasoning."""
    cost_usd: float | None = None
    """As the writer computed it, however it did; arcview computes none."""


class SessionRole(StrEnum):
    """What a session is to the stage it was found in."""

    MAIN = "main"
    RETRY = "retry"
    BETWEEN = "between"
    """Belongs to the pass that ran after the stage."""
    SUBAGENT = "subagent"
    OTHER_STAGE = "other_stage"


@dataclass(frozen=True, slots=True)
class TrajectoryRef:
    """Where a trajectory of a stage (or of a pass after it) lies; nothing of it is read yet."""

    path: str
    """Relative to the run folder."""
    format: str | None = None
    """Id of the reader that knows it; null means recognise by content."""
    role: SessionRole = SessionRole.MAIN
    session: str | None = None
    companions: tuple[str, ...] = ()
    """Further files that complete it (native sessions beside a stream), relative to the run."""
    since: str | None = None
    """Only what was recorded from this time on (ISO 8601) belongs to the stage."""
    until: str | None = None
    """Only what was recorded before this time belongs to the stage."""
    turns: tuple[int, int] | None = None
    """Only these user turns of the file belong to the stage: the first and the last, 1-based."""
