"""Hands output to a reader in its own time, so that whoever makes it never waits.

A terminal that stands still would otherwise hold up a gate until that runs out of time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue

MOST_WAITING_BYTES = 64 << 20


class Unhurried:
    """A queue before a reader, with a thread of its own.

    Args:
        take: Gets the pieces, in order; may be slow.
        most_waiting_bytes: What waits beyond that is left out, and said so.
    """

    def __init__(
        self, take: Callable[[bytes], None], most_waiting_bytes: int = MOST_WAITING_BYTES
    ) -> None:
        self._take = take
        self._most_bytes = most_waiting_bytes
        self._pieces: SimpleQueue[bytes | None] = SimpleQueue()
        self._given_bytes = self._taken_bytes = self._left_out_bytes = 0
        self._thread = threading.Thread(target=self._run, name="showing output", daemon=True)
        self._thread.start()

    def feed(self, data: bytes) -> None:
        """Takes in a piece; never waits. For one thread at a time."""
        if self._given_bytes - self._taken_bytes > self._most_bytes:
            self._left_out_bytes += len(data)
            return
        self._given_bytes += len(data)
        self._pieces.put(data)

    def finish(self) -> None:
        """Waits until all is read."""
        if self._left_out_bytes:
            self._pieces.put(b"\n%d bytes not shown, but kept\n" % self._left_out_bytes)
        self._pieces.put(None)
        self._thread.join()

    def _run(self) -> None:
        with suppress(OSError):  # the reader is gone
            while (data := self._pieces.get()) is not None:
                self._take(data)
                self._taken_bytes += len(data)
