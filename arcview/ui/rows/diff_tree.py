"""The files of a diff as a compact tree with their counts, for a side list.

Pure: the paths and counts are those of the changes; nothing is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from arcview.model.patch import FileChange
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows import diff_lines
from arcview.ui.rows.diff_file import FOLDED_CLASSES
from arcview.ui.rows.lines import Cell, RowSource
from arcview.ui.safe import one_line, plain


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A folder (no change) or a file."""

    label: str
    depth: int
    change: FileChange | None = None
    key: str = ""
    """What folds by it; empty for a file."""
    starts_open: bool = True


def tree_rows(changes: Sequence[FileChange]) -> tuple[TreeRow, ...]:
    """Folders and files in the order of their paths; folders with one child are joined.

    What is generated or vendored comes last, counted and folded.
    """
    rows: list[TreeRow] = []
    ordinary = sorted(
        (change for change in changes if change.path_class not in FOLDED_CLASSES),
        key=lambda change: change.path.split("/"),
    )
    _branch(ordinary, 0, 0, rows)
    for name in dict.fromkeys(c.path_class for c in changes if c.path_class in FOLDED_CLASSES):
        files = [change for change in changes if change.path_class is name]
        noun = "file" if len(files) == 1 else "files"
        label = f"{len(files):,} {name.value} {noun}"
        rows.append(TreeRow(label, 0, key=f"class {name.value}", starts_open=False))
        rows += [TreeRow(change.path, 1, change) for change in files]
    return tuple(rows)


def _branch(changes: Sequence[FileChange], level: int, depth: int, rows: list[TreeRow]) -> None:
    folders: dict[str, list[FileChange]] = {}
    files: list[FileChange] = []
    for change in changes:
        parts = change.path.split("/")
        if len(parts) > level + 1:
            folders.setdefault(parts[level], []).append(change)
        else:
            files.append(change)
    for name, inside in folders.items():
        deeper, label = level + 1, name
        while (only := _only_folder(inside, deeper)) is not None:
            label, deeper = f"{label}/{only}", deeper + 1
        first = "/".join(inside[0].path.split("/")[:deeper])
        rows.append(TreeRow(f"{label}/", depth, key=f"folder {first}"))
        _branch(inside, deeper, depth + 1, rows)
    rows += [TreeRow(change.path.split("/")[-1], depth, change) for change in files]


def _only_folder(changes: Sequence[FileChange], level: int) -> str | None:
    """The folder that all of them lie in at that level; null where they part."""
    names = {parts[level] if len(parts) > level + 1 else None for parts in _parts(changes)}
    return names.pop() if len(names) == 1 else None


def _parts(changes: Sequence[FileChange]) -> list[list[str]]:
    return [change.path.split("/") for change in changes]


class FileTree(RowSource):
    """The tree as rows: name to the left, `+180 −12` to the right."""

    def __init__(self, changes: Sequence[FileChange], *, empty: str = "No changes") -> None:
        self._all = tree_rows(changes)
        self._toggled: set[str] = set()
        self._empty = empty
        self._rows = self._visible()

    def _is_open(self, row: TreeRow) -> bool:
        return row.starts_open is not (row.key in self._toggled)

    def _visible(self) -> tuple[TreeRow, ...]:
        rows: list[TreeRow] = []
        hidden_below: int | None = None
        for row in self._all:
            if hidden_below is not None and row.depth > hidden_below:
                continue
            rows.append(row)
            is_folded = row.change is None and not self._is_open(row)
            hidden_below = row.depth if is_folded else None
        return tuple(rows)

    def toggle(self, index: int) -> bool:
        """Folds or unfolds a folder; false for a file."""
        row = self._rows[index] if index < len(self._rows) else None
        if row is None or row.change is not None:
            return False
        self._toggled ^= {row.key}
        self._rows = self._visible()
        return True

    def __len__(self) -> int:
        return len(self._rows) or 1

    def change_at(self, index: int) -> FileChange | None:
        """The file of a row; null for folders and counted classes."""
        return self._rows[index].change if index < len(self._rows) else None

    def row(self, index: int) -> Content:
        """The row in an endlessly wide view."""
        return Content(" ").join([cell.content for cell in self.cells(index, 10_000)])

    def text(self, index: int, lane: int = 0) -> str:
        """The path of a file, the label of other rows."""
        del lane
        change = self.change_at(index)
        return one_line(change.path if change else self._rows[index].label if self._rows else "")

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Name, and counts at the right edge."""
        if not self._rows:
            return (Cell(plain(self._empty, theme.MUTED)),)
        row = self._rows[index]
        indent = "  " * row.depth
        label = one_line(row.label)
        if row.change is None:
            fold = "▾" if self._is_open(row) else "▸"
            return (Cell(Content.styled(f"{indent}{fold} {label}", theme.MUTED), scrolls=True),)
        letter, style = diff_lines.kind_letter(row.change)
        right = Content.assemble(
            " ", _binary_or_counts(row.change), " ", (letter, f"bold {style}"), " "
        )
        room = max(4, width - right.cell_length - len(indent))
        if cells(label) > room:
            label = diff_lines.shortened(label, room)
        return (
            Cell(Content(f"{indent}{label}"), scrolls=True),
            Cell(right, right.cell_length),
        )


def _binary_or_counts(change: FileChange) -> Content:
    if change.binary:
        return Content.styled("binary", theme.MUTED)
    return diff_lines.counts(change.added, change.removed)
