"""Tool calls and results as ATIF writers spell them → parts of the model.

The format names no tools and has no exit codes: both are read from what the usual agents write.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping

from arcview.model.trajectory import Image, ToolKind, ToolResult

_KINDS = {
    ToolKind.SHELL: (
        "bash", "bash_command", "bashoutput", "cmd", "container.exec", "exec_command",
        "execute_bash", "execute_command", "killshell", "local_shell", "run_bash", "run_command",
        "run_shell_command", "sh", "shell", "terminal",
    ),
    ToolKind.READ: (
        "list_dir", "list_directory", "ls", "notebookread", "open_file", "read", "read_file",
        "read_many_files", "view", "view_file",
    ),
    ToolKind.WRITE: ("create", "create_file", "write", "write_file"),
    ToolKind.EDIT: (
        "apply_patch", "edit", "edit_file", "multi_edit", "multiedit", "notebookedit", "replace",
        "search_replace", "str_replace", "str_replace_based_edit_tool", "str_replace_editor",
    ),
    ToolKind.SEARCH: (
        "codebase_search", "file_search", "find", "glob", "grep", "grep_search", "search",
        "search_file_content", "web_search", "websearch",
    ),
    ToolKind.TASK: ("agent", "delegate", "dispatch_agent", "spawn_agent", "task"),
}  # fmt: skip
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names}

_EDITORS = frozenset({"str_replace_editor", "str_replace_based_edit_tool"})
"""One tool for several things; its argument `command` says which."""
_EDITOR_KINDS = {"view": ToolKind.READ, "create": ToolKind.WRITE}

_COMMAND_KEYS = ("command", "cmd", "keystrokes", "script")
_PATH_KEYS = ("file_path", "path", "absolute_path", "filename", "notebook_path", "target_file")
_WITH_PATH = (ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT)

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


def kind_of(name: str, arguments: Mapping[str, object]) -> ToolKind:
    """What a tool does, by its name as the usual agents spell it."""
    lower = name.lower()
    if lower in _EDITORS:
        return _EDITOR_KINDS.get(str(arguments.get("command")), ToolKind.EDIT)
    return _KIND_OF.get(lower, ToolKind.OTHER)


def command_of(kind: ToolKind, arguments: Mapping[str, object]) -> str | None:
    """The shell text of a shell call; argument vectors are quoted, `bash -c` ones unwrapped."""
    if kind is not ToolKind.SHELL:
        return None
    value = next((arguments[key] for key in _COMMAND_KEYS if arguments.get(key)), None)
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        is_wrapped = len(value) == 3 and value[1] in ("-c", "-lc")
        return str(value[2]) if is_wrapped else shlex.join(value)
    return value if isinstance(value, str) else None


def path_of(kind: ToolKind, arguments: Mapping[str, object]) -> str | None:
    """The file that a call reads or changes."""
    if kind not in _WITH_PATH:
        return None
    paths = (arguments.get(key) for key in _PATH_KEYS)
    return next((path for path in paths if isinstance(path, str) and path), None)


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
    code = more.get("exit_code")
    exit_code = code if type(code) is int else None
    if exit_code is None:
        text, exit_code = _from_mini(text) or (text, _from_phrase(text))
    return ToolResult(text, _is_error(more), exit_code, images)


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
