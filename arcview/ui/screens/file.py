"""A whole file of a state over the run screen; enter on a line goes to the step that wrote it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from arcview.session.commands import Context
from arcview.text import Decoded
from arcview.ui import theme
from arcview.ui.bindings import bindings
from arcview.ui.rows.file import FileRows
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.run_titles import set_remark
from arcview.ui.screens.text import TextScreen

if TYPE_CHECKING:
    from arcview.ui.screens.run import RunScreen


class FileScreen(TextScreen):
    """One file, until one goes back or follows a line."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.FILE)

    def __init__(
        self, below: RunScreen, state: str, path: str, file: Decoded, line: int = 1
    ) -> None:
        """Makes the screen.

        Args:
            below: The run screen, whose session says whether the authors are shown.
            state: The state that the file is of.
            path: Its path there.
            file: Its text.
            line: Where to begin, 1-based.
        """
        rows = FileRows(file, path)
        title = pieces((one_line(path), "bold"), f" in {one_line(state)}")
        super().__init__(
            title, rows, follow=self._trace, cursor=rows.row_of(line), context=Context.FILE
        )
        self._below = below
        self._state = state
        self._path = path
        self._file_rows = rows
        self.trace: Callable[[int], None] | None = None
        """Finds out who wrote a line, where that is not asked of a state of the run."""

    @property
    def rows(self) -> FileRows:
        """The lines of the file."""
        return self._file_rows

    def on_mount(self) -> None:
        """Shows the file, and who wrote it where that is wanted."""
        self._lay_out()

    def _lay_out(self) -> None:
        wanted = self._below.session.who_wrote
        self._file_rows.author = self._author if wanted else None
        self.authors_known()

    def _author(self, line: int) -> str:
        long = self._below.long
        return long.authors.label(self._state, self._path, line) if long is not None else ""

    def authors_known(self) -> None:
        """Draws again, with how much is known."""
        self.view.redraw_rows()
        long, said = self._below.long, ""
        if self._file_rows.author is not None and long is not None:
            said = "".join(long.authors.remark(self._state, self._path))
        set_remark(self.view, pieces((said, theme.MUTED)))

    def action_who_wrote(self) -> None:
        """Stage and step beside every line, and away again; in the diff too."""
        self._below.apply(self._below.session.toggle_who_wrote())
        self._lay_out()

    def _trace(self, index: int) -> None:
        self.notice("… who wrote this line")
        line = self._file_rows.line_at(index)
        if self.trace is not None:
            self.trace(line)
        else:
            self._below.loader.trace_line(self._state, self._path, line)
