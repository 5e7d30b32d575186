"""The workspace after a Harbor step, as far as the harness collected it.

A trial keeps no workspace and no patch; tasks name what is to be collected (`artifacts/`). That may
be all of it or a part, so the state is inferred.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from arcview.errors import BadInputError
from arcview.model.states import FolderSource, Provenance, State, StateKind
from arcview.readers.fields import parse_json, read_bytes
from arcview.readers.inside import inside

MANIFEST = "manifest.json"
_LOGS = PurePosixPath("/logs")


def end_state(root: Path, state_id: str, stage: int, folder: str) -> tuple[State, tuple[str, ...]]:
    """The state after a step, and what to know about it.

    Args:
        root: The trial.
        state_id: Id of the state.
        stage: Index of the stage.
        folder: The step's `artifacts` folder relative to the trial.
    """
    state = State(state_id, stage, StateKind.STAGE_END, Provenance.UNKNOWN)
    collected = _collected(root, folder)
    if collected is None:
        missing = f"{folder} holds no files: the task collects none, or collecting failed"
        return State(state_id, stage, state.kind, state.provenance, missing=missing), ()
    source = FolderSource(str(inside(root, collected).absolute()))
    found = State(state_id, stage, state.kind, Provenance.INFERRED, source)
    return found, (f"{state_id} is what the harness collected ({collected}), maybe not all files",)


def _collected(root: Path, folder: str) -> str | None:
    """The folder that stands for the workspace: what all collected files have above them."""
    files = list(_files(root, folder))
    if not files:
        return None
    sources = _sources(root, folder)
    files = [name for name in files if not _is_log(name, folder, sources)] or files
    parents = [PurePosixPath(name).parent.as_posix() for name in files]
    above = os.path.commonpath(parents)
    # A folder that was collected as a whole begins where it was collected.
    wholes = [place for place in sources if above == place or above.startswith(f"{place}/")]
    return max(wholes, key=len, default=above)


def _files(root: Path, folder: str) -> Iterator[str]:
    try:
        top = inside(root, folder)
    except BadInputError:
        return
    for current, _, names in os.walk(top):
        for name in names:
            file = (Path(current) / name).relative_to(root).as_posix()
            if file != f"{folder}/{MANIFEST}":
                yield file


def _is_log(name: str, folder: str, sources: dict[str, PurePosixPath]) -> bool:
    """Whether a file was published by the agent or a service, not taken from the workspace."""
    origin = PurePosixPath("/") / PurePosixPath(name).relative_to(folder)
    for place, source in sources.items():
        if name == place or name.startswith(f"{place}/"):
            origin = source / PurePosixPath(name).relative_to(place)
            break
    return origin.is_relative_to(_LOGS)


def _sources(root: Path, folder: str) -> dict[str, PurePosixPath]:
    """Where in the container each collected folder came from, by its place in the trial."""
    name = f"{folder}/{MANIFEST}"
    try:
        entries = parse_json(read_bytes(inside(root, name), name), name)
    except BadInputError:
        return {}
    found = {}
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict) or entry.get("type") != "directory":
            continue
        source, destination = entry.get("source"), entry.get("destination")
        if isinstance(source, str) and isinstance(destination, str):
            above = PurePosixPath(folder).parent
            found[(above / destination).as_posix()] = PurePosixPath(source)
    return found
