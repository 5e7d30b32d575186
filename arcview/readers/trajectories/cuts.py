"""What a folded step shows of its texts, so that a long log can be known without holding it.

A cut text still says how long it was and whether another one was the same. Knows no format.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from arcview.model.trajectory import Image, ToolResult

MOST = 400
"""Characters that are kept: as many as the summary of a step can show."""
_MOST_ITEMS = 8
"""Longer lists in the arguments of a call keep their length only."""
_PLAIN = frozenset({str, int})


class Cut(str):
    """The beginning of a text."""

    __slots__ = ("length", "mark")

    length: int
    """Characters of the whole text."""
    mark: Hashable
    """Equal for equal texts."""


def cut(text: str) -> str:
    """The beginning of a text; a short one as it is."""
    if len(text) <= MOST:
        return text
    found = Cut(head_of(text))
    found.length = len(text)
    found.mark = (len(text), hash(text))
    return found


def head_of(text: str) -> str:
    """The beginning of a text; blanks before it do not count."""
    return text[:MOST] if not text[:MOST].isspace() else text.lstrip()[:MOST]


def mark_of(text: str) -> Hashable:
    """Something small that is equal for equal texts, cut or not."""
    if isinstance(text, Cut):
        return text.mark
    return text if len(text) <= MOST else (len(text), hash(text))


def length_of(text: str) -> int:
    """Characters of the whole text."""
    return text.length if isinstance(text, Cut) else len(text)


def cut_arguments(arguments: Mapping[str, object]) -> Mapping[str, object]:
    """The arguments of a call with long texts cut and what is nested reduced to its size."""
    return {name: _cut_value(value) for name, value in arguments.items()}


def _cut_value(value: object) -> object:
    if isinstance(value, str):
        return cut(value)
    if isinstance(value, list):
        return [_cut_value(item) for item in value] if _is_plain(value) else [None] * len(value)
    return {} if isinstance(value, dict) else value


def _is_plain(values: list[object]) -> bool:
    return len(values) <= _MOST_ITEMS and _PLAIN.issuperset(map(type, values))


def is_short(value: object) -> bool:
    """Whether nothing of an argument is cut."""
    if isinstance(value, str):
        return len(value) <= MOST
    if isinstance(value, list):
        return _is_plain(value) and all(map(is_short, value))
    return not isinstance(value, dict)


def cut_result(result: ToolResult) -> ToolResult:
    """The result of a call without its images, which no folded step shows."""
    if len(result.text) <= MOST and not result.images:
        return result
    return ToolResult(
        cut(result.text),
        result.is_error,
        result.exit_code,
        tuple(map(cut_image, result.images)),
        result.at,
    )


def cut_image(image: Image) -> Image:
    """An image without its data."""
    return Image(image.media_type, None, image.path, image.size_bytes)
