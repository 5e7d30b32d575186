"""Cases as a report for people: what each annotator says, with the evidence quoted.

Every text of the run is cleaned and what looks like a secret is masked. Writes no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from arcview.annotations.scheme import Scheme
from arcview.model.annotation import Case, Effect, Evidence, Origin, PointerState, Reading
from arcview.secrets import mask_secrets
from arcview.session.annotate_targets import Targets
from arcview.session.export_blocks import Block, Bullets, Cell, Code, Heading, Paragraph, Table
from arcview.session.export_markdown import markdown
from arcview.text import clean

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun

_QUOTE_LINES = 20
_QUOTE_CHARS = 2_000
_LOOKED_AT = 50_000


def report(opened: OpenRun, cases: Iterable[Case], scheme: Scheme) -> str:
    """The cases of a run as Markdown.

    Args:
        opened: The run; what evidence points at is looked up in it.
        cases: Which ones; all readings of each are shown side by side.
        scheme: Names the codes.
    """
    return markdown(tuple(_Report(opened, scheme).blocks(tuple(cases))))


class _Report:
    def __init__(self, opened: OpenRun, scheme: Scheme) -> None:
        self._opened = opened
        self._scheme = scheme
        self._targets = Targets(opened)

    def blocks(self, cases: tuple[Case, ...]) -> Iterator[Block]:
        run = self._opened.run
        yield Heading(1, _safe(f"Cases of {run.chain.task_id}"))
        parts = [
            run.run_id,
            run.agent,
            run.model,
            f"{len(cases)} case{'' if len(cases) == 1 else 's'}",
        ]
        yield Paragraph(_safe(" · ".join(part for part in parts if part)))
        for case in cases:
            yield from self._case(case)

    def _case(self, case: Case) -> Iterator[Block]:
        about = f" about {case.unit}" if case.unit else ""
        yield Heading(2, _safe(f"Case {case.id}{about}"))
        settled = case.adjudicated
        if settled is not None:
            yield Paragraph(_safe(f"Settled by {settled.annotator}."))
        names = [reading.annotator for reading in case.readings]
        rows = list(self.rows(case))
        yield Table(
            ("", *(_safe(name) for name in names)),
            tuple((Cell(name), *(Cell(_safe(text)) for text in texts)) for name, texts in rows),
        )
        for reading in case.readings:
            yield from self._reading(reading)

    def rows(self, case: Case) -> Iterator[tuple[str, list[str]]]:
        """(Field, what each annotator says), fields that nobody filled left out."""
        columns = [dict(side_by_side(reading, self._scheme)) for reading in case.readings]
        for name in dict.fromkeys(name for column in columns for name in column):
            yield name, [column.get(name, "") for column in columns]

    def _reading(self, reading: Reading) -> Iterator[Block]:
        if reading.note:
            yield Paragraph(_safe(f"{reading.annotator}: {reading.note}"))
        if reading.adopted_from:
            names = ", ".join(reading.adopted_from)
            yield Paragraph(_safe(f"{reading.annotator} took labels over from {names}."))
        if reading.imported:
            yield Paragraph(_safe(f"Imported from {reading.imported}."))
        if reading.suggested:
            yield Paragraph("Taken over from suggestions:")
            yield Bullets(tuple(Cell(_safe(line)) for line in _taken_over(reading)))
        if reading.evidence:
            yield Heading(3, _safe(f"Evidence of {reading.annotator}"))
        for number, one in enumerate(reading.evidence, 1):
            yield from self._evidence(number, one, reading)

    def _evidence(self, number: int, one: Evidence, reading: Reading) -> Iterator[Block]:
        state = self._targets.check(one.pointer)
        caption = f"{number}. {one.pointer.address}"
        supports = _supported(one, reading)
        caption += f" ({supports})" if supports else ""
        if state is not PointerState.OK:
            caption += f" — {state.value}"
        if one.note:
            caption += f": {one.note}"
        found = self._targets.find(one.pointer.address)
        if found is None:
            yield Paragraph(_safe(caption), tone="bad")
        else:
            yield Code(_quote(found.quote), _safe(caption))


def side_by_side(reading: Reading, scheme: Scheme) -> Iterator[tuple[str, str]]:
    """(Field, what a reading says of it) in the order of the form; one line a field."""
    yield "status", reading.status.value
    if reading.validity is not None:
        yield "validity", scheme.name_of("validity", reading.validity)
    if reading.no_origin:
        yield "origin", "none"
    for number, origin in enumerate(reading.origins, 1):
        name = "origin" if number == 1 else f"origin {number}"
        yield name, origin_text(origin) or "not located"
        for field, code in (("defect", origin.defect), ("cause", origin.cause)):
            if code is not None:
                yield f"{name}: {field}", scheme.name_of(field, code)
        if origin.causes:
            yield f"{name}: causes", ", ".join(scheme.name_of("cause", c) for c in origin.causes)
    for effect in reading.effects:
        yield f"effect on gate {effect.gate}", effect_text(effect, scheme)
    for aware in reading.awareness:
        parts = [scheme.name_of("awareness", aware.level), *aware.flags]
        yield f"awareness in stage {aware.stage}", ", ".join(part for part in parts if part)
    if reading.outcome:
        yield "outcome", ", ".join(scheme.name_of("outcome", code) for code in reading.outcome)
    if reading.grade is not None:
        yield "grade", scheme.name_of("grade", reading.grade)
    if reading.confidence is not None:
        yield "confidence", scheme.name_of("confidence", str(reading.confidence))


def origin_text(origin: Origin) -> str:
    """Where an origin is, in one line."""
    parts = [f"stage {origin.stage}"] if origin.stage is not None else []
    if origin.step_number is not None:
        parts.append(f"#{origin.step_number}")
    elif origin.step is not None:
        parts.append(origin.step)
    if origin.last_step is not None:
        number = origin.last_step_number
        parts.append(f"to {origin.last_step if number is None else f'#{number}'}")
    if origin.path is not None:
        lines = "-".join(dict.fromkeys(map(str, origin.lines))) if origin.lines else ""
        parts.append(f"{origin.path}:{lines}" if lines else origin.path)
    if origin.symbol:
        parts.append(origin.symbol)
    if origin.contract_item:
        parts.append(f"“{origin.contract_item}”")
    return " ".join(parts)


def effect_text(effect: Effect, scheme: Scheme) -> str:
    """What an effect is, in one line."""
    parts = [scheme.name_of("mechanism", code) for code in effect.mechanisms]
    if effect.verdict_before or effect.verdict_after:
        parts.append(f"{effect.verdict_before or '?'} → {effect.verdict_after or '?'}")
    if effect.tests:
        parts.append(f"{len(effect.tests)} tests" if len(effect.tests) > 1 else effect.tests[0])
    return ", ".join(parts)


def _taken_over(reading: Reading) -> Iterator[str]:
    """Each rule with the fields that it proposed."""
    fields: dict[str, list[str]] = {}
    for path, by in reading.suggested.items():
        fields.setdefault(f"rule {by.rule}, version {by.version}", []).append(
            path.rpartition("/")[2]
        )
    for rule, names in fields.items():
        yield f"{rule}: {', '.join(names)}"


def _supported(one: Evidence, reading: Reading) -> str:
    if reading.origin(one.supports) is not None:
        return "origin"
    effect = next((e for e in reading.effects if e.id == one.supports), None)
    return f"effect on gate {effect.gate}" if effect is not None else ""


def _quote(text: str) -> str:
    """The first lines of what stands there, with a word on what is left out."""
    # Masked before it is cut: half of a secret would not look like one.
    shown = _safe(text[:_LOOKED_AT])
    kept = "\n".join(shown.split("\n")[:_QUOTE_LINES])[:_QUOTE_CHARS]
    left = len(text) - len(kept)
    return f"{kept}\n… {left:,} more characters" if len(kept) < len(shown) else kept


def _safe(text: str) -> str:
    return clean(mask_secrets(text))
