"""Reads the text of CMake's `ctest`. Pure; must not read files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from arcview.model.results import UNFINISHED, Gap, GroupCounts, Outcome, Report
from arcview.readers.reports.logs.log import (
    MAX_LINE,
    Channel,
    Found,
    Sighting,
    cut_off,
    ending,
)

FAMILY = "ctest"

_RESULT = re.compile(
    r"^ *(?:(?P<done>\d+)/(?P<all>\d+) )?Test +#(?P<number>\d+): (?P<name>.+?) (?P<dots>\.*) *"
    r"(?P<bad>Subprocess aborted)?(?P<stars>\*{3})?(?P<word>Passed|Failed|Timeout|Skipped"
    r"|Not Run|Exception: ?\w+|Exception:?)(?: \((?P<why>[^)]*)\))?"
    r"(?: +(?P<time>[\d.]+) sec)?(?:\s.*)?$"
)
_START = re.compile(r"^ *Start +(?P<number>\d+): (?P<name>.+)$")
_CLOSING = re.compile(
    r"^(?P<percent>\d+)% tests passed, (?P<failed>\d+) tests? failed out of (?P<all>\d+)$"
)
_LISTED = re.compile(r"^\t *(?P<number>\d+) - (?P<name>.+) \((?P<word>[^()]+)\)(?:\s+\S+)?$")
_NONE = "No tests were found!!!"
_WORDS = {
    "Passed": Outcome.PASSED,
    "Failed": Outcome.FAILED,
    "Timeout": Outcome.TIMEOUT,
    "Skipped": Outcome.SKIPPED,
    "Disabled": Outcome.SKIPPED,
    "Not Run": Outcome.NOT_RUN,
}


@dataclass(slots=True)
class _Reader:
    lines: Sequence[str]
    found: Found = field(default_factory=Found)
    announced: int | None = None
    started: dict[str, tuple[int, str]] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    """The running numbers of the results."""
    totals: GroupCounts | None = None
    is_ended: bool = False
    is_listing: bool = False

    def read(self) -> None:
        for index, line in enumerate(self.lines):
            if len(line) > MAX_LINE:
                continue
            if "Test" in line and (match := _RESULT.match(line)):
                self._result(match, line, index)
            elif "Start" in line and (match := _START.match(line)):
                self.started.setdefault(match["name"], (index, line))
            elif "% tests passed" in line and (match := _CLOSING.match(line)):
                self._closing(match)
            elif self.is_listing and (match := _LISTED.match(line)):
                self._listed(match, line, index)
            elif line.startswith("The following tests "):
                self.is_listing = True
            elif line.strip() == _NONE:
                self.announced, self.is_ended = 0, True

    def _result(self, match: re.Match[str], line: str, index: int) -> None:
        word = match["word"]
        why = match["why"] or ""
        outcome = _WORDS.get(word, Outcome.ERROR)
        if word == "Not Run" and why == "Disabled":
            outcome = Outcome.SKIPPED
        time = match["time"]
        sighting = Sighting(
            match["name"].strip(),
            outcome,
            index + 1,
            line,
            duration_s=None if time is None else float(time),
            message=_said(word, why, match["bad"]) if outcome is not Outcome.PASSED else None,
            reported=_said(word, why, match["bad"]) if word not in ("Passed", "Failed") else None,
        )
        if match["done"] is None:
            self._again(sighting)
            return
        done, total = int(match["done"]), int(match["all"])
        if done in self.seen or done > total or total != (self.announced or total):
            # ctest counts each result once: with --output-on-failure tests print between them.
            self.found.imitated(sighting)
            return
        self.seen.add(done)
        self.announced = total
        self.started.pop(sighting.id, None)
        self.found.saw(sighting)

    def _again(self, sighting: Sighting) -> None:
        """A further attempt (`--repeat`), whose line has no running number: the last one counts."""
        before = self.found.of(sighting.id)
        if not before:
            self.found.imitated(sighting)
            return
        late = sighting.outcome is Outcome.PASSED and before[-1].outcome is not Outcome.PASSED
        doubt = "flaky: passed after failed attempts" if late else before[-1].doubt
        before[-1] = sighting._replace(doubt=doubt)

    def _closing(self, match: re.Match[str]) -> None:
        self.is_ended = True
        failed, total = int(match["failed"]), int(match["all"])
        self.totals = GroupCounts(expected=total, passed=max(0, total - failed), failed=failed)
        if self.announced is None:
            self.announced = total

    def _listed(self, match: re.Match[str], line: str, index: int) -> None:
        outcome = _WORDS.get(match["word"], Outcome.ERROR)
        self.found.saw(Sighting(match["name"], outcome, index + 1, line, Channel.SUMMARY))

    def unfinished(self) -> None:
        """Tests whose start is there and whose result is not."""
        for name, (index, line) in self.started.items():
            self.found.saw(Sighting(name, Outcome.NOT_RUN, index + 1, line, reported=UNFINISHED))


def _said(word: str, why: str, bad: str | None) -> str:
    return " ".join(filter(None, [bad, word.rstrip(":"), why]))


def read_ctest(lines: Sequence[str]) -> Report:
    """Reads the output of `ctest`; ids are test names.

    Args:
        lines: The log, without terminal escapes.
    """
    reader = _Reader(lines)
    reader.read()
    if not reader.is_ended:
        reader.unfinished()
    gaps: list[Gap] = []
    if not reader.is_ended:
        stop = ending(lines)
        if reader.started:
            stop = cut_off("there is no closing line", lines)
        if stop:
            gaps.append(stop)
    elif reader.announced is not None and len(reader.seen) < reader.announced:
        why = f"ended early: {len(reader.seen)} of {reader.announced} tests have a result"
        gaps.append(Gap("", why, own_doing=bool(reader.totals and reader.totals.failed)))
    return Report(
        format=FAMILY,
        tests=reader.found.tests(),
        announced=reader.announced,
        totals=reader.totals,
        gaps=tuple(gaps),
        is_scraped=True,
        notes=tuple(reader.found.notes()),
    )
