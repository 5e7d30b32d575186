"""The skeleton of a SlopCodeBench run: its states, stages, passes and gate results in order.

There is no start state on disk and no chain gate: S0 is an empty tree, marked as inferred, and
the chain gate is null. A snapshot holds files only, so empty folders are not recorded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import exists, is_dir
from arcview.model.problem import Problem
from arcview.model.run import Chain, Pass, Run, Stage, Status
from arcview.model.states import EmptySource, FolderSource, Provenance, State, StateKind
from arcview.readers.fields import Fields, read_bytes
from arcview.readers.inside import inside
from arcview.readers.runs.slop_code_bench_agent import AgentFiles
from arcview.readers.runs.slop_code_bench_gates import EVALUATION, Evaluation, read_evaluation
from arcview.readers.runs.slop_code_bench_sessions import (
    Known,
    Placed,
    place_pass,
    place_stage,
)
from arcview.readers.runs.slop_code_bench_stages import (
    AFTER_SKILL,
    DIFF,
    INFERENCE,
    PROMPT,
    SNAPSHOT,
    Checkpoint,
    pass_prompts,
    pass_usage,
    read_checkpoints,
    stage_status,
    stage_usage,
)

LAYOUT = "slop_code_bench"
PROBLEM = "problem.yaml"
RUN_INFO = "run_info.yaml"
HARNESS = "slop-code-bench"
_PASS_NAME = "refactor"
_UNRECORDED = "unrecorded"
_RUN_STATUS = {
    "completed": (Status.COMPLETED, None),
    "failed": (Status.COMPLETED, "stopped: a gate did not meet the pass policy"),
    "hit_rate_limited": (Status.INTERRUPTED, "stopped at the limit of cost or steps"),
}


@dataclass(slots=True)
class Skeleton:
    """A run's skeleton with the recorded gate runs that its details come from."""

    run: Run
    evaluations: Mapping[tuple[str, str | None], Evaluation]
    agent_files: Mapping[str, AgentFiles]
    """Agent folders, packed or not, by their path in the run."""
    problems: list[Problem]


@dataclass(slots=True)
class _Builder:
    """Collects states, stages and gates while the checkpoints are gone through in order."""

    path: Path
    problems: list[Problem]
    checkpoints: list[Checkpoint]
    summary: Fields | None
    placed: Mapping[int, Placed]
    """Trajectories by stage; empty for a summary."""
    agent: str | None
    states: list[State] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    evaluations: dict[tuple[str, str | None], Evaluation] = field(default_factory=dict)


def read_skeleton(path: Path, *, with_sessions: bool) -> Skeleton:
    """Reads everything but test details, trajectories and file contents.

    Args:
        path: The run folder.
        with_sessions: Also find out which session belongs to which stage or pass; a summary does
            without.

    Raises:
        BadInputError: problem.yaml is not what the layout promises.
    """
    problems: list[Problem] = []
    problem = _problem(path, problems)
    task = problem.need_text("name")
    run_info = _run_info(path, problems)
    summary = None if run_info is None else run_info.sub("summary")
    ckpt_states = None if summary is None else summary.sub("checkpoints")
    checkpoints = read_checkpoints(path, problem, ckpt_states, problems)
    placed = _placed(path, checkpoints, run_info) if with_sessions else {}
    agent = _client(checkpoints) if run_info is None else run_info.text("agent_type")
    builder = _Builder(path, problems, checkpoints, summary, placed, agent)
    _build(builder)
    run = _run(builder, task, run_info)
    agents = [files for c in checkpoints for files in (c.agent, c.pass_agent) if files is not None]
    by_path = {files.shown: files for files in agents}
    return Skeleton(run, builder.evaluations, by_path, problems)


def _problem(path: Path, problems: list[Problem]) -> Fields:
    """problem.yaml; without it what its absence leaves: the name that a result or folder has."""
    if exists(path / PROBLEM) or next(path.glob("checkpoint_*/"), None) is None:
        return Fields.yaml_file(inside(path, PROBLEM), PROBLEM, problems)
    problems.append(Problem(PROBLEM, "missing: which stages the task has is not known"))
    names: list[str | None] = []
    for file in sorted(path.glob(f"checkpoint_*/{EVALUATION}")):
        with suppress(BadInputError):
            shown = file.relative_to(path).as_posix()
            names.append(Fields.json_file(inside(path, shown), shown, []).text("problem_name"))
    name = next((name for name in names if name), path.absolute().name)
    return Fields(PROBLEM, {"name": name}, problems)


def _run_info(path: Path, problems: list[Problem]) -> Fields | None:
    try:
        return Fields.yaml_file(inside(path, RUN_INFO), RUN_INFO, problems)
    except BadInputError as error:
        what = (
            error.expected if exists(path / RUN_INFO) else "missing: the run did not reach its end"
        )
        lost = "agent and model come from the first line of the stream, totals are not recorded"
        problems.append(Problem(RUN_INFO, f"{what}; {lost}"))
        return None


def _placed(
    path: Path, checkpoints: list[Checkpoint], run_info: Fields | None
) -> dict[int, Placed]:
    silent = {c.index for c in checkpoints if c.after_skill is not None and c.pass_agent is None}
    known = Known(
        prompts={c.index: c.prompt for c in checkpoints if c.prompt},
        pass_prompts=pass_prompts(path, checkpoints, run_info),
        silent_passes=frozenset(silent),
    )
    return {
        checkpoint.index: place_stage(checkpoint.agent, checkpoint.ends, checkpoint.index, known)
        for checkpoint in checkpoints
        if checkpoint.agent is not None
    }


def _build(builder: _Builder) -> None:
    builder.states.append(
        State("S0", 0, StateKind.START, Provenance.INFERRED, source=EmptySource())
    )
    for checkpoint, following in zip(
        builder.checkpoints, [*builder.checkpoints[1:], None], strict=True
    ):
        stage = _stage(builder, checkpoint)
        passes = _passes(builder, checkpoint, following)
        notes = [*stage.notes, *_pass_notes(checkpoint, passes)]
        builder.stages.append(replace(stage, passes=passes, notes=tuple(notes)))


def _stage(builder: _Builder, checkpoint: Checkpoint) -> Stage:
    """One stage; adds the state it ended in and its gate."""
    status, detail = stage_status(checkpoint, builder.summary)
    stage = Stage(checkpoint.index, _title(builder, checkpoint), status, detail)
    if checkpoint.folder is None:
        return stage
    base = builder.states[-1].id
    end = _end_state(builder, checkpoint)
    _gate(builder, checkpoint, checkpoint.name, end)
    usage, steps, notes = stage_usage(checkpoint, builder.agent)
    result = checkpoint.inference
    placed = builder.placed.get(checkpoint.index, Placed())
    return replace(
        stage,
        base=base,
        end=end,
        started=None if result is None else result.text("started"),
        ended=None if result is None else result.text("completed"),
        duration_s=None if result is None else result.number("elapsed"),
        usage=usage,
        reported_steps=steps,
        trajectories=placed.stage,
        spec_path=None if checkpoint.prompt is None else f"{checkpoint.name}/{PROMPT}",
        notes=notes,
    )


def _title(builder: _Builder, checkpoint: Checkpoint) -> str | None:
    """The first heading of the specification; one that other stages have too tells nothing."""
    same = [other for other in builder.checkpoints if other.title == checkpoint.title]
    return checkpoint.title if len(same) == 1 else None


def _end_state(builder: _Builder, checkpoint: Checkpoint) -> str | None:
    """Adds the state at the end of a stage; null when the stage never came to an end."""
    folder = checkpoint.folder
    if folder is None:
        return None
    traces = (SNAPSHOT, INFERENCE, EVALUATION)
    if not any(exists(folder / name) for name in traces) and checkpoint.to_checksum is None:
        return None
    state_id = f"S{checkpoint.index}"
    state = _snapshot(builder.path, state_id, checkpoint, StateKind.STAGE_END, checkpoint.name)
    is_same = checkpoint.from_checksum is not None
    is_same = is_same and checkpoint.from_checksum == checkpoint.to_checksum
    builder.states.append(replace(state, unchanged=True) if is_same else state)
    return state.id


def _snapshot(
    root: Path, state_id: str, checkpoint: Checkpoint, kind: StateKind, shown: str
) -> State:
    """A state from a snapshot folder, or why its files are not there."""
    state = State(state_id, checkpoint.index, kind, Provenance.RECORDED)
    name = f"{shown}/{SNAPSHOT}"
    try:
        snapshot = inside(root, name)
    except BadInputError as error:
        missing = f"{name}: {error.expected}"
    else:
        if is_dir(snapshot):
            return replace(state, source=FolderSource(str(snapshot.absolute())))
        missing = f"{name} is missing{_what_diff_says(root, shown)}"
        if exists(snapshot):
            missing = f"{name}: expected a folder, found a file"
    return replace(state, provenance=Provenance.UNKNOWN, missing=missing)


def _what_diff_says(root: Path, shown: str) -> str:
    """What diff.json tells about a state whose snapshot is missing."""
    name = f"{shown}/{DIFF}"
    try:
        files = Fields.json_file(inside(root, name), name, []).values.get("file_diffs")
    except BadInputError:
        return ""
    if not isinstance(files, dict):
        return ""
    if files:
        return f"; diff.json lists {len(files)} changed files"
    return "; diff.json lists no changed text file"


def _passes(
    builder: _Builder, checkpoint: Checkpoint, following: Checkpoint | None
) -> tuple[Pass, ...]:
    """What ran after a stage; adds the state it ended in and its gate."""
    index = checkpoint.index
    refs = [ref for p in builder.placed.values() for after, ref in p.passes if after == index]
    if checkpoint.pass_agent is not None and builder.placed:
        refs = [*place_pass(checkpoint.pass_agent, checkpoint.pass_ends), *refs]
    state_id = f"S{index}.{_PASS_NAME}"
    if checkpoint.after_skill is not None:
        shown = f"{checkpoint.name}/{AFTER_SKILL}"
        builder.states.append(
            _snapshot(builder.path, state_id, checkpoint, StateKind.BETWEEN, shown)
        )
        _gate(builder, checkpoint, shown, state_id)
    elif refs:
        missing = f"a session of a pass is there, but no {checkpoint.name}/{AFTER_SKILL}"
        builder.states.append(_lost(state_id, index, missing))
    else:
        _add_unrecorded(builder, checkpoint, following)
        return ()
    return (
        Pass(
            state_id,
            _PASS_NAME,
            tuple(refs),
            pass_usage(builder.path, checkpoint, builder.agent, builder.problems),
        ),
    )


def _lost(state_id: str, stage: int, missing: str) -> State:
    return State(state_id, stage, StateKind.BETWEEN, Provenance.UNKNOWN, missing=missing)


def _add_unrecorded(
    builder: _Builder, checkpoint: Checkpoint, following: Checkpoint | None
) -> None:
    """Adds a state without files when the next stage began with another snapshot."""
    ended = checkpoint.to_checksum
    began = None if following is None else following.from_checksum
    if following is None or ended is None or began is None or ended == began:
        return
    missing = (
        f"{following.name}/diff.json starts from another snapshot than {checkpoint.name} ended "
        "with: something ran in between, or the run was resumed"
    )
    state_id = f"S{checkpoint.index}.{_UNRECORDED}"
    builder.states.append(_lost(state_id, checkpoint.index, missing))


def _gate(builder: _Builder, checkpoint: Checkpoint, shown: str, state: str | None) -> None:
    gate = str(checkpoint.index)
    evaluation = read_evaluation(
        builder.path,
        shown,
        gate=gate,
        state=state,
        checkpoint=checkpoint.name,
        problems=builder.problems,
    )
    builder.evaluations[gate, state] = evaluation


def _pass_notes(checkpoint: Checkpoint, passes: Sequence[Pass]) -> list[str]:
    """Where a pass comes from and how it ended."""
    notes = [
        f"{run.state}: the harness's post_checkpoint_skill ran after this stage ({AFTER_SKILL})"
        for run in passes
    ]
    if checkpoint.pass_ends.failed:
        told = checkpoint.pass_ends.message or "no message"
        notes.append(f"the pass after this stage ended in an error: {told}")
    if passes and passes[0].usage is None:
        notes.append("cost and tokens of the pass after this stage are not recorded")
    return notes


def _client(checkpoints: list[Checkpoint]) -> str | None:
    """The one agent whose stream names its session in its first line."""
    return "claude_code" if any(c.ends.session for c in checkpoints) else None


def _run(builder: _Builder, task: str, run_info: Fields | None) -> Run:
    summary = builder.summary
    status, detail = _run_status(builder, summary)
    ends = next((c.ends for c in builder.checkpoints if c.ends.session), None)
    agent, version, model = builder.agent, None, None
    if run_info is not None:
        version, model = run_info.text("agent_version"), run_info.text("model_name")
    elif ends is not None:
        version, model = ends.version, ends.model
    begun = [stage.started for stage in builder.stages if stage.started]
    return Run(
        run_id=_run_id(builder, task, agent, version, model),
        layout=LAYOUT,
        path=str(builder.path),
        chain=Chain(
            task_id=task,
            image_ref=None if run_info is None else run_info.text("image"),
            workdir=None if ends is None else ends.cwd,
        ),
        agent=agent,
        agent_version=version,
        model=model,
        harness=HARNESS,
        status=status,
        status_detail=detail,
        started=(None if summary is None else summary.text("started")) or min(begun, default=None),
        ended=None if summary is None else summary.text("ended"),
        states=tuple(builder.states),
        stages=tuple(builder.stages),
        gates=tuple(evaluation.record for evaluation in builder.evaluations.values()),
        problems=tuple(dict.fromkeys(builder.problems)),
    )


def _run_status(builder: _Builder, summary: Fields | None) -> tuple[Status, str | None]:
    if summary is None:
        return Status.INTERRUPTED, f"no {RUN_INFO}: the harness writes it at the end"
    word = summary.text("state")
    if word in _RUN_STATUS:
        return _RUN_STATUS[word]
    failed = [
        stage
        for stage in builder.stages
        if stage.status not in (Status.COMPLETED, Status.SKIPPED, Status.NOT_STARTED)
    ]
    if word == "error" and failed:
        return failed[0].status, f"stage {failed[0].index}: {failed[0].status_detail}"
    if word == "error":
        return Status.INFRASTRUCTURE_ERROR, summary.text("error_type")
    return (Status.UNKNOWN if word is None else Status.INTERRUPTED), word


def _run_id(builder: _Builder, task: str, *who: str | None) -> str:
    """An id that depends on content alone: who ran what, what they were told, what came out."""
    digest = hashlib.sha256(json.dumps([LAYOUT, task, *who]).encode())
    for checkpoint in builder.checkpoints:
        for name in (PROMPT, EVALUATION, INFERENCE, f"{AFTER_SKILL}/{EVALUATION}"):
            relative = f"{checkpoint.name}/{name}"
            try:
                content = read_bytes(inside(builder.path, relative), relative)
            except BadInputError:
                continue
            digest.update(f"\0{relative}\0".encode("utf-8", "surrogateescape"))
            digest.update(content)
    return f"scb-{digest.hexdigest()[:16]}"
