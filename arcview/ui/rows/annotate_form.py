"""The form of a case as rows: fields with their keys, suggestions, evidence. Pure.

What must stay hidden while labelling blind never gets here. All text is cleaned when it is laid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from textual.content import Content

from arcview.analysis.suggestions import Suggestion
from arcview.errors import BadInputError
from arcview.model.annotation import PointerState, Reading, SuggestedBy
from arcview.session.address import parse_address
from arcview.session.annotate_rows import EvidenceRow, FormRow
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows.figures import fit, fit_end
from arcview.ui.rows.lines import Cell, WrappedRows
from arcview.ui.rows.notes import wrap_words
from arcview.ui.safe import one_line, pieces, plain

_TITLE = 18
_QUOTE = 240
"""Characters of a quoted line that are shown, around what decided."""

POINTER_MARK = {
    PointerState.OK: ("✓ ok", theme.PASS),
    PointerState.STALE: ("▲ stale: what stood there has changed", theme.WARN),
    PointerState.NOT_FOUND: ("∅ not found", theme.FAIL),
    PointerState.UNVERIFIED: ("? not verified", theme.UNMEASURED),
}


class ItemKind(StrEnum):
    """What an item of the form is."""

    PART = "part"
    FIELD = "field"
    TEXT = "text"
    SECTION = "section"
    SUGGESTION = "suggestion"
    EVIDENCE = "evidence"
    REMARK = "remark"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing of the form; it takes as many rows as it needs."""

    kind: ItemKind
    key: tuple[str, ...]
    """Names it, also after the form has changed."""
    form: FormRow | None = None
    suggestion: Suggestion | None = None
    evidence: EvidenceRow | None = None
    said: str = ""
    proposals: tuple[Suggestion, ...] = ()
    """What rules propose for this field."""


@dataclass(frozen=True, slots=True)
class Form:
    """What there is to show."""

    rows: Sequence[FormRow]
    suggestions: Sequence[Suggestion] = ()
    evidence: Sequence[EvidenceRow] = ()
    remarks: Sequence[str] = ()
    """What is wrong, or hidden, or still being looked for."""
    own: Reading | None = None
    annotator: str | None = None


def proposals_for(
    row: FormRow, suggestions: Sequence[Suggestion], own: Reading | None
) -> tuple[Suggestion, ...]:
    """What is proposed for a field of the form and not chosen there yet."""
    found = []
    for one in suggestions:
        if row.is_heading:
            # A second origin is nothing that rules propose; nor is one that is located already.
            if one.field != "origin" or row.title != "Origin" or row.text:
                continue
        elif one.field != row.field or one.code in row.codes or not _same_part(row, one, own):
            continue
        found.append(one)
    return tuple(found)


def _same_part(row: FormRow, one: Suggestion, own: Reading | None) -> bool:
    """Whether a suggestion speaks of the effect or stage that a field belongs to."""
    if row.part is None:
        return True
    if row.part.kind == "awareness" and one.stage is not None:
        return row.part.id == str(one.stage)
    if row.part.kind == "effects" and one.gate is not None and own is not None:
        return any(e.id == row.part.id and e.gate == one.gate for e in own.effects)
    return True


class FormRows(WrappedRows):
    """The rows of one form."""

    def __init__(self, form: Form) -> None:
        super().__init__(64)
        self.items: tuple[Item, ...] = ()
        self._lines: list[tuple[int, Content]] = []
        self._form = form
        self.replace(form)

    def replace(self, form: Form) -> None:
        """Shows the form as it is now."""
        self._form = form
        self.items = tuple(_items(form))
        self._lay()

    def __len__(self) -> int:
        return len(self._lines)

    def at(self, index: int) -> Item | None:
        """The item that a row belongs to."""
        return self.items[self._lines[index][0]] if 0 <= index < len(self._lines) else None

    def row_of(self, key: tuple[str, ...]) -> int | None:
        """The first row of an item."""
        return next((n for n, (at, _) in enumerate(self._lines) if self.items[at].key == key), None)

    def first(self, kind: ItemKind) -> int | None:
        """The row of the first item of a kind."""
        found = (n for n, (at, _) in enumerate(self._lines) if self.items[at].kind is kind)
        return next(found, None)

    def row(self, index: int) -> Content:
        """One line."""
        return self._lines[index][1]

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """One line; headings have a ground of their own."""
        del width
        at, content = self._lines[index]
        heading = self.items[at].kind in (ItemKind.PART, ItemKind.SECTION)
        style = theme.HEADING_LINE if heading else ""
        return (Cell(content, scrolls=True, style=style),)

    def anchor(self, index: int) -> object:
        """Key of the item, and which of its lines."""
        at = self._lines[index][0]
        first = next(n for n, (other, _) in enumerate(self._lines) if other == at)
        return self.items[at].key, index - first

    def locate(self, anchor: object) -> int:
        """That line now, or the item's first."""
        if not isinstance(anchor, tuple):
            return 0
        key, line = anchor
        first = self.row_of(key)
        if first is None:
            return 0
        last = first + line
        same = last < len(self._lines) and self.items[self._lines[last][0]].key == key
        return last if same else first

    def _lay(self) -> None:
        self._lines = [
            (at, line)
            for at, item in enumerate(self.items)
            for line in _lines(item, self._width, self._form)
        ]


def _items(form: Form) -> Iterator[Item]:
    for number, remark in enumerate(form.remarks):
        yield Item(ItemKind.REMARK, ("remark", str(number)), said=remark)
    for row in form.rows:
        part = (row.part.kind, row.part.id) if row.part is not None else ()
        proposals = proposals_for(row, form.suggestions, form.own)
        if row.is_heading:
            key = ("part", *(part or (row.title,)))
            yield Item(ItemKind.PART, key, row, proposals=proposals)
        elif row.field is not None:
            yield Item(ItemKind.FIELD, ("field", row.field, *part), row, proposals=proposals)
        else:
            yield Item(ItemKind.TEXT, ("text", row.path or ""), row)
    if form.evidence:
        yield Item(ItemKind.SECTION, ("evidence",), said=f"Evidence  {len(form.evidence)}")
    for evidence in form.evidence:
        key = ("evidence", evidence.annotator, evidence.evidence.id)
        yield Item(ItemKind.EVIDENCE, key, evidence=evidence)
    if form.suggestions:
        said = f"Suggestions of rules, not labels  {len(form.suggestions)}"
        yield Item(ItemKind.SECTION, ("suggestions",), said=said)
    for number, suggestion in enumerate(form.suggestions):
        key = ("suggestion", suggestion.rule, suggestion.inputs, suggestion.title, str(number))
        yield Item(ItemKind.SUGGESTION, key, suggestion=suggestion)


def _lines(item: Item, width: int, form: Form) -> Iterator[Content]:
    match item.kind:
        case ItemKind.SECTION:
            yield pieces((f" {item.said}", theme.HEADING))
        case ItemKind.REMARK:
            for line in wrap_words(one_line(item.said), width - 3):
                yield pieces((f" {line}", theme.WARN))
        case ItemKind.SUGGESTION if item.suggestion is not None:
            yield from _suggestion(item.suggestion, width, form.own)
        case ItemKind.EVIDENCE if item.evidence is not None:
            yield from _evidence(item.evidence, width, form.annotator)
        case _ if item.form is not None:
            yield from _field(item, item.form, width)


def _field(item: Item, row: FormRow, width: int) -> Iterator[Content]:
    heading = item.kind is ItemKind.PART
    mark = "▸" if heading and row.in_hand else " "
    key = row.key or ("w" if item.kind is ItemKind.TEXT and row.path == "note" else " ")
    left = f"{mark}{'' if heading else f'{one_line(key)} '}"
    title = one_line(row.title)
    if heading:
        yield pieces((left, theme.INFO), (title, theme.HEADING), (f"  {one_line(row.text)}", ""))
    else:
        room = max(8, width - _TITLE - 4)
        shown = fit(title, _TITLE, pad=True)
        lines = wrap_words(one_line(row.text), room) if row.text else [""]
        style = "bold" if row.codes else ""
        by_rule = f"  ◇ {one_line(row.by_rule)}" if row.by_rule else ""
        for number, line in enumerate(lines):
            first = number == 0
            yield pieces(
                (left if first else " " * cells(left), theme.INFO),
                (shown if first else " " * _TITLE, theme.MUTED),
                " ",
                (line, style),
                (by_rule if number == len(lines) - 1 else "", theme.MUTED),
            )
    for label in row.unknown:
        near = f"; nearest: {label.nearest}" if label.nearest else ""
        said = f"▲ {label.code} is not in the scheme{near}"
        yield pieces((f"   {one_line(said)}", theme.WARN))
    if item.proposals:
        names = ", ".join(one_line(one.title) for one in item.proposals)
        line = fit(f"   ◇ suggested: {names}", max(10, width - 10))
        yield pieces((line, theme.MUTED), ("  a", theme.INFO), (" takes", theme.MUTED))


def _suggestion(one: Suggestion, width: int, own: Reading | None) -> Iterator[Content]:
    by = SuggestedBy(one.rule, one.version, one.inputs)
    taken = own is not None and by in own.suggested.values()
    rule = f"rule {one_line(one.rule)} {one.version}{'' if one.exact else ', a guess'}"
    yield pieces(
        (" ✓ " if taken else " ◇ ", theme.PASS if taken else theme.INFO),
        (one_line(one.title), "" if taken else "bold"),
        (f"  {'taken over · ' if taken else ''}{rule}", theme.FAINT),
    )
    for line in wrap_words(one_line(one.reason), width - 5):
        yield pieces((f"   {line}", ""))
    for span in one.spans[:2]:
        yield pieces((f"   {fit_place(place_text(span.address), max(10, width - 5))}", theme.FAINT))
        yield Content.assemble("   ", quote(span.text, span.start, span.end))
    if len(one.spans) > 2:
        yield pieces((f"   … {len(one.spans) - 2} more places", theme.FAINT))


def quote(text: str, start: int, end: int) -> Content:
    """A line with what decided marked in it; of a long one what is around that."""
    first = max(0, min(start, len(text)) - _QUOTE // 3)
    last = min(len(text), first + _QUOTE)
    start, end = (max(first, min(place, last)) for place in (start, end))
    return pieces(
        ("…" if first else "", theme.FAINT),
        (one_line(text[first:start].lstrip()), theme.MUTED),
        (one_line(text[start:end]), theme.MATCH),
        (one_line(text[end:last]), theme.MUTED),
        ("…" if last < len(text) else "", theme.FAINT),
    )


def _evidence(row: EvidenceRow, width: int, annotator: str | None) -> Iterator[Content]:
    mark, style = POINTER_MARK[row.state] if row.state is not None else ("… checking", theme.MUTED)
    whose = "" if row.annotator == annotator else f"  {one_line(row.annotator)}"
    yield pieces(
        (f" {mark}", style), (f"  {one_line(row.supports)}", theme.MUTED), (whose, theme.INFO)
    )
    yield plain(f"   {fit_place(place_text(row.evidence.pointer.address), max(10, width - 5))}")
    if row.evidence.note:
        for line in wrap_words(one_line(row.evidence.note), width - 6):
            yield pieces((f"   “{line}”", theme.MUTED))


def place_text(text: str) -> str:
    """An address as people read it: `gate 2 f2p tests/test_a.py::test_b`, `diff 2 src/a.py:3-5`."""
    try:
        address = parse_address(text)
    except BadInputError:
        return one_line(text)
    parts = address.parts
    if address.pane in ("file", "diff"):
        parts = (address.path,)
    elif parts[:1] == ("log",):
        parts = ("log", "/".join(parts[1:]))
    end = ""
    if address.line is not None:
        last = f"-{address.last_line}" if address.last_line is not None else ""
        end = f":{address.line}{last}"
    elif address.hunk is not None:
        end = f" hunk {address.hunk}"
    elif address.span is not None:
        end = f" characters {address.span[0]}-{address.span[1]}"
    return one_line(f"{address.pane} {' '.join((address.where, *parts))}{end}")


def fit_place(place: str, width: int) -> str:
    """The beginning says what it is and the end where exactly: both stay."""
    if cells(place) <= width:
        return place
    head = fit(place, width // 3)
    return head + fit_end(place, width - cells(head))[1:]
