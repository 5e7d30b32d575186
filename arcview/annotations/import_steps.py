"""Which number the first step of a foreign file has: files count from 0 or 1 and rarely say so.

It is told, found out from the file's histories, or assumed; which of them is said. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StepBase:
    """The number of the first step, and how that is known."""

    first: int
    said: str
    """One line for people."""


def step_base(records: Sequence[Mapping[str, Any]], told: int | None) -> StepBase:
    """The step base of Who&When-style records.

    Where records have a history, the message at the mistake's position should be the blamed
    agent's: the base for which it is so more often counts. Without one it is 0, as in the published
    data set.

    Args:
        records: With `mistake_agent`, `mistake_step`, perhaps `history` and `step_base`.
        told: What the user says.
    """
    if told is not None:
        return StepBase(told, f"steps count from {told}, as asked for")
    named = {record["step_base"] for record in records if record.get("step_base") in (0, 1)}
    if len(named) == 1:
        base = named.pop()
        return StepBase(base, f"steps count from {base}, as the records say")
    hits = {base: sum(_fits(record, base) for record in records) for base in (0, 1)}
    known = sum(_has_history(record) for record in records)
    if hits[0] != hits[1]:
        base = 0 if hits[0] > hits[1] else 1
        return StepBase(
            base,
            f"steps are taken to count from {base}: there the blamed agent speaks in {hits[base]} "
            f"of {known} histories, from {1 - base} in {hits[1 - base]}",
        )
    why = f"the {known} histories do not tell" if known else "there are no histories to tell"
    return StepBase(0, f"steps are assumed to count from 0, as in the published data set ({why})")


def _has_history(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("history"), list) and isinstance(record.get("mistake_agent"), str)


def _fits(record: Mapping[str, Any], base: int) -> bool:
    """Whether the blamed agent speaks at the mistake's position."""
    if not _has_history(record):
        return False
    try:
        position = int(record["mistake_step"]) - base
    except (KeyError, TypeError, ValueError):
        return False
    history = record["history"]
    if not 0 <= position < len(history) or not isinstance(history[position], Mapping):
        return False
    message = history[position]
    return record["mistake_agent"] in (message.get("name"), message.get("role"))
