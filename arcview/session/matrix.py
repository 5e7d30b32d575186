"""The gate × state matrix of one open run: what is known at once, and measuring what is missing.

Reruns are found again in the sidecar, so that a matrix that was cancelled goes on where it ended.
Must not import the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from arcview.analysis.matrix import (
    Cell,
    MatrixGate,
    MatrixState,
    MatrixTable,
    Observation,
    Source,
    build_matrix,
)
from arcview.analysis.matrix_patterns import (
    Pattern,
    StageRegressions,
    find_patterns,
    stage_regressions,
)
from arcview.analysis.matrix_plan import MatrixPlan, gate_durations, plan_cells, with_controls
from arcview.errors import ArcviewError
from arcview.gates.errors import CannotRerunError
from arcview.gates.results import RerunResult
from arcview.model.results import Group, Verdict
from arcview.session.matrix_controls import stored_control
from arcview.session.matrix_recorded import matrix_gates, matrix_states, recorded_observations
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns

if TYPE_CHECKING:
    from arcview.session.matrix_run import MatrixEvent, MatrixOutcome

OnEvent = Callable[["MatrixEvent"], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class MatrixView:
    """Everything that the matrix of a run says at one moment."""

    table: MatrixTable
    patterns: tuple[Pattern, ...]
    regressions: tuple[StageRegressions, ...]
    controls: dict[str, str]
    """Gate → why its reruns are not believed; those cells are unmeasured."""
    unprobed: tuple[str, ...]
    """Gates with reruns of which no control was made."""
    host: int
    """Results of reruns without a container that are left out."""


class Matrix:
    """The matrix of one run. `view` may be asked for again after every cell that was measured.

    Args:
        opened: The run.
        reruns: Its reruns; those of the user's own sidecar by default.
    """

    def __init__(self, opened: OpenRun, reruns: Reruns | None = None) -> None:
        self.opened = opened
        self.reruns = reruns or Reruns(opened)
        self._failed: dict[str, str] = {}
        """Gates whose control failed in this sitting."""
        self._probed: set[str] = set()

    @cached_property
    def gates(self) -> tuple[MatrixGate, ...]:
        """The rows."""
        return matrix_gates(self.opened, self._defined)

    @cached_property
    def states(self) -> tuple[MatrixState, ...]:
        """The columns. Ingests the states where that is not done yet: not for the UI's thread."""
        return matrix_states(self.opened)

    @cached_property
    def _recorded(self) -> tuple[Observation, ...]:
        return recorded_observations(self.opened, self.states)

    def view(self) -> MatrixView:
        """All cells, patterns and regressions as they are known now; needs no engine."""
        results, host = self._results()
        controls: dict[str, str] = {}
        unprobed: list[str] = []
        for gate in self.gates:
            known = [result for result in results if result.gate == gate.gate]
            control: bool | str | None = self._failed.get(gate.gate)
            if control is None:
                control = stored_control(self.reruns, gate.gate, self.states, known)
            if isinstance(control, str):
                controls[gate.gate] = control
            elif control is None and known:
                unprobed.append(gate.gate)
        observations = (*self._recorded, *self._reruns(results, controls))
        table = build_matrix(self.gates, self.states, observations, self.opened.policy)
        patterns = find_patterns(table)
        return MatrixView(
            table,
            patterns,
            stage_regressions(table, self.opened.run.stages, patterns),
            controls,
            tuple(unprobed),
            host,
        )

    def plan(
        self,
        *,
        gates: Collection[str] | None = None,
        states: Collection[str] | None = None,
        with_reference: bool = True,
    ) -> MatrixPlan:
        """The cells that are missing, the most informative first.

        Args:
            gates: Only these rows.
            states: Only these columns.
            with_reference: Also the reference states, which tell what a failure means.
        """
        view = self.view()
        results, _ = self._results()
        durations = gate_durations((*self._recorded, *self._reruns(results, {})))
        hidden = {state.id for state in self.states if state.is_reference and not with_reference}
        plan = plan_cells(
            view.table,
            durations=durations,
            first_failing_gate=self.opened.overview.first_failing_gate,
            wanted=lambda gate, state: (
                (gates is None or gate in gates)
                and (states is None or state in states)
                and state not in hidden
            ),
            impossible=self._impossible(),
        )
        planned = {(cell.gate, cell.tree) for cell in plan.cells}
        unprobed = {gate for gate, _ in planned} - self._probed
        runs = {gate: len(self._control_trees(gate) - planned) for gate in unprobed}
        return with_controls(plan, runs, durations)

    def run(
        self,
        plan: MatrixPlan,
        *,
        jobs: int = 1,
        on_event: OnEvent = lambda _event: None,
        cancelled: Cancelled = lambda: False,
    ) -> MatrixOutcome:
        """Measures the cells of a plan, each gate's control before its cells.

        Args:
            plan: What `plan` gave.
            jobs: How many gate runs at once.
            on_event: Told of every start and end, from the threads that work.
            cancelled: Asked about ten times a second; what was measured so far is kept.

        Raises:
            ArcviewError: no engine answers, the image is refused, or nothing can be stored.
        """
        from arcview.session.matrix_run import run_plan  # only who measures needs threads

        outcome = run_plan(self.reruns, plan, jobs, on_event, cancelled)
        self._failed.update(outcome.failed_controls)
        self._probed.update(outcome.probed)
        return outcome

    def results(self, cell: Cell) -> tuple[RerunResult, ...]:
        """The stored reruns of a cell, oldest first."""
        tree = next((s.tree for s in self.states if s.id == cell.state), None)
        if tree is None:
            return ()
        try:
            return self.reruns.known(cell.gate, tree)
        except CannotRerunError:
            return ()

    def _defined(self, gate: str) -> MatrixGate | None:
        """What chain.json says of a gate; null where it does not say how it is run."""
        try:
            definition = self.reruns.definition(gate)
        except ArcviewError:
            return None
        tests = [(Group.F2P, test) for test in definition.f2p or ()]
        tests += [(Group.P2P, test) for test in definition.p2p or ()]
        has_lists = definition.f2p is not None or definition.p2p is not None
        overlay = {file.path: file.sha256 for file in definition.overlay}
        return MatrixGate(gate, 0, tuple(tests) if has_lists else None, overlay)

    def _results(self) -> tuple[tuple[RerunResult, ...], int]:
        """The stored reruns that count, oldest first, and how many without a container do not."""
        digests: set[str] = set()
        images: dict[str, str | None] = {}
        for gate in self.gates:
            try:
                definition = self.reruns.definition(gate.gate)
            except ArcviewError:
                continue
            digests.add(definition.digest)
            images[gate.gate] = definition.image_digest
        known = [r for r in self.reruns.store.all() if r.key.gate_digest in digests]
        wants_host = self.reruns.options.engine == "host"
        counted = [
            result
            for result in known
            if result.graded_on_host is wants_host
            and (wants_host or images[result.gate] in (None, result.image_digest))
        ]
        host = sum(result.graded_on_host for result in known) if not wants_host else 0
        return tuple(sorted(counted, key=lambda result: result.started)), host

    def _reruns(
        self, results: Collection[RerunResult], controls: dict[str, str]
    ) -> tuple[Observation, ...]:
        return tuple(
            _observation(result, state.id, controls.get(result.gate))
            for result in results
            for state in self.states
            if state.tree == result.tree
        )

    def _impossible(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for gate in self.gates:
            try:
                self.reruns.definition(gate.gate)
            except ArcviewError as error:
                found[gate.gate] = str(error)
        return found

    def _control_trees(self, gate: str) -> set[tuple[str, str]]:
        """What the control of a gate runs it on that is not stored yet."""
        wanted = {self.reruns.reference_state(gate), self.reruns.recorded_state(gate)}
        trees = {state.tree for state in self.states if state.id in wanted and state.tree}
        return {
            (gate, tree)
            for tree in trees
            if not any(result.is_measured for result in self.reruns.known(gate, tree))
        }


def _observation(result: RerunResult, state: str, control: str | None) -> Observation:
    found = Observation(
        result.gate,
        state,
        Source.RERUN,
        result.verdict,
        result.reason,
        tuple(test for test in result.tests if not test.extra),
        result.duration_s,
    )
    if control is None or not result.is_measured:
        return found
    why = f"not believed: {control}"
    return replace(found, verdict=Verdict.UNMEASURED, reason=why, tests=())
