"""The stage rail as a widget: draws the cards, says which one was clicked."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from arcview.ui.rows.rail import Rail, RailItem, lay_out


class RailView(Widget):
    """Shows the rail; as tall as its style says: four lines are boxes, two are not."""

    @dataclass
    class StopPicked(Message):
        """A card or a between-mark was clicked."""

        index: int
        """Position in the stops."""

    def __init__(self) -> None:
        super().__init__(id="rail")
        self._items: tuple[RailItem, ...] = ()
        self._selected = 0
        self._rail = Rail((), ())

    def set_items(self, items: tuple[RailItem, ...], selected: int) -> None:
        """Shows another run."""
        self._items, self._selected = items, selected
        self.refresh()

    def select(self, index: int) -> None:
        """Marks another stop as the selected one."""
        if index != self._selected:
            self._selected = index
            self.refresh()

    def render(self) -> Content:
        """The cards, as far as they fit."""
        tall = self.size.height >= 4
        self._rail = lay_out(self._items, self._selected, max(1, self.size.width), tall=tall)
        return Content("\n").join(self._rail.lines)

    def on_click(self, event: events.Click) -> None:
        """Says which card was clicked."""
        stop = self._rail.stop_at(event.x)
        if stop is not None:
            self.post_message(self.StopPicked(stop))
