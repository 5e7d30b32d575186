"""How aware the agent was in a stage of an open run: gathers what was broken, asks the rule.

The suggestion is kept in the cache. It is marked as one wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arcview.analysis.awareness import (
    VERSION,
    AwarenessSuggestion,
    Defect,
    RegionLine,
    suggest,
)
from arcview.analysis.history import gate_slots
from arcview.analysis.signatures import signature
from arcview.model.results import GateTest, Verdict

if TYPE_CHECKING:
    from arcview.analysis.clues import Clue
    from arcview.session.evidence import Evidence, EvidenceFinder
    from arcview.session.opened import OpenRun

MAX_DEFECTS = 40
"""Groups of broken tests that are looked at; beyond them a stage is broken as a whole."""
_TESTS_PER_DEFECT = 3
"""Tests of one signature whose failures are read for clues."""
_NEAR = 3
"""Lines around a frame that belong to the region."""
_MIN_LINE = 12
"""Characters of a line below which seeing it says nothing."""


@dataclass(frozen=True, slots=True)
class _Kept:
    states: str
    version: int
    suggestion: AwarenessSuggestion | None


def suggest_awareness(
    opened: OpenRun, finder: EvidenceFinder, stage: int
) -> AwarenessSuggestion | None:
    """What is suggested for a stage; null where nothing was broken or no step is recorded.

    Args:
        opened: The run.
        finder: Shared with whatever else looks at the run.
        stage: 1-based.
    """
    name, states = f"awareness-{stage}", finder.states_digest()
    kept = opened.load_view(name, _Kept)
    if kept is not None and (kept.states, kept.version) == (states, VERSION):
        return kept.suggestion
    found = _suggest(opened, finder, stage)
    opened.save_view(name, _Kept, _Kept(states, VERSION, found))
    return found


def _suggest(opened: OpenRun, finder: EvidenceFinder, stage: int) -> AwarenessSuggestion | None:
    if not opened.trajectory_refs(stage):
        return None
    broken = _broken(opened, finder, stage)
    if not broken:
        return None
    defects = _defects(opened, finder, stage, broken)
    healed = {test.id for test in opened.gate_view(str(stage)).healed}
    return suggest(defects, opened.trajectory(stage), healed)


@dataclass(frozen=True, slots=True)
class _Broken:
    """A test that is broken when the stage begins, as it failed last."""

    test: GateTest
    state: str
    evidence: Evidence


def _broken(opened: OpenRun, finder: EvidenceFinder, stage: int) -> list[_Broken]:
    """Every test whose last result before the stage began is not ok."""
    run = opened.run
    places = {state.id: place for place, state in enumerate(run.agent_states())}
    found = run.stage(stage)
    base = places.get(found.base or "") if found is not None else None
    last: dict[str, _Broken | None] = {}
    for slot in gate_slots(run):
        before = slot.stage < stage if base is None else slot.position <= (base, 0)
        if slot.gate == "chain" or not before or slot.record is None:
            continue
        view = opened.gate_view(slot.gate, slot.state)
        if view.cell.judgement.verdict is Verdict.UNMEASURED:
            continue
        last.update(dict.fromkeys((test.id for test in view.passing), None))
        for failing, evidence in zip(
            view.failing, finder.of_gate(slot.gate, slot.state), strict=True
        ):
            last[failing.test.id] = _Broken(failing.test, slot.state or "", evidence)
    return [one for one in last.values() if one is not None]


def _defects(
    opened: OpenRun, finder: EvidenceFinder, stage: int, broken: list[_Broken]
) -> Iterator[Defect]:
    from arcview.analysis.clues import clues_of

    groups: dict[tuple[str, str | None], list[_Broken]] = {}
    for one in broken:
        groups.setdefault((signature(one.test), one.evidence.began), []).append(one)
    largest = sorted(groups.items(), key=lambda item: -len(item[1]))
    found = opened.run.stage(stage)
    base = found.base if found is not None else None
    regions = _Regions(finder, base)
    for (title, _), members in largest[:MAX_DEFECTS]:
        looked_at = members[:_TESTS_PER_DEFECT]
        clues: dict[Clue, None] = {}
        for one in looked_at:
            clues.update(dict.fromkeys(clues_of(one.test)))
        region = dict.fromkeys(line for one in looked_at for line in regions.of(one))
        frames = (p for one in looked_at for p in one.evidence.places if p.basis == "traceback")
        names = dict.fromkeys(place.function for place in frames if place.function)
        tests = tuple(one.test.id for one in members)
        yield Defect(title, tests, tuple(clues), tuple(region), tuple(names))


class _Regions:
    """Where defects may lie, as the code stood when the stage began."""

    def __init__(self, finder: EvidenceFinder, base: str | None) -> None:
        self._finder = finder
        self._files = finder.trails.workspace
        self._base = base
        self._changed: dict[tuple[str, str], tuple[RegionLine, ...]] = {}
        self._counts: dict[str, int] | None = None

    def of(self, broken: _Broken) -> Iterator[RegionLine]:
        """The lines that a failure leads to; where it leads to none, the suspect change."""
        evidence = broken.evidence
        frames = [place for place in evidence.places if place.basis == "traceback"]
        clues = [place for place in evidence.places if place.state == evidence.began is not None]
        found = False
        for place in frames or clues:
            reach = _NEAR if place.basis == "traceback" else 0
            for line in self._around(broken.state, place.path, place.line, reach):
                found = True
                yield line
        if not found and evidence.began is not None:
            for path in evidence.suspect_change:
                yield from self._written(evidence.began, path)

    def _around(self, state: str, path: str, line: int, reach: int) -> Iterator[RegionLine]:
        text = self._files.text(state, path)
        if text is not None:
            lines = text.split("\n")[max(0, line - 1 - reach) : line + reach]
            yield from self._telling(path, lines)

    def _written(self, began: str, path: str) -> tuple[RegionLine, ...]:
        """The lines of a file that the suspect change wrote and that are still there."""
        key = (began, path)
        if key not in self._changed:
            text = self._files.text(self._base, path) if self._base is not None else None
            lines: list[str] = []
            if text is not None and self._base is not None:
                blamed = self._finder.trails.attribution.blame(self._base, path)
                lines = [
                    line
                    for line, (state, _, _) in zip(text.split("\n"), blamed, strict=False)
                    if state == began
                ]
            self._changed[key] = tuple(self._telling(path, lines))
        return self._changed[key]

    def _telling(self, path: str, lines: list[str]) -> Iterator[RegionLine]:
        """Those long enough and found once in the code: seeing them means seeing this place."""
        if self._counts is None:
            self._counts = {}
            texts = self._files.texts(self._base) if self._base is not None else {}
            for text in texts.values():
                for line in text.split("\n"):
                    stripped = line.strip()
                    self._counts[stripped] = self._counts.get(stripped, 0) + 1
        for line in lines:
            stripped = line.strip()
            if len(stripped) >= _MIN_LINE and self._counts.get(stripped, 0) <= 1:
                yield RegionLine(path, stripped)
