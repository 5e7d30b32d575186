"""Clues of a failure → lines of the agent's code that may be behind it, rarest first.

Every answer is a candidate with its reason, never a cause. Pure: file contents and changed lines
are handed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from arcview.analysis.clues import Clue, ClueKind
from arcview.analysis.code_index import MAX_HITS, CodeIndex, CodeLine


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line of the agent's code that shares something with the failure."""

    path: str
    line: int
    """1-based, in the state that the gate ran on."""
    text: str
    clue: Clue
    occurrences: int
    """How many lines of the state this clue hits; 1 is the most telling."""
    in_change: bool
    """The change that the failure began with wrote the line."""
    speaks: bool
    """The line only prints the message: where the symptom is spoken, not the cause."""

    @property
    def reason(self) -> str:
        """Why this line is here, for people."""
        where = "in the suspect change" if self.in_change else "in other code"
        how = "prints" if self.speaks else "holds"
        rarity = "only here" if self.occurrences == 1 else f"one of {self.occurrences} lines"
        return f"{how} the {self.clue.kind.value} {self.clue.text!r} ({rarity}, {where})"


_MAX_OCCURRENCES = 12
"""A clue that hits more lines than this says nothing about any of them."""
_SPEAKS = re.compile(
    r"\b(?:print|printf|println|log|logger|logging|echo|write|warn|error|raise|throw|panic|fail"
    r"|emit|stderr|Errorf?|bail|anyhow|format)\b|Error\(|!\("
)


def find_candidates(
    clues: Iterable[Clue],
    code: CodeIndex,
    changed: Mapping[str, frozenset[int]],
    *,
    prefer_change: bool,
    limit: int = 20,
) -> tuple[Candidate, ...]:
    """Looks the clues up in the code of a state.

    Args:
        clues: From `clues.clues_of`.
        code: The code of the state that the gate ran on.
        changed: Path → 1-based lines that the suspect change wrote.
        prefer_change: True where it is known which change the failure began with: it ranks first.
        limit: How many candidates at the most.

    Returns:
        Best first: telling clues before names and commands, among them the own change first where
        preferred, then kind of clue, then rarity.
    """
    best: dict[tuple[str, int], Candidate] = {}
    for clue in clues:
        hits = _hits(clue, code, changed)
        for path, line, text in hits:
            candidate = Candidate(
                path,
                line,
                text.strip(),
                clue,
                len(hits),
                line in changed.get(path, frozenset()),
                clue.kind is ClueKind.MESSAGE and bool(_SPEAKS.search(text)),
            )
            known = best.get((path, line))
            if known is None or _rank(candidate, prefer_change) < _rank(known, prefer_change):
                best[(path, line)] = candidate
    ranked = sorted(best.values(), key=lambda c: (*_rank(c, prefer_change), c.path, c.line))
    return tuple(ranked[:limit])


def _hits(
    clue: Clue, code: CodeIndex, changed: Mapping[str, frozenset[int]]
) -> tuple[CodeLine, ...]:
    """The lines that a clue hits; none where they are too many to say anything."""
    hits = code.lines(clue)
    if len(hits) > _MAX_OCCURRENCES:
        # It says nothing of the state as a whole, but may of the change.
        hits = code.lines_in(clue, changed)
        if len(hits) <= MAX_HITS:
            hits = tuple(h for h in hits if h.line in changed.get(h.path, frozenset()))
    return hits if len(hits) <= _MAX_OCCURRENCES else ()


_KINDS = tuple(ClueKind)
_WEAK = (ClueKind.NAME, ClueKind.COMMAND)


def _rank(candidate: Candidate, prefer_change: bool) -> tuple[int, int, int, int]:
    return (
        int(candidate.clue.kind in _WEAK),
        int(prefer_change and not candidate.in_change),
        _KINDS.index(candidate.clue.kind),
        candidate.occurrences,
    )
