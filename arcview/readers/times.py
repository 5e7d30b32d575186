"""Recorded times and what lies between them; knows no format."""

from __future__ import annotations

from datetime import datetime


def time_of(text: str | None) -> datetime | None:
    """A recorded time; null where there is none or it is no ISO 8601."""
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


def seconds_between(started: str | None, ended: str | None) -> float | None:
    """Seconds between two recorded times; null where they cannot be compared."""
    begin, end = time_of(started), time_of(ended)
    if begin is None or end is None or (begin.tzinfo is None) != (end.tzinfo is None):
        return None
    seconds = (end - begin).total_seconds()
    return seconds if seconds >= 0 else None
