"""How much of a stage's change is traced to its steps, and how true a replay of its edits is.

Computed from states and steps, kept in the view cache. Knows no screen.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from arcview.analysis.replay import Replay, split_lines
from arcview.errors import ArcviewError, CancelledError
from arcview.model.patch import PathClass

if TYPE_CHECKING:
    from arcview.session.evidence import EvidenceFinder
    from arcview.session.opened import OpenRun

_CODE = (PathClass.SOURCE, PathClass.TEST)


@dataclass(frozen=True, slots=True)
class StageTrace:
    """What is known of the way from the state before to a state."""

    recorded: bool
    """The run recorded the workspace after each step; then a replay shows what was."""
    lines: int
    """Lines of source and test files that the change wrote."""
    exact: int
    """Those whose step is known."""
    candidate: int
    """Those whose step is likely."""
    files: int
    """Source and test files that the change left or made."""
    equal: int
    """Those that replaying the visible edits gives line by line as they are: the fidelity of a
    reconstruction."""
    unlike: tuple[str, ...]
    """The others: a program wrote to them."""


@dataclass(frozen=True, slots=True)
class _Kept:
    states: str
    trace: StageTrace | None


def stage_trace(opened: OpenRun, finder: EvidenceFinder, state: str | None) -> StageTrace | None:
    """Looks at the change that a stage, or a pass, ended with.

    Args:
        opened: The run.
        finder: Its states are built, or known to be missing; shared with the evidence.
        state: The state that it ended in.

    Returns:
        Null where that state or the one before is missing, and where no step is recorded.
    """
    if state is None:
        return None
    name = f"trace-{state}"
    kept = opened.load_view(name, _Kept)
    states = finder.states_digest()
    if kept is not None and kept.states == states:
        return kept.trace
    trace = _trace(finder, state, _has_steps(opened, state))
    opened.save_view(name, _Kept, _Kept(states, trace))
    return trace


def _has_steps(opened: OpenRun, state: str) -> bool:
    try:
        steps = opened.store.step_states(state)
    except CancelledError:
        raise
    except ArcviewError:
        return False
    return bool(steps) and all(step.key is not None for step in steps)


def _trace(finder: EvidenceFinder, state: str, recorded: bool) -> StageTrace | None:
    files, attribution = finder.trails.workspace, finder.trails.attribution
    base = files.before(state)
    if base is None or not (files.is_there(base) and files.is_there(state)):
        return None
    if not recorded and not attribution.trajectory(state).steps:
        return None
    changed = [
        change.path
        for change in files.own_changes(state)
        if change.path_class in _CODE and files.text(state, change.path) is not None
    ]
    own = [
        source.certainty
        for path in changed
        for source in attribution.sources(state, path)
        if source.state == state
    ]
    replay = Replay(partial(files.text, base), files.renames(state))
    for item in attribution.edits(state):
        replay.apply(item)
    unlike = tuple(
        path
        for path in changed
        if split_lines(replay.text(path) or "") != split_lines(files.text(state, path) or "")
    )
    return StageTrace(
        recorded,
        len(own),
        own.count("exact"),
        own.count("candidate"),
        len(changed),
        len(changed) - len(unlike),
        unlike,
    )
