"""What an agent says and sees of a problem: sentences that name it, failures that belong to it.

Pure text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_PROBLEM = re.compile(
    r"\b(?:bugs?|broken|breaks?|broke|wrong(?:ly)?|incorrect(?:ly)?|fail(?:s|ed|ing|ures?)?|errors?"
    r"|regress(?:ion|ed|es)?|missing|mistakes?|should have|should be|shouldn't|oops|problems?"
    r"|issues?|lost|no longer|crash(?:es|ed)?|mismatch|(?:is|are|turned|goes) red|does(?:n't| not)"
    r"|didn't|invalid|unexpected(?:ly)?|faulty|defect(?:ive)?)\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\b(?:no|not|without|never|zero|any|0|isn't|aren't|free of|avoid(?:s|ing)?|prevent(?:s|ing)?"
    r"|if|handles?|handling|raises?|return(?:s|ing)?|report(?:s|ing)?|exits?)\W+(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)
"""What turns a problem word into none, right before it: code that handles errors has no error."""
_EARLIER = re.compile(
    r"\b(?:earlier|previous(?:ly)?|already|pre-?existing|original(?:ly)?|before my"
    r"|last (?:stage|time)|first stage|stage \d|checkpoint[ _]\d"
    r"|(?:I|we) (?:wrote|made|introduced|added|changed|broke)|refactor\w*|came in|used to"
    r"|no longer|since the|regress\w+|existing (?:code|bug|behaviou?r))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^\n.!?]*(?:[.!?](?!\s|$)[^\n.!?]*)*[.!?\n]?")


_MARKER = re.compile(
    r"FAILED|\bFAIL\b|\b[A-Z]\w*(?:Error|Exception)\b|Traceback|panicked|✗|✕|✖|\bnot ok\b"
    r"|^E  |^\W*[Ee]rror:|\b[1-9]\d* (?:failed|failing|errors?)\b"
    r"|\bassert(?:ion)?\b.*(?:==|!=|fail)",
    re.MULTILINE,
)
_FAILED_TEST = re.compile(
    r"^(?:FAILED|ERROR) (?P<pytest>\S+)|^_{3,} (?P<header>[\w.\[\]-]+) _{3,}$"
    r"|^--- FAIL: (?P<go>\S+)"
    r"|^test (?P<rust>\S+) \.\.\. FAILED|^\s*[✗✕✖×] (?P<js>.+?)(?: \(\d+ ?ms\))?$"
    r"|^(?:FAIL|ERROR): (?P<unittest>\w+) \(",
    re.MULTILINE,
)
_WORD_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_NEAR_LINES = 20
_STEM = 4
"""Characters by which two words count as forms of one."""


def failure_near(needle: str, text: str) -> tuple[int, int] | None:
    """Where a name stands as a word within twenty lines of something that says failure, or null.

    The name of an error says no failure itself: programs print errors where they should.
    """
    for found in re.finditer(rf"(?<![\w.]){re.escape(needle)}(?!\w)", text):
        for marker in _MARKER.finditer(text, *_lines_around(text, found.start())):
            is_apart = marker.end() <= found.start() or marker.start() >= found.end()
            if is_apart and marker[0] != needle:
                return found.span()
    return None


def failed_test_about(symbol: str, text: str) -> tuple[int, int] | None:
    """Where an output reports a failed test whose name has all the words of a symbol, or null.

    `normalise_tags` is what `test_tags_are_normalised` is about. A symbol of one word says too
    little.
    """
    wanted = parts_of(symbol)
    if len(wanted) < 2:
        return None
    for found in _FAILED_TEST.finditer(text):
        name = (found[found.lastgroup] if found.lastgroup else "").rpartition("::")[2]
        having = parts_of(name)
        if all(any(_same_stem(word, other) for other in having) for word in wanted):
            return found.span()
    return None


def parts_of(identifier: str) -> list[str]:
    """The words of an identifier, in lower case: `fromDict` and `from_dict` are from, dict."""
    return [part.lower() for part in _WORD_PARTS.findall(identifier) if len(part) > 2]


def is_distinct(name: str) -> bool:
    """Whether a name is hardly an everyday word: of several parts, or long."""
    return len(parts_of(name)) > 1 or len(name) > 9


def _same_stem(a: str, b: str) -> bool:
    shared = min(len(a), len(b))
    return a[:shared] == b[:shared] and (shared >= _STEM or a == b)


def _lines_around(text: str, place: int) -> tuple[int, int]:
    start = end = place
    for _ in range(_NEAR_LINES + 1):
        start = text.rfind("\n", 0, start)
        if start < 0:
            break
    for _ in range(_NEAR_LINES + 1):
        end = text.find("\n", end + 1)
        if end < 0:
            break
    return max(start, 0), end if end >= 0 else len(text)


def problems(names: Sequence[str], text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and name of each sentence that says of one of the names that it is wrong."""
    for sentence in _SENTENCE.finditer(text):
        name = next((name for name in names if name in sentence[0]), None)
        if name is None:
            continue
        for word in _PROBLEM.finditer(sentence[0]):
            if not _DENIAL.search(sentence[0][: word.start()]):
                yield sentence.start(), sentence.end(), name
                break


def blames_earlier(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where the paragraph of a sentence says that something comes from earlier work, or null."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    found = _EARLIER.search(text, first, last if last >= 0 else len(text))
    return found.span() if found is not None else None
