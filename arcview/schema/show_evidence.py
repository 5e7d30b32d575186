"""The pydantic models of the twin's evidence: what failures lead to, what self-tests covered."""

from __future__ import annotations

from typing import Literal

from arcview.schema.base import Count, Model


class ShowFrame(Model):
    """One line of code that a failure leads to, and what wrote it.

    At most ten: the stack frames in the agent's own code, deepest first; where the failure names
    none (a gate that only runs the program), the lines that share text with it, best first.
    """

    path: str
    line: int | None
    function: str | None
    stage: int | None
    """The stage that last wrote the line; 0 for lines of the start state."""
    step: int | None
    """Number of the step that last wrote the line."""
    certainty: Literal["exact", "candidate", "none"]
    """How sure stage and step are; `candidate` for every line that only shares text."""
    basis: Literal["traceback", "clue"] | None = None
    """`traceback`: the failure names the line; `clue`: the line shares text with the failure."""
    state: str | None = None
    """The state that the line first stood in: a between-state where a pass wrote it."""
    step_key: str | None = None
    """What stays the same when steps are counted otherwise."""
    reason: str | None = None
    """Why a `clue` is one, for people."""


class ShowSymptom(Model):
    """A tool output that had shown the failure before the gate did, of this stage or before."""

    stage: int
    state: str | None
    """The between-state that the pass of the step ended in; null for the stage's own steps."""
    step: int | None
    step_key: str
    text: str
    """The line of the output."""


class ShowStepShare(Model):
    """A step and how many lines of a change it wrote."""

    step: int | None
    step_key: str
    lines: Count


class ShowTrail(Model):
    """Where to look next."""

    began: str | None
    """The state at which the test began to fail; null where that is not known."""
    suspect_change: list[str]
    """Source files of the change to that state, ten at the most."""
    suspect_steps: list[ShowStepShare]
    """The steps that wrote it, as far as that is known exactly, the largest share first."""
    symptoms: list[ShowSymptom]
    """Ten at the most."""
    nothing: str | None
    """Why there is nothing to go on, where that is so."""


class ShowExercise(Model):
    """Whether a self-test of the stage exercised what a failing test checks: a guess from names."""

    answer: Literal["likely", "unlikely", "unknown"]
    reason: str
    step: int | None
    """The self-test that the reason speaks of."""
    step_key: str | None


class ShowReportedTest(Model):
    """One test that a self-test's output names."""

    id: str
    outcome: str


class ShowSymbol(Model):
    """A name of the agent's code."""

    name: str
    stage: Count | None
    """The stage that last wrote its definition; 0 for the start state."""


class ShowLateEdit(Model):
    """A source or test file that was changed after the last green run."""

    step: int | None
    step_key: str
    path: str


class ShowClaim(Model):
    """A sentence of the agent's closing message that claims success."""

    kind: Literal["tests_pass", "works", "unchanged", "done"]
    """`unchanged`: behaviour is the same as before."""
    text: str
    start: Count
    """Offsets, in that message, of the phrase that decided."""
    end: Count
    step: int | None
    step_key: str | None


class ShowSelfTestDepth(Model):
    """What the agent's own tests covered, beside what the gate says."""

    revisits_earlier: bool | None
    """A test of an earlier stage was run again; null where only suites ran that name no test."""
    last_green_step: int | None
    """The last suite or assertion that passed; null where none did."""
    last_green_step_key: str | None
    edits_after_green: list[ShowLateEdit] | None
    """Null where there was no green run."""
    edits_basis: Literal["recorded", "visible"]
    """`visible`: only what calls spell out is known, not what programs wrote."""
    claim: ShowClaim | None
    """The strongest one; null where the agent closed without a claim or without a message."""
    claim_gap: bool | None
    """Success was claimed and the gate failed; null where the gate is unmeasured."""


class ShowTrace(Model):
    """How much of a stage's change is traced to its steps."""

    recorded: bool
    """The run recorded the workspace after each step."""
    lines: Count
    """Lines of source and test files that the change wrote."""
    exact: Count
    """Those whose step is known."""
    candidate: Count
    """Those whose step is likely."""
    files: Count
    """Source and test files that the change left or made."""
    equal: Count
    """Those that replaying the visible edits gives line by line as they are."""
    unlike: list[str]
    """The others: a program wrote to them."""
