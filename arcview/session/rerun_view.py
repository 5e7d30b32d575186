"""What is known of one gate on one state before and after it is run again; knows no screen.

Reads the recorded tests and the stored results: for a thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from arcview.analysis.overview import GateCell
from arcview.analysis.verdicts import Policy
from arcview.errors import ArcviewError
from arcview.gates.results import Comparison, Flakiness, RerunResult, compare, flakiness
from arcview.model.results import GateTest
from arcview.session.reruns import Reruns
from arcview.session.reruns_model import RerunPlan, Target


@dataclass(frozen=True)
class RerunView:
    """One gate on one state: what was recorded, what reruns said, what a rerun would do."""

    gate: str
    state: str
    policy: Policy
    recorded: GateCell | None = None
    """Null where that gate was not recorded on that state."""
    recorded_codes: tuple[int, ...] = ()
    """The recorded exit codes; empty where none are."""
    recorded_tests: tuple[GateTest, ...] = ()
    target: Target | None = None
    results: tuple[RerunResult, ...] = ()
    """Every stored attempt, oldest first."""
    plan: RerunPlan | None = None
    """Null until the engine was asked, and where the gate cannot be run at all."""
    error: str | None = None
    """Why it cannot be run at all, in one line."""

    @cached_property
    def comparisons(self) -> tuple[Comparison | None, ...]:
        """Each attempt beside what was recorded; null where nothing is."""
        if self.recorded is None:
            return (None,) * len(self.results)
        verdict = self.recorded.judgement.verdict
        return tuple(
            compare(self.recorded_tests, verdict, result, self.policy) for result in self.results
        )

    def flakiness(self, result: RerunResult) -> Flakiness:
        """How often each test was ok over the attempts in the same image."""
        same = (each for each in self.results if each.key == result.key)
        return flakiness(same, self.policy)

    @property
    def expected_s(self) -> float | None:
        """How long one attempt takes: what the last one took, else what was recorded."""
        for result in reversed(self.results):
            if result.is_measured:
                return result.duration_s + result.overhead_s
        return self.plan.recorded_duration_s if self.plan is not None else None


def stored_view(reruns: Reruns, gate: str, state: str) -> RerunView:
    """What is recorded and stored; asks no engine."""
    opened = reruns.opened
    view = RerunView(gate, state, opened.policy)
    record = opened.run.gate(gate, state)
    if record is not None:
        view = replace(
            view,
            recorded=opened.gate_view(gate, state).cell,
            recorded_codes=record.exit_codes,
            recorded_tests=opened.reader().gate_tests(gate, state),
        )
    try:
        target = reruns.target(state)
        return replace(view, target=target, results=reruns.known(gate, target.tree))
    except ArcviewError as error:
        return replace(view, error=str(error))


def planned(reruns: Reruns, view: RerunView) -> RerunView:
    """The same with what a rerun would do, for which the engine is asked."""
    if view.target is None or view.error is not None:
        return view
    try:
        return replace(view, plan=reruns.plan(view.gate, view.target))
    except ArcviewError as error:
        return replace(view, error=str(error))


def short_digest(digest: str) -> str:
    """`sha256:0123456789ab`, as people tell images apart."""
    kind, colon, rest = digest.partition(":")
    return f"{kind}{colon}{rest[:12]}" if colon else digest[:19]
