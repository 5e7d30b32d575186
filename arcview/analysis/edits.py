"""Tool calls → the file edits they asked for, across agents and tools.

Pure: reads only the arguments of the call. Files that shell lines write are found by `shell_edits`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from arcview.model.trajectory import ToolCall, ToolKind


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One visible change of one file, as the call asked for it."""

    path: str
    """As the agent wrote it: absolute in its container, or relative."""
    kind: Literal["write", "replace", "insert", "append", "delete", "move", "copy"]
    new: str = ""
    """The whole content of a write, else the text that goes in."""
    old: str = ""
    """What a replace takes out."""
    replace_all: bool = False
    after_line: int = 0
    """For an insert: the 1-based line after which `new` goes; 0 is the top."""
    source: str = ""
    """For a move or a copy: the file that `path` is made from."""


def edits_of(call: ToolCall) -> tuple[FileEdit, ...]:
    """The edits that one call asked for; empty for calls that failed or only read.

    Knows Write, Edit and MultiEdit, the `str_replace_editor` family, and apply_patch, under the
    argument names that the common agents use.
    """
    result = call.result
    if result is not None and (result.is_error or result.exit_code not in (None, 0)):
        return ()
    if call.kind not in (ToolKind.WRITE, ToolKind.EDIT):
        return ()
    return tuple(_edits(call.arguments))


def _edits(arguments: Mapping[str, object]) -> Iterator[FileEdit]:
    patch = _text(arguments, "patch", "input", "diff")
    if patch is not None and "*** Begin Patch" in patch:
        yield from parse_apply_patch(patch)
        return
    path = _text(arguments, "file_path", "path", "filePath", "notebook_path", "filename")
    if path is None:
        return
    several = arguments.get("edits")
    if isinstance(several, list):
        for one in several:
            if isinstance(one, Mapping):
                yield from _one_edit(path, one)
        return
    yield from _one_edit(path, arguments)


def _one_edit(path: str, arguments: Mapping[str, object]) -> Iterator[FileEdit]:
    old = _text(arguments, "old_string", "old_str", "oldString")
    new = _text(arguments, "new_string", "new_str", "newString")
    line = arguments.get("insert_line")
    if isinstance(line, int):
        yield FileEdit(
            path, "insert", new=_text(arguments, "new_str", "insert_text") or "", after_line=line
        )
    elif old is not None:
        # An empty old string is how several agents create a file.
        if old == "":
            yield FileEdit(path, "write", new=new or "")
        else:
            yield FileEdit(
                path,
                "replace",
                new=new or "",
                old=old,
                replace_all=arguments.get("replace_all") is True,
            )
    else:
        content = _text(arguments, "content", "file_text", "contents", "text")
        if content is not None:
            yield FileEdit(path, "write", new=content)


def _text(arguments: Mapping[str, object], *names: str) -> str | None:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
    return None


_PATCH_FILE = re.compile(r"^\*\*\* (?P<op>Add|Update|Delete) File: (?P<path>.+)$")


def parse_apply_patch(text: str) -> Iterator[FileEdit]:
    """Reads the `*** Begin Patch` format; each hunk becomes one replace of its old lines.

    Moves (`*** Move to:`) are read as an update of the old path: the lines keep their origin.
    """
    path, op = "", ""
    old: list[str] = []
    new: list[str] = []

    def flush() -> Iterator[FileEdit]:
        if op == "Add" and path:
            yield FileEdit(path, "write", new="".join(f"{line}\n" for line in new))
        elif op == "Update" and (old or new) and old != new:
            yield FileEdit(path, "replace", new="\n".join(new), old="\n".join(old))
        old.clear()
        new.clear()

    for line in text.split("\n"):
        head = _PATCH_FILE.match(line)
        if head or line.startswith(("@@", "*** End Patch")):
            yield from flush()
            if line.startswith("*** End Patch"):
                return
            if head:
                path, op = head["path"].strip(), head["op"]
                if op == "Delete":
                    yield FileEdit(path, "delete")
        elif line.startswith("***"):
            continue
        elif line.startswith("+"):
            new.append(line[1:])
        elif line.startswith("-"):
            old.append(line[1:])
        elif op == "Update":
            old.append(line[1:])
            new.append(line[1:])
    yield from flush()
