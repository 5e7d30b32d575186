"""Reads a run that is not in the cache in a second process while the first imports Textual.

Both take about as long, and both hold the interpreter: side by side they cost one of the two. What
was read comes back through the cache, so a second process that fails costs time and nothing else.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from arcview.session.opened import OpenRun

_POLL_S = 0.004


class ReadAhead:
    """A second process at work."""

    def __init__(self, pid: int | None) -> None:
        self._pid = pid

    def wait(self, limit_s: float | None = None) -> bool:
        """Waits until it has ended; false where that takes longer than the limit."""
        end = None if limit_s is None else time.monotonic() + limit_s
        while self._pid is not None:
            try:
                ended, _ = os.waitpid(self._pid, os.WNOHANG)
            except ChildProcessError:
                ended = self._pid
            if ended:
                self._pid = None
            elif end is not None and time.monotonic() > end:
                return False
            else:
                time.sleep(_POLL_S)
        return True

    def stop(self) -> None:
        """Ends it, where nobody waits for what it reads any more."""
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGTERM)
            self.wait()


def read_ahead(open_run: Callable[[], OpenRun]) -> ReadAhead:
    """Starts to read what the first frame of a run needs.

    To be called while this process has one thread. On a system without `fork` nothing is started.
    """
    try:
        pid = os.fork()
    except (AttributeError, OSError):
        return ReadAhead(None)
    if pid:
        return ReadAhead(pid)
    status = 1
    try:
        _be_quiet()
        _read(open_run())
        status = 0
    finally:
        # Neither the parent's exit handlers nor a traceback: the parent reads again and says why.
        os._exit(status)


def _be_quiet() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _read(opened: OpenRun) -> None:
    """Makes the views of the place where the run screen begins; each is kept in the cache."""
    from arcview.session.run_session import RunSession

    overview = opened.overview
    stop = RunSession(opened.run, overview.first_failing_gate).stop
    opened.gate_view(stop.gate, stop.state)
    if opened.is_long(stop.stage):
        from arcview.session.long_trajectory import beginning

        beginning(opened, stop.stage)
    elif opened.trajectory_refs(stop.stage):
        opened.self_tests(stop.stage)
