"""The pane for any long text: a message with its traceback, a specification, a raw log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from arcview.text import decode
from arcview.ui.rows.lines import ListRows, RowSource
from arcview.ui.rows.text_view import TextRows
from arcview.ui.rows.text_view_file import LogFile
from arcview.ui.safe import plain
from arcview.ui.widgets.row_view import RowView

IN_MEMORY_BYTES = 4_000_000
"""Larger files are read by pages and not wrapped."""


class TextPane(RowView):
    """Shows one text, wrapped or not, or a file of any size."""

    @dataclass
    class _Counted(Message):
        """More of a file was indexed."""

        file: LogFile
        counts: list[tuple[int, ...]]

    def __init__(
        self,
        text: str = "",
        *,
        id: str | None = None,  # noqa: A002 -- Textual's own name
        classes: str | None = None,
    ) -> None:
        super().__init__(TextRows(text), id=id, classes=classes)
        self._file: LogFile | None = None

    def show_text(
        self,
        text: str,
        *,
        wrapped: bool = True,
        numbered: bool = False,
        terminal: bool = True,
        path: str | None = None,
        notes: Sequence[str] = (),
        line: int = 1,
    ) -> None:
        """Shows outside text; see `TextRows` for the arguments.

        Args:
            text: The text.
            wrapped: Lines are cut to the width of the view, else they scroll sideways.
            numbered: Line numbers stand in the gutter.
            terminal: SGR colours are read; else escape sequences are drawn.
            path: Name of the file it is, for syntax colours.
            notes: Remarks that stand above the text.
            line: Where the cursor goes.
        """
        rows = TextRows(
            text, wrapped=wrapped, numbered=numbered, terminal=terminal, path=path, notes=notes
        )
        self.set_source(rows)
        self.go_to_line(line)

    def show_bytes(
        self, data: bytes, *, path: str | None = None, numbered: bool = True, line: int = 1
    ) -> None:
        """Shows the content of a file, and says so where it is not valid text."""
        decoded = decode(data)
        notes = []
        if decoded.binary:
            notes.append("binary file: shown as text, byte by byte")
        elif decoded.damaged:
            notes.append(f"not valid {decoded.encoding.upper()}: damaged bytes are shown as \ufffd")
        elif decoded.encoding != "utf-8":
            notes.append(f"encoding {decoded.encoding.upper()}")
        text = decoded.text.replace("\r\n", "\n")
        terminal = path is None
        self.show_text(
            text,
            wrapped=terminal,
            numbered=numbered,
            terminal=terminal,
            path=path,
            notes=notes,
            line=line,
        )

    def show_file(self, path: Path, *, line: int = 1) -> None:
        """Shows a log file; large ones by pages.

        Raises:
            OSError: The file cannot be opened.
        """
        if path.stat().st_size <= IN_MEMORY_BYTES:
            self.show_bytes(path.read_bytes(), line=line)
            return
        file = LogFile(path)
        self.set_source(file, cursor=line - 1)
        self._file = file
        self._index(file)

    def show_problem(self, text: str) -> None:
        """Says why there is nothing to show."""
        self.set_source(ListRows((plain(text),)))

    def set_source(self, source: RowSource, *, cursor: int = 0) -> None:
        """Shows other rows."""
        self._close_file()
        super().set_source(source, cursor=cursor)

    def on_unmount(self) -> None:
        """Lets go of the file."""
        self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            self.cancel_search()
            self._file.close()
            self._file = None

    @work(thread=True, exclusive=True, exit_on_error=False, group="index", description="index log")
    def _index(self, file: LogFile) -> None:
        worker = get_current_worker()
        batch: list[tuple[int, ...]] = []
        for counts in file.count_lines():
            if worker.is_cancelled:
                return
            batch.append(counts)
            if len(batch) == 16:
                self.post_message(self._Counted(file, batch))
                batch = []
        self.post_message(self._Counted(file, batch))

    def on_text_pane__counted(self, message: _Counted) -> None:
        """Makes the lines that were found reachable."""
        message.stop()
        if message.file is not self._file:
            return
        for counts in message.counts:
            message.file.extend(counts)
        with self.keeping_place():
            pass

    @property
    def is_indexing(self) -> bool:
        """Whether more lines of a large file are still to come."""
        return self._file is not None and not self._file.is_complete

    @property
    def line(self) -> int:
        """The 1-based line under the cursor."""
        source = self.source
        return source.line_at(self.cursor) if isinstance(source, TextRows) else self.cursor + 1

    def go_to_line(self, line: int) -> None:
        """Moves to a 1-based line."""
        source = self.source
        index = source.row_of(line) if isinstance(source, TextRows) else line - 1
        self.move_to(0 if line <= 1 else index, "top")

    def action_toggle_wrap(self) -> None:
        """Wraps lines or lets them scroll sideways."""
        source = self.source
        if isinstance(source, TextRows):
            with self.keeping_place():
                source.set_wrapped(wrapped=not source.wrapped)

    def action_toggle_numbers(self) -> None:
        """Shows or hides line numbers."""
        source = self.source
        if isinstance(source, TextRows):
            with self.keeping_place():
                source.set_numbered(numbered=not source.numbered)
