"""One event of labelling and its line in the store.

A line is JSON that ends in a checksum of itself, so that no part of a line and no line that
somebody else wrote is ever taken for one of ours.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from arcview.model.annotation import SuggestedBy

SCHEMA = "arcview/case-event/1"
_SUM = re.compile(rb',"sum":"([0-9a-f]{16})"\}')


class EventKind(StrEnum):
    """What was done."""

    CREATE = "create"
    EDIT = "edit"
    RETRACT = "retract"
    UNDO = "undo"
    """Takes one earlier event back; taking back an undo does it again."""


@dataclass(frozen=True, slots=True)
class CaseEvent:
    """One thing that one person did to their reading of one case.

    Fields are set one by one, by path: `validity`, `origins/<id>/defect`, `awareness/3/level`.
    Whoever sets another field at the same time loses nothing.
    """

    id: str
    order: int
    """Above that of every event that was known when it was made; settles what came later."""
    at: str
    """ISO 8601, UTC."""
    by: str
    """Whose reading it belongs to."""
    run_id: str
    case: str
    kind: EventKind
    unit: str | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    """Paths that are taken away, with everything below them."""
    of: str | None = None
    """The event that an undo takes back."""
    suggested_by: SuggestedBy | None = None
    """The rule whose proposal the values are."""
    scheme: str | None = None
    blind: bool = False
    """Others' labels and the suggestions were hidden when it was made."""
    imported: str | None = None
    run_hash: str | None = None
    """Of what the run said about itself then."""
    adopted_from: str | None = None
    """The annotator whose labels the values are."""


def to_line(event: CaseEvent) -> bytes:
    """The line of an event, with its newline."""
    body = json.dumps(_as_json(event), separators=(",", ":"), allow_nan=False).encode("ascii")
    return body[:-1] + b',"sum":"' + _checksum(body) + b'"}\n'


def from_line(line: bytes) -> CaseEvent:
    """Reads a line, without its newline.

    Raises:
        ValueError: it is none of ours, or not whole; says which.
    """
    end = _SUM.search(line, max(0, len(line) - 27))
    if end is None or end.end() != len(line):
        raise ValueError(_what_it_is(line))
    body = line[: end.start()] + b"}"
    if _checksum(body) != end[1]:
        raise ValueError("its checksum does not fit: it was changed by hand or damaged")
    try:
        return _from_json(json.loads(body))
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"not an event that this version knows: {error}") from None


def _what_it_is(line: bytes) -> str:
    try:
        json.loads(line)
    except ValueError:
        return "not a whole line: torn, or no JSON"
    return "written by another program: it has no checksum"


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest()[:16].encode("ascii")


def _as_json(event: CaseEvent) -> dict[str, object]:
    """The fields in use, in the order people read them."""
    found: dict[str, object] = {
        "schema": SCHEMA,
        "event": event.id,
        "n": event.order,
        "at": event.at,
        "by": event.by,
        "run": event.run_id,
        "case": event.case,
        "kind": event.kind.value,
    }
    suggested = event.suggested_by
    optional: dict[str, object] = {
        "unit": event.unit,
        "set": dict(event.values),
        "unset": list(event.removed),
        "of": event.of,
        "suggested_by": None
        if suggested is None
        else {"rule": suggested.rule, "version": suggested.version, "inputs": suggested.inputs},
        "scheme": event.scheme,
        "blind": event.blind,
        "imported": event.imported,
        "run_hash": event.run_hash,
        "adopted_from": event.adopted_from,
    }
    return found | {name: value for name, value in optional.items() if value}


def _from_json(data: dict[str, Any]) -> CaseEvent:
    if data["schema"] != SCHEMA:
        raise ValueError(f"schema {data['schema']!r}")
    suggested = data.get("suggested_by")
    values = data.get("set", {})
    if not isinstance(values, dict) or not isinstance(data["n"], int):
        raise TypeError("a field is of a wrong type")
    return CaseEvent(
        id=_text(data["event"]),
        order=data["n"],
        at=_text(data["at"]),
        by=_text(data["by"]),
        run_id=_text(data["run"]),
        case=_text(data["case"]),
        kind=EventKind(data["kind"]),
        unit=data.get("unit"),
        values=values,
        removed=tuple(_text(path) for path in data.get("unset", ())),
        of=data.get("of"),
        suggested_by=None
        if suggested is None
        else SuggestedBy(suggested["rule"], suggested["version"], suggested["inputs"]),
        scheme=data.get("scheme"),
        blind=data.get("blind") is True,
        imported=data.get("imported"),
        run_hash=data.get("run_hash"),
        adopted_from=data.get("adopted_from"),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("expected a text")
    return value
