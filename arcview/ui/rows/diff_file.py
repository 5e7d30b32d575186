"""One file of a diff as a list of row descriptions, and what it needs to have been worked out.

Pure: which rows there are, not how they look (`diff_lines`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from arcview.analysis.words import pair_lines
from arcview.model.patch import ChangeKind, FileChange, FilePatch, Hunk, LineKind, PathClass
from arcview.secrets import mask_secrets
from arcview.text import clean, clip

FOLDED_CLASSES = frozenset(
    (PathClass.GENERATED, PathClass.LOCK, PathClass.CACHE, PathClass.VENDORED)
)

_ONE_SIDED = (ChangeKind.ADDED, ChangeKind.DELETED, ChangeKind.TYPE_CHANGED)
_CONTEXT_LINES = 3
"""Unchanged lines around a change that git writes, unless the file ends before."""

LARGE_FILE_LINES = 5_000
"""Files with more changed lines begin folded."""


class Kind(IntEnum):
    """What a row of a diff is."""

    HEADER = 0
    WARNING = 1
    NOTE = 2
    HUNK = 3
    LINE = 4
    """Unified: `a` is the hunk, `b` the line in it."""
    PAIR = 5
    """Split: `a` is the hunk, `b` the pair in it."""
    CONTEXT = 6
    """Of an opened gap: `a` is the old line number, `b` the new one."""
    RAW = 7
    END_GAP = 8
    SPACER = 9
    GROUP = 10
    """Outside any file: the folded files of one class."""
    EMPTY = 11


class Row(NamedTuple):
    """A row of one file; the numbers mean what its kind says."""

    kind: Kind
    a: int = 0
    b: int = 0


class Pair(NamedTuple):
    """One line of the split view: positions in the hunk's lines, null for nothing beside it."""

    old: int | None
    new: int | None


@dataclass(frozen=True, slots=True)
class PreparedPatch:
    """A patch with what a worker thread can work out beforehand, so that the screen need not."""

    patch: FilePatch
    texts: tuple[tuple[str, ...], ...]
    """By hunk: its lines cleaned and clipped, without their carriage returns."""
    pairs: tuple[tuple[Pair, ...], ...]
    """By hunk: its lines as the split view lays them side by side."""
    partners: tuple[dict[int, int], ...]
    """By hunk: for a line that is a version of another, that other one."""
    raw_lines: tuple[str, ...] = ()
    """Of a patch that cannot be shown as hunks: its text, cleaned."""

    @property
    def line_count(self) -> int:
        """Lines of all hunks."""
        return sum(len(texts) for texts in self.texts)


def prepare(patch: FilePatch) -> PreparedPatch:
    """Cleans the lines of a patch and pairs removed with added ones; for worker threads."""
    texts = tuple(_drawn([line.text for line in hunk.lines]) for hunk in patch.hunks)
    laid = [_lay_out(hunk, text) for hunk, text in zip(patch.hunks, texts, strict=True)]
    return PreparedPatch(
        patch=patch,
        texts=texts,
        pairs=tuple(tuple(pairs) for pairs, _ in laid),
        partners=tuple(partners for _, partners in laid),
        raw_lines=_drawn((patch.raw or "").removesuffix("\n").split("\n")),
    )


def _drawn(lines: Sequence[str]) -> tuple[str, ...]:
    """Lines as they may be drawn; secrets are looked for in all of them at once."""
    masked = mask_secrets("\n".join(lines)).split("\n")
    return tuple(clean(clip(line.removesuffix("\r"))) for line in masked)


def _lay_out(hunk: Hunk, texts: Sequence[str]) -> tuple[list[Pair], dict[int, int]]:
    pairs: list[Pair] = []
    partners: dict[int, int] = {}
    removed: list[int] = []
    added: list[int] = []

    def flush() -> None:
        alike = pair_lines([texts[i] for i in removed], [texts[j] for j in added])
        for i, j in alike:
            partners[removed[i]] = added[j]
            partners[added[j]] = removed[i]
        pairs.extend(_beside(removed, added, alike))
        removed.clear()
        added.clear()

    for position, line in enumerate(hunk.lines):
        if line.kind is LineKind.REMOVED:
            if added:
                flush()
            removed.append(position)
        elif line.kind is LineKind.ADDED:
            added.append(position)
        else:
            flush()
            pairs.append(Pair(position, position))
    flush()
    return pairs, partners


def _beside(
    removed: Sequence[int], added: Sequence[int], alike: Sequence[tuple[int, int]]
) -> Iterator[Pair]:
    """Puts alike lines side by side, and what is between them in the order it has."""
    i = j = 0
    for to_i, to_j in (*alike, (len(removed), len(added))):
        while i < to_i or j < to_j:
            yield Pair(removed[i] if i < to_i else None, added[j] if j < to_j else None)
            i, j = min(i + 1, to_i), min(j + 1, to_j)
        if to_i < len(removed):
            yield Pair(removed[to_i], added[to_j])
            i, j = to_i + 1, to_j + 1


@dataclass(slots=True)
class DiffFile:
    """One file of the view: its change, its content once that is loaded, and what is open."""

    change: FileChange
    prepared: PreparedPatch | None = None
    error: str | None = None
    """Why its content could not be read."""
    is_open: bool = True
    opened_gaps: set[int] = field(default_factory=set)
    """Gaps by the hunk they stand before; the last one by the number of hunks."""
    new_lines: tuple[str, ...] | None = None
    """The whole new side, cleaned, once it is needed for a gap."""
    rows: list[Row] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The path in the newer state."""
        return self.change.path

    def lay(self, *, split: bool) -> None:
        """Makes its rows anew."""
        self.rows = [Row(Kind.HEADER), *self._body(split=split)]
        if self.is_open:
            self.rows.append(Row(Kind.SPACER))

    def _body(self, *, split: bool) -> Iterator[Row]:
        if not self.is_open:
            return
        if self.prepared is None:
            yield Row(Kind.NOTE)
            return
        patch = self.prepared.patch
        yield from (Row(Kind.WARNING, i) for i in range(len(patch.warnings)))
        if patch.raw is not None:
            yield from (Row(Kind.RAW, i) for i in range(len(self.prepared.raw_lines)))
            return
        for h in range(len(patch.hunks)):
            yield from self._gap(h)
            lines = len(self.prepared.pairs[h] if split else patch.hunks[h].lines)
            kind = Kind.PAIR if split else Kind.LINE
            yield from (Row(kind, h, i) for i in range(lines))
        if patch.hunks:
            yield from self._gap(len(patch.hunks))
        if not patch.hunks or patch.truncated_bytes:
            yield Row(Kind.NOTE)

    def gap(self, h: int) -> tuple[int, int, int | None]:
        """The unchanged lines before hunk `h`: first old, first new number, and how many.

        Their number is null after the last hunk as long as the file itself is not there.
        """
        assert self.prepared is not None
        hunks = self.prepared.patch.hunks
        if h == 0:
            old = new = 1
        else:
            before = hunks[h - 1]
            old = _after(before.old_start, before.old_count)
            new = _after(before.new_start, before.new_count)
        if h < len(hunks):
            return old, new, max(0, _first(hunks[h].new_start, hunks[h].new_count) - new)
        if self.new_lines is None:
            return old, new, None
        return old, new, max(0, len(self.new_lines) - new + 1)

    def _gap(self, h: int) -> Iterator[Row]:
        assert self.prepared is not None
        is_end = h == len(self.prepared.patch.hunks)
        old, new, count = self.gap(h)
        if h in self.opened_gaps and self.new_lines is not None and count is not None:
            yield from (Row(Kind.CONTEXT, old + i, new + i) for i in range(count))
            return
        if not self.has_both_sides:
            # Added and deleted files are one hunk: a row that says so is noise.
            return
        if not is_end:
            yield Row(Kind.HUNK, h)
        elif count or (count is None and not self._ends_with_hunk()):
            yield Row(Kind.END_GAP, h)

    def _ends_with_hunk(self) -> bool:
        """Whether the last hunk reaches the end of the file: it has less context than asked for."""
        assert self.prepared is not None
        tail = self.prepared.patch.hunks[-1].lines[-_CONTEXT_LINES:]
        return len(tail) < _CONTEXT_LINES or any(
            line.kind is not LineKind.CONTEXT or line.no_newline for line in tail
        )

    @property
    def has_both_sides(self) -> bool:
        """Whether there can be unchanged lines at all."""
        return self.change.kind not in _ONE_SIDED

    def opens_gap(self, row: Row) -> bool:
        """Whether a row stands for unchanged lines that can be opened."""
        if row.kind is Kind.END_GAP:
            return True
        return row.kind is Kind.HUNK and self.has_both_sides and bool(self.gap(row.a)[2])


def _after(start: int, count: int) -> int:
    """The line after a hunk's side; git writes an empty side as the line before it."""
    return start + count if count else start + 1


def _first(start: int, count: int) -> int:
    return start if count else start + 1


def starts_open(change: FileChange) -> bool:
    """Whether a file's content is shown at once: it is no folded class and not very long."""
    lines = (change.added or 0) + (change.removed or 0)
    return change.path_class not in FOLDED_CLASSES and lines <= LARGE_FILE_LINES
