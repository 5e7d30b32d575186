"""The code of one state, asked for lines that share text with a failure; quick on large states.

Pure: file contents are handed in. What was found is kept, since the failures of a gate ask alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from arcview.analysis.clues import Clue, ClueKind


class CodeLine(NamedTuple):
    """One line of code."""

    path: str
    line: int
    """1-based."""
    text: str


MAX_HITS = 100
"""Lines of the whole state after which a clue counts as saying nothing."""
_STRING = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`[^`\n]*`)""")
"""Short ones too: a quote that is passed over would pair with the next."""
_HOLES = re.compile(r"\$?\{[^{}]*\}|%[-+ #0]*\d*(?:\.\d+)?[sdrifgxq@v]")
_MESSAGE_WORD = re.compile(r"[a-z]{3,}")
_MAX_LINE = 2_000
"""Characters of a line that is looked at: longer ones are data or minified."""


class CodeIndex:
    """The code of one state.

    Args:
        files: Path → text of its source and test files.
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._lowered: dict[str, str] = {}
        self._found: dict[Clue, tuple[CodeLine, ...]] = {}

    def lines(self, clue: Clue) -> tuple[CodeLine, ...]:
        """The lines that a clue hits; looking ends at `MAX_HITS` of them."""
        if clue not in self._found:
            found: list[CodeLine] = []
            for path in self._files:
                for hit in self._hits(clue, path):
                    found.append(hit)
                    if len(found) >= MAX_HITS:
                        break
                if len(found) >= MAX_HITS:
                    break
            self._found[clue] = tuple(found)
        return self._found[clue]

    def lines_in(self, clue: Clue, paths: Iterable[str]) -> tuple[CodeLine, ...]:
        """The lines of some files that a clue hits, all of them."""
        return tuple(hit for path in paths if path in self._files for hit in self._hits(clue, path))

    def _hits(self, clue: Clue, path: str) -> Iterator[CodeLine]:
        text = self._files[path]
        if clue.kind is ClueKind.MESSAGE:
            for start, line in self._lines_with_words(path, _words(clue.text)):
                if _can_print(line, clue.text):
                    yield CodeLine(path, text.count("\n", 0, start) + 1, line)
        elif clue.text in text:
            word = _pattern(clue)
            for start, line in _lines_with(text, text, clue.text):
                if word.search(line):
                    yield CodeLine(path, text.count("\n", 0, start) + 1, line)

    def _lines_with_words(self, path: str, words: tuple[str, ...]) -> Iterator[tuple[int, str]]:
        """Each line that has one of the words in any case, once and in order."""
        if path not in self._lowered:
            self._lowered[path] = _lower(self._files[path])
        text, lowered = self._files[path], self._lowered[path]
        found: dict[int, str] = {}
        for word in words:
            found.update(_lines_with(text, lowered, word))
        yield from sorted(found.items())


def _lower(text: str) -> str:
    """The text in lower case, every character at its place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    # Some letters are two in lower case.
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def _lines_with(text: str, searched: str, needle: str) -> Iterator[tuple[int, str]]:
    """(Offset, line) of each line of `text` where `searched`, as long, has the needle."""
    place = searched.find(needle)
    while place >= 0:
        start = text.rfind("\n", 0, place) + 1
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        if end - start <= _MAX_LINE:
            yield start, text[start:end]
        place = searched.find(needle, end)


def _words(message: str) -> tuple[str, ...]:
    """The words of a message that a literal of it must share, the long ones where there are any."""
    words = dict.fromkeys(_MESSAGE_WORD.findall(message.lower()))
    long = tuple(word for word in words if len(word) > 3 and word not in _COMMON)
    return long or tuple(words)


_COMMON = frozenset(
    {
        "with", "from", "that", "this", "have", "line", "name", "type", "file", "value", "none",
        "true", "self", "return", "string", "object", "must", "should", "error", "expected",
        "found", "invalid", "unknown", "argument", "arguments",
    }
)  # fmt: skip
"""Words that stand on thousands of lines; a literal of them alone points nowhere."""


def _can_print(line: str, message: str) -> bool:
    """Whether a string literal of the line can print as a part of the message."""
    skeletons = (_skeleton(match[1][1:-1]) for match in _STRING.finditer(line))
    return any(skeleton.search(message) for skeleton in skeletons if skeleton is not None)


@lru_cache(maxsize=8192)
def _skeleton(literal: str) -> re.Pattern[str] | None:
    """A literal as a pattern whose holes (`{x}`, `%s`) match anything; null if it says little."""
    parts = _HOLES.split(literal)
    if sum(character.isalpha() for part in parts for character in part) < 6:
        return None
    if not any(" " in part.strip() for part in parts) and len(parts) == 1:
        return None
    return re.compile(".{0,200}?".join(re.escape(part) for part in parts), re.IGNORECASE)


_WORD = r"(?<![\w-])%s(?!\w)"
_SHAPES = {
    # A command is data of the program: its word stands in quotes, not in comments.
    ClueKind.COMMAND: r"""["'`]%s["'`]""",
    ClueKind.SYMBOL: r"\b(?:def|class|function|fn|func(?: \([^)]*\))?|const|let|var) +%s\b",
}


@lru_cache(maxsize=1024)
def _pattern(clue: Clue) -> re.Pattern[str]:
    return re.compile(_SHAPES.get(clue.kind, _WORD) % re.escape(clue.text))
