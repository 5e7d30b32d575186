"""Which rows a diff over many files has: folding, modes, places that outlive both, and jumps.

Pure: contents are handed in as they arrive; nothing is loaded here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from arcview.model.patch import DiffLine, FileChange, LineKind, PathClass
from arcview.ui.rows.diff_file import (
    FOLDED_CLASSES,
    DiffFile,
    Kind,
    PreparedPatch,
    Row,
    starts_open,
)
from arcview.ui.rows.lines import RowSource

Mode = Literal["auto", "unified", "split"]
SPLIT_WIDTH = 110
"""Columns from which on the automatic mode splits."""


@dataclass(frozen=True, slots=True)
class DiffPosition:
    """Where a row of the diff is."""

    change: FileChange
    kind: Kind
    hunk: int | None = None
    """0-based, for the rows of a hunk."""
    old_line: int | None = None
    """1-based; null where the row has no line on that side."""
    new_line: int | None = None


@dataclass(slots=True)
class FileGroup:
    """The files of one folded class, behind one row until that is opened."""

    name: PathClass
    files: list[DiffFile]
    is_open: bool = False


class DiffLayout(RowSource):
    """Rows of a diff without their looks.

    First the ordinary files, then each folded class of files behind a row of its own.
    """

    def __init__(
        self,
        changes: Sequence[FileChange],
        *,
        mode: Mode = "auto",
    ) -> None:
        self.mode: Mode = mode
        self.is_split = mode == "split"
        self.files = [DiffFile(change, is_open=starts_open(change)) for change in changes]
        self._groups = [
            FileGroup(name, files)
            for name in PathClass
            if name in FOLDED_CLASSES
            and (files := [file for file in self.files if file.change.path_class is name])
        ]
        self._blocks: list[DiffFile | FileGroup] = []
        self._starts: list[int] = [0]
        for file in self.files:
            file.lay(split=self.is_split)
        self._lay()

    # Structure

    def _lay(self) -> None:
        blocks: list[DiffFile | FileGroup] = [
            file for file in self.files if file.change.path_class not in FOLDED_CLASSES
        ]
        for group in self._groups:
            blocks.append(group)
            if group.is_open:
                blocks.extend(group.files)
        self._blocks = blocks
        lengths = (len(block.rows) if isinstance(block, DiffFile) else 1 for block in blocks)
        self._starts = [0, *accumulate(lengths)]

    def __len__(self) -> int:
        return self._starts[-1] or 1

    def at(self, index: int) -> tuple[DiffFile | FileGroup | None, Row]:
        """The block a row belongs to, and what the row is in it."""
        if not self._blocks:
            return None, Row(Kind.EMPTY)
        number = bisect_right(self._starts, index) - 1
        block = self._blocks[number]
        if isinstance(block, DiffFile):
            return block, block.rows[index - self._starts[number]]
        return block, Row(Kind.GROUP)

    def file_at(self, index: int) -> DiffFile | None:
        """The file a row belongs to."""
        block, _ = self.at(index)
        return block if isinstance(block, DiffFile) else None

    def start_of(self, file: DiffFile) -> int | None:
        """The row of a file's header; null while it is folded away with its class."""
        for number, block in enumerate(self._blocks):
            if block is file:
                return self._starts[number]
        return None

    def position(self, index: int) -> DiffPosition | None:
        """Which file and lines a row shows; null for rows of no file."""
        block, row = self.at(index)
        if not isinstance(block, DiffFile):
            return None
        match row.kind:
            case Kind.CONTEXT:
                return DiffPosition(block.change, row.kind, None, row.a, row.b)
            case Kind.HUNK:
                hunk = self.patch_of(block).patch.hunks[row.a]
                return DiffPosition(block.change, row.kind, row.a, hunk.old_start, hunk.new_start)
            case Kind.LINE | Kind.PAIR:
                old, new = self.sides_of(block, row)
                return DiffPosition(
                    block.change,
                    row.kind,
                    row.a,
                    old.old_number if old else None,
                    new.new_number if new else None,
                )
            case _:
                return DiffPosition(block.change, row.kind)

    @staticmethod
    def patch_of(file: DiffFile) -> PreparedPatch:
        """The content of a file that has rows of content."""
        assert file.prepared is not None
        return file.prepared

    def sides_of(self, file: DiffFile, row: Row) -> tuple[DiffLine | None, DiffLine | None]:
        """The line of the old side and the line of the new side that a row shows."""
        patch = self.patch_of(file)
        lines = patch.patch.hunks[row.a].lines
        if row.kind is Kind.LINE:
            line = lines[row.b]
            return (
                None if line.kind is LineKind.ADDED else line,
                None if line.kind is LineKind.REMOVED else line,
            )
        pair = patch.pairs[row.a][row.b]
        return (
            None if pair.old is None else lines[pair.old],
            None if pair.new is None else lines[pair.new],
        )

    # Changes of what is shown (the view wraps them in `keeping_place`)

    def put(self, file: DiffFile, prepared: PreparedPatch) -> None:
        """The content of a file arrived."""
        file.prepared, file.error = prepared, None
        self._relay(file)

    def put_error(self, file: DiffFile, error: str) -> None:
        """The content of a file could not be read."""
        file.error = error
        self._relay(file)

    def put_text(self, file: DiffFile, lines: Sequence[str]) -> None:
        """The whole new side of a file arrived, cleaned."""
        file.new_lines = tuple(lines)
        self._relay(file)

    def set_open(self, file: DiffFile, *, is_open: bool) -> None:
        """Folds or opens a file."""
        file.is_open = is_open
        self._relay(file)

    def set_all_open(self, *, is_open: bool) -> None:
        """Folds or opens every ordinary file."""
        for file in self.files:
            if file.change.path_class not in FOLDED_CLASSES or not is_open:
                file.is_open = is_open
                file.lay(split=self.is_split)
        self._lay()

    def toggle_group(self, index: int) -> None:
        """Folds or opens the class whose row this is."""
        block, _ = self.at(index)
        if isinstance(block, FileGroup):
            block.is_open = not block.is_open
            self._lay()

    def reveal(self, file: DiffFile) -> None:
        """Opens a file, and the class it is folded away with."""
        for group in self._groups:
            if file in group.files:
                group.is_open = True
        self.set_open(file, is_open=True)

    def open_gap(self, file: DiffFile, hunk: int) -> None:
        """Shows the unchanged lines before a hunk, or after the last one."""
        file.opened_gaps.add(hunk)
        self._relay(file)

    def set_mode(self, mode: Mode, width: int) -> bool:
        """Sets how the sides are laid out; true when that changes the rows."""
        self.mode = mode
        return self.fit(width)

    def fit(self, width: int) -> bool:
        """Splits or joins the sides where the automatic mode asks for it."""
        split = self.mode == "split" or (self.mode == "auto" and width >= SPLIT_WIDTH)
        if split == self.is_split:
            return False
        self.is_split = split
        for file in self.files:
            file.lay(split=split)
        self._lay()
        return True

    def _relay(self, file: DiffFile) -> None:
        file.lay(split=self.is_split)
        self._lay()

    # Places that outlive such changes

    def anchor(self, index: int) -> object:
        """The file and, within it, what the row shows."""
        block, row = self.at(index)
        if not isinstance(block, DiffFile):
            return block, None
        if row.kind is Kind.PAIR:
            pair = self.patch_of(block).pairs[row.a][row.b]
            line = pair.new if pair.new is not None else pair.old
            return block, Row(Kind.LINE, row.a, line or 0)
        return block, row

    def locate(self, anchor: object) -> int:
        """The row that shows the same now; its hunk or header where it is folded away."""
        if not isinstance(anchor, tuple):
            return 0
        block, row = anchor
        number = next((n for n, other in enumerate(self._blocks) if other is block), None)
        if number is None:
            group = next((g for g in self._groups if block in g.files), None)
            number = next((n for n, other in enumerate(self._blocks) if other is group), 0)
            return self._starts[number]
        start = self._starts[number]
        if row is None or not isinstance(block, DiffFile):
            return start
        return start + self._offset(block, row)

    def _offset(self, file: DiffFile, row: Row) -> int:
        if self.is_split and row.kind is Kind.LINE and file.prepared is not None:
            pairs = file.prepared.pairs[row.a]
            row = Row(Kind.PAIR, row.a, next(i for i, pair in enumerate(pairs) if row.b in pair))
        try:
            return file.rows.index(row)
        except ValueError:
            # A hunk's line with its gap is gone when the gap opens: then its first line.
            same_hunk = (i for i, r in enumerate(file.rows) if row.kind < 7 and r[1] == row.a)
            return next((i for i in same_hunk if file.rows[i].kind in (4, 5)), 0)

    # Jumps

    def next_file(self, index: int, step: int) -> int | None:
        """The header of the file after or before a row; going back, first to the own header."""
        if step > 0:
            number = bisect_right(self._starts, index)
        else:
            number = bisect_right(self._starts, index - 1) - 1 if index else -1
        if not 0 <= number < len(self._blocks):
            return None
        return self._starts[number]

    def next_hunk(self, index: int, step: int) -> int | None:
        """The first changed line of the run of changed lines after or before a row."""
        position = index
        inside = self._is_changed(position)
        while inside and 0 <= position < len(self):
            position += step
            inside = self._is_changed(position)
        while 0 <= position < len(self) and not self._is_changed(position):
            position += step
        if not 0 <= position < len(self):
            return None
        while step < 0 and position > 0 and self._is_changed(position - 1):
            position -= 1
        return position

    def _is_changed(self, index: int) -> bool:
        if not 0 <= index < len(self):
            return False
        block, row = self.at(index)
        if not isinstance(block, DiffFile) or row.kind not in (Kind.LINE, Kind.PAIR):
            return False
        if row.kind is Kind.LINE:
            lines = self.patch_of(block).patch.hunks[row.a].lines
            return lines[row.b].kind is not LineKind.CONTEXT
        old, new = self.sides_of(block, row)
        return old is not new

    def row_of_hunk(self, file: DiffFile, number: int) -> int | None:
        """The first row of a hunk (1-based), or null where the file has none such."""
        start = self.start_of(file)
        for index in range(start, start + len(file.rows)) if start is not None else ():
            position = self.position(index)
            if position is not None and position.hunk == number - 1:
                return index
        return None

    def row_of_line(self, file: DiffFile, line: int, *, old_side: bool = False) -> int | None:
        """The row that shows a line of the file, or the nearest one before it."""
        start = self.start_of(file)
        if start is None:
            return None
        best: int | None = None
        for index in range(start, start + len(file.rows)):
            position = self.position(index)
            if position is None or position.kind is Kind.HUNK:
                continue
            number = position.old_line if old_side else position.new_line
            if number == line:
                return index
            if number is not None and number < line:
                best = index
        return best
