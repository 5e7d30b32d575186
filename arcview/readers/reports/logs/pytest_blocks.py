"""What pytest prints of failed tests below its headings: message, traceback, captured output."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from textwrap import dedent
from typing import NamedTuple

from arcview.readers.reports.collect import joined
from arcview.readers.reports.logs.log import Details

_PHASE = re.compile(r"^ERROR (?:at (?:setup|teardown) of|collecting) ")
_CAPTURED = re.compile(r"^-+ Captured (stdout|stderr|log) \w+ -+$")
_MAX_LINES = 2_000


class Block(NamedTuple):
    """A heading and the lines below it."""

    title: str
    start: int
    end: int


def details(
    lines: Sequence[str], blocks: Iterable[Block], failed: Sequence[str]
) -> dict[str, Details]:
    """What is told of each failed test.

    Args:
        lines: The log.
        blocks: What its headings are over, in order.
        failed: Ids of failed tests and of files that could not be collected, in order. A heading
            names only what stands behind the file: where several ids end like that, they have
            their blocks in the same order.
    """
    waiting: dict[str, list[str]] = {}
    for test_id in failed:
        waiting.setdefault(_title_of(test_id), []).append(test_id)
    found: dict[str, list[Details]] = {}
    for block in blocks:
        title = _PHASE.sub("", block.title)
        ids = waiting.get(title) or waiting.get(_without_subtest(title))
        if ids:
            # Subtests, and a teardown after a failure, have further blocks of the same test.
            is_last = len(ids) == 1
            test_id = ids[0] if is_last else ids.pop(0)
            found.setdefault(test_id, []).append(_read(lines[block.start : block.end]))
    return {test_id: _together(parts) for test_id, parts in found.items()}


def _title_of(test_id: str) -> str:
    file, separator, name = test_id.partition("::")
    return name.replace("::", ".") if separator else file


def _without_subtest(title: str) -> str:
    """`TestU.test_sub [message] (i=1)` → `TestU.test_sub`."""
    return re.sub(r" (?:\[.*\])? ?(?:\([^()]*\))?$", "", title)


def _read(lines: Sequence[str]) -> Details:
    streams: dict[str, list[str]] = {"": []}
    stream = ""
    for line in lines[:_MAX_LINES]:
        if line.startswith("-") and (match := _CAPTURED.match(line)):
            stream = match[1]
            streams.setdefault(stream, [])
        else:
            streams[stream].append(line)
    text = "\n".join(streams[""]).strip("\n")
    return Details(
        message=_message(streams[""]),
        traceback=text or None,
        stdout="\n".join(streams.get("stdout", ())) or None,
        stderr="\n".join(streams.get("stderr", ())) or None,
    )


def _message(lines: Sequence[str]) -> str | None:
    """The last run of lines with pytest's `E` mark; without one, all of a short text."""
    end = len(lines)
    while end > 0 and not lines[end - 1].startswith("E  "):
        end -= 1
    start = end
    while start > 0 and (lines[start - 1].startswith("E  ") or lines[start - 1] == "E"):
        start -= 1
    if start < end:
        return dedent("\n".join(line[1:] for line in lines[start:end])).strip("\n") or None
    said = [line for line in lines if line.strip()]
    return "\n".join(said) if 0 < len(said) <= 12 else None


def _together(parts: Sequence[Details]) -> Details:
    return Details(
        message=joined([part.message for part in parts]),
        traceback=joined([part.traceback for part in parts]),
        stdout=joined([part.stdout for part in parts]),
        stderr=joined([part.stderr for part in parts]),
    )
