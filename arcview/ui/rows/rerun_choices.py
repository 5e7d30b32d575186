"""What a rerun is set to, as rows: the state, the engine, which image will do. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from textual.content import Content

from arcview.session.rerun_session import RerunSession
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.safe import one_line, pieces

ASK = "▸ enter or r runs this command on code of the run, without network; asked once per sitting"
ASK_HOST = "▸ enter or r runs this command on this machine; asked every time"
SURE = (
    "▲ without a container it may read and change your files and reach the network: "
    "enter or r once more runs it, escape does not"
)
_FLAG_KEYS = (
    ("(--pull ", "(p "),
    ("(--allow-other-image ", "(i "),
    ("DOCKER_HOST or --engine", "DOCKER_HOST; e runs it on this machine"),
)


class Choice(NamedTuple):
    """One thing that can be chosen here."""

    key: str
    names: tuple[str, str]
    chosen: int
    hint: str
    """The key that takes the other one."""

    @property
    def line(self) -> Content:
        """Both, the chosen one in brackets."""
        return pieces(*_named(self.names, self.chosen), (f" ({self.hint})", theme.FAINT))


def choices(session: RerunSession) -> Iterator[Choice]:
    """The engine, and what image will do where that is one with images."""
    yield Choice("engine", ("containers", "this machine"), int(session.on_host), "e")
    if not session.on_host:
        images = session.images
        yield Choice("image", ("as recorded", "any of its name"), int(images.allow_other), "i")
        yield Choice("fetch", ("never", "where it is missing"), int(images.pull), "p")


def question(session: RerunSession) -> tuple[str, str]:
    """What is asked before it runs, and how that looks."""
    if not session.on_host:
        return ASK, "bold $warn"
    return (SURE, f"bold {theme.FAIL}") if session.is_asked else (ASK_HOST, "bold $warn")


def with_keys(unavailable: str) -> str:
    """Why a gate cannot be run, with keys of the screen in place of flags of the command."""
    for flag, key in _FLAG_KEYS:
        unavailable = unavailable.replace(flag, key)
    return unavailable


def states_line(session: RerunSession, width: int) -> Content:
    """The states that can be chosen, those around the chosen one where not all fit."""
    names = [one_line(name) for name in session.states]
    at = session.states.index(session.state) if session.state in session.states else 0
    first, last = at, at + 1
    room = width - cells(" ".join(names[first:last])) - 4
    while first > 0 or last < len(names):
        before = cells(names[first - 1]) + 2 if first > 0 else None
        after = cells(names[last]) + 2 if last < len(names) else None
        if after is not None and after <= room:
            last, room = last + 1, room - after
        elif before is not None and before <= room:
            first, room = first - 1, room - before
        else:
            break
    parts: list[tuple[str, str]] = [("… ", theme.FAINT)] if first else []
    parts += _named(names[first:last], at - first)
    parts += [("…", theme.FAINT)] if last < len(names) else []
    return pieces(*parts)


def _named(names: Sequence[str], chosen: int) -> Iterator[tuple[str, str]]:
    for number, name in enumerate(names):
        text = f"[{name}]" if number == chosen else name
        yield f"{text}  ", f"bold {theme.INFO}" if number == chosen else theme.MUTED
