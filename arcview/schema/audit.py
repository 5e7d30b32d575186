"""The pydantic model of `arcview audit --json`. Every field is always present."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from arcview.schema.base import Model, StageIndex

CheckWord = Literal["state", "session", "feedback", "leak", "lookup", "reverted", "compaction"]
FeedbackWord = Literal["none", "other", "failure_reported", "fix_explained"]


class AuditDelegation(Model):
    """How far the user was to help, and what was found."""

    declared: str | None
    """As recorded: `L1` … `L4`."""
    observed_feedback: FeedbackWord | None
    """By its words; null where no turn of a user could be compared with a specification."""


class AuditFinding(Model):
    """One place to look at; no proof of anything."""

    check: CheckWord
    stage: StageIndex
    state: str | None
    """The between-state, where the step belongs to the pass that ended in it."""
    step: int | None
    """Number of the step in its stage, for people."""
    step_key: str | None
    """Null where the stage has no step."""
    address: str | None
    """Where it is, in the address grammar of the run format."""
    what: str
    quote: str | None
    """What stands there."""
    basis: Literal["recorded", "candidate"]
    """Recorded in the run's files, or found by its looks."""
    detail: str | None


class AuditUnchecked(Model):
    """A check that could not be made."""

    check: CheckWord | None
    """Null for all of them."""
    stage: StageIndex | None
    """Null for the whole run."""
    why: str


class AuditFile(Model):
    """What `arcview audit --json` prints."""

    schema_: Literal["arcview/audit/1"] = Field(alias="schema")
    path: str
    run_id: str
    delegation: AuditDelegation
    findings: list[AuditFinding]
    unchecked: list[AuditUnchecked]
