"""Gets what the panes show in threads and posts it to the run screen. Touches no widget."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from arcview.analysis.gate_view import GateView
from arcview.analysis.self_tests import SelfTest
from arcview.errors import ArcviewError, CancelledError
from arcview.model.patch import FileChange
from arcview.model.trajectory import Trajectory
from arcview.session.opened import OpenRun
from arcview.session.run_session_stops import StatePair, Stop, StopKind

T = TypeVar("T")


class _Loaded(Message, Generic[T]):
    """Something for one pane. Plain classes: a dataclass each would cost 0.4 ms of every start."""

    def __init__(self, place: Stop, value: T | None, error: str | None = None) -> None:
        super().__init__()
        self.place = place
        """The stop that it belongs to."""
        self.value = value
        """Null where nothing is recorded, or where it cannot be read."""
        self.error = error
        """Why it cannot be read."""


class GateLoaded(_Loaded[GateView]):
    """A gate view."""


class SelfTestsLoaded(_Loaded[tuple[SelfTest, ...]]):
    """What the agent tested at a stop; null where no trajectory is recorded."""


class StepsLoaded(_Loaded[Trajectory]):
    """The steps of a stop; null where none are recorded."""


class DiffLoaded(Message):
    """The changed files between two states, or why they cannot be had."""

    def __init__(
        self,
        pair: StatePair,
        changes: tuple[FileChange, ...] | None,
        error: str | None = None,
        notes: tuple[str, ...] = (),
        *,
        own: bool = False,
    ) -> None:
        super().__init__()
        self.pair = pair
        self.changes = changes
        self.error = error
        self.notes = notes
        self.own = own
        """It is what the stage itself changed."""


class OverviewCompleted(Message):
    """The overview has the steps of every stage now."""


class DiffProgress(Message):
    """How far the states are read; only the last one matters."""

    def __init__(self, done: int, total: int, what: str) -> None:
        super().__init__()
        self.done = done
        self.total = total
        self.what = what

    def can_replace(self, message: Message) -> bool:
        """A flood of them collapses."""
        return isinstance(message, DiffProgress)


class RunLoader:
    """Starts the workers of one run screen; a newer wish for a pane cancels the older one."""

    def __init__(self, screen: Screen[None], opened: OpenRun) -> None:
        self._screen = screen
        self._opened = opened

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
        """Whether they are there without reading a trajectory: `overview` keeps them too."""
        if not self._opened.trajectory_refs(stop.stage, between(stop)):
            return True
        return self._opened.overview.complete and stop.kind is not StopKind.BETWEEN

    def self_tests_now(self, stop: Stop) -> SelfTestsLoaded:
        """The self-tests of a stop, here and now."""
        if not self._opened.trajectory_refs(stop.stage, between(stop)):
            return SelfTestsLoaded(stop, None)
        tests, error = _try(lambda: self._opened.self_tests(stop.stage, between(stop)))
        return SelfTestsLoaded(stop, tests, error)

    def diff(self, pair: StatePair, *, own: bool) -> None:
        """Compares two states; on a first open they are read into the store before."""
        self._start("diff", lambda: self._post_diff(pair, own))

    def overview(self) -> None:
        """Counts the steps of every stage, where that is not known yet."""
        if not self._opened.overview.complete:
            self._start("overview", self._post_overview)

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
        self._post(self.self_tests_now(stop))
        if get_current_worker().is_cancelled:
            return
        if not self._opened.trajectory_refs(stop.stage, between(stop)):
            self._post(StepsLoaded(stop, None))
            return
        found, error = _try(lambda: self._opened.trajectory(stop.stage, between(stop)))
        self._post(StepsLoaded(stop, found, error))

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


def between(stop: Stop) -> str | None:
    """The state that names the pass whose steps belong to a stop; null for the stage's own."""
    return stop.state if stop.kind is StopKind.BETWEEN else None


def _try(get: Callable[[], T]) -> tuple[T | None, str | None]:
    """The value, or the one line that says why there is none."""
    try:
        return get(), None
    except ArcviewError as error:
        return None, str(error)
