"""Documents in which one value at a time is something else, for readers that must take them all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    1e300,
    "",
    "text",
    "\ud800",
    [],
    ["x"],
    [None],
    [[]],
    {},
    {"a": 1},
    [{}],
    [{"type": "image"}],
    [{"type": "tool_use", "input": []}],
    [{"type": "tool_result", "content": 3}],
)


def with_odd_values(document: Any) -> Iterator[Any]:
    """The document once for each of its places and each odd value there."""
    for path in _places(document, ()):
        for odd in ODD:
            changed = json.loads(json.dumps(document))
            place = changed
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = odd
            yield changed


def _places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(inner, (*path, index))
