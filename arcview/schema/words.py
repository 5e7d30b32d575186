"""The versions of the formats and the way a wrong value is named; loads no pydantic."""

from __future__ import annotations

from collections.abc import Mapping

RUN_VERSION = "arcview/run/1"
CHAIN_VERSION = "arcview/chain/1"
RESULT_VERSION = "arcview/gate-result/1"
SHOW_VERSION = "arcview/show/1"

_MAX_SHOWN = 80


def shown(value: object) -> str:
    """A short form of a JSON value for an error line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"
