"""One gate run in full: what failed and where that comes from, what passed, what was healed.

Pure; the tests with their messages are handed in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arcview.analysis.history import GateHistory, History
from arcview.analysis.overview import GateCell, gate_cell
from arcview.analysis.verdicts import DEFAULT_POLICY, Policy, is_ok
from arcview.model.results import GateRecord, GateTest, Outcome


@dataclass(frozen=True, slots=True)
class FailingTest:
    """A test that is expected and not ok, with what earlier gates say of it."""

    test: GateTest
    history: History
    since: str | None = None
    """For an inherited failure: the state at which it began."""


@dataclass(frozen=True, slots=True)
class SignatureGroup:
    """Failing tests with one signature, in the order of the gate."""

    signature: str
    title: str
    """One line for people: the fatal line itself where all tests share it, else the signature."""
    tests: tuple[GateTest, ...]


@dataclass(frozen=True, slots=True)
class GateView:
    """The tests of one gate run. Each recorded test is in exactly one of the first four."""

    cell: GateCell
    failing: tuple[FailingTest, ...] = ()
    """Every expected test that is not ok, skipped and missing ones included, F2P before P2P."""
    passing: tuple[GateTest, ...] = ()
    """Every expected test that is ok."""
    other_not_ok: tuple[GateTest, ...] = ()
    """Tests that were reported without being expected and are not ok: no part of the verdict."""
    extra_ok: tuple[GateTest, ...] = ()
    """Tests that were reported without being expected and are ok."""
    healed: tuple[GateTest, ...] = ()
    """Those of `passing` whose last earlier result was not ok."""
    groups: tuple[SignatureGroup, ...] = ()
    """The failing tests grouped by what killed them, the largest group first."""
    logs: tuple[str, ...] = ()
    """Raw logs and reports, relative to the run folder."""

    @property
    def skipped(self) -> int:
        """How many of `failing` were skipped: not ok, though nothing in them failed."""
        return sum(failing.test.outcome is Outcome.SKIPPED for failing in self.failing)

    def history_of(self, test: GateTest) -> History | None:
        """The history of a failing test, or null for any other."""
        return next((f.history for f in self.failing if f.test == test), None)


_GROUP_ORDER = {"f2p": 0, "p2p": 1, "other": 2}


def build_gate_view(
    gate: str,
    state: str | None,
    record: GateRecord | None,
    tests: Iterable[GateTest],
    history: GateHistory | None,
    policy: Policy = DEFAULT_POLICY,
    *,
    absent: str | None = None,
) -> GateView:
    """Sorts the tests of one gate run.

    Args:
        gate: `1` … `n`, or `chain`.
        state: The state it ran on.
        record: What was recorded; null makes an unmeasured view.
        tests: Its tests with messages; may be empty.
        history: What `run_history` says of this gate run.
        policy: Which outcomes count as ok.
        absent: Why there is no record, where that is known.
    """
    from arcview.analysis.signatures import group  # 8 ms of patterns that a cached view spares

    ordered = sorted(tests, key=lambda test: _GROUP_ORDER[test.group.value])
    expected = [test for test in ordered if not test.extra]
    failing = [test for test in expected if not is_ok(test.outcome, policy)]
    passing = [test for test in expected if is_ok(test.outcome, policy)]
    extra = [test for test in ordered if test.extra]
    histories = history.failing if history is not None else {}
    since = history.since if history is not None else {}
    healed = set(history.healed or ()) if history is not None else set()
    return GateView(
        cell=gate_cell(gate, state, record, history, policy, absent=absent),
        failing=tuple(
            FailingTest(test, histories.get(key, History.UNKNOWN), since.get(key))
            for test in failing
            for key in [(test.group.value, test.id)]
        ),
        passing=tuple(passing),
        other_not_ok=tuple(test for test in extra if not is_ok(test.outcome, policy)),
        extra_ok=tuple(test for test in extra if is_ok(test.outcome, policy)),
        healed=tuple(test for test in passing if (test.group.value, test.id) in healed),
        groups=group(failing),
        logs=record.log_paths if record is not None else (),
    )
