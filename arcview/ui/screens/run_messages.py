"""What the threads of the run screen bring: messages, plain and immutable.

Plain classes: a dataclass each would cost 0.4 ms of every start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from textual.message import Message

from arcview.analysis.gate_view import FailingTest, GateView
from arcview.analysis.self_tests import SelfTest
from arcview.model.patch import FileChange
from arcview.session.opened import OpenRun
from arcview.session.run_session_stops import StatePair, Stop

if TYPE_CHECKING:
    from arcview.model.trajectory import Trajectory
    from arcview.session.replay import Snapshot
    from arcview.session.self_test_depth import SelfTestDepth
    from arcview.session.trail import LineSource
    from arcview.ui.rows.sections import Section

T = TypeVar("T")


class _Loaded(Message, Generic[T]):
    """Something for one pane."""

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


class DepthLoaded(Message):
    """What the self-tests of a stop were worth; null where that cannot be found out."""

    def __init__(self, place: Stop, value: SelfTestDepth | None) -> None:
        super().__init__()
        self.place = place
        self.value = value


class StepsLoaded(_Loaded["Trajectory"]):
    """The steps of a stop; null where none are recorded."""

    def __init__(
        self,
        place: Stop,
        value: Trajectory | None,
        error: str | None = None,
        *,
        is_beginning: bool = False,
    ) -> None:
        super().__init__(place, value, error)
        self.is_beginning = is_beginning
        """More of them are being read."""


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


class Reopened(Message):
    """The run was read again, or why that did not work."""

    def __init__(
        self, opened: OpenRun | None, error: str | None = None, notice: str | None = None
    ) -> None:
        super().__init__()
        self.opened = opened
        self.error = error
        self.notice = notice
        """What is new in it."""


class ChangedOnDisk(Message):
    """Files of the run are not what they were when it was opened."""


class TrailFound(Message):
    """Where a failing test leads, or why that is not known."""

    def __init__(self, test: FailingTest, sections: tuple[Section, ...]) -> None:
        super().__init__()
        self.test = test
        self.sections = sections


class LineTraced(Message):
    """Which stage and step wrote a line of a file."""

    def __init__(self, path: str, line: int, source: LineSource | None, error: str | None) -> None:
        super().__init__()
        self.path = path
        self.line = line
        self.source = source
        self.error = error


class FileBlamed(Message):
    """Who wrote each line of a file of a state; empty where that is not known."""

    def __init__(self, state: str, path: str, sources: tuple[LineSource, ...]) -> None:
        super().__init__()
        self.state = state
        self.path = path
        self.sources = sources


class ReplayLoaded(Message):
    """The workspace after a step, or why it cannot be had."""

    def __init__(
        self,
        state: str | None,
        place: int,
        snapshot: Snapshot | None,
        changes: tuple[FileChange, ...],
        error: str | None = None,
    ) -> None:
        super().__init__()
        self.state = state
        """The state that the steps led to."""
        self.place = place
        self.snapshot = snapshot
        self.changes = changes
        self.error = error


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
