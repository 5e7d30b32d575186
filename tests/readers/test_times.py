"""Recorded times, as far as they can be compared."""

from __future__ import annotations

import pytest

from arcview.readers.times import seconds_between


@pytest.mark.parametrize(
    ("started", "ended", "seconds"),
    [
        ("2026-01-01T10:00:00Z", "2026-01-01T11:00:01+01:00", 1.0),
        ("2026-01-01T10:00:00", "2026-01-01T10:00:02.5", 2.5),
        ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00", None),
        ("2026-01-01T10:00:01Z", "2026-01-01T10:00:00Z", None),
        ("yesterday", "2026-01-01T10:00:00Z", None),
        (None, "2026-01-01T10:00:00Z", None),
    ],
)
def test_seconds_between_times_that_can_be_compared(
    started: str | None, ended: str | None, seconds: float | None
) -> None:
    assert seconds_between(started, ended) == seconds
