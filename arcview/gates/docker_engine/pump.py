"""Takes what a container prints off the engine as fast as it comes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

from arcview.gates.frames import FrameReader

_RECEIVE_BYTES = 1 << 18


class Pump(threading.Thread):
    """Reads the output until its end.

    Args:
        source: The connection.
        on_output: Gets what was printed.
        limit_bytes: How much of it; the rest is read and dropped.

    Attributes:
        is_cut: The connection broke before the container ended.
        is_over_limit: There was more than the limit.
    """

    def __init__(
        self, source: socket.socket, on_output: Callable[[bytes], None], limit_bytes: int
    ) -> None:
        super().__init__(name="gate output", daemon=True)
        self._source = source
        self._on_output = on_output
        self._left_bytes = limit_bytes
        self._frames = FrameReader()
        self.is_cut = False
        self.is_over_limit = False
        self.unkept: OSError | None = None
        """Why what was printed cannot be kept here."""

    @property
    def is_whole(self) -> bool:
        """Whether all that was printed has come."""
        return self._frames.is_whole and not self.is_cut

    def run(self) -> None:
        """Reads on until the stream ends, or what it holds cannot be kept."""
        while data := self._receive():
            for part in self._frames.feed(data):
                kept = part[: self._left_bytes]
                self._left_bytes -= len(kept)
                self.is_over_limit = self.is_over_limit or len(kept) < len(part)
                try:
                    self._on_output(kept)
                except OSError as error:
                    self.unkept = error
                    return

    def _receive(self) -> bytes:
        try:
            return self._source.recv(_RECEIVE_BYTES)
        except OSError:  # the connection broke
            self.is_cut = True
            return b""
