"""A word that every match of a search holds, so that bytes without it need not be read as text.

Pure; conservative: where no such word is certain there is none, and everything is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_MIN_LENGTH = 3
"""Shorter words are in nearly every text."""
_WORD = re.compile(r"[A-Za-z0-9_]+")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_PLAIN_ESCAPES = frozenset("dDwWsSbBAZnrtfva")
"""Escapes that are two characters long and stand for no letter, digit or underscore."""


def required_word(text: str, *, regex: bool = False) -> str | None:
    """The longest ASCII word, in lower case, that a text must hold to match; null without one.

    Args:
        text: What is searched for.
        regex: Whether it is a regular expression.
    """
    runs = _literal_runs(text) if regex else iter((text,))
    words = [word for run in runs for word in _WORD.findall(run)]
    longest = max(words, key=len, default="")
    return longest.lower() if len(longest) >= _MIN_LENGTH else None


def _literal_runs(regex: str) -> Iterator[str]:
    """The characters that stand side by side in every match; none where that takes a parser."""
    runs: list[str] = [""]
    place = 0
    while place < len(regex):
        char, length = regex[place], 1
        if char in "(|":
            return  # groups may be optional, set flags or look elsewhere
        if char == "\\":
            following = regex[place + 1 : place + 2]
            if following.isalnum() and following not in _PLAIN_ESCAPES:
                return
            length = 2
        elif char == "[":
            found = _CLASS.match(regex, place)
            if found is None:
                return
            length = len(found[0])
        elif char in "*?{":
            runs[-1] = runs[-1][:-1]
            length = regex.find("}", place) + 1 - place if char == "{" else 1
            if length < 1:
                return
        if char in "\\[*?{+.^$":
            runs.append("")
        else:
            runs[-1] += char
        place += length
    yield from runs
