"""Reads the JSON of Rust's libtest (`--format json`) and of nextest (`libtest-json`, `-plus`).

Formats: library/test/src/formatters/json.rs of rust, nextest's libtest-json reference. libtest
names no binary; what tests write past it breaks its lines. Must not import pydantic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.results import UNFINISHED, Gap, GateTest, Group, GroupCounts, Outcome, Report
from arcview.readers.packed import read_unpacked
from arcview.readers.registry import Detection
from arcview.readers.reports.collect import (
    JsonLines,
    count_of,
    cut_short,
    merged,
    seconds_of,
    text_of,
)

_ENDS = {
    "ok": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "ignored": Outcome.SKIPPED,
    "timeout": Outcome.TIMEOUT,
}
_OPENERS = ('{ "type"', '{"type"')


class LibtestReader:
    """Reads libtest JSON."""

    id = "libtest"
    title = "libtest JSON (cargo test, nextest)"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises a suite's start."""
        for key in (b'"type": "suite"', b'"type":"suite"'):
            if key in head and b'"event"' in head:
                return Detection(self.id, "records with type suite and event")
        return None

    def read(self, path: Path) -> Report:
        """Reads the tests in the order in which they started.

        Raises:
            BadInputError: the file cannot be read, or holds no such record.
        """
        lines = JsonLines(read_unpacked(path, path.name), path.name, _OPENERS)
        run = _Run()
        for _, record in lines.records():
            if isinstance(record, dict) and isinstance(record.get("event"), str):
                run.add(record)
        if not run.suites and not run.tests:
            raise BadInputError(path.name, "expected records with type suite or test")
        return Report(
            format=self.id,
            tests=merged(run.results()),
            announced=run.announced,
            totals=run.totals(),
            gaps=tuple(run.gaps()),
            is_damaged=lines.damaged > 0,
            problems=lines.problems(),
        )


@dataclass(slots=True)
class _Suite:
    """One test binary."""

    announced: int | None
    started: int = 0
    is_ended: bool = False


@dataclass(slots=True)
class _Test:
    name: str
    suite: _Suite | None
    end: Mapping[str, object] | None = None
    doubt: str | None = None


@dataclass(slots=True)
class _Run:
    suites: list[_Suite] = field(default_factory=list)
    by_binary: dict[str, _Suite] = field(default_factory=dict)
    """nextest runs several at once and names them."""
    tests: list[_Test] = field(default_factory=list)
    open: dict[str, _Test] = field(default_factory=dict)
    counts: list[Mapping[str, object]] = field(default_factory=list)

    @property
    def announced(self) -> int | None:
        known = [suite.announced for suite in self.suites if suite.announced is not None]
        return sum(known) if known else None

    def add(self, record: Mapping[str, object]) -> None:
        kind, event = text_of(record, "type"), text_of(record, "event")
        if kind == "suite":
            self._suite(record, event)
        elif kind in ("test", "bench") and (name := text_of(record, "name")):
            self._test(record, event, name)

    def _suite(self, record: Mapping[str, object], event: str | None) -> None:
        plus = record.get("nextest")
        binary = f"{plus.get('crate')}::{plus.get('test_binary')}" if isinstance(plus, dict) else ""
        if event == "started":
            if not binary or binary not in self.by_binary:
                suite = _Suite(count_of(record, "test_count"))
                self.suites.append(suite)
                self.by_binary[binary] = suite
            return
        self.counts.append(record)
        if suite_ := self.by_binary.get(binary):
            suite_.is_ended = True

    def _test(self, record: Mapping[str, object], event: str | None, name: str) -> None:
        if event == "started":
            suite = self.by_binary.get(name.partition("$")[0]) if "$" in name else None
            suite = suite or (self.suites[-1] if self.suites else None)
            test = _Test(name, suite)
            if suite is not None:
                suite.started += 1
            self.tests.append(test)
            self.open[name] = test
        elif event in _ENDS:
            open_test = self.open.pop(name, None)
            if open_test is None:
                doubt = "its result has no start: a test may have printed it"
                open_test = _Test(name, None, doubt=doubt)
                self.tests.append(open_test)
            open_test.end = record

    def results(self) -> Iterator[GateTest]:
        for test in self.tests:
            yield _result(test)

    def totals(self) -> GroupCounts | None:
        if not self.counts or not all(suite.is_ended for suite in self.suites):
            return None
        if len(self.counts) > len(self.suites):
            return None  # nextest may end a suite twice and then counts ignored tests twice
        passed, failed, skipped = (
            sum(count_of(record, key) or 0 for record in self.counts)
            for key in ("passed", "failed", "ignored")
        )
        return GroupCounts(
            expected=passed + failed + skipped, passed=passed, failed=failed, skipped=skipped
        )

    def gaps(self) -> Iterator[Gap]:
        crashed = [suite for suite in self.suites[:-1] if not suite.is_ended]
        if crashed:
            what = "1 test binary" if len(crashed) == 1 else f"{len(crashed)} test binaries"
            yield Gap("", f"{what} ended without a result (crashed, or exited by itself)")
        elif self.suites and not self.suites[-1].is_ended:
            yield cut_short("the last test binary has no result")


def _result(test: _Test) -> GateTest:
    end = test.end
    if end is None:
        outcome, reported = Outcome.NOT_RUN, UNFINISHED
        end = {}
    else:
        word = text_of(end, "event") or ""
        outcome = _ENDS[word]
        reported = None
    output = text_of(end, "stdout")
    message = text_of(end, "message") or (text_of(end, "reason"))
    bad = outcome in (Outcome.FAILED, Outcome.TIMEOUT)
    return GateTest(
        id=test.name,
        group=Group.OTHER,
        outcome=outcome,
        duration_s=seconds_of(end, "exec_time"),
        message=message or (panic_message(output) if bad else None),
        traceback=output if bad else None,
        stdout=output,
        reported=reported,
        conflict=test.doubt,
    )


def panic_message(output: str | None) -> str | None:
    """What a Rust test died of: the text below `panicked at`, or the first line there is.

    Args:
        output: What the test printed.
    """
    lines = [line for line in (output or "").splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if line.startswith("thread '") and "panicked at" in line:
            end = number + 1
            while end < len(lines) and not lines[end].startswith(("note: run with", "stack back")):
                end += 1
            return "\n".join(lines[number + 1 : end]) or line
    told = [line for line in lines if line.startswith(("Error: ", "note: test did not panic"))]
    return next(iter(told or lines), None)
