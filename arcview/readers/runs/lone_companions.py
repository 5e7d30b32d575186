"""The files that complete a single session file: those of the sub-agents that it started.

Only files beside it that name the same session are taken; nothing else of the folder is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from arcview.errors import BadInputError
from arcview.files import is_dir, is_file, is_symlink, open_file
from arcview.readers.inside import inside

_HEAD_BYTES = 16 << 10
_MAX_FILES = 400
_SUBAGENT = "agent-"


def companions_of(root: Path, name: str, reader: str) -> tuple[str, ...]:
    """Paths of the companions of a session file, relative to its folder.

    Args:
        root: The folder.
        name: The session file in it.
        reader: Id of the reader of its format; other formats than Claude Code's keep sub-agents in
            one file, or find them by themselves.
    """
    if reader != "claude_code" or name == "." or name.startswith(_SUBAGENT):
        return ()
    return tuple(_subagents(root, PurePosixPath(name).stem))


def _subagents(root: Path, session: str) -> Iterator[str]:
    """Both layouts of the client: a folder for the session, or files beside it."""
    for folder, must_name in ((f"{session}/subagents", False), (".", True)):
        try:
            place = inside(root, folder)
        except BadInputError:
            continue
        if not is_dir(place):
            continue
        files = place.glob if must_name else place.rglob
        for file in sorted(files(f"{_SUBAGENT}*.jsonl"))[:_MAX_FILES]:
            if is_symlink(file) or not is_file(file):
                continue
            if not must_name or _names(file, session):
                yield file.relative_to(root).as_posix()


def _names(file: Path, session: str) -> bool:
    """Whether the first records of a file carry the id of that session."""
    try:
        with open_file(file) as opened:
            return f'"{session}"'.encode() in opened.read(_HEAD_BYTES)
    except OSError:
        return False
