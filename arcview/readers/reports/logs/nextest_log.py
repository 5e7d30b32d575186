"""Reads the text of `cargo nextest run`.

Its status words end in column 12; what tests print is indented by four more. Pure; must not read
files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from arcview.model.results import Gap, GroupCounts, Outcome, Report
from arcview.readers.reports.libtest import panic_message
from arcview.readers.reports.logs.log import (
    MAX_LINE,
    Channel,
    Details,
    Found,
    Sighting,
    cut_off,
    ending,
)

FAMILY = "nextest"

_STATUS = re.compile(
    r"^(?P<word> *(?:TRY \d+ )?[A-Z][A-Z-]*(?: \d+/\d+)?) \[ *>? *(?P<time>[\d.]+)s\]"
    r"(?: \( *(?:\d+/\d+|─+)\))? +(?P<id>\S+ .+)$"
)
_COLUMN = 12
_STARTING = re.compile(r"^ *Starting (?P<count>\d+) tests? across ")
_SUMMARY = re.compile(
    r"^ *Summary \[[^\]]*\] +(?P<run>\d+)(?:/(?P<all>\d+))? tests? run: (?P<words>.*)$"
)
_COMPILE = re.compile(r"^error: could not compile .*")
_CANCELLED = re.compile(r"^ *Cancell?ing (?P<why>due to .*)$")
_STREAM = re.compile(r"^  (?P<name>stdout|stderr|output) ─+$")
_WORDS = {
    "PASS": Outcome.PASSED,
    "LEAK": Outcome.PASSED,
    "FLAKY": Outcome.PASSED,
    "FAIL": Outcome.FAILED,
    "LEAK-FAIL": Outcome.FAILED,
    "ABORT": Outcome.FAILED,
    "XFAIL": Outcome.FAILED,
    "TIMEOUT": Outcome.TIMEOUT,
    "SKIP": Outcome.SKIPPED,
}
_COUNTED = {"passed": "passed", "failed": "failed", "timed out": "timeout", "exec failed": "error"}
_MAX_OUTPUT = 400


@dataclass(slots=True)
class _Reader:
    lines: Sequence[str]
    found: Found = field(default_factory=Found)
    channel: Channel = Channel.LIVE
    announced: int | None = None
    totals: GroupCounts | None = None
    compile_error: str | None = None
    cancelled: str | None = None
    current: str | None = None
    stream: str | None = None
    output: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    tries: dict[str, int] = field(default_factory=dict)

    def read(self) -> None:
        for index, line in enumerate(self.lines):
            if len(line) > MAX_LINE:
                continue
            status = _STATUS.match(line) if "] " in line else None
            if status is not None and len(status["word"]) == _COLUMN:
                self._status(status, line, index)
            elif self.current is not None and (stream := _STREAM.match(line)):
                self.stream = stream["name"]
            elif self.stream is not None and (line.startswith("    ") or not line):
                self._printed(status, line, index)
            elif line:
                self.stream = None
                self._other(line)

    def _other(self, line: str) -> None:
        if match := _STARTING.match(line):
            self.announced = int(match["count"])
        elif match := _SUMMARY.match(line):
            self._summary(match)
        elif match := _CANCELLED.match(line):
            self.cancelled = match["why"]
        elif _COMPILE.match(line):
            self.compile_error = self.compile_error or line

    def _summary(self, match: re.Match[str]) -> None:
        counts: dict[str, int] = {}
        for part in re.sub(r" \([^)]*\)", "", match["words"]).split(", "):
            number, _, word = part.strip().partition(" ")
            if number.isdigit() and word in _COUNTED:
                counts[_COUNTED[word]] = int(number)
        # Tests that were filtered out are counted as skipped: they are no part of the run.
        self.totals = GroupCounts(expected=sum(counts.values()), **counts)
        self.channel = Channel.SUMMARY

    def _status(self, status: re.Match[str], line: str, index: int) -> None:
        self.stream = None
        word = status["word"].strip()
        test_id = status["id"]
        self.current = test_id
        if word.startswith("TRY "):
            self.tries[test_id] = self.tries.get(test_id, 0) + 1
            if not word.endswith(" PASS"):
                return
            word = "PASS"
        first = word.partition(" ")[0]
        outcome = _WORDS.get(first)
        if outcome is None and first.startswith("SIG"):
            outcome = Outcome.FAILED
        if outcome is None:
            return  # SLOW, TERMINATING …: not a result yet
        failed = self.tries.get(test_id, 1) - 1
        flaky = outcome is Outcome.PASSED and (failed or first == "FLAKY")
        self.found.saw(
            Sighting(
                test_id,
                outcome,
                index + 1,
                line,
                self.channel,
                duration_s=_seconds(status["time"]),
                message=first if first.startswith("SIG") else None,
                reported=first if first not in ("PASS", "FAIL", "TIMEOUT", "SKIP") else None,
                doubt="flaky: passed after failed attempts" if flaky else None,
            )
        )

    def _printed(self, status: re.Match[str] | None, line: str, index: int) -> None:
        if self.current is not None and self.stream is not None:
            lines = self.output.setdefault(self.current, {}).setdefault(self.stream, [])
            if len(lines) < _MAX_OUTPUT:
                lines.append(line[4:])
        if status is not None and (outcome := _WORDS.get(status["word"].strip())):
            self.found.imitated(Sighting(status["id"], outcome, index + 1, line))


def _seconds(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def read_nextest(lines: Sequence[str]) -> Report:
    """Reads the output of `cargo nextest run`; ids are `binary-id test`.

    Args:
        lines: The log, without terminal escapes.
    """
    reader = _Reader(lines)
    reader.read()
    for test_id, streams in reader.output.items():
        texts = {name: "\n".join(texts).strip("\n") for name, texts in streams.items()}
        told = "\n".join(texts.values())
        reader.found.details[test_id] = Details(
            message=panic_message(_without_frame(told)),
            traceback=told or None,
            stdout=texts.get("stdout") or texts.get("output") or None,
            stderr=texts.get("stderr") or None,
        )
    return Report(
        format=FAMILY,
        tests=reader.found.tests(reader.totals),
        announced=reader.announced,
        totals=reader.totals,
        gaps=tuple(_gaps(reader)),
        is_scraped=True,
        notes=tuple(reader.found.notes()),
    )


def _without_frame(text: str) -> str:
    """What a test printed, without the frame that its own process drew around it."""
    lines = [line for line in text.splitlines() if not line.startswith("running 1 test")]
    return "\n".join(lines)


def _gaps(reader: _Reader) -> list[Gap]:
    if reader.compile_error is not None:
        return [Gap("", reader.compile_error)]
    if reader.cancelled is not None:
        is_own = "fail" in reader.cancelled
        return [Gap("", f"cancelled {reader.cancelled}", own_doing=is_own)]
    if reader.totals is None:
        return [cut_off("there is no Summary", reader.lines)]
    stop = ending(reader.lines)
    return [stop] if stop else []
