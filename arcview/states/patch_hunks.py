"""Hunks of a unified diff: where each ends, what is damaged, and its numbered lines.

The counts of the `@@` line decide what is content, never its look. What a hunk lacks is found and
mended here first, because `unidiff` refuses whole patches for it; `unidiff` then only gets hunks
that are complete, as lines split at line feeds alone, and numbers them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from arcview.model.patch import DiffLine, Hunk, LineKind
from arcview.states.patch_names import decode

if TYPE_CHECKING:
    from unidiff.patch import Line

HUNK = re.compile(
    rb"@@ -(\d{1,15})(?:,(\d{1,15}))? \+(\d{1,15})(?:,(\d{1,15}))? @@ ?(.*)", re.DOTALL
)

_KINDS = {kind.value: kind for kind in LineKind}
_NO_NEWLINE = "\\ No newline at end of file\n"
_CONTEXT_LINES = 3
"""What git and diff put around a change; more than that is not lost by stripping blanks."""


@dataclass(slots=True)
class CutHunk:
    """The part of a patch that one hunk takes up."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    heading: bytes
    body: list[bytes] = field(default_factory=list)
    """Its lines with their signs, without line ends; `\\` marks a missing last newline."""
    old_found: int = 0
    new_found: int = 0
    carriage_returns: bool = False
    """The whole patch was given CRLF line ends, which are left out of `body`."""

    @property
    def is_complete(self) -> bool:
        """Whether all lines that its header promises are there."""
        return self.old_found == self.old_count and self.new_found == self.new_count


def cut_hunk(lines: Sequence[bytes], start: int) -> tuple[CutHunk, int] | None:
    """Cuts out the hunk that begins at a line.

    Args:
        lines: All lines of the patch, split at line feeds.
        start: Index of the `@@` line.

    Returns:
        The hunk and the index after it, or null where no hunk begins there.
    """
    found = HUNK.fullmatch(lines[start])
    if found is None:
        return None
    old_start, old_count, new_start, new_count = (
        int(found[group] or b"1") for group in range(1, 5)
    )
    hunk = CutHunk(old_start, old_count, new_start, new_count, found[5].rstrip(b"\r"))
    hunk.carriage_returns = lines[start].endswith(b"\r")
    at = start + 1
    while at < len(lines) and not hunk.is_complete and _take(hunk, lines, at):
        at += 1
    if at < len(lines) and lines[at].startswith(b"\\") and hunk.body:
        hunk.body.append(b"\\")
        at += 1
    return hunk, at


def damage(hunk: CutHunk, is_torn: bool) -> str | None:
    """What a hunk lacks, in one line, or null.

    Args:
        hunk: The hunk.
        is_torn: It is the last thing in a text that does not end with a line end.
    """
    old_missing = hunk.old_count - hunk.old_found
    new_missing = hunk.new_count - hunk.new_found
    if not old_missing and not new_missing:
        return None
    if old_missing == new_missing <= _CONTEXT_LINES:
        lines = "context line is" if old_missing == 1 else f"{old_missing} context lines are"
        return f"the last {lines} missing, as when the end of a patch was stripped"
    sides = f"{hunk.old_found} of {hunk.old_count} old lines"
    if (hunk.old_found, hunk.old_count) == (hunk.new_found, hunk.new_count):
        sides = f"{hunk.old_found} of {hunk.old_count} lines on each side"
    else:
        sides += f" and {hunk.new_found} of {hunk.new_count} new lines"
    return f"cut short: {sides}" + ("; the last line is torn" if is_torn else "")


def number_hunks(cuts: Sequence[CutHunk]) -> tuple[Hunk, ...]:
    """Gives the lines of the hunks of one file their roles and numbers."""
    from unidiff.patch import PatchSet  # 14 ms, and only a diff needs it

    feed = ["--- a\n", "+++ b\n"]
    for cut in cuts:
        if cut.body:
            feed.append(
                f"@@ -{cut.old_start},{cut.old_found} +{cut.new_start},{cut.new_found} @@\n"
            )
            feed += [_NO_NEWLINE if b == b"\\" else f"{decode(b)}\n" for b in cut.body]
    parsed = iter(PatchSet(feed)[0] if len(feed) > 2 else ())
    return tuple(_hunk(cut, next(parsed) if cut.body else ()) for cut in cuts)


def _take(hunk: CutHunk, lines: Sequence[bytes], at: int) -> bool:
    """Takes one line into the hunk; false where it cannot belong to it."""
    line = lines[at]
    if hunk.carriage_returns:
        line = line.removesuffix(b"\r")
    if line in (b"", b"\r"):
        line = b" " + line  # an editor or a mailer stripped the blank
    sign = line[:1]
    if sign == b"\\":
        if hunk.body:
            hunk.body.append(b"\\")
        return True
    old, new = sign in b" -", sign in b" +"
    if not (old or new):
        return False
    if (old and hunk.old_found == hunk.old_count) or (new and hunk.new_found == hunk.new_count):
        return False
    if sign == b"-" and _starts_next_file(hunk, lines, at):
        return False
    hunk.body.append(line)
    hunk.old_found += old
    hunk.new_found += new
    return True


def _starts_next_file(hunk: CutHunk, lines: Sequence[bytes], at: int) -> bool:
    """Tells whether a hunk was cut short before the header of another file.

    `--- x`, `+++ y` may be a removed `-- x` and an added `++ y`; but after them a hunk begins, and
    if this one is not complete by then, it never will be.
    """
    if not (lines[at].startswith(b"--- ") and lines[at + 1 : at + 2]):
        return False
    if not (lines[at + 1].startswith(b"+++ ") and lines[at + 2 : at + 3]):
        return False
    left = (hunk.old_count - hunk.old_found, hunk.new_count - hunk.new_found)
    return HUNK.match(lines[at + 2]) is not None and left != (1, 1)


def _hunk(cut: CutHunk, parsed: Iterable[Line]) -> Hunk:
    lines: list[DiffLine] = []
    for line in parsed:
        if line.line_type == "\\":
            lines[-1] = replace(lines[-1], no_newline=True)
            continue
        kind, text = _KINDS[line.line_type], line.value[:-1]
        lines.append(DiffLine(kind, text, line.source_line_no, line.target_line_no))
    heading = decode(cut.heading)
    return Hunk(cut.old_start, cut.old_count, cut.new_start, cut.new_count, heading, tuple(lines))
