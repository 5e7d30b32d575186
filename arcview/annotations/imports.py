"""Foreign and own records → drafts to save, with a note on everything that was assumed. Pure.

Read: our own export, Who&When records, and plain records of one case and rater each. Labels that
the scheme does not have are kept and pointed out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arcview.annotations.cases import flat, reading_from
from arcview.annotations.events import CaseEvent, EventKind
from arcview.annotations.import_steps import StepBase, step_base
from arcview.annotations.records import (
    SCHEMA,
    adopted_of_record,
    case_from_record,
    suggested_of_record,
    values_of_record,
)
from arcview.annotations.scheme import Scheme, UnknownLabel
from arcview.annotations.store import Draft
from arcview.errors import BadInputError
from arcview.model.annotation import Case, SuggestedBy

FindStep = Callable[[int, int], str | None]
"""Stage and 1-based number of a model message → its key, or null."""

Labels = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How to read what a file leaves open."""

    run_id: str
    stages: int
    """Of the run; where it has one, a record needs none."""
    stage: int | None = None
    """Of records that name none."""
    base: int | None = None
    """Number of the first step in the file; null finds out or assumes."""
    by: str | None = None
    """Whose labels they are, where the file does not say."""
    replace: bool = False
    """Labels that are there already give way."""


@dataclass(slots=True)
class ImportPlan:
    """What an import would save."""

    format: str
    drafts: list[Draft] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was assumed, kept, or left out; one line each."""
    unknown: list[UnknownLabel] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Found:
    """One person's labels of one case, as a file holds them."""

    case: str
    by: str
    values: dict[str, object]
    unit: str | None = None
    suggested: Mapping[str, SuggestedBy] = field(default_factory=dict)
    scheme: str | None = None
    blind: bool = False
    adopted_from: tuple[str, ...] = ()
    before: _Found | None = None
    """What this person said before they took anything over or settled the case."""


def plan_import(
    records: Sequence[object],
    file: str,
    options: ImportOptions,
    existing: Iterable[Case],
    scheme: Scheme,
    find_step: FindStep,
) -> ImportPlan:
    """Reads records of any known shape.

    Saving the same again adds nothing.

    Args:
        records: As read from JSON.
        file: Their file, for messages.
        options: How to read what the file leaves open.
        existing: The cases of the run, whose labels are not overwritten.
        scheme: What labels are held against.
        find_step: Looks a step up.

    Raises:
        BadInputError: a record is of no known shape, or says nothing that can be imported.
    """
    if not records:
        raise BadInputError(file, "expected records, found none")
    first = records[0]
    shape = _shape(first)
    if shape is None:
        raise BadInputError(
            file,
            "records of no known shape: expected our export, mistake_step, or case and by",
            "record 1",
        )
    plan = ImportPlan(shape)
    known = {case.id: case for case in existing}
    for found in _READERS[shape](records, file, options, plan, find_step):
        _add(plan, found, options, known, scheme, file)
    return plan


def _shape(record: object) -> str | None:
    if not isinstance(record, Mapping):
        return None
    if record.get("schema") == SCHEMA:
        return "arcview"
    if "mistake_step" in record or "mistake_agent" in record:
        return "who-when"
    return "plain" if "case" in record else None


def _add(
    plan: ImportPlan,
    found: _Found,
    options: ImportOptions,
    known: Mapping[str, Case],
    scheme: Scheme,
    file: str,
) -> None:
    case = known.get(found.case)
    there = case.reading(found.by) if case is not None else None
    event = CaseEvent("", 0, "", found.by, "", found.case, EventKind.CREATE, values=found.values)
    reading = reading_from(found.by, [event])
    plan.unknown += [u for u in scheme.unknown_in(reading) if u not in plan.unknown]
    if there is not None:
        if flat(there) == flat(reading):
            return
        if not options.replace:
            plan.notes.append(f"{found.case} by {found.by}: other labels are there; kept those")
            return
    gone = tuple(p for p in flat(there) if p not in found.values) if there is not None else ()
    source = f"{file} ({plan.format})"
    if found.before is not None:
        plan.drafts += _drafts(found.before, gone, options, source)
        gone = tuple(path for path in found.before.values if path not in found.values)
    plan.drafts += _drafts(found, gone, options, source)


def _drafts(
    found: _Found, gone: tuple[str, ...], options: ImportOptions, source: str
) -> Iterator[Draft]:
    """The events of a reading: what this person set, then what they took over, from whom and whom.

    Where labels were taken over, which of them came from whom is not recorded: the last event of
    the reading has them all.
    """
    whose = found.adopted_from or (None,)
    for values, by in _by_rule(found):
        for adopted in whose:
            digest = _digest(options.run_id, found.case, found.by, values, adopted, gone)
            yield Draft(
                found.case, EventKind.CREATE, values, gone, found.unit, suggested_by=by,
                scheme=found.scheme, blind=found.blind, by=found.by, imported=source, id=digest,
                adopted_from=adopted,
            )  # fmt: skip
            gone = ()


def _by_rule(found: _Found) -> Iterator[tuple[dict[str, object], SuggestedBy | None]]:
    """The values a person set, then those taken over, rule by rule: one event has one rule."""
    yield {p: v for p, v in found.values.items() if p not in found.suggested}, None
    for by in dict.fromkeys(found.suggested.values()):
        paths = {path for path, rule in found.suggested.items() if rule == by}
        values = {path: value for path, value in found.values.items() if path in paths}
        if values:
            yield values, by


def _digest(*parts: object) -> str:
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


# The shapes


def _own(
    records: Sequence[object],
    file: str,
    options: ImportOptions,
    plan: ImportPlan,
    find_step: FindStep,
) -> Iterator[_Found]:
    others = 0
    for number, record in enumerate(records, 1):
        labels = _object(record, file, number)
        case = case_from_record(labels, file, f"record {number}")
        if case.run_id != options.run_id:
            others += 1
            continue
        for reading in case.readings:
            fields = labels["annotators"][reading.annotator]
            where = f"record {number}.annotators.{reading.annotator}"
            yield _own_reading(case, reading.annotator, fields, file, where)
    if others:
        plan.notes.append(f"{others} of {len(records)} cases belong to other runs; left out")


def _own_reading(case: Case, by: str, fields: Labels, file: str, where: str) -> _Found:
    before = fields.get("before")
    return _Found(
        case.id, by, values_of_record(fields, file, where), case.unit, suggested_of_record(fields),
        _text(fields.get("scheme")), fields.get("blind") is True, adopted_of_record(fields),
        _own_reading(case, by, before, file, f"{where}.before")
        if isinstance(before, Mapping)
        else None,
    )  # fmt: skip


def _who_when(
    records: Sequence[object],
    file: str,
    options: ImportOptions,
    plan: ImportPlan,
    find_step: FindStep,
) -> Iterator[_Found]:
    found = [_object(record, file, number) for number, record in enumerate(records, 1)]
    base = step_base(found, options.base)
    plan.notes.append(base.said)
    for number, record in enumerate(found, 1):
        name = f"record {number}"
        case = next((str(record[k]) for k in ("case", "question_ID") if record.get(k)), name)
        values: dict[str, object] = {}
        reason = record.get("mistake_reason")
        if isinstance(reason, str):
            values["note"] = reason
        agent = record.get("mistake_agent")
        if isinstance(agent, str):
            values["mistake_agent"] = agent
        values |= _origin_of_step(record, name, options, plan, base, find_step)
        by = record.get("annotator", options.by)
        if not isinstance(by, str):
            raise BadInputError(file, "nobody is named: say whose labels these are (--by)", name)
        yield _Found(case, by, values, _text(record.get("unit")))


def _origin_of_step(
    record: Labels,
    name: str,
    options: ImportOptions,
    plan: ImportPlan,
    base: StepBase,
    find_step: FindStep,
) -> dict[str, object]:
    position = _number(record.get("mistake_step"))
    stage = _number(record.get("stage")) or options.stage or (1 if options.stages == 1 else None)
    values: dict[str, object] = {"origins/imported/stage": stage} if stage is not None else {}
    if stage is None:
        plan.notes.append(f"{name}: no stage is named (--stage); its step is kept as a number")
    if position is None:
        plan.notes.append(f"{name}: no step is named")
        return values
    number = position - base.first + 1
    if number < 1:
        plan.notes.append(f"{name}: step {position} lies before the first, {base.first}")
        return values | {"mistake_step": str(position)}
    values["origins/imported/step_number"] = number
    key = find_step(stage, number) if stage is not None else None
    if key is not None:
        values["origins/imported/step"] = key
    elif stage is not None:
        plan.notes.append(f"{name}: stage {stage} has no step #{number}")
    return values


_PLAIN = {
    "validity": "validity", "grade": "grade", "confidence": "confidence", "note": "note",
    "outcome": "outcome", "root_stage": "origins/imported/stage",
    "root_step": "origins/imported/step_number", "defect": "origins/imported/defect",
    "cause": "origins/imported/cause", "labels": "origins/imported/causes",
    "causes": "origins/imported/causes",
}  # fmt: skip
"""Field of a plain record → where it goes; whatever else it has is kept as it is."""


def _plain(
    records: Sequence[object],
    file: str,
    options: ImportOptions,
    plan: ImportPlan,
    find_step: FindStep,
) -> Iterator[_Found]:
    for number, item in enumerate(records, 1):
        record = _object(item, file, number)
        by = record.get("by", options.by)
        if not isinstance(by, str):
            name = f"record {number}"
            raise BadInputError(file, "nobody is named: say whose labels these are (--by)", name)
        values: dict[str, object] = {}
        for name, value in record.items():
            if name in ("case", "by", "anchor"):
                continue
            if value not in (None, []):
                values[_PLAIN.get(name, name)] = value
        if "root_stage" in record and record["root_stage"] is None:
            values["no_origin"] = True
        values |= _anchor(record.get("anchor"), number)
        yield _Found(str(record["case"]), by, values)


def _anchor(anchor: object, number: int) -> dict[str, object]:
    """A foreign anchor as a pointer; what its text was is kept as a hash to hold it against."""
    if not isinstance(anchor, Mapping):
        return {}
    from urllib.parse import quote

    stage, path, line = anchor.get("stage"), anchor.get("file"), anchor.get("line")
    if isinstance(path, str):
        address = f"file:S{stage}/{quote(path)}" + (f"#L{line}" if line is not None else "")
    else:
        address = f"step:{stage}/{quote(str(anchor.get('step')))}"
    where, text = f"evidence/anchor{number}", anchor.get("text")
    found: dict[str, object] = {f"{where}/address": address}
    if isinstance(text, str):
        found[f"{where}/note"] = text
        found[f"{where}/sha256"] = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return found


_READERS = {"arcview": _own, "who-when": _who_when, "plain": _plain}


def _object(record: object, file: str, number: int) -> Labels:
    if not isinstance(record, Mapping) or _shape(record) is None:
        raise BadInputError(file, "expected an object like the first one", f"record {number}")
    return record


def _number(value: object) -> int | None:
    """A step or stage, also where it is written as a text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.strip().isdecimal() else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
