"""Times as the writers of trajectories record them → ISO 8601, without guessing a time zone.

Shared by the readers of trajectories; imports no reader.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which size on a Unix time counts nano-, micro- or milliseconds; 1e11 s is the year 5138."""


def iso_time(value: object) -> str | None:
    """A recorded time as text.

    A number is a Unix time in seconds, milliseconds, microseconds or nanoseconds and becomes
    ISO 8601 in UTC. A text stays as it is, whatever it says: a time without zone has none.
    """
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    if not math.isfinite(seconds) or seconds <= 0:
        return None
    divisor = next((unit for least, unit in _UNITS if seconds >= least), 1.0)
    try:
        return datetime.fromtimestamp(seconds / divisor, UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return str(value)
