from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from arcview.analysis.intervals import wilson
from arcview.analysis.lifetimes import FailureSpan
from arcview.analysis.statistics import (
    By,
    Excluded,
    Group,
    Statistics,
    StatsPolicy,
    compute,
    group_of,
)
from arcview.analysis.statistics_facts import (
    ChangeFacts,
    GateCauses,
    GateFacts,
    OwnTests,
    RunFacts,
    StageFacts,
)
from arcview.model.results import Verdict
from arcview.model.run import Status

QUICK = StatsPolicy(resamples=200)


def gate(passed: bool | None, **more: Any) -> GateFacts:
    """A gate whose F2P tests decide; null is unmeasured."""
    if passed is None:
        return GateFacts(Verdict.UNMEASURED, "no report")
    verdict = Verdict.PASSED if passed else Verdict.FAILED
    return replace(GateFacts(verdict, f2p_ok=passed, p2p_ok=True, regressed=0, inherited=0,
                             unclear=0), **more)  # fmt: skip


def a_run(
    stages: Sequence[bool | GateFacts | StageFacts | None],
    chain: bool | GateFacts | str | None = "absent",
    *,
    name: str = "r",
    task: str = "t",
    agent: str | None = "a",
    **more: Any,
) -> RunFacts:
    found = []
    for index, stage in enumerate(stages, 1):
        if not isinstance(stage, StageFacts):
            made = stage if isinstance(stage, GateFacts) else gate(stage)
            stage = StageFacts(index, Status.COMPLETED, made)
        found.append(stage)
    made_chain = chain if isinstance(chain, GateFacts) else None
    if not isinstance(chain, GateFacts | str):
        made_chain = gate(chain)
    facts = RunFacts(name, name, agent, None, task, ("python",), tuple(found), made_chain)
    return replace(facts, **more)


def everything(*runs: RunFacts, policy: StatsPolicy = QUICK) -> Group:
    return compute(runs, policy).all


def counted(group: Group, name: str) -> tuple[int, int]:
    figure = group.figures[name]
    return figure.k, figure.n


def test_the_published_corpus_gives_its_published_shares() -> None:
    # 73 tasks of 263 stages; 61 pass the first stage, 36 the chain gate.
    runs = [
        a_run(
            [number < 61] + [True] * (3 if number < 44 else 2),
            number < 36,
            name=f"r{number}",
            task=f"t{number}",
        )
        for number in range(73)
    ]
    found = everything(*runs)
    assert counted(found, "first_stage_pass") == (61, 73)
    assert counted(found, "completion_chain") == (36, 73)
    assert found.stages == 263
    first, chain = found.figures["first_stage_pass"], found.figures["completion_chain"]
    assert first.wilson is not None
    assert chain.wilson is not None
    assert (round(first.wilson.low, 3), round(first.wilson.high, 3)) == (0.734, 0.903)
    assert (round(chain.wilson.low, 3), round(chain.wilson.high, 3)) == (0.382, 0.605)
    later = counted(found, "f2p_after_fail")[1] + counted(found, "f2p_after_pass")[1]
    assert later == 190


def test_without_propagation_difficulty_makes_the_crude_gap_and_matching_removes_it() -> None:
    random = Random(7)
    runs = []
    for number in range(73):
        chance = random.betavariate(0.475, 0.626)
        for agent in range(10):
            stages = [random.random() < chance for _ in range(4 if number < 44 else 3)]
            runs.append(
                a_run(stages, name=f"{agent}/{number}", task=f"t{number}", agent=str(agent))
            )
    found = everything(*runs)
    fail, passed = found.figures["f2p_after_fail"], found.figures["f2p_after_pass"]
    assert fail.k / fail.n == pytest.approx(0.226, abs=0.08)
    assert passed.k / passed.n == pytest.approx(0.702, abs=0.08)
    assert found.crude.value == pytest.approx(passed.k / passed.n - fail.k / fail.n)
    difference = found.matched.risk_difference
    assert difference.value == pytest.approx(0, abs=0.06)
    assert difference.interval is not None
    assert difference.interval.low < 0 < difference.interval.high


def test_pooled_shares_also_have_an_interval_that_draws_whole_tasks() -> None:
    alike = [
        a_run([number % 2 == 0], name=f"{agent}/{number}", task=f"t{number}")
        for number in range(20)
        for agent in range(10)
    ]
    figure = everything(*alike).figures["first_stage_pass"]
    assert figure.wilson == wilson(100, 200)
    assert figure.clustered is not None
    assert figure.wilson is not None
    width = figure.clustered.high - figure.clustered.low
    assert width > 2 * (figure.wilson.high - figure.wilson.low)
    assert figure.tasks == 20


def test_one_unit_a_task_needs_no_clustering() -> None:
    runs = [a_run([True], name=f"r{n}", task=f"t{n}") for n in range(12)]
    assert everything(*runs).figures["first_stage_pass"].clustered is None


def test_a_share_under_ten_has_no_percentage() -> None:
    nine = [a_run([True], name=f"r{n}", task=f"t{n}") for n in range(9)]
    assert everything(*nine).figures["first_stage_pass"].percent is None
    ten = [*nine, a_run([False], task="u")]
    assert everything(*ten).figures["first_stage_pass"].percent == pytest.approx(90)


def test_stages_are_counted_by_position() -> None:
    found = everything(a_run([True, False]), a_run([True, True, None], name="s"))
    assert [(f.k, f.n, f.left_out) for f in found.lists["stage_pass"]] == [
        (2, 2, 0), (1, 2, 0), (0, 0, 1)
    ]  # fmt: skip


def test_a_run_survives_until_its_first_failure_and_is_unknown_where_a_gate_is_unmeasured() -> None:
    found = everything(
        a_run([True, True, True]), a_run([True, False, True]), a_run([True, None, True]),
        a_run([False, None, None]), a_run([True]),
    )  # fmt: skip
    assert [(f.k, f.n, f.left_out) for f in found.lists["survival"]] == [
        (4, 5, 0), (1, 3, 1), (1, 3, 1)
    ]  # fmt: skip


def test_completion_is_of_the_chain_gate_and_strictly_of_every_stage_too() -> None:
    healed = a_run([True, False], True, name="healed")
    found = everything(
        healed, a_run([True, True], True), a_run([True, True], False), a_run([True, True], None),
        a_run([True, None], True), a_run([True]),
    )  # fmt: skip
    assert counted(found, "completion_chain") == (3, 4)
    assert found.figures["completion_chain"].left_out == 1
    assert counted(found, "completion_strict") == (1, 3)
    assert found.figures["completion_strict"].left_out == 2
    assert found.completion_difference == ("healed",)


def test_new_behaviour_is_counted_by_the_verdict_before() -> None:
    # Stage 2 works but breaks something: it failed, though its F2P tests are ok.
    broke = gate(True, verdict=Verdict.FAILED, p2p_ok=False)
    found = everything(a_run([True, broke, False, True]))
    assert counted(found, "f2p_after_pass") == (1, 1)
    assert counted(found, "f2p_after_fail") == (1, 2)
    assert counted(found, "f2p_after_f2p_pass") == (1, 2)
    assert counted(found, "f2p_after_f2p_fail") == (1, 1)
    assert counted(found, "f2p_after_no_fail") == (1, 1)
    assert counted(found, "f2p_after_any_fail") == (1, 2)


def test_an_unmeasured_stage_is_neither_end_of_a_transition() -> None:
    found = everything(a_run([False, None, True]))
    assert counted(found, "f2p_after_fail") == (0, 0)
    assert found.figures["f2p_after_fail"].left_out == 1


def test_regressions_are_split_by_when_they_broke() -> None:
    def broken(**counts: int) -> GateFacts:
        return gate(True, verdict=Verdict.FAILED, p2p_ok=False, p2p_tests=10, **counts)

    found = everything(
        a_run(
            [
                gate(True, p2p_tests=10),
                broken(regressed=2, inherited=1),
                broken(inherited=3),
                broken(unclear=1, inherited=1),
                gate(False, p2p_ok=False, regressed=1),
            ]
        )
    )
    assert counted(found, "regression") == (3, 4)
    assert counted(found, "regression_true") == (1, 4)
    assert counted(found, "regression_inherited") == (1, 4)
    assert counted(found, "regression_unclear") == (1, 4)
    assert counted(found, "regression_tests") == (2, 40)


def test_the_chain_gate_has_its_own_regression() -> None:
    bad = GateFacts(Verdict.FAILED, f2p_ok=True, p2p_ok=False)
    found = everything(a_run([True], bad), a_run([True], True), a_run([True], False))
    assert counted(found, "regression_chain") == (1, 2)


def test_healing_is_counted_where_there_is_something_to_heal() -> None:
    found = everything(
        a_run(
            [
                gate(False),
                gate(False, broken_before=3, healed=1),
                gate(False, broken_before=2, healed=0, recovered_before=1, broken_again=0),
                gate(False, broken_before=0, healed=0, recovered_before=1, broken_again=1),
            ]
        )
    )
    assert counted(found, "healed") == (1, 2)
    assert counted(found, "broken_again") == (1, 2)


def stage(index: int, passed: bool | None, **more: Any) -> StageFacts:
    return replace(StageFacts(index, Status.COMPLETED, gate(passed)), **more)


def test_unnoticed_is_counted_at_three_cuts_and_labels_come_before_suggestions() -> None:
    run = a_run(
        [stage(1, False), stage(2, False, awareness=1), stage(3, False, awareness=2),
         stage(4, False, awareness=4), stage(5, True), stage(6, True, awareness=0)]
    )  # fmt: skip
    found = everything(run)
    assert [counted(found, f"unnoticed_n{cut}") for cut in (2, 3, 5)] == [(1, 3), (2, 3), (3, 3)]
    assert found.figures["unnoticed_n3"].left_out == 1
    assert counted(found, "awareness_labelled") == (0, 3)
    labelled = compute([run], QUICK, levels={("r", 3): 6, ("other", 2): 6}).all
    assert [counted(labelled, f"unnoticed_n{cut}") for cut in (2, 3, 5)] == [(1, 3), (1, 3), (2, 3)]
    assert counted(labelled, "awareness_labelled") == (1, 3)


def test_self_tests_that_go_back_are_counted_in_later_stages_alone() -> None:
    run = a_run(
        [stage(1, True, revisits=False), stage(2, True, revisits=True),
         stage(3, True, revisits=False), stage(4, True)]
    )  # fmt: skip
    figure = everything(run).figures["self_tests_revisit"]
    assert (figure.k, figure.n, figure.left_out) == (1, 2, 1)


def change(**more: int) -> ChangeFacts:
    return replace(ChangeFacts(0, 0, 0, 0, 0, 0, 0, 0), **more)


def test_shared_files_add_up_over_later_stages_with_or_without_tests() -> None:
    run = a_run(
        [stage(1, True, change=change(files=4, files_with_tests=5)),
         stage(2, True, change=change(files=4, shared=1, files_with_tests=6, shared_with_tests=3)),
         stage(3, True, change=change(files=2, shared=2, files_with_tests=2, shared_with_tests=2)),
         stage(4, True, change=change()), stage(5, True)]
    )  # fmt: skip
    found = everything(run)
    assert counted(found, "shared_files") == (3, 6)
    assert found.figures["shared_files"].left_out == 1
    shares = found.medians["shared_files_per_stage"]
    assert (shares.median, shares.n, shares.left_out) == (0.625, 2, 2)
    with_tests = everything(run, policy=StatsPolicy(count_tests=True, resamples=10))
    assert counted(with_tests, "shared_files") == (5, 8)


def test_lines_cost_and_time_have_medians() -> None:
    run = a_run(
        [stage(1, True, cost_usd=1.0, duration_s=60.0, change=change(source_added=5, test_added=3)),
         stage(2, False, cost_usd=9.0, duration_s=900.0, change=change(source_removed=9)),
         stage(3, True, cost_usd=2.0, duration_s=30.0, change=change(source_added=7))]
    )  # fmt: skip
    found = everything(run)
    assert {name: (m.median, m.n) for name, m in found.medians.items()} == {
        "source_lines": (7, 3),
        "source_lines_added": (5, 3),
        "source_lines_removed": (0, 3),
        "test_lines": (0, 3),
        "test_lines_added": (0, 3),
        "test_lines_removed": (0, 3),
        "shared_files_per_stage": (None, 0),
        "debt_tests": (None, 0),
        "cost_per_passed_stage_usd": (1.5, 2),
        "time_per_passed_stage_s": (45, 2),
    }
    assert found.cost_spent_usd.per_passed.value == 6.0
    assert found.time_spent_s.per_passed.value == 495.0


def test_a_run_with_an_unknown_cost_is_left_out_of_what_was_spent() -> None:
    known = a_run([stage(1, True, cost_usd=1.0)])
    unknown = a_run([stage(1, True, cost_usd=1.0), stage(2, False)])
    spent = everything(known, unknown).cost_spent_usd
    assert (spent.per_passed.value, spent.passed, spent.left_out) == (1.0, 1, 1)


def failing_run() -> RunFacts:
    stages = (
        stage(1, True),
        stage(2, False, status=Status.AGENT_ERROR),
        stage(3, True),
        stage(4, None, status=Status.NOT_STARTED),
    )
    return a_run(stages, False)


def test_the_clean_policy_leaves_out_what_was_not_the_agents_doing() -> None:
    found = compute([failing_run()], StatsPolicy(resamples=10))
    assert [(f.k, f.n) for f in found.all.lists["stage_pass"]] == [(1, 1), (0, 0), (1, 1), (0, 0)]
    assert counted(found.all, "f2p_after_fail") == (0, 0)
    assert counted(found.all, "completion_chain") == (0, 0)
    assert found.excluded == (
        Excluded("r", 2, "status agent_error"),
        Excluded("r", 4, "status not_started"),
        Excluded("r", None, "chain gate: status agent_error at stage 2"),
    )


def test_a_chain_that_ended_early_counts_as_not_complete() -> None:
    stages = [stage(1, False, status=Status.AGENT_TIMEOUT), stage(2, None, status=Status.SKIPPED)]
    found = everything(a_run(stages, False))
    assert counted(found, "completion_chain") == (0, 1)
    assert counted(found, "completion_strict") == (0, 1)


def test_the_recorded_policy_takes_every_verdict() -> None:
    found = compute([failing_run()], StatsPolicy("as-recorded", resamples=10))
    assert [(f.k, f.n) for f in found.all.lists["stage_pass"]] == [(1, 1), (0, 1), (1, 1), (0, 0)]
    assert counted(found.all, "f2p_after_fail") == (1, 1)
    assert counted(found.all, "completion_chain") == (0, 1)
    assert found.excluded == (Excluded("r", 4, "gate unmeasured: no report"),)


def test_runs_that_cannot_be_read_are_listed_first() -> None:
    broken = Excluded("x", None, "run.json: not JSON")
    assert compute([a_run([None])], QUICK, broken=[broken]).excluded[0] == broken


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("agent", ["(unknown)", "a"]),
        ("task", ["t", "u"]),
        ("model", ["(unknown)"]),
        ("language", ["go, python", "python"]),
    ],
)
def test_groups_are_told_apart(by: By, names: list[str]) -> None:
    runs = [a_run([True]), a_run([False], agent=None, task="u", languages=("python", "go"))]
    found = compute(runs, QUICK, by=by)
    assert found.groups is not None
    assert list(found.groups) == names
    assert sum(group.runs for group in found.groups.values()) == 2
    assert {group_of(run, by) for run in runs} == set(names)


def test_copies_of_a_run_are_pointed_out() -> None:
    runs = [a_run([True]), a_run([True], name="s"), a_run([True], run_id="r", name="copy")]
    assert compute(runs, QUICK).same_id == (("r", "copy"),)


def test_no_runs_at_all_give_empty_figures() -> None:
    found: Statistics = compute([], QUICK, by="agent")
    assert (found.all.runs, found.groups) == (0, {})
    assert found.all.figures["first_stage_pass"].wilson is None
    assert found.all.medians["source_lines"].median is None
    assert found.all.matched.risk_difference.value is None


def test_the_hazard_of_a_stage_counts_runs_that_had_not_failed_before() -> None:
    group = everything(
        a_run([True, True, False]), a_run([True, False, False]), a_run([False, True, True]),
        a_run([True, None, False]),
    )  # fmt: skip
    hazard = [(one.k, one.n, one.left_out) for one in group.lists["hazard"]]
    assert hazard == [(1, 4, 0), (1, 2, 1), (1, 1, 0)]


def test_debt_is_counted_by_position_and_as_a_median_of_later_stages() -> None:
    group = everything(a_run([gate(False, debt=0), gate(True, debt=3), gate(True, debt=0)]))
    assert [(one.k, one.n) for one in group.lists["debt"]] == [(0, 1), (1, 1), (0, 1)]
    debt = group.medians["debt_tests"]
    assert (debt.median, debt.n, debt.left_out) == (1.5, 2, 0)
    assert everything(a_run([None, True])).medians["debt_tests"].left_out == 1


def test_failures_are_healed_by_age_and_have_a_half_life() -> None:
    spans = [
        FailureSpan(1, True),
        FailureSpan(2, True),
        FailureSpan(3, False),
        FailureSpan(0, False),
    ]
    group = everything(a_run([gate(False, lasts=span) for span in spans]))
    assert [(one.k, one.n) for one in group.lists["healed_at_age"]] == [
        (1, 3), (1, 2), (0, 1), (0, 0),
    ]  # fmt: skip
    found = group.half_life
    assert (found.stages, found.n, found.ended, found.left_out) == (2, 3, 2, 1)


def test_revisits_are_also_counted_by_execution_and_by_file() -> None:
    group = everything(
        a_run(
            [
                stage(1, True, own_tests=OwnTests(9, 9)),
                stage(2, True, own_tests=OwnTests(4, 1, 2, files=3, files_run=1)),
                stage(3, True, own_tests=OwnTests(1, 1, 0, files=None)),
                stage(4, True),
            ]
        )
    )
    events = group.figures["self_tests_revisit_events"]
    assert (events.k, events.n, events.left_out) == (2, 5, 2)
    files = group.figures["self_tests_revisit_files"]
    assert (files.k, files.n, files.left_out) == (1, 3, 2)


def test_causes_that_runs_share_are_listed_and_leave_nothing_out() -> None:
    causes = (GateCauses("1", (("OSError: No space left on device", 2),)),)
    runs = [a_run([False], name=f"r{n}", agent=f"a{n}", causes=causes) for n in range(3)]
    found = compute(runs, QUICK)
    assert [(s.condition, s.failures, s.runs) for s in found.shared] == [
        ("disk full", 6, ("r0", "r1", "r2"))
    ]
    assert found.all.stages == 3
