"""One agent's attempt at one chain: who, what, the stages, the states, the recorded gates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from arcview.model.problem import Problem
from arcview.model.results import GateRecord, OverlayFile
from arcview.model.states import State, StateKind
from arcview.model.trajectory_refs import TrajectoryRef, Usage


class Status(StrEnum):
    """How a stage or a run ended; says nothing about its gate."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    AGENT_TIMEOUT = "agent_timeout"
    AGENT_ERROR = "agent_error"
    """The agent or its provider failed: it may never have run."""
    INFRASTRUCTURE_ERROR = "infrastructure_error"
    SKIPPED = "skipped"
    NOT_STARTED = "not_started"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PathRules:
    """Globs that decide the class of a path before the built-in rules do."""

    source: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    vendored: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """The task: what is common to every run of it."""

    task_id: str
    title: str | None = None
    repository: str | None = None
    languages: tuple[str, ...] = ()
    image_ref: str | None = None
    image_digest: str | None = None
    workdir: str | None = None
    """Absolute path of the workspace inside the container."""
    path_rules: PathRules = PathRules()
    has_chain_gate: bool = False
    """False where the benchmark has no chain gate at all."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What something other than the agent's stage did between two stages."""

    state: str
    """Id of the between-state it ends in."""
    name: str
    """What made it: `refactor`, `reset` …"""
    trajectories: tuple[TrajectoryRef, ...] = ()
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the chain as this run went through it."""

    index: int
    """1-based."""
    title: str | None
    status: Status
    status_detail: str | None = None
    base: str | None = None
    """Id of the state it started from; null where that is not recorded."""
    end: str | None = None
    """Id of the state it ended in; null where there is none."""
    started: str | None = None
    ended: str | None = None
    duration_s: float | None = None
    usage: Usage | None = None
    reported_steps: int | None = None
    """Steps as the harness counted them; the trajectory's own count is shown."""
    trajectories: tuple[TrajectoryRef, ...] = ()
    spec_path: str | None = None
    """What the agent was told, relative to the run folder (or to the chain, for native runs)."""
    contract_path: str | None = None
    passes: tuple[Pass, ...] = ()
    """What ran after this stage and before the next."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """The skeleton of a run: everything but test details, trajectories and file contents."""

    run_id: str
    layout: str
    """Id of the reader that recognised it: `native`, `slop_code_bench` …"""
    path: str
    """The run folder, as given."""
    chain: Chain
    agent: str | None = None
    agent_version: str | None = None
    model: str | None = None
    attempt: str | None = None
    delegation: str | None = None
    """Declared delegation level, `L1` … `L4`."""
    harness: str | None = None
    status: Status = Status.UNKNOWN
    status_detail: str | None = None
    started: str | None = None
    ended: str | None = None
    states: tuple[State, ...] = ()
    """In order; reference states come after the others."""
    stages: tuple[Stage, ...] = ()
    gates: tuple[GateRecord, ...] = ()
    """Every recorded gate run, stage gates, gates of between-states and the chain gate."""
    problems: tuple[Problem, ...] = ()
    is_glanced: bool = False
    """Only the ends of a long session were looked at: its stages, times and totals are not known
    before all of its steps are read."""

    def state(self, state_id: str | None) -> State | None:
        """The state with that id, or null."""
        return next((state for state in self.states if state.id == state_id), None)

    def stage(self, index: int) -> Stage | None:
        """The stage with that 1-based index, or null."""
        return next((stage for stage in self.stages if stage.index == index), None)

    def gate(self, gate: str, state: str | None) -> GateRecord | None:
        """What was recorded of that gate on that state, or null."""
        return next((g for g in self.gates if g.gate == gate and g.state == state), None)

    def overlay(self, gate: str) -> tuple[OverlayFile, ...]:
        """The files that a gate lays over whatever state it runs on; empty also where not known."""
        return next((found.overlay for found in self.gates if found.gate == gate), ())

    def stage_gate(self, index: int) -> GateRecord | None:
        """The gate of that stage on the state the stage ended in."""
        stage = self.stage(index)
        return None if stage is None else self.gate(str(index), stage.end)

    def chain_gate(self) -> GateRecord | None:
        """The recorded chain gate, or null."""
        return next((gate for gate in self.gates if gate.gate == "chain"), None)

    def gate_ids(self) -> tuple[str, ...]:
        """The gates that the run can have: one a stage, and the chain gate last."""
        has_chain_gate = self.chain.has_chain_gate or self.chain_gate() is not None
        stages = (str(stage.index) for stage in self.stages)
        return (*stages, *(("chain",) if has_chain_gate else ()))

    def agent_states(self) -> tuple[State, ...]:
        """The states of the agent's line, in order, without the reference states."""
        return tuple(state for state in self.states if state.kind is not StateKind.REFERENCE)
