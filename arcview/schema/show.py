"""The pydantic models of the JSON twin: `arcview show --json` and a line of `arcview list --json`.

Every field is always present; what is unknown or not measured is null.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from arcview.schema.base import (
    Count,
    Dollars,
    GroupWord,
    Model,
    ProvenanceWord,
    Seconds,
    StageIndex,
    StatusWord,
    VerdictWord,
)
from arcview.schema.show_evidence import (
    ShowExercise,
    ShowFrame,
    ShowReportedTest,
    ShowSelfTestDepth,
    ShowSymbol,
    ShowTrace,
    ShowTrail,
)


class ShowCounts(Model):
    """How many tests of one group ended how; the outcomes add up to `expected`."""

    expected: Count
    passed: Count
    failed: Count
    error: Count
    skipped: Count
    xfailed: Count
    xpassed: Count
    timeout: Count
    missing: Count
    """Expected, but the report does not name it."""
    not_run: Count
    """Never started."""
    extra: Count
    """Reported but not expected; not part of the sum."""
    duplicated: Count
    """Ids that the report names more than once."""


class ShowTokens(Model):
    """Tokens of a stage; null is unknown."""

    input: Count | None
    cached: Count | None
    output: Count | None
    reasoning: Count | None


class ShowChange(Model):
    """What a stage changed, from its base to its end."""

    files: Count | None
    """Changed files; null where a state is missing."""
    added: Count | None
    """Lines, binary files left out."""
    removed: Count | None
    unchanged: bool | None
    """True only where the run says so or both trees were compared and are equal."""
    folded_files: Count | None
    """Changed files that are vendored, generated, caches or lock files."""
    missing: str | None
    """Why the change is not known."""


class ShowFailure(Model):
    """One expected test that is not ok."""

    id: str
    group: GroupWord
    outcome: str
    history: Literal["first", "new", "broken_again", "inherited", "unknown"]
    """`first`: no earlier gate contains it; `new`: its last earlier result passed (or it is a P2P
    test of the first gate); `broken_again`: new, and it had failed before that; `inherited`: its
    last earlier result did not pass; `unknown`: the last earlier gate with it is unmeasured."""
    since: str | None = None
    """For an inherited failure: the state at which it began."""
    message: str | None
    traceback: str | None
    evidence: str | None = None
    """The line of a text log that the outcome was read from; null for structured reports."""
    conflict: str | None = None
    """Why the outcome is in doubt: reported with different outcomes, imitated by printed text."""
    frames: list[ShowFrame]
    trail: ShowTrail | None = None
    exercised: ShowExercise | None = None
    """Null for the chain gate, which no stage of the agent stands beside."""


class ShowSelfTest(Model):
    """One time the agent ran tests or checked its own work."""

    step: int | None
    """Number of its step in the stage; for people, the key is what stays."""
    step_key: str
    command: str
    runner: str | None
    kind: Literal["suite", "assertion", "probe"]
    """Only suite and assertion feed pass counts."""
    outcome: Literal["passed", "failed", "none", "unknown"]
    passed: Count | None
    failed: Count | None
    skipped: Count | None
    exit_code: int | None
    """Null where it is masked or not recorded."""
    masked: str | None
    """What hides the result (`pipe into tail`, `|| true`)."""
    earlier_stages: list[StageIndex] | None
    """Earlier stages whose tests it ran again; null where what it ran names no test file."""
    targets: list[str]
    """Files, test ids and patterns on the command line."""
    tests: list[ShowReportedTest]
    """The single tests that its output names; often only the failing ones."""
    symbols: list[ShowSymbol]
    """Functions, classes and types of the agent's code that it names, twenty at the most."""


class ShowState(Model):
    """One workspace state of the run."""

    id: str
    stage: Count
    kind: Literal["start", "stage_end", "between", "reference"]
    provenance: ProvenanceWord
    tree: str | None
    unchanged: bool | None
    missing: str | None
    """Why its files are not there."""


class ShowProblem(Model):
    """Something that is wrong or missing in the run's files."""

    where: str
    what: str


class ShowSignature(Model):
    """Failing tests with one cause, as far as their messages tell."""

    title: str
    tests: list[str]
    """Their ids."""


class ShowPass(Model):
    """What ran after a stage and before the next; no part of the stage's own figures."""

    state: str
    """Id of the between-state that it ended in."""
    tokens: ShowTokens
    cost_usd: Dollars | None


class _Verdict(Model):
    verdict: VerdictWord
    reason: str | None
    """Why it is unmeasured, or what failed beside the tests."""
    recorded_verdict: VerdictWord | None
    """What the harness itself wrote down."""
    conflict: bool
    """The recorded verdict contradicts the tests; `verdict` is what they say."""
    f2p: ShowCounts | None
    """Null when not measured."""
    p2p: ShowCounts | None
    other: ShowCounts | None
    """All tests, where there is no F2P/P2P split."""
    notes: list[str]


class _Failing(Model):
    failures: list[ShowFailure]
    healed: list[str]
    """Ids of tests whose last earlier result was not ok and that are ok here."""
    signatures: list[ShowSignature]


class ListGate(_Verdict):
    """One gate on one state, without its single tests."""

    gate: str
    """`1` … `n`, or `chain`."""
    state: str | None


class ShowGate(ListGate, _Failing):
    """One gate on one state with its failing tests."""

    self_test_depth: ShowSelfTestDepth | None = None
    """Of the pass that ended in a between-state."""
    trace: ShowTrace | None = None
    """Of that pass; null where a state is missing, or no step is recorded."""


class _Stage(_Verdict):
    index: StageIndex
    title: str | None
    status: StatusWord | Literal["unknown"]
    status_detail: str | None
    debt: Count | None
    """Distinct tests whose last result before the stage began is not ok; null when nothing before
    it was measured. Of the first stage 0, and null where its own gate is unmeasured."""
    steps: Count | None
    """Messages of the model."""
    tool_calls: Count | None
    tokens: ShowTokens
    cost_usd: Dollars | None
    duration_s: Seconds | None
    base: str | None
    """Id of the state it started from."""
    end: str | None
    """Id of the state it ended in."""
    change: ShowChange | None
    passes: list[ShowPass]


class ListStage(_Stage):
    """One stage, without its single tests."""

    between: list[ListGate]
    """Its gate on the states between it and the next stage."""


class ShowStage(_Stage, _Failing):
    """One stage with its failing tests and the agent's own tests."""

    self_tests: list[ShowSelfTest]
    self_test_depth: ShowSelfTestDepth | None = None
    trace: ShowTrace | None = None
    """Null where a state is missing, or no step is recorded."""
    between: list[ShowGate]
    """Its gate on the states between it and the next stage."""


class _Header(Model):
    schema_: Literal["arcview/show/1"] = Field(alias="schema")
    """The version of this format."""
    path: str
    """The run folder, as it was given."""
    agent: str | None
    model: str | None
    attempt: str | None
    states: list[ShowState]
    """The agent's line in order, without reference states."""
    first_bad_stage: StageIndex | None
    """The stage of `first_bad_state`."""
    first_bad_state: str | None
    """The first state, in order, with a failing expected test that is not inherited."""
    first_failing_gate: str | None
    """Id of the first gate whose verdict is failed; between-states left out."""
    problems: list[ShowProblem]


class ListRow(_Header):
    """One line of `arcview list --json`: a run without its single tests.

    Of a folder that cannot be read everything is null or empty, and `problems` says why.
    """

    run_id: str | None
    layout: str | None
    agent_version: str | None = None
    task_id: str | None
    title: str | None = None
    status: StatusWord | Literal["unknown"] | None
    status_detail: str | None = None
    started: str | None = None
    ended: str | None = None
    stages: list[ListStage]
    chain_gate: ListGate | None
    """Null where the benchmark has no chain gate."""


class ShowTwin(_Header):
    """`arcview show --json`: everything that the screens show of a run."""

    run_id: str
    layout: str
    """Id of the reader that recognised the run."""
    agent_version: str | None
    task_id: str
    title: str | None
    status: StatusWord | Literal["unknown"]
    status_detail: str | None
    started: str | None
    ended: str | None
    stages: list[ShowStage]
    chain_gate: ShowGate | None
    """Null where the benchmark has no chain gate."""
