from __future__ import annotations

from collections import Counter

from arcview.analysis.shared_failures import (
    GateSignatures,
    SharedSignature,
    shared_signatures,
    signature_counts,
)
from arcview.model.results import GateTest, Group, Outcome


def failing(message: str | None, outcome: Outcome = Outcome.ERROR) -> GateTest:
    return GateTest("t", Group.F2P, outcome, message=message)


def gate(run: str, agent: str | None, *signatures: str, task: str = "t") -> GateSignatures:
    return GateSignatures(run, agent, task, "1", tuple(Counter(signatures).items()))


def test_a_cause_of_three_agents_is_suspect() -> None:
    gates = [gate(f"r{n}", f"agent{n}", "same", f"own {n}") for n in range(3)]
    assert shared_signatures(gates) == (
        SharedSignature(
            "same", "3 agents have it", None, ("r0", "r1", "r2"), ("agent0", "agent1", "agent2"),
            3, 3,
        ),
    )  # fmt: skip


def test_the_same_cause_in_many_runs_of_one_agent_is_not() -> None:
    gates = [gate(f"r{n}", "one", "same", "x", f"y{n}", task=f"t{n}") for n in range(5)]
    assert shared_signatures(gates) == ()


def test_a_cause_of_nearly_all_failures_of_one_gate_is_suspect() -> None:
    gates = [gate("r1", "a", "same", "same"), gate("r2", "b", "same", "same", "other")]
    (found,) = shared_signatures(gates)
    assert found.reason == "4 of 5 failures of gate 1 of t have it"


def test_a_single_run_shares_nothing() -> None:
    assert shared_signatures([gate("r1", "a", "same", "same", "same")]) == ()


def test_what_one_run_alone_died_of_is_not_shared_though_it_fills_the_gate() -> None:
    assert shared_signatures([gate("r1", "a", *["same"] * 9), gate("r2", "b", "own")]) == ()


def test_known_wordings_of_broken_machinery_come_first() -> None:
    full = "OSError: No space left on device"
    gates = [gate(f"r{n}", f"agent{n}", "same", "same", full) for n in range(3)]
    assert [(s.signature, s.condition) for s in shared_signatures(gates)] == [
        (full, "disk full"), ("same", None),
    ]  # fmt: skip


def test_signatures_leave_out_what_differs_from_run_to_run() -> None:
    one = failing("OSError: /tmp/a1/x: No space left on device")
    other = failing("OSError: /tmp/b2/y: No space left on device")
    assert [count for _, count in signature_counts([one, other])] == [2]


def test_a_test_without_a_message_says_nothing_of_its_cause() -> None:
    silent = [failing(None, Outcome.MISSING), failing(" \n", Outcome.FAILED)]
    assert signature_counts(silent) == ()
