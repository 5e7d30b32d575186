"""The list of files that differ between two trees, with sizes, line counts and path classes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter

from arcview.git import Git
from arcview.model.patch import ChangeKind, FileChange, PathClass
from arcview.model.run import PathRules
from arcview.states.blobs import read_blobs
from arcview.states.objects import MODE_SUBMODULE
from arcview.states.patch_names import decode
from arcview.states.path_class import HEAD_BYTES, classify, matcher, needs_head

FORMAT_VERSION = 1
"""Of `Changes.to_json`; part of the key of what is cached."""

_HEAD_FROM_BYTES = 256 << 10
"""Larger files are not read for the sake of their first lines."""

_NO_MODE = "000000"
_KINDS = {
    "A": ChangeKind.ADDED,
    "D": ChangeKind.DELETED,
    "M": ChangeKind.MODIFIED,
    "R": ChangeKind.RENAMED,
    "C": ChangeKind.COPIED,
    "T": ChangeKind.TYPE_CHANGED,
}
_LIMITED = "rename detection was limited: too many files changed"
_MARKS = {
    b"linguist-generated": PathClass.GENERATED,
    b"linguist-vendored": PathClass.VENDORED,
    b"linguist-documentation": PathClass.DOCS,
}
_FIELDS = (
    "path",
    "old_path",
    "added",
    "removed",
    "old_mode",
    "new_mode",
    "similarity",
    "binary",
    "old_size_bytes",
    "new_size_bytes",
    "old_blob",
    "new_blob",
)
_row = attrgetter("kind.value", "path_class.value", *_FIELDS)


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between two trees."""

    files: tuple[FileChange, ...]
    """Sorted by path."""
    notes: tuple[str, ...] = ()
    """What to know about the list as a whole."""

    def to_json(self) -> bytes:
        """A compact form for the cache."""
        rows = [_row(change) for change in self.files]
        return json.dumps({"notes": self.notes, "rows": rows}).encode("ascii")

    @classmethod
    def from_json(cls, data: bytes) -> Changes:
        """Reads `to_json` back.

        Raises:
            ValueError: the data is damaged.
        """
        try:
            content = json.loads(data)
            files = tuple(
                FileChange(
                    kind=ChangeKind(kind),
                    path_class=PathClass(path_class),
                    **dict(zip(_FIELDS, values, strict=True)),
                )
                for kind, path_class, *values in content["rows"]
            )
            return cls(files, tuple(content["notes"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a list of changes: {error}") from error


def compare(
    git: Git,
    old_tree: str,
    new_tree: str,
    rules: PathRules,
    cancelled: Callable[[], bool] | None = None,
) -> Changes:
    """Compares two trees.

    Args:
        git: The store that holds them.
        old_tree: Id of the tree before.
        new_tree: Id of the tree after.
        rules: The chain's own path rules.
        cancelled: Asked while git works.

    Raises:
        GitError: git is missing, too old, or cannot read the store.
        CancelledError: `cancelled` said so.
    """
    if old_tree == new_tree:
        return Changes(())
    args = ["diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", "-M50%", "-l1000"]
    args += ["--no-ext-diff", "--no-textconv", old_tree, new_tree]
    output = git.run_fully(args, cancelled=cancelled)
    files = sorted(_parse(output.stdout), key=attrgetter("path"))
    attributes = f"{new_tree}:.gitattributes"
    sizes = _sizes(git, files, attributes, cancelled)
    files = [_sized(change, sizes) for change in files]
    marks: Sequence[_Mark] = ()
    if attributes in sizes:
        marks = _read_marks(git.run(["cat-file", "blob", attributes]))
    files = _classified(git, files, rules, marks, cancelled)
    return Changes(tuple(files), (_LIMITED,) if "rename detection" in output.stderr else ())


def _parse(data: bytes) -> Iterator[FileChange]:
    """Reads `--raw --numstat -z`: first all raw records, then the counts in the same order."""
    fields = iter(data.split(b"\0"))
    raw: list[tuple[list[str], list[str]]] = []
    field = next(fields)
    while field.startswith(b":"):
        facts = field[1:].decode("ascii").split(" ")
        names = 2 if facts[4][0] in "RC" else 1
        raw.append((facts, [decode(name) for name in islice(fields, names)]))
        field = next(fields, b"")
    for facts, paths in raw:
        added, removed, path = field.split(b"\t", 2)
        if not path:  # the two names of a rename follow
            next(fields), next(fields)
        yield _change(facts, paths, added, removed)
        field = next(fields, b"")


def _change(facts: list[str], paths: list[str], added: bytes, removed: bytes) -> FileChange:
    old_mode, new_mode, old_blob, new_blob, status = facts
    kind = _KINDS[status[0]]
    if kind is ChangeKind.MODIFIED and old_blob == new_blob:
        kind = ChangeKind.MODE_CHANGED
    is_binary = added == b"-"
    return FileChange(
        path=paths[-1],
        kind=kind,
        old_path=paths[0] if len(paths) == 2 else None,
        added=None if is_binary else int(added),
        removed=None if is_binary else int(removed),
        old_mode=None if old_mode == _NO_MODE else old_mode,
        new_mode=None if new_mode == _NO_MODE else new_mode,
        similarity=int(status[1:]) if status[1:] else None,
        binary=is_binary,
        old_blob=None if old_mode == _NO_MODE else old_blob,
        new_blob=None if new_mode == _NO_MODE else new_blob,
    )


def _sized(change: FileChange, sizes: Mapping[str, int]) -> FileChange:
    old, new = change.old_blob, change.new_blob
    return replace(
        change,
        old_size_bytes=None if old is None else sizes.get(old),
        new_size_bytes=None if new is None else sizes.get(new),
    )


def _sizes(
    git: Git,
    files: Iterable[FileChange],
    attributes: str,
    cancelled: Callable[[], bool] | None,
) -> dict[str, int]:
    """Sizes of all blobs by id, and of the `.gitattributes` file by its name where it exists."""
    wanted: dict[str, None] = {attributes: None}
    for change in files:
        for blob, mode in ((change.old_blob, change.old_mode), (change.new_blob, change.new_mode)):
            if blob is not None and mode != MODE_SUBMODULE:
                wanted[blob] = None
    command = ["cat-file", "--batch-check=%(objecttype) %(objectsize)"]
    answers = git.run(command, stdin="\n".join([*wanted, ""]).encode("ascii"), cancelled=cancelled)
    sizes = {}
    for name, answer in zip(wanted, answers.decode("ascii").split("\n"), strict=False):
        kind, _, size = answer.partition(" ")
        if kind == "blob":
            sizes[name] = int(size)
    return sizes


def _classified(
    git: Git,
    files: Sequence[FileChange],
    rules: PathRules,
    marks: Sequence[_Mark],
    cancelled: Callable[[], bool] | None,
) -> list[FileChange]:
    blobs = {
        change.path: change.new_blob or change.old_blob
        for change in files
        if needs_head(change.path, rules)
        and 0 < (change.new_size_bytes or change.old_size_bytes or 0) <= _HEAD_FROM_BYTES
    }
    heads = _heads(git, [blob for blob in blobs.values() if blob is not None], cancelled)
    classified = []
    for change in files:
        path_class = classify(change.path, rules, heads.get(blobs.get(change.path) or ""))
        if marks and needs_head(change.path, rules):
            path_class = _marked(change.path, marks) or path_class
        classified.append(replace(change, path_class=path_class))
    return classified


def _heads(
    git: Git, blobs: Iterable[str], cancelled: Callable[[], bool] | None
) -> dict[str, bytes]:
    """The first bytes of blobs, by id."""
    wanted = list(dict.fromkeys(blobs))
    found = read_blobs(git, wanted, cancelled)
    return {blob: data[:HEAD_BYTES] for blob, data in zip(wanted, found, strict=True)}


@dataclass(frozen=True, slots=True)
class _Mark:
    """One line of `.gitattributes` that says what kind of file a path is; read as data only."""

    matches: Callable[[str], bool]
    path_class: PathClass
    is_set: bool


def _read_marks(attributes: bytes) -> tuple[_Mark, ...]:
    marks = []
    for line in attributes.split(b"\n"):
        glob, *words = line.split() or [b"#"]
        for word in words:
            name, _, value = word.lstrip(b"-!").partition(b"=")
            path_class = _MARKS.get(name)
            if path_class is not None and not glob.startswith(b"#"):
                is_set = word[:1] not in (b"-", b"!") and value not in (b"false", b"0")
                marks.append(_Mark(matcher([decode(glob)]), path_class, is_set))
    return tuple(marks)


def _marked(path: str, marks: Sequence[_Mark]) -> PathClass | None:
    found: dict[PathClass, bool] = {}
    for mark in marks:
        if mark.matches(path):
            found[mark.path_class] = mark.is_set  # later lines win, as in git
    return next((path_class for path_class in _MARKS.values() if found.get(path_class)), None)
