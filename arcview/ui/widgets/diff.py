"""The diff pane: rows of a diff whose files are loaded by a thread while one already reads.

Knows no store: what loads a file is handed in.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from textual import events, work
from textual.message import Message
from textual.strip import Strip
from textual.worker import get_current_worker

from arcview.errors import ArcviewError
from arcview.model.patch import FileChange, FilePatch
from arcview.secrets import mask_secrets
from arcview.text import clean, clip, decode
from arcview.ui.rows.diff import DiffRows, Origin
from arcview.ui.rows.diff_file import DiffFile, Kind, PreparedPatch, prepare
from arcview.ui.rows.diff_layout import DiffPosition, FileGroup, Mode
from arcview.ui.rows.diff_tree import FileTree
from arcview.ui.rows.lines import RowSource
from arcview.ui.widgets.row_view import RowView

Load = Callable[[FileChange], FilePatch]
"""Gets the hunks of one file; called in a thread; may raise `ArcviewError`."""
ReadNew = Callable[[FileChange], bytes | None]
"""Gets the whole new side of one file; called in a thread; may raise `ArcviewError`."""

_EAGER_LINES = 30_000
"""Changed lines that are loaded at once; files beyond that wait until they are looked at."""
_BATCH_S = 0.03

_Result = PreparedPatch | tuple[str, ...] | str
"""What a file's content is: hunks, the lines of its new side, or why neither could be had."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """Something to be loaded."""

    file: DiffFile
    whole: bool = False
    """The whole new side, not the hunks."""


@dataclass(frozen=True, slots=True)
class _Awaited:
    """A line or a hunk to go to when its file is loaded."""

    file: DiffFile
    line: int | None
    old_side: bool
    hunk: int | None = None
    """1-based."""


class DiffView(RowView):
    """A diff in unified or split mode, with folding, context that opens, and jumps."""

    @dataclass
    class _Arrived(Message):
        """Contents came from the thread."""

        rows: DiffRows
        results: list[tuple[DiffFile, _Result]]

    def __init__(
        self,
        *,
        mode: Mode = "auto",
        id: str | None = None,  # noqa: A002 -- Textual's own name
        classes: str | None = None,
    ) -> None:
        self._rows = DiffRows((), mode=mode, empty="")
        self._mode: Mode = mode
        self._load: Load | None = None
        self._read_new: ReadNew | None = None
        self._wishes: deque[_Wish] = deque()
        self._wished: set[tuple[int, bool]] = set()
        self._awaited: _Awaited | None = None
        self._lock = threading.Lock()
        self._loading = False
        super().__init__(self._rows, id=id, classes=classes)

    # What it shows

    @property
    def rows(self) -> DiffRows:
        """The rows it shows."""
        return self._rows

    @property
    def position(self) -> DiffPosition | None:
        """File and lines under the cursor."""
        return self._rows.position(self.cursor)

    @property
    def mode(self) -> Mode:
        """How the sides are laid out; `auto` splits where there is room."""
        return self._mode

    def show(
        self,
        changes: Sequence[FileChange],
        load: Load,
        read_new: ReadNew | None = None,
        *,
        empty: str = "No changes",
        origin: Origin | None = None,
    ) -> None:
        """Shows changes; the contents of the open files follow from a thread.

        Args:
            changes: The changed files, in order.
            load: Gets the hunks of one file.
            read_new: Gets the whole new side; without it gaps do not open.
            empty: What is said when there are no changes.
            origin: Gives the text of a left gutter, for blame.
        """
        self._load, self._read_new = load, read_new
        self.set_source(DiffRows(changes, mode=self._mode, empty=empty, origin=origin))
        lines = 0
        for file in self._rows.files:
            lines += (file.change.added or 0) + (file.change.removed or 0)
            if file.is_open and lines <= _EAGER_LINES:
                self._wish(file)

    def set_source(self, source: RowSource, *, cursor: int = 0) -> None:
        """Shows other rows, such as a message; use `show` for a diff."""
        with self._lock:
            self._wishes.clear()
            self._wished.clear()
        self._awaited = None
        self._rows = source if isinstance(source, DiffRows) else DiffRows((), mode=self._mode)
        super().set_source(source, cursor=cursor)

    def set_mode(self, mode: Mode) -> None:
        """Changes how the sides are laid out; the cursor stays on its line."""
        self._mode = mode
        with self.keeping_place():
            self._rows.set_mode(mode, self.scrollable_content_region.width)

    def set_origin(self, origin: Origin | None) -> None:
        """Changes the left gutter."""
        self._rows.origin = origin
        self.redraw_rows()

    def go_to(
        self,
        path: str,
        line: int | None = None,
        *,
        old_side: bool = False,
        hunk: int | None = None,
    ) -> bool:
        """Moves to a file, and to a line or hunk of it that the diff shows; false without a file.

        A line that is not loaded yet is moved to when it arrives.
        """
        file = next(
            (f for f in self._rows.files if path in (f.change.path, f.change.old_path)), None
        )
        if file is None:
            return False
        with self.keeping_place():
            self._rows.reveal(file)
        self._wish(file, first=True)
        is_whole = line is None and hunk is None
        self._awaited = None if is_whole else _Awaited(file, line, old_side, hunk)
        self.move_to(self._rows.start_of(file) or 0, "top")
        self._reach_awaited()
        return True

    def _reach_awaited(self) -> None:
        """Goes to the line that was asked for, once its file is there."""
        awaited = self._awaited
        if awaited is None or awaited.file.prepared is None:
            return
        self._awaited = None
        # Who has moved on in the meantime is not called back.
        if self._rows.file_at(self.cursor) is awaited.file:
            line, old_side = awaited.line, awaited.old_side
            if line is None:
                row = self._rows.row_of_hunk(awaited.file, awaited.hunk or 1)
            else:
                row = self._rows.row_of_line(awaited.file, line, old_side=old_side)
            if row is not None:
                self.move_to(row, "top")

    # Loading

    def _wish(self, file: DiffFile, *, whole: bool = False, first: bool = False) -> None:
        if whole:
            if file.new_lines is not None or self._read_new is None:
                return
        elif file.prepared is not None or self._load is None:
            return
        with self._lock:
            key = (id(file), whole)
            if key in self._wished:
                return
            self._wished.add(key)
            wish = _Wish(file, whole)
            if first:
                self._wishes.appendleft(wish)
            else:
                self._wishes.append(wish)
            start, self._loading = not self._loading, True
        if start:
            self._work_off(self._rows)

    def _wish_for_visible(self) -> None:
        if self.source is not self._rows:
            return
        top, height = self.scroll_offset.y, self.size.height
        for index in range(top, min(len(self._rows), top + height)):
            block, row = self._rows.at(index)
            if isinstance(block, DiffFile) and row.kind is Kind.NOTE and block.prepared is None:
                self._wish(block, first=True)

    @work(thread=True, exit_on_error=False, group="diff", description="load diff")
    def _work_off(self, rows: DiffRows) -> None:
        worker = get_current_worker()
        results: list[tuple[DiffFile, _Result]] = []
        posted = monotonic()
        while True:
            with self._lock:
                wish = None if worker.is_cancelled or not self._wishes else self._wishes.popleft()
                self._loading = wish is not None
            if wish is None:
                break
            results.append((wish.file, self._fulfil(wish)))
            if monotonic() - posted > _BATCH_S:
                self.post_message(self._Arrived(rows, results))
                results, posted = [], monotonic()
        if results:
            self.post_message(self._Arrived(rows, results))

    def _fulfil(self, wish: _Wish) -> _Result:
        change = wish.file.change
        try:
            if wish.whole:
                assert self._read_new is not None
                data = self._read_new(change)
                if data is None:
                    return "the file is not there"
                text = mask_secrets(decode(data).text.removesuffix("\n"))
                return tuple(clean(clip(line.removesuffix("\r"))) for line in text.split("\n"))
            assert self._load is not None
            return prepare(self._load(change))
        except ArcviewError as error:
            return str(error)

    def on_diff_view__arrived(self, message: _Arrived) -> None:
        """Puts what was loaded in its place; the cursor stays on its line."""
        message.stop()
        known = {id(file) for file in self._rows.files}
        with self.keeping_place():
            for file, result in message.results:
                if id(file) not in known:
                    continue
                if isinstance(result, PreparedPatch):
                    self._rows.put(file, result)
                elif isinstance(result, str):
                    self._rows.put_error(file, result)
                else:
                    self._rows.put_text(file, result)
        self._reach_awaited()
        self._wish_for_visible()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Loads what comes into view."""
        super().watch_scroll_y(old_value, new_value)
        self._wish_for_visible()

    # The file's header stays at the top

    def _stuck_header(self) -> int | None:
        """The header row that is drawn over the first line, where it has scrolled away."""
        top = self.scroll_offset.y
        if not 0 < top < len(self._rows) or top == self.cursor or self.source is not self._rows:
            return None
        block, row = self._rows.at(top)
        if not isinstance(block, DiffFile) or row.kind in (Kind.HEADER, Kind.SPACER):
            return None
        return self._rows.start_of(block)

    def render_line(self, y: int) -> Strip:
        """Draws one line of the widget."""
        if y == 0 and (header := self._stuck_header()) is not None:
            return self.render_row(header)
        return super().render_line(y)

    def on_click(self, event: events.Click) -> None:
        """A click on the header that stays at the top goes to it."""
        offset = event.get_content_offset(self)
        if offset is not None and offset.y == 0 and (header := self._stuck_header()) is not None:
            self.move_to(header)
            event.prevent_default()

    # Actions

    def _jump(self, index: int | None) -> None:
        if index is not None:
            self.move_to(index, "top")

    def action_next_hunk(self) -> None:
        """To the next run of changed lines."""
        self._jump(self._rows.next_hunk(self.cursor, 1))

    def action_previous_hunk(self) -> None:
        """To the run of changed lines before."""
        self._jump(self._rows.next_hunk(self.cursor, -1))

    def action_next_file(self) -> None:
        """To the next file."""
        self._jump(self._rows.next_file(self.cursor, 1))

    def action_previous_file(self) -> None:
        """To the beginning of this file, or the file before."""
        self._jump(self._rows.next_file(self.cursor, -1))

    def action_switch_mode(self) -> None:
        """Unified becomes split and the reverse."""
        self.set_mode("unified" if self._rows.is_split else "split")

    def action_pick(self) -> None:
        """Opens what is folded; on a line it says `Picked`."""
        block, row = self._rows.at(self.cursor) if self.source is self._rows else (None, None)
        if row is None:
            super().action_pick()
        elif isinstance(block, FileGroup):
            with self.keeping_place():
                self._rows.toggle_group(self.cursor)
        elif block is not None and row.kind is Kind.HEADER:
            self.action_toggle_file()
        elif block is not None and block.opens_gap(row) and self._read_new is not None:
            self._wish(block, whole=True, first=True)
            with self.keeping_place():
                self._rows.open_gap(block, row.a)
        else:
            super().action_pick()

    def action_toggle_file(self) -> None:
        """Folds or opens the file under the cursor."""
        file = self._rows.file_at(self.cursor)
        if file is None:
            return
        with self.keeping_place():
            self._rows.set_open(file, is_open=not file.is_open)
        if file.is_open:
            self._wish(file, first=True)

    def action_whole_file(self) -> None:
        """Opens every gap of the file under the cursor."""
        file = self._rows.file_at(self.cursor)
        if file is None or file.prepared is None or self._read_new is None:
            return
        self._wish(file, whole=True, first=True)
        with self.keeping_place():
            for hunk in range(len(file.prepared.patch.hunks) + 1):
                self._rows.open_gap(file, hunk)

    def action_fold_all(self) -> None:
        """Folds every file."""
        with self.keeping_place():
            self._rows.set_all_open(is_open=False)

    def action_open_all(self) -> None:
        """Opens every file that is not of a folded class."""
        with self.keeping_place():
            self._rows.set_all_open(is_open=True)
        self._wish_for_visible()


class DiffTree(RowView):
    """The files of a diff as a side list."""

    def show(self, changes: Sequence[FileChange], *, empty: str = "No changes") -> None:
        """Shows the files of a diff."""
        self.set_source(FileTree(changes, empty=empty))

    @property
    def change(self) -> FileChange | None:
        """The file under the cursor; null on a folder."""
        source = self.source
        return source.change_at(self.cursor) if isinstance(source, FileTree) else None

    def action_pick(self) -> None:
        """Folds or unfolds a folder; of a file it says `Picked`."""
        if isinstance(self.source, FileTree) and self.source.toggle(self.cursor):
            self.redraw_rows()
        else:
            super().action_pick()
