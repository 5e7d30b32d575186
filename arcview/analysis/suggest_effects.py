"""Suggested origin and mechanisms of a failing gate, from what its failures lead to. Pure.

What is recorded (a test failed before, a traceback ends in a line that an earlier stage wrote) is
marked exact; what rests on likeness of texts is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from arcview.analysis.history import History
from arcview.analysis.suggestions import Span, Suggestion, inputs_hash

ORIGIN_RULE = "origin"
MECHANISM_RULE = "mechanism"
VERSION = 1

_MOST_PLACES = 3
_MOST_AUTHORS = 2


@dataclass(frozen=True, slots=True)
class CodePlace:
    """A line of code that a failure leads to, and who wrote it."""

    address: str
    path: str
    line: int
    state: str | None
    """The state that the line first stood in."""
    stage: int | None
    step_key: str | None
    step: int | None
    is_exact: bool
    """A frame of a traceback; otherwise a line that shares text with the failure."""


@dataclass(frozen=True, slots=True)
class ChangeAuthor:
    """A step that wrote lines of the change with which a failure began."""

    address: str
    """Of the step."""
    state: str
    stage: int
    step_key: str
    step: int | None
    lines: int


@dataclass(frozen=True, slots=True)
class FailureFacts:
    """One failing test of a gate."""

    address: str
    test: str
    history: History
    since_state: str | None
    """For an inherited one: the state at which it began to fail."""
    since_stage: int | None
    places: tuple[CodePlace, ...]
    """The most telling one first."""
    said: str = ""
    """The line it died of."""
    authors: tuple[ChangeAuthor, ...] = ()
    """Where no place is known: who wrote the change it began with, most lines first."""


@dataclass(frozen=True, slots=True)
class GateFailures:
    """The failing tests of one gate run."""

    gate: str
    stage: int
    failures: tuple[FailureFacts, ...]
    expected: int
    """How many tests the gate expects."""
    changed: frozenset[str]
    """Files that the stage changed."""
    healed: tuple[str, ...] = ()
    """Addresses of tests that are ok here and were not before."""


def suggest_origins(gate: GateFailures) -> Iterator[Suggestion]:
    """Where the defect was made, the most likely place first; a few of each kind."""
    votes: Counter[CodePlace] = Counter()
    tests: dict[CodePlace, list[FailureFacts]] = {}
    for failure in gate.failures:
        for place in _leading(failure):
            known = next((p for p in votes if _same_author(p, place)), place)
            votes[known] += 1
            tests.setdefault(known, []).append(failure)
    ranked = sorted(votes, key=lambda place: (-place.is_exact, -votes[place]))[:_MOST_PLACES]
    for place in ranked:
        yield _origin_at(gate, place, tests[place])
    yield from _origins_of_change(gate)
    named = {place.stage for place in ranked}
    named |= {a.stage for f in gate.failures if not f.places for a in f.authors}
    since = Counter(
        (f.since_stage, f.since_state) for f in gate.failures if f.since_stage is not None
    )
    for (stage, state), count in since.most_common(1):
        if stage not in named:
            led = [f for f in gate.failures if f.since_stage == stage]
            reason = f"{count} of its failing tests have failed since {state}"
            values: dict[str, object] = {"stage": stage, "state": state}
            yield _origin(gate, f"failing since {state}", reason, _said(led), values)


def _origin_at(gate: GateFailures, place: CodePlace, led: Sequence[FailureFacts]) -> Suggestion:
    how = "a traceback leads" if place.is_exact else "text of the failure leads"
    where, author = f"{place.path}:{place.line}", _author(place)
    reason = f"{how} from {_count(led, 'test')} to {where}, which {author} wrote"
    spans = (Span(place.address, where), *_said(led))
    values = _origin_values(place)
    return _origin(gate, f"{author} wrote {where}", reason, spans, values, exact=place.is_exact)


def _origins_of_change(gate: GateFailures) -> Iterator[Suggestion]:
    """For failures that lead to no code: the steps that wrote the change they began with."""
    lines: dict[str, ChangeAuthor] = {}
    led: dict[str, list[FailureFacts]] = {}
    for failure in gate.failures:
        for author in failure.authors[:_MOST_AUTHORS] if not failure.places else ():
            lines[author.address] = author
            led.setdefault(author.address, []).append(failure)
    ranked = sorted(lines.values(), key=lambda a: (-len(led[a.address]), -a.lines))
    for author in ranked[:_MOST_AUTHORS]:
        by = f"stage {author.stage} #{author.step}"
        reason = (
            f"{by} wrote {author.lines} lines of the change with which "
            f"{_count(led[author.address], 'test')} began to fail"
        )
        values: dict[str, object] = {"stage": author.stage, "step": author.step_key}
        if author.step is not None:
            values["step_number"] = author.step
        spans = (Span(author.address, by), *_said(led[author.address]))
        yield _origin(gate, f"{by} wrote the change", reason, spans, values)


def _origin(
    gate: GateFailures,
    title: str,
    reason: str,
    spans: tuple[Span, ...],
    values: dict[str, object],
    *,
    exact: bool = False,
) -> Suggestion:
    return Suggestion(
        "origin", "", title, reason, ORIGIN_RULE, VERSION, _hash(gate), spans=spans,
        values=values, exact=exact,
    )  # fmt: skip


def _said(led: Sequence[FailureFacts]) -> tuple[Span, ...]:
    return tuple(Span(failure.address, failure.said) for failure in led[:3])


def suggest_mechanisms(
    gate: GateFailures, blamed_before: Mapping[str, int] | None = None
) -> Iterator[Suggestion]:
    """How earlier defects affect this gate.

    Args:
        gate: Its failing tests.
        blamed_before: What `blamed` gives for the gate before; null for the first.
    """
    by_history = {kind: [f for f in gate.failures if f.history is kind] for kind in History}
    inherited = by_history[History.INHERITED]
    untouched = [f for f in inherited if f.places and not _touched(f, gate.changed)]
    unplaced = [f for f in inherited if not f.places]
    if untouched or unplaced:
        led = untouched or unplaced
        what = "in code that this stage did not touch" if untouched else "before this stage"
        is_exact = bool(untouched) and all(f.places[0].is_exact for f in led)
        reason = f"{_count(led, 'test')} failed already, {what}"
        yield _mechanism(gate, "M1", reason, led, exact=is_exact)
    new = [*by_history[History.FIRST], *by_history[History.NEW], *by_history[History.BROKEN_AGAIN]]
    older = [f for f in new if f.places and _is_older(f.places[0], gate.stage)]
    if older and len(gate.failures) == gate.expected and _one_frame(gate.failures):
        reason = f"all {gate.expected} tests end in one line that an earlier stage wrote"
        yield _mechanism(gate, "M5", reason, older, exact=older[0].places[0].is_exact)
    elif older:
        reason = f"{_count(older, 'new failure')} from code that an earlier stage wrote"
        yield _mechanism(gate, "M2", reason, older, exact=older[0].places[0].is_exact)
    own = [f for f in new if f.places and f.places[0].stage == gate.stage]
    if own:
        reason = f"{_count(own, 'new failure')} from code that this stage wrote"
        yield _mechanism(gate, "M0", reason, own, exact=False)
    yield from _amplified(gate, blamed_before or {})
    yield from _healed(gate)


def _amplified(gate: GateFailures, before: Mapping[str, int]) -> Iterator[Suggestion]:
    for author, count in sorted(blamed(gate).items()):
        if 0 < before.get(author, 0) < count:
            led = [f for f in gate.failures if f.places and _author(f.places[0]) == author]
            reason = (
                f"{count} failing tests lead to {author}, {before[author]} did at the gate before"
            )
            yield _mechanism(gate, "M7", reason, led, exact=False)


def _healed(gate: GateFailures) -> Iterator[Suggestion]:
    if gate.healed:
        spans = tuple(Span(address, "ok again") for address in gate.healed[:3])
        count = len(gate.healed)
        reason = f"{count} {'test is' if count == 1 else 'tests are'} ok that failed before"
        yield Suggestion(
            "mechanism", "M9", f"M9 healed in gate {gate.gate}", reason, MECHANISM_RULE, VERSION,
            _hash(gate), spans=spans, gate=gate.gate, stage=gate.stage, exact=True,
        )  # fmt: skip


def blamed(gate: GateFailures) -> dict[str, int]:
    """Author (`stage 2 #7`) → how many failing tests lead to a line of theirs first."""
    leading = [failure.places[0] for failure in gate.failures if failure.places]
    return dict(Counter(_author(place) for place in leading if place.stage is not None))


def _mechanism(
    gate: GateFailures, code: str, reason: str, led: Sequence[FailureFacts], *, exact: bool
) -> Suggestion:
    places = tuple(Span(f.places[0].address, f.places[0].path) for f in led[:1] if f.places)
    return Suggestion(
        "mechanism", code, f"{code} in gate {gate.gate}", reason, MECHANISM_RULE, VERSION,
        _hash(gate), spans=(*_said(led), *places), gate=gate.gate, stage=gate.stage, exact=exact,
    )  # fmt: skip


_MOST_CANDIDATES = 3


def _leading(failure: FailureFacts) -> list[CodePlace]:
    """What one test votes for: where its traceback ends, else each author of likely lines once.

    Code that was there before the agent came is nobody's origin.
    """
    known = [place for place in failure.places if place.stage]
    if known and known[0].is_exact:
        return known[:1]
    found: list[CodePlace] = []
    for place in known[:_MOST_CANDIDATES]:
        if not any(_same_author(one, place) for one in found):
            found.append(place)
    return found


def _same_author(one: CodePlace, other: CodePlace) -> bool:
    return (one.path, one.stage, one.step_key) == (other.path, other.stage, other.step_key)


def _author(place: CodePlace) -> str:
    return f"stage {place.stage}" + (f" #{place.step}" if place.step is not None else "")


def _origin_values(place: CodePlace) -> dict[str, object]:
    values: dict[str, object] = {
        "stage": place.stage,
        "step": place.step_key,
        "step_number": place.step,
        "path": place.path,
    }
    return {name: value for name, value in values.items() if value is not None}


def _is_older(place: CodePlace, stage: int) -> bool:
    return place.stage is not None and place.stage < stage


def _touched(failure: FailureFacts, changed: Collection[str]) -> bool:
    return failure.places[0].path in changed


def _one_frame(failures: Sequence[FailureFacts]) -> bool:
    return len({f.places[:1] and (f.places[0].path, f.places[0].line) for f in failures}) == 1


def _count(led: Sequence[FailureFacts], what: str) -> str:
    return f"{len(led)} {what}" if len(led) == 1 else f"{len(led)} {what}s"


def _hash(gate: GateFailures) -> str:
    return inputs_hash(
        gate.gate, gate.expected, sorted(gate.changed), gate.healed,
        [[f.test, f.history, f.since_state, [[p.path, p.line, p.stage, p.step_key]
         for p in f.places], [[a.step_key, a.lines] for a in f.authors]] for f in gate.failures],
    )  # fmt: skip
