"""Reads one attempt of a FeatureBench run: `run_outputs/<instance>/attempt-<n>/` and its grading.

Layout: featurebench/infer/output.py and harness/report.py. Attempts are independent of each other;
each is a run of one stage. `run_metadata.json` holds an API key in clear: only named fields of it
are ever read. Must not import pydantic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import exists, is_dir, is_file
from arcview.model.problem import Problem
from arcview.model.results import GateRecord
from arcview.model.run import Chain, Run, Stage, Status
from arcview.model.trajectory_refs import TrajectoryRef
from arcview.readers.fields import Fields, read_bytes
from arcview.readers.inside import inside
from arcview.readers.registry import Detection
from arcview.readers.runs.agent_logs import find_trajectories
from arcview.readers.runs.assembled import AssembledRun, Assembly, derived_id
from arcview.readers.runs.feature_bench_gates import read_details, read_gate
from arcview.readers.runs.instance_folder import patch_states
from arcview.readers.runs.predictions import Prediction
from arcview.readers.times import seconds_between

LAYOUT = "feature_bench"
METADATA = "run_metadata.json"
OUTPUT = "output.jsonl"
RUNS, GRADES = "run_outputs", "eval_outputs"
PATCH = "patch.diff"
_ATTEMPT = re.compile(r"attempt-(\d+)\Z")
_TIME = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?)", re.MULTILINE)
_TIMEOUT = re.compile(r"tim(?:ed|e)[ -]?out", re.IGNORECASE)


class FeatureBenchReader:
    """Reads `<run>/run_outputs/<instance>/attempt-<n>/` folders."""

    id = LAYOUT
    title = "FeatureBench attempt"
    sample = "a run written by the benchmark's own code; nobody publishes one"

    def detect(self, path: Path) -> Detection | None:
        """Recognises an attempt by its place below the files of a run."""
        place = _place(path)
        if place is None:
            return None
        if graded_attempt(path) is not None:
            return None
        for name in (METADATA, OUTPUT):
            if is_file(place.root / name):
                return Detection(self.id, f"{place.tree}/…/{path.name} below {name}")
        if place.tree == GRADES and is_file(path / "report.json"):
            return Detection(self.id, f"{place.tree}/…/{path.name} with report.json")
        return None

    def summarise(self, path: Path) -> Run:
        """The skeleton; trajectories are not looked for.

        Raises:
            BadInputError: the folder is not an attempt.
        """
        return AssembledRun(_read(path, with_trajectories=False)).run

    def read(self, path: Path) -> AssembledRun:
        """Opens the attempt.

        Raises:
            BadInputError: as for `summarise`.
        """
        return AssembledRun(_read(path, with_trajectories=True))


def graded_attempt(path: Path) -> Path | None:
    """The attempt whose grading a folder is; null where it is none, or the attempt is lost."""
    place = _place(path)
    if place is None or place.tree != GRADES or not is_dir(place.root / RUNS / place.below):
        return None
    return place.root / RUNS / place.below


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an attempt lies."""

    root: Path
    """The folder of the whole run."""
    tree: str
    """`run_outputs`, or `eval_outputs` where only the grading is there."""
    instance: str
    attempt: str

    @property
    def below(self) -> str:
        return f"{self.instance}/attempt-{self.attempt}"


def _place(path: Path) -> _Place | None:
    absolute = path.absolute()
    number = _ATTEMPT.match(absolute.name)
    parents = absolute.parents
    if number is None or len(parents) < 3 or parents[1].name not in (RUNS, GRADES):
        return None
    return _Place(parents[2], parents[1].name, parents[0].name, number[1])


def _read(path: Path, *, with_trajectories: bool) -> Assembly:
    place = _place(path)
    if place is None:
        raise BadInputError(str(path), f"expected a folder {RUNS}/<instance>/attempt-<n>")
    problems: list[Problem] = []
    metadata = _metadata(place.root, problems)
    record = _record(place, problems)
    graded = f"{GRADES}/{place.below}"
    gate, tests = read_gate(place.root, graded, place.instance, _expected(record), problems)
    refs: tuple[TrajectoryRef, ...] = ()
    if with_trajectories and place.tree == RUNS:
        refs = find_trajectories(place.root, f"{RUNS}/{place.below}")
    run = _run(path, place, metadata, record, gate)
    run = replace(run, stages=(replace(run.stages[0], trajectories=refs),))
    key = (gate.gate, gate.state)
    details = {key: partial(read_details, place.root, graded, tests)} if tests else {}
    read = [path, place.root / METADATA, place.root / OUTPUT, place.root / graded]
    read += [place.root / graded / "report.json", path / PATCH]
    return Assembly(place.root, run, {key: tests}, details, read=read, problems=problems)


def _metadata(root: Path, problems: list[Problem]) -> Fields:
    try:
        return Fields.json_file(inside(root, METADATA), METADATA, problems)
    except BadInputError as error:
        if exists(root / METADATA):
            problems.append(Problem(METADATA, f"{error.expected}; agent and model are unknown"))
        return Fields(METADATA, {}, problems)


def _record(place: _Place, problems: list[Problem]) -> Fields:
    """What output.jsonl says of the attempt; the last of several records counts."""
    found: Mapping[str, object] = {}
    with suppress(BadInputError, OSError):
        file = inside(place.root, OUTPUT)
        look = file.stat()
        records, damaged = _records(file, look.st_mtime_ns, look.st_size)
        found = records.get((place.instance, place.attempt), {})
        problems += (Problem(f"{OUTPUT}: line {n}", "not JSON; left out") for n in damaged)
    return Fields(OUTPUT, dict(found), problems)


@lru_cache(maxsize=2)
def _records(
    file: Path, mtime_ns: int, size_bytes: int
) -> tuple[Mapping[tuple[str, str], Mapping[str, object]], tuple[int, ...]]:
    """All of output.jsonl by instance and attempt, and its damaged lines; a listing asks often."""
    records, damaged = {}, []
    for number, line in enumerate(read_bytes(file, OUTPUT).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            damaged.append(number)
            continue
        if isinstance(record, dict) and isinstance(record.get("instance_id"), str):
            records[record["instance_id"], str(record.get("n_attempt", 1))] = record
    return records, tuple(damaged)


def _expected(record: Fields) -> dict[str, list[str]]:
    """The task's own lists, where its metadata holds them: of test ids or of test files."""
    task = record.sub("task_metadata")
    lists = {}
    for key in ("FAIL_TO_PASS", "PASS_TO_PASS"):
        value = task.values.get(key)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                continue
        if isinstance(value, list):
            lists[key] = [item for item in value if isinstance(item, str)]
    return lists


def _run(path: Path, place: _Place, metadata: Fields, record: Fields, gate: GateRecord) -> Run:
    task = record.sub("task_metadata")
    status, detail = _status(record, has_output=is_file(place.root / OUTPUT))
    started, ended = _times(path)
    patch = record.text("model_patch")
    prediction = Prediction(patch, file=OUTPUT) if patch is not None else None
    agent = record.text("agent") or metadata.text("agent")
    model = record.text("model") or metadata.text("model")
    if place.root.name == "gold" and agent is None:
        agent = "gold"
    stage = Stage(
        1,
        None,
        status,
        detail,
        base="S0",
        end="S1",
        started=started,
        ended=ended,
        duration_s=seconds_between(started, ended),
    )
    names = (PATCH, f"../../../{GRADES}/{place.below}/report.json")
    return Run(
        run_id=derived_id(
            LAYOUT,
            [place.instance, place.attempt, agent, model, patch],
            [(name.removeprefix("../../../"), path / name) for name in names],
        ),
        layout=LAYOUT,
        path=str(path),
        chain=Chain(
            task_id=place.instance,
            repository=task.text("repo"),
            image_ref=task.text("image_name"),
        ),
        agent=agent,
        model=model,
        attempt=place.attempt,
        harness="featurebench",
        status=status,
        status_detail=detail,
        started=started,
        ended=ended,
        states=patch_states(path, PATCH, prediction, f"there is no {PATCH}"),
        stages=(stage,),
        gates=(gate,),
    )


def _status(record: Fields, *, has_output: bool) -> tuple[Status, str | None]:
    """How the attempt ended, as the harness wrote it down."""
    if not record.values:
        if not has_output:
            return Status.UNKNOWN, None
        return Status.INTERRUPTED, f"{OUTPUT} has no line for the attempt"
    error = record.text("error")
    first_line = next(iter(error.strip().splitlines()), None) if error else None
    if record.flag("success"):
        return Status.COMPLETED, first_line
    if first_line is not None and _TIMEOUT.search(first_line):
        return Status.AGENT_TIMEOUT, first_line
    return Status.AGENT_ERROR, first_line or "the harness records no success and no error"


def _times(path: Path) -> tuple[str | None, str | None]:
    """When inference began and ended: the first and the last time in its log, local time."""
    try:
        log = read_bytes(inside(path, "infer.log"), "infer.log").decode("utf-8", "replace")
    except BadInputError:
        return None, None
    found = [time.replace(" ", "T").replace(",", ".") for time in _TIME.findall(log)]
    return (found[0] if found else None), (found[-1] if len(found) > 1 else None)
