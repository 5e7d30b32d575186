"""The form of one case beside the run: a key for a field, the next for its code."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.events import Key
from textual.screen import ModalScreen
from textual.types import CSSPathType
from textual.widgets import Input

from arcview.analysis.suggestions import Suggestion
from arcview.session.annotate import AnnotateSession, CaseChange
from arcview.session.annotate_keys import KeyPad
from arcview.session.annotate_rows import code_rows, evidence_rows, form_rows
from arcview.session.commands import Context, commands_in
from arcview.ui import theme
from arcview.ui.bindings import bindings
from arcview.ui.rows.annotate_codes import CodeRows
from arcview.ui.rows.annotate_form import Form, FormRows, Item, ItemKind
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.annotate_panes import (
    CodePane,
    FormPane,
    WritePrompt,
    code_hints,
    form_columns,
    form_title,
    no_label,
    part_name,
    remarks,
    standing,
    symbol_of,
)
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.run_titles import set_remark, set_title
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.row_view import RowView

if TYPE_CHECKING:
    from arcview.ui.screens.annotate_run import RunAnnotate


class CaseScreen(BaseScreen, ModalScreen[None], inherit_bindings=False):
    """One's own reading of the case in hand, with suggestions and evidence below it."""

    CSS_PATH: ClassVar[CSSPathType | None] = "annotate.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.CASE, Context.APP)

    def __init__(self, annotate: RunAnnotate) -> None:
        super().__init__()
        self._annotate = annotate
        self._pad = KeyPad(annotate.session)
        own = (c for c in commands_in(Context.CASE) if c.context is Context.CASE)
        self._reserved = {key for command in own for key in command.keys}
        self._writes = ""
        self._rows = FormRows(Form(()))
        self.form = FormPane(self._take)
        self.codes = CodePane(id="codes")

    @property
    def _session(self) -> AnnotateSession:
        return self._annotate.session

    def compose(self) -> ComposeResult:
        """The form, the codes of an open field, and the line of keys."""
        with Container(id="case"):
            yield self.form
            yield self.codes
        yield HintBar()

    def on_mount(self) -> None:
        """Shows the case; follows what arrives."""
        self._annotate.changed = self._refresh
        self.on_resize()
        self.codes.display = False
        self.form.set_source(self._rows)
        self.form.focus()
        self.show_hints()
        self.show_case()

    def on_unmount(self) -> None:
        """What arrives later is shown when the form is opened again; the run has its room back."""
        if self._annotate.changed == self._refresh:
            self._annotate.changed = None
        if self._annotate.screen in self.app.screen_stack:
            self._annotate.screen.leave_room(0)

    def on_resize(self) -> None:
        """Run and form stand beside each other; in a narrow terminal the form takes all of it."""
        columns = form_columns(self.app.size.width)
        self.set_class(not columns, "-narrow")
        self._annotate.screen.leave_room(columns)

    @property
    def context(self) -> Context:
        """Labelling."""
        return Context.CASE

    # Showing

    def show_case(self) -> None:
        """Shows the case in hand, at the part that labels go to."""
        self._refresh()
        part = self._session.part
        if part is not None:
            self._go_to_part(part.kind, part.id)

    def _refresh(self) -> None:
        session = self._session
        form = Form(
            form_rows(session),
            session.suggestions,
            evidence_rows(session, self._annotate.states),
            remarks(session, is_looking=self._annotate.is_looking),
            session.reading,
            session.annotator,
        )
        with self.form.keeping_place():
            self._rows.replace(form)
        self._title()
        self._show_codes()

    def _title(self) -> None:
        session, work = self._session, self._annotate.work
        set_title(self.form, form_title(session, self._annotate.unit))
        said = standing(session, work.progress() if work is not None else None)
        set_remark(self.form, pieces((said, theme.MUTED)))

    def _show_codes(self) -> None:
        field = self._pad.field
        self.codes.display = field is not None
        if field is None:
            self.show_hints()
            return
        self.query_one(HintBar).set_hints(code_hints(field))
        codes = code_rows(self._session, field.id)
        source = self.codes.source
        at = source.at(self.codes.cursor) if isinstance(source, CodeRows) else None
        chosen = next((one.code for one in codes if one.chosen), None)
        rows = CodeRows(field, codes)
        self.codes.set_source(rows)
        self.codes.move_to(rows.row_of(at.code if at is not None else chosen))
        many = " · several; escape ends" if field.kind == "many" else ""
        said = f"{part_name(self._session, field)}{many}"
        set_title(self.codes, pieces((one_line(field.title), "bold"), (said, theme.MUTED)))

    def _close_codes(self) -> None:
        self._pad.close()
        self.codes.display = False
        self.codes.set_source(CodePane().source)

    # Keys

    def _take(self, event: Key) -> bool:
        """Tries a key as one of a field or code; false leaves it to the commands."""
        key = event.character if event.is_printable and event.character else event.key
        if self._pad.field is None:
            if {key, event.key} & self._reserved or self._session.scheme.by_key(key) is None:
                return False
        elif event.key in ("up", "down", "enter", "pageup", "pagedown"):
            self._in_codes(event.key)
            return True
        elif key.startswith("ctrl+"):
            return False
        self.notice("")
        pressed = self._pad.press(key)
        if pressed.change is not None:
            self._done(pressed.change)
        elif pressed.field is not None and not pressed.taken:
            self.notice(no_label(pressed.field, key))
        if pressed.field is None:
            self._close_codes()
        self._refresh()
        return True

    def _in_codes(self, key: str) -> None:
        source = self.codes.source
        if isinstance(source, CodeRows) and key == "enter":
            self._choose(source)
        elif isinstance(source, CodeRows):
            by = 1 if key.endswith("down") else -1
            self.codes.move_to(source.next_code(self.codes.cursor, by))

    def _choose(self, rows: CodeRows) -> None:
        field, code = self._pad.field, rows.at(self.codes.cursor)
        if field is None or code is None:
            return
        change = self._session.label(field.id, code.code)
        if field.kind != "many":
            self._close_codes()
        self._done(change)

    def _done(self, change: CaseChange) -> None:
        """Shows what came of a key."""
        self._annotate.say(change)
        self._refresh()

    @on(RowView.CursorMoved, "#form")
    def _moved(self, message: RowView.CursorMoved) -> None:
        """Labels go to the part that the cursor is in."""
        item = self._rows.at(message.index)
        part = item.form.part if item is not None and item.form is not None else None
        if part is not None and part != self._session.part:
            self._session.part = part
            self._refresh()

    @on(RowView.Picked, "#codes")
    def _code_clicked(self, message: RowView.Picked) -> None:
        message.stop()
        if isinstance(message.view.source, CodeRows):
            self._choose(message.view.source)

    @on(RowView.Picked, "#form")
    def _clicked(self, message: RowView.Picked) -> None:
        message.stop()
        self.action_open_item()

    def _item(self) -> Item | None:
        return self._rows.at(self.form.cursor)

    def action_open_item(self) -> None:
        """Opens a field; goes to a piece of evidence, or to where a suggestion comes from."""
        item = self._item()
        if item is None:
            return
        if item.kind is ItemKind.FIELD and item.form is not None:
            self._pad.field = self._session.scheme.field(item.form.field or "")
            self._refresh()
        elif item.evidence is not None:
            self._annotate.go_to(item.evidence.evidence.pointer.address)
        elif item.suggestion is not None and item.suggestion.spans:
            self._annotate.go_to(item.suggestion.spans[0].address)
        elif item.kind is ItemKind.TEXT:
            self.action_write()

    def action_accept(self) -> None:
        """Takes a suggestion over."""
        found = self._proposed()
        if found is None:
            self.notice("nothing is suggested here")
        else:
            self._done(self._session.accept(found))

    def _proposed(self) -> Suggestion | None:
        item = self._item()
        return (item.suggestion or next(iter(item.proposals), None)) if item is not None else None

    def action_finish(self) -> None:
        """One's reading is final."""
        self._done(self._session.finish())
        self._annotate.look_up()

    def action_reopen(self) -> None:
        """A draft again."""
        self._done(self._session.reopen())

    def action_undo(self) -> None:
        """Takes the last change back."""
        self._done(self._session.undo())

    def action_redo(self) -> None:
        """Does it again."""
        self._done(self._session.redo())

    def action_retract(self) -> None:
        """Takes the case back."""
        self._done(self._session.retract())

    def action_no_origin(self) -> None:
        """No defect of the agent."""
        self._done(self._session.no_origin())

    def action_add_origin(self) -> None:
        """Another origin."""
        self._done(self._session.add_origin())
        self.show_case()

    def action_remove(self) -> None:
        """Takes the part or the evidence under the cursor away."""
        item = self._item()
        part = item.form.part if item is not None and item.form is not None else None
        if item is not None and item.evidence is not None:
            if item.evidence.annotator != self._session.annotator:
                self.notice("that is somebody else's evidence")
                return
            self._done(self._session.remove(f"evidence/{item.evidence.evidence.id}"))
        elif part is not None:
            self._done(self._session.remove(f"{part.kind}/{part.id}"))
        else:
            self.notice("only an origin, an effect, a stage or evidence can be taken away")

    def action_next_role(self) -> None:
        """The last place becomes something else to the case."""
        self._annotate.next_role()

    def action_new_case(self) -> None:
        """Another case."""
        self._annotate.new_case()

    def action_previous_part(self) -> None:
        """To the part before."""
        self._step_part(-1)

    def action_next_part(self) -> None:
        """To the next part."""
        self._step_part(1)

    def _step_part(self, by: int) -> None:
        part = self._pad.step_part(by)
        if part is None:
            self.notice("there is no origin, effect or stage yet")
            return
        self._refresh()
        self._go_to_part(part.kind, part.id)

    def _go_to_part(self, kind: str, part_id: str) -> None:
        row = self._rows.row_of(("part", kind, part_id))
        if row is not None:
            self.form.move_to(row)

    def action_toggle_blind(self) -> None:
        """Hides what others and rules say, or shows it."""
        self._annotate.toggle_blind()
        self._refresh()

    def action_sides(self) -> None:
        """What everybody says."""
        if self._session.hidden:
            self.notice("make your own reading final first (s)")
            return
        from arcview.ui.screens.cases_sides import SidesScreen

        self.app.push_screen(SidesScreen(self._annotate))

    def on_screen_resume(self) -> None:
        """Something may have been taken over meanwhile."""
        self._refresh()

    def action_skip(self) -> None:
        """Leaves the gate unlabelled."""
        self._done(self._session.skip())
        if self._annotate.work is not None:
            self.action_next_item()

    def action_next_item(self) -> None:
        """To the next gate of the work list."""
        if self._annotate.work is None:
            self.notice("this run was not opened from a work list (a in the list of runs)")
        else:
            self.notice(self._annotate.work.go_on(self._annotate))

    def action_close(self) -> None:
        """Back to the run."""
        self.dismiss()

    # Writing

    def action_write(self) -> None:
        """A note on the evidence under the cursor, else on the case."""
        item, own = self._item(), self._session.reading
        if item is not None and item.evidence is not None:
            evidence = item.evidence.evidence
            self._write(f"evidence/{evidence.id}/note", evidence.note)
        else:
            self._write("note", own.note if own is not None else "")

    def action_write_symbol(self) -> None:
        """The symbol of the origin or effect in hand."""
        self._write(*symbol_of(self._session))

    def _write(self, name: str, text: str) -> None:
        self._writes = name
        self.query(WritePrompt).remove()
        prompt = WritePrompt(name, text)
        self.mount(prompt)
        prompt.focus()

    @on(Input.Submitted, "#write")
    def _written(self, event: Input.Submitted) -> None:
        event.stop()
        change = self._session.write(self._writes, event.value.strip())
        if change.saved or self._session.unsaved is None:
            self._end_writing(event.input)
        self._done(change)

    def _end_writing(self, prompt: Input) -> None:
        prompt.remove()
        self.form.focus()

    def on_key(self, event: Key) -> None:
        """Escape leaves the note as it was."""
        if event.key == "escape" and isinstance(self.focused, WritePrompt):
            event.stop()
            self._end_writing(self.focused)
