"""One search over many texts: literal or regular expression, hit by hit, never capped in silence.

Pure: places hand out their text when their turn comes; the caller stops by not asking on.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from arcview.analysis.search_words import required_word
from arcview.errors import ArcviewError, CancelledError

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
    at: Callable[[int], str] | None = None
    """The address of a line (1-based) of the text, where lines have their own."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One line that matches."""

    place: Place
    line: int
    """1-based within the place's text."""
    text: str
    spans: tuple[tuple[int, int], ...]
    """Every match in the line, as character offsets."""

    @property
    def address(self) -> str:
        """Where the line stands."""
        return self.place.address if self.place.at is None else self.place.at(self.line)


@dataclass(frozen=True, slots=True)
class Pattern:
    """What is searched for."""

    regex: re.Pattern[str]
    needle: str | None = None
    """For a literal whose case does not matter: the literal in lower case."""
    word: str | None = None
    """A word in lower case without which no text matches; null where none is certain."""

    def starts(self, text: str) -> Callable[[int], int]:
        """Gives, for a place in the text, where the next match begins; -1 where there is none.

        The regex engine compares case by case, which takes thirty times as long as looking for the
        literal in the text in lower case.
        """
        needle, regex = self.needle, self.regex
        if needle is not None and text.isascii():
            lowered = text.lower()
            return lambda place: lowered.find(needle, place)

        def next_start(place: int) -> int:
            match = regex.search(text, place)
            return -1 if match is None else match.start()

        return next_start


def compile_pattern(text: str, *, regex: bool = False) -> Pattern:
    """Smart case: capitals in the text make the search sensitive to case.

    Raises:
        PatternError: the text is not a regular expression.
    """
    is_lower = text == text.lower()
    flags = re.MULTILINE | (re.IGNORECASE if is_lower else re.NOFLAG)
    try:
        # The engine warns of expressions that may one day mean something else: no news to a person.
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            compiled = re.compile(text if regex else re.escape(text), flags)
    except (re.error, OverflowError, RecursionError) as error:
        reason = getattr(error, "msg", None) or str(error)
        raise PatternError(f"not a regular expression: {text!r}: {reason}") from None
    is_plain = is_lower and not regex and text.isascii()
    return Pattern(compiled, text if is_plain else None, required_word(text, regex=regex))


def search(
    places: Iterable[Place],
    pattern: Pattern,
    cancelled: Callable[[], bool] | None = None,
) -> Iterator[Hit]:
    """Yields every matching line of every place, in order.

    A pattern is matched within single lines; an empty match is no hit.

    Args:
        places: Where to look; their texts are loaded one after the other.
        pattern: From `compile_pattern`.
        cancelled: Asked for every place, and every mebibyte of a long one.

    Raises:
        CancelledError: `cancelled` said so.
    """
    for place in places:
        yield from _search_text(place, place.load(), pattern, cancelled)


def _search_text(
    place: Place, text: str, pattern: Pattern, cancelled: Callable[[], bool] | None
) -> Iterator[Hit]:
    line_number, position = 1, 0
    while position < len(text):
        if cancelled is not None and cancelled():
            raise CancelledError("cancelled")
        end = _slice_end(text, position)
        piece = text if end - position == len(text) else text[position:end]
        yield from _search_piece(place, piece, line_number, pattern)
        line_number += piece.count("\n")
        position = end


def _search_piece(place: Place, piece: str, first_line: int, pattern: Pattern) -> Iterator[Hit]:
    """The matching lines of a piece that begins and ends at line ends.

    From match to match: lines are only cut out where there is a match in them.
    """
    next_start = pattern.starts(piece)
    start, counted, line_number = 0, 0, first_line
    while start <= len(piece) and (found := next_start(start)) >= 0:
        line_start = piece.rfind("\n", 0, found) + 1
        line_end = piece.find("\n", line_start)
        line_end = len(piece) if line_end < 0 else line_end
        line = piece[line_start:line_end]
        line_number += piece.count("\n", counted, line_start)
        counted = line_start
        spans = tuple(m.span() for m in pattern.regex.finditer(line) if m.end() > m.start())
        if spans:
            yield Hit(place, line_number, line, spans)
        start = line_end + 1


def _slice_end(text: str, start: int) -> int:
    """The end of a slice of about a mebibyte that does not cut a line."""
    if len(text) - start <= _SLICE:
        return len(text)
    newline = text.find("\n", start + _SLICE)
    return len(text) if newline < 0 else newline + 1
