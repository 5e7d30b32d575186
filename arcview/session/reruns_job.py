"""What an engine is told of one rerun: the job, and the files of the tested tree.

Must not import an engine's implementation.
"""

from __future__ import annotations

from pathlib import Path

from arcview.gates.definition import GateDefinition
from arcview.gates.engine import Image, Job, JobStep
from arcview.gates.plugins import PLUGINS
from arcview.gates.tested_tree import Origin, TestedTree, TreeFiles
from arcview.gates.trees import Ahead, Trees
from arcview.session.reruns_model import Target

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


def job_of(
    definition: GateDefinition, target: Target, image: Image, tree: TestedTree, out: Path
) -> Job:
    """The job of one run of a gate.

    Args:
        definition: The gate.
        target: What it runs on.
        image: What it runs in.
        tree: The files of the target.
        out: Where reports go.
    """
    steps = tuple(
        JobStep(step.name, step.command, step.env, step.timeout_s, step.is_build)
        for step in definition.steps
    )
    return Job(
        gate=definition.gate,
        label=target.label,
        image=image,
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
