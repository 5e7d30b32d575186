"""Puts the change of a stage on another state: git's three-way merge, then Python by blocks.

A file is never taken over whole; what does not merge leaves no tree, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath

from arcview.analysis.what_if import Transplant
from arcview.analysis.what_if_blocks import BlockError
from arcview.analysis.what_if_closure import Sources, close_over
from arcview.analysis.what_if_merge import merge_modules
from arcview.analysis.what_if_words import added_lines, language, textual_doubts
from arcview.gates.definition import GateDefinition
from arcview.git import BIG_FILE_BYTES
from arcview.model.patch import PathClass
from arcview.states.entries import TreeEntry
from arcview.states.merge import Conflict, TreeMerger, paths_of
from arcview.states.objects import MODE_EXECUTABLE, MODE_FILE
from arcview.states.path_class import classify, matcher
from arcview.states.store import StateStore

METHOD = 3
"""Counts up when trees or labels are made otherwise: older answers are made again."""

_COMPILED = ("go", "rust")
"""Their compilers find what is missing: such a tree does not build."""

_REGULAR = (MODE_FILE, MODE_EXECUTABLE)

_TEST_MODULE = re.compile(
    r"(?:^|/)(?:test_[^/]*\.py|[^/]*_test\.(?:py|go)|[^/]*\.(?:test|spec)\.[cm]?[jt]sx?)$"
)
"""Files that hold tests and nothing that other code uses."""


class _Tree:
    """The files of one tree; texts are read all at once by language."""

    def __init__(self, tree: str, merger: TreeMerger, store: StateStore) -> None:
        self.id = tree
        self._merger, self._store = merger, store
        self._texts: dict[str, str] = {}

    @cached_property
    def files(self) -> dict[str, TreeEntry]:
        """The files by path."""
        return self._merger.files(self.id)

    def texts(self, is_wanted: Callable[[str], bool]) -> dict[str, str]:
        """The texts of the chosen regular files of some size."""
        chosen = [
            entry
            for path, entry in self.files.items()
            if is_wanted(path)
            and entry.mode in _REGULAR
            and (entry.size_bytes or 0) < BIG_FILE_BYTES
        ]
        new = [entry for entry in chosen if entry.path not in self._texts]
        for entry, data in zip(new, self._store.blobs(e.blob for e in new), strict=True):
            self._texts[entry.path] = data.decode("utf-8", "replace")
        return {entry.path: self._texts[entry.path] for entry in chosen}

    def code(self, kind: str) -> dict[str, str]:
        """Its files in one language."""
        return self.texts(lambda path: language(path) == kind)

    @cached_property
    def sources(self) -> Sources:
        """Its Python files."""
        texts = self.texts(_is_python)
        return Sources(texts, texts.__getitem__)


class Transplanter:
    """Puts changes on other states of one run, for one gate.

    Args:
        store: The states; they must be built.
        definition: The gate: its hidden files, and what stays as the image has it, cannot conflict.
        cancelled: Asked while git works.
    """

    def __init__(
        self, store: StateStore, definition: GateDefinition, cancelled: Callable[[], bool]
    ) -> None:
        self._store = store
        self._merger = TreeMerger(store)
        self._cancelled = cancelled
        self._definition = definition
        self._overlay = {file.path for file in definition.overlay}
        rules = definition.path_rules
        self._rules = rules
        self._stays = matcher((*rules.vendored, *rules.generated))
        self._trees: dict[str, _Tree] = {}

    def put(self, base: str, changed: str, target: str) -> Transplant:
        """Puts what `changed` has over `base` on `target`; all are ids of trees.

        Raises:
            GitError: git is missing, too old, or cannot read or write the store.
            CancelledError: it was cancelled.
        """
        merged = self._merger.three_way(base, target, changed, cancelled=self._cancelled)
        replaced: dict[str, tuple[str, bytes] | TreeEntry | None] = {}
        copied: list[str] = []
        for conflict in merged.conflicts:
            try:
                replaced[conflict.path] = self._settled(conflict, copied)
            except BlockError as error:
                why = f"{conflict.path} does not merge: {error}"
                return Transplant(None, "none", paths_of(merged.conflicts), why)
        tree = self._merger.with_files(merged.draft, replaced) if replaced else merged.draft
        return self._completed(
            base,
            changed,
            tree,
            Transplant(
                tree,
                "blocks" if any(isinstance(file, tuple) for file in replaced.values()) else "lines",
                paths_of(merged.conflicts),
                copied=tuple(copied),
            ),
        )

    def _settled(
        self, conflict: Conflict, copied: list[str]
    ) -> tuple[str, bytes] | TreeEntry | None:
        """What becomes of a file that does not merge line by line.

        Raises:
            BlockError: that cannot be told.
        """
        if self._is_unseen(conflict.path):
            return conflict.ours
        if conflict.is_edit:
            return self._by_blocks(conflict)
        if conflict.ours is None and conflict.theirs is not None:
            # It exists on the change's side only: nothing is written over.
            copied.append(conflict.path)
            return conflict.theirs
        raise BlockError(
            "changed on one side, and removed, renamed or of another kind on the other"
        )

    def _is_unseen(self, path: str) -> bool:
        """Whether the gate does not see a file, or not in this version.

        Hidden files come over it, the image has its own, it holds tests of the agent's that no list
        of the gate names, or it is documentation that neither hidden files nor commands mention.
        """
        if path in self._overlay or self._stays(path):
            return True
        kind = classify(path, self._rules)
        if kind is PathClass.TEST:
            return bool(_TEST_MODULE.search(path))
        return kind is PathClass.DOCS and not self._is_mentioned(PurePosixPath(path).name)

    def _is_mentioned(self, name: str) -> bool:
        words = [word for step in self._definition.steps for word in step.command]
        return any(name in word for word in words) or any(
            name.encode("utf-8", "surrogateescape") in file.source.read_bytes()
            for file in self._definition.overlay
        )

    def _by_blocks(self, conflict: Conflict) -> tuple[str, bytes]:
        assert conflict.ours is not None
        assert conflict.theirs is not None
        if not _is_python(conflict.path):
            raise BlockError("both sides changed the same lines")
        base, ours, theirs = (
            self._text(side) if side is not None else ""
            for side in (conflict.base, conflict.ours, conflict.theirs)
        )
        text = merge_modules(base, ours, theirs, self._merge_text)
        return conflict.ours.mode, text.encode("utf-8")

    def _text(self, entry: TreeEntry) -> str:
        try:
            return self._merger.read(entry.blob).decode("utf-8")
        except UnicodeDecodeError as error:
            raise BlockError("it is not UTF-8") from error

    def _merge_text(self, base: str, ours: str, theirs: str) -> str | None:
        sides = (text.encode("utf-8") for text in (base, ours, theirs))
        merged = self._merger.merge_file(*sides)
        return None if merged is None else merged.decode("utf-8")

    def _completed(self, base: str, changed: str, tree: str, made: Transplant) -> Transplant:
        """The merged tree with the code that the change needs besides."""
        old, new, here = self._tree(base), self._tree(changed), self._tree(tree)
        touched = [p for p, entry in new.files.items() if _differs(old.files.get(p), entry)]
        made = self._doubted(made, old, new, here, touched)
        python = [path for path in touched if _is_python(path) and path in here.files]
        if not python:
            return made
        try:
            closure = close_over(old.sources, new.sources, here.sources, python)
        except BlockError as error:
            why = f"what the change needs cannot be copied along: {error}"
            return Transplant(None, "none", made.conflicts, why)
        if closure.files:
            files = {p: (_mode(here, new, p), t.encode("utf-8")) for p, t in closure.files.items()}
            made = replace(made, tree=self._merger.with_files(tree, files), mode="blocks")
        return replace(
            made,
            copied=(*made.copied, *closure.copied),
            doubts=(*closure.doubts, *made.doubts),
        )

    def _doubted(
        self, made: Transplant, old: _Tree, new: _Tree, here: _Tree, touched: Iterable[str]
    ) -> Transplant:
        """With doubts about code in languages that are not parsed here."""
        by_language: dict[str, list[str]] = {}
        for path in touched:
            kind = language(path)
            if kind is not None and path not in self._overlay and not _TEST_MODULE.search(path):
                by_language.setdefault(kind, []).append(path)
        for kind, paths in by_language.items():
            before, after, there = (tree.code(kind) for tree in (old, new, here))
            added = {
                path: added_lines(before.get(path, ""), after[path])
                for path in paths
                if path in after
            }
            doubts = textual_doubts(added, before.values(), there.values())
            if kind in _COMPILED:
                made = replace(made, build_doubts=(*made.build_doubts, *doubts))
            else:
                made = replace(made, doubts=(*made.doubts, *doubts))
        return made

    def _tree(self, tree: str) -> _Tree:
        if tree not in self._trees:
            self._trees[tree] = _Tree(tree, self._merger, self._store)
        return self._trees[tree]


def _is_python(path: str) -> bool:
    return PurePosixPath(path).suffix == ".py"


def _differs(old: TreeEntry | None, new: TreeEntry) -> bool:
    return old is None or (old.blob, old.mode) != (new.blob, new.mode)


def _mode(here: _Tree, new: _Tree, path: str) -> str:
    entry = here.files.get(path) or new.files.get(path)
    return entry.mode if entry is not None and entry.mode in _REGULAR else MODE_FILE
