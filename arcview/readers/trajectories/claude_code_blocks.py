"""Content blocks, tools, usage and times of Claude Code records → parts of the model."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping

import msgspec

from arcview.model.trajectory import Image, ToolCall, ToolKind, ToolResult
from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.contents import base64_size
from arcview.readers.trajectories.cuts import cut, cut_arguments, mark_of
from arcview.readers.trajectories.records import as_json, count_or_none, text_or_none
from arcview.readers.trajectories.usages import sent_in_all

_KINDS = {
    "Bash": ToolKind.SHELL,
    "BashOutput": ToolKind.SHELL,
    "KillShell": ToolKind.SHELL,
    "KillBash": ToolKind.SHELL,
    "Read": ToolKind.READ,
    "NotebookRead": ToolKind.READ,
    "LS": ToolKind.READ,
    "Write": ToolKind.WRITE,
    "Edit": ToolKind.EDIT,
    "MultiEdit": ToolKind.EDIT,
    "NotebookEdit": ToolKind.EDIT,
    "Glob": ToolKind.SEARCH,
    "Grep": ToolKind.SEARCH,
    "WebSearch": ToolKind.SEARCH,
    "Task": ToolKind.TASK,
    "Agent": ToolKind.TASK,
}
_PATH_KEYS = ("file_path", "notebook_path", "path")
_PATH_KINDS = frozenset({ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT})
_RESULT_KEYS = ("toolUseResult", "tool_use_result")
_ODD = "the arguments are not a JSON object"
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (\d{1,3})\b")


class Parts(msgspec.Struct):
    """What the content of one message holds, in order of appearance per kind."""

    blocks: list[tuple[str, str]] = []
    """(`text` or `thinking`, its text)."""
    tool_uses: list[Mapping[str, object]] = []
    results: list[Mapping[str, object]] = []
    images: list[Image] = []

    @property
    def text(self) -> str:
        """All text blocks below each other."""
        return "\n".join(text for kind, text in self.blocks if kind == "text")


def parts_of(content: object) -> Parts:
    """Sorts the content of a message: a text, a list of blocks, or something else as JSON."""
    parts = Parts()
    if isinstance(content, str):
        parts.blocks.append(("text", content))
    elif isinstance(content, list):
        for block in content:
            _add_block(parts, block)
    elif content is not None:
        parts.blocks.append(("text", as_json(content)))
    return parts


def _add_block(parts: Parts, block: object) -> None:
    if isinstance(block, str):
        parts.blocks.append(("text", block))
        return
    if not isinstance(block, dict):
        parts.blocks.append(("text", as_json(block)))
        return
    kind = block.get("type")
    if kind == "tool_use":
        parts.tool_uses.append(block)
        return
    if kind == "tool_result":
        parts.results.append(block)
        return
    match kind:
        case "text" if isinstance(block.get("text"), str):
            parts.blocks.append(("text", block["text"]))
        case "thinking" if isinstance(block.get("thinking"), str):
            parts.blocks.append(("thinking", block["thinking"]))
        case "redacted_thinking":
            parts.blocks.append(("thinking", "(thinking that the provider encrypted)"))
        case "server_tool_use" | "mcp_tool_use":
            parts.tool_uses.append(block)
        case str() if kind.endswith("tool_result"):
            parts.results.append(block)
        case "image":
            parts.images.append(_image(block))
        case "document" if _data_of(_source_of(block)):
            parts.images.append(_image(block))
        case _:
            parts.blocks.append(("text", as_json(block)))


def _source_of(block: Mapping[str, object]) -> Mapping[str, object]:
    source = block.get("source")
    return source if isinstance(source, dict) else {}


def _data_of(source: Mapping[str, object]) -> str | None:
    """The content of an image or a document, where it stands there in base64."""
    return text_or_none(source.get("data")) if source.get("type") != "text" else None


def _image(block: Mapping[str, object]) -> Image:
    source = _source_of(block)
    data = _data_of(source)
    return Image(
        media_type=text_or_none(source.get("media_type")) or "image",
        data_base64=data,
        path=text_or_none(source.get("url")),
        size_bytes=None if data is None else base64_size(data),
    )


def cut_call(block: Mapping[str, object]) -> Mapping[str, object]:
    """A `tool_use` block with its long arguments cut."""
    given = block.get("input")
    kept: object = given
    if isinstance(given, dict):
        kept = cut_arguments(given)
    elif given is not None:
        kept = cut(given if isinstance(given, str) else as_json(given))
    return {"name": block.get("name"), "input": kept}


def tool_call(
    block: Mapping[str, object],
    key: str,
    result: ToolResult | None = None,
    note: str | None = None,
) -> ToolCall:
    """A tool call; a remark on its arguments comes before the one that is given."""
    name = text_or_none(block.get("name")) or "(no name)"
    kind = _KINDS.get(name, ToolKind.OTHER)
    raw = block.get("input")
    arguments: Mapping[str, object] = raw if isinstance(raw, dict) else {}
    is_odd = raw is not None and not isinstance(raw, dict)
    path = next((value for key in _PATH_KEYS if (value := arguments.get(key))), None)
    return ToolCall(  # by place: the names cost a tenth
        key,
        name,
        kind,
        arguments,
        (raw if isinstance(raw, str) else as_json(raw)) if is_odd else None,
        text_or_none(arguments.get("command")) if kind is ToolKind.SHELL else None,
        text_or_none(path) if kind in _PATH_KINDS else None,
        result,
        "; ".join(filter(None, (_ODD, note))) if is_odd else note or None,
    )


def task_prompt(block: Mapping[str, object]) -> Hashable:
    """What a `tool_use` block tells a sub-agent, as `mark_of` has it; null for nothing."""
    arguments = block.get("input")
    prompt = arguments.get("prompt") if isinstance(arguments, dict) else None
    return mark_of(prompt.strip()) if isinstance(prompt, str) and prompt.strip() else None


def more_of(record: Mapping[str, object]) -> object:
    """What the client recorded beside the results in a record; null where nothing is."""
    return next((record[key] for key in _RESULT_KEYS if key in record), None)


def tool_result(
    block: Mapping[str, object], richer: object, at: str | None
) -> tuple[ToolResult, str | None]:
    """A tool result and a remark on it.

    Args:
        block: The `tool_result` block.
        richer: `toolUseResult` of the record, if any: a mapping with more than the block has.
        at: When it was recorded.
    """
    text, images = _shown(block.get("content"))
    more: Mapping[str, object] = richer if isinstance(richer, dict) else {}
    if not text:
        streams = [text_or_none(more.get(stream)) for stream in ("stdout", "stderr")]
        text = "\n".join(filter(None, streams)) or text_or_none(richer) or ""
    is_error = block.get("is_error")
    code = _EXIT_CODE.match(text) if is_error is True else None
    result = ToolResult(
        text,
        is_error if isinstance(is_error, bool) else None,
        int(code[1]) if code else None,
        images,
        at,
    )
    return result, ("; ".join(_remarks(more)) or None) if more else None


def _shown(content: object) -> tuple[str, tuple[Image, ...]]:
    """Text and images of the content of a result; most are nothing but a text."""
    if isinstance(content, str):
        return content, ()
    parts = parts_of(content)
    return parts.text, tuple(parts.images)


def _remarks(more: Mapping[str, object]) -> Iterable[str]:
    """What the client recorded beside the output."""
    if more.get("interrupted") is True:
        yield "interrupted"
    if task := text_or_none(more.get("backgroundTaskId")):
        yield f"went on in the background as {task}"
    if meaning := text_or_none(more.get("returnCodeInterpretation")):
        yield meaning


def usage_of(usage: object, cost: object = None) -> Usage | None:
    """Token counts of a message; null when nothing was counted, which the client writes as 0.

    The client counts what came from the cache, or went into it, beside its input.
    """
    told = usage.get if isinstance(usage, dict) else {}.get
    cached = count_or_none(told("cache_read_input_tokens"))
    stored = count_or_none(told("cache_creation_input_tokens"))
    spent = sent_in_all(count_or_none(told("input_tokens")), cached, stored)
    written = count_or_none(told("output_tokens"))
    dollars = cost if isinstance(cost, (int, float)) and not isinstance(cost, bool) else None
    if not (spent or cached or written or dollars):
        return None
    return Usage(spent, cached, written, None, float(dollars) if dollars else None)
