"""What an agent claims in a message: that tests pass, that it works, that it is done.

Lexical: a phrase in a sentence that neither denies nor hedges it. No judgement of whether it is
true. Pure text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class ClaimKind(StrEnum):
    """What is claimed, the strongest first."""

    TESTS_PASS = "tests_pass"
    WORKS = "works"
    UNCHANGED = "unchanged"
    """Behaviour is the same as before."""
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of a message that claims success."""

    kind: ClaimKind
    text: str
    """The sentence."""
    start: int
    """Offsets of the phrase that decided, in the message."""
    end: int


_TESTED = r"(?:tests?|checks?|specs?|suites?|examples?|cases?|assertions?)"
_PASS = r"(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|(?:is|are) (?:all )?green)"
_FINE = r"(?:correctly|properly|perfectly|fine|flawlessly|as (?:expected|intended|specified))"
_BEHAVIOUR = r"(?:behaviou?rs?|functionality)"
_MADE = r"(?:implemented|added|completed|built|created|fixed|restructured|refactored)"

_PATTERNS = {
    ClaimKind.TESTS_PASS: (
        rf"\b(?:all|every|each|both|whole|entire|full|\d+(?:/\d+| (?:out )?of \d+)?)\b"
        rf"[^.!?\n]{{0,60}}?\b{_TESTED}\b[^.!?\n]{{0,40}}?\b{_PASS}\b"
        rf"|\b{_TESTED} (?:all |now |still )*{_PASS}\b"
        rf"|\bpass(?:es|ed)? (?:all|every)\b[^.!?\n]{{0,40}}?\b{_TESTED}\b"
    ),
    ClaimKind.WORKS: (
        rf"\bwork(?:s|ed|ing)? {_FINE}|\b{_FINE.replace('as ', 'just as ')} work(?:s|ing)?\b"
        r"|\bfully (?:functional|working|operational)\b|\b(?:now|all) works?\b"
        r"|\bcorrectly (?:handles?|implements?|supports?)\b"
        r"|\bmatch(?:es)? the (?:expected|specified|spec)\b"
        r"|\bmeets? (?:all|every)\b[^.!?\n]{0,40}?\b(?:requirements?|specifications?)\b"
    ),
    ClaimKind.UNCHANGED: (
        rf"\b(?:no|zero|0|without) (?:functional|behaviou?r(?:al)?) changes?\b"
        rf"|\b{_BEHAVIOUR}\b[^.!?\n]{{0,50}}?\b(?:unchanged|preserved|identical|the same)\b"
        rf"|\b(?:preserves?|maintains?|keeps?) (?:all |the )?(?:existing |current )?{_BEHAVIOUR}\b"
    ),
    ClaimKind.DONE: (
        rf"\b(?:is|are) (?:now |all |fully )*(?:complete[d]?|done|finished)\b"
        rf"|\b(?:audit|review|implementation|refactoring|task) (?:is )?complete\b"
        rf"|\bsuccessfully {_MADE}\b|\b(?:have|has|'ve) (?:been )?(?:successfully )?{_MADE}\b"
        rf"|^\W*(?:done|completed|finished)\b"
    ),
}
_COMPILED = {kind: re.compile(text, re.IGNORECASE) for kind, text in _PATTERNS.items()}

_DOUBT_BEFORE = re.compile(
    r"\b(?:not|never|no longer|cannot|can't|\w+n't|unable|fail\w*|none|nor|hardly"
    r"|should|would|could|will|may|might|if|once|until|unless|whether|before"
    r"|(?:to|and) (?:make|ensure|check|verify|confirm|see|test)|let me|let's|need|want|expect"
    r"|hope\w*|try\w*|ensur\w+|verif(?:y|ying)|confirm(?:ing)?|claims?)\b",
    re.IGNORECASE,
)
_DOUBT_AFTER = re.compile(
    r"\b(?:except|apart from|other than|besides|but (?:not|one|two|some|\d+)|with the exception"
    r"|fail(?:s|ed|ing|ures?)?)\b",
    re.IGNORECASE,
)
_NO_FAILURES = re.compile(
    r"\b(?:no|zero|0|without(?: any)?) (?:failures?|failed|failing)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?](?=[\s*_`)\"']|$)|(?=\n)|$)")
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)", re.MULTILINE | re.DOTALL)
_CLAUSE = re.compile(r"[;:,—–]\s|\s(?:and|but)\s")


def find_claims(message: str) -> tuple[Claim, ...]:
    """Every claim of a message, in order; one per sentence and kind.

    Fenced code, questions, intentions ("let me make sure that all tests pass") and denials ("not
    all tests pass", "all tests pass except two") are no claims.
    """
    return tuple(_claims(message))


def strongest(claims: Iterable[Claim]) -> Claim | None:
    """The claim that says most: about tests before about working, and so on; the first of them."""
    order = list(ClaimKind)
    return min(claims, key=lambda claim: order.index(claim.kind), default=None)


def _claims(message: str) -> Iterator[Claim]:
    # Blanks in place of code keep the offsets right.
    prose = _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), message)
    for sentence in _SENTENCE.finditer(prose):
        text = sentence[0]
        if text.rstrip().endswith("?"):
            continue
        for kind, pattern in _COMPILED.items():
            match = pattern.search(text)
            if match is not None and not _is_doubted(text, match):
                start = sentence.start() + match.start()
                yield Claim(kind, text.strip(), start, start + len(match[0]))


def _is_doubted(sentence: str, match: re.Match[str]) -> bool:
    clauses = [0, *(cut.end() for cut in _CLAUSE.finditer(sentence, 0, match.start()))]
    before = sentence[clauses[-1] : match.start()]
    after = _NO_FAILURES.sub("", sentence[match.end() :])
    inside = re.sub(r"^\W*(?:no|0|zero|without)\b", "", match[0], flags=re.IGNORECASE)
    return bool(
        _DOUBT_BEFORE.search(before) or _DOUBT_BEFORE.search(inside) or _DOUBT_AFTER.search(after)
    )
