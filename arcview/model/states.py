"""The ordered workspace states of a run and where their bytes can be found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class StateKind(StrEnum):
    """What a state is the end of."""

    START = "start"
    STAGE_END = "stage_end"
    BETWEEN = "between"
    """Made by something other than the agent's stage: a refactoring pass, a harness reset."""
    REFERENCE = "reference"
    """R0 … Rn: hidden until asked for."""


class Provenance(StrEnum):
    """How sure it is that a state is what it is called."""

    RECORDED = "recorded"
    INFERRED = "inferred"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class EmptySource:
    """No files at all: the inferred start of a run that begins from nothing."""


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A plain folder, read byte for byte."""

    path: str
    is_given: bool = False
    """The user named it, so it may lie outside of the run folder."""


@dataclass(frozen=True, slots=True)
class ArchiveSource:
    """A tar archive (`.tar`, `.tar.gz`, `.tar.xz`, `.tar.zst`)."""

    path: str


@dataclass(frozen=True, slots=True)
class BundleSource:
    """One ref of a git bundle."""

    path: str
    ref: str


@dataclass(frozen=True, slots=True)
class PatchSource:
    """A unified diff to be applied to another state."""

    path: str
    base: str
    """Id of the state it applies to."""
    text: str | None = None
    """The patch itself where it stands inside another file, which `path` names for people."""


@dataclass(frozen=True, slots=True)
class RepositorySource:
    """One commit of a git repository, read where it lies."""

    path: str
    """The repository itself: `.git`, or `.` for a bare one."""
    commit: str
    is_given: bool = False
    """The user named it, so it may lie outside of the run folder."""


StateSource = (
    EmptySource | FolderSource | ArchiveSource | BundleSource | PatchSource | RepositorySource
)


@dataclass(frozen=True, slots=True)
class State:
    """One workspace state. `source` is null where its bytes are not there; `missing` says why."""

    id: str
    """`S0`, `S1`, `S2.refactor`, `R1` …"""
    stage: int
    """The stage it ends or, for a between-state, the stage it follows; 0 for the start state."""
    kind: StateKind
    provenance: Provenance
    source: StateSource | None = None
    missing: str | None = None
    tree: str | None = None
    """Git tree id that the run itself recorded, if any."""
    unchanged: bool | None = None
    """True only where the run says that this state equals the one before it."""
