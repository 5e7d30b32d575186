"""What a stage's self-tests were worth: computed from steps, states and gate, kept in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from arcview.analysis.claims import Claim, find_claims, strongest
from arcview.analysis.self_test_depth import (
    EarlierFiles,
    Exercise,
    Exercises,
    LateEdit,
    closing_message,
    defined_names,
    earlier_files,
    earlier_stages,
    edits_after,
    introduced_in,
    last_green,
    named_symbols,
    revisits_earlier,
)
from arcview.analysis.self_tests import SelfTest, SelfTestKind, is_test_path
from arcview.model.patch import PathClass
from arcview.model.results import Verdict
from arcview.model.states import StateKind
from arcview.session.workspace_files import WorkspaceFiles

if TYPE_CHECKING:
    from arcview.session.evidence import EvidenceFinder
    from arcview.session.opened import OpenRun


@dataclass(frozen=True, slots=True)
class NamedSymbol:
    """A function, class or type of the agent's code that a self-test names."""

    name: str
    stage: int | None
    """The stage that last wrote its definition; 0 for the start state, null where not known."""


@dataclass(frozen=True, slots=True)
class SelfTestDepth:
    """What one stage's own tests covered, beside what its gate says."""

    earlier_stages: tuple[tuple[int, ...] | None, ...] = ()
    """Of each self-test, in order; see `analysis.self_test_depth.earlier_stages`."""
    revisits_earlier: bool | None = None
    last_green_key: str | None = None
    """Step of the last suite or assertion that passed; null where none did."""
    last_green_step: int | None = None
    edits_after_green: tuple[LateEdit, ...] | None = None
    """Source and test files changed after it; null where there was no green run."""
    edits_basis: Literal["recorded", "visible"] = "visible"
    """Whether the run recorded every step, or only edits that calls spell out are known."""
    claim: Claim | None = None
    """The strongest claim of success in the closing message."""
    claim_key: str | None = None
    claim_step: int | None = None
    claim_gap: bool | None = None
    """Success was claimed and the gate failed; null where the gate is unmeasured."""
    exercised: tuple[Exercise, ...] = ()
    """Of each failing test, in the order of `GateView.failing`."""
    symbols: tuple[tuple[NamedSymbol, ...], ...] = ()
    """Of each self-test, in order."""
    earlier_files: EarlierFiles | None = None
    """Test files of earlier stages; null where it is not known what stood there."""


@dataclass(frozen=True, slots=True)
class _Kept:
    states: str
    depth: SelfTestDepth


def self_test_depth(
    opened: OpenRun, finder: EvidenceFinder, stage: int, state: str | None = None
) -> SelfTestDepth:
    """Looks at the self-tests of one stage, or of a pass after it, in depth.

    Args:
        opened: The run.
        finder: Its states are built, or known to be missing; shared with the evidence.
        stage: 1-based.
        state: The between-state that the pass ended in; by default the stage itself.
    """
    name = f"self-test-depth-{stage if state is None else state}"
    kept = opened.load_view(name, _Kept)
    states = finder.states_digest()
    if kept is not None and kept.states == states:
        return kept.depth
    depth = _Look(opened, finder, stage, state).depth()
    opened.save_view(name, _Kept, _Kept(states, depth))
    return depth


class _Look:
    """A look at one stage, or at one pass after it."""

    def __init__(
        self, opened: OpenRun, finder: EvidenceFinder, stage: int, state: str | None
    ) -> None:
        self._opened = opened
        self._attribution = finder.trails.attribution
        self._files: WorkspaceFiles = finder.trails.workspace
        found = opened.run.stage(stage)
        self._end = state or (found.end if found is not None else None)
        base = found.base if found is not None else None
        self._base = base if state is None else self._files.before(state)
        self._trajectory = opened.trajectory(stage, state)
        self._tests = opened.self_tests(stage, state)
        self._view = opened.gate_view(str(stage), state)

    def depth(self) -> SelfTestDepth:
        if not self._trajectory.steps:
            return SelfTestDepth()  # what was tested is unknown: nothing follows from no steps
        earlier = tuple(self._earlier())
        green = last_green(self._tests)
        late, basis = self._late_edits(green)
        closing = closing_message(self._trajectory)
        claim = strongest(find_claims(closing.text)) if closing is not None else None
        said = closing if claim is not None else None
        verdict = self._view.cell.judgement.verdict
        source = self._files.source_texts(self._end) if self._end is not None else {}
        codes = {id(test): self._code_of(test) for test in self._tests}
        exercises = Exercises(self._tests, lambda test: codes[id(test)], source.values())
        defined = defined_names(source)
        return SelfTestDepth(
            earlier,
            revisits_earlier(self._tests, earlier),
            green.step_key if green is not None else None,
            green.step_number if green is not None else None,
            late,
            basis,
            claim,
            said.key if said is not None else None,
            said.number if said is not None else None,
            None if verdict is Verdict.UNMEASURED else bool(claim and verdict is Verdict.FAILED),
            tuple(exercises.of(failing.test) for failing in self._view.failing),
            tuple(
                tuple(
                    NamedSymbol(name, self._written_in(*defined[name]))
                    for name in named_symbols(test, codes[id(test)], defined)
                )
                for test in self._tests
            ),
            earlier_files(self._tests, self._introduced, self._changed)
            if self._introduced is not None
            else None,
        )

    def _written_in(self, path: str, line: int) -> int | None:
        """The stage that last wrote a line of the end state."""
        blamed = self._attribution.blame(self._end or "", path)
        state = self._opened.run.state(blamed[line - 1][0]) if line <= len(blamed) else None
        return state.stage if state is not None else None

    def _earlier(self) -> Iterator[tuple[int, ...] | None]:
        known, introduced = self._files.paths(self._base), self._introduced
        if introduced is None:
            yield from (None for _ in self._tests)
            return
        for test in self._tests:
            yield earlier_stages(test, known, introduced, self._changed)

    @cached_property
    def _introduced(self) -> dict[str, int] | None:
        """The test files of the base and their stages; null where what stood there is unknown."""
        # Only a start state may be empty and known.
        here = frozenset(self._files.paths(self._base))
        start = self._opened.run.state(self._base)
        if not here and (start is None or start.kind is not StateKind.START):
            return None
        return {p: s for p, s in introduced_in(self._until_base()).items() if p in here}

    @cached_property
    def _changed(self) -> frozenset[str]:
        return frozenset(change.path for change in self._files.own_changes(self._end))

    def _until_base(self) -> list[tuple[int, tuple[str, ...]]]:
        """(Stage, files) of each state up to the base."""
        found = []
        for state in self._opened.run.agent_states():
            found.append((state.stage, self._files.paths(state.id)))
            if state.id == self._base:
                break
        return found

    def _late_edits(
        self, green: SelfTest | None
    ) -> tuple[tuple[LateEdit, ...] | None, Literal["recorded", "visible"]]:
        if green is None or self._end is None:
            return None, "visible"
        resolve = self._attribution.resolve(self._end)
        visible = edits_after(self._trajectory, green.call_key, resolve, self._matters)
        recorded = self._recorded_edits(self._end, green)
        if recorded is None:
            return visible, "visible"
        places = {step.key: place for place, step in enumerate(self._trajectory.steps)}
        both = dict.fromkeys((*recorded, *visible))
        return tuple(sorted(both, key=lambda e: (places.get(e.step_key, -1), e.path))), "recorded"

    def _recorded_edits(self, end: str, green: SelfTest) -> tuple[LateEdit, ...] | None:
        """What the recorded workspaces show to have changed after a step; null without any."""
        steps = self._opened.store.step_states(end)
        if not steps or any(step.key is None for step in steps):
            return None
        places = {step.key: place for place, step in enumerate(self._trajectory.steps)}
        numbers = {step.key: step.number for step in self._trajectory.steps}
        found: list[LateEdit] = []
        before = self._base
        for step in steps:
            key = step.key or ""
            if places.get(key, -1) > places.get(green.step_key, len(places)):
                found += (
                    LateEdit(key, numbers.get(key), change.path)
                    for change in self._files.changes(before, step.id)
                    if self._matters(change.path)
                )
            before = step.id
        return tuple(found)

    def _matters(self, path: str) -> bool:
        """Whether a path is code that the stage began or ended with, not a scratch file."""
        if path not in self._files.paths(self._end) and path not in self._files.paths(self._base):
            return False
        from arcview.states.path_class import classify

        kind = classify(path, self._opened.run.chain.path_rules)
        return kind in (PathClass.SOURCE, PathClass.TEST)

    def _code_of(self, test: SelfTest) -> str | None:
        """The text of the test files that an execution ran, as they stand at the stage's end."""
        if self._end is None:
            return None
        texts = self._files.texts(self._end)
        if test.kind is SelfTestKind.SUITE and not test.targets:
            wanted = [path for path in texts if is_test_path(path)]
        else:
            wanted = [path for path in texts if _is_target(path, test)]
        return "\n".join(texts[path] for path in wanted) if wanted else None


def _is_target(path: str, test: SelfTest) -> bool:
    for target in test.targets:
        named = target.partition("::")[0].removeprefix("./").rstrip("/")
        if named and (path == named or named.endswith(f"/{path}") or path.startswith(f"{named}/")):
            return True
    return False
