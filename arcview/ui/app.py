"""The way in: from a path to a running application and its exit code.

Imports Textual inside the function, after the collector is held: 10 ms of every start.
"""

from __future__ import annotations

import gc
import io
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.errors import ArcviewError, UnknownLayoutError
from arcview.files import is_dir

_SWITCH_S = 0.001
"""How long a thread at work may keep the interpreter while a key waits; a key waits several times,
and each time this long. Python's own 5 ms are made for throughput."""
_PATIENCE_S = 0.25
"""How long the first frame may wait for a run that is read for the first time."""

if TYPE_CHECKING:
    from textual.screen import Screen

    from arcview.config import LabelFlags, Settings
    from arcview.readers.protocols import Given
    from arcview.session.opened import OpenRun
    from arcview.ui.ahead import ReadAhead
    from arcview.ui.application import ArcviewApp


def run_app(
    path: Path,
    *,
    settings: Settings | None = None,
    layout: str | None = None,
    given: Given | None = None,
    at: str | None = None,
    labels: LabelFlags | None = None,
) -> int:
    """Opens the screens on a run or on a folder of runs; returns the exit code.

    Args:
        path: A run, or a folder with runs below it.
        settings: The person's settings.
        layout: Id of the reader to use; recognised by content by default.
        given: What else the user named: a trajectory, the state before the first stage.
        at: An address in the run to go to.
        labels: Who labels, where and how; else the environment and the settings say so.

    Raises:
        ArcviewError: there is no run, or it cannot be read.
    """
    # Importing makes objects that all stay: collecting meanwhile finds nothing.
    gc.disable()
    from arcview.session.opened import OpenRun

    open_run = partial(
        OpenRun.open, layout=layout, given=given, settings=settings, may_glance=at is None
    )
    ahead = None
    if at is None and OpenRun.cached(path, **open_run.keywords) is None:
        from arcview.ui.ahead import read_ahead

        ahead = read_ahead(partial(open_run, path))
    from arcview.ui.application import ArcviewApp

    ready = partial(first_screen, path, open_run, at, may_be_folder=layout is None)
    screen = _screen_to_start_on(path, ahead, ready)
    app = ArcviewApp(screen, theme=settings.theme if settings else None)
    app.label_flags = labels
    _let_keys_through()
    return _run(app)


def _screen_to_start_on(
    path: Path, ahead: ReadAhead | None, ready: Callable[[], Screen[None]]
) -> Screen[None]:
    """What is ready soon, else a screen that waits for it."""
    if ahead is None or ahead.wait(_PATIENCE_S):
        return ready()
    from arcview.ui.screens.opening import OpeningScreen

    return OpeningScreen(str(path), ahead, ready)


def _let_keys_through() -> None:
    """Collects nothing that is there by now, and has a thread at work give way sooner."""
    gc.freeze()
    gc.enable()
    sys.setswitchinterval(_SWITCH_S)


def _run(app: ArcviewApp) -> int:
    write_whole_frames()
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0


def run_compare(a: Path, b: Path, *, settings: Settings | None = None) -> int:
    """Opens the screen that shows two runs beside each other; returns the exit code.

    Raises:
        ArcviewError: the program ended on a fault.
    """
    from arcview.session.opened import OpenRun
    from arcview.ui.application import ArcviewApp
    from arcview.ui.screens.compare import CompareScreen

    opens = (partial(OpenRun.open, path, settings=settings) for path in (a, b))
    app = ArcviewApp(
        CompareScreen(*opens, returns=False), theme=settings.theme if settings else None
    )
    return _run(app)


def write_whole_frames() -> None:
    """Gives Textual, which draws on standard error, a stream that keeps what is left of a write.

    A write to a terminal is partial whenever a program, such as git, is started meanwhile. With
    `PYTHONUNBUFFERED` there is no buffer below the text layer, which then drops the rest.
    """
    stream = sys.__stderr__
    if stream is not None and isinstance(stream.buffer, io.RawIOBase):
        whole = io.BufferedWriter(stream.buffer)
        sys.__stderr__ = io.TextIOWrapper(  # type: ignore[misc]
            whole, encoding=stream.encoding, errors=stream.errors
        )


def first_screen(
    path: Path, open_run: Callable[[Path], OpenRun], at: str | None, *, may_be_folder: bool
) -> Screen[None]:
    """The run if the path is one, else the list of the runs below it."""
    from arcview.ui.screens.run import RunScreen

    try:
        opened = open_run(path)
    except UnknownLayoutError:
        if not (may_be_folder and is_dir(path) and _holds_runs(path)):
            raise
        if at is not None:
            raise ArcviewError(f"--at {at}: {path} is a folder of runs, not a run") from None
        from arcview.ui.screens.library import LibraryScreen

        return LibraryScreen(path, open_run)
    if at is None:
        return RunScreen(opened, partial(open_run, path))
    from arcview.session.run_session_address import destination, parse_address
    from arcview.session.run_session_stops import stops_of

    place = destination(parse_address(at), stops_of(opened.run))
    return RunScreen(opened, partial(open_run, path), at=place)


def _holds_runs(path: Path) -> bool:
    from arcview.readers.registry import iter_runs

    return next(iter(iter_runs(path)), None) is not None
