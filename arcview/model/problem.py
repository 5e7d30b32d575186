"""What was wrong or missing in the input, kept beside what could be read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, damaged or missing, and what follows from it."""

    where: str
    """File (relative to the run) and place in it: `stages/2/gate/tests.jsonl: line 14`."""
    what: str
    """What is wrong there and what it switches off, in one line."""
