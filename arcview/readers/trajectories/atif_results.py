"""Contents and results as ATIF writers spell them → parts of the model.

The format has no exit codes: they are read from what the usual agents write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from arcview.model.trajectory import Image, ToolResult
from arcview.readers.trajectories.atif_marks import images_of, marks_of

# Only at the very start or end: in between, a command may print whatever it likes.
_EXIT_CODE = re.compile(
    r"""
    \A\[?exit\ code:?\ (-?\d{1,10})\b
    | \[exit\ code:?\ (-?\d{1,10})\]\s*\Z
    | \[The\ command\ completed\ with\ exit\ code\ (-?\d{1,10})\.?\]\s*\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MINI_KEYS = frozenset({"returncode", "output", "exception_info"})


def content_of(value: object) -> tuple[str, tuple[Image, ...]]:
    """The text and images of a message or result: a text, a list of parts, or null.

    What is neither is kept as the JSON that it is.
    """
    if value is None:
        return "", ()
    if isinstance(value, str):
        return value, ()
    if not isinstance(value, list):
        return json.dumps(value, ensure_ascii=False), ()
    texts: list[str] = []
    images: list[Image] = []
    for part in value:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, dict) and part.get("type") in ("image", "audio"):
            images.append(_image(part))
        else:
            texts.append(part if isinstance(part, str) else json.dumps(part, ensure_ascii=False))
    return "\n".join(texts), tuple(images)


def _image(part: Mapping[str, object]) -> Image:
    source = part.get("source")
    fields: Mapping[str, object] = source if isinstance(source, dict) else {}
    media_type, path, data = (fields.get(key) for key in ("media_type", "path", "data"))
    return Image(
        media_type=media_type if isinstance(media_type, str) else str(part.get("type")),
        data_base64=data if isinstance(data, str) else None,
        path=path if isinstance(path, str) else None,
    )


def result_of(record: Mapping[str, object]) -> ToolResult:
    """One entry of `observation.results`."""
    text, images = content_of(record.get("content"))
    extra = record.get("extra")
    more: Mapping[str, object] = extra if isinstance(extra, dict) else {}
    code, at = more.get("exit_code"), more.get("timestamp")
    exit_code = code if type(code) is int else None
    # Recorded as null, it is known that nothing is known: no phrase is read for it.
    if exit_code is None and "exit_code" not in more:
        text, exit_code = _from_mini(text) or (text, _from_phrase(text))
    return ToolResult(
        text,
        _is_error(more),
        exit_code,
        images=(*images, *images_of(marks_of(record))),
        at=at if isinstance(at, str) else None,
    )


def _from_mini(text: str) -> tuple[str, int | None] | None:
    """The output and exit code from the JSON text that mini-swe-agent's converter writes."""
    if not text.startswith("{") or '"returncode"' not in text:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict) or not set(value) <= _MINI_KEYS:
        return None
    code, output, failed = (value.get(key) for key in ("returncode", "output", "exception_info"))
    lines = [part for part in (output, failed) if isinstance(part, str) and part]
    # With an exception the command never ran; -1 is no exit code then.
    return "\n".join(lines), code if type(code) is int and not failed else None


def _from_phrase(text: str) -> int | None:
    match = _EXIT_CODE.search(text)
    return int(match[match.lastindex or 0]) if match else None


def _is_error(extra: Mapping[str, object]) -> bool | None:
    """Whether the tool itself called its result an error, where a converter kept that."""
    metadata = extra.get("tool_result_metadata")
    places = [extra, metadata]
    if isinstance(metadata, dict):
        places.append(metadata.get("raw_tool_result"))
    for place in places:
        if isinstance(place, dict) and isinstance(place.get("is_error"), bool):
            return bool(place["is_error"])
    return None
