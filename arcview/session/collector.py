"""Keeps the garbage collector away while much is read: it finds nothing and takes half the time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class _Holders:
    """How many hold the collector; it is one for the process."""

    def __init__(self) -> None:
        self._count = 0
        self._was_on = self._freezes = False
        self._lock = Lock()

    @contextmanager
    def hold(self, *, is_much: bool = False) -> Iterator[None]:
        with self._lock:
            self._freezes = is_much or (self._freezes and bool(self._count))
            if not self._count:
                self._was_on = gc.isenabled()
                gc.disable()
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1
                if not self._count and self._was_on:
                    if self._freezes:
                        gc.freeze()
                    gc.enable()


held_collector = _Holders().hold
"""Holds the collector until the last of those who asked for it is done.

Of much, what is there afterwards is never looked at again: walking through the steps of a long
session would stop the screen for a tenth of a second every now and then. Whoever has asked for much
lets go of it by hand.
"""
