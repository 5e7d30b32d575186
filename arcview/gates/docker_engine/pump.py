"""Takes what a container prints off the engine as fast as it comes."""

from __future__ import annotations

import socket
import threading

from arcview.gates.docker_engine.stream_frames import FrameReader
from arcview.gates.output import GateOutput

_RECEIVE_BYTES = 1 << 18


class Pump(threading.Thread):
    """Reads the output until its end.

    Args:
        source: The connection.
        output: Takes what was printed.

    Attributes:
        is_cut: The connection broke before the container ended.
    """

    def __init__(self, source: socket.socket, output: GateOutput) -> None:
        super().__init__(name="gate output", daemon=True)
        self._source = source
        self._output = output
        self._frames = FrameReader()
        self.is_cut = False

    @property
    def is_whole(self) -> bool:
        """Whether all that was printed has come."""
        return self._frames.is_whole and not self.is_cut

    def run(self) -> None:
        """Reads on until the stream ends, or what it holds cannot be kept."""
        while data := self._receive():
            if not all(map(self._output.take, self._frames.feed(data))):
                return

    def _receive(self) -> bytes:
        try:
            return self._source.recv(_RECEIVE_BYTES)
        except OSError:  # the connection broke
            self.is_cut = True
            return b""
