"""Stored what-if answers as suggestions for the labels of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arcview.analysis.history import History
from arcview.analysis.suggest_effects import GateFailures
from arcview.analysis.suggest_executed import Executed, suggest_executed
from arcview.analysis.suggestions import Suggestion
from arcview.files import is_dir
from arcview.session.address import Address
from arcview.session.opened import OpenRun
from arcview.sidecar import run_sidecar


def executed_about(opened: OpenRun, sidecar: Path, gate: GateFailures) -> Iterator[Suggestion]:
    """What the stored answer about a gate suggests; nothing of one that ran without containers.

    Args:
        opened: The run.
        sidecar: The sidecar of all runs.
        gate: Its failing tests.
    """
    if not is_dir(run_sidecar(sidecar, opened.run.run_id) / "what-if"):
        return
    from arcview.session.reruns import Reruns  # only a run with answers needs these
    from arcview.session.what_if import WhatIfs

    answer = WhatIfs(opened, Reruns(opened, sidecar=sidecar)).known(gate.gate)
    if answer is None or answer.graded_on_host:
        return
    yield from suggest_executed(
        Executed(
            gate.gate,
            gate.stage,
            str(Address("gate", gate.gate)),
            answer.label,
            answer.reason,
            answer.is_steady,
            answer.times,
            all(failure.history is History.INHERITED for failure in gate.failures),
        )
    )
