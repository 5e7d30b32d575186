"""What the sidecar of a run has of gates that were run again, as facts for statistics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from arcview.analysis.statistics_facts import ExecutedFacts
from arcview.files import is_dir
from arcview.model.results import Verdict
from arcview.session.opened import OpenRun
from arcview.sidecar import run_sidecar, sidecar_root

if TYPE_CHECKING:
    from arcview.session.matrix import Matrix
    from arcview.session.what_if_answer import WhatIf


def executed_facts(opened: OpenRun, sidecar: Path | None = None) -> tuple[ExecutedFacts, ...]:
    """What was executed about each stage; empty where no gate was run again.

    Results without a container, and reruns whose control failed, are left out.

    Args:
        opened: The run.
        sidecar: The sidecar of all runs; the user's own by default.
    """
    folder = run_sidecar(sidecar_root(sidecar), opened.run.run_id)
    if not is_dir(folder / "reruns"):
        return ()
    from arcview.session.matrix import Matrix  # only a run with reruns needs all of this
    from arcview.session.reruns import Reruns
    from arcview.session.what_if import WhatIfs

    reruns = Reruns(opened, sidecar=sidecar)
    answers = WhatIfs(opened, reruns)
    ends = _at_end(Matrix(opened, reruns))
    found = []
    for stage in opened.run.stages:
        gate = str(stage.index)
        answer = answers.known(gate)
        if answer is not None and answer.graded_on_host:
            answer = None
        if answer is not None or ends.get(gate) is not None:
            label = answer.label if answer is not None else None
            found.append(ExecutedFacts(stage.index, label, _x_passes(answer), ends.get(gate)))
    return tuple(found)


def _x_passes(answer: WhatIf | None) -> bool | None:
    """Whether the agent's change passes on the reference base, where all runs agree."""
    verdict = answer.x.verdict if answer is not None and answer.x is not None else None
    return None if verdict in (None, Verdict.UNMEASURED) else verdict is Verdict.PASSED


def _at_end(matrix: Matrix) -> dict[str, bool]:
    """Gate → whether it passes on the last state, for gates that were rerun there."""
    from arcview.analysis.matrix import Source

    table = matrix.view().table
    if not table.line:
        return {}
    last = table.line[-1]
    found: dict[str, bool] = {}
    for gate in table.gates:
        cell = table.cell(gate.gate, last.id)
        is_rerun = cell.source is Source.RERUN and not cell.is_flaky
        if gate.stage < last.stage and is_rerun and cell.verdict is not Verdict.UNMEASURED:
            found[gate.gate] = cell.verdict is Verdict.PASSED
    return found
