"""Files of any tree in the object store of a run, merged ones too."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar, cast

from arcview.errors import GitError
from arcview.gates.errors import CannotRerunError
from arcview.git import Git
from arcview.states.entries import TreeEntry, list_tree
from arcview.states.store import StateStore

T = TypeVar("T")

_KEPT = 24
"""Lists of files kept in memory: a matrix goes over few trees again and again."""


class Ahead(Generic[T]):
    """A value that another thread works out while this one does something else."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._value: T | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="reading ahead", daemon=True)
        self._thread.start()

    def __call__(self) -> T:
        """The value, waited for.

        Raises:
            BaseException: whatever the work raised.
        """
        self._thread.join()
        if self._error is not None:
            raise self._error
        return cast("T", self._value)

    def _run(self) -> None:
        try:
            self._value = self._work()
        except BaseException as error:  # noqa: BLE001 -- handed to the thread that waits
            self._error = error


class Trees:
    """Reads trees by id; may be called from several threads.

    Args:
        store: The states of the run; ingested before.
    """

    def __init__(self, store: StateStore) -> None:
        self._store = store
        self._git = Git(store.objects.parent)
        self._lists: dict[str, tuple[TreeEntry, ...]] = {}
        self._lock = threading.Lock()

    def entries(self, tree: str) -> tuple[TreeEntry, ...]:
        """Every file of a tree, sorted by path.

        Raises:
            CannotRerunError: the store has no such tree.
        """
        with self._lock:
            if tree not in self._lists:
                while len(self._lists) >= _KEPT:
                    self._lists.pop(next(iter(self._lists)))
                self._lists[tree] = self._list(tree)
            return self._lists[tree]

    def known(self, tree: str | None) -> tuple[TreeEntry, ...] | None:
        """As `entries`; null for a tree that the store does not have."""
        if tree is None:
            return None
        try:
            return self.entries(tree)
        except CannotRerunError:
            return None

    def read(self, blobs: Iterable[str]) -> Iterator[bytes]:
        """The bytes of blobs, in the order asked for.

        Raises:
            GitError: git is missing, too old, or cannot read the store.
        """
        return self._store.blobs(blobs)

    def _list(self, tree: str) -> tuple[TreeEntry, ...]:
        try:
            return list_tree(self._git, tree, "-r")
        except GitError as error:
            raise CannotRerunError(f"tree {tree[:12]} cannot be read: {error}") from error
