"""Actions of SWE-agent, which are lines for its shell → calls of the model.

Pure. The tools of SWE-agent are programs on that shell; a line that names none of them is plain
shell.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace

from arcview.model.trajectory import ToolCall, ToolKind
from arcview.readers.trajectories.pairing import Asked

_KINDS = {
    "append": ToolKind.EDIT,
    "create": ToolKind.WRITE,
    "edit": ToolKind.EDIT,
    "find_file": ToolKind.SEARCH,
    "goto": ToolKind.READ,
    "insert": ToolKind.EDIT,
    "open": ToolKind.READ,
    "scroll_down": ToolKind.READ,
    "scroll_up": ToolKind.READ,
    "search_dir": ToolKind.SEARCH,
    "search_file": ToolKind.SEARCH,
    "str_replace_editor": ToolKind.EDIT,
    "submit": ToolKind.OTHER,
    "exit_forfeit": ToolKind.OTHER,
    "view_image": ToolKind.READ,
}
"""The programs that SWE-agent installs, by their names in all of its versions.

As `arguments`, only the newer versions record more than the line they are called with.
"""
_NAMES_FILE = frozenset({"create", "open", "view_image"})
_ON_OPEN_FILE = frozenset({"append", "edit", "goto", "insert", "scroll_down", "scroll_up"})
_NO_FILE = frozenset({"", "n/a"})


def asked_by(action: str) -> Asked:
    """The call that a line makes, where the structured one is not recorded."""
    words = action.split(maxsplit=1)
    if words and words[0] in _KINDS:
        return Asked(words[0])
    return Asked("bash", {"command": action.strip()})


def as_tool(
    call: ToolCall, action: str, state: Mapping[str, object], *, has_arguments: bool
) -> ToolCall:
    """The call with what is known of SWE-agent's own tools.

    Args:
        call: As it was asked for.
        action: The line it became.
        state: Of the shell after it; editing works on the open file.
        has_arguments: They are recorded; else the line is all there is.
    """
    kind = _KINDS.get(call.name)
    if kind is None:
        return call
    if not has_arguments:
        call = replace(call, raw_arguments=action.strip())
    if call.name != "str_replace_editor":  # its kind depends on the arguments and is known
        call = replace(call, kind=kind)
    return replace(call, path=_path(call, action, state))


def _path(call: ToolCall, action: str, state: Mapping[str, object]) -> str | None:
    if call.path is not None or call.kind not in (ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT):
        return call.path
    if call.name in _NAMES_FILE:
        words = _words(action)
        return words[1] if len(words) > 1 else None
    opened = state.get("open_file")
    if call.name in _ON_OPEN_FILE and isinstance(opened, str) and opened not in _NO_FILE:
        return opened
    return None


def _words(action: str) -> list[str]:
    line = action.strip().partition("\n")[0]
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
