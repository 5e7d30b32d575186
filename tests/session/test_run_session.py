from __future__ import annotations

from dataclasses import replace

import pytest

from arcview.model.results import GateRecord
from arcview.model.run import Chain, Run, Stage, Status
from arcview.model.states import Provenance, State, StateKind
from arcview.model.trajectory_refs import TrajectoryRef
from arcview.session.run_session import Column, Part, RunSession, Target
from arcview.session.run_session_stops import DiffMode, StopKind


def _state(name: str, stage: int, kind: StateKind) -> State:
    return State(name, stage, kind, Provenance.RECORDED)


def _run(*, chain: bool = True, reference: bool = False) -> Run:
    """Three stages; a refactoring pass after the second."""
    states = [
        _state("S0", 0, StateKind.START),
        _state("S1", 1, StateKind.STAGE_END),
        _state("S2", 2, StateKind.STAGE_END),
        _state("S2.refactor", 2, StateKind.BETWEEN),
        _state("S3", 3, StateKind.STAGE_END),
    ]
    if reference:
        states += [_state(f"R{k}", k, StateKind.REFERENCE) for k in (1, 2, 3)]
    bases = {1: "S0", 2: "S1", 3: "S2.refactor"}
    stages = tuple(
        Stage(k, f"stage {k}", Status.COMPLETED, base=bases[k], end=f"S{k}") for k in (1, 2, 3)
    )
    gates = (GateRecord("chain", "S3"),) if chain else ()
    return Run(
        "r", "native", "runs/r", Chain("t", has_chain_gate=chain),
        states=tuple(states), stages=stages, gates=gates,
    )  # fmt: skip


@pytest.fixture
def session() -> RunSession:
    return RunSession(_run())


def test_opens_at_the_first_failing_gate_with_the_gate_pane_focused() -> None:
    session = RunSession(_run(), first_failing_gate="2")
    assert (session.stop.stage, session.column) == (2, Column.GATE)


def test_opens_at_stage_one_with_the_diff_when_nothing_failed(session: RunSession) -> None:
    assert (session.stop.stage, session.column) == (1, Column.DIFF)


def test_opens_with_the_trajectory_where_nothing_else_is_recorded() -> None:
    ref = TrajectoryRef("log.jsonl")
    stage = Stage(1, None, Status.COMPLETED, trajectories=(ref,))
    gate = GateRecord("1", None, unmeasured="no gate result is recorded")
    session = RunSession(replace(_run(), states=(), stages=(stage,), gates=(gate,)))
    assert session.column is Column.TRAJECTORY
    assert session.absent == {Column.DIFF, Column.GATE}


def test_a_run_without_trajectories_has_neither_steps_nor_tests_of_the_agent() -> None:
    run = _run()
    stages = tuple(replace(stage, trajectories=()) for stage in run.stages)
    assert RunSession(replace(run, stages=stages)).absent >= {Column.TRAJECTORY, Column.SELF_TESTS}


def test_opens_at_the_chain_gate_when_only_that_failed() -> None:
    assert RunSession(_run(), first_failing_gate="chain").stop.kind is StopKind.CHAIN


def test_the_rail_holds_stages_between_states_and_the_chain_gate(session: RunSession) -> None:
    assert [(s.kind.value, s.state) for s in session.stops] == [
        ("stage", "S1"),
        ("stage", "S2"),
        ("between", "S2.refactor"),
        ("stage", "S3"),
        ("chain", "S3"),
    ]


def test_a_run_without_stages_below_it_has_no_chain_stop() -> None:
    assert RunSession(_run(chain=False)).stops[-1].kind is StopKind.STAGE


def test_stage_keys_pass_over_between_states(session: RunSession) -> None:
    session.go_to_stage(2)
    session.step_stage(1)
    assert session.stop.state == "S3"


def test_state_keys_stop_at_between_states(session: RunSession) -> None:
    session.go_to_stage(2)
    session.step_state(1)
    assert session.stop.state == "S2.refactor"


def test_the_end_of_the_rail_says_so(session: RunSession) -> None:
    change = session.step_stage(-1)
    assert (change.parts, change.notice) == (frozenset(), "there is nothing further")


def test_a_stage_that_does_not_exist_says_so(session: RunSession) -> None:
    assert session.go_to_stage(9).notice == "this run has no stage 9"


def test_selecting_what_is_selected_changes_nothing(session: RunSession) -> None:
    assert session.go_to_stage(1).parts == frozenset()


def test_first_bad_state_may_be_a_between_state() -> None:
    session = RunSession(_run(), first_bad_stage=2, first_bad_state="S2.refactor")
    session.go_to_first_bad()
    assert session.stop.kind is StopKind.BETWEEN


def test_no_failure_is_said(session: RunSession) -> None:
    assert session.go_to_first_failing().notice == "no measured gate failed"
    assert session.go_to_first_bad().notice == "no failure arose in any measured state"


def test_panes_go_round(session: RunSession) -> None:
    seen = [session.column]
    for _ in range(4):
        session.step_pane(1)
        seen.append(session.column)
    assert seen == [*Column, Column.DIFF]


def test_the_trajectory_is_not_a_tab(session: RunSession) -> None:
    session.focus(Column.SELF_TESTS)
    session.focus(Column.TRAJECTORY)
    assert session.tab is Column.SELF_TESTS


def test_a_stage_is_compared_with_the_last_state_before_it(session: RunSession) -> None:
    session.go_to_stage(3)
    assert (session.pair.old, session.pair.new) == ("S2.refactor", "S3")


def test_modes_that_have_nothing_to_show_are_left_out(session: RunSession) -> None:
    assert list(session.modes) == [DiffMode.STAGE]
    session.go_to_stage(3)
    assert list(session.modes) == [DiffMode.STAGE, DiffMode.BEFORE, DiffMode.CUMULATIVE]


def test_the_pass_before_a_stage_is_a_mode(session: RunSession) -> None:
    session.go_to_stage(3)
    session.next_mode()
    assert session.pair.title == "S2→S2.refactor"


def test_a_mode_that_makes_no_sense_elsewhere_falls_back(session: RunSession) -> None:
    session.go_to_stage(3)
    session.next_mode()
    session.go_to_stage(2)
    assert session.mode is DiffMode.STAGE


def test_changing_the_mode_focuses_the_diff() -> None:
    session = RunSession(_run(), first_failing_gate="3")
    assert session.next_mode().parts == {Part.DIFF, Part.FOCUS}


def test_two_chosen_states_become_a_mode(session: RunSession) -> None:
    session.compare("S0", "S3")
    assert (session.mode, session.pair.title) == (DiffMode.CHOSEN, "S0→S3")


def test_a_state_against_itself_is_refused(session: RunSession) -> None:
    assert session.compare("S1", "S1").notice is not None
    assert session.mode is DiffMode.STAGE


def test_the_reference_is_hidden_until_it_is_revealed() -> None:
    session = RunSession(_run(reference=True))
    session.go_to_stage(2)
    assert DiffMode.REFERENCE not in session.modes
    session.reveal_reference()
    assert session.pair.title == "R2→S2"


def test_without_a_reference_revealing_says_so(session: RunSession) -> None:
    assert session.reveal_reference().notice == "this run has no reference for this state"


def test_an_unrecorded_base_is_said_and_nothing_is_compared() -> None:
    run = Run(
        "r", "x", "p", Chain("t"), stages=(Stage(1, None, Status.COMPLETED, base=None, end="S1"),),
        states=(_state("S1", 1, StateKind.STAGE_END),),
    )  # fmt: skip
    pair = RunSession(run).pair
    assert (pair.title, pair.missing) == ("?→S1", "the state it started from is not recorded")


def test_following_and_coming_back_restores_pane_stage_and_row() -> None:
    session = RunSession(_run(), first_failing_gate="2")
    change = session.follow(Target(Column.TRAJECTORY, step="call_1"), row=17, stop=3)
    assert change.target == Target(Column.TRAJECTORY, step="call_1")
    assert (session.stop.stage, session.column) == (3, Column.TRAJECTORY)
    back = session.back()
    assert back.target == Target(Column.GATE, row=17)
    assert (session.stop.stage, session.column) == (2, Column.GATE)


def test_back_ends_a_zoom_before_it_leaves_the_screen(session: RunSession) -> None:
    session.toggle_zoom()
    assert session.back().parts == {Part.LAYOUT}
    assert session.back().leave


def test_following_out_of_a_zoom_keeps_the_zoom_and_comes_back_to_it(session: RunSession) -> None:
    session.toggle_zoom()
    session.follow(Target(Column.TRAJECTORY, step="k"), row=0)
    assert session.zoomed
    session.toggle_zoom()
    session.back()
    assert session.zoomed


def test_a_run_that_was_read_again_opens_at_the_same_place() -> None:
    before = RunSession(_run(), first_failing_gate="2")
    before.go_to_stage(3)
    before.next_mode()
    before.toggle_zoom()
    after = RunSession(_run(), first_failing_gate="2")
    after.take_place_of(before)
    assert (after.stop, after.column, after.mode) == (before.stop, before.column, before.mode)
    assert after.zoomed


def test_a_place_that_the_run_no_longer_has_leaves_the_first_one() -> None:
    before = RunSession(_run())
    before.go_to_stage(0)
    after = RunSession(_run(chain=False))
    after.take_place_of(before)
    assert after.stop.stage == 1
