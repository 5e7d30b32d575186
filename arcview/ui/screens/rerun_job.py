"""One rerun while it runs: its thread feeds it, the screens read it. Touches no widget.

The thread tells the screen that there is something new, and not again before the screen looked:
200 MB of output must not become as many messages.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from textual.message import Message

from arcview.session.live_output import LiveOutput
from arcview.ui.screens.job import Job

if TYPE_CHECKING:
    from arcview.gates.results import RerunResult


class RerunMoved(Message):
    """Something of a rerun is new: output, an attempt, its end."""

    def __init__(self, job: RerunJob) -> None:
        super().__init__()
        self.job = job

    def can_replace(self, message: Message) -> bool:
        """A flood of them collapses."""
        return isinstance(message, RerunMoved) and message.job is self.job


class RerunJob(Job):
    """A gate that is being run again, as often as was asked for.

    Attributes:
        gate: Its id.
        state: What it runs on, by its label.
        times: How often.
        output: The end of what it prints.
        number: Which attempt it is at, from 1.
        results: What came of the attempts that are done.
    """

    def __init__(
        self, gate: str, state: str, times: int, expected_s: float | None, tell: Callable[[], None]
    ) -> None:
        super().__init__("making it ready")
        self.gate, self.state, self.times = gate, state, times
        self.expected_s = expected_s
        """How long one attempt takes, as far as anybody knows."""
        self.output = LiveOutput()
        self.number = 1
        self.results: tuple[RerunResult, ...] = ()
        self._tell = tell
        self._is_told = False

    # From its thread

    def feed(self, data: bytes) -> None:
        """Takes in what was printed."""
        self.output.feed(data)
        self.tell()

    def at(self, number: int, what: str) -> None:
        """Says which attempt it is at, and what it is doing."""
        if number > self.number:
            self.output.feed(f"── attempt {number} of {self.times} ──\n".encode())
        self.number = number
        if not self.is_cancelled:
            self.said = what
        self.tell()

    def end(self, results: tuple[RerunResult, ...], error: str | None = None) -> None:
        """It is over."""
        self.results, self.error = results, error
        self.ended = monotonic()
        self._tell()  # whether or not the screen has yet to look at something else

    def tell(self) -> None:
        """Lets the screen know that there is something new, unless it knows."""
        if not self._is_told:
            self._is_told = True
            self._tell()

    # From the screen

    def looked(self) -> None:
        """The screen is about to show what there is."""
        self._is_told = False
