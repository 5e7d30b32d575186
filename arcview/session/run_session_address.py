"""Addresses of places in a run, as `--at` takes them and copies give them. Pure.

`<pane>:<part>/…`, each part percent-encoded: `gate:3/f2p/<test id>`, `step:3/<step key>`,
`file:S3/src/a.py#L10-L22`, `diff:3/src/a.py`, `spec:2`, `self:3/<step key>`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast
from urllib.parse import quote, unquote

from arcview.errors import BadInputError

Pane = Literal["gate", "step", "file", "diff", "spec", "self"]
_PANES = ("gate", "step", "file", "diff", "spec", "self")
_LINE = re.compile(r"L(\d+)(?:-L(\d+))?$")


@dataclass(frozen=True, slots=True)
class Address:
    """One place of a run."""

    pane: Pane
    where: str
    """The stage, `chain`, or the id of a state."""
    parts: tuple[str, ...] = ()
    """What follows: group and test, step key, or the parts of a path."""
    line: int | None = None

    @property
    def path(self) -> str:
        """The parts as a path."""
        return "/".join(self.parts)

    def __str__(self) -> str:
        parts = (self.where, *self.parts)
        text = f"{self.pane}:" + "/".join(quote(part, safe="") for part in parts)
        return text if self.line is None else f"{text}#L{self.line}"


def parse_address(text: str) -> Address:
    """Reads an address.

    Raises:
        BadInputError: it is none.
    """
    pane, colon, rest = text.partition(":")
    body, _, fragment = rest.partition("#")
    where, *parts = (unquote(part) for part in body.split("/"))
    if not colon or pane not in _PANES or not where:
        raise BadInputError("--at", f"an address such as gate:3 or step:3/<key>, not {text!r}")
    line = _LINE.match(fragment)
    return Address(cast("Pane", pane), where, tuple(parts), int(line[1]) if line else None)
