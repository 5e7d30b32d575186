"""Reads the log of pytest-reportlog (`--report-log`): one JSON record a line, as the run goes on.

Format: https://github.com/pytest-dev/pytest-reportlog. It survives crashes and kills, so its end
tells whether pytest came to its own. Must not import pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.results import UNFINISHED, Gap, GateTest, Group, Outcome, Report
from arcview.readers.packed import read_unpacked
from arcview.readers.registry import Detection
from arcview.readers.reports.collect import (
    COLLECTION_ERROR,
    JsonLines,
    broken,
    cut_short,
    joined,
    last_line,
    pytest_gaps,
    seconds_of,
    text_of,
)


class PytestReportlogReader:
    """Reads `--report-log` files."""

    id = "pytest_reportlog"
    title = "pytest-reportlog"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the key that every record has."""
        if b'"$report_type"' in head:
            return Detection(self.id, "records with $report_type")
        return None

    def read(self, path: Path) -> Report:
        """Reads the tests in the order in which they started.

        Raises:
            BadInputError: the file cannot be read, or holds no such record.
        """
        lines = JsonLines(read_unpacked(path, path.name), path.name)
        log = _Log()
        for _, record in lines.records():
            if isinstance(record, dict):
                log.add(record)
        if not log.records:
            raise BadInputError(path.name, "expected records with $report_type")
        return Report(
            format=self.id,
            tests=(*log.collectors, *(test.result() for test in log.tests.values())),
            gaps=log.gaps(),
            exit_code=log.exit_code,
            is_damaged=lines.damaged > 0,
            notes=tuple(log.notes),
            problems=lines.problems(),
        )


@dataclass(slots=True)
class _Test:
    """The records of one node id."""

    id: str
    phases: dict[str, Mapping[str, object]] = field(default_factory=dict)
    """The last attempt: when → record."""
    subtests: list[Mapping[str, object]] = field(default_factory=list)
    """Subtests of the last attempt that did not pass."""
    reruns: int = 0
    """Attempts before the last one."""
    copies: int = 1

    def add(self, record: Mapping[str, object], when: str) -> None:
        if when == "setup" and "setup" in self.phases:
            if self._was_rerun():
                self.reruns += 1
            else:
                self.copies += 1
            self.phases = {}
            self.subtests = []
        if when in self.phases and text_of(record, "outcome") == "passed":
            return  # a phase that is reported twice keeps what went wrong
        self.phases[when] = record

    def _was_rerun(self) -> bool:
        return any(text_of(phase, "outcome") == "rerun" for phase in self.phases.values())

    def result(self) -> GateTest:
        outcome, word, told = self._outcome()
        durations = [seconds_of(phase, "duration") for phase in self.phases.values()]
        passed_late = self.reruns and outcome is Outcome.PASSED
        return GateTest(
            id=self.id,
            group=Group.OTHER,
            outcome=outcome,
            duration_s=sum(value for value in durations if value is not None),
            message=joined([_message(record) for record in told]),
            traceback=joined([_traceback(record) for record in told]),
            stdout=self._captured("Captured stdout"),
            stderr=self._captured("Captured stderr"),
            reported=None if word == outcome.value else word,
            copies=self.copies,
            conflict=f"flaky: passed after {self.reruns} failed attempts" if passed_late else None,
        )

    def _outcome(self) -> tuple[Outcome, str, list[Mapping[str, object]]]:
        """The outcome, pytest's own word for it, and the records that tell why."""
        bad = [
            record
            for record in self.phases.values()
            if text_of(record, "outcome") in ("failed", "error")
        ]
        if bad:
            is_call = all(record.get("when") in ("call", "???") for record in bad)
            outcome = Outcome.FAILED if is_call else Outcome.ERROR
            return outcome, outcome.value, [*self.subtests, *bad]
        if self.subtests:
            return Outcome.FAILED, "passed, but subtests failed", self.subtests
        for record in self.phases.values():
            word = text_of(record, "outcome")
            if word == "skipped":
                outcome = Outcome.XFAILED if "wasxfail" in record else Outcome.SKIPPED
                return outcome, outcome.value, [record]
        call = self.phases.get("call")
        if call is None:
            return Outcome.NOT_RUN, UNFINISHED, []
        if "wasxfail" in call:
            return Outcome.XPASSED, Outcome.XPASSED.value, [call]
        word = text_of(call, "outcome")
        if word == "passed":
            return Outcome.PASSED, word, []
        if word == "rerun":
            return Outcome.NOT_RUN, UNFINISHED, [call]
        return Outcome.ERROR, word or "no outcome", [call]

    def _captured(self, stream: str) -> str | None:
        last = next(reversed(self.phases.values()), None)
        sections = last.get("sections") if last is not None else None
        parts = [
            section[1]
            for section in (sections if isinstance(sections, list) else ())
            if isinstance(section, list)
            and len(section) == 2
            and all(isinstance(part, str) for part in section)
            and section[0].startswith(stream)
        ]
        return "\n".join(parts) or None


@dataclass(slots=True)
class _Log:
    records: int = 0
    tests: dict[str, _Test] = field(default_factory=dict)
    collectors: list[GateTest] = field(default_factory=list)
    exit_code: int | None = None
    is_finished: bool = False
    notes: list[str] = field(default_factory=list)

    def add(self, record: Mapping[str, object]) -> None:
        kind = text_of(record, "$report_type")
        if kind is None:
            return
        self.records += 1
        if kind == "SessionFinish":
            status = record.get("exitstatus")
            self.exit_code = status if isinstance(status, int) else None
            self.is_finished = True
        elif kind == "CollectReport":
            self._collector(record)
        elif kind in ("TestReport", "SubTestReport", "SubtestReport"):
            self._test(record, kind)

    def _collector(self, record: Mapping[str, object]) -> None:
        outcome = text_of(record, "outcome")
        name = text_of(record, "nodeid") or "."
        if outcome in ("failed", "error"):
            why = _traceback(record)
            self.collectors.append(broken(name, COLLECTION_ERROR, last_line(why), why))
        elif outcome == "skipped":
            self.notes.append(f"{name}: skipped while collecting: {_message(record)}")

    def _test(self, record: Mapping[str, object], kind: str) -> None:
        name = text_of(record, "nodeid")
        if not name:
            return
        test = self.tests.setdefault(name, _Test(name))
        if kind != "TestReport":
            if text_of(record, "outcome") not in ("passed", "skipped"):
                test.subtests.append(record)
            return
        when = text_of(record, "when") or "call"
        message = record.get("longrepr")
        if when == "???" and isinstance(message, str):
            self.notes.append(message)  # a worker of pytest-xdist crashed
        test.add(record, when)

    def gaps(self) -> tuple[Gap, ...]:
        if self.is_finished:
            return pytest_gaps(self.collectors, self.exit_code)
        return (*pytest_gaps(self.collectors, None), cut_short("the log has no SessionFinish"))


def _message(record: Mapping[str, object]) -> str | None:
    """The crash message, or the reason of a skip."""
    longrepr = record.get("longrepr")
    what = _subtest(record)
    message = text_of(record, "wasxfail")
    if message:
        return message  # the reason says more than the failure that was expected
    if isinstance(longrepr, dict) and isinstance(longrepr.get("reprcrash"), dict):
        message = text_of(longrepr["reprcrash"], "message")
    elif isinstance(longrepr, list) and len(longrepr) == 3 and isinstance(longrepr[2], str):
        message = longrepr[2]
    elif isinstance(longrepr, str):
        message = last_line(longrepr)
    return f"{what}: {message}" if what and message else message or what


def _subtest(record: Mapping[str, object]) -> str | None:
    """`[message] (i=1)`, as pytest names a subtest."""
    context = record.get("_subtest.context")
    if not isinstance(context, dict):
        return None
    kwargs = context.get("kwargs")
    pairs = kwargs.items() if isinstance(kwargs, dict) else ()
    parts = [f"[{context['msg']}]"] if context.get("msg") else []
    parts += ["(" + ", ".join(f"{key}={value}" for key, value in pairs) + ")"] if pairs else []
    return " ".join(parts) or "(subtest)"


def _traceback(record: Mapping[str, object]) -> str | None:
    longrepr = record.get("longrepr")
    if isinstance(longrepr, str):
        return longrepr
    if not isinstance(longrepr, dict):
        return None
    lines: list[str] = []
    for chain in _chain(longrepr):
        for entry in _entries(chain):
            texts = entry.get("lines")
            lines += (
                [line for line in texts if isinstance(line, str)] if isinstance(texts, list) else []
            )
            where = entry.get("reprfileloc")
            if isinstance(where, dict):
                lines += ["", f"{where.get('path')}:{where.get('lineno')}: {where.get('message')}"]
    return "\n".join(lines) or None


def _chain(longrepr: Mapping[str, object]) -> list[object]:
    """The tracebacks of an exception and of those that it was raised from."""
    chain = longrepr.get("chain")
    if isinstance(chain, list) and chain:
        return [link[0] for link in chain if isinstance(link, list) and link]
    return [longrepr.get("reprtraceback")]


def _entries(traceback: object) -> list[dict[str, object]]:
    entries = traceback.get("reprentries") if isinstance(traceback, dict) else None
    items = entries if isinstance(entries, list) else []
    found = [entry.get("data") for entry in items if isinstance(entry, dict)]
    return [data for data in found if isinstance(data, dict)]
