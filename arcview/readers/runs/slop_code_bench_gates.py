"""Gate results of a SlopCodeBench checkpoint: `evaluation.json`, and the details in its report.

`evaluation.json` decides which tests are expected and how they ended; the report only adds what
is known about each. `pytest_collected` is never used: it drops ids that hold blanks.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import exists, is_file, open_file
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest, Group, GroupCounts, Outcome
from arcview.readers.fields import Fields
from arcview.readers.inside import inside
from arcview.readers.reports.collect import merged
from arcview.readers.reports.pytest_json import read_entries

EVALUATION = "evaluation.json"
REPORT = "evaluation/report.json"
LOGS = ("evaluation/stdout.txt", "evaluation/stderr.txt", REPORT)

_F2P_GROUPS = frozenset({"Core", "Functionality", "Error"})
_REGRESSION = "Regression"
_TEST_FILE = re.compile(r"(?:^|/)test_([^/]+)\.py$")
_CANNOT_RUN = frozenset({126, 127})
_PYTEST_STOPPED = {2: "interrupted", 3: "internal error", 4: "wrong use"}
# A report may say more precisely how a test ended, as long as the verdict cannot change by it.
_REFINED = {
    Outcome.FAILED: frozenset({Outcome.ERROR, Outcome.TIMEOUT}),
    Outcome.PASSED: frozenset({Outcome.XFAILED}),
}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One recorded gate run and where it lies."""

    record: GateRecord
    checkpoint: str
    """Name of the checkpoint whose gate it is."""
    root: Path
    """The run folder."""
    shown: str
    """The folder of the result relative to it; `after_skill` included."""
    tests: tuple[GateTest, ...] = ()
    """Without messages; empty when unmeasured."""


def read_evaluation(
    root: Path,
    shown: str,
    *,
    gate: str,
    state: str | None,
    checkpoint: str,
    problems: list[Problem],
) -> Evaluation:
    """Reads what `evaluation.json` says; whatever is wrong with it makes the gate unmeasured.

    Args:
        root: The run folder.
        shown: The checkpoint's folder, or `after_skill` in it, relative to the run.
        gate: Id of the gate.
        state: Id of the state that was evaluated.
        checkpoint: Name of the checkpoint whose gate this is.
        problems: Takes what is wrong.
    """
    name = f"{shown}/{EVALUATION}"
    logs = tuple(f"{shown}/{log}" for log in LOGS if is_file(root / shown / log))
    record = GateRecord(gate=gate, state=state, log_paths=logs)
    if not exists(root / name):
        record = replace(record, unmeasured=f"no {EVALUATION}")
        return Evaluation(record, checkpoint, root, shown)
    try:
        fields = Fields.json_file(inside(root, name), name, problems)
    except BadInputError as error:
        problems.append(Problem(name, f"{error.expected}; gate unmeasured"))
        record = replace(record, unmeasured=f"{EVALUATION} is damaged: {error.expected}")
        return Evaluation(record, checkpoint, root, shown)
    exit_code = fields.number("pytest_exit_code")
    record = replace(
        record,
        duration_s=fields.number("duration"),
        exit_codes=() if exit_code is None else (int(exit_code),),
    )
    entries = _entries(fields, checkpoint)
    if reason := _unmeasured(fields, record.exit_codes, entries):
        first_line = _first_line(root, f"{shown}/{LOGS[1]}")
        reason = f"{reason}: {first_line}" if first_line else reason
        return Evaluation(replace(record, unmeasured=reason), checkpoint, root, shown)
    return Evaluation(_counted(record, fields, entries), checkpoint, root, shown, merged(entries))


def detailed(evaluation: Evaluation, problems: list[Problem]) -> tuple[GateTest, ...]:
    """The same tests with messages, tracebacks and durations from the report.

    Matched by (checkpoint of the group, text after the first `::` of the node id): bare names
    repeat across checkpoints. What does not match either way is reported and kept.
    """
    if not evaluation.tests:
        return ()
    shown = f"{evaluation.shown}/{REPORT}"
    try:
        entries = read_entries(inside(evaluation.root, shown), shown, problems)
    except BadInputError as error:
        what = f"{error.expected}; messages, tracebacks and durations are not available"
        problems.append(Problem(shown, what))
        return evaluation.tests
    reported: dict[str, list[GateTest]] = defaultdict(list)
    for entry in entries:
        reported[_id_of(entry.id, evaluation.checkpoint)].append(entry)
    tests = [
        _with_details(test, reported[test.id]) if test.id in reported else test
        for test in evaluation.tests
    ]
    expected = {test.id for test in evaluation.tests}
    extra = [entry for key, found in reported.items() if key not in expected for entry in found]
    _report_mismatches(evaluation, tests, extra, shown, problems)
    return (*tests, *merged(_extra(entry, evaluation.checkpoint) for entry in extra))


def _entries(fields: Fields, checkpoint: str) -> list[GateTest]:
    """Every listed test, repeated ones included, in the file's order."""
    entries = []
    for key, lists in fields.sub("tests").subs():
        name, _, group_word = key.rpartition("-")
        group = _group(name, group_word, checkpoint)
        if group is Group.OTHER:
            what = "not a group of this checkpoint; its tests are shown apart, without a verdict"
            fields.problems.append(Problem(f"{fields.shown}: tests.{key}", what))
        for word in lists.values:
            outcome = _outcome(word)
            reported = None if outcome.value == word else word
            entries += [
                GateTest(f"{name}::{test}", group, outcome, reported=reported)
                for test in lists.texts(word)
            ]
    return entries


def _group(name: str, group_word: str, checkpoint: str) -> Group:
    if group_word == _REGRESSION:
        return Group.P2P
    if group_word in _F2P_GROUPS and name == checkpoint:
        return Group.F2P
    return Group.OTHER


def _outcome(word: str) -> Outcome:
    """The outcome that the name of a list means; one that is not known counts as an error."""
    try:
        return Outcome(word)
    except ValueError:
        return Outcome.ERROR


def _unmeasured(
    fields: Fields, exit_codes: tuple[int, ...], entries: Sequence[GateTest]
) -> str | None:
    """Why nothing was measured, or null when something was."""
    cannot_run = _CANNOT_RUN.intersection(exit_codes)
    exits = f"pytest exit {exit_codes[0]}" if exit_codes else "pytest exit code not recorded"
    if fields.flag("infrastructure_failure") or cannot_run:
        return f"infrastructure failure: {exits}"
    return None if entries else f"no test is recorded: {exits}"


def _first_line(root: Path, relative: str) -> str | None:
    """The first line with something in it, from the first 4 KiB."""
    try:
        with open_file(inside(root, relative)) as opened:
            head = opened.read(4096).decode("utf-8", "replace")
    except (OSError, BadInputError):
        return None
    return next((line.strip() for line in head.splitlines() if line.strip()), None)


def _counted(record: GateRecord, fields: Fields, entries: Sequence[GateTest]) -> GateRecord:
    """The record with the counts of its groups and with what is odd about them."""
    notes = []
    stopped = [word for code, word in _PYTEST_STOPPED.items() if code in record.exit_codes]
    if stopped:
        notes.append(f"pytest did not end by itself ({stopped[0]}): tests may be missing")
    totals = fields.sub("total_counts")
    told = [totals.count(group) for group in totals.values]
    if None not in told and told and sum(filter(None, told)) != len(entries):
        what = f"total_counts say {sum(filter(None, told))} tests, {len(entries)} are listed"
        fields.problems.append(Problem(fields.shown, what))
    others = [entry for entry in entries if entry.group is Group.OTHER]
    return replace(
        record,
        f2p=_counts(entry for entry in entries if entry.group is Group.F2P),
        p2p=_counts(entry for entry in entries if entry.group is Group.P2P),
        other=_counts(others) if others else None,
        notes=tuple(notes),
    )


def _counts(entries: Iterable[GateTest]) -> GroupCounts:
    """Counts as the file lists them: a test that it names twice is counted twice."""
    listed = list(entries)
    names = Counter(entry.id for entry in listed)
    repeated = sum(count > 1 for count in names.values())
    return replace(GroupCounts.of(listed), duplicated=repeated)


def _id_of(node_id: str, checkpoint: str) -> str:
    """The id that a node id has in a gate; without a test file of a checkpoint, the gate's own."""
    file, separator, test = node_id.partition("::")
    found = _TEST_FILE.search(file)
    return f"{found[1] if found else checkpoint}::{test if separator else node_id}"


def _with_details(test: GateTest, matches: Sequence[GateTest]) -> GateTest:
    """The test with what the report knows about it."""
    entry = merged(replace(match, id=test.id) for match in matches)[0]
    word = entry.reported or entry.outcome.value
    refined = entry.outcome if entry.outcome in _REFINED.get(test.outcome, ()) else test.outcome
    return replace(
        test,
        outcome=refined,
        duration_s=entry.duration_s,
        message=entry.message,
        traceback=entry.traceback,
        stdout=entry.stdout,
        stderr=entry.stderr,
        reported=test.reported if word == refined.value else word,
        copies=max(test.copies, entry.copies),
    )


def _extra(entry: GateTest, checkpoint: str) -> GateTest:
    """A test that the report names and `evaluation.json` does not."""
    test_id = _id_of(entry.id, checkpoint)
    own = test_id.startswith(f"{checkpoint}::")
    return replace(entry, id=test_id, group=Group.F2P if own else Group.P2P, extra=True)


def _report_mismatches(
    evaluation: Evaluation,
    tests: Sequence[GateTest],
    extra: Sequence[GateTest],
    shown: str,
    problems: list[Problem],
) -> None:
    """Says what did not match."""
    pairs = zip(evaluation.tests, tests, strict=True)
    silent = [test for listed, test in pairs if test is listed]
    differing = [test for test in tests if test.reported]
    found = [
        (silent, "are not in it: no message or duration is known for them"),
        (extra, "are in it but not in evaluation.json: shown as extra, not counted"),
        (differing, "ended otherwise there: evaluation.json counts, the other word is shown"),
    ]
    for group, what in found:
        if group:
            text = f"{len(group)} tests {what} (the first: {group[0].id})"
            problems.append(Problem(shown, text))
