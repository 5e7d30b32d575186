"""What a tool does, by its name and arguments as the usual agents spell them.

Shared by the readers of trajectories; imports no reader.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from arcview.model.trajectory import ToolKind

_KINDS = {
    ToolKind.SHELL: (
        "bash", "bash_command", "bash_session", "bashoutput", "cmd", "container.exec",
        "developer__shell", "exec_command", "execute_bash", "execute_command", "killshell",
        "local_shell", "run", "run_bash", "run_command", "run_in_terminal", "run_shell_command",
        "sh", "shell", "shell_command", "terminal",
    ),
    ToolKind.READ: (
        "list_dir", "list_directory", "ls", "notebookread", "open_file", "read", "read_file",
        "read_many_files", "readfile", "view", "view_file", "view_image",
    ),
    ToolKind.WRITE: (
        "create", "create_file", "write", "write_file", "write_to_file", "writefile",
    ),
    ToolKind.EDIT: (
        "apply_patch", "edit", "edit_file", "multi_edit", "multiedit", "notebookedit", "replace",
        "replace_in_file", "replace_string_in_file", "search_replace", "str_replace",
        "strreplacefile",
    ),
    ToolKind.SEARCH: (
        "codebase_search", "file_search", "find", "glob", "google_web_search", "grep",
        "grep_files", "grep_search", "search", "search_file_content", "web_fetch", "web_search",
        "websearch",
    ),
    ToolKind.TASK: (
        "agent", "codebase_investigator", "delegate", "delegate_to_agent", "dispatch_agent",
        "invoke_agent", "spawn_agent", "task",
    ),
}  # fmt: skip
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names}

_EDITORS = frozenset(
    {
        "developer__text_editor",
        "file_editor",
        "planning_file_editor",
        "str_replace_based_edit_tool",
        "str_replace_editor",
        "text_editor",
    }
)
"""One tool for several things; its argument `command` says which."""
_EDITOR_KINDS = {"view": ToolKind.READ, "create": ToolKind.WRITE}

_COMMAND_KEYS = ("command", "cmd", "keystrokes", "script", "input")
_PATH_KEYS = (
    "file_path", "path", "absolute_path", "filePath", "filename", "notebook_path", "target_file",
    "dir_path",
)  # fmt: skip
_PATCH_KEYS = ("input", "patch")
_PATCHERS = frozenset({"apply_patch", "applypatch"})
_PATCH_COMMAND = re.compile(
    r"\s*apply_?patch\s*<<-?\s*(['\"]?)(\w+)\1[ \t]*\n(.*?)\n\2\s*", re.DOTALL
)
_PATCH_FILE = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_WITH_PATH = (ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT)


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


def patch_of(arguments: Mapping[str, object]) -> str | None:
    """The patch of a shell call that is nothing but `apply_patch`, in a heredoc or as a word."""
    match arguments.get("command"):
        case [str() as program, str() as patch] if program in _PATCHERS:
            return patch
    match = _PATCH_COMMAND.fullmatch(command_of(ToolKind.SHELL, arguments) or "")
    return match[3] if match is not None else None


def path_of(kind: ToolKind, arguments: Mapping[str, object]) -> str | None:
    """The file that a call reads or changes; the first one that a patch names."""
    if kind not in _WITH_PATH:
        return None
    paths = (arguments.get(key) for key in _PATH_KEYS)
    named = next((path for path in paths if isinstance(path, str) and path), None)
    return named or (_patched(arguments) if kind is ToolKind.EDIT else None)


def _patched(arguments: Mapping[str, object]) -> str | None:
    """The first file of an `apply_patch` text."""
    for key in _PATCH_KEYS:
        patch = arguments.get(key)
        if isinstance(patch, str) and (match := _PATCH_FILE.search(patch)):
            return match[1].strip()
    return None
