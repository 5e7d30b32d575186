"""What a running gate prints, as rows: its last lines, numbered as in the whole. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from arcview.session.live_output import Tail
from arcview.text import clip
from arcview.ui import theme
from arcview.ui.rows.lines import Cell
from arcview.ui.rows.text_view import AnsiRows

_NOTHING = Tail()
_BAR = 16


class LiveRows(AnsiRows):
    """The lines of a tail; they are replaced while more arrives."""

    def __init__(self, tail: Tail = _NOTHING) -> None:
        self._tail = tail

    def replace(self, tail: Tail) -> None:
        """Shows a later tail."""
        self._tail = tail

    @property
    def is_cut(self) -> bool:
        """Whether more was printed before these lines."""
        return self._tail.is_cut

    def __len__(self) -> int:
        return len(self._tail.lines)

    def _line(self, index: int) -> str:
        return clip(self._tail.lines[index].removesuffix("\r"))

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """The number of the line in all of the output, and the line."""
        del width
        first = self._tail.first_line
        return self.numbered(index, first + index, first + len(self), narrowest=3)

    def anchor(self, index: int) -> object:
        """The number of the line in all of the output."""
        return self._tail.first_line + index

    def locate(self, anchor: object) -> int:
        """That line, or the first one that is still kept."""
        return max(0, anchor - self._tail.first_line) if isinstance(anchor, int) else 0


def progress_bar(part: float) -> list[tuple[str, str]]:
    """`━━━━━━━━╌╌╌╌╌╌╌╌`; what takes longer than expected stays one short of full."""
    done = max(0, min(_BAR - 1, int(part * _BAR)))
    return [("━" * done, theme.INFO), ("╌" * (_BAR - done), theme.FAINT)]
