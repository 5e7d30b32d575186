"""The pydantic models of `arcview matrix --json` and of a stored or printed what-if answer."""

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
    StageIndex,
    VerdictWord,
)

SourceWord = Literal["recorded", "rerun", "same_tree", "repeated"]
StandingWord = Literal[
    "verified", "declared", "unverified", "not_applicable", "before", "reference"
]
LabelWord = Literal["base", "change", "interaction", "both", "undetermined"]


class MatrixGateRow(Model):
    """One row."""

    gate: GateId
    stage: Count
    """The stage it belongs to; the last one for the chain gate."""
    expected: Count | None
    """Tests that it expects; null where that is not recorded."""
    control: str | None
    """Why its reruns are not believed; those cells are unmeasured."""
    probed: bool
    """False where it has reruns and no control was made."""


class MatrixStateColumn(Model):
    """One column: the agent's states in order, then those of the reference."""

    id: str
    stage: Count
    kind: Literal["start", "stage_end", "between", "reference"]
    tree: str | None
    """Git tree id; null where its files are not there."""


class MatrixCellTest(Model):
    """One test in one cell."""

    id: str
    group: GroupWord
    outcome: OutcomeWord
    """Of the recorded run, else of the last one."""
    ok: bool | None
    """Null where runs disagree."""
    source: SourceWord
    via: str | None
    """The other gate that shows it, where the source is `repeated`."""
    runs: Count
    passed_runs: Count


class MatrixCell(Model):
    """What one gate says of one state."""

    gate: GateId
    state: str
    verdict: VerdictWord | None
    """Null where nothing is known, or too little."""
    reason: str | None
    source: SourceWord | None
    """`repeated`: follows from tests that other gates on this state repeat."""
    standing: StandingWord
    """Whether a failure can be held against the agent: `verified` (passes on the reference),
    `declared` (a gate of that stage expects its tests), `unverified`, `not_applicable` (fails on
    the reference), `before` (the state is older than the gate's stage), `reference`."""
    standing_reason: str | None
    expected: Count | None
    known: Count
    """Tests that are known."""
    runs: Count
    """Runs of this gate on this state with a verdict, the recorded one included."""
    passed_runs: Count
    flaky: bool
    tests: list[MatrixCellTest]


class MatrixTest(Model):
    """One test over the agent's states."""

    id: str
    gate: GateId
    """The gate whose new behaviour it tests; else the first that lists it."""
    group: GroupWord
    stage: Count
    """From which stage on it should pass; 0 for one that only guards."""
    line: list[bool | None]
    """Whether it is ok in each of the agent's states; null where not known, flaky or not
    applicable."""
    birth: str | None
    """The first state on which it is known to pass."""
    birth_certain: bool
    """It is known not to pass on the state before, or there is none before."""
    premature: list[str]
    """States before its stage on which it passes."""
    weak_on: list[str]
    """Reference states before its stage on which it passes."""
    late: bool | None
    healed: list[str]
    broken_again: list[str]
    never: bool | None
    flaky: list[str]
    not_applicable: list[str]


class MatrixRegressions(Model):
    """Earlier behaviour that fails at the end of a stage."""

    stage: StageIndex
    base: str | None
    end: str
    regressed: list[str]
    """Passed on the base."""
    inherited: list[str]
    """Failed on the base already."""
    unclear: list[str]


class MatrixMissingCell(Model):
    """A cell that can be measured."""

    gate: GateId
    state: str
    also: list[str]
    """Other states of the same tree."""
    estimate_s: Seconds | None


class MatrixImpossible(Model):
    """What cannot be measured."""

    gate: GateId
    state: str | None
    """Null for the whole row."""
    why: str


class MatrixMissing(Model):
    """What `--run` would do, the most informative first."""

    cells: list[MatrixMissingCell]
    controls: dict[str, Seconds | None]
    """Gate → time of its control probe, which comes before its cells."""
    estimate_s: Seconds | None
    """One after the other; null where a duration is not known."""
    unknown_times: Count
    impossible: list[MatrixImpossible]


class MatrixMeasured(Model):
    """What was measured by this call."""

    measured: Count
    planned: Count
    unmeasured: Count
    """Those of `measured` that came to no verdict."""
    failed_controls: dict[str, str]
    cancelled: bool


class MatrixFile(Model):
    """What `arcview matrix --json` prints."""

    schema_: Literal["arcview/matrix/1"] = Field(alias="schema")
    run_id: str
    path: str
    gates: list[MatrixGateRow]
    states: list[MatrixStateColumn]
    cells: list[MatrixCell]
    tests: list[MatrixTest]
    regressions: list[MatrixRegressions]
    missing: MatrixMissing
    measured_now: MatrixMeasured | None
    """Null without `--run`."""
    host_results_left_out: Count
    """Stored reruns without a container."""


class WhatIfStates(Model):
    """The states around the stage."""

    base: str | None
    """The agent's last state before it."""
    end: str | None
    reference_base: str
    reference: str


class WhatIfArm(Model):
    """The gate on one tree."""

    label: str
    tree: str
    verdicts: list[VerdictWord]
    """One a run."""
    reason: str | None
    failing: list[list[str]]
    """The failing expected tests of each run."""
    results: list[str]
    """The stored reruns by key and attempt."""
    duration_s: Seconds
    unrun: list[str]
    """Those of the failing tests that were never started: it did not build or load."""


class WhatIfMerge(Model):
    """How a change was put on another state."""

    tree: str | None
    """Null where that was not possible."""
    mode: Literal["lines", "blocks", "none"]
    """`lines`: git's three-way merge; `blocks`: some Python files by top-level blocks."""
    conflicts: list[str]
    """Files that did not merge line by line."""
    reason: str | None
    copied: list[str]
    """Code of the change's own base that it needs and that was copied along."""
    doubts: list[str]
    """What it needs that is missing there, or is another."""
    build_doubts: list[str]
    """The same in compiled languages, where it is a doubt if the tree does not build."""


class WhatIfFile(Model):
    """What `arcview whatif --json` prints and the sidecar keeps."""

    schema_: Literal["arcview/whatif/1"] = Field(alias="schema")
    run_id: str
    gate: GateId
    label: LabelWord
    reason: str
    states: WhatIfStates
    tests: dict[str, LabelWord]
    """By test that always fails on `end`; empty where undetermined."""
    control: str | None
    recorded: WhatIfArm | None
    x: WhatIfArm | None
    """The reference base with the agent's change; null where it was not run."""
    y: WhatIfArm | None
    """The agent's base with the reference change."""
    x_merge: WhatIfMerge | None
    y_merge: WhatIfMerge | None
    times: Count
    steady: bool
    """Each was run more than once and always had the same verdict."""
    final: bool
    """False where asking again may answer more."""
    engine: str | None
    graded_on_host: bool
    """Run without containers; kept out of statistics and evidence."""
    created: str
    """ISO 8601; empty where nothing was run."""
    arcview_version: str
