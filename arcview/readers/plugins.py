"""Loads readers: built-in ones from a table, those of other packages from their entry points.

What a reader of another package raises is reported in one line and never passed on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from arcview.errors import UnknownLayoutError
from arcview.readers.protocols import Detection, RunReader

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def load(target: str) -> object:
    """Makes the reader that `module:class` names."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)()


def named(group: str, built_in: Mapping[str, str], name: str) -> object:
    """The reader with that id, built-in or from another package."""
    if name in built_in:
        return load(built_in[name])
    plugins, broken = plugins_of(group, built_in)
    for plugin in cast("Iterable[RunReader]", plugins):
        if plugin.id == name:
            return plugin
    known = ", ".join([*built_in, *(cast("RunReader", p).id for p in plugins)])
    raise UnknownLayoutError("; ".join([f"{name}: no such reader; known: {known}", *broken]))


def plugins_of(group: str, built_in: Mapping[str, str]) -> tuple[list[object], list[str]]:
    """Loads the readers of other packages; returns them with a line for each that is broken."""
    from importlib.metadata import entry_points  # 46 ms, needed only when nothing built in matches

    readers: list[object] = []
    broken: list[str] = []
    for entry in _entries(entry_points, group):
        if entry.value in built_in.values():
            continue
        try:
            readers.append(entry.load()())
        except Exception as error:  # noqa: BLE001 -- foreign code may raise anything; it is reported
            broken.append(_broken(entry.name, error))
    return readers, broken


@lru_cache(maxsize=16)
def _entries(find: Callable[..., Iterable[EntryPoint]], group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group; looked for once, since that reads a file of every package."""
    return tuple(find(group=group))


def ask(
    reader: object, detect: Callable[[], Detection | None], broken: list[str]
) -> Detection | None:
    """Asks a reader of another package; what it raises is reported, never passed on."""
    try:
        return detect()
    except Exception as error:  # noqa: BLE001 -- foreign code may raise anything; it is reported
        broken.append(_broken(str(getattr(reader, "id", type(reader).__name__)), error))
        return None


def _broken(name: str, error: Exception) -> str:
    first_line = next(iter(str(error).splitlines()), "")
    return f"reader {name} does not work: {type(error).__name__}: {first_line}"
