"""Builds the tree of every state in the private object store. The run folder is only read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from arcview.errors import CancelledError, GitError
from arcview.git import Git
from arcview.model.problem import Problem
from arcview.model.run import Run
from arcview.model.states import (
    BundleSource,
    EmptySource,
    PatchSource,
    RepositorySource,
    State,
    StateKind,
)
from arcview.states.archive import ArchiveError, read_archive
from arcview.states.cache import write_atomically
from arcview.states.folder import Listing, store_files
from arcview.states.objects import EMPTY_TREE, ObjectStore
from arcview.states.patch_text import strip_level
from arcview.states.record import StateRecord, StepRecord, load_records, save_records
from arcview.states.recorded import patch_bytes
from arcview.states.steps import read_steps
from arcview.states.survey import Look, before, has_source

Progress = Callable[[int, int, str], None]

_NAMED_FAULTS = 20
"""Faults of one state that are named one by one; the rest is counted."""


class MissingError(Exception):
    """A state cannot be built; the text says why."""


class Builder:
    """Builds what is missing or stale, state by state; each finished state is kept."""

    def __init__(
        self,
        run: Run,
        git_dir: Path,
        looks: dict[str, Look],
        progress: Progress | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._run = run
        self._git_dir = git_dir
        self._git = Git(git_dir)
        self._objects = ObjectStore(git_dir)
        self._looks = looks
        self._progress = progress
        self._cancelled = cancelled
        self._records: dict[str, StateRecord] = {}
        self._bundles: dict[Path, dict[str, str]] = {}
        self._problems: list[Problem] = []
        self._done = self._total = 0

    def build(self) -> dict[str, StateRecord]:
        """Builds all states.

        Returns:
            One record per state that has a source, also for those that cannot be built.

        Raises:
            CancelledError: `cancelled` said so; the states built so far are kept.
            ArcviewError: the cache cannot be written.
        """
        old = load_records(self._git_dir)
        states = [state for state in self._run.states if has_source(state)]
        fresh = {
            state.id: old[state.id]
            for state in states
            if state.id in old and old[state.id].fingerprint == self._looks[state.id].fingerprint
        }
        stale = [state for state in states if state.id not in fresh]
        self._records = fresh
        self._total = sum(self._weight(state) for state in stale)
        try:
            for state in stale:
                self._ensure(state)
        finally:
            # Also when cancelled: what was read need not be read again.
            refs = self._link(states)
            self._objects.flush()
            if self._records != old:
                # For people and for git's own clean-up; arcview itself goes by the records.
                write_atomically(self._git_dir / "packed-refs", refs)
                save_records(self._git_dir, self._records)
        return self._records

    def _weight(self, state: State) -> int:
        listing = self._looks[state.id].listing
        return 1 if listing is None else len(listing.files) + 1

    def _advance(self, count: int, state: State) -> None:
        if self._cancelled is not None and self._cancelled():
            raise CancelledError("cancelled")
        # The members of an archive are not known beforehand.
        self._done = min(self._done + count, self._total)
        if self._progress is not None:
            self._progress(self._done, self._total, state.id)

    def _ensure(self, state: State) -> StateRecord:
        """The record of a state, built with all that it is based on."""
        if state.id in self._records:
            return self._records[state.id]
        look = self._looks[state.id]
        base = self._base(state) if look.missing is None else None
        self._problems = []
        tree = missing = None
        try:
            tree = self._tree(state, look, base)
        except MissingError as error:
            missing = str(error)
        if tree is not None and state.tree is not None and state.tree != tree:
            what = f"the run records the tree {state.tree} for it, its files give {tree}"
            self._problems.append(Problem(f"state {state.id}", what))
        steps = self._steps(state) if tree is not None else ()
        problems = tuple(self._problems)
        record = StateRecord(look.fingerprint, tree, missing, problems, steps=steps)
        self._records[state.id] = record
        self._advance(1, state)
        return record

    def _base(self, state: State) -> StateRecord | None:
        """The record of the state that this one is made from, if it is."""
        if isinstance(state.source, PatchSource):
            base = self._run.state(state.source.base)
        else:
            base = before(self._run, state) if state.source is None else None
        return None if base is None else self._ensure(base)

    def _tree(self, state: State, look: Look, base: StateRecord | None) -> str:
        if look.missing is not None:
            raise MissingError(look.missing)
        if isinstance(state.source, EmptySource):
            return EMPTY_TREE
        if base is not None and base.tree is None:
            raise MissingError(f"the state it is based on is missing: {base.missing}")
        if base is not None and base.tree is not None and look.path is None:
            return base.tree
        assert look.path is not None
        if look.listing is not None:
            return self._folder_tree(state, look.listing)
        if isinstance(state.source, BundleSource):
            return self._bundle_tree(look.path, state.source)
        if isinstance(state.source, RepositorySource):
            return self._repository_tree(look.path, state.source)
        if isinstance(state.source, PatchSource) and base is not None and base.tree is not None:
            return self._patched_tree(look.path, state.source, base.tree)
        return self._archive_tree(state, look.path)

    def _folder_tree(self, state: State, listing: Listing) -> str:
        leaves, faults = store_files(
            listing, self._objects, lambda count: self._advance(count, state)
        )
        self._report(listing.root, listing.repositories, [*listing.faults, *faults])
        return self._objects.write_tree(leaves)

    def _archive_tree(self, state: State, path: Path) -> str:
        try:
            content = read_archive(path, self._objects, lambda _: self._advance(0, state))
        except ArchiveError as error:
            raise MissingError(f"{self._shown(path)}: {error}") from error
        self._report(os.fsencode(path), sorted(content.repositories), content.faults)
        return self._objects.write_tree(content.leaves.values())

    def _refs(self, path: Path) -> dict[str, str]:
        """The commits that a bundle names, its objects brought into the store."""
        if path not in self._bundles:
            args = ["bundle", "unbundle", str(path.absolute())]
            listed = self._git.run(args, cancelled=self._cancelled)
            lines = listed.decode("utf-8", "surrogateescape").split("\n")
            self._bundles[path] = {
                ref: oid for oid, _, ref in (line.partition(" ") for line in lines if line)
            }
        return self._bundles[path]

    def _steps(self, state: State) -> tuple[StepRecord, ...]:
        """What the bundle of a state records of the way to it from the state before."""
        earlier = before(self._run, state)
        if (
            earlier is None
            or not isinstance(state.source, BundleSource)
            or not isinstance(earlier.source, BundleSource)
            or state.source.path != earlier.source.path
        ):
            return ()
        try:
            refs = self._refs(Path(self._run.path) / state.source.path)
            start, end = refs.get(earlier.source.ref), refs.get(state.source.ref)
            if start is None or end is None or start == end:
                return ()
            return read_steps(self._git, start, end, self._cancelled)
        except GitError as error:
            what = f"its steps cannot be read: {error}"
            self._problems.append(Problem(f"state {state.id}", what))
            return ()

    def _bundle_tree(self, path: Path, source: BundleSource) -> str:
        try:
            oid = self._refs(path).get(source.ref)
            if oid is None:
                raise MissingError(f"{source.path} has no ref {source.ref}")
            return self._git.run(["rev-parse", "--verify", f"{oid}^{{tree}}"]).decode().strip()
        except GitError as error:
            raise MissingError(f"{source.path}: {error}") from error

    def _repository_tree(self, path: Path, source: RepositorySource) -> str:
        try:
            self._objects.borrow(path / "objects")
            args = ["rev-parse", "--verify", "--end-of-options", f"{source.commit}^{{tree}}"]
            tree = self._git.run(args).decode().strip()
            # A shallow or partial clone may lack some of it.
            self._git.run(["ls-tree", "-r", "-t", "--name-only", tree], cancelled=self._cancelled)
        except GitError as error:
            raise MissingError(f"{source.path}: {error}") from error
        return tree

    def _patched_tree(self, path: Path, source: PatchSource, base: str) -> str:
        index = self._git_dir / f"index.{os.urandom(6).hex()}"
        try:
            patch = patch_bytes(path, source)
            self._objects.flush()
            self._git.run(["read-tree", base], index=index)
            if patch.strip():
                self._apply(patch, source, index)
            return self._git.run(["write-tree"], index=index).decode().strip()
        except OSError as error:
            raise MissingError(f"{source.path} cannot be read: {error.strerror}") from error
        except GitError as error:
            raise MissingError(f"{source.path} does not apply to {source.base}: {error}") from error
        finally:
            index.unlink(missing_ok=True)

    def _apply(self, patch: bytes, source: PatchSource, index: Path) -> None:
        """Applies a patch to an index; one whose line ends were changed on its way without them."""
        args = ["apply", "--cached", "--whitespace=nowarn", f"-p{strip_level(patch)}", "-"]
        try:
            self._git.run(args, stdin=patch, index=index, cancelled=self._cancelled)
        except GitError:
            if patch.count(b"\n") != patch.count(b"\r\n"):
                raise
            patch = patch.replace(b"\r\n", b"\n")
            self._git.run(args, stdin=patch, index=index, cancelled=self._cancelled)
            what = "every line ends in CR LF, unlike the files that it changes: read without CR"
            self._problems.append(Problem(source.path, what))

    def _report(
        self, root: bytes, repositories: list[bytes], faults: list[tuple[bytes, str]]
    ) -> None:
        """Notes what is not part of a state although it lies in its source."""
        where = self._shown(Path(os.fsdecode(root)))
        for path, reason in faults[:_NAMED_FAULTS]:
            self._problems.append(Problem(f"{where}: {_text(path)}", reason))
        if len(faults) > _NAMED_FAULTS:
            more = f"{len(faults) - _NAMED_FAULTS} more entries could not be read or were left out"
            self._problems.append(Problem(where, more))
        if repositories:
            names = ", ".join(map(_text, repositories[:3])) + (", …" * (len(repositories) > 3))
            what = f"nested git repository ({names}): its .git is left out, its files kept"
            if len(repositories) > 1:
                what = f"{len(repositories)} nested git repositories ({names}): their .git folders "
                what += "are left out, their files kept"
            self._problems.append(Problem(where, what))

    def _shown(self, path: Path) -> str:
        """A path as the user would name it."""
        root = Path(self._run.path)
        return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)

    def _link(self, states: Iterable[State]) -> bytes:
        """Puts the trees on one line of commits, in order, for blame; the reference on its own.

        Returns:
            The refs to the commits, as git's `packed-refs` file has them.
        """
        agent: str | None = None
        reference: str | None = None
        start: str | None = None
        refs: list[str] = []
        for order, state in enumerate(states):
            record = self._records.get(state.id)
            if record is None or record.tree is None:
                continue
            is_reference = state.kind is StateKind.REFERENCE
            parent = (reference or start) if is_reference else agent
            parents = [] if parent is None else [parent]
            commit = self._objects.write_commit(record.tree, parents, order, state.id)
            steps = self._link_steps(record, parent, order, state.id)
            if is_reference:
                reference = commit
            else:
                agent = commit
                start = start or commit
            self._records[state.id] = replace(record, commit=commit, steps=steps)
            refs.append(f"{commit} refs/arcview/{ref_name(state.id)}")
            if steps:
                refs.append(f"{steps[-1].commit} refs/arcview-steps/{ref_name(state.id)}")
        refs.sort(key=lambda line: line[41:])
        return "\n".join(["# pack-refs with: sorted", *refs, ""]).encode("ascii")

    def _link_steps(
        self, record: StateRecord, parent: str | None, order: int, state_id: str
    ) -> tuple[StepRecord, ...]:
        """Puts the steps to a state on a line of their own that begins at the state before."""
        linked: list[StepRecord] = []
        for number, step in enumerate(record.steps, 1):
            parents = [] if parent is None else [parent]
            parent = self._objects.write_commit(step.tree, parents, order, f"{state_id}@{number}")
            linked.append(replace(step, commit=parent))
        return tuple(linked)


def ref_name(state_id: str) -> str:
    """The last part of `refs/arcview/…` for a state; odd ids are percent-encoded."""
    plain = re.fullmatch(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", state_id)
    if plain and not state_id.endswith(".lock"):
        return state_id
    data = state_id.encode("utf-8", "surrogateescape")
    return re.sub(rb"[^A-Za-z0-9_-]", lambda odd: b"%%%02X" % odd[0][0], data).decode("ascii")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
