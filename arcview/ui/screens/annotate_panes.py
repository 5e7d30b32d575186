"""The panes of the form of a case: fields, codes, and the line in which a text is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.events import Key
from textual.widgets import Input

from arcview.annotations.scheme import Field
from arcview.session.annotate import AnnotateSession
from arcview.session.annotate_paths import path_of
from arcview.session.commands import Context
from arcview.ui import theme
from arcview.ui.bindings import widget_bindings
from arcview.ui.rows.figures import plural
from arcview.ui.safe import one_line, pieces
from arcview.ui.widgets.row_view import RowView

_ASKS = {"symbol": "symbol of the origin", "via_symbol": "symbol that the effect comes through"}

_WIDE = 120
"""Columns from which on the run is seen beside the form."""
_FORM = 72
"""Columns of the form beside a run; `annotate.tcss` says the same."""


def form_columns(width: int) -> int:
    """How many columns the form takes from a run beside it; 0 where it covers the run."""
    return _FORM if width >= _WIDE else 0


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


def symbol_of(session: AnnotateSession) -> tuple[str, str]:
    """The text of the part in hand that names a symbol, for `AnnotateSession.write`, and its value.

    That of the origin, where no effect is in hand.
    """
    own, part = session.reading, session.part
    if part is not None and part.kind == "effects":
        effects = own.effects if own is not None else ()
        return "via_symbol", next((e.via_symbol for e in effects if e.id == part.id), "") or ""
    origins = own.origins if own is not None else ()
    wanted = part.id if part is not None else None
    found = next((o for o in origins if o.id == wanted), origins[0] if origins else None)
    return "symbol", (found.symbol if found is not None else None) or ""


def part_name(session: AnnotateSession, field: Field) -> str:
    """Which effect or stage a label of a field goes to now: ` on gate 3`, ` in stage 3`."""
    path = path_of(field, session.reading, session.part)
    part = path.split("/")[1] if path is not None and "/" in path else ""
    if field.of == "awareness":
        return f" in stage {part}" if part else " of no stage: choose one with ]"
    effects = session.reading.effects if session.reading is not None else ()
    gate = next((effect.gate for effect in effects if effect.id == part), None)
    return f" on gate {one_line(gate)}" if gate is not None else ""


def code_hints(field: Field) -> tuple[tuple[str, str], ...]:
    """What the line of keys says while the codes of a field are open."""
    keys = [code.key for code in field.codes if code.key]
    own = [(one_line(f"{keys[0]} … {keys[-1]}"), "set a label")] if keys else []
    ends = "ends" if field.kind == "many" else "closes"
    return (*own, ("enter", "the one under the cursor"), ("escape", ends))


def no_label(field: Field, key: str) -> str:
    """What is said of a key that sets none of a field's labels."""
    return f"{one_line(field.title)} has no label with the key {one_line(key)}; escape closes it"


def form_title(session: AnnotateSession, unit: str | None) -> Content:
    """Which case it is, how far it is, and whose."""
    own = session.reading
    status = own.status.value if own is not None else "not begun"
    who = one_line(session.annotator or "nobody")
    name = one_line(unit or "no failing gate")
    # Here and not above the form, which may be scrolled; a prompt may lie over the last line.
    waiting = len(session.store.pending)
    why = session.unsaved or (f"{plural(waiting, 'change')} not saved yet" if waiting else "")
    failed = f"  ▲ {one_line(why)}" if why else ""
    return pieces(
        ("Case ", "bold"), (name, "bold"), (f"  {status} · {who}", ""), (failed, theme.WARN)
    )


def standing(session: AnnotateSession, progress: str | None) -> str:
    """What stands below the form: who else read the case, blind or not, progress, the scheme."""
    said, case = [], session.case
    if case is not None and not session.hidden:
        others = [r.annotator for r in case.readings if r.annotator != session.annotator]
        said += [f"also {', '.join(map(one_line, others))} (= side by side)"] if others else []
        settled = case.adjudicated
        said += [f"settled by {one_line(settled.annotator)}"] if settled is not None else []
    said += ["blind"] if session.blind else []
    said += [progress] if progress is not None else []
    return " · ".join((*said, f"scheme {one_line(str(session.scheme))}"))


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
