"""Does a run keep to the protocol it claims? Findings that each point to a step; none is a proof.

Types, and the checks that need the steps alone: sessions and context compactions. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from arcview.model.trajectory import Role, Step, StepKind, Trajectory
from arcview.model.trajectory_refs import SessionRole


class Check(StrEnum):
    """What is looked at, in the order of the protocol."""

    STATE = "state"
    """The state at the start of a stage is the one that stood there before it."""
    SESSION = "session"
    """One session goes through all stages."""
    FEEDBACK = "feedback"
    """Between stages the agent is told the next specification and no more."""
    LEAK = "leak"
    """The agent saw ids or paths of hidden tests."""
    LOOKUP = "lookup"
    """The agent looked for the solution: other history, releases, the network."""
    REVERTED = "reverted"
    """Files went back without a step of the agent."""
    COMPACTION = "compaction"
    """Earlier turns were replaced by a summary: the session goes on, the memory may not."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One place to look at. Text is as it came from the run: hostile."""

    check: Check
    stage: int
    step_key: str | None
    """Null where the stage has no step at all."""
    step: int | None
    what: str
    """One line, in our words."""
    quote: str | None = None
    """What stands there."""
    basis: Literal["recorded", "candidate"] = "recorded"
    """Recorded: the files of the run say so themselves. Candidate: found by its looks."""
    state: str | None = None
    """The between-state, where the step belongs to the pass that ended in it."""
    part: tuple[str, ...] = ()
    """Where in the step, as in an address: `text`, or a call key with `call` or `result`."""
    span: tuple[int, int] | None = None
    """Character offsets within that part."""
    detail: str | None = None
    """A word for programs, where a check tells several things apart."""


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A check that could not be made, and why."""

    check: Check | None
    """Null for all of them."""
    stage: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Part:
    """The steps of one stage, or of the pass after it."""

    stage: int
    trajectory: Trajectory
    state: str | None = None
    """The between-state that a pass ended in."""

    def finding(
        self,
        check: Check,
        step: Step | None,
        what: str,
        quote: str | None = None,
        basis: Literal["recorded", "candidate"] = "recorded",
    ) -> Finding:
        """A finding at a step of this part; without one at its first message."""
        steps = self.trajectory.steps
        at = step or next((s for s in steps if s.number is not None), next(iter(steps), None))
        key, number = (at.key, at.number) if at is not None else (None, None)
        return Finding(check, self.stage, key, number, what, quote, basis, self.state)


def find_compactions(part: Part) -> Iterator[Finding]:
    """Each place where the context was cut; a boundary and its summary are one."""
    previous: Step | None = None
    for step in part.trajectory.steps:
        goes_on = previous is not None and previous.kind is StepKind.COMPACTION
        if step.kind is StepKind.COMPACTION and not goes_on:
            yield part.finding(
                Check.COMPACTION, step, "the context was compacted", step.text or None
            )
        previous = step


def main_sessions(trajectory: Trajectory) -> tuple[str, ...]:
    """The sessions of the main agent that did something, in order."""
    return tuple(
        session.id
        for session in trajectory.sessions
        if session.role in (SessionRole.MAIN, SessionRole.RETRY) and session.steps
    )


def find_sessions(parts: Sequence[Part]) -> Iterator[Finding | Unchecked]:
    """Where a stage does not go on in the session of the one before it.

    Args:
        parts: The stages in order, passes left out.
    """
    last: tuple[int, str] | None = None
    for part in parts:
        sessions = main_sessions(part.trajectory)
        if not sessions:
            if part.trajectory.steps:
                yield Unchecked(Check.SESSION, part.stage, "no session is recorded")
            continue
        if last is not None and sessions[0] != last[1]:
            what = f"not the session of stage {last[0]}"
            yield part.finding(Check.SESSION, _first_of(part, sessions[0]), what, sessions[0])
        for session in sessions[1:]:
            what = "another session within the stage"
            yield part.finding(Check.SESSION, _first_of(part, session), what, session)
        last = (part.stage, sessions[-1])


def _first_of(part: Part, session: str) -> Step | None:
    """The first message of a session."""
    steps = [step for step in part.trajectory.steps if step.session == session]
    return next((step for step in steps if step.number is not None), next(iter(steps), None))


def is_agent(step: Step) -> bool:
    """Whether a step is the main agent's or a sub-agent's own message."""
    return step.kind is StepKind.MESSAGE and step.role is Role.ASSISTANT
