"""The pydantic models of what `contract`, `compare` and `find` print with `--json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from arcview.schema.base import (
    Count,
    Dollars,
    GroupWord,
    Model,
    Seconds,
    StageIndex,
    StatusWord,
    VerdictWord,
)
from arcview.schema.show import ListGate, ShowChange

PresenceWord = Literal["present", "different", "missing", "moved"]


class ContractFinding(Model):
    """One item of a contract in one state."""

    presence: PresenceWord
    """`moved`: there, but not in the file that the contract names."""
    path: str | None
    line: int | None
    found: str | None
    """What stands there instead, where it is different; `a string` for a name that is a value."""
    method: Literal["ast", "text"]
    """`text`: names and literals only, as in languages other than Python."""


class ContractDrift(Model):
    """A state in which an item that was there before is gone or different."""

    before: str
    after: str
    presence: PresenceWord


class ContractItemRow(Model):
    """One item of a contract in every state."""

    kind: Literal["name", "signature", "constant", "error_message"]
    text: str
    path: str | None
    """The file that the contract names."""
    extracted: bool
    """Taken from prose by its looks."""
    findings: dict[str, ContractFinding | None]
    """By state; null where its files are missing."""
    drift: list[ContractDrift]
    """From the end of the stage on."""


class ContractStage(Model):
    """The contract of one stage."""

    stage: StageIndex
    origin: Literal["contract.json", "contract", "spec"] | None
    """`spec`: no contract is recorded; null where neither is there."""
    end: str | None
    """The state in which all of it should be there."""
    items: list[ContractItemRow]


class ContractReport(Model):
    """`arcview contract --json`."""

    schema_: Literal["arcview/contract/1"] = Field(alias="schema")
    run_id: str
    path: str
    states: list[str]
    """The agent's line, in order."""
    stages: list[ContractStage]
    problems: list[str]


class CompareRun(Model):
    """One of the two runs."""

    run_id: str
    path: str
    agent: str | None
    agent_version: str | None
    model: str | None
    task_id: str
    attempt: str | None
    status: StatusWord | Literal["unknown"]
    first_bad_stage: StageIndex | None
    first_failing_gate: str | None


class CompareDivergence(Model):
    """The first gate, in the order of the chain, at which two runs part.

    Gates that one of the runs did not measure are passed by.
    """

    gate: str
    stage: StageIndex | None
    """Null for the chain gate."""
    a: VerdictWord
    b: VerdictWord


class CompareTest(Model):
    """A test that both runs measured and that ended otherwise."""

    id: str
    group: GroupWord
    a: str
    """Outcome in the first run."""
    b: str
    better: Literal["a", "b", "neither"]
    """In which run it is ok; `neither` where it is in both or in none."""


class CompareGate(Model):
    """One gate of two runs."""

    gate: str
    a: ListGate | None
    """Null where the run has no such gate."""
    b: ListGate | None
    compared: bool
    """Both measured it; otherwise what follows is empty."""
    verdicts_differ: bool
    both_ok: Count
    both_not_ok: Count
    differences: list[CompareTest]
    only_in_a: list[str]
    """Ids of expected tests that the other run's gate does not have."""
    only_in_b: list[str]
    shared_causes: list[str]
    """What killed tests in both runs alike."""


class CompareSide(Model):
    """One stage of one run."""

    title: str | None
    status: StatusWord | Literal["unknown"]
    debt: Count | None
    steps: Count | None
    tool_calls: Count | None
    cost_usd: Dollars | None
    duration_s: Seconds | None
    base: str | None
    end: str | None
    change: ShowChange


class CompareRenamed(Model):
    """One file that has another name in each run."""

    a: str
    b: str
    similarity: Count
    """Percent of the larger one that both share, as whole lines."""


class CompareFiles(Model):
    """Source and test files that the stage changed."""

    both: list[str]
    """Under one name."""
    renamed: list[CompareRenamed]
    """Under two names, matched by content: half of the text at least is the same."""
    only_a: list[str]
    only_b: list[str]


class CompareStage(Model):
    """One stage of two runs."""

    index: StageIndex
    a: CompareSide | None
    """Null where the run has no such stage."""
    b: CompareSide | None
    gate: CompareGate
    files: CompareFiles | None
    """Null where the change is not known in both."""


class CompareReport(Model):
    """`arcview compare --json`."""

    schema_: Literal["arcview/compare/1"] = Field(alias="schema")
    a: CompareRun
    b: CompareRun
    same_task: bool
    first_divergence: CompareDivergence | None
    """Of verdicts."""
    first_test_divergence: CompareDivergence | None
    """Of single tests."""
    stages: list[CompareStage]
    chain_gate: CompareGate | None
    problems: list[str]
    """What makes the comparison less than it looks."""


class FindHit(Model):
    """One line of `arcview find --json`: a line of the run that matches."""

    schema_: Literal["arcview/find/1"] = Field(alias="schema")
    address: str
    """Where it stands, as `--at` takes it."""
    kind: str
    """`step`, `diff`, `gate`, `spec` or `log`."""
    title: str
    line: Count
    """1-based within that text."""
    text: str
    spans: list[list[Count]]
    """Start and end of every match in the line, as character offsets."""
