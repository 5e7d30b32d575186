"""One run of pytest, line by line: what stands where in its terminal output.

Results stand in two places only: in the progress lines and in the last short summary. Whatever
looks like one elsewhere was printed by a test. Pure; private to `pytest_log`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from arcview.model.results import UNFINISHED, GroupCounts, Outcome
from arcview.readers.reports.logs import pytest_lines as grammar
from arcview.readers.reports.logs import pytest_state as state
from arcview.readers.reports.logs.log import MAX_LINE, Channel, Found, Sighting
from arcview.readers.reports.logs.pytest_blocks import Block
from arcview.readers.reports.logs.pytest_passes import take_passes
from arcview.readers.reports.logs.pytest_state import Listed, Mode, Open, Progress, Subtests


@dataclass(slots=True)
class Session:
    """One run of pytest within a log."""

    lines: Sequence[str]
    first: int
    """Number of its first line."""
    mode: Mode
    is_fragment: bool = False
    """There is no heading."""
    found: Found = field(default_factory=lambda: Found(natural=state.NATURAL))
    open: Open | None = None
    started: dict[str, Open] = field(default_factory=dict)
    """Of pytest-xdist, which runs several tests at once."""
    has_workers: bool = False
    last_closed: str | None = None
    reruns: Counter[str] = field(default_factory=Counter)
    announced: int | None = None
    progress: Progress = field(default_factory=Progress)
    marks: Counter[str] = field(default_factory=Counter)
    has_dots: bool = False
    totals: GroupCounts | None = None
    """Of the last closing line behind which no test ran."""
    interrupted: str | None = None
    internal_error: str | None = None
    only_collected: bool = False
    is_instant: bool = False
    """A failure is told while the run goes on, as pytest-instafail does."""
    not_started: str | None = None
    listed: Listed = field(default_factory=Listed)
    subtests: Subtests = field(default_factory=Subtests)
    uncollected: dict[str, str] = field(default_factory=dict)
    """Path → its line."""
    why_uncollected: dict[str, str | None] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    block: tuple[str, int] | None = None
    notes: list[str] = field(default_factory=list)

    def read(self) -> None:
        """Reads all lines."""
        self.found.lines, self.found.first = self.lines, self.first
        index = 0
        while index < len(self.lines):
            is_progress = self.mode in (Mode.PROGRESS, Mode.FRAGMENT) and self.open is None
            if is_progress and not self.has_workers and not self.has_dots:
                index = self._passes(index)
            if index < len(self.lines):
                self._read(index)
            index += 1
        self._end_block(len(self.lines))

    def _passes(self, start: int) -> int:
        """Takes lines that say no more than that a test passed; returns where they end."""
        end, last = take_passes(self.found, self.progress, start)
        if last is not None:
            self.last_closed = last
            self.totals = None
        return end

    def _read(self, index: int) -> None:
        line = self.lines[index]
        if not line or len(line) > MAX_LINE:
            return
        first = line[0]
        # Most lines are output of tests: these look-ups spare them all patterns.
        if first not in state.FIRST and "::" not in line and self.mode is not Mode.SUMMARY:
            if self.mode is Mode.REPORT:
                return
            if "%]" not in line and "item" not in line and ".py " not in line:
                is_end = self.open is not None and line.endswith(grammar.ENDS)
                if not is_end and line[-1] != "]":
                    return
        if first == "=" and line.rstrip().endswith("="):
            self._banner(line.strip("= "), index)
        elif first == "!" and line.endswith("!") and self.mode is not Mode.REPORT:
            if text := line.strip("! "):
                self.interrupted = text.removeprefix("xdist.dsession.").removeprefix("_pytest.")
        elif first == "I" and line.startswith("INTERNALERROR> "):
            self.internal_error = line.removeprefix("INTERNALERROR> ").strip()
        elif first.isdigit() and (totals := grammar.closing(line.strip())):
            self.totals = totals
        elif first.isdigit() and grammar.only_collected(line):
            self._only_collected()
        elif self.mode is Mode.SUMMARY:
            self._summary(line, index)
        elif self.mode is Mode.REPORT:
            self._report(line, index)
        else:
            self._progress(line, index)

    def _banner(self, title: str, index: int) -> None:
        if title == state.SUMMARY:
            self._end_block(index)
            self._forget_summary()  # only the last one is pytest's own
            self.mode = Mode.SUMMARY
            self.listed.has_heading = True
        elif state.is_section(title):
            self._end_block(index)
            self.mode, self.is_instant = Mode.REPORT, False
            self.totals = None
        elif totals := grammar.closing(title):
            self._end_block(index)
            self.totals = totals
        elif grammar.only_collected(title):
            self._only_collected()

    def _forget_summary(self) -> None:
        """What the summary so far lists was printed by a test, as was a closing line."""
        for number, entry in self.listed.entries:
            self.found.imitated(self._sighting(entry, number))
        self.listed = Listed()
        self.totals = None

    def _only_collected(self) -> None:
        """The ids above were listed, not run."""
        self.only_collected = True
        self.open = None
        self.found.drop_unfinished()

    def _report(self, line: str, index: int) -> None:
        if line.startswith("___") and line.endswith("__"):
            self._end_block(index)
            title = line.strip("_ ")
            self.block = (title, index + 1)
            if title.startswith("ERROR collecting "):
                self.uncollected.setdefault(title.removeprefix("ERROR collecting "), line)
        elif "::" in line and (said := self._as_result(line, index)):
            result = grammar.live(line) if self.is_instant else None
            if result is not None and self.progress.goes_on(result.percent):
                self._end_block(index)
                self.mode = Mode.PROGRESS
                self._progress(line, index)
            else:
                self.found.imitated(said)

    def _end_block(self, end: int) -> None:
        if self.block is not None:
            self.blocks.append(Block(*self.block, end))
            self.block = None

    def _as_result(self, line: str, index: int) -> Sighting | None:
        """What a line says that looks like a result and stands where only tests print."""
        said = None if line.startswith((" ", "E  ")) else grammar.result(line)
        if isinstance(said, grammar.Live):
            return self._live_sighting(said, index)
        return None if said is None else self._sighting(said, index)

    def _progress(self, line: str, index: int) -> None:
        if line.startswith("[gw"):
            self._worker(line, index)
        elif line.startswith(state.NOT_STARTED):
            self.not_started = line
        elif (result := grammar.bare(line)) is not None:
            self._bare(result, index)
        elif "::" in line:
            self._named(line, index)
        elif grammar.is_heading(line):
            self.is_instant = self.mode is Mode.PROGRESS
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
        if line.startswith("replacing crashed worker"):
            self.notes.append(line)
        elif line.startswith(("ERROR ", "SKIPPED [")) and self.mode is Mode.FRAGMENT:
            self._summary(line, index)
        elif (sub := grammar.subtest(line)) is not None and self.open is not None:
            self._subtest(sub, self.open.id, index)
        elif (marks := grammar.marks(grammar.without_glued(line))) is not None:
            file, text, has_percent = marks
            if file is not None or has_percent:
                is_first = file is not None and self.found.is_empty
                self.has_dots = self.has_dots or is_first
                self.marks.update(text)
                self.totals = None
        elif self.open is not None and (tail := grammar.tail(line)):
            self.open.tail = (tail, index)

    def _worker(self, line: str, index: int) -> None:
        result = grammar.xdist(line)
        if result is None:
            if "node down" in line:
                self.notes.append(line.strip())
            elif entry := grammar.worker_subtest(line):
                self.subtests.add(self._sighting(entry, index), entry.message)
            return
        self.has_workers = True
        if result.percent is not None:
            self.progress.advance(result.percent)
        self._result(result, index)

    def _named(self, line: str, index: int) -> None:
        result = grammar.live(grammar.without_glued(line))
        if result is not None and grammar.printed_into(result):
            self._start(line, index)
        elif result is not None:
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
        elif (entry := grammar.summary(line, self.found)) is not None:
            self._summary_outside(entry, index)
        elif not self.has_dots and not line.startswith(" "):
            self._start(line, index)
        else:
            shown = grammar.shown_with_fixtures(line)
            if shown is not None and self.open is not None and shown.id == self.open.id:
                self._result(shown, index)

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
        rest = grammar.without_origin(line[len(test_id) :].strip())
        following = self.lines[index + 1] if index + 1 < len(self.lines) else ""
        result = grammar.broken_word(test_id, rest, following)
        if result is not None:
            self._goes_back(result)
            self._result(result, index, f"{line}\n{following}")
            return
        if self.has_workers:
            self.started[test_id] = Open(test_id, index, line)
            return
        self._abandon()
        self.open = Open(test_id, index, line)
        if rest and (tail := grammar.tail(rest)):
            self.open.tail = (tail, index)
            if (printed := grammar.live(rest)) is not None:
                self.found.imitated(self._live_sighting(printed, index))

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
        elif self.found.says(test_id, grammar.WORDS.get(result.word)):
            return
        else:
            text = self.lines[index]
        self._result(result._replace(id=test_id), index, text)

    def _close_open(self) -> None:
        """The open test has its end: what came since was printed by it."""
        if self.open is not None:
            for sighting in self.open.held:
                self.found.imitated(sighting)
            self.open = None

    def _abandon(self) -> None:
        """Another test starts: without any end of the open one, what came since is real."""
        if self.open is None:
            return
        test, self.open = self.open, None
        if test.tail is not None:
            self._ended_by_tail(test, *test.tail)
        for sighting in test.held:
            self.found.saw(sighting)
        if test.tail is None:
            self._unfinished(test)

    def _ended_by_tail(self, test: Open, tail: grammar.Live, index: int) -> None:
        text = test.text if index == test.line else f"{test.text}\n{self.lines[index]}"
        sighting = self._live_sighting(tail._replace(id=test.id), index, text)
        self.found.saw(sighting._replace(doubt="its result stands behind text that it printed"))

    def _unfinished(self, test: Open) -> None:
        line = self.first + test.line
        self.found.saw(Sighting(test.id, Outcome.NOT_RUN, line, test.text, reported=UNFINISHED))

    def _goes_back(self, result: grammar.Live) -> bool:
        """Whether a line's percentage is lower than one before it: a test printed it."""
        if result.percent is None:
            return False
        if self.progress.is_behind(result.percent):
            return True
        self.progress.advance(result.percent)
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
            line = Sighting(test_id, Outcome.FAILED, self.first + index, self.lines[index])
            self.subtests.add(line, sub.what)

    def _summary(self, line: str, index: int) -> None:
        entry = grammar.summary(line, self.found)
        if entry is not None:
            self._take(entry, index)
        elif self.open is not None and self.interrupted is None and (end := grammar.bare(line)):
            # A test that is not over printed the heading: this is its end.
            self._forget_summary()
            self.mode = Mode.PROGRESS
            self._bare(end, index)

    def _take(self, entry: grammar.Entry, index: int) -> None:
        is_summary = self.mode is Mode.SUMMARY
        if not entry.id or "::" in entry.id or is_summary or entry.id.endswith(".py"):
            self.listed.take(index, entry)

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
        for index, entry, is_in_place in self.listed.in_order():
            if entry.word == "SUBFAILED":
                self.subtests.add(self._sighting(entry, index), entry.message)
            elif entry.word == "ERROR" and "::" not in entry.id:
                self.uncollected[entry.id] = self.lines[index]
                self.why_uncollected[entry.id] = entry.message
            else:
                doubt = f"line {self.first + index} stands outside of the list of its kind"
                sighting = self._sighting(entry, index)
                self.found.saw(sighting if is_in_place else sighting._replace(doubt=doubt))
        for test_id, line in self.subtests.lines.items():
            if test_id not in self.found:
                self.found.saw(line)
