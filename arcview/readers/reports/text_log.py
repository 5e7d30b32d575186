"""Reads text logs of test runners: the last resort, where no structured report was written.

Every outcome keeps its line as evidence. Must not import pydantic.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.results import GateTest, Report
from arcview.readers.packed import read_unpacked
from arcview.readers.registry import HEAD_BYTES, Detection
from arcview.readers.reports.collect import combined, joined
from arcview.readers.reports.logs.families import Part, parts_of
from arcview.readers.reports.logs.log import clean_text, ending
from arcview.text import decode

_NAMES = re.compile(r"\.(?:txt|log|out)$|^(?:stdout|stderr|output)$", re.IGNORECASE)
_START = ">>>>> Start Test Output"
_END = ">>>>> End Test Output"
_EXIT = re.compile(r">>>>> Test Exit Code[: ]+'?(?P<code>\d{1,3})")


class TextLogReader:
    """Scrapes what test runners print for people."""

    id = "text_log"
    title = "text log of pytest, unittest, Django, jest, vitest, mocha, node, cargo, go or ctest"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises headings and results of runners, which in long files may come late."""
        if head.count(b"\0") > len(head) // 4 and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
            return None
        parts = parts_of(clean_text(decode(head).text))
        if parts:
            names = ", ".join(part.family.id for part in parts)
            return Detection(self.id, f"text with lines of {names}")
        if len(head) >= HEAD_BYTES and _NAMES.search(name):
            return Detection(self.id, "a long text file; its results may come later")
        return None

    def read(self, path: Path) -> Report:
        """Reads the results of every runner in the log.

        Raises:
            BadInputError: the file cannot be read, or nothing in it comes from a known runner.
        """
        report = read_log(read_unpacked(path, path.name), path.name)
        has_counts = report.totals is not None or report.announced is not None
        if not (report.tests or report.gaps or has_counts or report.notes[1:]):
            raise BadInputError(path.name, "expected results of a known test runner, found none")
        return report


def read_log(data: bytes, shown: str) -> Report:
    """Reads a log, whatever it holds.

    Args:
        data: Its bytes.
        shown: The file, as the user would name it.
    """
    decoded = decode(data)
    damage = Problem(shown, "holds bytes that are not UTF-8; they are replaced")
    problems = (damage,) if decoded.damaged else ()
    text = clean_text(decoded.text)
    del data, decoded  # of a log of 100 MB each copy counts
    lines = text.split("\n")
    exit_code = _exit_code(text)
    window = _window(lines) if _START in text else lines
    if window is not lines:
        text = "\n".join(window)
    parts = parts_of(text)
    cuts = [_cut(part, parts, text) for part in parts]
    del text
    reads = [_read(part, parts, window, cut) for part, cut in zip(parts, cuts, strict=True)]
    report = combined(TextLogReader.id, reads)
    stop = None if report.stopped or report.totals is not None else ending(lines)
    names = " and ".join(dict.fromkeys(part.family.id for part in parts))
    notes = (f"read from the text of {names}", *report.notes) if parts else report.notes
    return replace(
        report,
        gaps=(*report.gaps, stop) if stop else report.gaps,
        exit_code=exit_code,
        is_scraped=True,
        notes=notes,
        problems=problems,
    )


def _exit_code(text: str) -> int | None:
    if ">>>>> Test Exit Code" not in text:
        return None
    match = _EXIT.search(text)
    return int(match["code"]) if match else None


def _window(lines: Sequence[str]) -> list[str]:
    """The lines between the marks of SWE-bench's scripts, the others blanked; numbers stay.

    The last start counts: whoever prints the mark inside of a test gains nothing by it, for the
    closing lines of the runner come after it.
    """
    starts = [number for number, line in enumerate(lines) if _START in line]
    first = starts[0]
    end = len(lines)
    for number in range(len(lines) - 1, first, -1):
        if _END in lines[number]:
            end = number
            break
    return [line if first < number < end else "" for number, line in enumerate(lines)]


def _cut(part: Part, parts: Sequence[Part], text: str) -> int:
    """How many lines stand before a part: those of the runners before it."""
    before = [other.last for other in parts if other.is_strong and other.last < part.first]
    return text.count("\n", 0, max(before)) + 1 if before else 0


def _read(part: Part, parts: Sequence[Part], lines: Sequence[str], cut: int) -> Report:
    """Reads the lines of one runner, behind those of the runners before it."""
    if cut:
        lines = [*([""] * cut), *lines[cut:]]
    report = part.family.read(lines)
    around = [
        other
        for other in parts
        if part.is_strong and other.first < part.first < other.last and other is not part
    ]
    if not around:
        return report
    doubt = f"stands inside of the output of {around[0].family.id}: a test may have printed it"
    return replace(report, tests=tuple(_doubted(test, doubt) for test in report.tests))


def _doubted(test: GateTest, doubt: str) -> GateTest:
    return replace(test, conflict=joined([test.conflict, doubt], "; "))
