"""The line of tabs that stands for the panes where they cannot be side by side."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from arcview.text import cells
from arcview.ui import theme


class TabLine(Widget):
    """Names of panes in one line; one of them is up."""

    @dataclass
    class TabPicked(Message):
        """A name was clicked."""

        name: str

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(id="tabs")
        self._names = names
        self._current = names[0]

    def select(self, name: str) -> None:
        """Marks the pane that is up."""
        if name != self._current:
            self._current = name
            self.refresh()

    def render(self) -> Content:
        """`▌Diff│ Gate │ Self-tests`; the one that is up has a bar and is bold."""
        parts: list[tuple[str, str]] = []
        for name in self._names:
            is_up = name == self._current
            bar = "▌" if is_up else " "
            parts.append((f"{bar}{name} ", f"bold {theme.INFO}" if is_up else theme.MUTED))
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        """Says which name was clicked."""
        column = 0
        for name in self._names:
            column += cells(name) + 2
            if event.x < column:
                self.post_message(self.TabPicked(name))
                return
