"""The files of a run's states as texts, read once; empty where a state or git is missing.

What needs code (trails, contracts, search) asks here, so that a run without a workspace simply has
none and says so elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from arcview.analysis.frames import PathMapper
from arcview.errors import ArcviewError, CancelledError
from arcview.model.patch import FileChange, PathClass
from arcview.model.states import StateKind

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun
    from arcview.states.store import TreeEntry

_MAX_FILE_BYTES = 1 << 20
_MAX_STATE_BYTES = 16 << 20
_TEXT_CLASSES = (PathClass.SOURCE, PathClass.TEST)


class WorkspaceFiles:
    """The files of the states of one open run.

    Args:
        opened: The run; its states must be built (`store.ready()`).
    """

    def __init__(self, opened: OpenRun) -> None:
        self._opened = opened
        self._entries: dict[str, tuple[TreeEntry, ...]] = {}
        self._texts: dict[str, dict[str, str]] = {}
        self._mappers: dict[str, PathMapper] = {}

    def paths(self, state: str | None) -> tuple[str, ...]:
        """Every file of a state, sorted."""
        return tuple(entry.path for entry in self._listed(state))

    def texts(self, state: str) -> dict[str, str]:
        """Path → text of the source and test files of a state.

        Vendored, generated and binary files are left out, and those above 1 MiB; so is what comes
        after the first 16 MiB.
        """
        if state not in self._texts:
            self._texts[state] = dict(self._read(state))
        return self._texts[state]

    def is_there(self, state: str) -> bool:
        """Whether the files of a state are known, though it may have none."""
        return self._opened.store.tree(state) is not None

    def source_texts(self, state: str) -> dict[str, str]:
        """Path → text of the source files of a state; as `texts`, without tests."""
        from arcview.states.path_class import classify

        rules = self._opened.run.chain.path_rules
        texts = self.texts(state)
        return {p: t for p, t in texts.items() if classify(p, rules) is PathClass.SOURCE}

    def text(self, state: str | None, path: str) -> str | None:
        """One file, whatever its kind; null where the state has no such text file."""
        if state is None:
            return None
        try:
            data = self._opened.store.file(state, path)
        except CancelledError:
            raise
        except ArcviewError:
            return None
        return None if data is None or b"\0" in data else data.decode("utf-8", "replace")

    def mapper(self, state: str) -> PathMapper:
        """Maps container paths of a failure to the files of a state."""
        if state not in self._mappers:
            self._mappers[state] = PathMapper(self.paths(state), self._opened.run.chain.workdir)
        return self._mappers[state]

    def before(self, state: str) -> str | None:
        """The last state before this one on the agent's line."""
        ids = [one.id for one in self._opened.run.agent_states()]
        position = ids.index(state) if state in ids else 0
        return ids[position - 1] if position else None

    def is_between(self, state: str) -> bool:
        """Whether something between the stages made a state."""
        found = self._opened.run.state(state)
        return found is not None and found.kind is StateKind.BETWEEN

    def changes(self, base: str | None, state: str) -> tuple[FileChange, ...]:
        """The files that differ between two states; none where one of them is missing."""
        if base is None:
            return ()
        try:
            return self._opened.store.changes(base, state)
        except CancelledError:
            raise
        except ArcviewError:
            return ()

    def own_changes(self, state: str | None) -> tuple[FileChange, ...]:
        """What the step from the state before to this one changed."""
        return () if state is None else self.changes(self.before(state), state)

    def _listed(self, state: str | None) -> tuple[TreeEntry, ...]:
        if state is None:
            return ()
        if state not in self._entries:
            try:
                self._entries[state] = self._opened.store.entries(state)
            except CancelledError:
                raise
            except ArcviewError:
                return ()
        return self._entries[state]

    def _read(self, state: str) -> Iterator[tuple[str, str]]:
        from arcview.states.path_class import classify

        rules = self._opened.run.chain.path_rules
        wanted = [
            entry
            for entry in self._listed(state)
            if entry.size_bytes is not None
            and entry.size_bytes <= _MAX_FILE_BYTES
            and classify(entry.path, rules) in _TEXT_CLASSES
        ]
        total = 0
        blobs = self._opened.store.blobs([entry.blob for entry in wanted])
        for entry, data in zip(wanted, blobs, strict=True):
            total += len(data)
            if total > _MAX_STATE_BYTES:
                return
            if b"\0" not in data:
                yield entry.path, data.decode("utf-8", "replace")
