"""Which files the tested tree has and where each comes from: state, image, overlay.

Files of a state are sent; vendored and generated ones stay as the image has them; hidden test
files come last. Pure: reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from arcview.gates.definition import HiddenFile
from arcview.model.patch import PathClass
from arcview.model.run import PathRules
from arcview.states.entries import TreeEntry
from arcview.states.objects import MODE_SUBMODULE
from arcview.states.path_class import classify, matcher


class Origin(StrEnum):
    """Where a file of the tested tree comes from."""

    START = "start"
    """As it was before the first stage."""
    AGENT = "agent"
    REFERENCE = "reference"
    MERGED = "merged"
    """Made by merging an agent's and a reference state."""
    OVERLAY = "overlay"
    IMAGE = "image"


class FileOrigin(NamedTuple):
    """One file of the tested tree."""

    path: str
    origin: Origin
    hash: str | None
    """Git blob id, for the overlay SHA-256; null for a file of the image that nobody read."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What has to happen to an image's workspace so that it becomes the tested tree."""

    send: tuple[TreeEntry, ...]
    """Files of the state that the image does not have as they are."""
    remove: tuple[str, ...]
    """Files of the image that the state does not have."""
    overlay: tuple[HiddenFile, ...]
    origins: tuple[FileOrigin, ...]
    """Every file, sorted by path."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TreeFiles:
    """The lists that decide what is sent."""

    state: tuple[TreeEntry, ...]
    start: Mapping[str, str]
    """Path → blob of the start state; empty where that is not known."""
    base: tuple[TreeEntry, ...] | None = None
    """The workspace in the image, where the chain records it and its tree is at hand."""


@dataclass(frozen=True)
class TestedTree:
    """The files of a state, the hidden files over it, and what decides about the image's own."""

    __test__ = False  # no test class, whatever its name

    tree: str
    """Git tree id of the state."""
    origin: Origin
    """What files of the state are that are not as they were at the start."""
    overlay: tuple[HiddenFile, ...]
    rules: PathRules
    read: Callable[[Iterable[str]], Iterator[bytes]]
    """The bytes of blobs, in the order asked for."""
    load: Callable[[], TreeFiles]
    """The files; asked once, when the first of them is needed."""

    _made: dict[frozenset[str], Delivery] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def files(self) -> TreeFiles:
        """The lists of files."""
        return self.load()

    @cached_property
    def _stays(self) -> Callable[[str], bool]:
        """Whether the chain's own rules leave a path to the image; never guessed from a name."""
        return matcher((*self.rules.vendored, *self.rules.generated))

    def delivery(self, in_image: frozenset[str] = frozenset()) -> Delivery:
        """What to send and to remove.

        Args:
            in_image: The files of the image's workspace; needed only where `base` is not known.
        """
        found = self._made.get(in_image)
        if found is None:
            found = self._made[in_image] = self._delivery(in_image)
        return found

    def _delivery(self, in_image: frozenset[str]) -> Delivery:
        files = self.files
        base = {entry.path: entry for entry in files.base or ()}
        known = base.keys() | in_image
        covered = {file.path for file in self.overlay}
        send, kept_back, origins = [], [], []
        for entry in files.state:
            if entry.mode == MODE_SUBMODULE:
                continue
            if known and self._stays(entry.path):
                kept_back.append(entry.path)
                continue
            if not _same(base.get(entry.path), entry):
                send.append(entry)
            if entry.path not in covered:
                origins.append(FileOrigin(entry.path, self._origin(entry), entry.blob))
        sent = {entry.path for entry in files.state} - set(kept_back)
        remove = tuple(sorted(p for p in known - sent if self._goes(p, is_base=p in base)))
        gone = set(remove)
        origins += (
            FileOrigin(path, Origin.IMAGE, base[path].blob if path in base else None)
            for path in known - sent - gone - covered
        )
        origins += (FileOrigin(f.path, Origin.OVERLAY, f.sha256) for f in self.overlay)
        return Delivery(
            tuple(send), remove, self.overlay, tuple(sorted(origins)), _notes(self, kept_back)
        )

    def _origin(self, entry: TreeEntry) -> Origin:
        return Origin.START if self.files.start.get(entry.path) == entry.blob else self.origin

    def _goes(self, path: str, *, is_base: bool) -> bool:
        """Whether a file of the image that the state does not have is to be removed."""
        if self._stays(path):
            return False
        # What nobody recorded as part of the workspace may be the environment's.
        return is_base or classify(path, self.rules) not in _ENVIRONMENT


_ENVIRONMENT = frozenset({PathClass.VENDORED, PathClass.CACHE, PathClass.GENERATED})


def _same(base: TreeEntry | None, entry: TreeEntry) -> bool:
    return base is not None and (base.blob, base.mode) == (entry.blob, entry.mode)


def _notes(tree: TestedTree, kept_back: list[str]) -> tuple[str, ...]:
    notes = []
    if kept_back:
        files = "1 file" if len(kept_back) == 1 else f"{len(kept_back)} files"
        notes.append(
            f"{files} of the state left to the image, as the chain's path rules say: "
            f"{kept_back[0]}{' …' if len(kept_back) > 1 else ''}"
        )
    modules = [entry.path for entry in tree.files.state if entry.mode == MODE_SUBMODULE]
    if modules:
        notes.append(f"submodules are not in the state and not in the tested tree: {modules[0]}")
    return tuple(notes)
