"""What is on the screen while a large run is read for the first time."""

from __future__ import annotations

from collections.abc import Callable

from textual import on, work
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen

from arcview.errors import ArcviewError
from arcview.ui.ahead import ReadAhead
from arcview.ui.application import ArcviewApp
from arcview.ui.safe import one_line
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.run_content import say
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.panes import ListPane


class ReadToTheEnd(Message):
    """The second process has ended."""


class OpeningScreen(BaseScreen):
    """Says that a run is read, then gives way to it."""

    def __init__(self, name: str, ahead: ReadAhead, ready: Callable[[], Screen[None]]) -> None:
        """Makes the screen.

        Args:
            name: The path as the person gave it.
            ahead: The process that reads.
            ready: Makes the screen that follows; raises `ArcviewError` where there is none.
        """
        super().__init__()
        self._said = f"… reading {one_line(name)} for the first time"
        self._ahead = ahead
        self._ready = ready

    def compose(self) -> ComposeResult:
        """One remark and the line of keys."""
        yield ListPane(id="text")
        yield HintBar()

    def on_mount(self) -> None:
        """Begins to wait."""
        say(self.query_one(ListPane), self._said)
        self._wait()

    @work(thread=True, exit_on_error=False, group="open", description="reading")
    def _wait(self) -> None:
        self._ahead.wait()
        self.post_message(ReadToTheEnd())

    @on(ReadToTheEnd)
    def _read_to_the_end(self) -> None:
        try:
            following = self._ready()
        except ArcviewError as error:
            app = self.app
            if isinstance(app, ArcviewApp):
                app.fail(error)
        else:
            self.app.push_screen(following)

    def on_unmount(self) -> None:
        """Nobody waits any more."""
        self._ahead.stop()
