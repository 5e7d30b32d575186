"""What rules propose for a case: each with its reason, its rule and what the rule looked at. Pure.

Nothing here is a label: a person takes a suggestion over or leaves it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as default


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the run that a suggestion rests on."""

    address: str
    """Where it stands."""
    text: str
    """The line or sentence, hostile and untruncated."""
    start: int = 0
    """Offsets of what decided, in `text`; equal where nothing is to be highlighted."""
    end: int = 0


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One label that a rule proposes."""

    field: str
    """Id of a field of the label scheme, or `origin`."""
    code: str
    """The label; empty for `origin`."""
    title: str
    """In a few words: `M1 persists in gate 3`."""
    reason: str
    """Why, in one line."""
    rule: str
    version: int
    inputs: str
    """Hash of what the rule looked at, see `inputs_hash`."""
    spans: tuple[Span, ...] = ()
    stage: int | None = None
    """Whose awareness it is."""
    gate: str | None = None
    """Which gate's effect it is."""
    step: str | None = None
    """Key of the step that shows it."""
    values: Mapping[str, object] = default(default_factory=dict)
    """For `origin`: its fields."""
    exact: bool = False
    """It follows from what is recorded, not from likeness of texts."""


def inputs_hash(*parts: object) -> str:
    """A short hash of what a rule looked at: texts, numbers, nulls and lists of them."""
    text = json.dumps(parts, default=str)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]
