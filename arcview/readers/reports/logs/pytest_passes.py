"""The quick way through what most of a long log of pytest is: lines that say `node-id PASSED`.

It does for them what the session does line by line, and leaves everything doubtful to it. Pure.
"""

from __future__ import annotations

import re

from arcview.readers.reports.logs.log import MAX_LINE, Found
from arcview.readers.reports.logs.pytest_state import Progress

_PASSED = re.compile(
    r"([^\s:\[\]]+\.py(?:::[^\s:\[\]]+)+(?:\[[^\s\[\]]*\])?) PASSED(?: +\[ *(\d{1,3})%\])?"
)
"""A whole line, as long as nothing about its id is doubtful."""


def take_passes(found: Found, progress: Progress, start: int) -> tuple[int, str | None]:
    """Takes such lines while they follow each other.

    Args:
        found: Takes the tests; its lines are read.
        progress: Takes the percentages.
        start: Where they may begin.

    Returns:
        Where they end, and the last test's id.
    """
    lines, passed, sightings = found.lines, found.passed, found.sightings
    matches, last_percent, last = _PASSED.fullmatch, None, None
    for index in range(start, len(lines)):
        line = lines[index]
        match = matches(line) if len(line) <= MAX_LINE else None
        if match is None:
            return index, last
        test_id, percent = match.groups()
        if test_id in passed or test_id in sightings:
            return index, last  # said once before
        if percent is not None and (percent != last_percent or progress.is_counting):
            if progress.is_behind(int(percent)):
                return index, last
            progress.advance(int(percent))
            last_percent = percent
        passed[test_id] = found.first + index
        last = test_id
    return len(lines), last
