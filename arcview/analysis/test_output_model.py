"""What is known of one run of tests from its output, as plain data.

Imports only the model, so that a run which is opened from its cache loads no patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from arcview.model.results import Outcome

RunOutcome = Literal["passed", "failed", "none", "unknown"]
"""`none`: no test ran (no tests found, the runner is missing, stopped before)."""


@dataclass(frozen=True, slots=True)
class ReportedTest:
    """One test that a runner named."""

    id: str
    """As the runner prints it: a pytest node id, `file > suite > name`, `package TestName` …"""
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class RunReport:
    """What is known of one run. Null counts are unknown."""

    outcome: RunOutcome
    passed: int | None = None
    failed: int | None = None
    """Failures and errors together."""
    skipped: int | None = None
    evidence: str = ""
    """The line, or the fact, that decided."""
    family: str | None = None
    """The runner whose closing line was read."""
    tests: tuple[ReportedTest, ...] = ()
