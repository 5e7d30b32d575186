"""Where a label goes: the paths of a case's fields, and what a taken-over suggestion sets. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from arcview.analysis.suggestions import Suggestion
from arcview.annotations.cases import flat
from arcview.annotations.events import CaseEvent, EventKind
from arcview.annotations.scheme import Field, Scheme
from arcview.model.annotation import Reading
from arcview.session.annotate_marks import Part, new_id

_NAMES = {"mechanism": "mechanisms", "awareness": "level", "awareness_flags": "flags"}
"""What a field is called in the part that carries it, where that is not its id."""
_LISTS = {"origin": "origins", "effect": "effects", "awareness": "awareness"}


def path_of(field: Field, reading: Reading | None, part: Part | None) -> str | None:
    """Where a label of a field goes; null where nobody said which stage is meant."""
    if field.of == "case":
        return field.id
    where = part_path(field.of, reading, part)
    return None if where is None else f"{where}/{_NAMES.get(field.id, field.id)}"


def part_path(carrier: str, reading: Reading | None, part: Part | None) -> str | None:
    """The origin, effect or stage that labels go to: the one in hand, the first, or a new one.

    Args:
        carrier: `origin`, `effect` or `awareness`.
        reading: The case as it stands.
        part: What is in hand.
    """
    kind = _LISTS[carrier]
    if part is not None and part.kind == kind:
        return f"{kind}/{part.id}"
    if carrier == "awareness":
        stages = [effect.stage for effect in reading.effects if effect.stage] if reading else []
        return f"awareness/{stages[0]}" if stages else None
    parts = () if reading is None else reading.origins if carrier == "origin" else reading.effects
    return f"{kind}/{parts[0].id if parts else new_id()}"


def value_at(reading: Reading | None, path: str) -> object:
    """What a reading holds at a path, as it is stored; null where it holds nothing."""
    return flat(reading).get(path) if reading is not None else None


def toggled(field: Field, old: object, code: str) -> object:
    """The value after a code was chosen: the same again takes it away."""
    if field.kind == "many":
        had = old if isinstance(old, list) else []
        return [one for one in had if one != code] if code in had else [*had, code]
    if old is not None and str(old) == code:
        return None
    return int(code) if field.id == "confidence" and code.isdecimal() else code


def adopted(
    theirs: Mapping[str, object], wanted: Sequence[str], *, whole: bool
) -> dict[str, object]:
    """What is taken over of another reading: evidence only of the parts that come with it.

    Args:
        theirs: From `flat`.
        wanted: Paths; what is below them is taken.
        whole: Evidence that speaks for the case as a whole comes too.
    """
    found = {p: v for p, v in theirs.items() if is_below(p, wanted) and p != "status"}
    parts = {p.split("/")[1] for p in found if p.startswith(("origins/", "effects/"))}
    for path in [p for p in found if p.startswith("evidence/")]:
        supports = theirs.get(f"evidence/{path.split('/')[1]}/supports")
        if not (supports in parts or (whole and supports is None)):
            del found[path]
    return found


_SAID = {
    "defect",
    "cause",
    "causes",
    "mechanisms",
    "level",
    "flags",
    "symbol",
    "via_symbol",
    "note",
}
"""Attributes of parts that are labels of their own; the rest says where the part is."""


def what_was_set(event: CaseEvent | None) -> str:
    """What an event changed, in words: `defect`, `effect, evidence`, `final`."""
    if event is None:
        return "a change"
    if event.kind is EventKind.RETRACT:
        return "the retraction"
    words = dict.fromkeys(_word(path, event.values.get(path)) for path in event.values)
    words |= dict.fromkeys(_word(path, None) for path in event.removed)
    return ", ".join([*words][:4]) or "a change"


def _word(path: str, value: object) -> str:
    name, _, rest = path.partition("/")
    attribute = rest.partition("/")[2]
    if name == "status" and isinstance(value, str):
        return value
    if name == "evidence" or not rest:
        return name.replace("_", " ")
    word = {"origins": "origin", "effects": "effect"}.get(name, name)
    if attribute not in _SAID:
        return word
    return word if attribute == "level" else attribute.removeprefix("via_")


def suggested_values(
    scheme: Scheme, suggestion: Suggestion, reading: Reading | None, part: Part | None
) -> dict[str, object] | None:
    """What taking a suggestion over sets; null where the scheme does not have its label."""
    if suggestion.field == "origin":
        where = part_path("origin", reading, part)
        return {f"{where}/{name}": value for name, value in suggestion.values.items()}
    field = scheme.field(suggestion.field)
    if field is None or field.find(suggestion.code) is None:
        return None
    where = _carrier_path(field, suggestion, reading, part)
    path = f"{where}/{_NAMES.get(field.id, field.id)}" if where else field.id
    value: object = suggestion.code
    if field.kind == "many":
        old = value_at(reading, path)
        value = [*dict.fromkeys((*(old if isinstance(old, list) else ()), suggestion.code))]
    values: dict[str, object] = {path: value}
    if field.of == "awareness" and suggestion.step is not None:
        values[f"{where}/step"] = suggestion.step
    if field.of == "effect" and suggestion.gate is not None:
        values[f"{where}/gate"] = suggestion.gate
        if suggestion.stage is not None:
            values[f"{where}/stage"] = suggestion.stage
    return values


def _carrier_path(
    field: Field, suggestion: Suggestion, reading: Reading | None, part: Part | None
) -> str | None:
    """The part of the case that a suggestion speaks of; null for the case itself."""
    if field.of == "case":
        return None
    if field.of == "awareness" and suggestion.stage is not None:
        return f"awareness/{suggestion.stage}"
    if field.of == "effect" and suggestion.gate is not None:
        effects = reading.effects if reading is not None else ()
        known = next((e.id for e in effects if e.gate == suggestion.gate), None)
        return f"effects/{known or new_id()}"
    return part_path(field.of, reading, part)


def is_below(path: str, wanted: Iterable[str]) -> bool:
    """Whether a path is one of some, or stands below one."""
    return any(path == one or path.startswith(f"{one}/") for one in wanted)


def without_evidence(reading: Reading) -> tuple[str, ...]:
    """The origins and effects that nothing speaks for, in words."""
    supported = {one.supports for one in reading.evidence}
    lacking = [
        f"origin {place}"
        for place, origin in enumerate(reading.origins, 1)
        if origin.id not in supported
    ]
    lacking += [
        f"the effect on gate {effect.gate}"
        for effect in reading.effects
        if effect.id not in supported
    ]
    return tuple(lacking)
