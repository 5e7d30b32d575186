"""Opens a copy of one file of a state in the person's editor; nothing of a run names a program.

The only module of the UI that starts a program: arguments as a list, never a shell.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from textual.app import App, SuspendNotSupported

_GOTO_FLAG = {"code", "code-insiders", "codium", "vscodium", "cursor"}
_COLON = {"hx", "helix", "subl", "zed"}
_UNSAFE = re.compile(r"[^\w.+@ -]")


def editor_command(environ: Mapping[str, str]) -> list[str]:
    """The editor as arguments: `$VISUAL`, else `$EDITOR`, else `vi`."""
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(environ.get(name, ""))
        except ValueError:
            continue
        if words:
            return words
    return ["vi"]


def editor_arguments(editor: list[str], file: Path, line: int) -> list[str]:
    """The whole command line; each family of editors has its own way to name a line."""
    name = Path(editor[0]).stem
    if name in _GOTO_FLAG:
        return [*editor, "--goto", f"{file}:{line}"]
    if name in _COLON:
        return [*editor, f"{file}:{line}"]
    return [*editor, f"+{line}", str(file)]


def private_copy(folder: Path, path: str, data: bytes) -> Path:
    """Writes the bytes to a read-only file in a folder of its own.

    Only the last part of the path is used, and of that only harmless characters, so that no path
    of a run can name a place outside the folder or look like an option.
    """
    name = _UNSAFE.sub("_", path.rpartition("/")[2]).lstrip(".-") or "file"
    target = Path(tempfile.mkdtemp(dir=folder)) / name[-120:]
    target.write_bytes(data)
    target.chmod(0o400)
    return target


def open_in_editor(app: App[object], folder: Path, path: str, data: bytes, line: int = 1) -> str:
    """Shows a file in the editor and returns one line about it.

    Args:
        app: Steps aside while the editor has the terminal.
        folder: A private temporary folder; the caller removes it when the app ends.
        path: Where the file is in its state.
        data: Its bytes.
        line: 1-based.
    """
    copy = private_copy(folder, path, data)
    command = editor_arguments(editor_command(os.environ), copy, max(1, line))
    try:
        with app.suspend():
            code = subprocess.run(command, check=False).returncode
    except SuspendNotSupported:
        return "this terminal cannot hand over to an editor"
    except OSError as error:
        return f"{command[0]}: {error.strerror or error} (set $EDITOR)"
    ended = "" if code == 0 else f"; the editor ended with {code}"
    return f"that was a copy of {path}: changes to it stay out of the run{ended}"
