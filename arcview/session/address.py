"""Addresses of places in a run: what `--at` takes, and what copies, pointers and exports give.

`<pane>:<part>/…`, each part percent-encoded: `gate:3/f2p/<test id>`, `step:3/<step key>`,
`file:S3/src/a.py#L10-L22`, `diff:3/src/a.py#h2`, `spec:2`, `self:3/<step key>`, `cell:1@S3`. The
first part is a stage, `chain`, or the id of a state (a pass ends in one).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast
from urllib.parse import quote, unquote

from arcview.errors import BadInputError

Pane = Literal["gate", "step", "file", "diff", "spec", "self", "cell"]
_PANES = ("gate", "step", "file", "diff", "spec", "self", "cell")
_FRAGMENT = re.compile(r"L(?P<line>[1-9]\d{0,8})(?:-L(?P<last>[1-9]\d{0,8}))?|h(?P<hunk>[1-9]\d*)")


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

    @property
    def path(self) -> str:
        """The parts as a path."""
        return "/".join(self.parts)

    def __str__(self) -> str:
        parts = (_quoted(part) for part in self.parts)
        text = f"{self.pane}:" + "/".join((_quoted(self.where, "@"), *parts))
        if self.hunk is not None:
            return f"{text}#h{self.hunk}"
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
    line, last, hunk = found.group("line", "last", "hunk") if found else (None, None, None)
    return Address(
        cast("Pane", pane), where, tuple(parts), _number(line), _number(last), _number(hunk)
    )


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _quoted(part: str, safe: str = "") -> str:
    try:
        return quote(part, safe=safe, errors="surrogateescape")
    except UnicodeEncodeError:
        # Half a character, as JSON can hold one: written down, though no byte of a file.
        return quote(part, safe=safe, errors="surrogatepass")
