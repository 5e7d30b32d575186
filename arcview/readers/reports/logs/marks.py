"""Lines with a mark before a title, nested by indentation, as JavaScript's runners print them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from arcview.model.results import Outcome

_PASSED, _FAILED, _SKIPPED, _QUEUED = "✓✔√", "✕×✖✗", "○✎↓﹣□", "·"
_NOT_BEGUN = "○✎□·"
_ALL = _PASSED + _FAILED + _SKIPPED + _QUEUED
_MARKED = re.compile(rf"^(?P<indent> *)(?P<mark>[{_ALL}]) (?P<rest>.*)$")
_BRACKETED = re.compile(r" \((?P<value>[\d.]+) ?(?P<unit>ms|s|m)(?: [\d.]+ ?s)?\)$")
_BARE = re.compile(r" (?P<value>[\d.]+)(?P<unit>ms|s)$")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}
_RETRY = re.compile(r" \((?:retry|repeat) x(?P<count>\d+)\)$")
_NOTE = re.compile(r"(?<=ms) \[.*\]$")
"""Why vitest skipped a test that had begun."""
_LEFT_OUT = ("skipped ", "todo ")


class Mark(NamedTuple):
    """One such line."""

    indent: int
    outcome: Outcome
    title: str
    """With its blanks, without duration and notes."""
    duration_s: float | None
    word: str | None
    """`todo`, where that is said."""
    retries: int


def marked(line: str, *, bare: bool = False) -> Mark | None:
    """Reads `✓ title (12 ms)`, `○ skipped title`, `✎ todo title`.

    Args:
        line: The line.
        bare: Durations stand without brackets, as vitest prints them: `✓ title 12ms`.
    """
    match = _MARKED.match(line)
    if match is None:
        return None
    mark, title = match["mark"], match["rest"]
    outcome = Outcome.PASSED
    if mark in _FAILED:
        outcome = Outcome.FAILED
    elif mark in _SKIPPED:
        outcome = Outcome.SKIPPED
        title = _NOTE.sub("", title)
    elif mark in _QUEUED:
        outcome = Outcome.NOT_RUN
    retries = 0
    if title.endswith(")") and (retry := _RETRY.search(title)):
        retries = int(retry["count"])
        title = title[: retry.start()]
    duration = None
    if mark not in _NOT_BEGUN:
        start = title.rfind(" " if bare else " (")
        duration = (_BARE if bare else _BRACKETED).match(title, start) if start >= 0 else None
    seconds = None
    if duration is not None:
        seconds = _seconds(duration)
        # vitest prints one blank before a duration; what is more belongs to the title.
        title = title[: duration.start()]
    else:
        title = title.rstrip()
    word = "todo" if mark in "✎□" else None
    if mark in "○✎":
        title = next((title[len(w) :] for w in _LEFT_OUT if title.startswith(w)), title)
    return Mark(len(match["indent"]), outcome, title, seconds, word, retries)


def _seconds(match: re.Match[str]) -> float | None:
    try:
        value = float(match["value"])
    except ValueError:
        return None
    return value * _UNITS[match["unit"]]


_CODE = re.compile(r"^\s*(?:>? *\d+ ?\||at |❯ )")
_MAX_MESSAGE = 20


def until_code(text: str) -> str | None:
    """The message of a failure: what stands before the lines of code and the stack."""
    lines: list[str] = []
    for line in text.split("\n"):
        if _CODE.match(line) or len(lines) == _MAX_MESSAGE:
            break
        lines.append(line)
    return "\n".join(lines).strip() or None


@dataclass(slots=True)
class Tree:
    """The headings above a line, by indentation."""

    _open: list[tuple[int, str]] = field(default_factory=list)
    _path: list[str] = field(default_factory=list)

    def enter(self, line: str) -> None:
        """Takes a line as a heading."""
        title = line.lstrip(" ")
        self.push(len(line) - len(title), title.rstrip())

    def push(self, indent: int, title: str) -> None:
        """Takes a title as a heading."""
        self._leave(indent)
        self._open.append((indent, title))
        self._path = [*self._path, title]

    def path(self, indent: int) -> list[str]:
        """The headings over a line with that indentation."""
        self._leave(indent)
        return self._path

    def _leave(self, indent: int) -> None:
        while self._open and self._open[-1][0] >= indent:
            self._open.pop()
            self._path = self._path[:-1]
