"""Which cells of the matrix to measure, in which order, and how long that will take. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from arcview.analysis.matrix import MatrixState, MatrixTable, Observation


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """One cell to measure."""

    gate: str
    state: str
    tree: str
    also: tuple[str, ...]
    """Other states of the same tree: measured with it."""
    estimate_s: float | None
    """From how long the gate took before; null where it never ran."""


@dataclass(frozen=True, slots=True)
class MatrixPlan:
    """The cells to measure, the most informative first."""

    cells: tuple[PlannedCell, ...]
    impossible: tuple[tuple[str, str, str], ...] = ()
    """Gate, state and why that cell cannot be measured; an empty state stands for the row."""
    controls: Mapping[str, float | None] | None = None
    """Gate → estimated time of its control probe, which comes before its cells."""

    @property
    def estimate_s(self) -> float | None:
        """Time of all cells and controls one after the other; null where one is not known."""
        return self.estimate(1)

    def estimate(self, jobs: int) -> float | None:
        """Time with so many at once, in the order of the plan; null where one is not known."""
        times = [*(self.controls or {}).values(), *(cell.estimate_s for cell in self.cells)]
        if any(time is None for time in times):
            return None
        lanes = [0.0] * max(1, jobs)
        for time in times:
            heapq.heapreplace(lanes, lanes[0] + (time or 0.0))
        return max(lanes)

    @property
    def unknown(self) -> int:
        """Cells whose time is not known."""
        return sum(cell.estimate_s is None for cell in self.cells)


def plan_cells(
    table: MatrixTable,
    *,
    durations: Mapping[str, float],
    first_failing_gate: str | None,
    wanted: Callable[[str, str], bool] = lambda gate, state: True,
    impossible: Mapping[str, str] | None = None,
) -> MatrixPlan:
    """Plans the cells that are not measured yet.

    Args:
        table: The matrix as it is known.
        durations: Gate → how long it takes, see `gate_durations`.
        first_failing_gate: The gate whose row tells most.
        wanted: Which gates and states are asked for.
        impossible: Gate → why it cannot be rerun at all.
    """
    impossible = impossible or {}
    cells: dict[tuple[str, str], PlannedCell] = {}
    cannot = [(gate, "", why) for gate, why in impossible.items()]
    for gate, state in sorted(_missing(table), key=_order(table, first_failing_gate)):
        if gate in impossible or not wanted(gate, state.id):
            continue
        if state.tree is None:
            cannot.append((gate, state.id, "its files are not recorded"))
        elif (first := cells.get((gate, state.tree))) is not None:
            also = (*first.also, state.id)
            cells[gate, state.tree] = PlannedCell(
                gate, first.state, state.tree, also, first.estimate_s
            )
        else:
            time = durations.get(gate)
            cells[gate, state.tree] = PlannedCell(gate, state.id, state.tree, (), time)
    return MatrixPlan(tuple(cells.values()), tuple(cannot))


def _missing(table: MatrixTable) -> Iterable[tuple[str, MatrixState]]:
    """Cells that nothing decides: not measured, and not all of their tests known from others."""
    for gate in table.gates:
        for state in table.states:
            cell = table.cell(gate.gate, state.id)
            is_known = cell.expected is not None and len(cell.tests) == cell.expected > 0
            if not cell.is_measured and not is_known:
                yield gate.gate, state


def _order(
    table: MatrixTable, first_failing_gate: str | None
) -> Callable[[tuple[str, MatrixState]], tuple[int, ...]]:
    """The final state first, then the row of the first failing gate, then the rest.

    The reference comes after the agent's states, and of it first what decides whether a gate can be
    held against a later state.
    """
    rows = {gate.gate: place for place, gate in enumerate(table.gates)}
    stages = {gate.gate: gate.stage for gate in table.gates}
    columns = {state.id: place for place, state in enumerate(table.states)}
    last = table.line[-1].id if table.line else None

    def key(cell: tuple[str, MatrixState]) -> tuple[int, ...]:
        gate, state = cell
        if state.is_reference:
            tier = 3 if state.stage >= stages[gate] else 4
        elif state.id == last:
            tier = 0
        else:
            tier = 1 if gate == first_failing_gate else 2
        return tier, rows[gate], columns[state.id]

    return key


def gate_durations(observations: Iterable[Observation]) -> dict[str, float]:
    """Gate → how long it usually took, recorded and rerun."""
    times: dict[str, list[float]] = {}
    for one in observations:
        if one.duration_s is not None:
            times.setdefault(one.gate, []).append(one.duration_s)
    return {gate: median(known) for gate, known in times.items()}


def with_controls(
    plan: MatrixPlan, runs: Mapping[str, int], durations: Mapping[str, float]
) -> MatrixPlan:
    """The plan with the control probes that have to come first.

    Args:
        plan: The cells.
        runs: Gate → how many runs its control takes besides planned cells; gates whose control was
            made in this sitting are left out.
        durations: Gate → how long one run takes.
    """
    needed = dict.fromkeys(cell.gate for cell in plan.cells)
    controls = {
        gate: durations[gate] * runs[gate] if gate in durations else None
        for gate in needed
        if runs.get(gate)
    }
    return MatrixPlan(plan.cells, plan.impossible, controls)
