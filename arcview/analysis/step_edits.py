"""The visible edits of a trajectory as edits of workspace files, in the order of their steps.

Pure. Paths are mapped by the root that the agent itself worked in, which its own calls tell.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from arcview.analysis.edits import FileEdit, edits_of
from arcview.analysis.replay import StepEdit
from arcview.model.trajectory import Step, ToolCall, ToolKind, Trajectory

Resolve = Callable[[str], str | None]
"""From a path as the agent wrote it to a path of the workspace; null for one outside."""


def workspace_root(
    trajectory: Trajectory, files: Collection[str], known: str | None = None
) -> str | None:
    """The folder of the container that the workspace lay in.

    Args:
        trajectory: Its calls name files by absolute paths.
        files: Every file of the workspace.
        known: Where the run says it lay; taken where a call names a file below it.

    Returns:
        The root, without a slash at its end, under which most of the absolute paths that end like
        a file of the workspace are such files; null where no path does.
    """
    votes: Counter[str] = Counter()
    by_name: dict[str, list[str]] = {}
    for path in files:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    for path in _named_paths(trajectory):
        for file in by_name.get(path.rpartition("/")[2], ()):
            if path.endswith(f"/{file}"):
                # A longer common part says more: `/x/src/a.py` is hardly a stranger's.
                votes[path[: -len(file) - 1]] += 1 + file.count("/")
    if known is not None and votes[known.rstrip("/")]:
        return known.rstrip("/")
    return votes.most_common(1)[0][0] if votes else known


def _named_paths(trajectory: Trajectory) -> Iterator[str]:
    for step in trajectory.steps:
        for call in step.calls:
            if call.path is not None and call.path.startswith("/"):
                yield call.path


def resolver(root: str | None, files: Collection[str]) -> Resolve:
    """Maps paths of calls to paths of the workspace.

    Args:
        root: From `workspace_root`. Without one only the files that are known to be in the
            workspace can be told from others.
        files: Every file that the workspace had before or after.
    """
    prefix = f"{root}/" if root is not None else None

    def resolve(path: str) -> str | None:
        if prefix is not None and path.startswith(prefix):
            path = path.removeprefix(prefix)
        path = posixpath.normpath(path)
        if path in files:
            return path
        is_inside = prefix is not None and not path.startswith(("/", "..", "~", "$"))
        # A file that came and went within the stage is in neither state.
        return path if is_inside else None

    return resolve


def step_edits(trajectory: Trajectory, resolve: Resolve) -> tuple[StepEdit, ...]:
    """Every visible edit of a workspace file, with the key of its step.

    Heredocs, `tee` and `echo … > f` count as edits; what other programs write does not show.
    """
    return tuple(
        StepEdit(step.key, edit)
        for step in trajectory.steps
        for edit in edits_of_step(step, resolve)
    )


def edits_of_step(step: Step, resolve: Resolve) -> Iterator[FileEdit]:
    """The visible edits of one step, in the order of its calls, with workspace paths."""
    for call in step.calls:
        yield from edits_of_call(call, resolve)


def edits_of_call(call: ToolCall, resolve: Resolve) -> Iterator[FileEdit]:
    """The visible edits of one call, with workspace paths."""
    for edit in (*edits_of(call), *_shell_edits(call)):
        path = resolve(edit.path)
        if path is not None:
            source = resolve(edit.source) if edit.source else ""
            yield replace(edit, path=path, source=source or "")


def _shell_edits(call: ToolCall) -> tuple[FileEdit, ...]:
    if call.kind is not ToolKind.SHELL:
        return ()
    from arcview.analysis.shell_edits import shell_edits  # 20 ms with the parser's tables

    return shell_edits(call)
