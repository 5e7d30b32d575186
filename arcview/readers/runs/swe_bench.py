"""Reads the harness logs of one SWE-bench instance, and the flat reports of submissions.

Layout: swebench/harness/run_evaluation.py (`logs/run_evaluation/<run>/<model>/<instance>/`). One
stage; the repository before it is not recorded. Must not import pydantic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from arcview.errors import ArcviewError, BadInputError
from arcview.files import exists, is_file
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest, Report
from arcview.model.run import Chain, Run, Stage, Status
from arcview.model.trajectory_refs import TrajectoryRef
from arcview.readers.fields import Fields, parse_json, read_bytes
from arcview.readers.inside import inside
from arcview.readers.registry import Detection
from arcview.readers.reports.swe_bench import read_instances
from arcview.readers.runs.agent_logs import find_trajectories
from arcview.readers.runs.assembled import AssembledRun, Assembly, derived_id
from arcview.readers.runs.instance_folder import patch_states, prediction_for, trajectory_for
from arcview.readers.runs.log_details import with_details
from arcview.readers.runs.predictions import Prediction
from arcview.readers.runs.report_gate import find_report, gate_of

LAYOUT = "swe_bench"
REPORT = "report.json"
OUTPUT = "test_output.txt"
INSTANCE_LOG = "run_instance.log"
PATCH = "patch.diff"
_LOGS = (OUTPUT, INSTANCE_LOG, REPORT, "eval.sh")
_STATUS_KEYS = frozenset({"patch_successfully_applied", "patch_exists", "resolved"})
_TAIL_BYTES = 64 << 10
_MARK = re.compile(
    r"^(?:\S+ \S+ - [A-Z]+ - )?>>>>> "
    r"(Patch Apply Failed|Tests Timed Out|Tests Errored|Reset Failed)",
    re.MULTILINE,
)
_TIMEOUT = re.compile(
    r"^(?:Timeout error: |\S+ \S+ - [A-Z]+ - Test timed out after )", re.MULTILINE
)
_REASONS = {
    "Patch Apply Failed": "the patch could not be applied",
    "Tests Timed Out": "timed out",
    "Tests Errored": "the tests could not be run",
    "Reset Failed": "resetting the tests failed",
}
_TIMED_OUT = _REASONS["Tests Timed Out"]
_DIFF = re.compile(
    r"^\S+ \S+ - INFO - Git diff before:\n(.*?)(?=^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ - |\Z)",
    re.MULTILINE | re.DOTALL,
)
_ERROR_LINE = re.compile(r"^(?:\S+ \S+ - ERROR - )?(\w*(?:Error|Exception)\b.*)$", re.MULTILINE)


class SweBenchReader:
    """Reads one instance folder."""

    id = LAYOUT
    title = "SWE-bench harness logs of one instance"

    def detect(self, path: Path) -> Detection | None:
        """Recognises the harness's report, or its log beside the output of the tests."""
        entry = _entry(path)
        if entry is not None:
            if "n_attempt" in entry.values:
                return None
            return Detection(self.id, f"{REPORT} with {', '.join(sorted(_STATUS_KEYS))}")
        if is_file(path / INSTANCE_LOG) and _has_no_report(path):
            return Detection(self.id, f"{INSTANCE_LOG} of a harness that wrote no {REPORT}")
        return None

    def summarise(self, path: Path) -> Run:
        """The skeleton from the report alone."""
        return AssembledRun(_read(path, with_trajectories=False)).run

    def read(self, path: Path) -> AssembledRun:
        """Opens the instance."""
        return AssembledRun(_read(path, with_trajectories=True))


def _entry(path: Path) -> Fields | None:
    """The report of the instance, keyed by it or flat; null where the file is none."""
    try:
        root = Fields.json_file(inside(path, REPORT), REPORT, [])
    except BadInputError:
        return None
    if root.values.keys() >= _STATUS_KEYS:
        return root
    entries = [entry for _, entry in root.subs() if entry.values.keys() >= _STATUS_KEYS]
    return entries[0] if len(entries) == 1 else None


def _has_no_report(path: Path) -> bool:
    """Whether the harness wrote no report, or began one and did not come to its end."""
    try:
        return parse_json(read_bytes(inside(path, REPORT), REPORT), REPORT) == {}
    except BadInputError:
        return True


@dataclass(frozen=True, slots=True)
class _Place:
    """What the folder's own place in the logs tells."""

    instance: str
    model: str | None = None
    run: str | None = None


def _place(path: Path, report: Mapping[str, object]) -> _Place:
    named = next((name for name in report if name), None)
    instance = named or path.absolute().name
    parents = path.absolute().parents
    if len(parents) > 2 and parents[2].name == "run_evaluation":
        return _Place(instance, parents[0].name.replace("__", "/"), parents[1].name)
    return _Place(instance)


@dataclass(slots=True)
class _Reports:
    """The report of the instance, by its id."""

    by_instance: Mapping[str, Report] = field(default_factory=dict)
    error: str | None = None


def _reports(path: Path, problems: list[Problem]) -> _Reports:
    if not exists(path / REPORT):
        return _Reports(error=f"no {REPORT}: the harness did not come to grading")
    try:
        return _Reports(read_instances(inside(path, REPORT)))
    except ArcviewError as error:
        what = str(error).removeprefix(f"{REPORT}: ")
        problems.append(Problem(REPORT, what))
        return _Reports(error=f"{REPORT} is damaged: {what}")


def _read(path: Path, *, with_trajectories: bool) -> Assembly:
    if not any(exists(path / name) for name in (*_LOGS, PATCH)):
        raise BadInputError(str(path), f"expected {REPORT}, {INSTANCE_LOG}, {OUTPUT} or {PATCH}")
    problems: list[Problem] = []
    reports = _reports(path, problems)
    place = _place(path, reports.by_instance)
    found = prediction_for(path.absolute(), place.instance, problems)
    prediction = found[0] if found is not None else None
    report = reports.by_instance.get(place.instance) or reports.by_instance.get("")
    record, tests = read_gate(path, report, reports.error)
    root = path.absolute()
    refs: tuple[TrajectoryRef, ...] = ()
    if with_trajectories:
        root, refs = find_refs(root, place.instance)
    logged = None if found is not None or is_file(path / PATCH) else _logged_diff(path)
    states = patch_states(path, PATCH, prediction or logged, _missing(prediction))
    prefix = "" if root == path.absolute() else f"{path.absolute().relative_to(root)}/"
    record = replace(record, log_paths=tuple(f"{prefix}{log}" for log in record.log_paths))
    notes = (
        () if logged is None else (f"S1 is the diff that {INSTANCE_LOG} shows before the tests",)
    )
    stage = Stage(1, None, Status.UNKNOWN, base="S0", end="S1", trajectories=refs, notes=notes)
    model = place.model or (prediction.model if prediction is not None else None)
    run = Run(
        run_id=_run_id(path, place, model, prediction),
        layout=LAYOUT,
        path=str(path),
        chain=Chain(task_id=place.instance),
        model=model,
        attempt=place.run,
        harness="swe-bench",
        states=states,
        stages=(stage,),
        gates=(record,),
    )
    key = (record.gate, record.state)
    details = {key: partial(read_details, path, tests)} if tests else {}
    read = [path, *(path / name for name in (*_LOGS, PATCH))]
    read += [found[1]] if found is not None else []
    return Assembly(root, run, {key: tests}, details, read=read, problems=problems)


def read_gate(
    path: Path, report: Report | None, error: str | None
) -> tuple[GateRecord, tuple[GateTest, ...]]:
    """The gate of an instance from its report; without one, why nothing was measured.

    Args:
        path: The instance's log folder.
        report: Its report.
        error: Why there is none.
    """
    logs = tuple(name for name in _LOGS if is_file(path / name))
    mark = _mark(path)
    record = GateRecord("1", "S1", log_paths=logs, timed_out=mark == _TIMED_OUT)
    if report is None:
        reason = mark or _last_error(path) or error
        return replace(record, unmeasured=reason), ()
    return gate_of(record, report)


def read_details(path: Path, tests: tuple[GateTest, ...]) -> tuple[GateTest, ...]:
    """The tests with what the output of the harness says about each."""
    try:
        file = inside(path, OUTPUT)
    except BadInputError:
        return tests
    if not is_file(file):
        return tests
    logged = find_report(file, OUTPUT, [])
    return tests if logged is None else with_details(tests, logged.tests)


def find_refs(path: Path, instance: str) -> tuple[Path, tuple[TrajectoryRef, ...]]:
    """The trajectory of an instance and the folder that its path is relative to."""
    refs = find_trajectories(path, ".")
    if refs:
        return path, refs
    file = trajectory_for(path, instance)
    if file is None:
        return path, ()
    root = next(above for above in (path, *path.parents) if file.is_relative_to(above))
    return root, (TrajectoryRef(file.relative_to(root).as_posix()),)


def _logged_diff(path: Path) -> Prediction | None:
    """The workspace's diff as the harness logs it just before it runs the tests."""
    try:
        log = read_bytes(inside(path, INSTANCE_LOG), INSTANCE_LOG).decode("utf-8", "replace")
    except BadInputError:
        return None
    found = _DIFF.search(log)
    if found is None or "diff --git " not in found[1]:
        return None
    return Prediction(found[1].rstrip("\n") + "\n", file=INSTANCE_LOG)


def _missing(prediction: Prediction | None) -> str:
    if prediction is not None:
        return f"{prediction.file} says that there is no patch"
    return f"there is no {PATCH} and no predictions file that names the instance"


def _mark(path: Path) -> str | None:
    """What the harness itself says went wrong, in its own log or as the last words of the output.

    The output of the tests is not believed: a test may print whatever it likes.
    """
    log = _tail(path, INSTANCE_LOG)
    if _TIMEOUT.search(log) or _TIMEOUT.search(_tail(path, OUTPUT).strip()[-200:]):
        return _TIMED_OUT
    found = _MARK.findall(log)
    return _REASONS[found[-1]] if found else None


def _last_error(path: Path) -> str | None:
    found = _ERROR_LINE.findall(_tail(path, INSTANCE_LOG))
    return f"error of the harness: {found[-1].strip()}" if found else None


def _tail(path: Path, name: str) -> str:
    try:
        return read_bytes(inside(path, name), name)[-_TAIL_BYTES:].decode("utf-8", "replace")
    except BadInputError:
        return ""


def _run_id(path: Path, place: _Place, model: str | None, prediction: Prediction | None) -> str:
    names = (REPORT, PATCH, OUTPUT, INSTANCE_LOG)
    patch = prediction.patch if prediction is not None else None
    parts = [place.instance, model, place.run, patch]
    return derived_id(LAYOUT, parts, [(name, path / name) for name in names])
