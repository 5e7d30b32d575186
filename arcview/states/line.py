"""Which files each state of a line changed, from one call of git over the whole line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from arcview.git import Git
from arcview.states.objects import MODE_SUBMODULE
from arcview.states.patch_names import decode


@dataclass(frozen=True, slots=True)
class LineChange:
    """One file that differs from the state before; in the first state, every file."""

    path: str
    blob: str | None
    """Null where the file is gone, and for submodules."""
    old_path: str | None = None
    """Where the file was renamed: its path in the state before."""


def read_line(
    git: Git,
    tip: str,
    states: Mapping[str, str],
    cancelled: Callable[[], bool] | None = None,
) -> dict[str, tuple[LineChange, ...]]:
    """Lists the changes of every state of a line.

    Args:
        git: The store.
        tip: Commit of the last state.
        states: State ids by commit id.
        cancelled: Asked while git works.

    Returns:
        By state id, in order of the states.

    Raises:
        GitError: git is missing, too old, or cannot read the store.
        CancelledError: `cancelled` said so.
    """
    args = ["log", "--reverse", "--root", "--raw", "-z", "-M", "--no-abbrev", "--format=%H", tip]
    tokens = iter(git.run([*args, "--"], cancelled=cancelled).split(b"\0"))
    found: dict[str, list[LineChange]] = {}
    changes: list[LineChange] = []
    for token in tokens:
        head = token.lstrip(b"\n")
        if head.startswith(b":"):
            _, mode, _, blob, kind = head[1:].decode("ascii").split(" ")
            first = decode(next(tokens))
            is_file = mode not in ("000000", MODE_SUBMODULE)
            if kind.startswith(("R", "C")):
                path, old = decode(next(tokens)), first if kind.startswith("R") else None
                changes.append(LineChange(path, blob if is_file else None, old))
            else:
                changes.append(LineChange(first, blob if is_file else None))
        elif head:
            changes = found[states[head.decode("ascii")]] = []
    return {state: tuple(changed) for state, changed in found.items()}
