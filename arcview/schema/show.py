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


class ShowFrame(Model):
    """One stack frame of a failure, and what wrote the line it points at."""

    path: str
    line: int | None
    function: str | None
    stage: int | None
    """The stage that last wrote the line."""
    step: int | str | None
    """The step that last wrote the line."""
    certainty: Literal["exact", "candidate", "none"]
    """How sure stage and step are."""


class ShowFailure(Model):
    """One expected test that is not ok."""

    id: str
    group: GroupWord
    outcome: str
    history: Literal["first", "new", "broken_again", "inherited", "unknown"]
    """`first`: no earlier gate contains it; `new`: its last earlier result passed (or it is a P2P
    test of the first gate); `broken_again`: new, and it had failed before that; `inherited`: its
    last earlier result did not pass; `unknown`: the last earlier gate with it is unmeasured."""
    message: str | None
    traceback: str | None
    frames: list[ShowFrame]


class ShowSelfTest(Model):
    """One time the agent ran tests or checked its own work."""

    step: int | str | None
    command: str
    runner: str | None
    kind: Literal["suite", "assertion", "probe"]
    """Only suite and assertion feed pass counts."""
    passed: Count | None
    failed: Count | None
    exit_code: int | None
    """Null where it is masked or not recorded."""
    masked: str | None
    """What hides the result (`pipe into tail`, `|| true`)."""
    earlier_stages: list[StageIndex] | None
    """Earlier stages whose tests it ran again."""


class ShowState(Model):
    """One workspace state of the run."""

    id: str
    stage: Count
    kind: Literal["start", "stage_end", "between", "reference"]
    provenance: ProvenanceWord
    tree: str | None
    unchanged: bool | None


class ShowProblem(Model):
    """Something that is wrong or missing in the run's files."""

    where: str
    what: str


class ListStage(Model):
    """One stage, without its single tests."""

    index: StageIndex
    title: str | None
    status: StatusWord | Literal["unknown"]
    verdict: VerdictWord
    reason: str | None
    """Why it is unmeasured, or what failed beside the tests."""
    f2p: ShowCounts | None
    """Null when not measured."""
    p2p: ShowCounts | None
    other: ShowCounts | None
    debt: Count | None
    """Distinct tests that were broken when the stage began; null when nothing before it was
    measured."""
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


class ShowStage(ListStage):
    """One stage with its failing tests and the agent's own tests."""

    failures: list[ShowFailure]
    healed: list[str]
    """Ids of tests that were broken when the stage began and are ok at its gate."""
    self_tests: list[ShowSelfTest]


class ListGate(Model):
    """The chain gate: the final state against the whole feature."""

    verdict: VerdictWord
    reason: str | None
    f2p: ShowCounts | None
    p2p: ShowCounts | None
    other: ShowCounts | None


class ShowGate(ListGate):
    """The chain gate with its failing tests."""

    failures: list[ShowFailure]
    healed: list[str]


class _Header(Model):
    schema_: Literal["arcview/show/1"] = Field(alias="schema")
    """The version of this format."""
    run_id: str
    layout: str
    """Id of the reader that recognised the run."""
    agent: str | None
    model: str | None
    task_id: str
    attempt: str | None
    status: StatusWord | Literal["unknown"]
    states: list[ShowState]
    first_bad_stage: StageIndex | None
    """The stage of the first state with a failing expected test that is not inherited."""
    first_failing_gate: str | None
    """Id of the first gate whose verdict is failed."""
    problems: list[ShowProblem]


class ListRow(_Header):
    """One line of `arcview list --json`: a run without its single tests."""

    stages: list[ListStage]
    chain_gate: ListGate | None
    """Null where the benchmark has no chain gate."""


class ShowTwin(_Header):
    """`arcview show --json`: everything that the screens show of a run."""

    stages: list[ShowStage]
    chain_gate: ShowGate | None
    """Null where the benchmark has no chain gate."""
