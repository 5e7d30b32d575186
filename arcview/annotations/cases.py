"""Events → cases: what stands after every edit, retraction and undo. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from arcview.annotations.events import CaseEvent, EventKind
from arcview.model.annotation import (
    Awareness,
    Case,
    CaseStatus,
    Effect,
    Evidence,
    Origin,
    Pointer,
    Reading,
    SuggestedBy,
)
from arcview.model.run import Run

T = TypeVar("T", Origin, Effect)

LISTS = ("origins", "effects", "awareness", "evidence")
"""Fields of a reading that hold parts with ids: `origins/<id>/defect`."""
_PLAIN = ("validity", "no_origin", "outcome", "grade", "confidence", "note")
_RANGES = ("lines", "via_lines")
_KEPT_APART = ("status", *_PLAIN, *LISTS)


def case_id(run_id: str, unit: str | None, ordinal: int = 0) -> str:
    """The id of a case: the same for everybody who begins one about the same failing gate.

    So two people who do not see each other's labels label the same case.

    Args:
        run_id: The run.
        unit: The failing gate it is about.
        ordinal: 0 for the first case about it, 1 for a second.
    """
    text = "\n".join((run_id, unit or "", str(ordinal)))
    return "c" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def fingerprint(run: Run) -> str:
    """A hash of what a run says about itself: equal on every machine, for every copy of it."""
    parts = [run.layout, run.chain.task_id, run.agent, run.model, run.attempt]
    parts += [f"{stage.index} {stage.status}" for stage in run.stages]
    parts += [f"{g.gate} {g.state} {g.f2p} {g.p2p} {g.other}" for g in run.gates]
    text = "\n".join(str(part) for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def standing(events: Sequence[CaseEvent]) -> list[CaseEvent]:
    """The events that count: neither undos nor taken back, in their order."""
    taken: set[str | None] = set()
    found: list[CaseEvent] = []
    for event in reversed(events):
        if event.id in taken:
            continue
        if event.kind is EventKind.UNDO:
            taken.add(event.of)
        else:
            found.append(event)
    return found[::-1]


def case_from(events: Sequence[CaseEvent]) -> Case:
    """The case that the events of one case id make, in the order in which they count."""
    by_annotator: dict[str, list[CaseEvent]] = {}
    for event in events:
        by_annotator.setdefault(event.by, []).append(event)
    readings = [
        # What was taken back was seen all the same.
        replace(reading_from(name, stands), blind=all(event.blind for event in own))
        for name, own in sorted(by_annotator.items())
        if (stands := standing(own))
    ]
    unit = next((event.unit for event in events if event.unit is not None), None)
    return Case(events[0].case, events[0].run_id, unit, tuple(readings))


def reading_from(annotator: str, events: Sequence[CaseEvent]) -> Reading:
    """One person's reading from their events that stand; at least one."""
    found = _reading_from(annotator, events)
    shared = next((n for n, event in enumerate(events) if _is_shared(event)), len(events))
    # A draft that grew out of others' labels has no judgement of one's own before them.
    finals = (n for n in range(shared, 0, -1) if shared < len(events))
    own = (_reading_from(annotator, events[:n]) for n in finals)
    return replace(
        found,
        adopted_from=tuple(dict.fromkeys(e.adopted_from for e in events if e.adopted_from)),
        before=next((one for one in own if one.status is CaseStatus.FINAL), None),
    )


def _is_shared(event: CaseEvent) -> bool:
    """Whether from here on a reading is no longer one person's own judgement."""
    return (
        event.adopted_from is not None or event.values.get("status") == CaseStatus.ADJUDICATED.value
    )


def _reading_from(annotator: str, events: Sequence[CaseEvent]) -> Reading:
    values: dict[str, object] = {}
    suggested: dict[str, SuggestedBy] = {}
    for event in events:
        for path in event.removed:
            for known in [k for k in values if k == path or k.startswith(f"{path}/")]:
                del values[known]
                suggested.pop(known, None)
        for path, value in event.values.items():
            values[path] = value
            suggested.pop(path, None)
            if event.suggested_by is not None:
                suggested[path] = event.suggested_by
        if event.kind is EventKind.RETRACT:
            values["status"] = CaseStatus.RETRACTED.value
    shown, last = _Values(values), events[-1]
    return Reading(
        annotator=annotator,
        status=_status(values.get("status")),
        validity=shown.text("validity"),
        no_origin=value if isinstance(value := values.get("no_origin"), bool) else None,
        origins=shown.parts("origins", Origin),
        effects=shown.parts("effects", Effect),
        awareness=shown.awareness(),
        outcome=shown.texts("outcome"),
        evidence=shown.evidence(),
        grade=shown.text("grade"),
        confidence=value if isinstance(value := values.get("confidence"), int) else None,
        note=shown.text("note") or "",
        scheme=next((e.scheme for e in reversed(events) if e.scheme), None),
        created=events[0].at,
        updated=last.at,
        blind=all(event.blind for event in events),
        imported=next((e.imported for e in events if e.imported), None),
        suggested=suggested,
        extra=shown.extra(),
    )


def flat(reading: Reading) -> dict[str, object]:
    """The paths and values that make a reading: what a file of ours holds of it."""
    found: dict[str, object] = {"status": reading.status.value}
    found |= {name: _json(getattr(reading, name)) for name in _PLAIN}
    for name in ("origins", "effects"):
        for part in getattr(reading, name):
            found |= _flat_part(f"{name}/{part.id}", part)
    for aware in reading.awareness:
        found[f"awareness/{aware.stage}/level"] = aware.level
        found[f"awareness/{aware.stage}/step"] = aware.step
        found[f"awareness/{aware.stage}/flags"] = list(aware.flags)
    for one in reading.evidence:
        found |= evidence_values(one)
    kept = {name: value for name, value in found.items() if value not in (None, [], "")}
    return kept | dict(reading.extra)


def evidence_values(one: Evidence) -> dict[str, object]:
    """The paths and values of one piece of evidence."""
    where = f"evidence/{one.id}"
    return {
        f"{where}/address": one.pointer.address,
        f"{where}/sha256": one.pointer.sha256,
        f"{where}/note": one.note,
        f"{where}/supports": one.supports,
    }


def _flat_part(where: str, part: Origin | Effect) -> dict[str, object]:
    names = [one.name for one in fields(part) if one.name != "id"]
    return {f"{where}/{name}": _json(getattr(part, name)) for name in names}


def _json(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _status(value: object) -> CaseStatus:
    return next((status for status in CaseStatus if status.value == value), CaseStatus.DRAFT)


class _Values:
    """Typed views of paths and values; what is of a wrong type counts as not said."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values
        self._parts: dict[str, dict[str, dict[str, object]]] = {name: {} for name in LISTS}
        for path, value in values.items():
            name, _, rest = path.partition("/")
            part, _, attribute = rest.partition("/")
            if name in self._parts and part and attribute:
                self._parts[name].setdefault(part, {})[attribute] = value

    def text(self, name: str) -> str | None:
        return _text(self._values.get(name))

    def texts(self, name: str) -> tuple[str, ...]:
        return _texts(self._values.get(name))

    def parts(self, name: str, type_: type[T]) -> tuple[T, ...]:
        return tuple(
            type_(**{"id": part} | _typed(type_, values))
            for part, values in self._parts[name].items()
        )

    def awareness(self) -> tuple[Awareness, ...]:
        found = (
            Awareness(
                int(stage), _text(values.get("level")), _text(values.get("step")),
                _texts(values.get("flags")),
            )
            for stage, values in self._parts["awareness"].items()
            if stage.isdecimal()
        )  # fmt: skip
        return tuple(sorted(found, key=lambda aware: aware.stage))

    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(
            Evidence(
                part,
                Pointer(address, _text(values.get("sha256"))),
                _text(values.get("note")) or "",
                _text(values.get("supports")),
            )
            for part, values in self._parts["evidence"].items()
            if (address := _text(values.get("address"))) is not None
        )

    def extra(self) -> dict[str, object]:
        return {
            path: value
            for path, value in self._values.items()
            if path.partition("/")[0] not in _KEPT_APART
        }


def _typed(type_: type[Origin] | type[Effect], values: Mapping[str, object]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in fields(type_):
        value = values.get(part.name)
        if part.name in _RANGES:
            found[part.name] = _range(value)
        elif part.name in ("causes", "tests", "mechanisms"):
            found[part.name] = _texts(value)
        elif part.name in ("stage", "step_number", "last_step_number"):
            found[part.name] = value if isinstance(value, int) else None
        elif part.name != "id":
            found[part.name] = _text(value)
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...]:
    items: Iterable[object] = value if isinstance(value, list | tuple) else ()
    return tuple(item for item in items if isinstance(item, str))


def _range(value: object) -> tuple[int, int] | None:
    match value:
        case [int(first), int(last)] | (int(first), int(last)):
            return first, last
    return None
