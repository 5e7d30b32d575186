from __future__ import annotations

from collections.abc import Sequence

from arcview.analysis.matrix import (
    MatrixGate,
    MatrixState,
    MatrixTable,
    Observation,
    Source,
    Standing,
    build_matrix,
)
from arcview.analysis.matrix_patterns import Pattern, find_patterns, stage_regressions
from arcview.analysis.matrix_plan import MatrixPlan, PlannedCell, gate_durations, plan_cells
from arcview.model.results import GateTest, Group, Outcome, Verdict
from arcview.model.run import Stage, Status
from arcview.model.states import StateKind

F, P = Group.F2P, Group.P2P


def gate(name: str, stage: int, f2p: str = "", p2p: str = "", **overlay: str) -> MatrixGate:
    tests = [(F, t) for t in f2p.split()] + [(P, t) for t in p2p.split()]
    return MatrixGate(name, stage, tuple(tests), overlay or None)


def states(last: int = 3, reference: bool = False) -> list[MatrixState]:
    line = [MatrixState("S0", 0, StateKind.START, "t-S0")]
    line += [MatrixState(f"S{k}", k, StateKind.STAGE_END, f"t-S{k}") for k in range(1, last + 1)]
    if reference:
        line += [
            MatrixState(f"R{k}", k, StateKind.REFERENCE, f"t-R{k}") for k in range(1, last + 1)
        ]
    return line


def ran(
    name: str,
    state: str,
    ok: str = "",
    bad: str = "",
    source: Source = Source.RECORDED,
    p2p: str = "",
    duration_s: float | None = None,
) -> Observation:
    """One gate run; tests named in `p2p` are of that group."""

    def one(test_id: str, outcome: Outcome) -> GateTest:
        return GateTest(test_id, P if test_id in p2p.split() else F, outcome)

    tests = [one(t, Outcome.PASSED) for t in ok.split()]
    tests += [one(t, Outcome.FAILED) for t in bad.split()]
    verdict = Verdict.FAILED if bad else Verdict.PASSED
    return Observation(name, state, source, verdict, None, tuple(tests), duration_s)


GATES = (gate("1", 1, "a b", "z"), gate("2", 2, "c", "a b z"), gate("3", 3, "d", "a b c z"))


def table(
    *runs: Observation, gates: Sequence[MatrixGate] = GATES, reference: bool = False
) -> MatrixTable:
    return build_matrix(gates, states(reference=reference), runs)


def pattern(found: MatrixTable, test_id: str) -> Pattern:
    return next(p for p in find_patterns(found) if p.id == test_id)


def test_a_recorded_cell_is_filled_with_its_tests() -> None:
    cell = table(ran("1", "S1", "a z", "b")).cell("1", "S1")
    assert (cell.verdict, cell.source, cell.expected) == (Verdict.FAILED, Source.RECORDED, 3)
    assert cell.tests["a"].ok is True
    assert cell.tests["b"].ok is False


def test_tests_that_a_later_gate_repeats_fill_an_earlier_gates_cell() -> None:
    cell = table(ran("2", "S2", "a b c z")).cell("1", "S2")
    assert (cell.verdict, cell.source, cell.is_measured) == (Verdict.PASSED, Source.REPEATED, False)
    assert cell.tests["a"].via == "2"


def test_a_cell_that_is_known_in_part_is_no_verdict_unless_a_known_test_fails() -> None:
    found = table(ran("1", "S1", "a b z"))
    assert found.cell("2", "S1").verdict is None
    assert found.cell("2", "S1").is_partial
    assert table(ran("1", "S1", "a z", "b")).cell("2", "S1").verdict is Verdict.FAILED


def test_a_test_whose_file_another_gate_has_in_another_version_is_not_taken_over() -> None:
    gates = (
        MatrixGate("1", 1, ((F, "t.py::a"), (F, "u.py::b")), {"t.py": "one", "u.py": "same"}),
        MatrixGate("2", 2, ((P, "t.py::a"), (P, "u.py::b")), {"t.py": "two", "u.py": "same"}),
    )
    cell = table(ran("2", "S2", "t.py::a u.py::b"), gates=gates).cell("1", "S2")
    assert set(cell.tests) == {"u.py::b"}


def test_an_unmeasured_cell_keeps_its_reason() -> None:
    lost = Observation("1", "S1", Source.RECORDED, Verdict.UNMEASURED, "no report")
    cell = table(lost).cell("1", "S1")
    assert (cell.verdict, cell.reason) == (Verdict.UNMEASURED, "no report")


def test_a_rerun_measures_what_the_run_left_unmeasured() -> None:
    lost = Observation("1", "S1", Source.RECORDED, Verdict.UNMEASURED, "no report")
    cell = table(lost, ran("1", "S1", "a b z", source=Source.RERUN)).cell("1", "S1")
    assert (cell.verdict, cell.source) == (Verdict.PASSED, Source.RERUN)


def test_runs_that_disagree_make_a_flaky_cell_and_leave_the_recorded_verdict() -> None:
    runs = (ran("1", "S1", "a z", "b"), ran("1", "S1", "a b z", source=Source.RERUN))
    cell = table(*runs).cell("1", "S1")
    assert (cell.verdict, cell.is_flaky) == (Verdict.FAILED, True)
    assert (cell.passed, cell.runs) == (1, 2)
    assert cell.tests["b"].ok is None
    assert (cell.tests["b"].passed, cell.tests["b"].runs) == (1, 2)


def test_an_id_in_two_groups_counts_with_its_worse_outcome() -> None:
    tests = (GateTest("a", F, Outcome.FAILED), GateTest("a", P, Outcome.PASSED))
    run = Observation("1", "S1", Source.RECORDED, Verdict.FAILED, None, tests)
    assert table(run).cell("1", "S1").tests["a"].ok is False


def test_a_gate_that_fails_on_the_reference_of_a_later_stage_is_not_applicable_there() -> None:
    found = table(
        ran("1", "S2", "a z", "b", Source.RERUN),
        ran("1", "R2", "a z", "b", Source.RERUN),
        ran("1", "R3", "a b z", source=Source.RERUN),
        reference=True,
    )
    assert found.cell("1", "S2").standing is Standing.NOT_APPLICABLE
    assert found.cell("1", "S3").standing is Standing.VERIFIED
    assert found.cell("1", "R2").standing is Standing.REFERENCE
    assert pattern(found, "b").not_applicable == ("S2",)


def test_a_gate_that_fails_on_its_own_reference_applies_nowhere() -> None:
    found = table(ran("2", "R2", "a b z", "c"), reference=True)
    for state in ("S0", "S2", "S3"):
        assert found.cell("2", state).standing is Standing.NOT_APPLICABLE


def test_without_a_reference_a_cell_is_unverified_unless_its_stage_expects_the_tests() -> None:
    found = table()
    assert found.cell("1", "S0").standing is Standing.BEFORE
    assert found.cell("1", "S1").standing is Standing.DECLARED
    assert found.cell("1", "S2").standing is Standing.DECLARED
    unlisted = table(gates=(gate("1", 1, "a"), gate("2", 2, "c")))
    assert unlisted.cell("1", "S2").standing is Standing.UNVERIFIED
    assert unlisted.cell("1", "S2").standing_reason == "no reference state"


def test_first_passes_late_and_healed() -> None:
    found = table(
        ran("1", "S1", "a z", "b"), ran("2", "S2", "a z c", "b"), ran("3", "S3", "a b c d z")
    )
    b = pattern(found, "b")
    assert (b.birth, b.is_birth_certain, b.late) == ("S3", True, True)
    assert (b.healed, b.broken_again, b.never) == (("S3",), (), False)
    a = pattern(found, "a")
    assert (a.birth, a.is_birth_certain, a.late) == ("S1", False, False)


def test_premature_is_a_pass_before_the_tests_own_stage_and_only_of_new_behaviour() -> None:
    found = table(ran("2", "S1", "a b c z", source=Source.RERUN), ran("2", "S0", "z", "a b c"))
    assert pattern(found, "c").premature == ("S1",)
    assert pattern(found, "z").premature == ()


def test_a_test_that_passes_on_an_earlier_reference_state_is_weak_itself() -> None:
    found = table(ran("2", "R1", "a b c z", source=Source.RERUN), reference=True)
    assert pattern(found, "c").weak_on == ("R1",)


def test_broken_again_and_never() -> None:
    found = table(
        ran("1", "S1", "a z", "b"), ran("2", "S2", "c z", "a b"), ran("3", "S3", "a d z", "b c")
    )
    a, b, c = (pattern(found, name) for name in "abc")
    assert (a.broken_again, a.healed, a.never) == (("S2",), ("S3",), False)
    assert b.never is True
    assert c.broken_again == ("S3",)


def test_never_needs_every_state_from_its_stage_on() -> None:
    assert pattern(table(ran("1", "S1", "a z", "b")), "b").never is None
    assert pattern(table(), "b").never is None


def test_a_flaky_state_decides_nothing() -> None:
    runs = (ran("1", "S1", "a z", "b"), ran("1", "S1", "a b z", source=Source.RERUN))
    b = pattern(table(*runs), "b")
    assert (b.flaky, b.birth, b.late) == (("S1",), None, None)


def stage(index: int, base: str | None = None) -> Stage:
    return Stage(index, None, Status.COMPLETED, base=base or f"S{index - 1}", end=f"S{index}")


def test_regressions_are_apart_from_inherited_failures_and_from_what_is_not_known() -> None:
    found = table(
        ran("1", "S1", "a", "b z"), ran("2", "S2", "c", "a b z"), ran("3", "S3", "a b z", "c d")
    )
    one, two, three = stage_regressions(found, [stage(1), stage(2), stage(3)], find_patterns(found))
    assert (one.regressed, one.inherited, one.unclear) == ((), (), ("z",))
    assert (two.regressed, two.inherited, two.unclear) == (("a",), ("b", "z"), ())
    assert (three.regressed, three.inherited) == (("c",), ())


def test_a_base_that_is_not_recorded_leaves_regressions_unclear() -> None:
    found = table(ran("1", "S1", "a b z"), ran("2", "S2", "b c z", "a"))
    lost = Stage(2, None, Status.COMPLETED, base=None, end="S2")
    (two,) = stage_regressions(found, [lost], find_patterns(found))
    assert (two.regressed, two.unclear) == ((), ("a",))


def test_what_the_reference_fails_too_is_no_regression() -> None:
    found = table(
        ran("1", "S1", "a b z"),
        ran("2", "S2", "b c z", "a"),
        ran("2", "R2", "b c z", "a"),
        reference=True,
    )
    (two,) = stage_regressions(found, [stage(2)], find_patterns(found))
    assert (two.regressed, two.inherited, two.unclear) == ((), (), ())


def plan(found: MatrixTable, first: str | None = None, **durations: float) -> MatrixPlan:
    return plan_cells(found, durations=durations, first_failing_gate=first)


def keys(found: MatrixPlan) -> list[str]:
    return [f"{cell.gate}@{cell.state}" for cell in found.cells]


def test_the_final_state_comes_first_then_the_row_of_the_first_failing_gate() -> None:
    found = table(ran("1", "S1", "a b z"), ran("2", "S2", "a b z", "c"), reference=True)
    assert keys(plan(found, "2")) == [
        "1@S3", "2@S3", "3@S3",
        "2@S0", "2@S1",
        "1@S0", "3@S0", "3@S1", "3@S2",
        "1@R1", "1@R2", "1@R3", "2@R2", "2@R3", "3@R3",
        "2@R1", "3@R1", "3@R2",
    ]  # fmt: skip


def test_states_of_one_tree_are_measured_once() -> None:
    line = [
        MatrixState("S0", 0, StateKind.START, "one"),
        MatrixState("S1", 1, StateKind.STAGE_END, "one"),
        MatrixState("S2", 2, StateKind.STAGE_END, None),
    ]
    found = plan(build_matrix([gate("1", 1, "a")], line, ()))
    assert found.cells == (PlannedCell("1", "S0", "one", ("S1",), None),)
    assert found.impossible == (("1", "S2", "its files are not recorded"),)


def test_the_estimate_comes_from_what_the_gates_took_and_is_unknown_where_one_never_ran() -> None:
    run = ran("1", "S1", "a b z", duration_s=4.0)
    again = ran("1", "S1", "a b z", source=Source.RERUN, duration_s=6.0)
    assert gate_durations([run, again]) == {"1": 5.0}
    only_first = plan_cells(
        table(run),
        durations={"1": 5.0},
        first_failing_gate=None,
        wanted=lambda name, state: name == "1",
    )
    assert (only_first.estimate_s, only_first.estimate(2)) == (15.0, 10.0)
    assert plan(table(run), None, **{"1": 5.0}).estimate_s is None


def test_a_gate_that_cannot_be_rerun_says_so_once() -> None:
    found = plan_cells(
        table(), durations={}, first_failing_gate=None, impossible={"1": "no command"}
    )
    assert ("1", "", "no command") in found.impossible
    assert not any(cell.gate == "1" for cell in found.cells)


def _chain(id_1: str, here: str, there: str, **more: str) -> list[MatrixGate]:
    """Two gates with one test, in a file of two versions, and with files of their own."""
    own = MatrixGate("1", 1, ((F, id_1),), {here: "1", "t/common.rs": "1"})
    return [own, MatrixGate("chain", 1, ((F, id_1),), {there: "1", "t/common.rs": "1", **more})]


def test_runs_of_two_gates_with_the_very_same_test_are_counted_together() -> None:
    for test_id, path in (
        ("t/a.py::x", "t/a.py"),
        ("t/a.test.ts > all > x", "t/a.test.ts"),
        ("crate::gate own::x", "t/own.rs"),
        ("pkg/gate TestX", "t/x_test.go"),
    ):
        gates = _chain(test_id, path, path)
        test = GateTest(test_id, F, Outcome.PASSED)
        runs = [
            Observation("1", "S1", Source.RECORDED, Verdict.PASSED, None, (test,)),
            Observation(
                "chain", "S1", Source.RECORDED, Verdict.FAILED, None,
                (GateTest(test_id, F, Outcome.FAILED),),
            ),
        ]  # fmt: skip
        found = build_matrix(gates, states(1), runs)
        for gate_id, verdict in (("1", Verdict.PASSED), ("chain", Verdict.FAILED)):
            cell = found.cell(gate_id, "S1")
            assert (cell.verdict, cell.passed, cell.runs) == (
                verdict, int(verdict is Verdict.PASSED), 1,
            )  # fmt: skip
            known = cell.tests[test_id]
            assert (known.ok, known.passed, known.runs) == (None, 1, 2)
            assert cell.is_flaky
        one = pattern(found, test_id)
        assert (one.line, one.birth, one.flaky) == ((None, None), None, ("S1",))


def test_a_gate_that_did_not_come_to_a_test_does_not_disagree_on_it() -> None:
    gates = _chain("t/a.py::x", "t/a.py", "t/a.py")
    for outcome in (Outcome.NOT_RUN, Outcome.MISSING):
        runs = [
            Observation(
                one, "S1", Source.RECORDED, verdict, None, (GateTest("t/a.py::x", F, said),)
            )
            for one, verdict, said in (
                ("1", Verdict.PASSED, Outcome.PASSED),
                ("chain", Verdict.FAILED, outcome),
            )
        ]
        found = build_matrix(gates, states(1), runs)
        assert found.cell("1", "S1").tests["t/a.py::x"].ok is True
        assert found.cell("chain", "S1").tests["t/a.py::x"].ok is False


def test_two_versions_of_a_test_are_not_counted_together() -> None:
    runs = [ran("1", "S1", "crate::own::x"), ran("chain", "S1", bad="crate::own::x")]
    for gates in (
        [gate("1", 1, "crate::own::x", **{"t/own.rs": "1"}),
         gate("chain", 1, "crate::own::x", **{"t/own.rs": "2", "t/b.rs": "1"})],
        [gate("1", 1, "crate::own::x", **{"t/b.rs": "1"}),
         gate("chain", 1, "crate::own::x", **{"t/b.rs": "2"})],
        [gate("1", 1, "crate::own::x"), gate("chain", 1, "crate::own::x")],
    ):  # fmt: skip
        found = build_matrix(gates, states(1), runs)
        assert found.cell("1", "S1").tests["crate::own::x"].ok is True
        assert found.cell("chain", "S1").tests["crate::own::x"].ok is False


def test_a_test_that_changed_its_file_fills_no_other_gates_cell_whatever_its_id_looks_like() -> (
    None
):
    for test_id, path in (("t/a.test.ts > x", "t/a.test.ts"), ("crate::own::x", "t/own.rs")):
        gates = [
            MatrixGate("1", 1, ((F, test_id),), {path: "1"}),
            MatrixGate("2", 2, ((P, test_id),), {path: "2"}),
        ]
        test = GateTest(test_id, P, Outcome.PASSED)
        run = Observation("2", "S2", Source.RECORDED, Verdict.PASSED, None, (test,))
        assert build_matrix(gates, states(2), [run]).cell("1", "S2").tests == {}


class _Counted(str):
    """A test id that counts how often it is compared or looked up."""

    __slots__ = ()
    looked_up = 0

    def __eq__(self, other: object) -> bool:
        _Counted.looked_up += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        _Counted.looked_up += 1
        return str.__hash__(self)


def _looked_up(count: int) -> int:
    """How often ids of a chain of so many tests are looked up for all that a matrix says."""
    groups = [[_Counted(f"t/{k}.py::{n}") for n in range(count)] for k in (1, 2, 3)]
    gates = []
    for k in (1, 2, 3):
        tests = [(P, test) for group in groups[: k - 1] for test in group]
        tests += [(F, test) for test in groups[k - 1]]
        overlay = {f"t/{j}.py": f"{k if j == k else 0}" for j in range(1, k + 1)}
        gates.append(MatrixGate(str(k), k, tuple(tests), overlay))
    runs = [
        Observation(
            one.gate, f"S{one.stage}", Source.RECORDED, Verdict.PASSED, None,
            tuple(GateTest(test, group, Outcome.PASSED) for group, test in one.tests or ()),
        )
        for one in gates
    ]  # fmt: skip
    _Counted.looked_up = 0
    found = build_matrix(gates, states(reference=True), runs)
    stages = [Stage(k, None, Status.COMPLETED, base=f"S{k - 1}", end=f"S{k}") for k in (1, 2, 3)]
    stage_regressions(found, stages, find_patterns(found))
    return _Counted.looked_up


def test_twice_the_tests_take_twice_the_work() -> None:
    small = _looked_up(100)
    assert 0 < _looked_up(200) < 2.2 * small
