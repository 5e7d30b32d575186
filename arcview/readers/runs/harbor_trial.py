"""The skeleton of a Harbor trial: its steps as stages, with states, gates and trajectories.

A step that a gate kept from starting has neither a folder nor an entry: how many were planned is
read from `trial.log` and from the task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import exists
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest
from arcview.model.run import Chain, Run, Stage, Status
from arcview.model.states import Provenance, State, StateKind
from arcview.model.trajectory_refs import TrajectoryRef, Usage
from arcview.readers.fields import Fields, read_bytes
from arcview.readers.inside import inside
from arcview.readers.runs.agent_logs import find_trajectories
from arcview.readers.runs.assembled import Assembly, GateKey, derived_id
from arcview.readers.runs.harbor_artifacts import end_state
from arcview.readers.runs.harbor_errors import StepError, step_error, step_status
from arcview.readers.runs.harbor_gates import Verifier, read_gate
from arcview.readers.runs.harbor_task import HarborTask, find_task
from arcview.readers.runs.last_words import last_words
from arcview.readers.times import seconds_between

LAYOUT = "harbor"
RESULT = "result.json"
CONFIG = "config.json"
LOG = "trial.log"
EXCEPTION = "exception.txt"
_FOLDERS = ("agent", "verifier", "artifacts")

_STARTING = re.compile(r"Starting step (\d+)/(\d+): (.+?)\s*$", re.MULTILINE)
_ABORTED = re.compile(r"^(.*aborting remaining steps)\s*$", re.MULTILINE)
_SUFFIX = re.compile(r"__([A-Za-z0-9]{7})\Z")
_NO_FOLDER = re.compile(r"[/\0]|\A\.{1,2}\Z")
"""What cannot be the name of one folder; anything else can be the name of a step."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One step that has begun."""

    name: str | None
    """Null for a trial without steps."""
    fields: Fields

    @property
    def prefix(self) -> str:
        """Where its folders lie."""
        return "" if self.name is None else f"steps/{self.name}/"


@dataclass(slots=True)
class _Trial:
    path: Path
    result: Fields
    config: Fields
    log: str
    task: HarborTask
    problems: list[Problem]
    texts: dict[str, str] = field(default_factory=dict)
    read: list[Path] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    gates: dict[GateKey, GateRecord] = field(default_factory=dict)
    tests: dict[GateKey, tuple[GateTest, ...]] = field(default_factory=dict)


def read_trial(path: Path, *, with_trajectories: bool) -> Assembly:
    """Puts the skeleton of a trial together.

    Args:
        path: The trial folder.
        with_trajectories: Also find the agent's logs; a summary does without.

    Raises:
        BadInputError: neither `result.json` nor `config.json` can be read.
    """
    problems: list[Problem] = []
    result = _result(path, problems)
    config = result.sub("config") if result is not None else None
    if config is None or not config.values:
        config = Fields.json_file(inside(path, CONFIG), CONFIG, problems)
    result = result or Fields(RESULT, {}, problems)
    log = _log(path)
    task = find_task(path, config, result.text("task_name"))
    trial = _Trial(path, result, config, log, task, problems)
    trial.read += [path / name for name in ("", RESULT, CONFIG, LOG, EXCEPTION)] + [*task.read]
    start = "the start state is not recorded: a trial keeps what it collected after each step"
    trial.states.append(State("S0", 0, StateKind.START, Provenance.UNKNOWN, missing=start))
    steps = _steps(trial)
    for index, step in enumerate(steps, start=1):
        is_last = index == len(steps)
        _add_stage(trial, index, step, is_last=is_last, with_trajectories=with_trajectories)
    _add_unstarted(trial)
    return Assembly(
        path.absolute(),
        _run(trial),
        trial.tests,
        texts=trial.texts,
        read=trial.read,
        problems=problems,
    )


def _result(path: Path, problems: list[Problem]) -> Fields | None:
    if not exists(path / RESULT):
        return None
    try:
        return Fields.json_file(inside(path, RESULT), RESULT, problems)
    except BadInputError as error:
        problems.append(Problem(RESULT, f"{error.expected}; what the harness recorded is unknown"))
        return None


def _log(path: Path) -> str:
    try:
        return read_bytes(inside(path, LOG), LOG).decode("utf-8", "replace")
    except BadInputError:
        return ""


def _steps(trial: _Trial) -> list[_Step]:
    """The steps that began, in the order in which they ran."""
    recorded = trial.result.records("step_results")
    found = [_Step(name, entry) for entry in recorded if (name := entry.text("step_name"))]
    if not found:
        found = [_Step(name, Fields(RESULT, {}, trial.problems)) for name in _step_folders(trial)]
    if not found and not trial.task.steps:
        return [_Step(None, trial.result)]
    safe = [step for step in found if step.name and not _NO_FOLDER.search(step.name)]
    for step in found:
        if step not in safe:
            trial.problems.append(Problem(RESULT, f"no folder can be called {step.name!r}"))
    return safe


def _step_folders(trial: _Trial) -> list[str]:
    """The steps of a trial without a result: as its log says, else by their folders' names."""
    logged = [match[3] for match in _STARTING.finditer(trial.log)]
    try:
        there = sorted(entry.name for entry in inside(trial.path, "steps").iterdir())
    except (OSError, BadInputError):
        there = []
    planned = [*logged, *trial.task.steps]
    rest = [name for name in there if name not in planned]
    return list(dict.fromkeys([*logged, *(n for n in trial.task.steps if n in there), *rest]))


def _add_stage(
    trial: _Trial, index: int, step: _Step, *, is_last: bool, with_trajectories: bool
) -> None:
    """One stage with the state that it ended in and its gate."""
    _note_links(trial, step)
    execution = step.fields.sub("agent_execution")
    error = step_error(step.fields)
    status, detail = _step_status(trial, step, error, is_last=is_last)
    base = trial.states[-1].id
    end, notes = end_state(trial.path, f"S{index}", index, f"{step.prefix}artifacts")
    trial.states.append(end)
    _add_gate(trial, index, step, error)
    usage, unknown = _usage(step.fields.sub("agent_result"))
    started, ended = execution.text("started_at"), execution.text("finished_at")
    stage = Stage(
        index,
        step.name or trial.result.text("task_name"),
        status,
        detail,
        base=base,
        end=end.id,
        started=started,
        ended=ended,
        duration_s=seconds_between(started, ended),
        usage=usage,
        spec_path=_spec(trial, step),
        trajectories=_trajectories(trial, index, step, started) if with_trajectories else (),
        notes=(*notes, *unknown),
    )
    trial.stages.append(stage)


def _note_links(trial: _Trial, step: _Step) -> None:
    """Says which folders of a step are not looked into, since they lie elsewhere."""
    for name in _FOLDERS:
        try:
            inside(trial.path, f"{step.prefix}{name}")
        except BadInputError as error:
            trial.problems.append(Problem(error.path, error.expected))


def _step_status(
    trial: _Trial, step: _Step, error: StepError | None, *, is_last: bool
) -> tuple[Status, str | None]:
    """How a step ended; without an entry in the result only the last one's end can be known."""
    is_over = bool(trial.result.values)
    if step.fields.values:
        has_begun = bool(step.fields.sub("agent_execution").values)
        return step_status(error, has_begun=has_begun, is_over=is_over)
    of_trial = step_error(trial.result)
    if is_last and (of_trial is not None or not is_over):
        return step_status(of_trial, has_begun=True, is_over=is_over)
    return Status.UNKNOWN, f"{RESULT} has no entry for the step" if is_over else f"no {RESULT}"


def _add_gate(trial: _Trial, index: int, step: _Step, error: StepError | None) -> None:
    verifier = Verifier(
        f"{step.prefix}verifier",
        step.fields.sub("verifier_result"),
        step.fields.sub("verifier"),
        error.kind if error is not None and error.is_verifiers else None,
        error.detail if error is not None and error.is_verifiers else None,
        trial.task.min_rewards.get(step.name or ""),
    )
    gate, state = str(index), f"S{index}"
    record, tests = read_gate(trial.path, gate, state, verifier, trial.problems)
    trial.gates[gate, state], trial.tests[gate, state] = record, tests
    trial.read += [trial.path / log for log in record.log_paths]


def _trajectories(
    trial: _Trial, index: int, step: _Step, started: str | None
) -> tuple[TrajectoryRef, ...]:
    refs = find_trajectories(trial.path, f"{step.prefix}agent")
    if index > 1 and trial.config.sub("agent").flag("resume_trajectory"):
        # The agent went on in its session, whose log begins with the steps before.
        return tuple(replace(ref, since=started) for ref in refs)
    return refs


def _spec(trial: _Trial, step: _Step) -> str | None:
    found = trial.task.instruction(step.name)
    if found is None:
        return None
    path, text = found
    name = f"task/{step.prefix}instruction.md"
    trial.texts[name] = text
    trial.read.append(path)
    return name


def _usage(fields: Fields) -> tuple[Usage | None, tuple[str, ...]]:
    """What the step used, and a note where its cost is 0 beside real work."""
    usage = Usage(
        fields.count("n_input_tokens"),
        fields.count("n_cache_tokens"),
        fields.count("n_output_tokens"),
        cost_usd=fields.number("cost_usd"),
    )
    if not (usage.input_tokens or usage.output_tokens or usage.cost_usd):
        return None, ()
    if usage.cost_usd == 0:
        return replace(usage, cost_usd=None), ("cost is reported as 0 beside real work: unknown",)
    return usage, ()


def _add_unstarted(trial: _Trial) -> None:
    """The planned steps that never began."""
    begun = [stage.title for stage in trial.stages]
    totals = [int(match[2]) for match in _STARTING.finditer(trial.log)]
    planned = max([len(trial.task.steps), *totals], default=0)
    if planned <= len(begun):
        return
    detail = _abort(trial)
    for index in range(len(begun) + 1, planned + 1):
        name = trial.task.steps[index - 1] if index <= len(trial.task.steps) else None
        stage = Stage(index, name, Status.NOT_STARTED, detail)
        spec = _spec(trial, _Step(name, trial.result)) if name is not None else None
        trial.stages.append(replace(stage, spec_path=spec))


def _abort(trial: _Trial) -> str | None:
    """Why the trial stopped before its last step, in the words of its log."""
    found = _ABORTED.findall(trial.log)
    return found[-1].strip() if found else None


def _run(trial: _Trial) -> Run:
    result, config = trial.result, trial.config
    info = result.sub("agent_info")
    agent = config.sub("agent")
    name = result.text("trial_name") or config.text("trial_name") or trial.path.name
    task = result.text("task_name") or config.sub("task").text("path") or _SUFFIX.sub("", name)
    suffix = _SUFFIX.search(name)
    status, detail = _run_status(trial)
    return Run(
        run_id=_run_id(trial, task, agent),
        layout=LAYOUT,
        path=str(trial.path),
        chain=Chain(task_id=task),
        agent=info.text("name") or agent.text("name"),
        agent_version=info.text("version"),
        model=info.sub("model_info").text("name") or agent.text("model_name"),
        attempt=suffix[1] if suffix else None,
        harness="harbor",
        status=status,
        status_detail=detail,
        started=result.text("started_at"),
        ended=result.text("finished_at"),
        states=tuple(trial.states),
        stages=tuple(trial.stages),
        gates=tuple(trial.gates.values()),
    )


def _run_id(trial: _Trial, task: str, agent: Fields) -> str:
    own = trial.result.text("id")
    if own is not None:
        return f"{LAYOUT}-{own}"
    files = [CONFIG, *(log for record in trial.gates.values() for log in record.log_paths)]
    return derived_id(
        LAYOUT,
        [task, agent.text("name"), agent.text("model_name")],
        [(name, trial.path / name) for name in files],
    )


def _run_status(trial: _Trial) -> tuple[Status, str | None]:
    if not trial.result.values:
        why = last_words(trial.path, EXCEPTION) or "the trial was killed, or is running"
        return Status.INTERRUPTED, f"no {RESULT}: {why}"
    error = step_error(trial.result)
    if error is not None:
        begun = any(stage.status is not Status.NOT_STARTED for stage in trial.stages)
        return step_status(error, has_begun=begun, is_over=True)
    ended_otherwise = list(_other_ends(trial.stages))
    if (abort := _abort(trial)) is not None:
        return Status.COMPLETED, f"stopped early: {abort}"
    if not trial.result.text("finished_at"):
        return Status.INTERRUPTED, "no time of its end is recorded"
    return Status.COMPLETED, "; ".join(ended_otherwise) or None


def _other_ends(stages: Sequence[Stage]) -> Iterator[str]:
    for stage in stages:
        if stage.status not in (Status.COMPLETED, Status.NOT_STARTED):
            yield f"stage {stage.index} ended as {stage.status.value}"
