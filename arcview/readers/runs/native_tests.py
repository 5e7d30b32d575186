"""The single tests of a native gate: tests.jsonl or a report, settled against the gate's id lists.

What is expected and not reported is missing, what is reported and not expected is extra; damaged
lines are reported and the good ones kept.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.results import Gap, GateRecord, GateTest, Group, GroupCounts, Outcome, Report
from arcview.readers.fields import read_bytes
from arcview.readers.runs.native_fields import as_problem
from arcview.readers.runs.native_folder import Folder
from arcview.readers.runs.native_gates import Expected, GateSpot
from arcview.schema.words import shown

TESTS_FILE = "tests.jsonl"
SPLIT = (Group.F2P, Group.P2P)

_Note = Callable[[str, str], None]
"""Takes (place, what) of something that is wrong with a file."""

_MAX_LINES_REPORTED = 20
_GROUPS = {group.value: group for group in Group}
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_BEST_FIRST = (
    Outcome.PASSED,
    Outcome.XFAILED,
    Outcome.SKIPPED,
    Outcome.XPASSED,
    Outcome.NOT_RUN,
    Outcome.MISSING,
    Outcome.TIMEOUT,
    Outcome.ERROR,
    Outcome.FAILED,
)


@dataclass(frozen=True, slots=True)
class GateDetails:
    """The tests of one gate run and how far they can be trusted."""

    tests: tuple[GateTest, ...] = ()
    """Expected ones in the order of the gate's lists, then the others as reported."""
    reported: int = 0
    """How many different tests the file names."""
    source: str | None = None
    """File that they come from, relative to the run; null where there is none."""
    is_damaged: bool = False
    """Lines of the file are lost, so that a missing test says little."""
    knows_ids: bool = True
    """False where not one id of a report is on the gate's lists."""
    stopped: Gap | None = None
    """Why the run ended early, where the report shows it."""
    notes: tuple[str, ...] = ()
    """What a report says besides single tests."""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Reported:
    """One test as a file names it, not yet compared with the gate's lists."""

    test: GateTest
    group: Group | None
    place: str


@dataclass(slots=True)
class Reading:
    """The lines of one tests.jsonl, and what is wrong with it."""

    name: str
    lines: list[Reported] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    noted: int = 0
    lost: int = 0

    def note(self, place: str, what: str) -> None:
        """Reports what is wrong in one place; of very many places only the first ones."""
        self.noted += 1
        if self.noted <= _MAX_LINES_REPORTED:
            self.problems.append(Problem(place, what))
        elif self.noted == _MAX_LINES_REPORTED + 1:
            self.problems.append(Problem(self.name, "further lines are damaged, too"))


def read_details(run: Folder, spot: GateSpot) -> GateDetails:
    """Reads the tests of a gate run, messages included; damage is reported, never raised."""
    name = f"{spot.folder}/{TESTS_FILE}"
    path = run.file(name)
    if path is None:
        from arcview.readers.runs.native_report import from_report  # only without a tests.jsonl

        return from_report(run, spot)
    reading = Reading(name)
    try:
        _read_lines(read_bytes(path, name), reading)
    except BadInputError as error:
        return GateDetails(source=name, is_damaged=True, problems=(as_problem(error),))
    tests = settled(reading.lines, spot.expected, reading.note)
    return GateDetails(
        tests=tests,
        reported=sum(test.outcome is not Outcome.MISSING for test in tests),
        source=name,
        is_damaged=reading.lost > 0,
        problems=tuple(reading.problems),
    )


def _read_lines(data: bytes, reading: Reading) -> None:
    # Only "\n" ends a line: the other line ends of Unicode are text here.
    for number, row in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        text = row.strip(b"\0 \t\r")
        place = f"{reading.name}: line {number}"
        if not text:
            if b"\0" in row:
                reading.note(place, f"{row.count(0)} NUL bytes and nothing else")
            continue
        try:
            reading.lines.append(_parse(text, place, reading))
        except ValueError as error:
            reading.lost += 1
            reading.note(place, f"{error}; left out")


def _parse(text: bytes, place: str, reading: Reading) -> Reported:
    """One line of tests.jsonl.

    Raises:
        ValueError: it does not name a test.
    """
    try:
        line = json.loads(text.decode("utf-8"))
    except UnicodeDecodeError:
        reading.note(place, "has bytes that are not UTF-8; they are replaced")
        line = json.loads(text.decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        raise ValueError("expected a JSON object, not JSON (cut short?)") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(line, dict):
        raise ValueError(f"expected a JSON object, found {shown(line)}")
    test_id = line.get("id")
    if not isinstance(test_id, str) or not test_id:
        raise ValueError(f"id: expected text that is not empty, found {shown(test_id)}")
    return _reported(test_id, line, place, reading)


def _reported(test_id: str, line: Mapping[str, object], place: str, reading: Reading) -> Reported:
    word, group_word = line.get("outcome"), line.get("group")
    outcome = _OUTCOMES.get(word) if isinstance(word, str) else None
    said = _text(line, "reported")
    if outcome is None:
        # Neither passed nor failed: nobody knows what the word means.
        outcome, said = Outcome.MISSING, shown(word)
        reading.note(place, f"outcome: {said} is not an outcome; the test counts as missing")
    group = _GROUPS.get(group_word) if isinstance(group_word, str) else None
    if group is None and group_word is not None:
        reading.note(place, f"group: expected f2p, p2p or other, found {shown(group_word)}")
    test = GateTest(
        id=test_id,
        group=group or Group.OTHER,
        outcome=outcome,
        duration_s=_seconds(line.get("duration_s")),
        message=_text(line, "message"),
        traceback=_text(line, "traceback"),
        stdout=_text(line, "stdout"),
        stderr=_text(line, "stderr"),
        reported=said,
        copies=_copies(line.get("copies")),
        evidence=_text(line, "evidence"),
        conflict=_text(line, "conflict"),
    )
    return Reported(test, group, place)


def _text(line: Mapping[str, object], key: str) -> str | None:
    """A text field; another value is shown as the JSON that it is, never dropped."""
    value = line.get(key)
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _copies(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 1 else 1


def _seconds(value: object) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if 0 <= value < math.inf else None
    return None


def settled(
    lines: Sequence[Reported], expected: Expected, note: _Note, report: Report | None = None
) -> tuple[GateTest, ...]:
    """Compares what is reported with what is expected: the whole of both."""
    lists = {group: frozenset(expected.of(group) or ()) for group in SPLIT}
    found: dict[tuple[Group, str], GateTest] = {}
    for line in lines:
        group, is_extra = _place_of(line, lists, expected)
        if line.group is not None and group is not line.group:
            note(line.place, f"group: says {line.group.value}, chain.json says {group.value}")
        key = (group, line.test.id)
        test = replace(line.test, group=group, extra=is_extra)
        found[key] = _worse(found[key], test) if key in found else test
    tests = []
    for group in SPLIT:
        for test_id in expected.of(group) or ():
            key = (group, test_id)
            found_one = found.pop(key) if key in found else _unreported(test_id, group, report)
            tests.append(found_one)
    return (*tests, *found.values())


def _unreported(test_id: str, group: Group, report: Report | None) -> GateTest:
    """An expected test without a result: not run where the report shows that, else missing."""
    outcome, why = (Outcome.MISSING, None) if report is None else report.unnamed(test_id)
    return GateTest(id=test_id, group=group, outcome=outcome, message=why)


def _place_of(
    line: Reported, lists: Mapping[Group, frozenset[str]], expected: Expected
) -> tuple[Group, bool]:
    """The group of a reported test, and whether it is extra."""
    listed = [group for group in SPLIT if line.test.id in lists[group]]
    if listed:
        return (line.group if line.group in listed else listed[0]), False
    group = line.group or Group.OTHER
    has_list = expected.is_known if group is Group.OTHER else expected.of(group) is not None
    return group, has_list


def _worse(first: GateTest, second: GateTest) -> GateTest:
    """Of two reports of one test the one with the worse outcome."""
    copies = first.copies + second.copies
    keep = max(first, second, key=lambda test: _BEST_FIRST.index(test.outcome))
    return replace(keep, copies=copies)


def recount(spot: GateSpot, details: GateDetails) -> tuple[GateRecord, tuple[Problem, ...]]:
    """The record of a gate after its tests are read; where the two contradict, the tests count.

    Returns:
        The record, and what is contradictory.
    """
    if details.notes:
        spot = replace(
            spot, record=replace(spot.record, notes=(*spot.record.notes, *details.notes))
        )
    record = spot.record
    if details.source is None or not details.tests:
        if details.source is not None and not spot.has_counts:
            why = f": {details.stopped.why}" if details.stopped else ""
            return _unmeasured(spot, f"{details.source} names no test{why}"), ()
        return record, ()
    if not details.knows_ids:
        if spot.has_counts:
            return record, ()
        return _unmeasured(spot, "not one id of the report is on the lists of chain.json"), ()
    counts = {group: _count(group, details, spot.expected) for group in Group}
    if not spot.has_counts:
        return _derived(spot, details, counts), ()
    if spot.is_partial:
        return record, ()
    problems: list[Problem] = []
    written = {Group.F2P: record.f2p, Group.P2P: record.p2p, Group.OTHER: record.other}
    for group, said in written.items():
        counted = _without_list(said, counts[group], spot.expected.of(group))
        if details.is_damaged or (counted is None and not (said and said.expected)):
            continue
        if counted is None or said is None or _observed(said) != _observed(counted):
            place = f"{spot.folder}/result.json: {group.value}"
            what = f"contradicts {details.source}, which counts: {_in_words(counted)}"
            problems.append(Problem(place, f"{what} (shown)" if counted else what))
        written[group] = counted or said
    return _with_counts(record, written), tuple(problems)


def _without_list(
    said: GroupCounts | None, counted: GroupCounts | None, ids: Sequence[str] | None
) -> GroupCounts | None:
    """Counted tests, with what the result says of unreported ones where no list names them."""
    if ids is not None or said is None or counted is None or counted.missing + counted.not_run:
        return counted
    unreported = said.missing + said.not_run
    return replace(
        counted,
        expected=counted.expected + unreported,
        missing=said.missing,
        not_run=said.not_run,
    )


def _with_counts(record: GateRecord, counts: Mapping[Group, GroupCounts | None]) -> GateRecord:
    f2p, p2p, other = (counts[group] for group in (Group.F2P, Group.P2P, Group.OTHER))
    return replace(record, f2p=f2p, p2p=p2p, other=other)


def _count(group: Group, details: GateDetails, expected: Expected) -> GroupCounts | None:
    tests = [test for test in details.tests if test.group is group]
    is_half = expected.is_known and (expected.f2p is None or expected.p2p is None)
    if group is Group.OTHER and is_half:
        # Tests outside of half a split say nothing about the half that is not known.
        return None
    return GroupCounts.of(tests) if tests or expected.of(group) is not None else None


def _outcomes(counts: GroupCounts) -> dict[str, int]:
    return {outcome.value: getattr(counts, outcome.value) for outcome in Outcome}


def _observed(counts: GroupCounts) -> dict[str, int]:
    """Counts by outcome; a result may call missing what a report shows not to have run."""
    outcomes = _outcomes(counts)
    outcomes[Outcome.MISSING.value] += outcomes.pop(Outcome.NOT_RUN.value)
    return outcomes


def _in_words(counts: GroupCounts | None) -> str:
    if counts is None:
        return "none of its tests"
    said = [f"{number} {name}" for name, number in _outcomes(counts).items() if number]
    return ", ".join(said) or "nothing expected"


def _unmeasured(spot: GateSpot, why: str) -> GateRecord:
    """The record with a reason that is better than the summary's, unless that one is recorded."""
    return spot.record if spot.has_result else replace(spot.record, unmeasured=why)


def _derived(
    spot: GateSpot, details: GateDetails, counts: Mapping[Group, GroupCounts | None]
) -> GateRecord:
    """The record of a gate whose summary has no counts."""
    if spot.is_unmeasured:
        return spot.record
    why = None
    known = [group for group in counts.values() if group is not None]
    missing = sum(group.missing for group in known)
    ok = sum(group.passed + group.xfailed for group in known)
    expected = sum(group.expected for group in known)
    if missing and ok + missing == expected and not spot.has_result:
        # Nothing failed and nothing says that the gate came to its end.
        why = f"{missing} of {expected} expected tests are not reported; no result.json says why"
    not_run = sum(group.not_run for group in known)
    stop = details.stopped
    if stop is not None and not stop.own_doing and ok + missing + not_run == expected:
        # Nothing failed, and who ended the run is not known.
        why = stop.why
    notes = (*spot.record.notes, f"counted from {details.source}")
    return replace(_with_counts(spot.record, counts), unmeasured=why, notes=notes)
