"""Whether anything told the agent what a failing assertion demands.

Looks the texts that an assertion expects up in specification, contract and existing code. Where
none of them stands anywhere the demand may be unspecified: a candidate for a person to judge, since
a value can also follow from a rule. Pure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from arcview.analysis.comparison import split_actual_expected
from arcview.analysis.suggestions import Span, Suggestion, inputs_hash
from arcview.model.results import GateTest

RULE = "determinacy"
VERSION = 1

_QUOTED = re.compile(r"""(['"])((?:\\.|(?!\1)[^\\\n])*)\1""")
_WORD = re.compile(r"[^\W\d_][\w-]{3,}")
_MIN_CHARS = 3
_SHARE = 0.5
_MOST = 40
"""Texts of one assertion that are looked up."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text that could have told the agent."""

    title: str
    """`specification 2`, `code of S1`."""
    text: str


@dataclass(frozen=True, slots=True)
class Demand:
    """One failing assertion and what of it is told anywhere."""

    test: str
    missing: tuple[str, ...]
    """Expected texts that stand nowhere."""
    found: tuple[tuple[str, str], ...]
    """(Expected text, title of the first source that has it)."""

    @property
    def is_unspecified(self) -> bool:
        """Nothing of it stands anywhere."""
        return bool(self.missing) and not self.found


class Sources:
    """What the agent could know, prepared for many look-ups."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._texts = [(source.title, _plain(source.text)) for source in sources]
        self._words = [(title, frozenset(_WORD.findall(text))) for title, text in self._texts]

    @property
    def titles(self) -> tuple[str, ...]:
        """What there is."""
        return tuple(title for title, _ in self._texts)

    def having(self, text: str) -> str | None:
        """The title of the first source that holds a text, or all its words where it has some.

        A message is often told as a pattern (`no such note: <id>`), so its words are enough.
        """
        plain = _plain(text)
        for title, source in self._texts:
            if plain in source:
                return title
        words = frozenset(_WORD.findall(plain))
        if len(words) < 2:
            return None
        return next((title for title, known in self._words if words <= known), None)


def demand_of(test: GateTest, sources: Sources) -> Demand | None:
    """What a failing test demands; null where its failure does not show expected texts."""
    texts = tuple(dict.fromkeys(_expected_texts(test)))[:_MOST]
    if not texts:
        return None
    looked_up = [(text, sources.having(text)) for text in texts]
    return Demand(
        test.id,
        tuple(text for text, title in looked_up if title is None),
        tuple((text, title) for text, title in looked_up if title is not None),
    )


_REFUSALS = ("!=", "not in", "is not", "does not contain", "does not match")
"""Relations that demand that a text is not there."""


def _expected_texts(test: GateTest) -> Iterator[str]:
    """The expected texts that the actual side lacks and the test did not put in itself."""
    sides = split_actual_expected(test)
    if sides is None or sides.shortened or sides.operator in _REFUSALS:
        return
    given = _given(test)
    for text in _texts_in(sides.expected):
        plain = text.strip()
        is_telling = len(plain) >= _MIN_CHARS and _WORD.search(plain) is not None
        if is_telling and plain not in sides.actual and plain not in given:
            yield plain


def _texts_in(side: str) -> Iterator[str]:
    try:
        value = ast.literal_eval(side)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        quoted = [match[2] for match in _QUOTED.finditer(side)]
        yield from quoted or [side]
        return
    yield from _leaves(value)


def _leaves(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case bytes():
            yield value.decode("utf-8", "replace")
        case dict():
            for key, item in value.items():
                yield from _leaves(key)
                yield from _leaves(item)
        case list() | tuple() | set() | frozenset():
            for item in value:
                yield from _leaves(item)


_GIVEN = re.compile(r"\b(?:args|argv|cmd|command|input|stdin|request|payload|body)\s*=\s*(.+)")


def _given(test: GateTest) -> str:
    """What the test itself put in, as far as its traceback shows it."""
    return "\n".join(match[1] for match in _GIVEN.finditer(test.traceback or ""))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def suggest_unspecified(
    tests: Sequence[tuple[str, GateTest]], sources: Sources
) -> Iterator[Suggestion]:
    """V1 where at least half of the assertions that show what they expect expect the untold.

    Args:
        tests: (Address, test) of the failing tests.
        sources: What the agent could know.
    """
    found = [(address, d) for address, test in tests if (d := demand_of(test, sources)) is not None]
    unspecified = [(address, demand) for address, demand in found if demand.is_unspecified]
    if not sources.titles or len(unspecified) < max(1, _SHARE * len(found)):
        return
    count, known = len(unspecified), len(found)
    silent = len(tests) - known
    reason = f"what {count} of {known} assertions expect stands in none of: "
    reason += ", ".join(sources.titles)
    if silent:
        reason += f"; {silent} more failures do not show what they expect"
    spans = tuple(
        Span(address, demand.missing[0], 0, len(demand.missing[0]))
        for address, demand in unspecified[:5]
    )
    yield Suggestion(
        "validity", "V1", f"V1 unspecified? {count} of {known}", reason, RULE, VERSION,
        inputs_hash([[d.test, d.missing] for _, d in found], sources.titles), spans=spans,
    )  # fmt: skip
