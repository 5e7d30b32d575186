"""The Textual application: themes, the command palette, and how a run gets onto the screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual.actions import ActionParseResult
from textual.app import App
from textual.binding import BindingType
from textual.dom import DOMNode
from textual.screen import Screen

from arcview.session.commands import Context
from arcview.ui.bindings import bindings
from arcview.ui.screens.base import BaseScreen, say_on_top
from arcview.ui.theme import DARK, LIGHT, THEMES
from arcview.ui.widgets.hint_bar import HintBar

if TYPE_CHECKING:
    from arcview.config import LabelFlags
    from arcview.ui.screens.annotate_labels import Labels

_STYLES = ("app.tcss", "screens/run.tcss")


class ArcviewApp(App[None], inherit_bindings=False):
    """Shows one run, or the runs below a folder."""

    TITLE = "arcview"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.APP)

    def __init__(self, first: Screen[None], *, theme: str | None = None) -> None:
        # Textual reads the styles of a screen when it is pushed, and the first one never is.
        super().__init__(css_path=[*_STYLES, *first.css_path])
        self._first = first
        self.failure: Exception | None = None
        """What ended the app before its time."""
        self.label_flags: LabelFlags | None = None
        """What the command line says of labelling."""
        self.labels: Labels | None = None
        """What labelling needs; made when it is first needed."""
        self.reruns_confirmed = False
        """Whether the person was asked in this sitting before a gate was run again."""
        for each in THEMES:
            self.register_theme(each)
        self.theme = theme if theme in self.available_themes else DARK.name

    def get_default_screen(self) -> Screen[None]:
        """The first screen, without an empty one below it."""
        return self._first

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Does what a key is bound to; what the key before had to say is no longer news."""
        for bar in self.screen.query(HintBar):
            bar.drop_notice()
        return await super().run_action(action, default_namespace, namespaces)

    def action_palette(self) -> None:
        """Finds commands by name, and stages by number or title."""
        from textual.command import CommandPalette

        from arcview.ui.bindings import Commands
        from arcview.ui.stage_entries import Stages, palette_question

        if not isinstance(self.screen, CommandPalette):
            asks = palette_question(self.screen)
            self.push_screen(CommandPalette(providers=[Commands, Stages], placeholder=asks))

    def action_next_theme(self) -> None:
        """Dark or light."""
        self.theme = LIGHT.name if self.current_theme.dark else DARK.name

    def fail(self, error: Exception) -> None:
        """Ends with an error that the command line says in one line."""
        self.failure = error
        self.exit(return_code=2)

    async def action_quit(self) -> None:
        """Leaves, unless labels would be lost: those have to be given up by a second time."""
        said = self.labels.stay() if self.labels is not None else None
        if said is None:
            await super().action_quit()
        else:
            say_on_top(self, said)

    async def action_interrupt(self) -> None:
        """Copies the selection; without one it quits."""
        if isinstance(self.screen, BaseScreen) and self.screen.get_selected_text():
            self.screen.action_copy()
        else:
            await self.action_quit()

    def _handle_exception(self, error: Exception) -> None:
        """Keeps the fault, so that the command line says it in one line."""
        self.failure = error
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Ends the app; Textual would print a traceback with every local variable."""
        self._close_messages_no_wait()
