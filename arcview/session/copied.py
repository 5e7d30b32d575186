"""What a person takes out of a run by one key: an address, the id of a test, its message, a hunk.

Pure; the clipboard is the user interface's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from arcview.model.patch import FileChange, Hunk
from arcview.model.results import GateTest

CopyPart = Literal["address", "test", "message", "hunk"]

NOTHING: dict[CopyPart, str] = {
    "address": "nothing here has an address",
    "test": "no test is under the cursor",
    "message": "no test or step with a message is under the cursor",
    "hunk": "no change is under the cursor of the diff",
}
"""What is said where there is no such part."""


def part_of_tests(tests: Iterable[GateTest], part: CopyPart) -> str:
    """Ids of tests, a line each, or what they say: the message, else the traceback."""
    if part == "test":
        return "\n".join(test.id for test in tests)
    said = (test.message or test.traceback or "" for test in tests)
    return "\n".join(dict.fromkeys(text for text in said if text))


def hunk_text(change: FileChange, hunks: Iterable[Hunk]) -> str:
    """Hunks of one file as a unified diff that `git apply` takes."""
    old, new = change.old_path or change.path, change.path
    lines = [
        "--- /dev/null" if change.old_mode is None and change.kind == "added" else f"--- a/{old}",
        "+++ /dev/null" if change.kind == "deleted" else f"+++ b/{new}",
    ]
    for hunk in hunks:
        sides = f"-{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count}"
        lines.append(f"@@ {sides} @@ {hunk.heading}".rstrip())
        for line in hunk.lines:
            lines.append(f"{line.kind.value}{line.text}")
            if line.no_newline:
                lines.append("\\ No newline at end of file")
    return "\n".join(lines) + "\n"
