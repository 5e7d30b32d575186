"""The pydantic model of run.json: who ran what, and the states and stages of the run."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from arcview.schema.base import (
    Model,
    ProvenanceWord,
    Seconds,
    StageIndex,
    StateId,
    StatusWord,
    Timestamp,
    TreeId,
    Usage,
)


class AgentInfo(Model):
    """The agent that ran."""

    name: str | None = None
    """`opus`, `codex`, `scripted-demo` …"""
    version: str | None = None


class HarnessInfo(Model):
    """The program that drove the agent and recorded the run."""

    name: str | None = None
    version: str | None = None


class Delegation(Model):
    """How much the user does between the stages."""

    declared: Literal["L1", "L2", "L3", "L4"] | None = None
    """L4: the user gives only the next specification and never reports an earlier failure."""


class StateEntry(Model):
    """One workspace state, in the order in which they came to be."""

    id: StateId
    """`S0` is the start, `S<k>` the end of stage k, `S<k>.<name>` what `<name>` made of it."""
    stage: int | None = Field(default=None, ge=0)
    """The stage it ends or, between stages, follows; 0 for the start."""
    kind: Literal["start", "stage_end", "between"] | None = None
    """Where it is left out, the id says it."""
    provenance: ProvenanceWord = "recorded"
    """Whether the harness recorded it as this state or somebody inferred that it is."""
    tree: TreeId | None = None
    """Git tree id of its files."""
    unchanged: bool | None = None
    """True where the run says that it equals the state before it; absence says nothing."""
    usage: Usage | None = None
    """What making a between-state used; shown apart from the stages."""
    missing: str | None = None
    """Why its files are not in the run folder, where whoever wrote it knows that."""


class TrajectoryEntry(Model):
    """One trajectory file of a stage."""

    path: str = Field(min_length=1)
    """Relative to the run folder."""
    format: str | None = None
    """Id of its format (`atif`, `claude_code` …); recognised by content where it is left out."""
    role: Literal["main", "retry", "between", "subagent"] = "main"
    """`between`: of what ran after this stage and before the next."""
    session: str | None = None
    """The agent's own id of the session."""
    since: Timestamp | None = None
    """Only what was recorded from this time on belongs to the stage."""
    until: Timestamp | None = None
    """Only what was recorded before this time belongs to the stage."""
    turns: tuple[StageIndex, StageIndex] | None = Field(default=None, strict=False)
    """Only these user turns of the file belong to the stage: the first and the last, 1-based.

    One session may cover several stages: each names its part of the same file.
    """


class StageEntry(Model):
    """One stage as this run went through it."""

    index: StageIndex
    """1-based position in the chain."""
    status: StatusWord | None = None
    """How the stage ended; says nothing about its gate."""
    status_detail: str | None = None
    """The harness's own words."""
    base: StateId | None = None
    """The state it started from; the last state before its end where it is left out."""
    end: StateId | None = None
    """The state it ended in; `S<index>` where it is left out and there is such a state."""
    sessions: list[str] | None = None
    """Ids of the agent's sessions in this stage."""
    started: Timestamp | None = None
    ended: Timestamp | None = None
    duration_s: Seconds | None = None
    """As the harness measured it; the time between `started` and `ended` where it is left out."""
    usage: Usage | None = None
    notes: list[str] | None = None
    """Facts worth showing beside the stage."""
    trajectories: list[TrajectoryEntry] | None = None
    """Where it is left out, `stages/<index>/trajectory*` are looked at."""


class OriginProblem(Model):
    """Something that was wrong with what a run was imported from."""

    where: str
    what: str


class Origin(Model):
    """Where an imported run comes from."""

    layout: str | None = None
    """Id of the reader that read it."""
    arcview_version: str | None = None
    problems: list[OriginProblem] | None = None
    """What was wrong with its files; shown, and no fault of this folder."""


class RunFile(Model):
    """run.json: one agent's completed or interrupted attempt at one chain.

    Only `schema` and one stage are required; what is missing switches off what needs it.
    """

    schema_: Literal["arcview/run/1"] = Field(alias="schema")
    """The version of this format."""
    run_id: str | None = Field(default=None, min_length=1)
    """Unique among all runs; annotations and reruns are kept under it."""
    agent: AgentInfo | None = None
    model: str | None = None
    """The language model, as its provider names it."""
    task_id: str | None = None
    """Id of the chain; the same in chain.json."""
    attempt: int | str | None = None
    """Number or name of this attempt of the agent at the task."""
    chain: str | None = None
    """Folder of the task, relative to the run folder (`chain` where it is left out).

    The only path that may leave the run folder.
    """
    delegation: Delegation | None = None
    started: Timestamp | None = None
    ended: Timestamp | None = None
    harness: HarnessInfo | None = None
    status: StatusWord | None = None
    """How the run ended; says nothing about its gates."""
    status_detail: str | None = None
    """The harness's own words."""
    states: list[StateEntry] | None = None
    """In order; inferred from the workspaces that are there where it is left out."""
    stages: list[StageEntry] = Field(min_length=1)
    """In order. Stages that the chain declares and that are not here count as not started."""
    origin: Origin | None = None
    """Set where `arcview import` made the folder."""
