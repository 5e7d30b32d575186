"""Where an address leads on the run screen. Pure; the grammar is in `address`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arcview.errors import BadInputError
from arcview.session.address import Address, parse_address
from arcview.session.run_session import Column, Target
from arcview.session.run_session_stops import Stop, StopKind

__all__ = ["Address", "Destination", "destination", "parse_address"]


@dataclass(frozen=True, slots=True)
class Destination:
    """Where an address leads on the run screen."""

    stop: int
    """Position in the stops."""
    target: Target
    spec: bool = False
    """It names the specification of the stage, which opens on top."""
    log: str | None = None
    """The raw log that it names, which opens on top."""
    line: int = 1
    """1-based, in what opens on top."""
    cell: tuple[str, str] | None = None
    """Gate and state of a cell that only the matrix shows, which opens on top."""


def destination(address: Address, stops: Sequence[Stop]) -> Destination:
    """Finds the place of an address among the stops of a run.

    Raises:
        BadInputError: the run has no such stage or state.
    """
    stop = next((n for n, stop in enumerate(stops) if _is_at(stop, address)), None)
    gate, at, state = address.where.partition("@")
    if stop is None and address.pane == "cell" and at:
        own = (n for n, s in enumerate(stops) if s.gate == gate and s.kind is not StopKind.BETWEEN)
        stop = next(own, None)
        if stop is not None:
            return Destination(stop, Target(Column.GATE), cell=(gate, state))
    if stop is None:
        raise BadInputError("--at", f"the run has no {address.where!r}", str(address))
    is_log = address.pane == "gate" and address.parts[:1] == ("log",)
    return Destination(
        stop,
        _target(address),
        spec=address.pane == "spec",
        log="/".join(address.parts[1:]) if is_log else None,
        line=address.line or 1,
    )


def _is_at(stop: Stop, address: Address) -> bool:
    if address.pane == "cell":
        gate, _, state = address.where.partition("@")
        return (stop.gate, stop.state) == (gate, state)
    if stop.state == address.where and stop.kind is not StopKind.CHAIN:
        return True
    return stop.gate == address.where and stop.kind is not StopKind.BETWEEN


def _target(address: Address) -> Target:
    first, last = (address.parts[0], address.parts[-1]) if address.parts else (None, None)
    match address.pane:
        case "gate":
            return Target(Column.GATE, test=last if address.parts[:1] != ("log",) else None)
        case "step":
            offset = address.span[0] if address.span is not None else 0
            return Target(Column.TRAJECTORY, step=first, part=address.parts[1:], offset=offset)
        case "self":
            return Target(Column.SELF_TESTS, step=first)
        case "file" | "diff":
            path = address.path or None
            return Target(Column.DIFF, path=path, line=address.line, hunk=address.hunk)
        case "spec" | "cell":
            return Target(Column.GATE)
