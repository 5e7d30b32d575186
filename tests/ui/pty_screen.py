"""Runs a program on a real pseudo-terminal and says what of its output is not its own.

Used to prove that no byte of a run is ever acted on by the terminal. The program ends by itself.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import unicodedata
from collections.abc import Mapping, Sequence

_SEQUENCE = re.compile(
    "\x1b(?:"
    "\\[[0-?]*[ -/]*[@-~]"
    "|[\\]PX^_](?:(?!\x1b\\\\|\x07).)*(?:\x1b\\\\|\x07)?"
    "|[ -/]+[0-~]"
    "|[0-~]"
    ")",
    re.DOTALL,
)
# What Textual 8.2.8 itself writes: modes, cursor places, colours, and the questions of its start.
_OWN = re.compile(
    "\x1b(?:"
    "\\[\\?(?:\\d+)[hl]"  # modes
    "|\\[\\?2026\\$p|\\[\\?2048\\$p"  # does it know synchronized output, in-band resizing
    "|\\[\\d+;\\d+H"  # cursor place
    "|\\[(?:0|(?:[1-9]|[34]8;2;\\d+;\\d+;\\d+|[34]9)(?:;(?:[1-9]|[34]8;2;\\d+;\\d+;\\d+|[34]9))*)?m"
    "|\\[[>=<]\\d*u"  # key protocol
    "|\\[2 q|\\[\\d* q"  # cursor shape
    "|\\]22;[a-z-]*(?:\x07|\x1b\\\\)"  # pointer shape
    ")\\Z"
)


def run_on_terminal(
    argv: Sequence[str],
    *,
    columns: int = 100,
    rows: int = 40,
    env: Mapping[str, str] | None = None,
    limit_s: float = 60,
) -> bytes:
    """Everything a program writes to its terminal until it ends.

    Raises:
        AssertionError: It did not end in time, or with another exit status than 0.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        argv,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})},
        start_new_session=True,
    )
    os.close(theirs)
    output = bytearray()
    try:
        while select.select([ours], [], [], limit_s)[0]:
            try:
                data = os.read(ours, 1 << 16)
            except OSError:  # Linux says EIO when the other side is closed
                break
            if not data:
                break
            output += data
        else:
            raise AssertionError(f"still running after {limit_s} s without output")
        assert process.wait(limit_s) == 0, output.decode("utf-8", "replace")[-3000:]
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return bytes(output)


def foreign(output: bytes) -> list[str]:
    """What of a program's output a terminal would act on and Textual did not write."""
    text = output.decode("utf-8", "replace")
    found = [match[0] for match in _SEQUENCE.finditer(text) if not _OWN.match(match[0])]
    rest = _SEQUENCE.sub("", text)
    found += [
        char
        for char in rest
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co") and char not in "\r\n"
    ]
    return found


def shown(output: bytes) -> str:
    """The text of the output without its sequences, in the order in which it was written."""
    return _SEQUENCE.sub("", output.decode("utf-8", "replace"))
