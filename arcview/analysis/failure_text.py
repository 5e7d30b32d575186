"""What a failure's own text holds: its message lines, error type, failing statement, arguments.

Pure text, shared by signatures and comparisons; frames and their files are read elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from arcview.model.results import GateTest

_ANSI = re.compile(r"\x1b\[[0-9;:]*[A-Za-z]")
_PYTEST_ERROR_LINE = re.compile(r"^E {1,7}(.*)$")
_ERROR_TYPE = re.compile(
    r"^(?:Uncaught )?(?P<type>(?:[A-Za-z_]\w*(?:\.|::))*[A-Za-z_]\w*"
    r"(?:Error|Exception|Failure|Failed|Interrupt|Exit|Warning|Timeout|Panic))"
    r"(?: \[\w+\])?(?::\s?(?P<text>.*))?$"
)


def plain_lines(text: str) -> list[str]:
    """The lines of a text without colour sequences, split at line feeds only."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return [line.rstrip("\r") for line in text.split("\n")]


def message_lines(test: GateTest) -> tuple[str, ...]:
    """The lines of the message; without one, the error lines or the last line of the traceback."""
    if test.message and test.message.strip():
        return tuple(plain_lines(test.message))
    lines = plain_lines(test.traceback or "")
    errors = [match[1] for line in lines if (match := _PYTEST_ERROR_LINE.match(line))]
    if errors:
        return tuple(errors)
    last = next((line for line in reversed(lines) if line.strip()), None)
    return () if last is None else (last,)


def split_error_type(line: str) -> tuple[str | None, str]:
    """`ValueError: bad` → (`ValueError`, `bad`); a line without an error type stays whole."""
    match = _ERROR_TYPE.match(line.strip())
    if match is None:
        return None, line.strip()
    return match["type"], (match["text"] or "").strip()


_PYTEST_LONG = re.compile(r"^> +(\S.*)$")
_CODE_FRAME = re.compile(r"^\s*[>❯]\s*\d+\s*[|│]\s?(.*\S)")
_PYTEST_SHORT = re.compile(r"^\S.*\.py:\d+: in \S+$")
_NATIVE = re.compile(r'^\s*File "[^"]+", line \d+(?:, in .+)?$')


def failing_statement(traceback: str) -> str | None:
    """The source line that failed, as the traceback quotes it for the deepest frame.

    Reads pytest's long (`>` marks the line) and short style, native Python tracebacks and the code
    frames of jest and vitest.
    """
    marked = following = None
    expects_source = False
    for line in plain_lines(traceback):
        match = _PYTEST_LONG.match(line) or _CODE_FRAME.match(line)
        if match:
            marked = match[1]
        elif expects_source and line.strip():
            following = line
        expects_source = bool(_NATIVE.match(line) or _PYTEST_SHORT.match(line))
    statement = marked or following
    return " ".join(statement.split()) if statement else None


_SEPARATOR = re.compile(r"^(?:_ )+_?\s*$")
_ARGUMENT = re.compile(r"^(?P<name>[A-Za-z_]\w*)\s* = (?P<value>.*)$")


def frame_arguments(traceback: str) -> Iterator[tuple[tuple[str, str], ...]]:
    """Name and shortened value of each frame's arguments, deepest frame first.

    Only pytest's long style writes them down: unindented `name = value` lines above the source.
    """
    frames: list[list[tuple[str, str]]] = [[]]
    in_head = True
    for line in plain_lines(traceback):
        if _SEPARATOR.match(line):
            frames.append([])
            in_head = True
            continue
        match = _ARGUMENT.match(line) if in_head else None
        if match:
            frames[-1].append((match["name"], match["value"]))
        elif line.startswith((" ", ">")):
            in_head = False
    for arguments in reversed(frames):
        if arguments:
            yield tuple(arguments)
