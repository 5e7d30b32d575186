"""What the screens of labelling show, as plain rows: cases, the form, codes, sides, evidence.

Pure. What is hidden while labelling blind is left out here, so that no screen can show it. Text is
as it came from the run and from people: hostile; it reaches a widget by the one door for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from arcview.analysis.suggestions import Suggestion
from arcview.annotations.scheme import Field, UnknownLabel
from arcview.model.annotation import Case, Evidence, PointerState, Reading
from arcview.session.annotate import AnnotateSession
from arcview.session.annotate_marks import Part
from arcview.session.annotate_paths import path_of, value_at
from arcview.session.annotate_report import effect_text, origin_text, side_by_side


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case in a list."""

    case: str
    unit: str | None
    status: str | None
    """One's own; null where one has no reading of it."""
    validity: str
    origin: str
    annotators: tuple[str, ...]
    """Whose readings may be shown."""
    settled_by: str | None
    in_hand: bool


@dataclass(frozen=True, slots=True)
class FormRow:
    """One field of the form, or the heading of an origin, effect or stage."""

    title: str
    text: str
    """What is said, in words; empty where nothing is."""
    field: str | None = None
    """Id of the field; null for a heading and for free text."""
    key: str | None = None
    part: Part | None = None
    """What the field belongs to; null for the case."""
    path: str | None = None
    codes: tuple[str, ...] = ()
    by_rule: str | None = None
    """The rule whose proposal was taken over."""
    unknown: tuple[UnknownLabel, ...] = ()
    """Labels that the scheme does not have."""
    in_hand: bool = False
    """Labels go to this part."""

    @property
    def is_heading(self) -> bool:
        """Whether it names a part."""
        return self.field is None and self.path is None


@dataclass(frozen=True, slots=True)
class CodeRow:
    """One label that can be chosen."""

    key: str | None
    code: str
    name: str
    definition: str
    source: str | None
    chosen: bool
    suggested: tuple[Suggestion, ...]
    """What proposes it; nothing while labelling blind."""


@dataclass(frozen=True, slots=True)
class SideRow:
    """What everybody says of one field, for settling a case."""

    title: str
    texts: Mapping[str, str]
    """By annotator; empty where somebody said nothing."""
    agree: bool
    """All who said something said the same."""
    paths: tuple[str, ...]
    """What `AnnotateSession.adopt` takes over for this row."""


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """One piece of evidence."""

    evidence: Evidence
    annotator: str
    supports: str
    """The origin or effect it belongs to, in words."""
    state: PointerState | None
    """Null until it was checked."""


def case_rows(session: AnnotateSession) -> tuple[CaseRow, ...]:
    """The cases that may be shown, in the order in which they were begun."""
    return tuple(_case_row(session, case) for case in session.visible_cases())


def _case_row(session: AnnotateSession, case: Case) -> CaseRow:
    own = case.reading(session.annotator)
    visible = shown_readings(session, case)
    settled = case.adjudicated if not session.is_hidden(case.id) else None
    best = settled or own or next(iter(visible), None)
    origins = best.origins if best is not None else ()
    return CaseRow(
        case.id,
        case.unit,
        own.status.value if own is not None else None,
        session.scheme.name_of("validity", best.validity) if best is not None else "",
        "none" if best is not None and best.no_origin else "; ".join(map(origin_text, origins)),
        tuple(reading.annotator for reading in visible),
        settled.annotator if settled is not None else None,
        case.id == session.case_id,
    )


def shown_readings(session: AnnotateSession, case: Case) -> tuple[Reading, ...]:
    """The readings of a case that may be shown now: one's own first."""
    hidden = session.is_hidden(case.id)
    ordered = sorted(case.readings, key=lambda reading: reading.annotator != session.annotator)
    return tuple(r for r in ordered if not hidden or r.annotator == session.annotator)


def form_rows(session: AnnotateSession) -> tuple[FormRow, ...]:
    """One's own reading of the case in hand as a form: validity first, then its parts."""
    own = session.reading or Reading(session.annotator or "")
    return tuple(_form(session, own))


def _form(session: AnnotateSession, own: Reading) -> Iterator[FormRow]:
    fields = session.scheme.fields
    first = [f for f in fields if f.of == "case" and f.id == "validity"]
    yield from _fields(session, own, first, None)
    if own.no_origin:
        yield FormRow("Origin", "none", path="no_origin")
    for number, origin in enumerate(own.origins or (None,), 1):
        part = Part("origins", origin.id) if origin is not None else None
        title = "Origin" if number == 1 else f"Origin {number}"
        yield _heading(session, title, origin_text(origin) if origin else "", part)
        yield from _fields(session, own, [f for f in fields if f.of == "origin"], part)
    for effect in own.effects:
        part = Part("effects", effect.id)
        yield _heading(
            session, f"Effect on gate {effect.gate}", effect_text(effect, session.scheme), part
        )
        yield from _fields(session, own, [f for f in fields if f.of == "effect"], part)
    for stage in _stages(session, own):
        part = Part("awareness", str(stage))
        yield _heading(session, f"Awareness in stage {stage}", "", part)
        yield from _fields(session, own, [f for f in fields if f.of == "awareness"], part)
    rest = [f for f in fields if f.of == "case" and f.id != "validity"]
    yield from _fields(session, own, rest, None)
    yield FormRow("Note", own.note, path="note")


def _heading(session: AnnotateSession, title: str, text: str, part: Part | None) -> FormRow:
    return FormRow(title, text, part=part, in_hand=part is not None and part == session.part)


def _stages(session: AnnotateSession, own: Reading) -> list[int]:
    """The stages after the first origin, and those that something is said of already."""
    said = {aware.stage for aware in own.awareness}
    start = min((o.stage for o in own.origins if o.stage is not None), default=None)
    run = session.opened.run
    after = {s.index for s in run.stages if start is not None and s.index > start}
    if session.part is not None and session.part.kind == "awareness":
        said.add(int(session.part.id))
    return sorted(said | after)


def _fields(
    session: AnnotateSession, own: Reading, fields: Iterable[Field], part: Part | None
) -> Iterator[FormRow]:
    for field in fields:
        path = path_of(field, own, part) if part is not None or field.of == "case" else None
        value = value_at(own, path) if path is not None else None
        codes = _codes(value)
        unknown = (session.scheme.unknown(field.id, code) for code in codes)
        by = own.suggested.get(path or "")
        yield FormRow(
            field.title,
            ", ".join(session.scheme.name_of(field.id, code) for code in codes),
            field.id,
            field.key,
            part,
            path,
            codes,
            by.rule if by is not None else None,
            tuple(label for label in unknown if label is not None),
        )


def _codes(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)


def code_rows(session: AnnotateSession, field_id: str) -> tuple[CodeRow, ...]:
    """The labels of a field with what they mean, which are set, and which are proposed."""
    field = session.scheme.field(field_id)
    if field is None:
        return ()
    path = path_of(field, session.reading, session.part)
    chosen = _codes(value_at(session.reading, path)) if path is not None else ()
    return tuple(
        CodeRow(
            code.key, code.code, code.name, code.definition, code.source, code.code in chosen,
            tuple(
                s for s in session.suggestions if (s.field, s.code) == (field_id, code.code)
            ),
        )
        for code in field.codes
    )  # fmt: skip


def side_rows(session: AnnotateSession) -> tuple[SideRow, ...]:
    """The case in hand with everybody side by side; only one's own side while it is hidden."""
    case = session.case
    if case is None:
        return ()
    readings = shown_readings(session, case)
    columns = {r.annotator: dict(side_by_side(r, session.scheme)) for r in readings}
    notes = {r.annotator: r.note for r in readings if r.note}
    names = dict.fromkeys(name for column in columns.values() for name in column)
    rows = [
        _side_row(name, {who: column.get(name, "") for who, column in columns.items()})
        for name in names
    ]
    if notes:
        rows.append(_side_row("note", {who: notes.get(who, "") for who in columns}))
    return tuple(rows)


def _side_row(name: str, texts: Mapping[str, str]) -> SideRow:
    said = {text for text in texts.values() if text}
    # How far people are is no reading that could be settled.
    return SideRow(name, texts, len(said) < 2 or name == "status", _paths_of_row(name))


def _paths_of_row(name: str) -> tuple[str, ...]:
    """What a row of `side_by_side` stands for; parts are taken over as a whole."""
    if name.startswith("origin"):
        return ("origins", "no_origin", "evidence")
    if name.startswith("effect"):
        return ("effects", "evidence")
    if name.startswith("awareness in stage "):
        return (f"awareness/{name.rpartition(' ')[2]}",)
    return () if name == "status" else (name,)


def evidence_rows(
    session: AnnotateSession, states: Mapping[str, PointerState] | None = None
) -> tuple[EvidenceRow, ...]:
    """The evidence of every reading that may be shown.

    Args:
        session: The labels.
        states: Address → what became of it, from `check_evidence`; null before it ran.
    """
    case = session.case
    known = states or {}
    return tuple(
        EvidenceRow(one, reading.annotator, _supports(one, reading), known.get(one.pointer.address))
        for reading in (shown_readings(session, case) if case is not None else ())
        for one in reading.evidence
    )


def check_evidence(session: AnnotateSession) -> dict[str, PointerState]:
    """Address → whether it is still what it was, of all evidence of the case in hand.

    Reads steps and states: not for the UI's own thread. Where two people noted one address and
    only one of the hashes fits, it is stale.
    """
    found: dict[str, PointerState] = {}
    for reading in session.case.readings if session.case is not None else ():
        for one in reading.evidence:
            state = session.targets.check(one.pointer)
            if found.get(one.pointer.address) in (None, PointerState.OK):
                found[one.pointer.address] = state
    return found


def _supports(one: Evidence, reading: Reading) -> str:
    origin = reading.origin(one.supports)
    if origin is not None:
        return f"origin {origin_text(origin)}".strip()
    effect = next((e for e in reading.effects if e.id == one.supports), None)
    return f"effect on gate {effect.gate}" if effect is not None else ""
