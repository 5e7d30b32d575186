"""Moving the cursor of a list by rows and pages: the actions that its keys are bound to."""

from __future__ import annotations

from textual.scroll_view import ScrollView

from arcview.ui.rows.lines import RowSource


class RowNavigation(ScrollView):
    """What moves the cursor; the rows themselves are the business of `RowView`."""

    _cursor: int
    _source: RowSource

    def move_to(self, index: int) -> None:
        """Puts the cursor on a row and the row on the screen."""
        raise NotImplementedError

    def _clamp(self, index: int) -> int:
        raise NotImplementedError

    def action_cursor_down(self) -> None:
        """One row down."""
        self.move_to(self._cursor + 1)

    def action_cursor_up(self) -> None:
        """One row up."""
        self.move_to(self._cursor - 1)

    def action_cursor_first(self) -> None:
        """To the first row."""
        self.move_to(0)

    def action_cursor_last(self) -> None:
        """To the last row."""
        self.move_to(len(self._source) - 1)

    def action_half_page_down(self) -> None:
        """Half a page down, rows and cursor."""
        self._page(max(1, self.scrollable_content_region.height // 2))

    def action_half_page_up(self) -> None:
        """Half a page up, rows and cursor."""
        self._page(-max(1, self.scrollable_content_region.height // 2))

    def action_page_down(self) -> None:
        """A page down, rows and cursor."""
        self._page(max(1, self.scrollable_content_region.height - 1))

    def action_page_up(self) -> None:
        """A page up, rows and cursor."""
        self._page(-max(1, self.scrollable_content_region.height - 1))

    def _page(self, rows: int) -> None:
        target = self._clamp(self._cursor + rows)
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, force=True)
        self.move_to(target)
