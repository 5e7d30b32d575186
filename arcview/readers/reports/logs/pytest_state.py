"""Where a run of pytest is in its own output, and what pytest prints around results. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

from arcview.model.results import Outcome
from arcview.readers.reports.logs.log import Sighting
from arcview.readers.reports.logs.pytest_lines import Entry, Live

SUMMARY = "short test summary info"
_SECTIONS = frozenset(
    {"ERRORS", "FAILURES", "PASSES", "XPASSES", "XFAILURES", "warnings summary",
     "warnings summary (final)", "rerun test summary info"}
)  # fmt: skip
NATURAL = frozenset(
    frozenset({outcome, Outcome.ERROR})
    for outcome in (
        Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.XFAILED, Outcome.XPASSED
    )
)  # fmt: skip
"""What one test has together: any outcome, and then an error in its teardown."""
FIRST = frozenset("=!I[_-gPFESXRnr0123456789")
"""What lines of pytest's own begin with, where they hold no node id and no progress."""
_FIRST_PERCENTS = 101
"""How many percentages are kept: the size of a run can be told from them up to 100 tests."""
NOT_STARTED = (
    "ERROR: usage:", "ERROR: not found:", "ERROR: file or directory not found:",
    "ImportError while loading conftest",
)  # fmt: skip


class Mode(Enum):
    """Where in its output a run of pytest is."""

    FRAGMENT = auto()
    """Before any heading: a piece of a log, in which everything may stand."""
    PROGRESS = auto()
    REPORT = auto()
    """Tracebacks and captured output."""
    SUMMARY = auto()


@dataclass(slots=True)
class Open:
    """A test whose start is printed and whose end is not yet."""

    id: str
    line: int
    text: str
    held: list[Sighting] = field(default_factory=list)
    """Complete lines of other tests that came since."""
    tail: tuple[Live, int] | None = None
    """The last word behind text on its line, with the line: its end, if no better one comes."""


def is_section(title: str) -> bool:
    """Whether a heading is over tracebacks, captured output or tables."""
    return title in _SECTIONS or title.startswith(("slowest ", "tests coverage", "coverage:"))


@dataclass(slots=True)
class Listed:
    """The short summary."""

    entries: list[tuple[int, Entry]] = field(default_factory=list)
    """Index of the line, and what it says."""
    has_heading: bool = False
    skipped_places: list[str] = field(default_factory=list)
    unnamed_skips: int = 0

    def take(self, index: int, entry: Entry) -> None:
        """Takes a line; skips are counted by place, without ids."""
        if entry.id:
            self.entries.append((index, entry))
        else:
            self.unnamed_skips += entry.times
            self.skipped_places.append(entry.message or "")

    def in_order(self) -> Iterator[tuple[int, Entry, bool]]:
        """The lines, and whether each stands among those of its kind, as pytest groups them."""
        groups: list[str] = []
        for index, entry in self.entries:
            group = "FAILED" if entry.word == "SUBFAILED" else entry.word
            is_stray = self.has_heading and group in groups[:-1]
            if not is_stray and group not in groups[-1:]:
                groups.append(group)
            yield index, entry, not is_stray


@dataclass(slots=True)
class Progress:
    """How far a run is, by the percentages behind its results."""

    percents: list[int] = field(default_factory=list)
    """Those of the first tests, then only the last one."""

    def is_behind(self, percent: int) -> bool:
        """Whether a percentage is lower than one before it: a test printed it."""
        highest = self.percents[-1] if self.percents else 0
        return highest < 100 and percent < highest

    def advance(self, percent: int) -> None:
        """Notes the percentage of the next test."""
        if len(self.percents) < _FIRST_PERCENTS:
            self.percents.append(percent)
        else:
            self.percents[-1] = percent

    def goes_on(self, percent: int | None) -> bool:
        """Whether a percentage can be the next one of a run that is not over."""
        highest = self.percents[-1] if self.percents else 0
        return percent is not None and highest <= percent and highest < 100

    @property
    def is_counting(self) -> bool:
        """Whether each test's percentage is kept."""
        return len(self.percents) < _FIRST_PERCENTS


@dataclass(slots=True)
class Subtests:
    """Subtests that failed."""

    failed: dict[str, list[str]] = field(default_factory=dict)
    """Id of their test → what they are called, or what they said."""
    lines: dict[str, Sighting] = field(default_factory=dict)
    """Id of their test → the first line about one."""

    def add(self, line: Sighting, what: str | None) -> None:
        """Takes one."""
        known = self.failed.setdefault(line.id, [])
        if what and what not in known:
            known.append(what)
        self.lines.setdefault(line.id, line)
