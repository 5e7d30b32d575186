"""A shell line → the file edits that it spells out: heredocs, `tee`, `echo > f`, `mv`, `cp`, `rm`.

Pure. What a program that the line runs (`sed -i`, a script) does to files cannot be read off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from arcview.analysis.edits import FileEdit
from arcview.analysis.shell import parse_shell, written_files
from arcview.analysis.shell_command import ShellCommand
from arcview.model.trajectory import ToolCall, ToolKind


def shell_edits(call: ToolCall) -> tuple[FileEdit, ...]:
    """The edits of a shell call, in order, with paths as written below the folder of `cd`."""
    if call.kind is not ToolKind.SHELL or call.command is None:
        return ()
    # Most lines write nothing; telling so costs a hundredth of a parse.
    if not _MAY_WRITE.search(call.command):
        return ()
    return tuple(edit for command in parse_shell(call.command) for edit in _edits(command))


_MAY_WRITE = re.compile(r"(?<![\d&>])>>?(?!&|\s*/dev/null)|\b(?:tee|mv|cp|rm)\b")


def _edits(command: ShellCommand) -> Iterator[FileEdit]:
    for write in written_files((command,)):
        yield FileEdit(write.path, "append" if write.append else "write", new=write.text)
    name, *words = command.argv[1:] if command.argv[0] == "git" else command.argv
    if name not in ("mv", "cp", "rm") or command.repeated:
        return
    paths = [_below(command.cwd, word) for word in words if not word.startswith("-")]
    if any(character in path for path in paths for character in "*?[$"):
        return  # what a pattern stands for is not written down
    if name == "rm":
        yield from (FileEdit(path, "delete") for path in paths)
    elif len(paths) >= 2:
        *sources, target = paths
        for source in sources:
            inside = len(sources) > 1 or target.endswith("/") or target in (".", "..")
            path = f"{target.rstrip('/')}/{source.rpartition('/')[2]}" if inside else target
            yield FileEdit(path, "move" if name == "mv" else "copy", source=source)


def _below(cwd: str | None, path: str) -> str:
    return path if cwd is None or path.startswith(("/", "~", "$")) else f"{cwd.rstrip('/')}/{path}"
