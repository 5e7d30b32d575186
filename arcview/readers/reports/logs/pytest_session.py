"""One run of pytest, line by line: what stands where in its terminal output.

Results stand in two places only: in the progress lines and in the last short summary. Whatever
looks like one elsewhere was printed by a test. Pure; private to `pytest_log`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from arcview.model.results import UNFINISHED, GroupCounts, Outcome
from arcview.readers.reports.logs import pytest_lines as grammar
from arcview.readers.reports.logs.log import MAX_LINE, Channel, Found, Sighting
from arcview.readers.reports.logs.pytest_blocks import Block

_SUMMARY = "short test summary info"
_SECTIONS = frozenset(
    {"ERRORS", "FAILURES", "PASSES", "XPASSES", "XFAILURES", "warnings summary",
     "warnings summary (final)", "rerun test summary info"}
)  # fmt: skip
_NATURAL = frozenset(frozenset({bad, Outcome.ERROR}) for bad in (Outcome.PASSED, Outcome.FAILED))
_FIRST = frozenset("=!I[_-gPFESXRnr0123456789")
"""What lines of pytest's own begin with, where they hold no node id and no progress."""
_NOT_STARTED = (
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
class _Open:
    """A test whose start is printed and whose end is not yet."""

    id: str
    line: int
    text: str
    held: list[Sighting] = field(default_factory=list)
    """Complete lines of other tests that came since."""


@dataclass(slots=True)
class Session:
    """One run of pytest within a log."""

    lines: Sequence[str]
    first: int
    """Number of its first line."""
    mode: Mode
    found: Found = field(default_factory=lambda: Found(natural=_NATURAL))
    open: _Open | None = None
    started: dict[str, _Open] = field(default_factory=dict)
    """Of pytest-xdist, which runs several tests at once."""
    has_workers: bool = False
    last_closed: str | None = None
    reruns: Counter[str] = field(default_factory=Counter)
    announced: int | None = None
    percents: list[int] = field(default_factory=list)
    marks: Counter[str] = field(default_factory=Counter)
    has_dots: bool = False
    totals: GroupCounts | None = None
    """Of the last closing line behind which no test ran."""
    interrupted: str | None = None
    internal_error: str | None = None
    not_started: str | None = None
    summaries: list[tuple[int, grammar.Entry]] = field(default_factory=list)
    has_summary: bool = False
    subfailed: dict[str, list[str]] = field(default_factory=dict)
    subfailed_lines: dict[str, Sighting] = field(default_factory=dict)
    uncollected: dict[str, str] = field(default_factory=dict)
    """Path → its line."""
    why_uncollected: dict[str, str | None] = field(default_factory=dict)
    skipped_places: list[str] = field(default_factory=list)
    unnamed_skips: int = 0
    blocks: list[Block] = field(default_factory=list)
    block: tuple[str, int] | None = None
    notes: list[str] = field(default_factory=list)

    # -- one line at a time -------------------------------------------------------------------

    def read(self) -> None:
        """Reads all lines."""
        for index, line in enumerate(self.lines):
            if not line or len(line) > MAX_LINE:
                continue
            first = line[0]
            # Most lines are output of tests: these look-ups spare them all patterns.
            if first not in _FIRST and "::" not in line and self.mode is not Mode.SUMMARY:
                if self.mode is Mode.REPORT:
                    continue
                if line[-1] != "]" and "item" not in line and ".py " not in line:
                    continue
            if first == "=" and line.endswith("="):
                self._banner(line.strip("= "), index)
            elif first == "!" and line.endswith("!") and self.mode is not Mode.REPORT:
                self._stopped(line)
            elif first == "I" and line.startswith("INTERNALERROR> "):
                self.internal_error = line.removeprefix("INTERNALERROR> ").strip()
            elif first.isdigit() and (totals := grammar.closing(line.strip())):
                self.totals = totals
            elif self.mode is Mode.SUMMARY:
                self._summary(line, index)
            elif self.mode is Mode.REPORT:
                self._report(line, index)
            else:
                self._progress(line, index)
        self._end_block(len(self.lines))

    def _banner(self, title: str, index: int) -> None:
        if title == _SUMMARY:
            self._end_block(index)
            # Only the last one is pytest's own: earlier ones were printed.
            for number, entry in self.summaries:
                self.found.imitated(self._sighting(entry, number))
            self.summaries = []
            self.unnamed_skips = 0
            self.skipped_places = []
            self.mode = Mode.SUMMARY
            self.has_summary = True
        elif title in _SECTIONS or title.startswith(("slowest ", "tests coverage", "coverage:")):
            self._end_block(index)
            self.mode = Mode.REPORT
        elif totals := grammar.closing(title):
            self._end_block(index)
            self.totals = totals

    def _stopped(self, line: str) -> None:
        text = line.strip("! ")
        if text:
            self.interrupted = text.removeprefix("xdist.dsession.").removeprefix("_pytest.")

    def _report(self, line: str, index: int) -> None:
        if line.startswith("___") and line.endswith("__"):
            self._end_block(index)
            title = line.strip("_ ")
            self.block = (title, index + 1)
            if title.startswith("ERROR collecting "):
                self.uncollected.setdefault(title.removeprefix("ERROR collecting "), line)
        elif "::" in line and (said := self._as_result(line, index)):
            self.found.imitated(said)

    def _end_block(self, end: int) -> None:
        if self.block is not None:
            self.blocks.append(Block(*self.block, end))
            self.block = None

    def _as_result(self, line: str, index: int) -> Sighting | None:
        """What a line says that looks like a result and stands where only tests print."""
        if line.startswith((" ", "E  ")):
            return None
        result = grammar.live(line) or grammar.xdist(line)
        if result is not None and result.word in grammar.WORDS:
            return self._live_sighting(result, index)
        entry = grammar.summary(line, set())
        return None if entry is None or not entry.id else self._sighting(entry, index)

    # -- progress -----------------------------------------------------------------------------

    def _progress(self, line: str, index: int) -> None:
        if line.startswith("[gw"):
            self._worker(line, index)
        elif (result := grammar.bare(line)) is not None:
            self._bare(result, index)
        elif "::" in line:
            self._named(line, index)
        elif line[0] == "-" and " Captured " in line:
            self.mode = Mode.REPORT
        elif line.startswith("___") and line.endswith("__"):
            self.mode = Mode.REPORT
            self._report(line, index)
        else:
            self._other(line, index)

    def _other(self, line: str, index: int) -> None:
        if "item" in line or line.startswith("gw"):
            count = grammar.collected(line)
            if count is not None:
                self.announced = count
                self.has_workers = "worker" in line or line.startswith("gw")
                return
        if line.startswith(_NOT_STARTED):
            self.not_started = line
        elif line.startswith("replacing crashed worker"):
            self.notes.append(line)
        elif line.startswith(("ERROR ", "SKIPPED [")) and self.mode is Mode.FRAGMENT:
            self._summary(line, index)
        elif (sub := grammar.subtest(line)) is not None and self.open is not None:
            self._subtest(sub, self.open.id, index)
        elif (marks := grammar.marks(line)) is not None:
            file, text, has_percent = marks
            if file is not None or has_percent:
                is_first = file is not None and not self.found.sightings
                self.has_dots = self.has_dots or is_first
                self.marks.update(text)
                self.totals = None

    def _worker(self, line: str, index: int) -> None:
        result = grammar.xdist(line)
        if result is None:
            if "node down" in line:
                self.notes.append(line.strip())
            return
        self.has_workers = True
        if result.percent is not None:
            self.percents.append(result.percent)
        self._result(result, index)

    def _named(self, line: str, index: int) -> None:
        result = grammar.live(line)
        if result is not None:
            sighting = self._live_sighting(result, index)
            if self.has_dots or self._goes_back(result):
                self.found.imitated(sighting)
                return
            if self.open is not None and self.open.id != result.id:
                self.open.held.append(sighting)
                return
            self._close_open()
            self._result(result, index)
        elif (sub := grammar.subtest(line)) is not None:
            self._subtest(sub, sub.id or (self.open.id if self.open else ""), index)
        elif (entry := grammar.summary(line, self.found.sightings)) is not None:
            self._summary_outside(entry, index)
        elif not self.has_dots and not line.startswith(" "):
            self._start(line, index)

    def _summary_outside(self, entry: grammar.Entry, index: int) -> None:
        """A line of the summary's form: a piece of one, or printed by a test."""
        if self.mode is not Mode.FRAGMENT:
            if entry.id:
                self.found.imitated(self._sighting(entry, index))
        elif self.open is not None and entry.id:
            self.open.held.append(self._sighting(entry, index))
        else:
            self._take(entry, index)

    def _start(self, line: str, index: int) -> None:
        test_id = grammar.leading_id(line)
        path = test_id.partition("::")[0]
        if not grammar.is_node_id(test_id) or "." not in path or path.endswith(":"):
            return
        rest = line[len(test_id) :].strip()
        following = self.lines[index + 1] if index + 1 < len(self.lines) else ""
        result = grammar.broken_word(test_id, rest, following)
        if result is not None:
            self._goes_back(result)
            self._result(result, index, f"{line}\n{following}")
            return
        if self.has_workers:
            self.started[test_id] = _Open(test_id, index, line)
            return
        self._abandon()
        self.open = _Open(test_id, index, line)

    def _bare(self, result: grammar.Live, index: int) -> None:
        test_id = self.open.id if self.open else self.last_closed
        if test_id is None:
            return
        if self.open is not None:
            start = self.open.text
            for sighting in self.open.held:
                self.found.imitated(sighting)
            self.open = None
            text = f"{start}\n{self.lines[index]}"
        elif self._is_known(test_id, result):
            return
        else:
            text = self.lines[index]
        self._result(result._replace(id=test_id), index, text)

    def _is_known(self, test_id: str, result: grammar.Live) -> bool:
        """Whether a word that stands alone says once more what the last result said."""
        outcome = grammar.WORDS.get(result.word)
        return any(s.outcome is outcome for s in self.found.sightings.get(test_id, ()))

    def _close_open(self) -> None:
        """The open test has its end: what came since was printed by it."""
        if self.open is not None:
            for sighting in self.open.held:
                self.found.imitated(sighting)
            self.open = None

    def _abandon(self) -> None:
        """Another test starts: the open one has no end, and what came since is real."""
        if self.open is not None:
            for sighting in self.open.held:
                self.found.saw(sighting)
            self._unfinished(self.open)
            self.open = None

    def _unfinished(self, test: _Open) -> None:
        line = self.first + test.line
        self.found.saw(Sighting(test.id, Outcome.NOT_RUN, line, test.text, reported=UNFINISHED))

    def _goes_back(self, result: grammar.Live) -> bool:
        """Whether a line's percentage is lower than one before it: a test printed it."""
        if result.percent is None:
            return False
        highest = self.percents[-1] if self.percents else 0
        if highest < 100 and result.percent < highest:
            return True
        self.percents.append(result.percent)
        return False

    def _result(self, result: grammar.Live, index: int, text: str | None = None) -> None:
        self.last_closed = result.id
        self.totals = None
        self.started.pop(result.id, None)
        if self.open is not None and self.open.id == result.id:
            self.open = None
        if result.word == grammar.RERUN:
            self.reruns[result.id] += 1
            return
        self.found.saw(self._live_sighting(result, index, text))

    def _live_sighting(self, result: grammar.Live, index: int, text: str | None = None) -> Sighting:
        return Sighting(
            result.id,
            grammar.WORDS.get(result.word, Outcome.ERROR),
            self.first + index,
            self.lines[index] if text is None else text,
            message=result.reason,
        )

    def _subtest(self, sub: grammar.Sub, test_id: str, index: int) -> None:
        if test_id and not sub.passed:
            self.subfailed.setdefault(test_id, []).append(sub.what)
            line = Sighting(test_id, Outcome.FAILED, self.first + index, self.lines[index])
            self.subfailed_lines.setdefault(test_id, line)

    # -- summary ------------------------------------------------------------------------------

    def _summary(self, line: str, index: int) -> None:
        entry = grammar.summary(line, self.found.sightings)
        if entry is not None:
            self._take(entry, index)

    def _take(self, entry: grammar.Entry, index: int) -> None:
        if not entry.id:
            self.unnamed_skips += entry.times
            self.skipped_places.append(entry.message or "")
        elif "::" in entry.id or self.mode is Mode.SUMMARY or entry.id.endswith(".py"):
            self.summaries.append((index, entry))

    def _sighting(self, entry: grammar.Entry, index: int) -> Sighting:
        return Sighting(
            entry.id,
            grammar.WORDS.get(entry.word, Outcome.FAILED),
            self.first + index,
            self.lines[index],
            Channel.SUMMARY,
            message=entry.message,
        )

    def settle(self) -> None:
        """Takes what the summary lists, and what was left open."""
        self._abandon()
        for test in self.started.values():
            self._unfinished(test)
        groups: list[str] = []
        for index, entry in self.summaries:
            group = "FAILED" if entry.word == "SUBFAILED" else entry.word
            doubt = None
            if self.has_summary and group in groups[:-1]:
                doubt = f"line {self.first + index} stands outside of the list of its kind"
            elif group not in groups[-1:]:
                groups.append(group)
            if entry.word == "SUBFAILED":
                self._subfailed(entry, index)
            elif entry.word == "ERROR" and "::" not in entry.id:
                self.uncollected[entry.id] = self.lines[index]
                self.why_uncollected[entry.id] = entry.message
            else:
                self.found.saw(self._sighting(entry, index)._replace(doubt=doubt))

        for test_id, line in self.subfailed_lines.items():
            if test_id not in self.found.sightings:
                self.found.saw(line)

    def _subfailed(self, entry: grammar.Entry, index: int) -> None:
        known = self.subfailed.setdefault(entry.id, [])
        if entry.message and entry.message not in known:
            known.append(entry.message)
        self.subfailed_lines.setdefault(entry.id, self._sighting(entry, index))
