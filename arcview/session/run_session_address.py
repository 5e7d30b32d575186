"""Addresses of places in a run, as `--at` takes them and copies give them. Pure.

`<pane>:<part>/…`, each part percent-encoded: `gate:3/f2p/<test id>`, `step:3/<step key>`,
`file:S3/src/a.py#L10-L22`, `diff:3/src/a.py`, `spec:2`, `self:3/<step key>`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast
from urllib.parse import quote, unquote

from arcview.errors import BadInputError
from arcview.session.run_session import Column, Target
from arcview.session.run_session_stops import Stop, StopKind

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


@dataclass(frozen=True, slots=True)
class Destination:
    """Where an address leads on the run screen."""

    stop: int
    """Position in the stops."""
    target: Target
    spec: bool = False
    """It names the specification of the stage, which opens on top."""


def destination(address: Address, stops: Sequence[Stop]) -> Destination:
    """Finds the place of an address among the stops of a run.

    Raises:
        BadInputError: the run has no such stage or state.
    """
    stop = next((n for n, stop in enumerate(stops) if _is_at(stop, address)), None)
    if stop is None:
        raise BadInputError("--at", f"the run has no {address.where!r}", str(address))
    return Destination(stop, _target(address), spec=address.pane == "spec")


def _is_at(stop: Stop, address: Address) -> bool:
    if stop.state == address.where and stop.kind is not StopKind.CHAIN:
        return True
    return stop.gate == address.where and stop.kind is not StopKind.BETWEEN


def _target(address: Address) -> Target:
    last = address.parts[-1] if address.parts else None
    match address.pane:
        case "gate":
            return Target(Column.GATE, test=last)
        case "step":
            return Target(Column.TRAJECTORY, step=last)
        case "self":
            return Target(Column.SELF_TESTS, step=last)
        case "file" | "diff":
            return Target(Column.DIFF, path=address.path or None, line=address.line)
        case "spec":
            return Target(Column.GATE)
