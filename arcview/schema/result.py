"""The pydantic models of gate/result.json and of one line of gate/tests.jsonl."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from arcview.schema.base import (
    Count,
    GateId,
    GroupWord,
    Model,
    OutcomeWord,
    Seconds,
    StateId,
    Timestamp,
    TreeId,
    VerdictWord,
)


class Counts(Model):
    """How many tests of one group ended how. The outcomes add up to `expected`."""

    expected: Count
    """Ids on the gate's list, reported or not."""
    passed: Count = 0
    failed: Count = 0
    error: Count = 0
    skipped: Count = 0
    xfailed: Count = 0
    xpassed: Count = 0
    timeout: Count = 0
    missing: Count = 0
    """Expected, but the report does not name it."""
    not_run: Count = 0
    """Never started: killed, interrupted, collection error."""
    extra: Count = 0
    """Reported but not expected; not part of the sum."""
    duplicated: Count = 0
    """Ids that the report names more than once."""


class Engine(Model):
    """What ran the gate's commands."""

    name: str | None = None
    version: str | None = None
    limits_enforced: bool | None = None


class GateResultFile(Model):
    """gate/result.json: the summary of one gate run. Listing reads this file only."""

    schema_: Literal["arcview/gate-result/1"] = Field(alias="schema")
    """The version of this format."""
    gate: GateId | None = None
    """The folder says it where it is left out."""
    state: StateId | None = None
    """The state it ran on; the end of its stage where it is left out."""
    tree: TreeId | None = None
    """Git tree id of the files it ran on."""
    image_digest: str | None = None
    verdict: VerdictWord | None = None
    """What whoever wrote this file made of the tests; arcview judges them again and shows both."""
    reason: str | None = None
    """Why it is not measured, or what made it fail beside the tests."""
    recorded_verdict: VerdictWord | None = None
    """The harness's own verdict, where it differs in origin from `verdict`."""
    exit_codes: list[int | None] | None = None
    """Of the gate's steps, in order; null where a step did not end by itself."""
    timed_out: bool | None = None
    started: Timestamp | None = None
    duration_s: Seconds | None = None
    f2p: Counts | None = None
    """Null where the group was not measured."""
    p2p: Counts | None = None
    other: Counts | None = None
    """All tests, where the gate has no F2P/P2P split."""
    engine: Engine | None = None
    arcview_version: str | None = None
    """Set where arcview ran the gate."""
    attempt: int | None = Field(default=None, ge=1)
    """Number of this run of the gate on this state."""
    provenance: str | None = None
    """Where the result comes from: `harness`, `rerun`, `imported` …

    The `verdict` of an imported result is arcview's own, so that it is nothing recorded.
    """
    notes: list[str] | None = None
    """Facts worth showing beside the counts."""
    partial: bool | None = None
    """True where tests.jsonl names only some of the counted tests (the harness kept no more)."""


class GateTestLine(Model):
    """One line of gate/tests.jsonl: one test of the gate."""

    id: str = Field(min_length=1)
    """As in chain.json; unique within its group."""
    group: GroupWord | None = None
    """The gate's lists say it where it is left out."""
    outcome: OutcomeWord
    duration_s: Seconds | None = None
    message: str | None = None
    """The assertion or error message, whole."""
    traceback: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    reported: str | None = None
    """The word that the runner's report used, where it differs from `outcome`."""
    copies: int | None = Field(default=None, ge=1)
    """How often the report names this id; above 1 the worst outcome counts."""
    evidence: str | None = None
    """The line of a text log that the outcome was read from."""
    conflict: str | None = None
    """Why the outcome is in doubt."""
