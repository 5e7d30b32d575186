"""A shell line → the file edits that it spells out, and the files that it writes at all.

Pure. What a program that the line runs (`sed -i`, a script) puts into a file cannot be read off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from arcview.analysis.edits import FileEdit, edits_of, parse_apply_patch
from arcview.analysis.shell import parse_shell, written_files
from arcview.analysis.shell_command import ShellCommand
from arcview.model.trajectory import ToolCall, ToolKind

_REDIRECT = r"(?<![\d&>=-])>>?(?!&|\s*/dev/null)"
_EDITORS = "tee|mv|cp|rm|apply_?patch"
_IN_PLACE_LINE = r"(?:sed|perl)\s(?:[^|;&\n]*\s)?--?\w*i"
_MAY_EDIT = re.compile(rf"{_REDIRECT}|\b(?:{_EDITORS})\b")
_MAY_WRITE = re.compile(rf"{_REDIRECT}|\b(?:(?:{_EDITORS}|apply|patch|touch)\b|{_IN_PLACE_LINE})")
_SIGNS = (">", "tee", "mv", "cp", "rm", "patch", "apply", "touch", " -i", "-pi", "in-place")
"""What any line that writes holds; looking for it is quicker than the pattern."""


def shell_edits(call: ToolCall) -> tuple[FileEdit, ...]:
    """The edits of a shell call, in order, with paths as written below the folder of `cd`.

    Heredocs, `tee`, `echo > f`, `apply_patch`, `mv`, `cp` and `rm`.
    """
    if call.kind is not ToolKind.SHELL or call.command is None:
        return ()
    # Most lines write nothing; telling so costs a hundredth of a parse.
    if not _MAY_EDIT.search(call.command):
        return ()
    return tuple(edit for command in parse_shell(call.command) for edit in _edits(command))


def files_written(call: ToolCall) -> tuple[str | None, ...]:
    """The files that a call writes, moves or deletes as far as its text tells, as written there.

    More than its edits: also what the text does not spell out (`sed -i`, `touch`, `patch`, the
    output of a program). Null stands for files that it does not name (`git apply fix.diff`). What a
    shell puts right into `/tmp` is a log or an input to try, no file of the work.
    """
    line = call.command
    if call.kind is ToolKind.SHELL and line is not None:
        bare = line.replace("2>&1", "")
        if not (any(sign in bare for sign in _SIGNS) and _MAY_WRITE.search(bare)):
            return ()
        paths = (path for command in parse_shell(line) for path in _written(command))
        return tuple(dict.fromkeys(p for p in paths if p is None or not _SCRATCH.fullmatch(p)))
    if call.kind not in (ToolKind.WRITE, ToolKind.EDIT):
        return ()
    named = (call.path, *(edit.path for edit in edits_of(call)))
    return tuple(dict.fromkeys(path for path in named if path is not None)) or (None,)


def patch_edits(command: ShellCommand) -> Iterator[FileEdit]:
    """The edits of `apply_patch <<E`, with which some agents write all their files."""
    patch = command.stdin_text or " ".join(command.argv[1:])
    if command.argv[0] in ("apply_patch", "applypatch") and patch:
        yield from parse_apply_patch(patch)


def _edits(command: ShellCommand) -> Iterator[FileEdit]:
    for edit in patch_edits(command):
        yield _moved(edit, command.cwd)
    for write in written_files((command,)):
        yield FileEdit(write.path, "append" if write.append else "write", new=write.text)
    name, words = _program(command)
    if name not in ("mv", "cp", "rm") or command.repeated:
        return
    paths = [_below(command.cwd, word) for word in words if not word.startswith("-")]
    if any(map(_is_pattern, paths)):
        return  # what a pattern stands for is not written down
    if name == "rm":
        yield from (FileEdit(path, "delete") for path in paths)
    elif len(paths) >= 2:
        *sources, target = paths
        for source in sources:
            inside = len(sources) > 1 or target.endswith("/") or target in (".", "..")
            path = f"{target.rstrip('/')}/{source.rpartition('/')[2]}" if inside else target
            yield FileEdit(path, "move" if name == "mv" else "copy", source=source)


def _moved(edit: FileEdit, cwd: str | None) -> FileEdit:
    """An edit of a patch, below the folder of `cd`."""
    return edit if cwd is None else replace(edit, path=_below(cwd, edit.path))


def _program(command: ShellCommand) -> tuple[str, Sequence[str]]:
    """Name and words of a command; those of git without the `git`."""
    name, *words = command.argv
    return (words[0], words[1:]) if name == "git" and words else (name, words)


def _written(command: ShellCommand) -> Iterator[str | None]:
    edits = tuple(_edits(command))
    for edit in edits:
        yield edit.path
        if edit.kind == "move":
            yield edit.source
    if not edits:
        for path in _unspelled(command):
            unknown = path is None or command.repeated or _is_pattern(path)
            yield None if unknown else _below(command.cwd, path or "")


def _unspelled(command: ShellCommand) -> Iterator[str | None]:
    """The files whose new content does not stand in the line, before `cd` is thought of."""
    name, words = _program(command)
    files = [word for word in words if not word.startswith("-")]
    match name:
        case "mv" | "cp" | "rm":
            yield from files if len(files) > (name != "rm") else ()
        case "touch":
            yield from files
        case "sed" | "perl" if any(map(_IN_PLACE.match, words)):
            yield from _edited_in_place(words)
        case "patch" | "apply" if not _TRIES.intersection(words):
            if name == "patch" or command.argv[0] == "git":
                yield from _patched(command.stdin_text) if command.stdin_text else (None,)
        case "tee":
            yield from files
    if command.output is not None:
        yield command.output


_IN_PLACE = re.compile(r"-[a-zA-Z]*i|--in-place")
_PROGRAM_NEXT = re.compile(r"-[a-zA-Z]*[ef]|--expression|--file")
"""An option whose next word is what to do, so that the first word is a file."""
_TRIES = frozenset({"--check", "--stat", "--numstat", "--summary", "--dry-run"})
_SCRATCH = re.compile(r"/dev/.*|(?:/var)?/tmp/[^/]*")
_PATCHED = re.compile(r"^\+\+\+ (?:b/)?([^\t\n]+)", re.MULTILINE)


def _edited_in_place(words: Sequence[str]) -> Sequence[str]:
    """The files among the words of `sed` or `perl`: not the program that they are edited by."""
    programs = {at + 1 for at, word in enumerate(words) if _PROGRAM_NEXT.fullmatch(word)}
    files = [
        word
        for at, word in enumerate(words)
        if word and at not in programs and not word.startswith("-")
    ]
    return files if programs else files[1:]


def _patched(patch: str) -> Iterator[str | None]:
    """The files that a unified diff names."""
    yield from (match[1].strip() for match in _PATCHED.finditer(patch))


def _is_pattern(path: str) -> bool:
    return any(character in path for character in "*?[$")


def _below(cwd: str | None, path: str) -> str:
    return path if cwd is None or path.startswith(("/", "~", "$")) else f"{cwd.rstrip('/')}/{path}"
