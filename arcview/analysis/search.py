"""One search over many texts: literal or regular expression, hit by hit, never capped in silence.

Pure: places hand out their text when their turn comes; the caller stops by not asking on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from arcview.errors import ArcviewError

_SLICE = 1 << 20
"""Characters searched in one call of the regex engine: it holds the interpreter meanwhile, and at
one mebibyte the longest stall of a screen stays near 35 ms."""


class PatternError(ArcviewError):
    """The search text is not a regular expression."""


@dataclass(frozen=True, slots=True)
class Place:
    """One text that can be searched."""

    address: str
    """Where a hit leads, in the address grammar of the run format."""
    kind: str
    """`step`, `diff`, `gate`, `log`: hits are counted by it."""
    title: str
    load: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Hit:
    """One line that matches."""

    place: Place
    line: int
    """1-based within the place's text."""
    text: str
    spans: tuple[tuple[int, int], ...]
    """Every match in the line, as character offsets."""


def compile_pattern(text: str, *, regex: bool = False) -> re.Pattern[str]:
    """Smart case: capitals in the text make the search sensitive to case.

    Raises:
        PatternError: the text is not a regular expression.
    """
    flags = re.MULTILINE | (re.NOFLAG if text != text.lower() else re.IGNORECASE)
    try:
        return re.compile(text if regex else re.escape(text), flags)
    except re.error as error:
        raise PatternError(f"not a regular expression: {text!r}: {error.msg}") from None


def search(places: Iterable[Place], pattern: re.Pattern[str]) -> Iterator[Hit]:
    """Yields every matching line of every place, in order.

    A pattern is matched within single lines; an empty match is no hit.
    """
    for place in places:
        yield from _search_text(place, place.load(), pattern)


def _search_text(place: Place, text: str, pattern: re.Pattern[str]) -> Iterator[Hit]:
    line_number, position = 1, 0
    while position < len(text):
        end = _slice_end(text, position)
        piece = text[position:end]
        # One engine call per slice finds whether there is anything at all: lines are only split
        # where there is.
        if pattern.search(piece):
            for offset, line in enumerate(piece.split("\n")):
                spans = tuple(m.span() for m in pattern.finditer(line) if m.end() > m.start())
                if spans:
                    yield Hit(place, line_number + offset, line, spans)
        line_number += piece.count("\n")
        position = end


def _slice_end(text: str, start: int) -> int:
    """The end of a slice of about a mebibyte that does not cut a line."""
    if len(text) - start <= _SLICE:
        return len(text)
    newline = text.find("\n", start + _SLICE)
    return len(text) if newline < 0 else newline + 1
