"""What an engine is to the rest: one job in, one execution out; knows no particular engine.

Imports nothing of docker and nothing that starts programs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from arcview.gates.definition import Limits, ReportFile
from arcview.gates.tested_tree import Delivery, TestedTree

EngineKind = Literal["docker", "podman", "host"]
OnPull = Callable[[str], None]
"""Gets what the engine says while it fetches an image; what it raises ends that."""


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """Which engine ran a gate, and what of the isolation it really enforces."""

    kind: EngineKind
    name: str
    version: str
    endpoint: str
    limits_enforced: tuple[str, ...] = ()
    limits_ignored: tuple[str, ...] = ()
    """What was asked for and is not there: `memory`, `pids`, `cpus`, `network` …"""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Image:
    """An image as the engine has it."""

    ref: str
    id: str
    """`sha256:…` of the engine's own."""
    digest: str
    """The recorded digest where it is that image, else `id`."""
    user: str | None = None
    notes: tuple[str, ...] = ()
    """What is to be said of it: not the recorded one."""
    has_volumes: bool = False
    """It declares volumes."""


@dataclass(frozen=True, slots=True)
class JobStep:
    """One command to run."""

    name: str
    command: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    timeout_s: float
    is_build: bool


@dataclass(frozen=True, slots=True)
class Job:
    """One gate run: all that an engine needs to know."""

    gate: str
    label: str
    """The state, for people: `S3`, `R2`, `X3`."""
    image: Image
    workdir: str
    user: str | None
    steps: tuple[JobStep, ...]
    tree: TestedTree
    reports: tuple[ReportFile, ...]
    limits: Limits
    out: Path
    """An empty folder for the reports that come out."""
    plugins: tuple[Path, ...] = ()
    """Python modules that steps find on their path."""
    base_tree: str | None = None
    """What the chain says that lies in the workspace of the image."""


class End(StrEnum):
    """How the run of a container ended."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    OUTPUT_LIMIT = "output_limit"
    """It wrote more than it may, and was ended."""
    LOST = "lost"
    """The engine went away, or somebody removed the container."""
    NOT_STARTED = "not_started"
    """The container could not be started."""


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How one step ended."""

    name: str
    exit_code: int | None
    """Null where it did not end by itself."""
    is_build: bool = False
    timed_out: bool = False
    """It ran into its own time limit inside the container."""


@dataclass(frozen=True, slots=True)
class Collected:
    """A declared report that came out."""

    report: ReportFile
    path: Path


@dataclass(frozen=True, slots=True)
class Execution:
    """What an engine did and saw; no judgement."""

    end: End
    detail: str | None = None
    """What the engine said, one line."""
    steps: tuple[StepEnd, ...] = ()
    exit_code: int | None = None
    """Of the container's main process."""
    oom: bool = False
    """A process of the container was killed for want of memory."""
    reports: tuple[Collected, ...] = ()
    large: tuple[str, ...] = ()
    """Declared reports that did not come out, since they are larger than results may be."""
    stream_complete: bool = True
    delivery: Delivery | None = None
    """Where each file of the tested tree came from."""
    duration_s: float = 0.0
    """From the start of the commands to their end."""
    overhead_s: float = 0.0
    """All else."""
    notes: tuple[str, ...] = ()


class Phase(StrEnum):
    """What a rerun is doing."""

    FETCHING = "fetching"
    """The image comes from where its name says."""
    READING = "reading"
    """The states of the run are being read."""
    COPYING = "copying"
    """The workspace goes into the container."""
    RUNNING = "running"
    COLLECTING = "collecting"
    DONE = "done"


class Engine(Protocol):
    """Runs jobs; may be called from several threads."""

    def info(self) -> EngineInfo:
        """Which engine it is.

        Raises:
            EngineUnavailableError: it does not answer.
        """

    def image(
        self, ref: str | None, digest: str | None, *, allow_other: bool, on_pull: OnPull | None
    ) -> Image:
        """The image to run in.

        Args:
            ref: Its name.
            digest: Its recorded digest.
            allow_other: One of that name will do that is not the recorded one.
            on_pull: Lets one be fetched that is not there.

        Raises:
            ImageMissingError: it is not there, and is not to be fetched.
            ImageRefusedError: it cannot be fetched, or is not the recorded one.
            EngineUnavailableError: the engine does not answer.
        """

    def execute(
        self,
        job: Job,
        on_output: Callable[[bytes], None],
        on_phase: Callable[[Phase], None],
        cancelled: Callable[[], bool],
    ) -> Execution:
        """Runs a job to its end, cleans up whatever happens, and never raises for what the job did.

        Raises:
            EngineUnavailableError: the engine did not answer before anything was started.
        """

    def reap(self) -> int:
        """Removes what a crashed arcview left behind; says how many containers."""

    def close(self) -> None:
        """Lets go of connections."""
