"""Looks at the sources of all states: what is there, and whether it changed. Reads no file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from arcview.model.run import Run
from arcview.model.states import (
    ArchiveSource,
    BundleSource,
    EmptySource,
    FolderSource,
    PatchSource,
    RepositorySource,
    State,
    StateKind,
    StateSource,
)
from arcview.states.folder import Listing, list_folder


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at the source of one state found."""

    fingerprint: str
    """Changes whenever the state may have."""
    path: Path | None = None
    """Where the source lies; null where it is no file or folder."""
    listing: Listing | None = None
    """For folders: what is in it."""
    missing: str | None = None
    """Why it cannot be built."""


def has_source(state: State) -> bool:
    """Tells whether a state's bytes are recorded, in themselves or as equal to those before it."""
    return state.source is not None or state.unchanged is True


def survey(run: Run, cancelled: Callable[[], bool] | None = None) -> dict[str, Look]:
    """Looks at the source of every state that has one.

    Raises:
        CancelledError: `cancelled` said so.
    """
    looks: dict[str, Look] = {}
    for state in run.states:
        if has_source(state):
            _look(run, state, looks, frozenset(), cancelled)
    return looks


def before(run: Run, state: State) -> State | None:
    """The state that comes before another one of the agent's line."""
    line = run.agent_states()
    return line[line.index(state) - 1] if state in line[1:] else None


def _look(
    run: Run,
    state: State,
    looks: dict[str, Look],
    below: frozenset[str],
    cancelled: Callable[[], bool] | None,
) -> Look:
    if state.id in looks:
        return looks[state.id]
    source = state.source
    if source is None or isinstance(source, PatchSource):
        look = _look_through(run, state, looks, below | {state.id}, cancelled)
    elif isinstance(source, EmptySource):
        look = Look("empty")
    else:
        look = _look_at(run, state, source, cancelled)
    looks[state.id] = look
    return look


def _look_through(
    run: Run,
    state: State,
    looks: dict[str, Look],
    below: frozenset[str],
    cancelled: Callable[[], bool] | None,
) -> Look:
    """Looks at a state that is made from another one."""
    if isinstance(state.source, PatchSource):
        name = state.source.base
        base = run.state(name)
    else:
        base = before(run, state)
        name = "the state before it" if base is None else base.id
    if base is None or not has_source(base):
        missing = f"{name}, which it is based on, is missing"
        if isinstance(state.source, PatchSource):
            own = _look_at(run, state, state.source, cancelled)
            return Look(f"{own.fingerprint} alone", missing=own.missing or missing)
        return Look("no base", missing=missing)
    if base.id in below:
        return Look("circle", missing=f"it is based on {name}, which is based on it")
    under = _look(run, base, looks, below, cancelled)
    if not isinstance(state.source, PatchSource):
        return Look(f"same as {under.fingerprint}")
    own = _look_at(run, state, state.source, cancelled)
    return Look(f"{own.fingerprint} on {under.fingerprint}", own.path, missing=own.missing)


def _look_at(
    run: Run,
    state: State,
    source: FolderSource | ArchiveSource | BundleSource | PatchSource | RepositorySource,
    cancelled: Callable[[], bool] | None,
) -> Look:
    """Looks at a state that lies in a file or folder of its own."""
    path = Path(run.path) / source.path
    if isinstance(source, PatchSource) and source.text is not None:
        digest = hashlib.blake2b(source.text.encode("utf-8", "surrogateescape"), digest_size=16)
        return Look(f"patch {digest.hexdigest()}", path)
    if not may_read(run, state, source):
        return Look("outside", missing=f"{source.path} leads out of the run folder; not followed")
    try:
        if isinstance(source, RepositorySource):
            # A commit never changes; what matters is that its repository is still there.
            (path / "objects").stat()
            return Look(f"repository {path} {source.commit}", path)
        if isinstance(source, FolderSource):
            listing = list_folder(path, cancelled)
            return Look(f"folder {listing.fingerprint()}", path, listing)
        facts = path.stat()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return Look("absent", missing=f"{source.path} cannot be read: {reason}")
    ref = f" {source.ref}" if isinstance(source, BundleSource) else ""
    kind = type(source).__name__
    return Look(f"{kind} {source.path} {facts.st_size} {facts.st_mtime_ns}{ref}", path)


def may_read(run: Run, state: State, source: StateSource) -> bool:
    """Whether a source may be opened: the agent's own states stay inside of the run folder.

    The reference may lie in a shared chain folder, and what the user named may lie anywhere.
    """
    if isinstance(source, EmptySource) or state.kind is StateKind.REFERENCE:
        return True
    if isinstance(source, FolderSource | RepositorySource) and source.is_given:
        return True
    if isinstance(source, PatchSource) and source.text is not None:
        return True
    return _lies_in(Path(run.path) / source.path, Path(run.path))


def _lies_in(path: Path, folder: Path) -> bool:
    """Tells whether a path is inside a folder once all links are followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
