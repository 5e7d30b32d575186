"""The screens of an app as plain text, and waiting until nothing moves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from textual.pilot import Pilot
from textual.screen import Screen

from arcview.session.opened import OpenRun
from arcview.ui.application import ArcviewApp
from arcview.ui.screens.run import RunScreen
from arcview.ui.widgets.hint_bar import HintBar


def screen_text(app: ArcviewApp) -> str:
    """What is on the screen, one line a row, without the blanks at their ends."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


async def settle(pilot: Pilot[None]) -> None:
    """Waits until every worker is done and what it brought is on the screen."""
    for _ in range(3):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def press(pilot: Pilot[None], *keys: str) -> str:
    """Presses keys one after the other, waits each time, and returns the screen.

    What begins with `=` is typed as a text.
    """
    await settle(pilot)
    for key in keys:
        await pilot.press(*(key[1:] if key.startswith("=") else (key,)))
        await settle(pilot)
    assert isinstance(pilot.app, ArcviewApp)
    return screen_text(pilot.app)


def notice(app: ArcviewApp) -> str:
    """The last line of the screen."""
    return str(app.screen.query_one(HintBar).render())


@asynccontextmanager
async def on_screen(
    screen: Screen[None], size: tuple[int, int] = (160, 50)
) -> AsyncIterator[tuple[ArcviewApp, Pilot[None]]]:
    """An app with that first screen, settled."""
    app = ArcviewApp(screen)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        yield app, pilot
        # A fault of a worker becomes a line on the screen; in a test it is a failure.
        assert " failed: " not in notice(app)


RUN_CACHE = Path()
"""Set for each process of the tests by `conftest`."""


def open_run(path: Path) -> OpenRun:
    """An open run, from the shared cache where another test has opened it."""
    return OpenRun.open(path, cache_root=RUN_CACHE)


def run_screen(path: Path) -> RunScreen:
    """The run screen on a run folder."""
    return RunScreen(open_run(path), partial(open_run, path))
