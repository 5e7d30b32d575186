"""What is known of a run as a whole: read once from its own files, then kept in the view cache."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from arcview import __version__
from arcview.analysis.history import RunHistory, run_history
from arcview.analysis.overview import Overview, StepCounts, overview_from
from arcview.analysis.verdicts import Policy
from arcview.errors import BadInputError, UnknownLayoutError
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest
from arcview.model.run import PathRules, Run
from arcview.session.inputs import Input, code_stamp, look_at_all
from arcview.session.view_cache import ViewCache
from arcview.states.cache import RunCache

if TYPE_CHECKING:
    from arcview.model.trajectory import Trajectory
    from arcview.readers.registry import Given, OpenedRun


@dataclass(frozen=True, slots=True)
class Skeleton:
    """What is cached of a run as a whole; the views of its parts carry its stamp."""

    stamp: str
    run: Run
    overview: Overview
    problems: tuple[Problem, ...]
    policy: Policy
    asked: str | None
    """What the user named where detection cannot know it; null where nothing was."""
    inputs: tuple[Input, ...]


def asked_key(layout: str | None, given: Given | None) -> str | None:
    """Tells what a user asked for apart; null where they left everything to detection."""
    if layout is None and not given:
        return None
    return f"{layout or ''}\0{given.key() if given else ''}"


def cache_of(path: Path, cache_root: Path | None) -> tuple[RunCache, ViewCache]:
    """Where what is kept of a run lies; nothing is made yet."""
    cache = RunCache.for_run(path, cache_root)
    return cache, ViewCache(cache.folder / "views", f"{__version__}-{code_stamp()}")


def joined_rules(first: PathRules, second: PathRules) -> PathRules:
    """Both sets of path rules, those of `first` asked first."""
    both = {p.name: getattr(first, p.name) + getattr(second, p.name) for p in fields(PathRules)}
    return PathRules(**both)


def counts_of(trajectory: Trajectory) -> StepCounts:
    """What a trajectory says that the skeleton of its run may lack."""
    # 1 ms each, and no first frame needs them.
    from arcview.readers.exit_words import status_of
    from arcview.readers.parts import model_of, usage_of

    return StepCounts(
        trajectory.step_count,
        trajectory.tool_call_count,
        usage_of(trajectory),
        model_of(trajectory),
        trajectory.agent,
        status_of(trajectory.exit_status),
    )


def read_run(
    path: Path,
    layout: str | None,
    policy: Policy,
    given: Given | None = None,
    *,
    may_glance: bool = False,
) -> tuple[Skeleton, OpenedRun, RunHistory]:
    """Reads the run itself.

    Args:
        path: Where it lies.
        layout: Id of the reader to use; recognised by content by default.
        policy: Which outcomes count as ok.
        given: What else the user named.
        may_glance: Long sessions may be left to be read later; see `Run.is_glanced`.

    Raises:
        ArcviewError: it is not a run, or a required file of it is missing or wrong.
    """
    from arcview.readers.protocols import whole_of
    from arcview.readers.registry import open_run

    resolved = path.resolve()
    try:
        opened = open_run(resolved, layout, given)
    except BadInputError as error:
        raise _as_given(error, resolved, path) from error
    except UnknownLayoutError as error:
        raise UnknownLayoutError(str(error).replace(str(resolved), str(path), 1)) from error
    if opened.run.is_glanced and not may_glance:
        opened = whole_of(opened)
    skeleton, history = skeleton_of(opened, policy, asked_key(layout, given))
    return skeleton, opened, history


def skeleton_of(
    opened: OpenedRun, policy: Policy, asked: str | None
) -> tuple[Skeleton, RunHistory]:
    """What is kept of a run that was read."""
    resolved = Path(opened.run.path)
    # Looked at before anything is computed: a change meanwhile makes the views stale, not new.
    inputs = look_at_all(resolved, opened.inputs())
    history = history_of(opened, policy)
    problems = tuple(dict.fromkeys((*opened.run.problems, *opened.problems())))
    overview = overview_from(opened.run, history, policy=policy, problems=problems)
    stamp = f"{time.time_ns():x}-{os.getpid():x}"
    skeleton = Skeleton(stamp, opened.run, overview, problems, policy, asked, inputs)
    return skeleton, history


def history_of(opened: OpenedRun, policy: Policy) -> RunHistory:
    """The histories of all gate runs, from the cheapest file that has their outcomes."""

    def outcomes(record: GateRecord) -> tuple[GateTest, ...]:
        return opened.gate_outcomes(record.gate, record.state)

    return run_history(opened.run, outcomes, policy)


def named(skeleton: Skeleton, path: Path) -> Skeleton:
    """The same, the run called as the user called it this time."""
    return replace(skeleton, overview=replace(skeleton.overview, path=str(path)))


def _as_given(error: BadInputError, resolved: Path, path: Path) -> BadInputError:
    """The same error with the file named below the path that the user gave."""
    with suppress(ValueError):
        relative = Path(error.path).relative_to(resolved)
        return BadInputError(str(path / relative), error.expected, error.field)
    return error
