"""Gets labels into their file in a thread while another program holds it; keys go on meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from threading import Lock

from textual.app import App
from textual.worker import get_current_worker

from arcview.annotations.log_file import HELD, PATIENCE_S, HeldError, StoreError
from arcview.session.annotate import AnnotateSession, CaseChange


def said_of(change: CaseChange, session: AnnotateSession) -> str:
    """What came of a key, and that no file has it yet where that is so."""
    waits = change.saved and session.store.pending
    return f"{change.notice}; not saved yet: {HELD}" if waits else change.notice


class PendingLabels:
    """The labels of one run that no file has yet.

    Args:
        app: The program; its worker outlives the screen of the run.
        session: The labels.
        arrive: Has something called on the thread of the screen; may be called from any thread.
        told: Told when something was saved, with nothing, or why it could not be.
    """

    def __init__(
        self,
        app: App[object],
        session: AnnotateSession,
        arrive: Callable[[Callable[[], None]], None],
        told: Callable[[str | None], None],
    ) -> None:
        self._app, self._session = app, session
        self._arrive, self._told = arrive, told
        self._is_busy = False
        self._lock = Lock()
        session.store.when_held = partial(arrive, self.start)

    def start(self) -> None:
        """Begins to save what is pending, unless a thread is at it."""
        with self._lock:
            if self._is_busy or not self._session.store.pending:
                return
            self._is_busy = True
        self._app.run_worker(
            self._save,
            thread=True,
            exit_on_error=False,
            group="saving labels",
            description="saving labels",
        )

    def _save(self) -> None:
        worker, store = get_current_worker(), self._session.store
        while True:
            error: StoreError | None = None
            try:
                store.flush()
            except StoreError as failed:
                error = failed
            with self._lock:
                ends = worker.is_cancelled or not store.pending
                self._is_busy = not ends
            self._arrive(partial(self._show, None if error is None else str(error)))
            if ends:
                return
            if error is not None and not isinstance(error, HeldError):  # that one has waited
                time.sleep(PATIENCE_S)

    def _show(self, error: str | None) -> None:
        self._session.unsaved = error
        self._told(error)
        self.start()  # a run that is read again ends every thread
