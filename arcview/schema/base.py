"""What all format models share: strict types, kept unknown fields, and the words of the format."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints


class Model(BaseModel):
    """Base of every format model. Unknown fields are kept; field docstrings reach the schema.

    Validate with `model_validate(json.loads(text))`: types are strict, so `"3"` is no number.
    """

    model_config = ConfigDict(
        extra="allow",
        strict=True,
        allow_inf_nan=False,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )


def _check_time(value: str) -> str:
    datetime.fromisoformat(value)
    return value


Timestamp = Annotated[str, AfterValidator(_check_time)]
"""An ISO 8601 time; with a zone, or it can be compared with nothing."""

StateId = Annotated[
    str, StringConstraints(pattern=r"^[SR](0|[1-9][0-9]*)(\.[A-Za-z0-9][A-Za-z0-9_-]*)?$")
]
"""`S0`, `S2`, `S2.refactor`, `R1`."""

GateId = Annotated[str, StringConstraints(pattern=r"^([1-9][0-9]*|chain)$")]
"""`1` … `n`, or `chain`."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
TreeId = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
"""A git tree id, SHA-1 or SHA-256."""

StageIndex = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]
Dollars = Annotated[float, Field(ge=0)]

StatusWord = Literal[
    "completed",
    "interrupted",
    "agent_timeout",
    "agent_error",
    "infrastructure_error",
    "skipped",
    "not_started",
]
VerdictWord = Literal["passed", "failed", "unmeasured"]
GroupWord = Literal["f2p", "p2p", "other"]
OutcomeWord = Literal[
    "passed",
    "failed",
    "error",
    "skipped",
    "xfailed",
    "xpassed",
    "timeout",
    "missing",
    "not_run",
]
ProvenanceWord = Literal["recorded", "inferred", "unknown"]


class Usage(Model):
    """Tokens and cost. What is unknown is null or absent, never 0."""

    input_tokens: Count | None = None
    """Tokens sent, cached ones included."""
    cached_tokens: Count | None = None
    """Those of `input_tokens` that came from a cache."""
    output_tokens: Count | None = None
    """Tokens produced, reasoning included."""
    reasoning_tokens: Count | None = None
    """Those of `output_tokens` that were reasoning."""
    cost_usd: Dollars | None = None
    """US dollars."""
