"""The workspaces that a run recorded after each step: commits between two states of its bundle."""

from __future__ import annotations

from collections.abc import Callable

from arcview.git import Git
from arcview.states.record import StepRecord

_FORMAT = "%T%x00%P%x00%(trailers:key=Step-Key,valueonly,unfold,separator=%x00)"


def read_steps(
    git: Git, before: str, end: str, cancelled: Callable[[], bool] | None = None
) -> tuple[StepRecord, ...]:
    """Lists the commits from one state to the next, oldest first.

    Args:
        git: The store, with the objects of the bundle.
        before: Commit of the state before.
        end: Commit of the state that the steps led to.
        cancelled: Asked while git works.

    Returns:
        One record per commit after `before`; none where `end` does not descend from it. A commit
        without exactly one `Step-Key:` trailer has no key.

    Raises:
        GitError: git is missing, too old, or cannot read the store.
        CancelledError: `cancelled` said so.
    """
    args = ["log", "--reverse", "--first-parent", f"--format={_FORMAT}", f"{before}..{end}", "--"]
    listed = git.run(args, cancelled=cancelled).decode("utf-8", "replace").split("\n")
    steps: list[StepRecord] = []
    for line in filter(None, listed):
        tree, parents, *keys = line.split("\0")
        if not steps and parents.split(" ")[0] != before:
            return ()
        named = [key.strip() for key in keys if key.strip()]
        steps.append(StepRecord(named[0] if len(named) == 1 else None, tree))
    return tuple(steps)
