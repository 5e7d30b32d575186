"""One open run for the screens and the command line: computes each view once and caches it.

The only place where readers, states, analysis and the view cache meet. What costs time to import
(readers, states) is imported when it is first needed: a cached open needs none of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from arcview.analysis.gate_view import GateView, build_gate_view
from arcview.analysis.history import RunHistory, stage_record
from arcview.analysis.overview import Overview, StepCounts, with_steps
from arcview.analysis.self_tests import SelfTest
from arcview.analysis.verdicts import DEFAULT_POLICY, Policy
from arcview.config import Settings
from arcview.errors import ArcviewError
from arcview.model.problem import Problem
from arcview.model.results import GateRecord
from arcview.model.trajectory_refs import TrajectoryRef
from arcview.session.inputs import changed
from arcview.session.kept_gate import KeptGateView, keep, restore
from arcview.session.run_steps import RunSteps, steps_name
from arcview.session.skeleton import (
    Skeleton,
    asked_key,
    cache_of,
    counts_of,
    history_of,
    joined_rules,
    named,
    read_run,
    skeleton_of,
)
from arcview.session.view_cache import ViewCache
from arcview.states.cache import RunCache

if TYPE_CHECKING:
    from arcview.model.trajectory import Trajectory
    from arcview.readers.registry import Given, OpenedRun
    from arcview.states.store import StateStore

T = TypeVar("T")


class OpenRun:
    """An open run. Views are computed when they are first asked for, from any thread.

    Attributes:
        run: The skeleton.
        overview: Verdicts, counts and debts; steps and tool calls after `complete_overview`.
        problems: What was wrong with the run's files; grows as details are read.
        from_cache: Nothing of the run itself was read.
        policy: Which outcomes count as ok.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        views: ViewCache,
        cache: RunCache,
        settings: Settings,
        *,
        from_cache: bool,
    ) -> None:
        self.run = skeleton.run
        self.overview = skeleton.overview
        self.problems = skeleton.problems
        self.from_cache = from_cache
        self.policy = skeleton.policy
        self._skeleton = skeleton
        self._views = views
        self._cache = cache
        self._settings = settings
        self._lock = Lock()
        self._has_states = False
        self._asked: tuple[str | None, Given | None] = (self.run.layout, None)
        self._opened: OpenedRun | None = None
        self._store: StateStore | None = None
        self._history: RunHistory | None = None
        self._gate_views: dict[tuple[str, str | None], GateView] = {}
        self._steps = RunSteps(self)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        layout: str | None = None,
        given: Given | None = None,
        cache_root: Path | None = None,
        policy: Policy = DEFAULT_POLICY,
        settings: Settings | None = None,
        may_glance: bool = False,
    ) -> OpenRun:
        """Opens a run, from the cache when nothing it was read from has changed.

        Args:
            path: The run folder.
            layout: Id of the reader to use; recognised by content by default.
            given: What else the user named: a trajectory, the state before the first stage.
            cache_root: The cache folder; the user's own by default.
            policy: Which outcomes count as ok.
            settings: What the user set; the defaults where not given.
            may_glance: Long sessions may be left to be read later: `grown` gives them whole.

        Raises:
            ArcviewError: it is not a run, or a required file of it is missing or wrong.
        """
        found = cls.cached(
            path,
            layout=layout,
            given=given,
            cache_root=cache_root,
            policy=policy,
            settings=settings,
            may_glance=may_glance,
        )
        if found is not None:
            return found
        from arcview.session.collector import held_collector  # nothing kept is read

        cache, views = cache_of(path, cache_root)
        with held_collector():
            skeleton, opened, history = read_run(path, layout, policy, given, may_glance=may_glance)
        settings = settings or Settings()
        run = cls(named(skeleton, path), views, cache, settings, from_cache=False)
        run._opened, run._history = opened, history
        run._asked = (layout or skeleton.run.layout, given)
        run.save_view("run", Skeleton, skeleton)
        return run

    @classmethod
    def cached(
        cls,
        path: Path,
        *,
        layout: str | None = None,
        given: Given | None = None,
        cache_root: Path | None = None,
        policy: Policy = DEFAULT_POLICY,
        settings: Settings | None = None,
        may_glance: bool = False,
    ) -> OpenRun | None:
        """As `open`, but only from the cache; null where that is not possible."""
        cache, views = cache_of(path, cache_root)
        skeleton = views.load("run", Skeleton, None)
        if (
            skeleton is None
            or skeleton.asked != asked_key(layout, given)
            or skeleton.policy != policy
            or (skeleton.run.is_glanced and not may_glance)
            or changed(skeleton.inputs)
        ):
            return None
        with suppress(ArcviewError, OSError):  # a cache that cannot be written may still serve
            cache.touch()
        run = cls(named(skeleton, path), views, cache, settings or Settings(), from_cache=True)
        run._asked = (layout or skeleton.run.layout, given)
        return run

    def grown(self) -> OpenRun | None:
        """The run with what only all of its steps tell; null where nothing more is to be known.

        Not for the UI's own thread: all steps are read where that was not done yet.
        """
        if not self.run.is_glanced:
            return None
        from arcview.readers.protocols import whole_of

        opened = whole_of(self.reader())
        skeleton, history = skeleton_of(opened, self.policy, self._skeleton.asked)
        skeleton = named(skeleton, Path(self.overview.path))
        run = OpenRun(skeleton, self._views, self._cache, self._settings, from_cache=False)
        run._opened, run._history, run._asked = opened, history, self._asked
        run.save_view("run", Skeleton, skeleton)
        return run

    @property
    def store(self) -> StateStore:
        """The states of the run as trees; nothing is ingested by asking for it."""
        with self._lock:
            if self._store is None:
                from arcview.states.store import StateStore

                chain = self.run.chain
                rules = joined_rules(self._settings.path_rules, chain.path_rules)
                run = replace(self.run, chain=replace(chain, path_rules=rules))
                limit_bytes = self._settings.cache_limit_mb << 20
                self._store = StateStore(run, self._cache, limit_bytes)
            return self._store

    def gate_view(self, gate: str, state: str | None = None) -> GateView:
        """One gate run in full.

        Args:
            gate: `1` … `n`, or `chain`.
            state: The state it ran on; by default the one its stage ended in, for the chain gate
                the one that is recorded.
        """
        end = self._end_of(gate)
        record = self._record(gate, state, end)
        at = record.state if record is not None else state or end
        found = self._gate_views.get((gate, at))
        if found is None:
            found = self._gate_views[gate, at] = self._cached_gate_view(gate, at, record)
        return found

    def trajectory(self, stage: int, state: str | None = None) -> Trajectory:
        """The steps of a stage, or of the pass that ended in a between-state.

        Args:
            stage: 1-based.
            state: The between-state; by default the stage's own trajectory.
        """
        return self._steps.trajectory(stage, state)

    def steps_lack(self, stage: int, state: str | None, word: str) -> bool:
        """Whether kept steps certainly hold a word nowhere, as `ViewCache.lacks`; cheap."""
        from arcview.model.trajectory import Trajectory  # 5 ms, and no first frame needs it

        name = steps_name(stage, state)
        return self._views.lacks(name, Trajectory, self._skeleton.stamp, word)

    def trajectory_refs(self, stage: int, state: str | None = None) -> tuple[TrajectoryRef, ...]:
        """Where the steps of a stage or pass lie; empty where none are recorded."""
        found = self.run.stage(stage)
        if found is None:
            return ()
        if state is None:
            return found.trajectories
        return next((p.trajectories for p in found.passes if p.state == state), ())

    def self_tests(self, stage: int, state: str | None = None) -> tuple[SelfTest, ...]:
        """Each time the agent ran tests or checked its own work in a stage, or in a pass after it.

        Args:
            stage: 1-based.
            state: The between-state that the pass ended in; by default the stage itself.
        """
        return self._steps.self_tests(stage, state)

    def forget_steps(self) -> None:
        """Lets go of what takes most memory; it is read again where somebody still wants it."""
        self._steps.forget()
        self._opened = None

    def is_long(self, stage: int, state: str | None = None) -> bool:
        """Whether the steps of a stage, or of a pass after it, take long to read."""
        return self._steps.is_long(stage, state)

    def kept_beginning(self, stage: int, state: str | None = None) -> Trajectory | None:
        """The first steps of what takes long to read, where they are known without it."""
        return self._steps.kept_beginning(stage, state)

    def knows_self_tests(self, stage: int) -> bool:
        """Whether those of a stage are there without reading its trajectory."""
        return self._steps.knows_self_tests(stage)

    def complete_overview(self) -> Overview:
        """The overview with steps and tool calls, for which every trajectory is read once."""
        if not self.overview.complete:
            counts: dict[int, StepCounts] = {}
            problems: list[Problem] = []
            for stage in self.run.stages:
                if stage.trajectories:
                    steps = self.trajectory(stage.index)
                    problems += steps.problems
                    counts[stage.index] = counts_of(steps)
            self.overview = with_steps(self.overview, counts)
            self._skeleton = replace(self._skeleton, overview=self.overview)
            if not self._note(problems):
                self.save_view("run", Skeleton, self._skeleton)
        return self.overview

    def text(self, path: str) -> str:
        """A file of the run by its path as the skeleton names it (spec, contract, log).

        Raises:
            BadInputError: it is not there or lies outside the run.
        """
        return self.reader().text(path)

    def spec(self, stage: int) -> str | None:
        """What the agent was told at a stage, or null where that is not recorded."""
        found = self.run.stage(stage)
        return self.text(found.spec_path) if found is not None and found.spec_path else None

    def contract(self, stage: int) -> str | None:
        """Names, signatures, constants and messages the stage promises, or null."""
        found = self.run.stage(stage)
        path = found.contract_path if found is not None else None
        return self.text(path) if path else None

    def all_problems(self) -> tuple[Problem, ...]:
        """`problems`, and what the ingest of the states found where there was one."""
        found = self._store.problems() if self._store is not None else ()
        return tuple(dict.fromkeys((*self.problems, *found)))

    def changed_on_disk(self) -> bool:
        """Whether a file the views come from is not what it was when the run was opened."""
        return changed(self._skeleton.inputs)

    def ensure_states(self) -> None:
        """Ingests the states where that is not done yet; not for the UI's own thread.

        Raises:
            ArcviewError: git is missing, or the cache cannot be written.
        """
        if not self._has_states:
            if not self.store.ready():
                self.store.ingest()
            self._has_states = True

    def reader(self) -> OpenedRun:
        """The run as its reader opened it; read again where only the cache was."""
        with self._lock:
            if self._opened is None:
                from arcview.readers.protocols import whole_of
                from arcview.readers.registry import open_run

                opened = open_run(Path(self.run.path), *self._asked)
                # What is kept of a long session may be more than a glance at it.
                is_whole = opened.run.is_glanced and not self.run.is_glanced
                self._opened = whole_of(opened) if is_whole else opened
            return self._opened

    def _note(self, problems: Iterable[Problem]) -> bool:
        """Keeps what details of the run showed to be wrong; false where all of it was known."""
        with self._lock:
            joined = tuple(dict.fromkeys((*self.problems, *problems)))
            if joined == self.problems:
                return False
            self.problems = joined
            self.overview = replace(self.overview, problems=joined)
            skeleton = replace(self._skeleton, overview=self.overview, problems=joined)
            self._skeleton = skeleton
        self.save_view("run", Skeleton, skeleton)
        return True

    def _record(self, gate: str, state: str | None, end: str | None) -> GateRecord | None:
        if gate == "chain":
            return self.run.gate(gate, state) or self.run.chain_gate()
        stage = self.run.stage(int(gate)) if gate.isdecimal() else None
        if stage is not None and state in (None, end):
            return stage_record(self.run, stage)
        return self.run.gate(gate, state)

    def _end_of(self, gate: str) -> str | None:
        stage = self.run.stage(int(gate)) if gate.isdecimal() else None
        return stage.end if stage is not None else None

    def _cached_gate_view(
        self, gate: str, state: str | None, record: GateRecord | None
    ) -> GateView:
        if record is None:
            row = self.overview.stage(int(gate)) if gate.isdecimal() else None
            absent = row.judgement.reason if row is not None and row.end == state else None
            return build_gate_view(gate, state, None, (), None, self.policy, absent=absent)
        name = f"gate-{gate}-{state}"
        kept = self.load_view(name, KeptGateView)
        if kept is not None:
            return restore(kept)
        reader = self.reader()
        if self._history is None:
            self._history = history_of(reader, self.policy)
        tests, history = reader.gate_tests(gate, state), self._history.of(gate, state)
        self._note(reader.problems())
        found = build_gate_view(gate, state, record, tests, history, self.policy)
        self.save_view(name, KeptGateView, keep(found))
        return found

    def load_view(self, name: str, type_: type[T]) -> T | None:
        """A view that was kept under this name, unless the run has changed since; null otherwise.

        What it depends on besides the files that the run was opened from is the caller's business.
        """
        return self._views.load(name, type_, self._skeleton.stamp)

    def save_view(self, name: str, type_: type[T], value: T) -> None:
        """Keeps a view; a cache that cannot be written costs time and nothing else."""
        with suppress(ArcviewError):
            self._cache.prepare()
            self._views.save(name, type_, self._skeleton.stamp, value)
