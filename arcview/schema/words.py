"""The versions of the formats and the way a wrong value is named; loads no pydantic."""

from __future__ import annotations

import json
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
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"


_LINE_ENDS = str.maketrans({end: repr(end)[1:-1] for end in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"})


def one_line(text: str) -> str:
    """The text with its line ends written out, since a fault is one line whatever it quotes."""
    return text.translate(_LINE_ENDS)
