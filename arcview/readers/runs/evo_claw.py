"""Reads an EvoClaw (SWE-Milestone) trial: milestones as stages in the order of their submission.

Written from what `harness/e2e/run_e2e.py`, `orchestrator.py` and `evaluator.py` write; no recorded
trial was at hand. Snapshots hold the source folders only. Must not import pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import exists, is_file
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest
from arcview.model.run import Chain, Pass, PathRules, Run, Stage, Status
from arcview.model.states import ArchiveSource, Provenance, State, StateKind
from arcview.model.trajectory_refs import TrajectoryRef, Usage
from arcview.readers.fields import Fields
from arcview.readers.inside import inside
from arcview.readers.registry import Detection
from arcview.readers.runs.agent_logs import find_trajectories
from arcview.readers.runs.assembled import (
    AssembledRun,
    Assembly,
    GateKey,
    derived_id,
    optional_file,
)
from arcview.readers.runs.evo_claw_milestones import (
    EVALUATION,
    Milestone,
    read_gate,
    read_milestones,
)
from arcview.readers.times import seconds_between

LAYOUT = "evo_claw"
# What the client sent, counted in three parts.
_SENT = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
METADATA = "trial_metadata.json"
SUMMARY = f"{EVALUATION}/summary.json"
STATS = "agent_stats.json"
_SNAPSHOT = "source_snapshot.tar"
_KEYS = frozenset({"trial_name", "repo_name"})


class EvoClawReader:
    """Reads `e2e_trial/<trial>/` folders."""

    id = LAYOUT
    title = "EvoClaw / SWE-Milestone trial"
    sample = "no recorded trial was at hand: written from what its harness writes"

    def detect(self, path: Path) -> Detection | None:
        """Recognises the metadata of a trial beside its evaluation or its logs."""
        beside = [name for name in (EVALUATION, "log", "e2e_config.yaml") if exists(path / name)]
        if not beside:
            return None
        try:
            fields = Fields.json_file(inside(path, METADATA), METADATA, [])
        except BadInputError:
            if not is_file(path / METADATA) or beside[0] != EVALUATION:
                return None
            return Detection(self.id, f"{METADATA}, which is damaged, beside {EVALUATION}")
        if not fields.values.keys() & _KEYS:
            return None
        return Detection(self.id, f"{METADATA} beside {beside[0]}")

    def summarise(self, path: Path) -> Run:
        """The skeleton; trajectories are not looked for.

        Raises:
            BadInputError: the metadata cannot be read.
        """
        return AssembledRun(_read(path, with_trajectories=False)).run

    def read(self, path: Path) -> AssembledRun:
        """Opens the trial.

        Raises:
            BadInputError: as for `summarise`.
        """
        return AssembledRun(_read(path, with_trajectories=True))


@dataclass(slots=True)
class _Trial:
    path: Path
    metadata: Fields
    summary: Fields
    problems: list[Problem]
    states: list[State] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    gates: dict[GateKey, GateRecord] = field(default_factory=dict)
    tests: dict[GateKey, tuple[GateTest, ...]] = field(default_factory=dict)
    read: list[Path] = field(default_factory=list)


def _read(path: Path, *, with_trajectories: bool) -> Assembly:
    problems: list[Problem] = []
    if not exists(path / METADATA):
        raise BadInputError(METADATA, "the file is missing")
    metadata = _optional(path, METADATA, problems)
    summary = _optional(path, SUMMARY, problems)
    trial = _Trial(path, metadata, summary, problems)
    trial.read += [path, path / METADATA, path / SUMMARY, path / STATS, path / EVALUATION]
    start = "the workspace before the first milestone is not kept (--base names it)"
    trial.states.append(State("S0", 0, StateKind.START, Provenance.UNKNOWN, missing=start))
    milestones = read_milestones(path, summary, problems)
    for index, milestone in enumerate(milestones, start=1):
        _add_stage(trial, index, milestone)
    if with_trajectories:
        _add_trajectories(trial, milestones)
    return Assembly(path.absolute(), _run(trial), trial.tests, read=trial.read, problems=problems)


def _optional(path: Path, name: str, problems: list[Problem]) -> Fields:
    if not exists(path / name):
        return Fields(name, {}, problems)
    try:
        return Fields.json_file(inside(path, name), name, problems)
    except BadInputError as error:
        problems.append(Problem(name, f"{error.expected}; what it says is unknown"))
        return Fields(name, {}, problems)


def _add_stage(trial: _Trial, index: int, milestone: Milestone) -> None:
    """A milestone with the state of its submission, its gate, and later submissions of it."""
    srs = f"e2e_workspace/srs/{milestone.id}_SRS.md"
    spec = optional_file(trial.path, srs, trial.problems)
    stage = Stage(
        index,
        milestone.id,
        milestone.status,
        milestone.detail,
        spec_path=srs if spec is not None else None,
    )
    if milestone.status not in (Status.NOT_STARTED, Status.SKIPPED):
        base, end = trial.states[-1].id, f"S{index}"
        notes = _add_state(trial, end, index, milestone.id, StateKind.STAGE_END)
        _add_gate(trial, index, end, milestone.id, milestone.results.get(milestone.id))
        passes = tuple(_add_retry(trial, index, key, milestone) for key in milestone.retries)
        stage = replace(
            stage,
            base=base,
            end=end,
            started=milestone.since,
            ended=milestone.until,
            duration_s=seconds_between(milestone.since, milestone.until),
            passes=passes,
            notes=notes,
        )
    trial.stages.append(stage)


def _add_retry(trial: _Trial, index: int, key: str, milestone: Milestone) -> Pass:
    """A milestone that was submitted again later: a state of its own, judged by the same gate."""
    name = key.removeprefix(f"{milestone.id}-")
    state = f"S{index}.{name}"
    _add_state(trial, state, index, key, StateKind.BETWEEN)
    _add_gate(trial, index, state, key, milestone.results.get(key))
    return Pass(state, name)


def _add_state(
    trial: _Trial, state_id: str, index: int, key: str, kind: StateKind
) -> tuple[str, ...]:
    name = f"{EVALUATION}/{key}/{_SNAPSHOT}"
    if optional_file(trial.path, name, trial.problems) is None:
        missing = f"there is no {name}"
        trial.states.append(State(state_id, index, kind, Provenance.UNKNOWN, missing=missing))
        return ()
    trial.states.append(State(state_id, index, kind, Provenance.RECORDED, ArchiveSource(name)))
    return (f"{state_id} holds the source folders of the submission, without tests",)


def _add_gate(trial: _Trial, index: int, state: str, key: str, entry: Fields | None) -> None:
    record, tests = read_gate(trial.path, str(index), state, key, entry, trial.problems)
    trial.gates[record.gate, state], trial.tests[record.gate, state] = record, tests
    trial.read += [trial.path / log for log in record.log_paths]


def _add_trajectories(trial: _Trial, milestones: tuple[Milestone, ...]) -> None:
    """One session covers all milestones; the times of their tags cut it into stages."""
    refs = find_trajectories(trial.path, "log")
    if not refs:
        return
    cuts: Mapping[int, tuple[TrajectoryRef, ...]]
    if all(m.until for m in milestones if m.status is Status.COMPLETED):
        cuts = {
            index: tuple(replace(ref, since=m.since, until=m.until) for ref in refs)
            for index, m in enumerate(milestones, start=1)
            if m.until
        }
        note = None
    else:
        cuts = {1: refs}
        note = "the whole session is shown here: when each milestone was tagged is not recorded"
    trial.stages = [
        replace(
            stage,
            trajectories=cuts.get(stage.index, ()),
            notes=(*stage.notes, *([note] if note and stage.index == 1 else [])),
        )
        for stage in trial.stages
    ]


def _run(trial: _Trial) -> Run:
    metadata = trial.metadata
    name = metadata.text("trial_name") or trial.path.absolute().name
    repository = metadata.text("repo_name") or "unknown"
    status, detail = _run_status(trial)
    _add_usage(trial)
    names = [METADATA, SUMMARY]
    return Run(
        run_id=derived_id(
            LAYOUT,
            [name, repository, metadata.text("agent_name"), metadata.text("model")],
            [(each, trial.path / each) for each in names],
        ),
        layout=LAYOUT,
        path=str(trial.path),
        chain=Chain(
            task_id=repository,
            repository=repository,
            image_ref=metadata.text("image"),
            workdir="/testbed",
            path_rules=PathRules(test=tuple(map(_glob, metadata.texts("test_dirs")))),
        ),
        agent=metadata.text("agent_name"),
        model=metadata.text("model"),
        attempt=name,
        harness="evo-claw",
        status=status,
        status_detail=detail,
        started=metadata.text("start_time"),
        states=tuple(trial.states),
        stages=tuple(trial.stages),
        gates=tuple(trial.gates.values()),
    )


def _run_status(trial: _Trial) -> tuple[Status, str | None]:
    if not trial.summary.values:
        return Status.INTERRUPTED, f"no {SUMMARY}"
    open_ones = [s.title for s in trial.stages if s.status is Status.NOT_STARTED]
    if open_ones:
        return Status.INTERRUPTED, f"{len(open_ones)} milestones were never submitted"
    return Status.COMPLETED, None


def _add_usage(trial: _Trial) -> None:
    """What the whole session used, which cannot be told apart by milestone."""
    usage = _usage(_optional(trial.path, STATS, trial.problems))
    if usage is None or not trial.stages:
        return
    first = trial.stages[0]
    if len(trial.stages) == 1:
        trial.stages[0] = replace(first, usage=usage)
        return
    cost = f"${usage.cost_usd:.2f}" if usage.cost_usd is not None else "cost unknown"
    note = f"the whole session: {cost}, {usage.output_tokens or 0} tokens out; not by milestone"
    trial.stages[0] = replace(first, notes=(*first.notes, note))


def _usage(stats: Fields) -> Usage | None:
    totals = {"outputTokens": 0, **dict.fromkeys(_SENT, 0)}
    for _, used in stats.sub("modelUsage").subs():
        for name in totals:
            totals[name] += used.count(name) or 0
    cost = stats.sub("summary").number("total_cost_usd")
    sent = sum(totals[name] for name in _SENT)
    if not (sent or totals["outputTokens"] or cost):
        return None
    return Usage(
        sent or None,
        totals["cacheReadInputTokens"] or None,
        totals["outputTokens"] or None,
        cost_usd=cost or None,
    )


def _glob(folder: str) -> str:
    """A folder of the metadata as a glob for all that is in it."""
    return folder if "*" in folder else f"{folder.rstrip('/')}/**"
