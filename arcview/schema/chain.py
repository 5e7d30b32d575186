"""The pydantic model of chain.json: the task, common to every run of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from arcview.schema.base import GateId, Model, Seconds, Sha256, StageIndex, TreeId


class ImageInfo(Model):
    """The container image that the stages and gates run in."""

    ref: str | None = None
    """Name and tag, as it was pulled."""
    digest: str | None = Field(default=None, pattern=r"^([^@\s]+@)?sha256:[0-9a-f]{64}$")
    """`sha256:…`; a tag alone does not say which bytes ran."""
    base_tree: TreeId | None = None
    """Git tree id of the workspace in the image."""


class PathRulesInfo(Model):
    """Globs that decide what kind of file a path is before the built-in rules do."""

    source: list[str] | None = None
    test: list[str] | None = None
    generated: list[str] | None = None
    vendored: list[str] | None = None
    docs: list[str] | None = None


class ChainStage(Model):
    """One stage as the task defines it."""

    index: StageIndex
    """1-based."""
    title: str | None = None
    spec: str | None = None
    """File of what the agent is told, relative to the chain; else `stages/<index>/spec.md`."""
    contract: str | None = None
    """File of names, signatures, constants and error messages; else `contract.json` or
    `contract.md` beside the spec."""
    depends_on: list[StageIndex] | None = None
    """Indexes of the stages that it builds on."""
    source_commits: list[str] | None = None
    """Commits of the repository that it was made from."""


class GateStep(Model):
    """One command of a gate."""

    name: str | None = None
    command: list[str] = Field(min_length=1)
    """Argument vector; no shell reads it."""
    env: dict[str, str] | None = None
    user: str | None = None
    timeout_s: Seconds | None = None
    build: bool = False
    """True where its failure means that the tree does not build, which is the agent's failure."""


class GateReport(Model):
    """A report that a step of the gate writes."""

    format: str | None = None
    """Id of its format (`pytest_json`, `junit` …); recognised by content where it is left out."""
    path: str
    """Inside the container."""
    step: str | None = None
    """Name of the step that writes it."""


class OverlayFile(Model):
    """One hidden test file."""

    path: str
    """Relative to `gates/<id>/overlay/` and, laid over it, to the workspace."""
    sha256: Sha256 | None = None


class GateLimits(Model):
    """What the container may use."""

    cpus: float | None = Field(default=None, gt=0)
    memory_mb: float | None = Field(default=None, gt=0)
    pids: int | None = Field(default=None, gt=0)


class GateInfo(Model):
    """One gate: which tests must pass, and how they are run."""

    id: GateId
    """The stage's index, or `chain` for the gate on the final state."""
    f2p: list[str] | None = None
    """Ids of tests that fail before the stage and must pass after it."""
    p2p: list[str] | None = None
    """Ids of tests that pass before the stage and must still pass after it."""
    id_dialect: str | None = None
    """How the ids are spelled (`pytest`, `go`, `file` …)."""
    steps: list[GateStep] | None = None
    """In order; without them the gate cannot be run again."""
    reports: list[GateReport] | None = None
    overlay: list[OverlayFile] | None = None
    limits: GateLimits | None = None


class ChainFile(Model):
    """chain.json: the stages of one feature in one repository, and the gates behind them."""

    schema_: Literal["arcview/chain/1"] = Field(alias="schema")
    """The version of this format."""
    task_id: str | None = None
    title: str | None = None
    repository: str | None = None
    languages: list[str] | None = None
    image: ImageInfo | None = None
    workdir: str | None = None
    """Absolute path of the workspace inside the container."""
    path_rules: PathRulesInfo | None = None
    stages: list[ChainStage] | None = None
    """Declared stages that a run never started count as not started."""
    gates: list[GateInfo] | None = None
