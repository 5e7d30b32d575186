"""The pydantic models of what `contract`, `compare` and `find` print with `--json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from arcview.schema.base import Count, Model, StageIndex

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
    spans: list[tuple[Count, Count]]
    """Every match in the line, as character offsets."""
