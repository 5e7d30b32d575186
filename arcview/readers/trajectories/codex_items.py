"""Items of Codex logs → parts of the model: contents, calls, results.

Pure: no files, no order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from arcview.model.trajectory import Image, ToolCall, ToolKind, ToolResult
from arcview.readers.trajectories.contents import image_at, mapping
from arcview.readers.trajectories.records import as_json, parsed, text_or_none
from arcview.readers.trajectories.tools import command_of, kind_of, patch_of, path_of

ENCRYPTED = "(reasoning that the provider encrypted)"

_HEADER = re.compile(
    r"(?:Chunk ID|Wall time|Original token count|Total output lines|Output|Exit code"
    r"|Process exited with code|Process running with session ID)\b:? ?(.*)"
)
_HEADER_LINES = 12
_FAILURES = (
    "apply_patch verification failed",
    "apply_patch handler received",
    "exec_command failed",
    "execution error",
    "failed to parse function arguments",
    "failed to parse exec_command arguments",
    "unsupported call",
    "unsupported custom tool call",
    "write_stdin failed",
)
"""How the client starts an output when nothing was run."""


@dataclass(slots=True)
class Content:
    """Texts and images of a message or an output, in order per kind."""

    texts: list[str] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All texts below each other."""
        return "\n".join(self.texts)


def content_of(value: object) -> Content:
    """Reads a text, a part, a list of parts, or something else as JSON."""
    content = Content()
    for part in value if isinstance(value, list) else [value]:
        _add_part(content, part)
    return content


def _add_part(content: Content, part: object) -> None:
    if part is None:
        return
    if isinstance(part, str):
        content.texts.append(part)
        return
    fields = mapping(part)
    text = next((fields[key] for key in ("text", "message") if fields.get(key)), None)
    url = fields.get("image_url", fields.get("url"))
    if isinstance(text, str):
        content.texts.append(text)
    elif fields.get("type") in ("input_image", "image", "local_image") or isinstance(url, str):
        address = url if isinstance(url, str) else fields.get("path")
        known = isinstance(address, str) and bool(address)
        content.images.append(image_at(str(address)) if known else Image("image"))
    elif "encrypted_content" in fields:
        content.texts.append("(content that the provider encrypted)")
    elif "content" in fields:
        inner = content_of(fields["content"])
        content.texts += inner.texts
        content.images += inner.images
    elif not (isinstance(text, str) or fields.get("type") in ("input_text", "output_text")):
        content.texts.append(as_json(part))


def call_of(item: Mapping[str, object], key: str) -> ToolCall:
    """The tool call that a response item asks for, without its result."""
    name, given = _name_and_arguments(item)
    arguments, raw, remark = _parsed(given)
    kind = kind_of(name, arguments)
    patch = patch_of(arguments) if kind is ToolKind.SHELL else None
    if patch is not None:
        rest = {key: value for key, value in arguments.items() if key not in ("command", "cmd")}
        kind, arguments = ToolKind.EDIT, {"input": patch, **rest}
    return ToolCall(
        key=key,
        name=name,
        kind=kind,
        arguments=arguments,
        raw_arguments=raw,
        command=command_of(kind, arguments),
        path=path_of(kind, arguments) or _seen_path(name, arguments),
        note=remark,
    )


def _name_and_arguments(item: Mapping[str, object]) -> tuple[str, object]:
    """What is called and what with; built-in tools have no name and their own fields."""
    function = mapping(item.get("function"))
    name = text_or_none(item.get("name")) or text_or_none(function.get("name"))
    match item.get("type"):
        case "local_shell_call":
            return name or "local_shell", item.get("action")
        case "web_search_call":
            return name or "web_search", item.get("action")
        case "tool_search_call":
            return name or "tool_search", item.get("arguments")
        case "image_generation_call":
            return name or "image_generation", {"prompt": item.get("revised_prompt")}
        case "custom_tool_call":
            return name or "(no name)", _free_form(item.get("input"))
        case _:
            given = item.get("arguments", function.get("arguments"))
            return _qualified(item, name or "(no name)"), given


def _qualified(item: Mapping[str, object], name: str) -> str:
    """A tool of a server has the server's name before its own."""
    space = text_or_none(item.get("namespace"))
    return f"{space}.{name}" if space and not name.startswith(space) else name


def _free_form(given: object) -> object:
    """Free text stays text, as the one argument; some tools get JSON that way."""
    if isinstance(given, str) and not given.lstrip().startswith("{"):
        return {"input": given}
    return given


def _parsed(given: object) -> tuple[Mapping[str, object], str | None, str | None]:
    """Arguments as a mapping, or as the text that they are, with a remark."""
    if given is None or given == "":
        return {}, None, None
    if isinstance(given, dict):
        return given, None, None
    value: object = given
    if isinstance(given, str):
        try:
            value = parsed(given)
        except (ValueError, RecursionError):
            return {}, given, "the arguments are not JSON"
    if isinstance(value, dict):
        return value, None, None
    raw = given if isinstance(given, str) else as_json(given)
    return {}, raw, "the arguments are not a JSON object"


def _seen_path(name: str, arguments: Mapping[str, object]) -> str | None:
    return text_or_none(arguments.get("path")) if name == "view_image" else None


def result_of(output: object, at: str | None) -> ToolResult:
    """The result that the model was shown; see the shapes in the format notes."""
    content = content_of(output)
    text = content.text
    code: int | None = None
    told = mapping(output).get("success")
    structured = _structured(text)
    if structured is not None:
        text, code = structured
    else:
        code = _header_code(text)
    failed = text.startswith(_FAILURES) or told is False
    return ToolResult(
        text=text,
        is_error=True if failed else (told if isinstance(told, bool) else None),
        exit_code=code,
        images=tuple(content.images),
        at=at,
    )


def _structured(text: str) -> tuple[str, int | None] | None:
    """Output and exit code of `{"output": …, "metadata": {"exit_code": …}}`."""
    if not text.startswith("{") or '"metadata"' not in text:
        return None
    try:
        value = parsed(text)
    except (ValueError, RecursionError):
        return None
    fields = mapping(value)
    metadata = fields.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(fields.get("output"), str):
        return None
    return str(fields["output"]), code_of(metadata.get("exit_code"))


def _header_code(text: str) -> int | None:
    """The exit code in the lines that the client puts before the output.

    Only these lines are believed: what a command prints may look the same.
    """
    for line in text[:600].split("\n")[:_HEADER_LINES]:
        match = _HEADER.fullmatch(line)
        if match is None or line.startswith("Process running"):
            return None
        if line.startswith(("Exit code", "Process exited")) and _is_number(match[1]):
            return int(match[1])
    return None


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d{1,10}", text) is not None


def code_of(value: object) -> int | None:
    """An exit code; null where there is none."""
    return value if type(value) is int else None
