"""The base of every long pane: draws only the visible rows of a source, by Textual's line API.

Knows no model: what the rows mean is the business of the source and of the screen.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from textual import events
from textual.cache import LRUCache
from textual.geometry import Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.worker import Worker

from arcview.ui import theme
from arcview.ui.rows.lines import Needle, RowSource
from arcview.ui.widgets.row_view_actions import RowNavigation
from arcview.ui.widgets.row_view_draw import RowPainter, selected_text
from arcview.ui.widgets.row_view_search import look_for
from arcview.ui.widgets.styles import StyleResolver

_SCROLL_MARGIN = 2
_SIDEWAYS_STEP = 8
_CACHED_ROWS = 1_024

Place = Literal["near", "top", "middle"]
"""Where a row goes that was moved to: just onto the screen, near the top, or to the middle."""


@dataclass
class RowMessage(Message):
    """What a row view says."""

    view: RowView

    @property
    def control(self) -> RowView:
        """The view, for `@on` selectors."""
        return self.view


class RowView(RowNavigation, can_focus=True, inherit_bindings=False):
    """Shows the rows of a `RowSource` with a cursor, search, sideways scrolling and selection.

    It has actions and no keys: those come from the command registry, by the subclass that is used.
    """

    ALLOW_SELECT = True
    DEFAULT_CSS = """
    RowView {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    """

    @dataclass
    class CursorMoved(RowMessage):
        """The cursor is on another row."""

        index: int

        def can_replace(self, message: Message) -> bool:
            """Only the last place of a moving cursor matters."""
            return isinstance(message, RowView.CursorMoved) and message.view is self.view

    @dataclass
    class Picked(RowMessage):
        """Enter, a double click, or a click on the row under the cursor."""

        index: int

    @dataclass
    class Searched(RowMessage):
        """A search came to its end."""

        text: str
        index: int | None
        """Where the hit is; null where there is none."""
        wrapped: bool
        """Whether it went past the last row and on from the first, or the reverse."""

    class OnwardWanted(RowMessage):
        """The next match is wanted, though nothing is searched for in these rows alone."""

        def __init__(self, view: RowView, direction: int) -> None:
            super().__init__(view)
            self.direction = direction

    def __init__(
        self,
        source: RowSource | None = None,
        *,
        id: str | None = None,  # noqa: A002 -- Textual's own name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._source = RowSource() if source is None else source
        self._cursor = 0
        self._sideways = self._widest = 0
        self._generation = 0
        self._needle: Needle | None = None
        self._mark: Needle | None = None
        self._fitted_width = -1
        self._strips: LRUCache[tuple[object, ...], Strip] = LRUCache(_CACHED_ROWS)
        self._styles = StyleResolver()
        self._search: Worker[None] | None = None
        self.rows_drawn = 0
        """How many rows were really drawn so far, not taken from the cache."""

    # What it shows

    @property
    def source(self) -> RowSource:
        """What is shown."""
        return self._source

    @property
    def cursor(self) -> int:
        """Index of the row under the cursor; 0 in an empty view."""
        return self._cursor

    @property
    def cursor_text(self) -> str:
        """Text of the row under the cursor, without gutters; empty in an empty view."""
        return self._source.text(self._cursor) if len(self._source) else ""

    @property
    def needle(self) -> Needle | None:
        """What is being searched for."""
        return self._needle

    @property
    def marked(self) -> Needle | None:
        """What was searched for elsewhere and is shown here."""
        return self._mark

    def set_source(self, source: RowSource, *, cursor: int = 0) -> None:
        """Shows other rows, from the given cursor on."""
        self.cancel_search()
        self._source = source
        self._sideways = self._widest = 0
        self._fitted_width = -1
        self._fit()
        self._cursor = self._clamp(cursor)
        self.redraw_rows()
        self._show_cursor("near")
        self.post_message(self.CursorMoved(self, self._cursor))

    @contextmanager
    def keeping_place(self) -> Iterator[None]:
        """Lets the rows change inside; what was under the cursor stays there, on the same line."""
        anchor = self._source.anchor(self._cursor) if len(self._source) else None
        line = self._cursor - self.scroll_offset.y
        yield
        moved = self._clamp(0 if anchor is None else self._source.locate(anchor))
        changed, self._cursor = moved != self._cursor, moved
        self.redraw_rows()
        if self.is_mounted:
            self.scroll_to(y=max(0, moved - line), animate=False, force=True)
            self._show_cursor("near")
        if changed:
            self.post_message(self.CursorMoved(self, moved))

    def move_to(self, index: int, place: Place = "near") -> None:
        """Puts the cursor on a row and the row on the screen."""
        index = self._clamp(index)
        if index != self._cursor:
            old, self._cursor = self._cursor, index
            self.refresh_line(old)
            self.refresh_line(index)
            self.post_message(self.CursorMoved(self, index))
        self._show_cursor(place)

    # Search

    def search(self, text: str, *, forward: bool = True) -> None:
        """Looks for a text from the cursor's row on, and round; moves there and says `Searched`."""
        self._needle = Needle(text) if text else None
        self.redraw_rows()
        if self._needle is not None:
            self._start_search(self._cursor, forward=forward)

    def clear_search(self) -> None:
        """Forgets the search text and its marks; stops a search that is under way."""
        self.cancel_search()
        self._needle = self._mark = None
        self.redraw_rows()

    def mark(self, needle: Needle | None) -> None:
        """Shows where a text stands that was searched for elsewhere."""
        self._mark = needle
        self.redraw_rows()

    def cancel_search(self) -> None:
        """Stops a search that is under way; its text stays for the next one."""
        if self._search is not None:
            self._search.cancel()

    def _start_search(self, start: int, *, forward: bool) -> None:
        self.cancel_search()
        if self._needle is not None and len(self._source):
            self._search = self.run_worker(
                self._look_for(self._needle, start, 1 if forward else -1),
                group="search",
                description="search",
                exclusive=True,
            )

    async def _look_for(self, needle: Needle, start: int, step: int) -> None:
        found = await look_for(self._source, needle, start, step)
        if found.index is not None:
            # A hit in something folded opens it: the rows may be others now.
            self.redraw_rows()
            self.move_to(found.index, "middle")
        self.post_message(self.Searched(self, needle.text, found.index, found.wrapped))

    # Drawing

    def _clamp(self, index: int) -> int:
        return max(0, min(index, len(self._source) - 1))

    def redraw_rows(self) -> None:
        """Draws again what is visible; for rows that are the same ones and look different."""
        self._generation += 1
        self._strips.clear()
        self.virtual_size = Size(1, len(self._source))
        self.refresh()

    def _fit(self) -> bool:
        width = self.scrollable_content_region.width
        if width <= 0 or width == self._fitted_width:
            return False
        self._fitted_width = width
        return self._source.fit(width)

    def on_resize(self) -> None:
        """Lets the source wrap or split anew for the new width."""
        with self.keeping_place():
            self._fit()

    def notify_style_update(self) -> None:
        """Drops what was drawn in the old colours."""
        super().notify_style_update()
        self._strips.clear()
        self._styles.clear()

    def selection_updated(self, selection: Selection | None) -> None:
        """Draws the selection."""
        del selection
        self._strips.clear()
        self.refresh()

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor is fainter in a view without focus."""
        super().watch_has_focus(has_focus)
        self.refresh_line(self._cursor)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Takes the cursor along when the rows are scrolled away from under it."""
        super().watch_scroll_y(old_value, new_value)
        top, height = round(new_value), self.scrollable_content_region.height
        if height and not top <= self._cursor < top + height:
            old = self._cursor
            self._cursor = self._clamp(max(top, min(old, top + height - 1)))
            if old != self._cursor:
                self.post_message(self.CursorMoved(self, self._cursor))

    def _show_cursor(self, place: Place) -> None:
        height = self.scrollable_content_region.height
        if not self.is_mounted or height <= 0:
            return
        margin = min(_SCROLL_MARGIN, (height - 1) // 2)
        top = self.scroll_offset.y
        if place == "top":
            target = self._cursor - min(3, height // 4)
        elif place == "middle" and not top <= self._cursor < top + height:
            target = self._cursor - height // 2
        else:
            target = max(min(top, self._cursor - margin), self._cursor - height + 1 + margin)
        self.scroll_to(y=max(0, target), animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        """Draws one line of the widget."""
        index = self.scroll_offset.y + y
        if index >= len(self._source):
            return Strip.blank(self.size.width, self.visual_style.rich_style)
        return self.render_row(index)

    def render_row(self, index: int) -> Strip:
        """The strip of one row, drawn or from the cache."""
        width = self.scrollable_content_region.width
        cursor = 0 if index != self._cursor else 2 if self.has_focus else 1
        key = (index, self._sideways, width, cursor, self._generation)
        strip = self._strips.get(key)
        if strip is None:
            self.rows_drawn += 1
            strip = self._strips[key] = self._draw(index, width, cursor)
        return strip

    def _draw(self, index: int, width: int, cursor: int) -> Strip:
        painter = RowPainter(
            index=index,
            base=self.visual_style,
            overlay=self._style(("", theme.CURSOR_BLURRED, theme.CURSOR)[cursor]),
            style=self._style,
            sideways=self._sideways,
            needle=self._needle or self._mark,
            selection=self.text_selection,
        )
        strip = painter.draw(self._source.cells(index, width), width)
        self._widest = max(self._widest, painter.widest)
        return strip

    def _style(self, text: str) -> Style:
        return self._styles(self.app, text)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, without gutters; only the rows in question are made."""
        return selected_text(self._source, selection), "\n"

    # Actions and mouse

    def on_click(self, event: events.Click) -> None:
        """Moves the cursor; a click on it, or a double click, picks the row."""
        offset = event.get_content_offset(self)
        if offset is None or self.text_selection is not None:
            return
        index = self.scroll_offset.y + offset.y
        if index >= len(self._source):
            return
        again = index == self._cursor and self.has_focus
        self.move_to(index)
        if again and event.chain == 1:
            self.action_pick()

    def action_sideways_left(self) -> None:
        """Scrolls sideways; gutters stay."""
        self._scroll_sideways(-_SIDEWAYS_STEP)

    def action_sideways_right(self) -> None:
        """Scrolls sideways; gutters stay."""
        self._scroll_sideways(_SIDEWAYS_STEP)

    def _scroll_sideways(self, columns: int) -> None:
        target = max(0, min(self._sideways + columns, self._widest - _SIDEWAYS_STEP))
        if target != self._sideways:
            self._sideways = target
            self.refresh()

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        """Scrolls sideways."""
        event.stop()
        self._scroll_sideways(_SIDEWAYS_STEP)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        """Scrolls sideways."""
        event.stop()
        self._scroll_sideways(-_SIDEWAYS_STEP)

    def action_pick(self) -> None:
        """Says that the row under the cursor is wanted."""
        if len(self._source):
            self.post_message(self.Picked(self, self._cursor))

    def action_search_next(self) -> None:
        """To the next row that holds the search text."""
        self._search_on(1)

    def action_search_previous(self) -> None:
        """To the row before that holds the search text."""
        self._search_on(-1)

    def _search_on(self, direction: int) -> None:
        if self._needle is None:
            self.post_message(self.OnwardWanted(self, direction))
        else:
            self._start_search(self._cursor + direction, forward=direction > 0)
