"""The panes of the form of a case: fields, codes, and the line in which a text is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType
from textual.events import Key
from textual.widgets import Input

from arcview.model.annotation import Evidence, Reading
from arcview.session.annotate import AnnotateSession
from arcview.session.annotate_marks import Part
from arcview.session.commands import Context
from arcview.ui.bindings import widget_bindings
from arcview.ui.widgets.row_view import RowView

_ASKS = {"symbol": "symbol of the origin", "via_symbol": "symbol that the effect comes through"}


class FormPane(RowView, inherit_bindings=False):
    """The form; every key goes to the key pad first where that knows it."""

    BINDINGS: ClassVar[list[BindingType]] = widget_bindings(Context.CASE)

    def __init__(self, takes: Callable[[Key], bool]) -> None:
        super().__init__(id="form")
        self._takes = takes

    def on_key(self, event: Key) -> None:
        """Hands the key to whoever labels with it."""
        if self._takes(event):
            event.stop()
            event.prevent_default()


class CodePane(RowView, inherit_bindings=False):
    """The codes of the open field; clicked or seen, the keys stay with the form."""

    can_focus = False


class WritePrompt(Input):
    """The line in which a text is written."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text, placeholder=_ASKS.get(name, "note"), id="write", compact=True)


def text_of(own: Reading | None, part: Part | None, evidence: Evidence | None) -> tuple[str, str]:
    """What `w` writes: the name that `AnnotateSession.write` takes, and what it says now.

    Args:
        own: One's own reading.
        part: The heading under the cursor, if any.
        evidence: The evidence under the cursor, if any.
    """
    if evidence is not None:
        return f"evidence/{evidence.id}/note", evidence.note
    if part is not None and part.kind == "origins":
        origin = own.origin(part.id) if own is not None else None
        return "symbol", (origin.symbol if origin is not None else None) or ""
    if part is not None and part.kind == "effects":
        effects = own.effects if own is not None else ()
        return "via_symbol", next((e.via_symbol for e in effects if e.id == part.id), "") or ""
    return "note", own.note if own is not None else ""


def remarks(session: AnnotateSession, *, is_looking: bool) -> tuple[str, ...]:
    """What stands above the form: why nothing can be saved, what is damaged, what is hidden."""
    found = []
    if session.store.read_only:
        found.append(f"▲ nothing can be saved: {session.store.read_only}")
    found += [f"▲ {problem.where}: {problem.what}" for problem in session.store.problems()]
    if session.hidden:
        found.append("Blind: others' labels and suggestions are hidden until yours are final.")
    elif is_looking:
        found.append("… looking for suggestions")
    return tuple(found)
