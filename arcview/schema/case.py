"""The pydantic models of labels: one exported case, and one line of the store."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from arcview.schema.base import Count, Model, Sha256, StageIndex

LineRange = Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=2, max_length=2)]
"""First and last line, 1-based."""


class CaseOrigin(Model):
    """One defect that a case goes back to."""

    id: str
    """Unique within the reading."""
    stage: Count | None = None
    step: str | None = None
    """Key of the step, or of the first of several."""
    last_step: str | None = None
    step_number: Count | None = None
    """For people and for distances: number of `step` among the model's messages of the stage."""
    last_step_number: Count | None = None
    """That of `last_step`."""
    path: str | None = None
    state: str | None = None
    """The state that `lines` are numbered in."""
    lines: LineRange | None = None
    symbol: str | None = None
    contract_item: str | None = None
    defect: str | None = None
    cause: str | None = None
    """The primary one."""
    causes: list[str] = Field(default_factory=list)
    """Secondary ones."""


class CaseEffect(Model):
    """What the origin did to one gate."""

    id: str
    stage: Count | None = None
    gate: str | None = None
    group: Literal["f2p", "p2p", "other"] | None = None
    tests: list[str] = Field(default_factory=list)
    mechanisms: list[str] = Field(default_factory=list)
    via_path: str | None = None
    via_lines: LineRange | None = None
    via_symbol: str | None = None
    verdict_before: str | None = None
    verdict_after: str | None = None


class CaseAwareness(Model):
    """How far the agent was aware of the defect in one stage."""

    stage: StageIndex
    level: str | None = None
    step: str | None = None
    flags: list[str] = Field(default_factory=list)


class CaseEvidence(Model):
    """Something in the run that speaks for a label."""

    id: str
    address: str
    """In the address grammar of the run format."""
    sha256: Sha256 | None = None
    """Of the bytes pointed at, when it was noted."""
    note: str = ""
    supports: str | None = None
    """Id of the origin or effect, or null for the case as a whole."""


class CaseRule(Model):
    """The rule whose proposal was taken over."""

    rule: str
    version: Count
    inputs: str
    """Hash of what the rule looked at."""


class CaseReading(Model):
    """One annotator's fields. What was not said is null or empty."""

    status: Literal["draft", "final", "adjudicated", "retracted", "skipped"]
    validity: str | None
    no_origin: bool | None
    """True: there is no defect of the agent; null: nobody said anything."""
    origins: list[CaseOrigin]
    effects: list[CaseEffect]
    awareness: list[CaseAwareness]
    outcome: list[str]
    evidence: list[CaseEvidence]
    grade: str | None
    confidence: Count | None
    note: str
    scheme: str | None
    """Name and version of the label scheme."""
    created: str | None
    updated: str | None
    blind: bool
    """Every label was set before others' labels and suggestions were shown."""
    imported: str | None
    """Where it came from, where it was imported."""
    suggested_by: dict[str, CaseRule]
    """By path of the field (`origins/a1/defect`)."""
    adopted_from: list[str] = Field(default_factory=list)
    """Annotators whose labels were taken over into it."""
    before: CaseReading | None = None
    """What it said when it was final last before that, and before it settled the case."""
    extra: dict[str, object]
    """Fields of later versions and of foreign files."""


class CaseRecord(Model):
    """`arcview annotate export --format jsonl`: one case a line, everybody side by side."""

    schema_: Literal["arcview/case/1"] = Field(alias="schema")
    case: str
    run_id: str
    task_id: str | None
    agent: str | None
    model: str | None
    layout: str | None
    unit: str | None
    """Address of the failing gate that the case is about; what readings are compared by."""
    adjudicated: str | None
    """Whose reading settles the case."""
    annotators: dict[str, CaseReading]


class CaseEventLine(Model):
    """One line of an annotator's file in the sidecar."""

    schema_: Literal["arcview/case-event/1"] = Field(alias="schema")
    event: str
    n: Count
    """Above that of every event known when it was made."""
    at: str
    by: str
    """Whose reading it belongs to."""
    run: str
    case: str
    kind: Literal["create", "edit", "retract", "undo"]
    unit: str | None = None
    set: dict[str, object] = Field(default_factory=dict)
    """Field path → value."""
    unset: list[str] = Field(default_factory=list)
    """Paths taken away, with everything below them."""
    of: str | None = None
    """The event that an undo takes back."""
    suggested_by: CaseRule | None = None
    scheme: str | None = None
    blind: bool = False
    imported: str | None = None
    run_hash: str | None = None
    adopted_from: str | None = None
    """The annotator whose labels the values are."""
    sum: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    """First 16 hexadecimal digits of the SHA-256 of the line without this field."""
