"""Two open runs side by side: gates, single tests, changes, cost and steps, aligned by stage.

Knows no screen. Reads every trajectory and ingests the states of both runs where that was not done
before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arcview.analysis.compare import (
    Divergence,
    FileComparison,
    GateComparison,
    StageComparison,
    compare_files,
    compare_gates,
    first_divergence,
)
from arcview.analysis.overview import NEVER_RAN, Overview, StageRow
from arcview.model.patch import PathClass
from arcview.session.change_summary import change_of
from arcview.session.workspace_files import WorkspaceFiles

if TYPE_CHECKING:
    from arcview.session.change_summary import ChangeSummary
    from arcview.session.opened import OpenRun

_CODE = (PathClass.SOURCE, PathClass.TEST)


@dataclass(frozen=True, slots=True)
class ComparedStage:
    """One stage of both runs with what it changed in each."""

    gates: StageComparison
    change_a: ChangeSummary | None
    """Null where the run has no such stage."""
    change_b: ChangeSummary | None
    files: FileComparison | None
    """Null where the change of the stage is not known in both runs."""


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs, stage by stage."""

    a: Overview
    b: Overview
    same_task: bool
    stages: tuple[ComparedStage, ...]
    chain: GateComparison | None
    """Null where neither run has a chain gate."""
    first_divergence: Divergence | None
    """Of verdicts."""
    first_test_divergence: Divergence | None
    """Of single tests: may come before the verdicts differ."""
    problems: tuple[str, ...]
    """What makes the comparison less than it looks."""

    @property
    def is_measured(self) -> bool:
        """Some gate was measured in both runs: only then is there something that could part."""
        gates = (stage.gates.gate for stage in self.stages)
        return any(gate.compared for gate in (*gates, *((self.chain,) if self.chain else ())))


def compare_runs(a: OpenRun, b: OpenRun) -> RunComparison:
    """Compares two runs; of different tasks too, which is said among the problems."""
    overview_a, overview_b = a.complete_overview(), b.complete_overview()
    rows_a = {row.index: row for row in overview_a.stages}
    rows_b = {row.index: row for row in overview_b.stages}
    files_a, files_b = WorkspaceFiles(a), WorkspaceFiles(b)
    stages = []
    for index in sorted(rows_a.keys() | rows_b.keys()):
        row_a, row_b = rows_a.get(index), rows_b.get(index)
        gate = compare_gates(
            a.gate_view(str(index)) if row_a is not None else None,
            b.gate_view(str(index)) if row_b is not None else None,
            a.policy,
        )
        change_a = change_of(a, index) if row_a is not None else None
        change_b = change_of(b, index) if row_b is not None else None
        files = None
        if _is_known(row_a, change_a) and _is_known(row_b, change_b):
            files = compare_files(_changed(files_a, row_a), _changed(files_b, row_b))
        stages.append(
            ComparedStage(StageComparison(index, row_a, row_b, gate), change_a, change_b, files)
        )
    chain = _chain(a, b)
    gates = [stage.gates for stage in stages]
    return RunComparison(
        overview_a,
        overview_b,
        overview_a.task_id == overview_b.task_id,
        tuple(stages),
        chain,
        first_divergence(gates, chain, verdicts_only=True),
        first_divergence(gates, chain, verdicts_only=False),
        tuple(_problems(overview_a, overview_b, gates)),
    )


def _chain(a: OpenRun, b: OpenRun) -> GateComparison | None:
    views = [
        run.gate_view("chain", run.overview.chain_gate.state)
        if run.overview.chain_gate is not None
        else None
        for run in (a, b)
    ]
    return compare_gates(views[0], views[1], a.policy) if any(views) else None


def _is_known(row: StageRow | None, change: ChangeSummary | None) -> bool:
    return row is not None and change is not None and change.files is not None


def _changed(files: WorkspaceFiles, row: StageRow | None) -> dict[str, str]:
    """Path → text of the code files that a stage changed; of a deleted one there is no text."""
    if row is None or row.end is None or row.status in NEVER_RAN:
        return {}
    changes = files.changes(row.base, row.end)
    paths = [change.path for change in changes if change.path_class in _CODE]
    files.preload((row.end, path) for path in paths)
    return {path: files.text(row.end, path) or "" for path in paths}


def _problems(a: Overview, b: Overview, stages: list[StageComparison]) -> list[str]:
    found = []
    if a.task_id != b.task_id:
        found.append(
            f"the runs are of different tasks ({a.task_id} and {b.task_id}): their stages are "
            "aligned by number alone"
        )
    if len(a.stages) != len(b.stages):
        found.append(f"the runs have {len(a.stages)} and {len(b.stages)} stages")
    for stage in stages:
        gate = stage.gate
        if gate.only_in_a or gate.only_in_b:
            only = f"{len(gate.only_in_a)} only in A, {len(gate.only_in_b)} only in B"
            found.append(f"gate {gate.gate}: the runs were not held to the same tests ({only})")
    return found
