"""What the agent was told besides the specification. Pure text; words decide, and say so."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Literal

from arcview.analysis.audit import Check, Finding, Part, is_agent
from arcview.model.trajectory import Role, Step, StepKind

Feedback = Literal["none", "other", "failure_reported", "fix_explained"]

_FAILURE = re.compile(
    r"\b(?:fail(?:s|ed|ing|ures?)?|d(?:id|oes)(?:n't| not) (?:pass|work)|broken?"
    r"|bugs?|regress\w*|wrong|incorrect|errors?|mistakes?|not (?:pass|work|correct)\w*|red)\b",
    re.IGNORECASE,
)
_FIX = re.compile(
    r"\b(?:fix(?:es|ed)?|repair|correct|change|replace|instead|should"
    r"|you (?:forgot|missed|need)|make sure|revert|undo|restore)\b",
    re.IGNORECASE,
)


def user_turns(part: Part) -> list[Step]:
    """What a user, or the harness in the user's name, said to the main agent."""
    return [step for step in part.trajectory.steps if _is_turn(step)]


def _is_turn(step: Step) -> bool:
    return step.kind is StepKind.MESSAGE and step.role is Role.USER and step.agent is None


def remainder(text: str, known: Collection[str]) -> str:
    """The lines of a message that none of the known texts has, white space aside."""
    lines = {_plain(line) for one in known for line in one.split("\n")}
    rest = [line for line in text.split("\n") if _plain(line) and _plain(line) not in lines]
    return "\n".join(rest)


def _plain(line: str) -> str:
    return " ".join(line.split())


def classify(rest: str) -> Feedback:
    """What a remainder is, by its words."""
    if not rest.strip():
        return "none"
    if _FAILURE.search(rest):
        return "fix_explained" if _FIX.search(rest) else "failure_reported"
    return "other"


def strongest(findings: Iterable[Finding]) -> Feedback:
    """The strongest feedback that was found; none where nothing was."""
    order: tuple[Feedback, ...] = ("none", "other", "failure_reported", "fix_explained")
    found = {finding.detail for finding in findings if finding.check is Check.FEEDBACK}
    return next(kind for kind in reversed(order) if kind in found or kind == "none")


_WHAT = {
    "other": "was told more than the specification",
    "failure_reported": "may have been told that something failed",
    "fix_explained": "may have been told what failed and how to mend it",
}


def find_feedback(
    part: Part, known: Collection[str], opening: Collection[str]
) -> Iterator[Finding]:
    """What the turns of a stage say besides the specification.

    Args:
        part: The stage.
        known: The specification and contract of the stage.
        opening: What the first stage was told: before it nothing can have failed, so its lines
            are the template.
    """
    in_the_middle = False
    for step in part.trajectory.steps:
        in_the_middle |= is_agent(step)
        if not _is_turn(step):
            continue
        rest = remainder(step.text, [*known, *opening])
        kind = classify(rest)
        if kind == "none":
            continue
        what = _WHAT[kind]
        if in_the_middle:
            what = f"in the middle of the stage the agent {what}"
        else:
            what = f"the agent {what}"
        found = part.finding(Check.FEEDBACK, step, what, rest, "candidate")
        yield replace(found, part=("text",), detail=kind)
