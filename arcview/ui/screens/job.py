"""What a thread does while screens look on: how far it is, and how it is stopped.

Touches no widget.
"""

from __future__ import annotations

from threading import Event
from time import monotonic


class Job:
    """Something that runs in a thread.

    Attributes:
        said: What it is doing, in some words.
        error: Why it could not be done, in one line.
        ended: When it was over, on the same clock as `started`; null while it runs.
    """

    def __init__(self, said: str) -> None:
        self.said = said
        self.error: str | None = None
        self.started = monotonic()
        self.ended: float | None = None
        self._stop = Event()

    def stop(self) -> None:
        """Lets it end early; what came of it so far is kept."""
        self._stop.set()
        self.said = "stopping; containers are removed"

    @property
    def is_cancelled(self) -> bool:
        """Somebody stopped it."""
        return self._stop.is_set()

    @property
    def is_running(self) -> bool:
        """Whether it is not over yet."""
        return self.ended is None

    def elapsed_s(self, now: float | None = None) -> float:
        """How long it has been going on, or went on."""
        return max(0.0, (self.ended or now or monotonic()) - self.started)
