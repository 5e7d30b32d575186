"""Tokens and cost from the spellings of several writers; what is unknown is null, never 0.

Shared by the readers of trajectories; imports no reader.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from arcview.model.trajectory import Usage


def dollars(value: object) -> float | None:
    """A cost; 0 is what writers put where they do not know the price."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 < value < _ABSURD else None


_ABSURD = 1e9


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
