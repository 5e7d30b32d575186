"""One case as one JSON record, every annotator's fields side by side; and back. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from arcview.annotations.cases import reading_from
from arcview.annotations.events import CaseEvent, EventKind
from arcview.errors import BadInputError
from arcview.model.annotation import Case, Effect, Origin, Reading, SuggestedBy
from arcview.secrets import mask_secrets

SCHEMA = "arcview/case/1"

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class RunAbout:
    """What an export says of the run that a case belongs to."""

    run_id: str
    task_id: str | None = None
    agent: str | None = None
    model: str | None = None
    layout: str | None = None


def case_record(case: Case, about: RunAbout) -> Json:
    """The record of a case. What nobody said is null, never left out."""
    settled = case.adjudicated
    return {
        "schema": SCHEMA,
        "case": case.id,
        "run_id": case.run_id,
        "task_id": about.task_id,
        "agent": about.agent,
        "model": about.model,
        "layout": about.layout,
        "unit": case.unit,
        "adjudicated": settled.annotator if settled is not None else None,
        "annotators": {reading.annotator: reading_record(reading) for reading in case.readings},
    }


def reading_record(reading: Reading) -> Json:
    """One person's fields; what looks like a secret in their words is masked."""
    return {
        "status": reading.status.value,
        "validity": reading.validity,
        "no_origin": reading.no_origin,
        "origins": [_part(origin) for origin in reading.origins],
        "effects": [_part(effect) for effect in reading.effects],
        "awareness": [
            {"stage": one.stage, "level": one.level, "step": one.step, "flags": list(one.flags)}
            for one in reading.awareness
        ],
        "outcome": list(reading.outcome),
        "evidence": [
            {
                "id": one.id,
                "address": one.pointer.address,
                "sha256": one.pointer.sha256,
                "note": mask_secrets(one.note),
                "supports": one.supports,
            }
            for one in reading.evidence
        ],
        "grade": reading.grade,
        "confidence": reading.confidence,
        "note": mask_secrets(reading.note),
        "scheme": reading.scheme,
        "created": reading.created,
        "updated": reading.updated,
        "blind": reading.blind,
        "imported": reading.imported,
        "suggested_by": {
            path: {"rule": by.rule, "version": by.version, "inputs": by.inputs}
            for path, by in reading.suggested.items()
        },
        "adopted_from": list(reading.adopted_from),
        "before": None if reading.before is None else reading_record(reading.before),
        "extra": dict(reading.extra),
    }


def case_from_record(record: Mapping[str, object], file: str, where: str = "") -> Case:
    """The case of a record that `case_record` made, or a later version of it.

    Args:
        record: As read from JSON; unknown fields of a reading are kept among its extra ones.
        file: Its file, for messages.
        where: Which record of it.

    Raises:
        BadInputError: it is none.
    """
    if record.get("schema") != SCHEMA:
        raise BadInputError(file, f"expected {SCHEMA!r}", f"{where}.schema".lstrip("."))
    case, run_id = record.get("case"), record.get("run_id")
    if not isinstance(case, str) or not isinstance(run_id, str):
        raise BadInputError(file, "expected the ids of case and run", where or None)
    readings = record.get("annotators")
    if not isinstance(readings, Mapping):
        raise BadInputError(file, "expected an object", f"{where}.annotators".lstrip("."))
    unit = record.get("unit")
    return Case(
        case,
        run_id,
        unit if isinstance(unit, str) else None,
        tuple(
            _reading(str(name), reading, file, f"{where}.annotators.{name}".lstrip("."))
            for name, reading in sorted(readings.items())
        ),
    )


_TOLD = (
    "scheme", "created", "updated", "blind", "imported", "suggested_by", "adopted_from", "before",
    "extra",
)  # fmt: skip
"""What a record tells about a reading, which is no label."""


def values_of_record(record: Mapping[str, Any], file: str, where: str) -> dict[str, object]:
    """The paths and values that one person's fields make.

    Raises:
        BadInputError: a list of parts is none.
    """
    extra = record.get("extra")
    values: dict[str, object] = dict(extra) if isinstance(extra, Mapping) else {}
    for name, value in record.items():
        if name in ("origins", "effects", "awareness", "evidence"):
            values |= _values_of_parts(name, value, file, f"{where}.{name}")
        elif name not in _TOLD and value not in (None, [], ""):
            values[name] = value
    return values


def _values_of_parts(name: str, parts: object, file: str, where: str) -> dict[str, object]:
    if not isinstance(parts, list) or not all(isinstance(part, Mapping) for part in parts):
        raise BadInputError(file, "expected a list of objects", where)
    key = "stage" if name == "awareness" else "id"
    return {
        f"{name}/{_id(part.get(key, place))}/{attribute}": _id(value)
        if attribute == "supports"
        else value
        for place, part in enumerate(parts, 1)
        for attribute, value in part.items()
        if attribute != key and value not in (None, [], "")
    }


def _id(value: object) -> str:
    """The id of a part, fit for a path of fields."""
    return str(value).replace("/", "-")


def _reading(annotator: str, record: object, file: str, where: str) -> Reading:
    if not isinstance(record, Mapping):
        raise BadInputError(file, "expected an object", where)
    at, blind = record.get("created"), record.get("blind")
    event = CaseEvent(
        "import", 0, at if isinstance(at, str) else "", annotator, "", "", EventKind.CREATE,
        values=values_of_record(record, file, where), blind=blind is True,
        scheme=_text(record.get("scheme")), imported=_text(record.get("imported")),
    )  # fmt: skip
    found = reading_from(annotator, [event])
    before = record.get("before")
    return replace(
        found,
        adopted_from=adopted_of_record(record),
        before=None if before is None else _reading(annotator, before, file, f"{where}.before"),
        created=_text(record.get("created")),
        updated=_text(record.get("updated")),
        suggested=suggested_of_record(record),
    )


def adopted_of_record(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Whose labels were taken over."""
    names = record.get("adopted_from")
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def suggested_of_record(record: Mapping[str, Any]) -> dict[str, SuggestedBy]:
    """Path → rule, of the labels that were taken over from a suggestion."""
    suggested = record.get("suggested_by")
    if not isinstance(suggested, Mapping):
        return {}
    return {
        str(path): SuggestedBy(str(by["rule"]), int(by["version"]), str(by["inputs"]))
        for path, by in suggested.items()
        if isinstance(by, Mapping) and {"rule", "version", "inputs"} <= by.keys()
    }


def _part(part: Origin | Effect) -> Json:
    found = {one.name: getattr(part, one.name) for one in fields(part)}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in found.items()
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
