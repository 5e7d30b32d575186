"""The engine of one sitting: opened once, when it is first needed, and let go of without waiting.

An engine that hangs must hold up nobody who leaves. Must not import the terminal.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Lock, Thread
from typing import TypeVar

from arcview.errors import CancelledError
from arcview.gates.engine import Engine
from arcview.gates.errors import EngineUnavailableError
from arcview.session.reruns_model import Cancelled, OnOutput

T = TypeVar("T")
_POLL_S = 0.05
_LEFT = "the run was left before the engine answered"


class SittingEngine:
    """May be used from several threads.

    Args:
        open_it: Opens the engine, which may take long.
        engine: One that is open already.
    """

    def __init__(self, open_it: Callable[[], Engine], engine: Engine | None = None) -> None:
        self._open_it = open_it
        self._engine = engine
        self._closed = 0
        """How often it was let go of."""
        self._lock = Lock()
        """Held for moments only, so that closing never waits."""
        self._opening = Lock()

    def get(self) -> Engine:
        """The engine, opened when it is first asked for.

        Raises:
            EngineUnavailableError: none answers, or it was let go of meanwhile.
        """
        closed = self._closed
        with self._opening:
            with self._lock:
                if self._engine is not None:
                    return self._engine
                if self._closed != closed:
                    raise EngineUnavailableError(_LEFT)
            coming = _in_daemon(self._open_it, "opening the engine")
            while self._closed == closed and not wait([coming], _POLL_S).done:
                pass
            with self._lock:
                if self._closed == closed:
                    self._engine = coming.result()
                    return self._engine
            coming.add_done_callback(_close)
            raise EngineUnavailableError(_LEFT)

    def close(self) -> None:
        """Lets go of it; one that is just being opened is closed as soon as it is there."""
        with self._lock:
            engine, self._engine = self._engine, None
            self._closed += 1
        if engine is not None:
            engine.close()

    def reap(self) -> int:
        """Has the engine remove what a crashed arcview left; 0 where it was let go of meanwhile.

        Raises:
            EngineUnavailableError: none answers, or it was let go of before.
        """
        closed, engine = self._closed, self.get()
        removing = _in_daemon(engine.reap, "removing what was left behind")
        while self._closed == closed and not wait([removing], _POLL_S).done:
            pass
        return removing.result() if removing.done() else 0


class ImageFetch:
    """Takes what is said while an image is fetched: each line once, though it comes many times.

    Args:
        begun: Called before the first line.
        on_output: Gets the lines.
        cancelled: Asked at every line.
    """

    def __init__(
        self, begun: Callable[[], None], on_output: OnOutput, cancelled: Cancelled
    ) -> None:
        self._begun, self._on_output, self._cancelled = begun, on_output, cancelled
        self._said: set[str] = set()

    def __call__(self, line: str) -> None:
        """Takes a line.

        Raises:
            CancelledError: somebody stopped it.
        """
        if self._cancelled():
            raise CancelledError("cancelled while the image was fetched")
        if not self._said:
            self._begun()
        if line not in self._said:
            self._said.add(line)
            self._on_output(f"{line}\n".encode())


def _in_daemon(get: Callable[[], T], name: str) -> Future[T]:
    """Does it in a daemon, since the program may end before that is done."""
    coming: Future[T] = Future()

    def work() -> None:
        try:
            coming.set_result(get())
        except BaseException as error:  # noqa: BLE001 -- raised where it is waited for
            coming.set_exception(error)

    Thread(target=work, name=name, daemon=True).start()
    return coming


def _close(coming: Future[Engine]) -> None:
    if coming.exception() is None:
        coming.result().close()
