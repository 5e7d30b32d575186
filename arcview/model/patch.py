"""Diffs: which files changed between two states, and the hunks of one file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ChangeKind(StrEnum):
    """What happened to one path."""

    ADDED = "added"
    DELETED = "deleted"
    MODIFIED = "modified"
    RENAMED = "renamed"
    COPIED = "copied"
    TYPE_CHANGED = "type_changed"
    """A file became a symlink, or the reverse."""
    MODE_CHANGED = "mode_changed"
    """Only the mode changed."""
    UNMERGED = "combined"
    """A combined (merge) diff: shown raw."""


class PathClass(StrEnum):
    """What kind of file a path is. The last four are folded, not hidden."""

    SOURCE = "source"
    TEST = "test"
    DOCS = "docs"
    CONFIG = "config"
    GENERATED = "generated"
    LOCK = "lock"
    CACHE = "cache"
    VENDORED = "vendored"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One changed path between two states; no content."""

    path: str
    """The new path; the old one for deleted files."""
    kind: ChangeKind
    old_path: str | None = None
    """For renames and copies."""
    added: int | None = None
    """Added lines; null for binary files."""
    removed: int | None = None
    old_mode: str | None = None
    """Git mode (`100644`, `100755`, `120000`), null where the side does not exist."""
    new_mode: str | None = None
    similarity: int | None = None
    """Percent, for renames and copies."""
    binary: bool = False
    old_size_bytes: int | None = None
    new_size_bytes: int | None = None
    path_class: PathClass = PathClass.SOURCE
    old_blob: str | None = None
    new_blob: str | None = None
    raw_path: str | None = None
    """The path as the patch wrote it, where decoding changed it (octal quoting)."""


class LineKind(StrEnum):
    """The role of one line of a hunk."""

    CONTEXT = " "
    ADDED = "+"
    REMOVED = "-"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a hunk. `text` has no line end; a carriage return before it is kept."""

    kind: LineKind
    text: str
    old_number: int | None
    new_number: int | None
    no_newline: bool = False
    """The file ends here without a newline."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """A run of changed lines with its context."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    heading: str
    """What git prints after the second `@@`, often the enclosing function."""
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The change of one file with its hunks."""

    change: FileChange
    hunks: tuple[Hunk, ...] = ()
    warnings: tuple[str, ...] = ()
    """What is wrong with it as a patch (`cut short: 2 of 9 lines`); shown on top."""
    raw: str | None = None
    """The text itself where it cannot be shown as hunks."""
    truncated_bytes: int = 0
    """Bytes left out because the file is too large to diff at once; they open on demand."""
