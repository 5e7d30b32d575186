"""A tiny app around one widget, and its screen as plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.pilot import Pilot
from textual.widget import Widget

from arcview.ui import theme
from arcview.ui.widgets.row_view import RowView

# The widgets have actions and no keys; these are for the tests alone.
_KEYS = {
    "j,down": "cursor_down",
    "k,up": "cursor_up",
    "g,home": "cursor_first",
    "G,end": "cursor_last",
    "ctrl+d": "half_page_down",
    "ctrl+u": "half_page_up",
    "pagedown": "page_down",
    "pageup": "page_up",
    "h": "sideways_left",
    "l": "sideways_right",
    "enter": "pick",
    "n": "search_next",
    "N": "search_previous",
}


class PaneApp(App[None]):
    """Shows one widget and keeps the messages of row views."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(keys, f"focused.{action}") for keys, action in _KEYS.items()
    ]

    def __init__(self, pane: Widget, keys: Mapping[str, str] | None = None) -> None:
        super().__init__()
        for key, action in (keys or {}).items():
            self.bind(key, f"focused.{action}")
        self.pane = pane
        self.picked: list[int] = []
        self.searched: list[tuple[str, int | None, bool]] = []

    def compose(self) -> ComposeResult:
        for known in theme.THEMES:
            self.register_theme(known)
        self.theme = theme.DARK.name
        yield self.pane

    def on_mount(self) -> None:
        self.pane.focus()

    def on_row_view_picked(self, message: RowView.Picked) -> None:
        self.picked.append(message.index)

    def on_row_view_searched(self, message: RowView.Searched) -> None:
        self.searched.append((message.text, message.index, message.wrapped))


def screen_lines(app: App[None]) -> list[str]:
    """The lines of the screen, without the blanks at their ends."""
    width, height = app.size
    lines = app.screen._compositor.render_strips()
    return [strip.crop(0, width).text.rstrip() for strip in lines[:height]]


def screen_text(app: App[None]) -> str:
    """The whole screen as text."""
    return "\n".join(screen_lines(app))


async def settle(app: App[None], pilot: Pilot[None]) -> None:
    """Waits until nothing is under way any more."""
    await pilot.pause()
    await app.workers.wait_for_complete()
    await pilot.pause()
