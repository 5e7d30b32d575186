"""What a rerun is to its callers: the target, the options, the plan, events, the control probe.

Pure; must not import an engine or the terminal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arcview.gates.definition import GateDefinition
from arcview.gates.engine import EngineInfo, Image, Phase
from arcview.gates.results import RerunResult

OnOutput = Callable[[bytes], None]
OnEvent = Callable[["RerunEvent"], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Target:
    """A tree of the run's own object store, and what people call it."""

    label: str
    """`S3`, `R2`, `S2.refactor`; `X3`, `Y3` for merged trees."""
    tree: str


@dataclass(frozen=True, slots=True)
class RerunOptions:
    """How reruns of one sitting are done."""

    engine: str = "auto"
    """`auto`, `host`, or the URL of a Docker-compatible engine."""
    pull: bool = False
    allow_other_image: bool = False
    """Run in an image of the recorded name whose digest is another; the result says so."""


@dataclass(frozen=True, slots=True)
class RerunEvent:
    """Where a rerun stands."""

    phase: Phase
    gate: str
    label: str
    number: int = 1
    """Which of several runs, from 1."""
    times: int = 1


@dataclass(frozen=True, slots=True)
class RerunPlan:
    """What a rerun would do, to be shown before the first one."""

    definition: GateDefinition
    target: Target
    command: str
    """The gate's commands as people read them, a line each."""
    image: Image | None
    """Null where it is not there: it is fetched first, or the gate cannot be run."""
    engine: EngineInfo | None
    unavailable: str | None
    """Why it cannot be run here and now, one line; null where it can."""
    recorded_duration_s: float | None
    known: tuple[RerunResult, ...]
    shell: str
    """A shell command that does the same without arcview."""


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """What a crashed arcview left and is removed now."""

    on_host: bool
    """They are copies on this machine, not containers."""
    containers: int
    attempts: int
    """Attempts that were under way; nothing of them was stored."""


@dataclass(frozen=True, slots=True)
class Control:
    """Whether reruns of a gate can be believed on this machine."""

    ok: bool
    reason: str
    """Why not; or what was found to hold."""
    reference: RerunResult | None = None
    recorded: RerunResult | None = None
