"""Turns pydantic's errors into lines that a user can act on: which field, and what it should be.

Nothing of pydantic's own wording reaches a user.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from arcview.schema.words import shown

_UNION_TAGS = frozenset({"int", "str", "float", "bool"})
"""Pydantic appends the member of a union that it tried to the location of the error."""

_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "value_error": "an ISO 8601 time such as 2026-01-31T12:00:00Z",
}
_PATTERNS = {
    "sha256:": "an image digest (sha256: and 64 hex digits)",
    "{40}": "a git tree id (40 or 64 hex digits)",
    "{64}$": "a sha256 (64 hex digits)",
    "chain)$": '"1" … "n" or "chain"',
    "^[SR]": "a state id such as S0, S2, S2.refactor or R1",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "{} or more"),
    "greater_than": ("gt", "more than {}"),
    "less_than_equal": ("le", "{} or less"),
    "less_than": ("lt", "less than {}"),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong in one document."""

    field: str
    """Dotted path with indexes (`stages[1].usage.cost_usd`); empty for the document itself."""
    expected: str
    """`expected a whole number, found "3"`."""


def find_faults(model: type[BaseModel], data: object) -> tuple[Fault, ...]:
    """Every fault of a parsed JSON document, in the order of its fields; empty when it is right."""
    try:
        model.model_validate(data)
    except ValidationError as error:
        return explain(error)
    return ()


def explain(error: ValidationError) -> tuple[Fault, ...]:
    """One fault for each wrong field of a failed validation."""
    by_field: dict[str, list[ErrorDetails]] = {}
    for details in error.errors(include_url=False):
        location = list(details["loc"])
        if len(location) > 1 and location[-1] in _UNION_TAGS:
            location.pop()
        by_field.setdefault(field_path(location), []).append(details)
    return tuple(Fault(field, _sentence(group)) for field, group in by_field.items())


def field_path(location: Sequence[str | int]) -> str:
    """`("stages", 1, "end")` → `stages[1].end`."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def _sentence(group: Sequence[ErrorDetails]) -> str:
    if group[0]["type"] == "missing":
        return "required, and missing"
    expected = " or ".join(dict.fromkeys(_expected(details) for details in group))
    return f"expected {expected}, found {shown(group[0]['input'])}"


def _expected(details: ErrorDetails) -> str:
    kind = details["type"]
    context = details.get("ctx", {})
    if kind == "literal_error":
        return str(context["expected"]).replace("'", '"')
    if kind == "string_pattern_mismatch":
        pattern = str(context["pattern"])
        return next((text for key, text in _PATTERNS.items() if key in pattern), pattern)
    if kind in _BOUNDS:
        name, text = _BOUNDS[kind]
        return text.format(context[name])
    if kind in ("too_short", "string_too_short"):
        return "at least one entry" if kind == "too_short" else "text that is not empty"
    return _TYPES.get(kind, kind.replace("_", " "))
