"""Clues of a failure → lines of the agent's code that may be behind it, rarest first.

Every answer is a candidate with its reason, never a cause. Pure: file contents and changed lines
are handed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from arcview.analysis.clues import Clue, ClueKind


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
_STRING = re.compile(r"""[rbfu]{0,2}("(?:\\.|[^"\\\n]){4,}"|'(?:\\.|[^'\\\n]){4,}'|`[^`\n]{4,}`)""")
_HOLES = re.compile(r"\$?\{[^{}]*\}|%[-+ #0]*\d*(?:\.\d+)?[sdrifgxq@v]")
_SPEAKS = re.compile(
    r"\b(?:print|printf|println|log|logger|logging|echo|write|warn|error|raise|throw|panic|fail"
    r"|emit|stderr|Errorf?|bail|anyhow|format)\b|Error\(|!\("
)


def find_candidates(
    clues: Iterable[Clue],
    files: Mapping[str, str],
    changed: Mapping[str, frozenset[int]],
    *,
    prefer_change: bool,
    limit: int = 20,
) -> tuple[Candidate, ...]:
    """Looks the clues up in the code of a state.

    Args:
        clues: From `clues.clues_of`.
        files: Path → text of the source files of the state that the gate ran on.
        changed: Path → 1-based lines that the suspect change wrote.
        prefer_change: True where it is known which change the failure began with: it ranks first.
        limit: How many candidates at the most.

    Returns:
        Best first: telling clues before names and commands, among them the own change first where
        preferred, then kind of clue, then rarity.
    """
    best: dict[tuple[str, int], Candidate] = {}
    for clue in clues:
        hits = list(_hits(clue, files))
        if len(hits) > _MAX_OCCURRENCES:
            hits = [hit for hit in hits if hit[1] in changed.get(hit[0], frozenset())]
            if len(hits) > _MAX_OCCURRENCES:
                continue
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


_KINDS = tuple(ClueKind)
_WEAK = (ClueKind.NAME, ClueKind.COMMAND)


def _rank(candidate: Candidate, prefer_change: bool) -> tuple[int, int, int, int]:
    return (
        int(candidate.clue.kind in _WEAK),
        int(prefer_change and not candidate.in_change),
        _KINDS.index(candidate.clue.kind),
        candidate.occurrences,
    )


_WORD = r"(?<![\w-])%s(?!\w)"
_SHAPES = {
    # A command is data of the program: its word stands in quotes, not in comments.
    ClueKind.COMMAND: r"""["'`]%s["'`]""",
    ClueKind.SYMBOL: r"\b(?:def|class|function|fn|func(?: \([^)]*\))?|const|let|var) +%s\b",
}


def _hits(clue: Clue, files: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    for path, text in files.items():
        if clue.kind is ClueKind.MESSAGE:
            yield from (
                (path, number, line)
                for number, line, skeletons in _literal_lines(text)
                if any(skeleton.search(clue.text) for skeleton in skeletons)
            )
        elif clue.text in text:
            word = re.compile(_SHAPES.get(clue.kind, _WORD) % re.escape(clue.text))
            for number, line in enumerate(text.split("\n"), 1):
                if clue.text in line and word.search(line):
                    yield path, number, line


@lru_cache(maxsize=64)
def _literal_lines(text: str) -> tuple[tuple[int, str, tuple[re.Pattern[str], ...]], ...]:
    """Lines that hold string literals, each with the patterns its literals can print as."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        patterns = tuple(filter(None, (_skeleton(m[1][1:-1]) for m in _STRING.finditer(line))))
        if patterns:
            found.append((number, line, patterns))
    return tuple(found)


@lru_cache(maxsize=8192)
def _skeleton(literal: str) -> re.Pattern[str] | None:
    """A literal as a pattern whose holes (`{x}`, `%s`) match anything; null if it says little."""
    parts = _HOLES.split(literal)
    if sum(character.isalpha() for part in parts for character in part) < 6:
        return None
    if not any(" " in part.strip() for part in parts) and len(parts) == 1:
        return None
    return re.compile(".{0,200}?".join(re.escape(part) for part in parts), re.IGNORECASE)
