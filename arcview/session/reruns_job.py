"""What an engine is told of one rerun, and what its answer is as a result.

Must not import an engine's implementation.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arcview import __version__
from arcview.gates.definition import GateDefinition
from arcview.gates.engine import End, Engine, Execution, Image, Job, JobStep
from arcview.gates.plugins import PLUGINS
from arcview.gates.results import RerunResult, ResultKey
from arcview.gates.tested_tree import Origin, TestedTree, TreeFiles
from arcview.gates.trees import Ahead, Trees
from arcview.session.reruns_model import Target

if TYPE_CHECKING:
    from arcview.gates.judge import Measured

_ORIGINS = {"S": Origin.AGENT, "R": Origin.REFERENCE}


def tested_tree(
    definition: GateDefinition, target: Target, trees: Trees, start_tree: str | None
) -> TestedTree:
    """The files of a target, read by another thread while the engine makes a container.

    Args:
        definition: The gate.
        target: What it runs on.
        trees: The trees of the run.
        start_tree: The tree of the state before the first stage, where it is known.
    """

    def load() -> TreeFiles:
        start = trees.known(start_tree) or ()
        return TreeFiles(
            state=trees.entries(target.tree),
            start={entry.path: entry.blob for entry in start},
            base=trees.known(definition.image_base_tree),
        )

    return TestedTree(
        tree=target.tree,
        origin=_ORIGINS.get(target.label[:1], Origin.MERGED),
        overlay=definition.overlay,
        rules=definition.path_rules,
        read=trees.read,
        load=Ahead(load),
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """One gate with what it runs on and in."""

    definition: GateDefinition
    target: Target
    key: ResultKey
    engine: Engine
    image: Image


def job_of(asked: Asked, tree: TestedTree, out: Path) -> Job:
    """The job of one run of a gate.

    Args:
        asked: The gate with what it runs on and in.
        tree: The files of the target.
        out: Where reports go.
    """
    definition = asked.definition
    steps = tuple(
        JobStep(step.name, step.command, step.env, step.timeout_s, step.is_build)
        for step in definition.steps
    )
    return Job(
        gate=definition.gate,
        label=asked.target.label,
        image=asked.image,
        workdir=definition.workdir,
        user=definition.user,
        steps=steps,
        tree=tree,
        reports=definition.reports,
        limits=definition.limits,
        out=out,
        plugins=PLUGINS,
        base_tree=definition.image_base_tree,
    )


def result_of(asked: Asked, execution: Execution, measured: Measured, started: str) -> RerunResult:
    """What came of one run.

    Args:
        asked: What was asked for.
        execution: What the engine saw.
        measured: What the reports and the output say.
        started: When it began, ISO 8601.
    """
    timed_out = execution.end is End.TIMED_OUT or any(s.timed_out for s in execution.steps)
    return RerunResult(
        key=asked.key,
        attempt=0,
        gate=asked.definition.gate,
        label=asked.target.label,
        image_ref=asked.image.ref,
        verdict=measured.verdict,
        reason=measured.reason,
        tests=measured.tests,
        f2p=measured.f2p,
        p2p=measured.p2p,
        other=measured.other,
        exit_codes=tuple(step.exit_code for step in execution.steps),
        timed_out=timed_out,
        started=started,
        duration_s=execution.duration_s,
        overhead_s=execution.overhead_s,
        engine=asked.engine.info(),
        notes=tuple(dict.fromkeys((*asked.image.notes, *measured.notes))),
        arcview_version=__version__,
    )
