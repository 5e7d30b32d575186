"""A trajectory of any format → one document of the Agent Trajectory Interchange Format (ATIF).

Valid against the models of Harbor, which defines the format; what our own reader makes of the
document equals what went in. Knows no terminal and writes no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from arcview.errors import ArcviewError
from arcview.model.run import Run
from arcview.model.trajectory import Role, Step, Trajectory
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.records import text_or_none
from arcview.readers.trajectories.usages import total_of
from arcview.session.export_atif_parts import (
    MARKS,
    Json,
    clean,
    image_files,
    metrics_of,
    plain,
    step_of,
)

__all__ = ["VERSION", "export_atif", "image_files"]

VERSION = "ATIF-v1.7"
"""The first that embeds sub-agents and has `extra` everywhere; 1.8 adds sounds only."""
_UNKNOWN = "unknown"


@dataclass(slots=True)
class _Document:
    """The main agent, or one sub-agent, with the sub-agents that it started itself."""

    session: str | None
    model: str | None
    steps: list[Json] = field(default_factory=list)
    calls: dict[str, Json] = field(default_factory=dict)
    """By key: the step that holds the call."""
    inner: dict[str, _Document] = field(default_factory=dict)
    """By the id under which a result refers to it."""

    def add(self, step: Step, *, inline: bool = False) -> None:
        """Takes a step."""
        written = step_of(step, self.session, self.model, inline=inline)
        record: Json = {"step_id": len(self.steps) + 1, **written}
        self.steps.append(record)
        if record["source"] == "agent":
            self.calls |= dict.fromkeys((call.key for call in step.calls), record)


def export_atif(trajectory: Trajectory, run: Run | None = None, stage: int | None = None) -> Json:
    """Writes a trajectory as an ATIF document.

    Images are named as files beside the document: `image_files` gives them.

    Args:
        trajectory: What the agent did in one stage, or in a pass after it.
        run: The run it belongs to, for names that the trajectory itself does not tell.
        stage: Of the run; named in the document.

    Returns:
        A document that can be dumped as JSON as it is.

    Raises:
        ArcviewError: there are no steps; the format has no document without any.
    """
    if not trajectory.steps:
        raise ArcviewError("nothing to export: the trajectory holds no steps")
    session = next((s.session for s in trajectory.steps if s.session), None)
    agent = _agent(trajectory, run)
    main = _Document(session and clean(session), text_or_none(agent.get("model_name")))
    _distribute(trajectory.steps, main)
    document = _written(main, agent)
    document["final_metrics"] = _totals(trajectory, len(main.steps))
    document["notes"] = f"Exported by arcview from a trajectory in the format {trajectory.format}."
    document["extra"] = {MARKS: _root_marks(trajectory, run, stage)}
    return document


def _distribute(steps: Sequence[Step], main: _Document) -> None:
    """Gives each step to the document of who speaks in it."""
    started: dict[tuple[str, str], _Document] = {}
    holders: dict[str, _Document] = {}
    for step in steps:
        document = main
        if step.agent is not None:
            call = step.parent_call or ""
            holder = holders.get(call)
            if holder is None:
                main.add(step, inline=True)  # nobody is known to have started it
                continue
            if (step.agent, call) not in started:
                started[step.agent, call] = _start(holder, call, step.agent, len(started) + 1)
            document = started[step.agent, call]
        document.add(step)
        holders |= dict.fromkeys(document.calls.keys() & {c.key for c in step.calls}, document)


def _start(holder: _Document, call: str, agent: str, number: int) -> _Document:
    """The document of a sub-agent; the result of the call that started it refers to it."""
    name = f"{clean(agent)}-{number}"
    document = holder.inner[name] = _Document(clean(agent), holder.model)
    record = holder.calls[call]
    results = [
        mapping(result) for result in listed(mapping(record.get("observation")).get("results"))
    ]
    place = next((n for n, r in enumerate(results) if r.get("source_call_id") == clean(call)), None)
    if place is None:
        place = len(results)
        results.append({"source_call_id": clean(call), "extra": {MARKS: {"no_result": True}}})
    references = listed(results[place].get("subagent_trajectory_ref"))
    reference = {"trajectory_id": name, "session_id": document.session}
    results[place] = {**results[place], "subagent_trajectory_ref": [*references, reference]}
    record["observation"] = {"results": results}
    return document


def _written(document: _Document, agent: Json, trajectory_id: str | None = None) -> Json:
    found: Json = {"schema_version": VERSION}
    if document.session is not None:
        found["session_id"] = document.session
    if trajectory_id is not None:
        found["trajectory_id"] = trajectory_id
    found |= {"agent": agent, "steps": document.steps}
    if document.inner:
        inner = document.inner.items()
        found["subagent_trajectories"] = [_written(other, agent, name) for name, other in inner]
    return found


def _agent(trajectory: Trajectory, run: Run | None) -> Json:
    steps = (s.model for s in trajectory.steps if s.model and s.role is Role.ASSISTANT)
    model = trajectory.model or (run.model if run else None) or next(steps, None)
    name = trajectory.agent or (run.agent if run else None)
    version = trajectory.agent_version or (run.agent_version if run else None)
    found: Json = {"name": clean(name or _UNKNOWN), "version": clean(version or _UNKNOWN)}
    return found | ({"model_name": clean(model)} if model else {})


def _totals(trajectory: Trajectory, steps: int) -> Json:
    """The totals, with the number of steps that the document itself holds."""
    return {**(metrics_of(total_of(trajectory), "total_") or {}), "total_steps": steps}


def _root_marks(trajectory: Trajectory, run: Run | None, stage: int | None) -> Json:
    """What the format has no field for, about the whole."""
    marks: Json = {
        "format": trajectory.format,
        "usage": metrics_of(trajectory.usage, "total_"),
        "model": trajectory.model,
        "agent": trajectory.agent,
        "agent_version": trajectory.agent_version,
        "exit_status": trajectory.exit_status,
        "patch": trajectory.patch,
        "sessions": [
            {"id": s.id, "role": s.role.value, "steps": s.steps, "note": s.note}
            for s in trajectory.sessions
        ],
        "unknown_records": trajectory.unknown_records,
        "problems": [[problem.where, problem.what] for problem in trajectory.problems],
        "run": None if run is None else {"run_id": run.run_id, "task_id": run.chain.task_id},
        "stage": stage,
        "sessionless": True if all(s.session is None for s in trajectory.steps) else None,
    }
    return {key: plain(value) for key, value in marks.items() if value is not None}
