"""Tokens and cost from the spellings of several writers; what is unknown is null, never 0.

Shared by the readers of trajectories; imports no reader.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from arcview.model.trajectory import Trajectory
from arcview.model.trajectory_refs import Usage


def dollars(value: object) -> float | None:
    """A cost; 0 is what writers put where they do not know the price."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 < value < _ABSURD else None


_ABSURD = 1e9


def sent_in_all(
    fresh: int | None, from_cache: int | None, into_cache: int | None = None
) -> int | None:
    """Tokens sent, for writers that count what came from a cache, or went into one, apart."""
    return None if fresh is None else fresh + (from_cache or 0) + (into_cache or 0)


def added(usages: Iterable[Usage | None]) -> Usage | None:
    """The sum; each figure is unknown only where it is unknown in all of them."""
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    figures = {}
    for field in fields(Usage):
        values = [value for usage in known if (value := getattr(usage, field.name)) is not None]
        figures[field.name] = sum(values) if values else None
    return Usage(**figures)


def total_of(trajectory: Trajectory) -> Usage | None:
    """The totals that a trajectory records, completed by sums over its steps.

    A figure is summed only where every message of the model tells it: else the sum is not one.
    """
    usages = [step.usage or Usage() for step in trajectory.steps if step.number is not None]
    others = [step.usage for step in trajectory.steps if step.number is None and step.usage]
    summed = added([*usages, *others]) or Usage()
    recorded = trajectory.usage or Usage()
    figures = {}
    for field in fields(Usage):
        figure = getattr(recorded, field.name)
        is_told = usages and all(getattr(usage, field.name) is not None for usage in usages)
        if figure is None and is_told:
            figure = getattr(summed, field.name)
        figures[field.name] = figure
    total = Usage(**figures)
    return None if total == Usage() else total
