"""The states of one run as trees: built once, then asked for files, changes, patches and blame.

Everything here may take a while on a large workspace and belongs into a worker thread; all methods
may be called from several threads.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.errors import ArcviewError
from arcview.git import BIG_FILE_BYTES, Git
from arcview.model.patch import FileChange, FilePatch
from arcview.model.problem import Problem
from arcview.model.run import Run
from arcview.states.cache import (
    DEFAULT_LIMIT_BYTES,
    RunCache,
    enforce_limit,
    write_atomically,
)
from arcview.states.entries import StepState, TreeEntry, list_tree
from arcview.states.objects import EMPTY_BLOB, MODE_SUBMODULE
from arcview.states.patch_names import is_inside
from arcview.states.record import StateRecord, load_records
from arcview.states.recorded import AS_RECORDED, RecordedPatches
from arcview.states.survey import has_source, survey

if TYPE_CHECKING:
    from arcview.states.blame import BlameLine
    from arcview.states.changes import Changes
    from arcview.states.ingest import Progress
    from arcview.states.line import LineChange

__all__ = ["PATCH_LIMIT_BYTES", "StateStore", "StepState", "TreeEntry"]

PATCH_LIMIT_BYTES = 2 << 20
"""Both sides of a file together; above it a patch is only made when all of it is asked for."""

_BIG = f"of {BIG_FILE_BYTES >> 20} MiB or more: compared as a whole, text or not"


class StateStore:
    """The states of one run.

    Args:
        run: The run; its sources are relative to `run.path`.
        cache: Where the trees are kept.
        limit_bytes: What all cached runs together may take up after an ingest.
    """

    def __init__(self, run: Run, cache: RunCache, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self._run = run
        self._cache = cache
        self._limit_bytes = limit_bytes
        self._git = Git(cache.states_git)
        self._records = self._load()
        self._changes: dict[tuple[str, str], Changes] = {}
        self._recorded = RecordedPatches(run)
        self._line: tuple[str, dict[str, tuple[LineChange, ...]]] | None = None
        self._held = False
        self._lock = threading.Lock()

    def _load(self) -> dict[str, StateRecord]:
        """What was built, but for states that another run at this path had or recorded."""
        sourced = {state.id for state in self._run.states if has_source(state)}
        records = load_records(self._cache.states_git)
        self._has_others = not records.keys() <= sourced
        return {state_id: record for state_id, record in records.items() if state_id in sourced}

    @property
    def objects(self) -> Path:
        """The folder of the git objects of all states, for who writes them elsewhere."""
        return self._cache.states_git / "objects"

    def ready(self) -> bool:
        """Tells whether every state that has a source is built and its source has not changed.

        What another run at this path had must be gone, too: it would lie on the line of commits.
        Looks at the names, sizes and times of all workspace files: 24 ms for 5,000.
        """
        looks = survey(self._run)
        return not self._has_others and all(
            state_id in self._records and self._records[state_id].fingerprint == look.fingerprint
            for state_id, look in looks.items()
        )

    def ingest(
        self,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> tuple[Problem, ...]:
        """Builds what is missing or stale; a second process that does so at once waits its turn.

        Args:
            progress: Called with files done, files in all, and the state's id.
            cancelled: Asked every 64 files and about twenty times a second while git works.

        Returns:
            What is not part of the states, or not as recorded, also from earlier ingests.

        Raises:
            CancelledError: `cancelled` said so; what was built so far is kept and used next time.
            ArcviewError: the cache cannot be written.
        """
        from arcview.states.ingest import Builder  # 3 ms that a run in the cache does not need

        self.hold()
        try:
            with self._cache.ingesting(cancelled):
                looks = survey(self._run, cancelled)
                builder = Builder(self._run, self._cache.states_git, looks, progress, cancelled)
                builder.build()
        finally:
            self._records = self._load()
        enforce_limit(self._cache.root, self._limit_bytes, keep=self._cache.key)
        return self.problems()

    def problems(self) -> tuple[Problem, ...]:
        """What the ingest found: states that cannot be built, and files that were left out."""
        found: list[Problem] = []
        for state in self._run.states:
            record = self._records.get(state.id)
            if (
                record is not None
                and record.missing is not None
                and not self._recorded.is_all_there_is(state)
            ):
                found.append(Problem(f"state {state.id}", f"{record.missing}: no diff with it"))
            found.extend(record.problems if record is not None else ())
        return tuple(dict.fromkeys(found))

    def tree(self, state_id: str) -> str | None:
        """The git tree of a state, or null where it is missing (see `missing`)."""
        record = self._records.get(state_id)
        if record is not None:
            return record.tree
        owner, _, number = state_id.rpartition("@")
        return next((s.tree for s in self.step_states(owner) if s.id == f"{owner}@{number}"), None)

    def step_states(self, state_id: str) -> tuple[StepState, ...]:
        """The workspaces on the way to a state, in order, where the run recorded one a step."""
        record = self._records.get(state_id)
        return tuple(
            StepState(f"{state_id}@{number}", step.key, step.tree)
            for number, step in enumerate(record.steps if record is not None else (), 1)
        )

    def missing(self, state_id: str) -> str | None:
        """Why there is no tree of a state, or null where there is one."""
        record = self._records.get(state_id)
        if record is not None:
            return record.missing
        state = self._run.state(state_id)
        if state is None:
            return "the run has no such state"
        if not has_source(state):
            return state.missing or "its files are not recorded"
        return "not read yet"

    def incomparable(self, old: str, new: str) -> str | None:
        """Why two states cannot be compared; null where they can."""
        for state_id in (old, new):
            if self.tree(state_id) is None:
                if self._patches(old, new) is not None:
                    return None
                return f"{state_id}: {self.missing(state_id) or 'not there'}"
        return None

    def changes(
        self, old: str, new: str, cancelled: Callable[[], bool] | None = None
    ) -> tuple[FileChange, ...]:
        """The files that differ between two states, sorted by path, renames detected.

        Args:
            old: Id of the state before.
            new: Id of the state after.
            cancelled: Asked while git works.

        Where there are no trees to compare, the run's own patch between the two says it.

        Raises:
            ArcviewError: a state is missing.
            GitError: git is missing, too old, or cannot read the store.
            CancelledError: `cancelled` said so.
        """
        patches = self._patches(old, new)
        if patches is not None:
            return tuple(patch.change for patch in patches)
        return self._compare(old, new, cancelled).files

    def notes(self, old: str, new: str) -> tuple[str, ...]:
        """What to know about `changes` as a whole (rename detection was limited)."""
        if self._patches(old, new) is not None:
            return (AS_RECORDED,)
        return self._compare(old, new, None).notes

    def patch(
        self, old: str, new: str, path: str, *, context: int = 3, full: bool = False
    ) -> FilePatch:
        """The hunks of one changed file.

        Args:
            old: Id of the state before.
            new: Id of the state after.
            path: `FileChange.path` of one of `changes(old, new)`.
            context: Lines of context around each change.
            full: Compare the file however large it is. Otherwise what is larger than
                `PATCH_LIMIT_BYTES` comes without hunks and with `truncated_bytes` set.

        Raises:
            ArcviewError: a state is missing, or the file does not differ.
            GitError: git is missing, too old, or cannot read the store.
        """
        for recorded in self._patches(old, new) or ():
            if recorded.change.path == path:
                return recorded
        for change in self.changes(old, new):
            if change.path == path:
                return self._patch(change, context, full)
        raise ArcviewError(f"{path} does not differ between {old} and {new}")

    def file(self, state_id: str, path: str) -> bytes | None:
        """The bytes of a file (of a symlink: its target), or null where the state has none such.

        Raises:
            GitError: git is missing, too old, or cannot read the store.
        """
        tree = self.tree(state_id)
        if tree is None or not is_inside(path):
            return None
        for entry in self._list(tree, "--", path):
            if entry.path == path and entry.size_bytes is not None:
                return self._git.run(["cat-file", "blob", entry.blob])
        return None

    def entries(self, state_id: str) -> tuple[TreeEntry, ...]:
        """Every file of a state, sorted by path; none where it is missing.

        Raises:
            GitError: git is missing, too old, or cannot read the store.
        """
        tree = self.tree(state_id)
        return () if tree is None else self._list(tree, "-r")

    def blobs(self, blobs: Iterable[str]) -> Iterator[bytes]:
        """The bytes of files by their `TreeEntry.blob`, in the order asked for.

        Raises:
            GitError: git is missing, too old, or cannot read the store.
        """
        from arcview.states.blobs import read_blobs

        self.hold()
        return read_blobs(self._git, blobs)

    def blame(
        self, state_id: str, path: str, cancelled: Callable[[], bool] | None = None
    ) -> tuple[BlameLine, ...]:
        """Which state last wrote each line of a file; changes of blanks alone do not count.

        Raises:
            ArcviewError: the state is missing.
            GitError: the file is not in it, or git is missing, too old, or cannot read the store.
            CancelledError: `cancelled` said so.
        """
        from arcview.states.blame import blame

        self._tree(state_id)
        states = {r.commit: i for i, r in self._records.items() if r.commit is not None}
        commit = self._records[state_id].commit
        assert commit is not None  # every tree is on a line
        return blame(self._git, commit, path, states, cancelled)

    def blame_steps(
        self, state_id: str, path: str, cancelled: Callable[[], bool] | None = None
    ) -> tuple[str | None, ...]:
        """The key of the step that last wrote each line of a file, on the way to a state or step.

        Returns:
            Null for a line from before, and where the run names no step; empty without steps.

        Raises:
            GitError: the file is not in it, or git is missing, too old, or cannot read the store.
            CancelledError: `cancelled` said so.
        """
        named = f"{state_id}@" if state_id in self._records else state_id
        owner, _, number = named.rpartition("@")
        record = self._records.get(owner)
        steps = record.steps[: int(number) if number else None] if record is not None else ()
        if not steps or (tip := steps[-1].commit) is None:
            return ()
        from arcview.states.blame import blame_steps

        self.hold()
        keys = {step.commit: step.key for step in steps if step.commit is not None}
        return blame_steps(self._git, tip, path, keys, cancelled)

    def _patches(self, old: str, new: str) -> tuple[FilePatch, ...] | None:
        """The recorded patch between two states of which one has no tree; null where none is."""
        if old in self._records and new in self._records:
            if self.tree(old) is not None and self.tree(new) is not None:
                return None
        elif all(s is None or has_source(s) for s in map(self._run.state, (old, new))):
            return None  # not read yet
        return self._recorded.between(old, new)

    def line(self) -> dict[str, tuple[LineChange, ...]]:
        """What each state of the agent's line changed, by id and in order; read once.

        The first has all of its files. States that are missing are not in it.

        Raises:
            GitError: git is missing, too old, or cannot read the store.
        """
        ids = [state.id for state in self._run.agent_states()]
        commits = {
            record.commit: state_id
            for state_id in ids
            if (record := self._records.get(state_id)) is not None and record.commit is not None
        }
        tip = next(reversed(commits), None)
        if tip is None:
            return {}
        if self._line is None or self._line[0] != tip:
            from arcview.states.line import read_line

            self.hold()
            self._line = (tip, read_line(self._git, tip, commits))
        return self._line[1]

    def _tree(self, state_id: str) -> str:
        tree = self.tree(state_id)
        if tree is None:
            raise ArcviewError(f"state {state_id} is missing: {self.missing(state_id)}")
        self.hold()
        return tree

    def _compare(self, old: str, new: str, cancelled: Callable[[], bool] | None) -> Changes:
        trees = (self._tree(old), self._tree(new))
        if trees not in self._changes:
            self._changes[trees] = self._cached_changes(*trees, cancelled)
        return self._changes[trees]

    def _cached_changes(
        self, old_tree: str, new_tree: str, cancelled: Callable[[], bool] | None
    ) -> Changes:
        """Trees never change, so a list of changes stays right for good."""
        from arcview.states.changes import FORMAT_VERSION, Changes, compare  # 5 ms, as below
        from arcview.states.path_class import RULES_VERSION

        rules = self._run.chain.path_rules
        versions = f"{FORMAT_VERSION} {RULES_VERSION} {rules}".encode("utf-8", "surrogateescape")
        digest = hashlib.sha256(versions, usedforsecurity=False).hexdigest()[:8]
        path = self._cache.changes / f"{old_tree}-{new_tree}-{digest}.json"
        with contextlib.suppress(OSError, ValueError):
            return Changes.from_json(path.read_bytes())
        changes = compare(self._git, old_tree, new_tree, rules, cancelled)
        # A full disk costs time the next time, nothing else.
        with contextlib.suppress(OSError):
            write_atomically(path, changes.to_json())
        return changes

    def _patch(self, change: FileChange, context: int, full: bool) -> FilePatch:
        blobs = [change.old_blob or EMPTY_BLOB, change.new_blob or EMPTY_BLOB]
        if blobs[0] == blobs[1]:
            return FilePatch(change)
        size_bytes = (change.old_size_bytes or 0) + (change.new_size_bytes or 0)
        if MODE_SUBMODULE in (change.old_mode, change.new_mode):
            return FilePatch(change, warnings=("a submodule: its files are not recorded",))
        if change.binary:
            largest = max(change.old_size_bytes or 0, change.new_size_bytes or 0)
            is_big = largest >= BIG_FILE_BYTES
            return FilePatch(change, warnings=(_BIG,) if is_big else ())
        if size_bytes > PATCH_LIMIT_BYTES and not full:
            return FilePatch(change, truncated_bytes=size_bytes)
        from arcview.states.patch_text import parse_patch  # 5 ms, and only an open diff needs it

        args = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", f"-U{context}", *blobs]
        (patch,) = parse_patch(self._git.run(args)).files
        return FilePatch(change, patch.hunks)

    def _list(self, tree: str, *args: str) -> tuple[TreeEntry, ...]:
        self.hold()
        return list_tree(self._git, tree, *args)

    def hold(self) -> None:
        """Keeps the cached run from being evicted for as long as this object lives."""
        with self._lock:
            if not self._held:
                weakref.finalize(self, os.close, self._cache.hold())
                self._held = True
