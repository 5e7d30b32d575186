"""The end of what a running command prints, bounded however much it prints; fed by any thread.

Knows nothing of screens. The whole of it is kept in a file by whoever runs the command.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from threading import Lock

KEPT_BYTES = 256 * 1024
"""Some thousand lines: what a person can scroll back through while more arrives."""


@dataclass(frozen=True, slots=True)
class Tail:
    """What was printed last."""

    lines: tuple[str, ...] = ()
    """As printed: hostile, not cleaned."""
    first_line: int = 1
    """1-based number of the first of them in all of the output."""
    total_bytes: int = 0
    """How much was printed in all."""
    is_cut: bool = False
    """More was printed before these lines."""


class LiveOutput:
    """Keeps the last `KEPT_BYTES`; taking in a piece costs the same however much came before."""

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._pieces: deque[bytes] = deque()
        self._held_bytes = self._total_bytes = self._dropped_lines = 0
        self._lock = Lock()

    def feed(self, data: bytes) -> None:
        """Takes in what was printed."""
        with self._lock:
            self._total_bytes += len(data)
            excess = len(data) - self._kept_bytes
            if excess > 0:
                self._dropped_lines += data.count(b"\n", 0, excess)
                data = data[excess:]
            self._pieces.append(data)
            self._held_bytes += len(data)
            while self._held_bytes - len(self._pieces[0]) >= self._kept_bytes:
                dropped = self._pieces.popleft()
                self._held_bytes -= len(dropped)
                self._dropped_lines += dropped.count(b"\n")

    @property
    def total_bytes(self) -> int:
        """How much was printed so far."""
        return self._total_bytes

    def tail(self) -> Tail:
        """The lines that are kept, as they are now."""
        with self._lock:
            data = b"".join(self._pieces)
            total, dropped = self._total_bytes, self._dropped_lines
        text = data.decode("utf-8", "replace")
        lines = tuple(text.removesuffix("\n").split("\n")) if text else ()
        return Tail(lines, dropped + 1, total, total > len(data))
