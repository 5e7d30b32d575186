"""Cases of error propagation: one origin defect and what it did downstream, as people read it.

Codes are words of a label scheme, so they are plain text here. Unknown is null; an explicit "none"
is a label of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class CaseStatus(StrEnum):
    """How far one annotator is with a case."""

    DRAFT = "draft"
    FINAL = "final"
    ADJUDICATED = "adjudicated"
    """Settled from several readings; counts before the others."""
    RETRACTED = "retracted"
    SKIPPED = "skipped"
    """Looked at and left: no label at all."""


class PointerState(StrEnum):
    """Whether what a pointer names is still what it was."""

    OK = "ok"
    STALE = "stale"
    """It is there, and its content has changed."""
    NOT_FOUND = "not found"
    UNVERIFIED = "not verified"
    """No hash was recorded to compare it with, or there is no git to look it up with."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """One place of a run, and the hash of what stood there."""

    address: str
    """In the address grammar of the run format."""
    sha256: str | None = None
    """Of the bytes pointed at; null where nobody could read them."""


@dataclass(frozen=True, slots=True)
class SuggestedBy:
    """The rule that proposed a label which a person took over."""

    rule: str
    version: int
    inputs: str
    """Hash of what the rule looked at."""


@dataclass(frozen=True, slots=True)
class Origin:
    """One defect that a case goes back to."""

    id: str
    """Unique within the reading."""
    stage: int | None = None
    step: str | None = None
    """Key of the step, or of the first of several."""
    last_step: str | None = None
    """Key of the last one, where it is a range."""
    step_number: int | None = None
    """Number of `step` in its stage, for people and for distances."""
    last_step_number: int | None = None
    """That of `last_step`."""
    path: str | None = None
    state: str | None = None
    """The state that `lines` are numbered in."""
    lines: tuple[int, int] | None = None
    """First and last line, 1-based."""
    symbol: str | None = None
    contract_item: str | None = None
    defect: str | None = None
    cause: str | None = None
    """The primary one."""
    causes: tuple[str, ...] = ()
    """Secondary ones."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What the origin did to one gate."""

    id: str
    stage: int | None = None
    gate: str | None = None
    group: str | None = None
    """`f2p`, `p2p` or `other`; null where tests of several groups are meant."""
    tests: tuple[str, ...] = ()
    mechanisms: tuple[str, ...] = ()
    via_path: str | None = None
    via_lines: tuple[int, int] | None = None
    via_symbol: str | None = None
    verdict_before: str | None = None
    verdict_after: str | None = None


@dataclass(frozen=True, slots=True)
class Awareness:
    """How far the agent was aware of the defect in one stage after the origin."""

    stage: int
    level: str | None = None
    step: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Something in the run that speaks for a label."""

    id: str
    pointer: Pointer
    note: str = ""
    supports: str | None = None
    """Id of the origin or effect it belongs to, or null for the case as a whole."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One annotator's view of one case."""

    annotator: str
    status: CaseStatus = CaseStatus.DRAFT
    validity: str | None = None
    no_origin: bool | None = None
    """True: this person says that there is no defect of the agent; null: nobody said anything."""
    origins: tuple[Origin, ...] = ()
    effects: tuple[Effect, ...] = ()
    awareness: tuple[Awareness, ...] = ()
    """By stage, in order."""
    outcome: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    grade: str | None = None
    confidence: int | None = None
    """1 (unsure) to 3 (sure)."""
    note: str = ""
    scheme: str | None = None
    """Name and version of the label scheme that was used last."""
    created: str | None = None
    updated: str | None = None
    blind: bool = False
    """Every label in it was set before others' labels and suggestions were shown."""
    imported: str | None = None
    """Where it came from and how it was read, where it was imported."""
    suggested: Mapping[str, SuggestedBy] = field(default_factory=dict)
    """By path of the field (`origins/a1/defect`): the rule whose proposal was taken over."""
    extra: Mapping[str, object] = field(default_factory=dict)
    """Fields that this version does not know, kept as they are."""
    adopted_from: tuple[str, ...] = ()
    """Annotators whose labels were taken over into it."""
    before: Reading | None = None
    """What it said when it was final last before anything was taken over and before it settled the
    case: this person's own judgement. Null where it was not final before, or neither happened."""

    @property
    def own_judgement(self) -> Reading | None:
        """What may be held against others' judgement; null where there is nothing independent."""
        if self.before is not None and self.is_labelled:
            return self.before
        return self if self.status is CaseStatus.FINAL and not self.adopted_from else None

    def origin(self, origin_id: str | None) -> Origin | None:
        """The origin with that id, or null."""
        return next((origin for origin in self.origins if origin.id == origin_id), None)

    def aware_at(self, stage: int) -> Awareness | None:
        """What is said of a stage, or null."""
        return next((found for found in self.awareness if found.stage == stage), None)

    @property
    def is_labelled(self) -> bool:
        """Whether it counts: neither skipped nor retracted."""
        return self.status not in (CaseStatus.SKIPPED, CaseStatus.RETRACTED)


@dataclass(frozen=True, slots=True)
class Case:
    """One case of one run, with every annotator's reading of it side by side."""

    id: str
    run_id: str
    unit: str | None
    """Address of the failing gate it is about (`gate:3`); what readings are compared by."""
    readings: tuple[Reading, ...] = ()
    """By name of the annotator."""

    def reading(self, annotator: str | None) -> Reading | None:
        """One person's reading, or null."""
        return next((found for found in self.readings if found.annotator == annotator), None)

    @property
    def adjudicated(self) -> Reading | None:
        """The reading that settles the case, or null; of several the one changed last."""
        settled = [r for r in self.readings if r.status is CaseStatus.ADJUDICATED]
        return max(settled, key=lambda reading: reading.updated or "", default=None)
