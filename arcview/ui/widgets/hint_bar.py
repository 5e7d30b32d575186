"""The last line of a screen: the keys worth knowing here, or one line about what just happened."""

from __future__ import annotations

from textual.content import Content

from arcview.text import cells
from arcview.ui import theme
from arcview.ui.safe import PlainStatic, plain

_NOTICE_S = 6.0


class HintBar(PlainStatic):
    """One line. A notice stands in it until the next key or for a few seconds."""

    def __init__(self) -> None:
        super().__init__(id="hints")
        self._hints: tuple[tuple[str, str], ...] = ()
        self._notice = ""

    def set_hints(self, hints: tuple[tuple[str, str], ...]) -> None:
        """Shows other keys."""
        if hints != self._hints:
            self._hints = hints
            self.refresh()

    def notice(self, text: str) -> None:
        """Says something in place of the keys."""
        self._notice = text
        self.refresh()
        if text:
            self.set_timer(_NOTICE_S, lambda: self._expire(text))

    def _expire(self, text: str) -> None:
        if self._notice == text:
            self.notice("")

    def render(self) -> Content:
        """The notice, or as many hints as fit."""
        if self._notice:
            return plain(f" {self._notice}", theme.WARN)
        return hint_line(self._hints, self.size.width)


def hint_line(hints: tuple[tuple[str, str], ...], width: int) -> Content:
    """As many hints as fit into a width; what `?` lists is never only here."""
    parts: list[tuple[str, str]] = []
    used = 1
    for key, name in hints:
        length = cells(key) + cells(name) + 3
        if used + length > width:
            break
        used += length
        parts += [(f" {key} ", theme.INFO), (f"{name} ", theme.MUTED)]
    return Content.assemble(*parts)
