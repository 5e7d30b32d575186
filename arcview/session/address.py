"""Addresses of places in a run: what `--at` takes, and what copies, pointers and exports give.

`<pane>:<part>/…`, each part percent-encoded: `gate:3/f2p/<test id>`, `step:3/<step key>`,
`file:S3/src/a.py#L10-L22`, `diff:3/src/a.py#h2`, `spec:2`, `self:3/<step key>`, `cell:1@S3`. The
first part is a stage, `chain`, or the id of a state (a pass ends in one). Within a step,
`step:3/<step key>/text#c120-c340` names characters of what it says, `thinking` of what it thinks,
`<call key>/call` and `<call key>/result` those of a call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast
from urllib.parse import quote, unquote

from arcview.errors import BadInputError

Pane = Literal["gate", "step", "file", "diff", "spec", "self", "cell"]
_PANES = ("gate", "step", "file", "diff", "spec", "self", "cell")
_FRAGMENT = re.compile(
    r"L(?P<line>[1-9]\d{0,8})(?:-L(?P<last>[1-9]\d{0,8}))?|h(?P<hunk>[1-9]\d*)"
    r"|c(?P<from>\d{1,9})-c(?P<to>\d{1,9})"
)


@dataclass(frozen=True, slots=True)
class Address:
    """One place of a run."""

    pane: Pane
    where: str
    """The stage, `chain`, or the id of a state; for a cell, gate and state (`1@S3`)."""
    parts: tuple[str, ...] = ()
    """What follows: group and test, `log` and its path, step key, or the parts of a path."""
    line: int | None = None
    """1-based, in a file, a diff's new side, or a log."""
    last_line: int | None = None
    """The end of a range of lines that begins at `line`."""
    hunk: int | None = None
    """1-based, in a diff."""
    span: tuple[int, int] | None = None
    """Offsets of the first character and of the one after the last, in a part of a step."""

    @property
    def path(self) -> str:
        """The parts as a path."""
        return "/".join(self.parts)

    def __str__(self) -> str:
        parts = (_quoted(part) for part in self.parts)
        text = f"{self.pane}:" + "/".join((_quoted(self.where, "@"), *parts))
        if self.hunk is not None:
            return f"{text}#h{self.hunk}"
        if self.span is not None:
            return f"{text}#c{self.span[0]}-c{self.span[1]}"
        if self.line is None:
            return text
        end = f"-L{self.last_line}" if self.last_line is not None else ""
        return f"{text}#L{self.line}{end}"


def parse_address(text: str) -> Address:
    """Reads an address.

    Raises:
        BadInputError: it is none.
    """
    pane, colon, rest = text.strip().partition(":")
    body, mark, fragment = rest.partition("#")
    found = _FRAGMENT.fullmatch(fragment)
    where, *parts = (unquote(part, errors="surrogateescape") for part in body.split("/"))
    if not colon or pane not in _PANES or not where or (mark and found is None):
        raise BadInputError("--at", f"an address such as gate:3 or step:3/<key>, not {text!r}")
    numbers = found.groupdict() if found is not None else {}
    line, last, hunk, start, end = (
        _number(numbers.get(name)) for name in ("line", "last", "hunk", "from", "to")
    )
    span = (start, end) if start is not None and end is not None else None
    return Address(cast("Pane", pane), where, tuple(parts), line, last, hunk, span)


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _quoted(part: str, safe: str = "") -> str:
    try:
        return quote(part, safe=safe, errors="surrogateescape")
    except UnicodeEncodeError:
        # Half a character, as JSON can hold one: written down, though no byte of a file.
        return quote(part, safe=safe, errors="surrogatepass")
