"""How the rows of a diff over many files look, in unified and in split mode.

Pure: contents are handed in as they arrive; nothing is loaded here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.content import Content

from arcview.analysis.syntax import LazySyntax, SyntaxSpan
from arcview.analysis.words import Marks, compare
from arcview.model.patch import FileChange, LineKind
from arcview.ui import theme
from arcview.ui.rows import diff_lines
from arcview.ui.rows.diff_file import DiffFile, Kind, PreparedPatch, Row
from arcview.ui.rows.diff_layout import DiffLayout, FileGroup, Mode
from arcview.ui.rows.lines import Cell
from arcview.ui.safe import plain

Origin = Callable[[str, int], str | None]
"""From a path and a line of the new side to a short text for the left gutter (`2#33`)."""


class DiffRows(DiffLayout):
    """Rows of a diff as they are drawn."""

    def __init__(
        self,
        changes: Sequence[FileChange],
        *,
        mode: Mode = "auto",
        empty: str = "No changes",
        origin: Origin | None = None,
    ) -> None:
        super().__init__(changes, mode=mode)
        self.origin = origin
        self._empty = empty
        self._syntax: dict[tuple[int, int, bool], LazySyntax] = {}

    def row(self, index: int) -> Content:
        """The row without columns, for copies and tests."""
        return Content("").join([cell.content for cell in self.cells(index, 10_000)])

    def text(self, index: int, lane: int = 0) -> str:
        """The text of a line, without numbers and sign."""
        cells = [cell for cell in self.cells(index, 10_000) if cell.scrolls and cell.lane == lane]
        return cells[0].content.plain if cells else ""

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """The columns of a row."""
        block, row = self.at(index)
        if isinstance(block, FileGroup):
            return (self._one(self._group(block), theme.HEADING_LINE),)
        if block is None:
            return (self._one(plain(self._empty, theme.MUTED)),)
        match row.kind:
            case Kind.HEADER:
                return diff_lines.header(
                    block.change, is_open=block.is_open, width=width, line_style=theme.HEADING_LINE
                )
            case Kind.LINE:
                return self._unified(block, row, width)
            case Kind.PAIR:
                return self._split(block, row, width)
            case Kind.CONTEXT:
                return self._context(block, row, width)
            case Kind.HUNK:
                hunk = self.patch_of(block).patch.hunks[row.a]
                unchanged = block.gap(row.a)[2] if block.has_both_sides else 0
                content = diff_lines.hunk(
                    hunk.heading, hunk.old_start, hunk.new_start, unchanged or 0
                )
                return (self._one(content, theme.HUNK_LINE),)
            case Kind.END_GAP:
                return (self._one(diff_lines.end_gap(block.gap(row.a)[2]), theme.HUNK_LINE),)
            case Kind.WARNING:
                warning = self.patch_of(block).patch.warnings[row.a]
                return (self._one(plain(f"  ▲ {warning}", theme.WARN)),)
            case Kind.RAW:
                return (self._one(diff_lines.raw(self.patch_of(block).raw_lines[row.a])),)
            case Kind.NOTE:
                return (self._one(plain(f"  {self._note(block)}", theme.MUTED)),)
            case _:
                return (self._one(Content("")),)

    @staticmethod
    def _one(content: Content, style: str = "") -> Cell:
        return Cell(content, scrolls=True, style=style)

    @staticmethod
    def _group(group: FileGroup) -> Content:
        return diff_lines.group(
            group.name,
            len(group.files),
            sum(file.change.added or 0 for file in group.files),
            sum(file.change.removed or 0 for file in group.files),
            is_open=group.is_open,
        )

    @staticmethod
    def _note(file: DiffFile) -> str:
        if file.error is not None:
            return f"✗ not readable: {file.error}"
        if file.prepared is None:
            return "… loading"
        left_out = file.prepared.patch.truncated_bytes
        if left_out:
            return f"… {diff_lines.size(left_out)} more, too large to compare at once"
        return diff_lines.nothing(file.change)

    def _digits(self, file: DiffFile) -> int:
        hunks = self.patch_of(file).patch.hunks
        last = len(file.new_lines or ())
        if hunks:
            tail = hunks[-1]
            last = max(last, tail.old_start + tail.old_count, tail.new_start + tail.new_count)
        return max(3, len(str(last)))

    def _origin(self, file: DiffFile, line: int | None) -> str | None:
        if self.origin is None:
            return None
        return (self.origin(file.path, line) or "") if line is not None else ""

    def _unified(self, file: DiffFile, row: Row, width: int) -> Sequence[Cell]:
        line = self.patch_of(file).patch.hunks[row.a].lines[row.b]
        numbers: tuple[int | None, ...]
        if width >= diff_lines.WIDE_GUTTERS:
            numbers = (line.old_number, line.new_number)
        else:
            numbers = (line.old_number if line.kind is LineKind.REMOVED else line.new_number,)
        origin = self._origin(file, line.new_number)
        gutter = diff_lines.gutter(numbers, self._digits(file), line.kind, origin)
        return self._half(gutter, file, row.a, row.b, None, 0)

    def _half(
        self, gutter: Content, file: DiffFile, hunk: int, line: int, width: int | None, lane: int
    ) -> list[Cell]:
        patch = self.patch_of(file)
        diff_line = patch.patch.hunks[hunk].lines[line]
        text = patch.texts[hunk][line]
        syntax = self._syntax_of(file, hunk, line)
        content = diff_lines.body(text, diff_line, syntax, self._marks(patch, hunk, line))
        style = diff_lines.line_style(diff_line.kind)
        edge = gutter.cell_length
        return [
            Cell(gutter, width=edge, style=style, lane=lane),
            Cell(
                content,
                width=None if width is None else max(0, width - edge),
                scrolls=True,
                style=style,
                lane=lane,
            ),
        ]

    def _split(self, file: DiffFile, row: Row, width: int) -> Sequence[Cell]:
        patch = self.patch_of(file)
        pair = patch.pairs[row.a][row.b]
        lines = patch.patch.hunks[row.a].lines
        left_width = (width - 1) // 2
        digits = self._digits(file)
        cells: list[Cell] = []
        for lane, position in enumerate(pair):
            half = left_width if lane == 0 else None
            if position is None:
                cells.append(Cell(Content(""), half, style=theme.MISSING_LINE, lane=lane))
            else:
                line = lines[position]
                number = line.new_number if lane else line.old_number
                origin = self._origin(file, number) if lane else None
                gutter = diff_lines.gutter((number,), digits, line.kind, origin)
                cells += self._half(gutter, file, row.a, position, half, lane)
            if lane == 0:
                cells.append(Cell(Content.styled("│", theme.FAINT), 1))
        return cells

    def _context(self, file: DiffFile, row: Row, width: int) -> Sequence[Cell]:
        assert file.new_lines is not None
        text = file.new_lines[row.b - 1] if row.b <= len(file.new_lines) else ""
        key = (id(file), -1, True)
        syntax = self._syntax.setdefault(key, LazySyntax(file.path, file.new_lines))
        content = diff_lines.context(text, syntax.line(row.b - 1))
        digits = self._digits(file)
        if not self.is_split:
            numbers = (row.a, row.b) if width >= diff_lines.WIDE_GUTTERS else (row.b,)
            gutter = diff_lines.gutter(numbers, digits, LineKind.CONTEXT, self._origin(file, row.b))
            return (Cell(gutter, gutter.cell_length), Cell(content, scrolls=True))
        cells: list[Cell] = []
        for lane, number in enumerate((row.a, row.b)):
            origin = self._origin(file, number) if lane else None
            gutter = diff_lines.gutter((number,), digits, LineKind.CONTEXT, origin)
            edge = gutter.cell_length
            rest = None if lane else max(0, (width - 1) // 2 - edge)
            cells.append(Cell(gutter, edge, lane=lane))
            cells.append(Cell(content, rest, scrolls=True, lane=lane))
            if lane == 0:
                cells.append(Cell(Content.styled("│", theme.FAINT), 1))
        return cells

    @staticmethod
    def _marks(patch: PreparedPatch, hunk: int, line: int) -> Marks:
        partner = patch.partners[hunk].get(line)
        if partner is None:
            return ()
        texts = patch.texts[hunk]
        lines = patch.patch.hunks[hunk].lines
        removed = lines[line].kind is LineKind.REMOVED
        old, new = (line, partner) if removed else (partner, line)
        if texts[old] == texts[new]:
            # They look alike and are not: an end of line, a selector that is not drawn.
            return (
                ()
                if lines[old].text.rstrip() == lines[new].text.rstrip()
                else ((0, len(texts[line])),)
            )
        diff = compare(texts[old], texts[new])
        return diff.removed if removed else diff.added

    def _syntax_of(self, file: DiffFile, hunk: int, line: int) -> Sequence[SyntaxSpan]:
        """Lexes the side of the hunk that the line is on, up to that line."""
        patch = self.patch_of(file)
        lines = patch.patch.hunks[hunk].lines
        new_side = lines[line].kind is not LineKind.REMOVED
        other = LineKind.REMOVED if new_side else LineKind.ADDED
        key = (id(file), hunk, new_side)
        syntax = self._syntax.get(key)
        if syntax is None:
            texts = [
                text
                for text, diff_line in zip(patch.texts[hunk], lines, strict=True)
                if diff_line.kind is not other
            ]
            syntax = self._syntax[key] = LazySyntax(file.path, texts)
        this, side = lines[line], patch.patch.hunks[hunk]
        number, first = (
            (this.new_number, side.new_start) if new_side else (this.old_number, side.old_start)
        )
        return () if number is None else syntax.line(number - first)
