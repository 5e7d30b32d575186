"""The last line of a screen: the keys worth knowing here, or one line about what just happened."""

from __future__ import annotations

from textual.content import Content

from arcview.session.commands_help import standing_hints
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows.figures import fit
from arcview.ui.safe import PlainStatic, one_line

_NOTICE_S = 6.0


class HintBar(PlainStatic):
    """One line. A notice stands in it until a key does something, or for a few seconds."""

    def __init__(self, *, standing: bool = True) -> None:
        """Makes the line.

        Args:
            standing: Whether the keys of every screen apply; where one only types, they do not.
        """
        super().__init__(id="hints")
        self._standing = standing_hints() if standing else ()
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

    def drop_notice(self) -> None:
        """Shows the keys again."""
        if self._notice:
            self.notice("")

    def _expire(self, text: str) -> None:
        if self._notice == text:
            self.notice("")

    def render(self) -> Content:
        """The notice, or as many hints as fit; what stands on every screen is at the right."""
        width = self.size.width
        standing = _line(self._standing, width)
        if self._notice:
            said = one_line(f" {self._notice}")
            room = width - standing.cell_length - 1
            if cells(said) > room:  # words before keys that are there again with the next one
                return Content.styled(fit(said, width), theme.WARN)
            return Content.assemble((fit(said, room, pad=True), theme.WARN), " ", standing)
        own = _line(self._hints, max(0, width - standing.cell_length))
        gap = " " * max(0, width - own.cell_length - standing.cell_length)
        return Content.assemble(own, gap, standing)


def _line(hints: tuple[tuple[str, str], ...], width: int) -> Content:
    """As many hints as fit into a width; whatever `?` lists is never only here."""
    parts: list[tuple[str, str]] = []
    used = 0
    for key, name in hints:
        used += cells(key) + cells(name) + 3
        if used > width:
            break
        parts += [(f" {key} ", theme.INFO), (f"{name} ", theme.MUTED)]
    return Content.assemble(*parts)
