"""What a gate prints, on its way to whoever keeps it: up to a limit, whatever the engine.

Imports nothing of an engine.
"""

from __future__ import annotations

from collections.abc import Callable

from arcview.errors import ArcviewError


class GateOutput:
    """Filled by one thread, watched by another.

    Args:
        keep: Gets what was printed.
        limit_bytes: How much of it; the rest is dropped.

    Attributes:
        is_over_limit: There was more than the limit.
    """

    def __init__(self, keep: Callable[[bytes], None], limit_bytes: int) -> None:
        self._keep = keep
        self._left_bytes = limit_bytes
        self._unkept: OSError | None = None
        self.is_over_limit = False

    def take(self, data: bytes) -> bool:
        """Hands on what was printed; says whether there is a use for more."""
        kept = data[: self._left_bytes]
        self._left_bytes -= len(kept)
        self.is_over_limit = self.is_over_limit or len(kept) < len(data)
        try:
            self._keep(kept)
        except OSError as error:
            self._unkept = error
        return self._unkept is None

    def check(self) -> None:
        """Looks whether all of it was kept.

        Raises:
            ArcviewError: it was not: the disk of this machine is full, say, which no gate is to
                blame for.
        """
        if self._unkept is not None:
            why = self._unkept.strerror or str(self._unkept)
            raise ArcviewError(f"what the gate prints cannot be kept: {why}")
