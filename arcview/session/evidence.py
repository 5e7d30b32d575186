"""What leads on from every failing test of a gate: the trails, cut to what a report can hold.

Computing them reads code and steps, so they are kept in the view cache; the twin, exports and
comparisons all show these.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from arcview.analysis.frames import FrameKind
from arcview.analysis.replay import Certainty
from arcview.errors import ArcviewError, CancelledError
from arcview.session.attribution import StepShare

if TYPE_CHECKING:
    from arcview.analysis.gate_view import FailingTest
    from arcview.session.attribution import LineSource
    from arcview.session.opened import OpenRun
    from arcview.session.trail import Trail, TrailFinder

MAX_FRAMES = 10
"""Places, symptoms and files of one failure that are kept; the best ones lead."""


@dataclass(frozen=True, slots=True)
class Place:
    """One line of code that a failure leads to, and who wrote it."""

    path: str
    line: int
    function: str | None
    basis: Literal["traceback", "clue"]
    """A frame of the failure, or a line that shares text with it."""
    certainty: Certainty
    """Of stage and step, for a frame; `candidate` for every line that only shares text."""
    stage: int | None = None
    state: str | None = None
    """The state that the line first stood in."""
    step_key: str | None = None
    step: int | None = None
    reason: str | None = None
    """Why a candidate is one."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A tool output that had shown the failure before the gate did."""

    step_key: str
    step: int | None
    text: str
    """The line of the output."""
    stage: int
    state: str | None = None
    """The between-state, for a step of a pass."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What leads on from one failing test."""

    places: tuple[Place, ...] = ()
    """The frames in the agent's code, deepest first; without any, the candidates, best first."""
    began: str | None = None
    """The state at which the test began to fail."""
    suspect_change: tuple[str, ...] = ()
    """Source files of the change to that state."""
    symptoms: tuple[Seen, ...] = ()
    nothing: str | None = None
    """Why there is nothing to go on."""
    suspect_steps: tuple[StepShare, ...] = ()
    """The steps that wrote the suspect change, the largest share first."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """The evidence of one gate run and the states that it was found in."""

    states: str
    failures: tuple[Evidence, ...]


class EvidenceFinder:
    """Finds the evidence of one open run; several gates share what was read.

    Args:
        opened: The run. States that are not built yet are built; without git, or where they are
            missing, the evidence has no stages and steps.
    """

    def __init__(self, opened: OpenRun) -> None:
        self._opened = opened
        self._trails: TrailFinder | None = None
        self._states: str | None = None

    def of_gate(self, gate: str, state: str | None = None) -> tuple[Evidence, ...]:
        """The evidence of each failing test, in the order of `GateView.failing`."""
        view = self._opened.gate_view(gate, state)
        if not view.failing:
            return ()
        name = f"evidence-{gate}-{view.cell.state}"
        kept = self._opened.load_view(name, _Kept)
        states = self.states_digest()
        if kept is not None and kept.states == states and len(kept.failures) == len(view.failing):
            return kept.failures
        found = tuple(self._of_test(gate, view.cell.state, failing) for failing in view.failing)
        self._opened.save_view(name, _Kept, _Kept(states, found))
        return found

    @property
    def trails(self) -> TrailFinder:
        """What finds the trails, its states built where that is possible."""
        if self._trails is None:
            from arcview.session.trail import TrailFinder  # 25 ms that kept evidence spares

            self.states_digest()
            self._trails = TrailFinder(self._opened)
        return self._trails

    def _of_test(self, gate: str, state: str | None, failing: FailingTest) -> Evidence:
        stages = self._opened.run.stages
        stage = int(gate) if gate.isdecimal() else stages[-1].index if stages else 0
        has_files = bool(self.trails.workspace.paths(state))
        return _cut(self.trails.trail(stage, state or "", failing, gate), has_files)

    def states_digest(self) -> str:
        """Tells whether the states are still those that something was found in."""
        if self._states is None:
            try:
                self._opened.ensure_states()
            except CancelledError:
                raise
            except ArcviewError:  # no git: said among the problems of the run
                pass
            store = self._opened.store
            trees = [f"{s.id}={store.tree(s.id)}" for s in self._opened.run.agent_states()]
            self._states = f"{zlib.crc32('|'.join(trees).encode(errors='replace')):08x}"
        return self._states


def _cut(trail: Trail, has_files: bool) -> Evidence:
    """The part of a trail that is kept."""
    # Without the files of the state nobody can tell whose code a frame is in.
    kinds = (FrameKind.PROJECT,) if has_files else (FrameKind.PROJECT, FrameKind.UNKNOWN)
    places = tuple(_frames(trail, kinds)) or tuple(_candidates(trail))
    named = {place.path for place in places}
    # Files that the failure itself leads to come first.
    suspect = sorted((c.path for c in trail.suspect_change), key=lambda path: path not in named)
    return Evidence(
        places[:MAX_FRAMES],
        trail.began,
        tuple(suspect[:MAX_FRAMES]),
        tuple(
            Seen(s.step, s.number, s.line, s.stage, s.state) for s in trail.symptoms[:MAX_FRAMES]
        ),
        trail.nothing,
        trail.suspect_steps[:MAX_FRAMES],
    )


def _frames(trail: Trail, kinds: tuple[FrameKind, ...]) -> Iterator[Place]:
    for traced in reversed(trail.frames):
        frame = traced.frame
        if frame.kind in kinds:
            path = frame.workspace_path or frame.path
            yield _place(path, frame.line, frame.function, "traceback", traced.source, None)


def _candidates(trail: Trail) -> Iterator[Place]:
    for traced in trail.candidates:
        found = traced.candidate
        yield _place(found.path, found.line, None, "clue", traced.source, found.reason)


def _place(
    path: str,
    line: int,
    function: str | None,
    basis: Literal["traceback", "clue"],
    source: LineSource | None,
    reason: str | None,
) -> Place:
    certainty: Certainty = "none" if source is None else source.certainty
    if basis == "clue":
        certainty = "candidate"
    if source is None:
        return Place(path, line, function, basis, certainty, reason=reason)
    return Place(
        path, line, function, basis, certainty,
        source.stage, source.state, source.step_key, source.step, reason,
    )  # fmt: skip
