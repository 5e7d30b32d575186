"""Which trajectories are too long to be held, or to be waited for: the one rule for both.

Must not import a parser: it is asked before the first frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

LONG_BYTES = 8 << 20
"""From here on a log is not held: a person can wait for the time it takes to parse this much."""


def is_long(files: Iterable[Path]) -> bool:
    """Whether the files of a trajectory are too much to be held."""
    total = 0
    for path in files:
        with suppress(OSError):
            total += path.stat().st_size
    return total > LONG_BYTES
