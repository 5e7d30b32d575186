"""The milestones of an EvoClaw trial in order, and the evaluation of each submission as a gate.

Milestones form a graph, not a line: they are shown in the order in which they were submitted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from arcview.errors import ArcviewError, BadInputError, GitError
from arcview.files import is_dir, is_file, is_symlink
from arcview.git import Git
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest, GroupCounts, Report
from arcview.model.run import Status
from arcview.readers.fields import Fields, read_bytes
from arcview.readers.inside import inside
from arcview.readers.reports.swe_bench import read_instances
from arcview.readers.runs.last_words import last_words
from arcview.readers.runs.report_gate import gate_of
from arcview.readers.runs.repository import git_dir_of, tags_of

EVALUATION = "evaluation"
_RESULTS = ("evaluation_result_filtered.json", "evaluation_result.json")
_ERROR_LOG = "evaluation_error.log"
_TAG = "agent-impl-"
_RETRY = re.compile(r"(.+)-(retry\d+)\Z")
_SAFE = re.compile(r"[A-Za-z0-9][\w.-]*\Z")


@dataclass(frozen=True, slots=True)
class Milestone:
    """One milestone and what became of it."""

    id: str
    status: Status
    detail: str | None = None
    results: Mapping[str, Fields] = field(default_factory=dict)
    """What the summary says of each submission, by its key (`M1`, `M1-retry1`)."""
    since: str | None = None
    """When the milestone before it was tagged."""
    until: str | None = None
    """When it was tagged: the agent's own word that it is done."""

    @property
    def retries(self) -> list[str]:
        """Keys of later submissions, in order."""
        return sorted((key for key in self.results if key != self.id), key=_number)


def read_milestones(path: Path, summary: Fields, problems: list[Problem]) -> tuple[Milestone, ...]:
    """Every milestone of a trial: those submitted in order of time, then the others.

    Args:
        path: The trial.
        summary: `evaluation/summary.json`.
        problems: Takes what is wrong.
    """
    results = {
        key: entry for key, entry in summary.sub("results").subs() if _is_safe(key, problems)
    }
    for key in _folders(path):
        results.setdefault(key, Fields(f"{EVALUATION}/{key}", {}, problems))
    by_id: dict[str, dict[str, Fields]] = {}
    for key, entry in results.items():
        retry = _RETRY.match(key)
        by_id.setdefault(retry[1] if retry else key, {})[key] = entry
    tagged = _tagged(path, problems)
    submitted = sorted(by_id, key=lambda name: _order(name, by_id[name], tagged))
    milestones = []
    since = None
    for name in submitted:
        until = tagged.get(name)
        milestones.append(Milestone(name, Status.COMPLETED, None, by_id[name], since, until))
        since = until or since
    status = summary.sub("milestone_status")
    skipped, waiting = status.texts("skipped"), status.texts("submitted")
    others = [n for n in _declared(path, status) if n not in by_id and _SAFE.match(n)]
    return (*milestones, *(_unevaluated(name, skipped, waiting) for name in others))


def _unevaluated(name: str, skipped: Iterable[str], waiting: Iterable[str]) -> Milestone:
    if name in skipped:
        return Milestone(name, Status.SKIPPED, "a milestone that it depends on failed")
    if name in waiting:
        return Milestone(name, Status.COMPLETED, "submitted, not evaluated")
    return Milestone(name, Status.NOT_STARTED, "never submitted")


def read_gate(
    path: Path, gate: str, state: str, key: str, entry: Fields | None, problems: list[Problem]
) -> tuple[GateRecord, tuple[GateTest, ...]]:
    """The evaluation of one submission; the filtered result, without invalid tests, is preferred.

    Args:
        path: The trial.
        gate: Id of the gate.
        state: The state that was evaluated.
        key: Key of the submission, which is also its folder's name.
        entry: What the summary says of it.
        problems: Takes what is wrong.
    """
    folder = f"{EVALUATION}/{key}"
    logs = [name for name in (_ERROR_LOG, *_RESULTS) if is_file(path / folder / name)]
    record = GateRecord(gate, state, log_paths=tuple(f"{folder}/{name}" for name in logs))
    found = next((name for name in _RESULTS if name in logs), None)
    if found is None:
        error = entry.text("error") if entry is not None else None
        error = error or last_words(path, f"{folder}/{_ERROR_LOG}")
        reason = f"error of the evaluation: {error}" if error else f"no result in {folder}"
        return replace(record, unmeasured=reason), ()
    shown = f"{folder}/{found}"
    try:
        report = next(iter(read_instances(inside(path, shown)).values()))
        fields = Fields.json_file(inside(path, shown), shown, problems)
    except ArcviewError as error:
        what = str(error).removeprefix(f"{found}: ")
        problems.append(Problem(shown, f"{what}; gate unmeasured"))
        return replace(record, unmeasured=f"{found} is damaged: {what}"), ()
    return _counted(record, report, fields, is_filtered=found == _RESULTS[0])


def _counted(
    record: GateRecord, report: Report, fields: Fields, *, is_filtered: bool
) -> tuple[GateRecord, tuple[GateTest, ...]]:
    record, tests = gate_of(record, report)
    p2p = fields.sub("tests_status").sub("PASS_TO_PASS")
    passed = p2p.count("success_count")
    notes = list(record.notes)
    if passed is not None:
        failed = len(p2p.texts("failure"))
        named = p2p.values.get("missing")
        missing = len(named) if isinstance(named, list) else p2p.count("missing") or 0
        total = passed + failed + missing
        counts = GroupCounts(expected=total, passed=passed, failed=failed, missing=missing)
        unmeasured = record.unmeasured if not (total or tests) else None
        record = replace(record, p2p=counts if total else None, unmeasured=unmeasured)
    if is_filtered:
        notes.append("the filtered result: tests that the benchmark calls invalid are left out")
    return replace(record, notes=tuple(notes)), tests


def _is_safe(key: str, problems: list[Problem]) -> bool:
    if _SAFE.match(key):
        return True
    problems.append(
        Problem(f"{EVALUATION}/summary.json: results", f"no folder can be called {key!r}")
    )
    return False


def _folders(path: Path) -> list[str]:
    """The submissions that left a folder, whether or not the summary knows them."""
    try:
        entries = sorted(inside(path, EVALUATION).iterdir())
    except (OSError, BadInputError):
        return []
    return [e.name for e in entries if is_dir(e) and not is_symlink(e) and _SAFE.match(e.name)]


def _tagged(path: Path, problems: list[Problem]) -> dict[str, str]:
    """When each milestone was tagged, from the copy of the repository in the trial."""
    try:
        git_dir = git_dir_of(inside(path, "testbed"))
        if git_dir is None:
            return {}
        tags = tags_of(Git(git_dir))
    except (BadInputError, GitError) as error:
        problems.append(Problem("testbed", f"its tags cannot be read: {error}"))
        return {}
    return {t.name.removeprefix(_TAG): t.at for t in tags if t.name.startswith(_TAG) and t.at}


def _order(name: str, results: Mapping[str, Fields], tagged: Mapping[str, str]) -> tuple[str, str]:
    """When a milestone was submitted: its tag, else the end of its evaluation (local time)."""
    if name in tagged:
        return tagged[name], name
    first = results.get(name)
    said = first.text("timestamp") if first is not None else None
    try:
        return datetime.strptime(said or "", "%a %b %d %H:%M:%S %Y").isoformat(), name  # noqa: DTZ007
    except ValueError:
        return "9999", name


def _declared(path: Path, status: Fields) -> list[str]:
    """All milestones of the trial: its own list, else what the summary still waits for."""
    try:
        data = read_bytes(inside(path, "selected_milestone_ids.txt"), "selected_milestone_ids.txt")
        names = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    except BadInputError:
        names = []
    for word in ("submitted", "available", "blocked", "skipped"):
        names += status.texts(word)
    return list(dict.fromkeys(name for name in names if name and not name.startswith("#")))


def _number(key: str) -> int:
    found = re.search(r"(\d+)\Z", key)
    return int(found[1]) if found else 0
