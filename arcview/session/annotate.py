"""Labelling one run: the case in hand, and what each key does to it. Knows no screen.

Every method that changes something has saved it when it returns, or has put it where `flush` of the
store saves it; where neither could be done, nothing has changed and the notice says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.analysis.suggestions import Suggestion
from arcview.annotations.cases import case_id, fingerprint, flat
from arcview.annotations.events import CaseEvent, EventKind
from arcview.annotations.log_file import StoreError
from arcview.annotations.scheme import Scheme, team_scheme
from arcview.annotations.store import AnnotationStore, Draft
from arcview.errors import ArcviewError
from arcview.model.annotation import Case, CaseStatus, Reading, SuggestedBy
from arcview.session.annotate_marks import Marker, Part, Role, new_id
from arcview.session.annotate_paths import (
    adopted,
    is_below,
    part_path,
    path_of,
    suggested_values,
    toggled,
    value_at,
    what_was_set,
    without_evidence,
)
from arcview.session.annotate_targets import Targets
from arcview.sidecar import run_sidecar, sidecar_root

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun

_Travel = Callable[[Callable[[str | None], bool]], CaseEvent | None]

_DONE = (CaseStatus.FINAL, CaseStatus.ADJUDICATED)


@dataclass(frozen=True, slots=True)
class CaseChange:
    """What came of a key."""

    saved: bool
    notice: str = ""
    """One line for the person."""
    case: str | None = None


class AnnotateSession:
    """Labels one open run.

    Attributes:
        store: Its labels.
        scheme: What can be labelled.
        blind: Others' labels and the suggestions stay hidden until one's own are final.
        case_id: The case in hand; null before the first.
        part: The origin, effect or stage that labels go to; null takes the obvious one.
        suggestions: What rules propose for the case in hand; see `offer`.
        unsaved: Why the last change could not be saved; null once one was.
    """

    def __init__(
        self, opened: OpenRun, store: AnnotationStore, scheme: Scheme, *, blind: bool = False
    ) -> None:
        self.opened = opened
        self.store = store
        self.scheme = scheme
        self.blind = blind
        self.case_id: str | None = None
        self.part: Part | None = None
        self.unsaved: str | None = None
        self.targets = Targets(opened)
        self._marker = Marker(opened, self.targets)
        self._offered: dict[str, tuple[Suggestion, ...]] = {}
        self._units: dict[str, str | None] = {}
        """Case → the gate it is about, also of cases that are not saved yet."""

    @classmethod
    def open(
        cls,
        opened: OpenRun,
        *,
        annotator: str | None,
        sidecar: Path | None = None,
        scheme: Path | None = None,
        blind: bool = False,
    ) -> AnnotateSession:
        """Opens the labels of a run; makes no file.

        Args:
            opened: The run.
            annotator: Whoever labels; null only reads.
            sidecar: The sidecar of all runs; the user's own by default.
            scheme: A label scheme; `scheme.toml` of the sidecar by default, else the shipped one.
            blind: Hide what others and rules say until one's own reading is final.

        Raises:
            ArcviewError: a file cannot be read, or the sidecar lies inside the run.
        """
        root = sidecar_root(sidecar)
        if root.resolve().is_relative_to(Path(opened.run.path).resolve()):
            raise ArcviewError(f"{root}: the sidecar lies inside the run, which stays as it is")
        store = AnnotationStore(
            run_sidecar(root, opened.run.run_id) / "annotations",
            opened.run.run_id,
            annotator,
            run_hash=fingerprint(opened.run),
        )
        return cls(opened, store, team_scheme(root, scheme), blind=blind)

    # What is in hand

    @property
    def annotator(self) -> str | None:
        """Whoever labels; null only reads."""
        return self.store.annotator

    @property
    def case(self) -> Case | None:
        """The case in hand, with everybody's readings: see `hidden` before showing others'."""
        return None if self.case_id is None else self.store.case(self.case_id)

    @property
    def reading(self) -> Reading | None:
        """One's own reading of the case in hand."""
        return self.reading_of(self.case_id)

    def reading_of(self, case: str | None) -> Reading | None:
        """One's own reading of a case, or null."""
        found = self.store.case(case) if case is not None else None
        return found.reading(self.annotator) if found is not None else None

    def is_hidden(self, case: str | None) -> bool:
        """Whether others' labels of a case, and suggestions for it, may not be shown yet."""
        if not self.blind:
            return False
        own = self.reading_of(case)
        return own is None or own.status not in _DONE

    @property
    def hidden(self) -> bool:
        """Whether that holds for the case in hand."""
        return self.is_hidden(self.case_id)

    def refresh(self) -> bool:
        """Reads what others, and other windows, saved since; says whether there was anything."""
        return self.store.refresh()

    def visible_cases(self) -> tuple[Case, ...]:
        """The cases that may be shown; while labelling blind, one's own."""
        return tuple(
            case
            for case in self.store.cases
            if case.readings
            and (not self.is_hidden(case.id) or case.reading(self.annotator) is not None)
        )

    def choose(self, case: str | None, part: Part | None = None) -> None:
        """Takes a case, and a part of it, in hand."""
        self.case_id, self.part = case, part

    def choose_unit(self, unit: str) -> None:
        """Takes the case about a failing gate in hand: one's own open one, else the first."""
        self.choose(self._case_about(unit))

    # What is done

    def mark(self, address: str, role: Role | None = None, *, new: bool = False) -> CaseChange:
        """Starts a case with a place of the run, or adds the place to the case in hand.

        Args:
            address: The place.
            role: What it is to the case; a test is an effect, code and steps are the origin once
                and evidence afterwards.
            new: Start another case.

        Raises:
            BadInputError: it is no address.
        """
        unit = self._marker.failing_gate(address)
        case = self.case_id
        if new or case is None:
            case = self._case_about(unit, new=new)
        reading = self.reading_of(case)
        if reading is not None and reading.status is CaseStatus.RETRACTED:
            case, reading = self._case_about(unit, new=True), None
        mark = self._marker.mark(
            address, reading, role, self.part if case == self.case_id else None
        )
        begins = reading is None
        if not mark.values:
            return CaseChange(False, "that is noted already", case)
        change = self._save(
            Draft(case, EventKind.CREATE if begins else EventKind.EDIT, mark.values),
            f"{'a new case' if begins else 'the case'}: {mark.said}",
        )
        if change.saved:
            self.choose(case, mark.part)
        return change

    def label(self, field_id: str, code: str) -> CaseChange:
        """Sets a label of the case in hand; the same again takes it away.

        A field of an origin or effect goes to the one in hand, else to the first, else to a new
        one; awareness to the stage in hand, else to that of the first effect.
        """
        field = self.scheme.field(field_id)
        if field is None or field.find(code) is None:
            return CaseChange(False, f"the scheme has no {field_id} {code}")
        path = path_of(field, self.reading, self.part)
        if path is None:
            return CaseChange(False, "choose the stage whose awareness it is")
        value = toggled(field, value_at(self.reading, path), code)
        said = f"{field.title}: {self.scheme.name_of(field_id, code)}"
        return self._edit({path: value}, said if value else f"{field.title}: taken away")

    def write(self, name: str, text: str) -> CaseChange:
        """Sets a free text.

        Args:
            name: `note`; `symbol` or `contract_item` of the origin in hand; `via_symbol` of the
                effect in hand; `evidence/<id>/note`.
            text: What it says from now on.
        """
        carrier = {"symbol": "origin", "contract_item": "origin", "via_symbol": "effect"}.get(name)
        path = name if carrier is None else f"{part_path(carrier, self.reading, self.part)}/{name}"
        return self._edit({path: text}, f"{name.rpartition('/')[2]} written")

    def no_origin(self) -> CaseChange:
        """Says, or no longer says, that there is no defect of the agent: a label of its own."""
        own = self.reading
        value = None if own is not None and own.no_origin else True
        return self._edit({"no_origin": value}, "no origin" if value else "no origin: taken away")

    def add_origin(self) -> CaseChange:
        """Begins another origin, for a case that goes back to several."""
        part = Part("origins", new_id())
        change = self._edit({f"origins/{part.id}/defect": None}, "another origin")
        if change.saved:
            self.part = part
        return change

    def remove(self, path: str) -> CaseChange:
        """Takes an origin, effect or piece of evidence away (`origins/<id>`)."""
        case = self.case_id
        if case is None or self.reading is None:
            return CaseChange(False, "no case is in hand")
        draft = Draft(case, EventKind.EDIT, {}, removed=(path,))
        change = self._save(draft, "taken away")
        if change.saved and self.part is not None and path.endswith(self.part.id):
            self.part = None
        return change

    def finish(self) -> CaseChange:
        """One's reading is final; while labelling blind this shows what others say."""
        own = self.reading
        if own is None:
            return CaseChange(False, "no case is in hand")
        if own.validity is None and self.scheme.field("validity") is not None:
            return CaseChange(False, "decide the validity first")
        lacking = ", ".join(without_evidence(own))
        said = f"final; without evidence: {lacking}" if lacking else "final"
        return self._edit({"status": CaseStatus.FINAL.value}, said)

    def skip(self, unit: str | None = None) -> CaseChange:
        """Leaves a failing gate unlabelled, and says so in the work list."""
        if unit is not None:
            self.choose(self._case_about(unit))
        return self._edit({"status": CaseStatus.SKIPPED.value}, "skipped")

    def reopen(self) -> CaseChange:
        """Makes a draft of a final, skipped or retracted case."""
        return self._edit({"status": CaseStatus.DRAFT.value}, "open again")

    def settle(self) -> CaseChange:
        """One's reading settles the case for everybody."""
        if self.hidden:
            return CaseChange(False, "make your own reading final first")
        return self._edit({"status": CaseStatus.ADJUDICATED.value}, "settled")

    def retract(self) -> CaseChange:
        """Takes the whole case back; it stays in the store."""
        if self.case_id is None or self.reading is None:
            return CaseChange(False, "no case is in hand")
        return self._save(Draft(self.case_id, EventKind.RETRACT, {}), "retracted")

    def undo(self) -> CaseChange:
        """Takes one's last change back."""
        return self._travel(self.store.undo, "nothing to undo", "taken back")

    def redo(self) -> CaseChange:
        """Does it again."""
        return self._travel(self.store.redo, "nothing to do again", "done again")

    def adopt(self, annotator: str, paths: Iterable[str] | None = None) -> CaseChange:
        """Takes over what somebody else said of the case in hand.

        Args:
            annotator: Who said it.
            paths: Only these (`validity`, `origins`, `awareness/3/level`) and what is below them;
                everything by default. Their parts replace one's own; evidence is added.
        """
        other = self.case.reading(annotator) if self.case is not None else None
        if self.hidden or other is None:
            return CaseChange(False, f"there is no reading of {annotator} to take over")
        theirs, mine = flat(other), flat(self.reading) if self.reading is not None else {}
        wanted = tuple(paths) if paths is not None else (*(p.partition("/")[0] for p in theirs),)
        taken = adopted(theirs, wanted, whole=paths is None)
        # Evidence is only ever added: one's own may speak for what stays.
        kept = ("status", "evidence")
        gone = tuple(
            p for p in mine if is_below(p, wanted) and p not in taken and not is_below(p, kept)
        )
        case = self.case_id or ""
        draft = Draft(case, EventKind.EDIT, taken, gone, adopted_from=annotator)
        return self._save(draft, f"taken over from {annotator}")

    # Suggestions

    def offer(self, suggestions: Iterable[Suggestion], case: str | None = None) -> None:
        """Hands in what rules propose for a case; computed elsewhere, since it takes a while."""
        self._offered[case or self.case_id or ""] = tuple(suggestions)

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """What rules propose for the case in hand; nothing while labelling blind."""
        return () if self.hidden else self._offered.get(self.case_id or "", ())

    def accept(self, suggestion: Suggestion) -> CaseChange:
        """Takes a suggestion over; the label remembers its rule."""
        if self.hidden:
            return CaseChange(False, "suggestions are hidden until your own reading is final")
        values = suggested_values(self.scheme, suggestion, self.reading, self.part)
        if values is None:
            return CaseChange(False, f"the scheme has no {suggestion.field} {suggestion.code}")
        by = SuggestedBy(suggestion.rule, suggestion.version, suggestion.inputs)
        return self._edit(values, f"taken over: {suggestion.title}", suggested_by=by)

    # Inside

    def _case_about(self, unit: str | None, *, new: bool = False) -> str:
        """The id of one's open case about a gate, or of a new one."""
        ordinal = 0
        while True:
            found = case_id(self.opened.run.run_id, unit, ordinal)
            own = self.reading_of(found)
            if own is None or not (new or own.status is CaseStatus.RETRACTED):
                self._units[found] = unit
                return found
            ordinal += 1

    def _edit(
        self,
        values: dict[str, object],
        said: str,
        suggested_by: SuggestedBy | None = None,
    ) -> CaseChange:
        case = self.case_id
        if case is None:
            return CaseChange(False, "no case is in hand: mark something first")
        kind = EventKind.EDIT if self.reading is not None else EventKind.CREATE
        return self._save(Draft(case, kind, values, suggested_by=suggested_by), said)

    def _save(self, draft: Draft, said: str) -> CaseChange:
        # Everything below is set here, so that no key can forget it.
        known = self.store.case(draft.case)
        unit = known.unit if known is not None else self._units.get(draft.case)
        whole = Draft(
            draft.case, draft.kind, draft.values, draft.removed, unit,
            suggested_by=draft.suggested_by, scheme=str(self.scheme),
            blind=self.is_hidden(draft.case), adopted_from=draft.adopted_from,
        )  # fmt: skip
        try:
            self.store.save(whole)
        except StoreError as error:
            self.unsaved = str(error)
            return CaseChange(False, self.unsaved, draft.case)
        self.unsaved = None
        return CaseChange(True, said, draft.case)

    def _travel(self, go: _Travel, nothing: str, said: str) -> CaseChange:
        """Undo and redo; what they touched is taken in hand."""
        try:
            event = go(self.is_hidden)
        except StoreError as error:
            self.unsaved = str(error)
            return CaseChange(False, self.unsaved)
        if event is None:
            return CaseChange(False, nothing)
        self.unsaved = None
        self.choose(event.case)
        return CaseChange(True, f"{said}: {what_was_set(self.store.undone_by(event))}", event.case)
