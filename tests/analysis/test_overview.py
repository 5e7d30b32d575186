from __future__ import annotations

from dataclasses import replace

from arcview.analysis.gate_view import build_gate_view
from arcview.analysis.history import History, run_history
from arcview.analysis.overview import StepCounts, Total, build_overview, with_steps
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest, Group, GroupCounts, Outcome, Verdict
from arcview.model.run import Chain, Pass, Run, Stage, Status
from arcview.model.states import Provenance, State, StateKind
from arcview.model.trajectory_refs import Usage


def outcomes_of(record: GateRecord) -> tuple[GateTest, ...]:
    return {
        "S1": (GateTest("a", Group.F2P, Outcome.PASSED), GateTest("b", Group.F2P, Outcome.FAILED)),
        "S1.tidy": (
            GateTest("a", Group.F2P, Outcome.FAILED),
            GateTest("b", Group.F2P, Outcome.PASSED),
        ),
        "S2": (
            GateTest("c", Group.F2P, Outcome.MISSING),
            GateTest("a", Group.P2P, Outcome.PASSED),
            GateTest("x", Group.P2P, Outcome.FAILED, extra=True),
            GateTest("y", Group.P2P, Outcome.PASSED, extra=True),
        ),
    }[str(record.state)]


def a_run(*, has_chain_gate: bool = False) -> Run:
    states = (
        State("S0", 0, StateKind.START, Provenance.RECORDED),
        State("S1", 1, StateKind.STAGE_END, Provenance.RECORDED),
        State("S1.tidy", 1, StateKind.BETWEEN, Provenance.RECORDED),
        State("S2", 2, StateKind.STAGE_END, Provenance.RECORDED),
    )
    tidy = Pass("S1.tidy", "tidy", usage=Usage(cost_usd=0.5))
    stages = (
        Stage(1, "one", Status.COMPLETED, None, "S0", "S1", duration_s=60,
              usage=Usage(cost_usd=1.0), passes=(tidy,)),
        Stage(2, "two", Status.INTERRUPTED, "killed", "S1.tidy", "S2"),
        Stage(3, None, Status.NOT_STARTED),
    )  # fmt: skip
    gates = []
    for gate, state in (("1", "S1"), ("1", "S1.tidy"), ("2", "S2")):
        tests = outcomes_of(GateRecord(gate, state))
        f2p, p2p = (
            GroupCounts.of(t for t in tests if t.group is g) for g in (Group.F2P, Group.P2P)
        )
        gates.append(GateRecord(gate, state, f2p, p2p, notes=(f"note of {state}",)))
    chain = Chain("task", has_chain_gate=has_chain_gate)
    return Run("id", "fake", "here", chain, states=states, stages=stages, gates=tuple(gates),
               problems=(Problem("a", "b"),))  # fmt: skip


def test_a_stage_row_says_what_its_gate_and_its_status_say() -> None:
    first, second, third = build_overview(a_run(), outcomes_of).stages
    assert first.judgement.verdict is Verdict.FAILED
    assert (first.gate.failing, first.gate.healed, first.debt) == (1, 0, 0)
    assert (second.status, second.status_detail) == (Status.INTERRUPTED, "killed")
    assert (second.debt, second.gate.healed) == (1, 1)
    assert second.gate.notes == ("note of S2",)
    assert (third.judgement.verdict, third.judgement.reason) == (
        Verdict.UNMEASURED,
        "the stage was not started",
    )
    assert (third.debt, third.gate.failing, third.f2p) == (None, None, None)


def test_gates_of_between_states_stand_with_the_stage_they_follow() -> None:
    first = build_overview(a_run(), outcomes_of).stages[0]
    assert [(cell.state, cell.failing, cell.healed) for cell in first.between] == [
        ("S1.tidy", 1, 1)
    ]
    assert first.between[0].histories is not None
    assert first.between[0].histories.new == 1


def test_unknown_costs_stay_apart_from_the_sum() -> None:
    totals = build_overview(a_run(), outcomes_of).totals
    assert totals.cost_usd == Total(1.0, ("2",))
    assert totals.duration_s == Total(60, ("2",))
    assert totals.between_cost_usd == Total(0.5)


def test_without_single_tests_what_needs_them_is_unknown_and_the_rest_is_there() -> None:
    whole, summary = build_overview(a_run(), outcomes_of), build_overview(a_run())
    assert [row.debt for row in summary.stages] == [None, None, None]
    assert [row.gate.healed for row in summary.stages] == [None, None, None]
    assert [row.f2p for row in summary.stages] == [row.f2p for row in whole.stages]
    assert summary.first_bad_state == whole.first_bad_state == "S1"
    assert summary.first_failing_gate == whole.first_failing_gate == "1"


def test_a_declared_chain_gate_that_never_ran_is_unmeasured_and_an_undeclared_one_is_none() -> None:
    assert build_overview(a_run()).chain_gate is None
    cell = build_overview(a_run(has_chain_gate=True)).chain_gate
    assert cell is not None
    assert cell.judgement.verdict is Verdict.UNMEASURED


def test_steps_are_unknown_until_they_are_counted() -> None:
    overview = build_overview(a_run(), outcomes_of)
    assert (overview.complete, overview.stages[0].steps) == (False, None)
    done = with_steps(overview, {1: StepCounts(4, 9)})
    assert (done.stages[0].steps, done.stages[0].tool_calls) == (4, 9)
    assert (done.complete, done.stages[1].steps) == (True, None)


def test_problems_are_named_once() -> None:
    overview = build_overview(a_run(), problems=[Problem("a", "b"), Problem("c", "d")])
    assert overview.problems == (Problem("a", "b"), Problem("c", "d"))


def test_a_gate_view_puts_each_test_in_one_place() -> None:
    run = a_run()
    record = run.gates[-1]
    history = run_history(run, outcomes_of).of("2", "S2")
    view = build_gate_view("2", "S2", record, outcomes_of(record), history)
    assert [(f.test.id, f.history) for f in view.failing] == [("c", History.FIRST)]
    assert [test.id for test in view.passing] == ["a"]
    assert [test.id for test in view.other_not_ok] == ["x"]
    assert [test.id for test in view.extra_ok] == ["y"]
    assert [test.id for test in view.healed] == ["a"]
    assert [group.signature for group in view.groups] == ["expected, but not in the report"]
    assert view.history_of(view.failing[0].test) is History.FIRST
    assert view.history_of(view.passing[0]) is None


def test_failing_outcomes_of_an_unmeasured_gate_have_an_unknown_history() -> None:
    record = GateRecord("1", "S1", GroupCounts(expected=1, missing=1), GroupCounts())
    tests = (GateTest("a", Group.F2P, Outcome.MISSING),)
    view = build_gate_view("1", "S1", record, tests, None)
    assert view.cell.judgement.verdict is Verdict.UNMEASURED
    assert [f.history for f in view.failing] == [History.UNKNOWN]


def test_a_stage_gate_whose_state_is_not_named_is_shown_at_its_stage() -> None:
    run = a_run()
    run = replace(run, gates=(replace(run.gates[0], state=None),))
    row = build_overview(run).stages[0]
    assert row.judgement.verdict is Verdict.FAILED


def test_a_between_state_without_a_gate_is_an_unmeasured_cell() -> None:
    run = replace(a_run(), gates=(), stages=(replace(a_run().stages[0], passes=()),))
    (cell,) = build_overview(run).stages[0].between
    assert (cell.state, cell.judgement.verdict) == ("S1.tidy", Verdict.UNMEASURED)
