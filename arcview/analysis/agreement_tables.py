"""Labels of many people → one table a field, ready to be compared.

Two sources: cases as arcview keeps them, and plain records of anybody's. A field that somebody left
empty is unknown; an explicit "none" is a label. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from arcview.analysis.agreement import Label, StepRange
from arcview.analysis.suggestions import Suggestion
from arcview.errors import BadInputError
from arcview.model.annotation import Case, Reading

SUGGESTED = "(suggested)"
"""The rater that stands for arcview's own rules."""


class FieldKind(StrEnum):
    """How labels of a field compare."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    MULTI = "multi"
    """Sets of labels."""
    STEP = "step"
    """A place in the trajectory."""


@dataclass(slots=True)
class LabelTable:
    """What everybody said about one field."""

    name: str
    kind: FieldKind
    scale: tuple[Label, ...] = ()
    """For ordinal fields: every label, the lowest first."""
    units: dict[str, dict[str, Label]] = field(default_factory=dict)
    """Unit → rater → label."""
    by_rule: set[tuple[str, str]] = field(default_factory=set)
    """(Unit, rater) of labels that were taken over from what a rule proposed."""

    def add(self, unit: str, rater: str, label: Label) -> None:
        """Notes one label; what a rater says last of a unit counts."""
        self.units.setdefault(unit, {})[rater] = label


KINDS: Mapping[str, FieldKind] = {
    "validity": FieldKind.NOMINAL,
    "origin_stage": FieldKind.NOMINAL,
    "origin_step": FieldKind.STEP,
    "defect": FieldKind.NOMINAL,
    "cause": FieldKind.NOMINAL,
    "causes": FieldKind.MULTI,
    "mechanism": FieldKind.MULTI,
    "awareness": FieldKind.ORDINAL,
    "awareness_flags": FieldKind.MULTI,
    "outcome": FieldKind.MULTI,
    "grade": FieldKind.ORDINAL,
    "confidence": FieldKind.ORDINAL,
}
"""The fields of a case, in the order in which they are labelled."""

Scales = Mapping[str, Sequence[str]]
"""Ordinal field → its codes, the lowest first; from the label scheme."""


def tables_of_cases(
    cases: Iterable[Case],
    scales: Scales,
    suggestions: Mapping[str, Sequence[Suggestion]] | None = None,
) -> tuple[LabelTable, ...]:
    """The tables of labelled cases, one a field, those without any label left out.

    Only what people judged on their own counts: a draft may still change, and of who took labels
    over or settled a case it is what they had said before.

    The unit is the failing gate that a case is about; of a case about no gate, the case. Where one
    person has several cases about a gate, each case is a unit of its own. Awareness has a unit for
    each stage, mechanisms one for each gate that an effect is on. Of several origins the first one
    counts for stage, step, defect and cause.

    Args:
        cases: The cases.
        scales: The scales of the ordinal fields; an ordinal field without one is nominal, and so is
            one with a label that is not on its scale.
        suggestions: By id of the case, what rules propose for it: labels of the rater `SUGGESTED`.
    """
    cases = list(cases)
    tables = {name: LabelTable(name, kind) for name, kind in KINDS.items()}
    for case, unit in zip(cases, _units(cases), strict=True):
        for reading in case.readings:
            own = reading.own_judgement
            if own is not None:
                for name, part, label, path in _labels(own):
                    tables[name].add(unit + part, reading.annotator, label)
                    if path in own.suggested:
                        tables[name].by_rule.add((unit + part, reading.annotator))
        for name, part, label in _suggested((suggestions or {}).get(case.id, ())):
            tables[name].add(unit + part, SUGGESTED, label)
    for name, scale in scales.items():
        _scale(tables[name], [*scale])
    for table in tables.values():
        if table.kind is FieldKind.ORDINAL and not table.scale:
            table.kind = FieldKind.NOMINAL
    return tuple(table for table in tables.values() if table.units)


def _units(cases: Sequence[Case]) -> list[str]:
    """The unit of each case."""
    counts: dict[tuple[str, str, str], int] = {}
    for case in cases:
        for reading in case.readings:
            key = (case.run_id, case.unit or "", reading.annotator)
            counts[key] = counts.get(key, 0) + (reading.own_judgement is not None)
    shared = {(run, unit) for (run, unit, _), count in counts.items() if count > 1}
    return [
        f"{case.run_id} {case.id}"
        if case.unit is None or (case.run_id, case.unit) in shared
        else f"{case.run_id} {case.unit}"
        for case in cases
    ]


def _scale(table: LabelTable, scale: list[Label]) -> None:
    found = {label for ratings in table.units.values() for label in ratings.values()}
    if table.kind is FieldKind.ORDINAL and found <= set(scale):
        table.scale = tuple(scale)


_Said = Iterator[tuple[str, str, Label, str]]
"""Field, part of the unit, label, and the path of the label in its reading."""


def _labels(reading: Reading) -> _Said:
    """Everything that a reading says."""
    for name, value in (("validity", reading.validity), ("grade", reading.grade)):
        if value is not None:
            yield name, "", value, name
    if reading.confidence is not None:
        yield "confidence", "", str(reading.confidence), "confidence"
    if reading.outcome:
        yield "outcome", "", frozenset(reading.outcome), "outcome"
    yield from _origin_labels(reading)
    mechanisms: dict[str, set[str]] = {}
    paths: dict[str, str] = {}
    for effect in reading.effects:
        if effect.mechanisms:
            gate = effect.gate if effect.gate is not None else f"stage {effect.stage}"
            mechanisms.setdefault(gate, set()).update(effect.mechanisms)
            path = f"effects/{effect.id}/mechanisms"
            if gate not in paths or path in reading.suggested:
                paths[gate] = path
    for gate, found in mechanisms.items():
        yield "mechanism", f" gate {gate}", frozenset(found), paths[gate]
    for aware in reading.awareness:
        where = f"awareness/{aware.stage}"
        if aware.level is not None:
            yield "awareness", f" stage {aware.stage}", aware.level, f"{where}/level"
        if aware.flags:
            flags = frozenset(aware.flags)
            yield "awareness_flags", f" stage {aware.stage}", flags, f"{where}/flags"


def _origin_labels(reading: Reading) -> _Said:
    if reading.no_origin:
        for name in ("origin_stage", "origin_step"):
            yield name, "", None, "no_origin"
    if not reading.origins:
        return
    origin = reading.origins[0]
    where = f"origins/{origin.id}"
    if origin.stage is not None:
        yield "origin_stage", "", origin.stage, f"{where}/stage"
    if origin.step_number is not None:
        last = origin.last_step_number or origin.step_number
        step = StepRange(origin.stage, *sorted((origin.step_number, last)))
        yield "origin_step", "", step, f"{where}/step_number"
    for name, code in (("defect", origin.defect), ("cause", origin.cause)):
        if code is not None:
            yield name, "", code, f"{where}/{name}"
    if origin.causes:
        yield "causes", "", frozenset(origin.causes), f"{where}/causes"


def _suggested(suggestions: Sequence[Suggestion]) -> Iterator[tuple[str, str, Label]]:
    """(Field, part of the unit, label) of what rules propose: of several codes the first."""
    single: dict[tuple[str, str], Label] = {}
    several: dict[tuple[str, str], set[str]] = {}
    for one in suggestions:
        stage = f" stage {one.stage}" if one.stage is not None else ""
        gate = f" gate {one.gate}" if one.gate is not None else ""
        part = {"awareness": stage, "awareness_flags": stage, "mechanism": gate}.get(one.field, "")
        if one.field == "origin":
            at, number = one.values.get("stage"), one.values.get("step_number")
            if isinstance(at, int):
                single.setdefault(("origin_stage", ""), at)
                if isinstance(number, int):
                    single.setdefault(("origin_step", ""), StepRange(at, number, number))
        elif KINDS.get(one.field) is FieldKind.MULTI:
            several.setdefault((one.field, part), set()).add(one.code)
        elif one.field in KINDS:
            single.setdefault((one.field, part), one.code)
    for (name, part), label in single.items():
        yield name, part, label
    for (name, part), codes in several.items():
        yield name, part, frozenset(codes)


_NAMES = ("case", "item", "unit", "id")
_RATERS = ("by", "annotator", "rater")


def tables_of_records(records: Iterable[object], file: str) -> tuple[LabelTable, ...]:
    """The tables of plain records, one a field, in the order in which fields appear.

    Three shapes are read: one record a case and rater (`{"case": …, "by": …, field: label …}`), one
    record a case with everybody side by side (`{"case": …, "annotators": {rater: {field: label
    …}}}`), and one record an item with a column a rater (`{"item": …, rater: label …}`), whose one
    field is called `label`. A list of codes is a set of labels; an object, or a list of objects,
    has a label for each of its parts; a field whose name ends in `step` is a step (a number, or
    two); null is an explicit none.

    Args:
        records: As read from JSON.
        file: Their file, for messages.

    Raises:
        BadInputError: a record is of neither shape.
    """
    tables: dict[str, LabelTable] = {}
    for number, record in enumerate(records, 1):
        for unit, rater, fields in _readings(record, f"record {number}", file):
            stage = fields.get("root_stage", fields.get("origin_stage"))
            for name, value in fields.items():
                _note(tables, unit, rater, name, value, stage)
    return tuple(tables.values())


def _readings(
    record: object, where: str, file: str
) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    if not isinstance(record, Mapping):
        raise BadInputError(file, "expected an object", where)
    unit = next((record[name] for name in _NAMES if name in record), None)
    if not isinstance(unit, str | int):
        raise BadInputError(file, f"expected one of {', '.join(_NAMES)}", where)
    if isinstance(record.get("run_id"), str):
        unit = f"{record['run_id']} {unit}"
    side_by_side = record.get("annotators")
    if isinstance(side_by_side, Mapping):
        for rater, fields in side_by_side.items():
            if not isinstance(fields, Mapping):
                raise BadInputError(file, "expected an object", f"{where}.annotators.{rater}")
            yield str(unit), str(rater), fields
        return
    rater = next((record[name] for name in _RATERS if name in record), None)
    if rater is None and "item" in record:
        for column, label in record.items():
            if column != "item":
                yield str(unit), str(column), {"label": label}
        return
    if not isinstance(rater, str):
        raise BadInputError(file, f"expected annotators, or one of {', '.join(_RATERS)}", where)
    known = {*_NAMES, *_RATERS, "run_id"}
    yield str(unit), rater, {name: value for name, value in record.items() if name not in known}


def _note(
    tables: dict[str, LabelTable], unit: str, rater: str, name: str, value: object, stage: object
) -> None:
    if isinstance(value, Mapping):
        for key, label in value.items():
            _note(tables, f"{unit} {key}", rater, name, label, stage)
        return
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        for place, item in enumerate(value, 1):
            for key, label in item.items():
                _note(tables, f"{unit} {name} {place}", rater, f"{name}.{key}", label, stage)
        return
    is_step = name.endswith("step")
    kind = FieldKind.NOMINAL
    if is_step:
        kind = FieldKind.STEP
    elif isinstance(value, list):
        kind = FieldKind.MULTI
    table = tables.setdefault(name, LabelTable(name, kind))
    table.add(unit, rater, _step(value, stage) if is_step else _label(value))


def _label(value: object) -> Label:
    if isinstance(value, list):
        return frozenset(str(item) for item in value)
    return value if isinstance(value, str | int | float | None) else str(value)


def _step(value: object, stage: object) -> Label:
    ends = value if isinstance(value, list) else [value]
    numbers = [end for end in ends if isinstance(end, int) and not isinstance(end, bool)]
    if not numbers:
        return None
    return StepRange(stage if isinstance(stage, int) else None, min(numbers), max(numbers))
