"""Says on stderr what a command is doing as long as that takes: nothing while it is quick.

Imports nothing heavy.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from arcview.cli.parts import say

INTERVAL_S = 1.0


class Ticker:
    """Says every second what is being done, where that is not what was said last.

    Args:
        what: What is done first.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def doing(self, what: str) -> None:
        """From now on that is being done."""
        self._what = what

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_done.set()
        self._thread.join()

    def _run(self) -> None:
        said = None
        while not self._is_done.wait(INTERVAL_S):
            what = self._what
            if what != said:
                said = what
                say(f"{what} …")
