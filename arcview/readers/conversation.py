"""The folder that is one conversation, a file for every event, and the file that tells so.

Knows no more of the format than the names. Must not import a reader.
"""

from __future__ import annotations

import re
from pathlib import Path

from arcview.files import is_file

_STATE_FILE = "base_state.json"
_EVENT_FILE = re.compile(r"event-\d+-.*\.json")


def telling_file(path: Path) -> Path | None:
    """The state of a conversation folder, else its first event; null for any other path."""
    state = path / _STATE_FILE
    if is_file(state):
        return state
    events = path / "events"
    try:
        files = [file for file in events.iterdir() if _EVENT_FILE.fullmatch(file.name)]
    except OSError:
        return None
    return min(files, default=None)
