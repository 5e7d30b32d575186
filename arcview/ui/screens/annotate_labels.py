"""Who labels, where labels are kept, and whether blind: one for the whole program.

Asks for the annotator's name once; it is never guessed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.events import Key
from textual.screen import ModalScreen
from textual.types import CSSPathType
from textual.widgets import Input

from arcview.annotations.log_file import HELD
from arcview.annotations.store import AnnotationStore, checked_annotator
from arcview.config import LabelFlags, load_settings, save_annotator, settings_path
from arcview.errors import ArcviewError
from arcview.session.annotate_worklist import name_of_annotator
from arcview.session.commands import Context
from arcview.ui.application import ArcviewApp
from arcview.ui.bindings import bindings
from arcview.ui.rows.figures import plural
from arcview.ui.safe import PlainStatic, plain
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.run_titles import set_title
from arcview.ui.widgets.hint_bar import HintBar


@dataclass(slots=True)
class Labels:
    """What labelling needs to know besides the run."""

    annotator: str | None
    sidecar: Path | None
    """The sidecar of all runs; null is the user's own."""
    scheme: Path | None = None
    """A label scheme; null takes the team's, else the shipped one."""
    blind: bool = False
    stores: list[AnnotationStore] = field(default_factory=list)
    """What labels were opened with, each until the program ends."""
    _is_warned: bool = False

    def stay(self) -> str | None:
        """Why the program should not be left, once; null where every label is saved."""
        count = sum(len(store.pending) for store in self.stores)
        self._is_warned = bool(count) and not self._is_warned
        said = plural(count, "label")
        return f"{said} not saved yet: {HELD}; q again leaves" if self._is_warned else None


def labels_of(app: App[Any]) -> Labels:
    """The one of the program; made from flag, environment and settings when it is first needed.

    Raises:
        ArcviewError: the settings cannot be read, or the name is none.
    """
    assert isinstance(app, ArcviewApp)
    if app.labels is None:
        settings, flags = load_settings(), app.label_flags or LabelFlags()
        environment = os.environ.get("ARCVIEW_ANNOTATOR")
        kept = None if os.environ.get("ARCVIEW_SIDECAR") else settings.sidecar
        app.labels = Labels(
            name_of_annotator(flags.annotator, environment, settings.annotator),
            flags.sidecar or kept,
            flags.scheme,
            flags.blind,
        )
    return app.labels


def ask_name(app: App[Any], labels: Labels, then: Callable[[], None]) -> None:
    """Goes on at once where the annotator is known, else after they said who they are."""
    if labels.annotator is not None:
        then()
    else:
        app.push_screen(NameScreen(labels, then))


class NameScreen(BaseScreen, ModalScreen[None], inherit_bindings=False):
    """Asks who labels, once."""

    CSS_PATH: ClassVar[CSSPathType | None] = "annotate.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.APP)

    def __init__(self, labels: Labels, then: Callable[[], None]) -> None:
        """Makes the screen.

        Args:
            labels: Takes the name.
            then: Called once there is one.
        """
        super().__init__()
        self._labels = labels
        self._then = then
        self.box = Input(placeholder="letters, digits, . _ -", id="annotator", compact=True)

    def compose(self) -> ComposeResult:
        """One line."""
        yield PlainStatic(
            f" Who labels? The name goes with every label and is kept in {settings_path()}.",
            id="ask",
        )
        yield self.box
        yield HintBar(standing=False)

    def on_mount(self) -> None:
        """One can type at once."""
        set_title(self.box, plain("your name"))
        self.box.focus()

    def show_hints(self) -> None:
        """Every other key is a letter of the name."""
        keys = (("enter", "keep it"), ("escape", "label nothing"))
        self.query_one(HintBar).set_hints(keys)

    @on(Input.Submitted, "#annotator")
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        try:
            name = checked_annotator(event.value.strip())
        except ArcviewError as error:
            self.notice(str(error))
            return
        self._labels.annotator = name
        self.dismiss()
        try:
            save_annotator(name)
        except ArcviewError as error:
            self.app.call_after_refresh(self._say, str(error))
        self.app.call_after_refresh(self._then)

    def _say(self, text: str) -> None:
        if isinstance(self.app.screen, BaseScreen):
            self.app.screen.notice(text)

    def on_key(self, event: Key) -> None:
        """Escape labels nothing."""
        if event.key == "escape":
            event.stop()
            self.dismiss()
