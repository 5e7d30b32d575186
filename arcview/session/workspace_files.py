"""The files of a run's states as texts, read once; empty where a state or git is missing.

What needs code (trails, contracts, search) asks here, so that a run without a workspace simply has
none and says so elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from arcview.errors import ArcviewError, CancelledError
from arcview.model.patch import FileChange, PathClass
from arcview.model.states import StateKind

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun
    from arcview.states.store import TreeEntry

_MAX_FILE_BYTES = 1 << 20
_MAX_STATE_BYTES = 16 << 20
_MAX_TEXT_BYTES = 4 << 20
"""Of a file that is asked for by name."""
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
        self._line: dict[str, dict[str, str]] | None = None
        """State of the agent's line → path → blob."""
        self._renames: dict[str, dict[str, str]] = {}
        self._contents: dict[str, str | None] = {}
        """Blob → its text; null for one that is none."""

    def paths(self, state: str | None) -> tuple[str, ...]:
        """Every file of a state, sorted; of a step's state too."""
        if state is None:
            return ()
        blobs = self._blobs().get(state)
        return tuple(sorted(blobs)) if blobs else tuple(e.path for e in self._listed(state))

    def has(self, state: str | None, path: str) -> bool:
        """Whether a state has a file."""
        return state is not None and path in self._blobs().get(state, ())

    def texts(self, state: str) -> dict[str, str]:
        """Path → text of the source and test files of a state.

        Vendored, generated and binary files are left out, and those above 1 MiB; so is what comes
        after the first 16 MiB.
        """
        if state not in self._texts:
            self._texts[state] = dict(self._read(state))
        return self._texts[state]

    def renames(self, state: str) -> dict[str, str]:
        """New → old path of the files that the change to a state renamed."""
        self._blobs()
        return self._renames.get(state, {})

    def preload(self, wanted: Iterable[tuple[str | None, str]]) -> None:
        """Reads files of several states at once, which is cheaper than one by one."""
        line = self._blobs()
        found = (line.get(state or "", {}).get(path) for state, path in wanted)
        blobs = [blob for blob in dict.fromkeys(found) if blob and blob not in self._contents]
        if not blobs:
            return
        try:
            for blob, data in zip(blobs, self._opened.store.blobs(blobs), strict=True):
                self._contents[blob] = _text(data)
        except CancelledError:
            raise
        except ArcviewError:  # whoever asks for one of them is told
            return

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
        blobs = self._blobs().get(state)
        if blobs is not None:
            blob = blobs.get(path)
            if blob is not None and blob not in self._contents:
                self.preload([(state, path)])
            return self._contents.get(blob) if blob is not None else None
        try:
            data = self._opened.store.file(state, path)
        except CancelledError:
            raise
        except ArcviewError:
            return None
        return None if data is None else _text(data)

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

    def _blobs(self) -> dict[str, dict[str, str]]:
        """The files of every state of the agent's line."""
        if self._line is not None:
            return self._line
        try:
            changes = self._opened.store.line()
        except CancelledError:
            raise
        except ArcviewError:
            changes = {}
        found: dict[str, dict[str, str]] = {}
        files: dict[str, str] = {}
        for state, changed in changes.items():
            files = dict(files)
            for change in changed:
                if change.old_path is not None:
                    files.pop(change.old_path, None)
            for change in changed:
                if change.blob is None:
                    files.pop(change.path, None)
                else:
                    files[change.path] = change.blob
            self._renames[state] = {c.path: c.old_path for c in changed if c.old_path is not None}
            found[state] = files
        self._line = found
        return found

    def _listed(self, state: str) -> tuple[TreeEntry, ...]:
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
        try:
            blobs = self._opened.store.blobs([entry.blob for entry in wanted])
        except CancelledError:
            raise
        except ArcviewError:  # as where the state is not there; its diff says why
            return
        for entry, data in zip(wanted, blobs, strict=True):
            total += len(data)
            if total > _MAX_STATE_BYTES:
                return
            text = self._contents[entry.blob] = _text(data)
            if text is not None:
                yield entry.path, text


def _text(data: bytes) -> str | None:
    """A file as text, or null for one that is none."""
    is_text = len(data) <= _MAX_TEXT_BYTES and b"\0" not in data
    return data.decode("utf-8", "replace") if is_text else None
