"""Contents of messages as the common model interfaces write them → texts, calls and images.

Shared by the readers of trajectories; imports no reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from arcview.model.trajectory import Image
from arcview.readers.trajectories.records import Record, as_json, text_or_none

_TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})
_CALLS = frozenset({"tool_use", "server_tool_use"})
_RESULTS = frozenset({"tool_result", "web_search_tool_result"})
_MEDIA = frozenset({"audio", "document", "file", "image", "image_url", "input_audio", "video"}) | {
    "input_file",
    "input_image",
}
_PATCH = re.compile(r"^(?:diff --git |--- \S|Index: )", re.MULTILINE)
_ENCRYPTED = "(thinking that the provider encrypted)"

Resolve = Callable[[str], str]
"""Gives the text that a reference stands for; any other text as it is."""


@dataclass(slots=True)
class Parts:
    """What a content holds, in order of appearance per kind."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[Record] = field(default_factory=list)
    results: list[Record] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All texts below each other."""
        return "\n".join(self.texts)

    @property
    def thinking(self) -> str:
        """All thoughts below each other."""
        return "\n".join(self.thoughts)


def mapping(value: object) -> Record:
    """The value when it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[object]:
    """The value when it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def _same(text: str) -> str:
    return text


def parts_of(content: object, resolve: Resolve = _same) -> Parts:
    """Sorts a content: a text, a list of parts, or something else, which is kept as JSON.

    Args:
        content: As the message has it.
        resolve: For formats that keep long texts elsewhere.
    """
    parts = Parts()
    if isinstance(content, str):
        parts.texts.append(resolve(content))
    elif isinstance(content, list):
        for part in content:
            _add(parts, part, resolve)
    elif isinstance(content, dict):
        _add(parts, content, resolve)
    elif content is not None:
        parts.texts.append(as_json(content))
    return parts


def _add(parts: Parts, part: object, resolve: Resolve) -> None:
    if isinstance(part, str):
        parts.texts.append(resolve(part))
        return
    if not isinstance(part, dict):
        parts.texts.append(as_json(part))
        return
    kind = text_or_none(part.get("type"))
    if kind in _CALLS:
        parts.calls.append(part)
    elif kind in _RESULTS:
        parts.results.append(part)
    elif kind in ("thinking", "reasoning", "redacted_thinking"):
        parts.thoughts += thoughts_of(part, resolve)
    elif kind in _MEDIA:
        parts.images.append(_medium(part, str(kind), resolve))
    elif kind == "refusal" and isinstance(part.get("refusal"), str):
        parts.texts.append(resolve(part["refusal"]))
    elif isinstance(part.get("text"), str) and (kind in _TEXTS or kind is None):
        parts.texts.append(resolve(part["text"]))
    else:
        parts.texts.append(as_json(part))


def thoughts_of(part: Record, resolve: Resolve = _same) -> Iterable[str]:
    """The texts of one reasoning part; what is only there in encrypted form is said to be so."""
    if part.get("type") == "redacted_thinking" or part.get("redacted") is True:
        summary = text_or_none(part.get("summary"))
        return [resolve(summary) if summary else _ENCRYPTED]
    for key in ("thinking", "reasoning", "text"):
        if told := text_or_none(part.get(key)):
            return [resolve(told)]
    found: list[str] = []
    for key in ("summary", "content"):
        value = part.get(key)
        if isinstance(value, list):
            found += parts_of(value, resolve).texts
        elif isinstance(value, str) and value:
            found.append(resolve(value))
    if not found and text_or_none(part.get("encrypted_content")):
        return [_ENCRYPTED]
    return found


def image_at(address: str, media_type: str = "image") -> Image:
    """The image at an address: a data URL is opened, any other address kept.

    Args:
        address: `data:image/png;base64,…`, another URL or a file name.
        media_type: What it is where the address does not say.
    """
    head, comma, data = address.partition(",")
    if not head.startswith("data:") or not comma:
        return Image(media_type=media_type, path=address)
    named, _, encoding = head.removeprefix("data:").partition(";")
    if "base64" not in encoding:
        return Image(media_type=named or media_type, path=address)
    return Image(media_type=named or media_type, data_base64=data, size_bytes=base64_size(data))


def patch_in(text: str | None) -> str | None:
    """A submitted text when it is a patch; some submit whatever their last command printed."""
    return text if text is not None and _PATCH.search(text) else None


def base64_size(data: str) -> int:
    """How many bytes a base64 text stands for."""
    return max(0, len(data) * 3 // 4 - data[-2:].count("="))


def _medium(part: Record, kind: str, resolve: Resolve) -> Image:
    """A placeholder for an image, sound, film or document."""
    source = part.get("source")
    if isinstance(source, Mapping):
        data = text_or_none(source.get("data"))
        return Image(
            media_type=text_or_none(source.get("media_type")) or kind,
            data_base64=data,
            path=text_or_none(source.get("url")) or text_or_none(source.get("path")),
            size_bytes=None if data is None else base64_size(data),
        )
    for key in ("image_url", "image", "audio", "video", "document", "input_audio", "file"):
        value = part.get(key)
        media_type = kind.removesuffix("_url").removeprefix("input_")
        if isinstance(value, Mapping):
            bare = text_or_none(value.get("data"))
            if bare is not None and not bare.startswith("data:"):
                return Image(media_type, data_base64=bare, size_bytes=base64_size(bare))
            value = value.get("url") or bare or value.get("file_data")
        if isinstance(value, str) and value:
            return image_at(resolve(value), media_type)
    return Image(media_type=kind)
