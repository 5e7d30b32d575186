"""Gets what the panes show in threads and posts it to the run screen. Touches no widget."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from arcview.analysis.gate_view import FailingTest
from arcview.errors import ArcviewError, CancelledError
from arcview.session.opened import OpenRun
from arcview.session.run_session_stops import StatePair, Stop, StopKind
from arcview.ui.screens.run_messages import (
    ChangedOnDisk,
    DepthLoaded,
    DiffLoaded,
    DiffProgress,
    FileBlamed,
    GateLoaded,
    LineTraced,
    OverviewCompleted,
    Reopened,
    ReplayLoaded,
    SelfTestsLoaded,
    StepsLoaded,
    TrailFound,
)

if TYPE_CHECKING:
    from arcview.session.evidence import EvidenceFinder
    from arcview.session.replay import StageReplay
    from arcview.session.trail import TrailFinder

T = TypeVar("T")


class RunLoader:
    """Starts the workers of one run screen; a newer wish for a pane cancels the older one."""

    def __init__(
        self, screen: Screen[None], opened: OpenRun, reopen: Callable[[], OpenRun]
    ) -> None:
        self._screen = screen
        self._opened = opened
        self._reopen = reopen
        self._finder: EvidenceFinder | None = None
        self._is_first = True
        self._blaming, self._making = Lock(), Lock()
        self._replays: dict[str, StageReplay] = {}

    def gate(self, stop: Stop) -> None:
        """Loads the gate of a stop."""
        self._start("gate", lambda: self._post_gate(stop))

    def gate_now(self, stop: Stop) -> GateLoaded:
        """The gate of a stop, here and now."""
        view, error = _try(lambda: self._opened.gate_view(stop.gate, stop.state))
        return GateLoaded(stop, view, error)

    def steps(self, stop: Stop) -> None:
        """Loads the self-tests of a stop and then its steps, which take longer."""
        self._start("steps", lambda: self._post_steps(stop))

    def knows_self_tests(self, stop: Stop) -> bool:
        """Whether they are there without reading a trajectory.

        Where the overview is complete, those of all stages were kept with it; of a run that comes
        from the cache, those of the place where it opens (`ui.ahead`).
        """
        first, self._is_first = self._is_first, False
        if not self._opened.trajectory_refs(stop.stage, between(stop)):
            return True
        if stop.kind is StopKind.BETWEEN:
            return False
        if self._opened.overview.complete:
            return True
        return first and self._opened.from_cache and self._opened.knows_self_tests(stop.stage)

    def self_tests_now(self, stop: Stop) -> SelfTestsLoaded:
        """The self-tests of a stop, here and now."""
        if not self._opened.trajectory_refs(stop.stage, between(stop)):
            return SelfTestsLoaded(stop, None)
        tests, error = _try(lambda: self._opened.self_tests(stop.stage, between(stop)))
        return SelfTestsLoaded(stop, tests, error)

    def diff(self, pair: StatePair, *, own: bool) -> None:
        """Compares two states; on a first open they are read into the store before."""
        self._start("diff", lambda: self._post_diff(pair, own))

    def depth(self, stop: Stop) -> None:
        """Finds out what the self-tests of a stop were worth; its states are read by now."""
        if stop.kind is not StopKind.CHAIN and self._opened.trajectory_refs(
            stop.stage, between(stop)
        ):
            self._start("depth", lambda: self._post_depth(stop))

    def overview(self) -> None:
        """Counts the steps of every stage, where that is not known yet."""
        if not self._opened.overview.complete:
            self._start("overview", self._post_overview)

    def reopen(self) -> None:
        """Reads the run again."""
        self._start("run again", lambda: self._post(Reopened(*_try(self._reopen))))

    def look_for_changes(self) -> None:
        """Looks whether the run is still what was opened."""
        self._start("changes", self._post_changes)

    def trail(self, stop: Stop, test: FailingTest) -> None:
        """Follows a failing test to the code, the step and the stage it comes from."""
        self._start("trail", lambda: self._post_trail(stop, test))

    def trace_line(self, state: str, path: str, line: int) -> None:
        """Finds out which stage and step wrote a line."""
        self._start("trail", lambda: self._post_line(state, path, line))

    def trace_replayed(self, state: str | None, place: int, path: str, line: int) -> None:
        """The same for a line as it stood after a step (0-based) on the way to a state."""
        self._start("trail", lambda: self._post_replayed_line(state, place, path, line))

    def blame(self, state: str, path: str) -> None:
        """Finds out who wrote each line of a file; one file after the other."""
        self._start(f"authors of {state}/{path}", lambda: self._post_blame(state, path))

    def replay(self, state: str | None, place: int) -> None:
        """Finds out how the workspace stood after a step (0-based) on the way to a state."""
        self._start("diff", lambda: self._post_replay(state, place))

    def _start(self, group: str, work: Callable[[], None]) -> None:
        self._screen.run_worker(
            work,
            thread=True,
            exclusive=True,
            exit_on_error=False,
            group=group,
            description=f"loading {group}",
        )

    def _post(self, message: Message) -> None:
        if not get_current_worker().is_cancelled:
            self._screen.post_message(message)

    def _post_gate(self, stop: Stop) -> None:
        self._post(self.gate_now(stop))

    def _post_steps(self, stop: Stop) -> None:
        if self._opened.is_long(stop.stage, between(stop)):
            self._post_long_steps(stop)
            return
        self._post(self.self_tests_now(stop))
        if get_current_worker().is_cancelled:
            return
        if not self._opened.trajectory_refs(stop.stage, between(stop)):
            self._post(StepsLoaded(stop, None))
            return
        found, error = _try(lambda: self._opened.trajectory(stop.stage, between(stop)))
        self._post(StepsLoaded(stop, found, error))

    def _post_long_steps(self, stop: Stop) -> None:
        """The first steps at once, then all of them, and at last what was tested in them."""
        # Only what is long needs these.
        from arcview.session.long_trajectory import beginning, has_more_stages

        if self._opened.kept_beginning(stop.stage, between(stop)) is None:
            first, _ = _try(lambda: beginning(self._opened, stop.stage, between(stop)))
            if first is not None:
                self._post(StepsLoaded(stop, first, is_beginning=True))
        found, error = _try(lambda: self._opened.trajectory(stop.stage, between(stop)))
        if found is not None and has_more_stages(self._opened.run, found):
            grown, _ = _try(self._opened.grown)
            if grown is not None:
                _try(lambda: grown.gate_view(stop.gate, stop.state))  # here, not between two keys
                times = len(grown.run.stages)
                what = f"the user spoke {times:,} times in this session: each time begins a stage"
                self._post(Reopened(grown, notice=what))
                return
        self._post(StepsLoaded(stop, found, error))
        if not get_current_worker().is_cancelled:
            self._post(self.self_tests_now(stop))

    def _post_diff(self, pair: StatePair, own: bool) -> None:
        if pair.missing is not None or pair.old is None or pair.new is None:
            self._post(DiffLoaded(pair, None, pair.missing))
            return
        try:
            self._ingest()
            store = self._opened.store
            changes = store.changes(pair.old, pair.new)
            notes = store.notes(pair.old, pair.new)
            self._post(DiffLoaded(pair, changes, notes=notes, own=own))
        except CancelledError:
            return
        except ArcviewError as error:
            self._post(DiffLoaded(pair, None, str(error)))

    def _ingest(self) -> None:
        store = self._opened.store
        if store.ready():
            return
        worker = get_current_worker()

        def progress(done: int, total: int, what: str) -> None:
            self._post(DiffProgress(done, total, what))

        store.ingest(progress, lambda: worker.is_cancelled)

    def _post_overview(self) -> None:
        worker = get_current_worker()
        for stage in self._opened.run.stages:
            if worker.is_cancelled:
                return
            _try(partial(self._opened.self_tests, stage.index))
        overview, _ = _try(self._opened.complete_overview)
        if overview is not None:
            self._post(OverviewCompleted())

    def _post_changes(self) -> None:
        if self._opened.changed_on_disk():
            self._post(ChangedOnDisk())

    def _post_depth(self, stop: Stop) -> None:
        from arcview.session.self_test_depth import self_test_depth

        finder = self._evidence()
        found, _ = _try(lambda: self_test_depth(self._opened, finder, stop.stage, between(stop)))
        self._post(DepthLoaded(stop, found))

    def _evidence(self) -> EvidenceFinder:
        with self._making:
            if self._finder is None:
                from arcview.session.evidence import EvidenceFinder  # no first frame needs it

                self._finder = EvidenceFinder(self._opened)
            return self._finder

    def _trails(self) -> TrailFinder:
        finder = self._evidence()
        with self._making:
            return finder.trails

    def _post_trail(self, stop: Stop, test: FailingTest) -> None:
        from arcview.ui.rows.sections import Section
        from arcview.ui.rows.trail import trail_sections

        try:
            if stop.state is None:
                raise ArcviewError("the state that the gate ran on is not recorded")
            self._ingest()
            trail = self._trails().trail(stop.stage, stop.state, test, stop.gate)
            sections = trail_sections(trail, self._trails().files(stop.state), stop.stage)
        except CancelledError:
            return
        except ArcviewError as error:
            sections = (Section("Where it comes from", f"not known: {error}\n"),)
        self._post(TrailFound(test, sections))

    def _post_blame(self, state: str, path: str) -> None:
        with self._blaming:
            if get_current_worker().is_cancelled:
                return
            sources, _ = _try(lambda: self._trails().sources(state, path))
        self._post(FileBlamed(state, path, sources or ()))

    def _replay_of(self, state: str | None) -> StageReplay:
        """The replay of the steps that led to a state.

        Raises:
            ArcviewError: there is nothing to begin with.
        """
        from arcview.session.replay import StageReplay  # only who replays needs it

        if state is None:
            raise ArcviewError("the state that the steps led to is not recorded")
        self._ingest()
        if state not in self._replays:
            trails = self._trails()
            self._replays[state] = StageReplay(
                self._opened, trails.attribution, trails.workspace, state
            )
        replay = self._replays[state]
        if replay.missing is not None:
            raise ArcviewError(replay.missing)
        return replay

    def _post_replay(self, state: str | None, place: int) -> None:
        try:
            found = self._replay_of(state).at(place)
            changes = tuple(patch.change for patch in found.patches)
            if found.step_state not in (None, found.base):
                changes = self._opened.store.changes(found.base, found.step_state or "")
        except CancelledError:
            return
        except ArcviewError as error:
            self._post(ReplayLoaded(state, place, None, (), str(error)))
        else:
            self._post(ReplayLoaded(state, place, found, changes))

    def _post_line(self, state: str, path: str, line: int) -> None:
        source, error = _try(lambda: self._trails().source(state, path, line))
        self._post(LineTraced(path, line, source, error))

    def _post_replayed_line(self, state: str | None, place: int, path: str, line: int) -> None:
        source, error = _try(lambda: self._replay_of(state).source(place, path, line))
        self._post(LineTraced(path, line, source, error))


def between(stop: Stop) -> str | None:
    """The state that names the pass whose steps belong to a stop; null for the stage's own."""
    return stop.state if stop.kind is StopKind.BETWEEN else None


def _try(get: Callable[[], T]) -> tuple[T | None, str | None]:
    """The value, or the one line that says why there is none."""
    try:
        return get(), None
    except ArcviewError as error:
        return None, str(error)
